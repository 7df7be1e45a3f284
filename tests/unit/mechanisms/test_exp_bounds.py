"""The bounds against Decimal's correctly rounded exp."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

from hypothesis import example, given
from hypothesis import strategies as st

from dpsql.mechanisms.exp_bounds import exp_minus

PRECISE = Context(prec=400, Emin=-(10**6), Emax=10**6)


@given(numerator=st.integers(0, 2**70), denominator=st.integers(1, 2**64), bits=st.integers(1, 300))
@example(numerator=0, denominator=7, bits=15)
@example(numerator=7, denominator=7, bits=64)
@example(numerator=2**62 - 1, denominator=2**62, bits=64)
@example(numerator=200, denominator=1, bits=200)
@example(numerator=44, denominator=1, bits=64)
def test_they_hold_the_value_and_are_narrow(numerator: int, denominator: int, bits: int) -> None:
    low, high = exp_minus(numerator, denominator, bits)
    assert 0 <= low <= high <= 1 << bits
    assert high - low <= 2
    with localcontext(PRECISE):
        exponent = Decimal(numerator) / denominator
        value = (-exponent).exp() * (1 << bits) if exponent < 1000 else Decimal("1e-400")
        slack = value * Decimal("1e-390")
        assert low <= value + slack
        assert value - slack <= high


def test_zero_is_certain() -> None:
    assert exp_minus(0, 5, 20) == (1 << 20, 1 << 20)


def test_more_digits_separate_any_two_numbers() -> None:
    one, other = exp_minus(10**18, 10**18 + 1, 256), exp_minus(1, 1, 256)
    assert one[0] > other[1]
