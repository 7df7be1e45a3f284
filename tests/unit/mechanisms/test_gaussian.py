"""The exact curve against 50-digit integrals and dp-accounting; tails against sums of the discrete probabilities."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpsql.mechanisms import gaussian


def normal_tail(x: Decimal) -> Decimal:
    """Q(x) with about 50 digits beyond the leading one, from the Taylor series of the density's integral."""
    with localcontext() as context:
        context.prec = 60 + int(abs(x) * abs(x))
        pi = Decimal("3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825")
        if context.prec > 90:
            raise ValueError("pi is not known well enough")
        term, total, k = x, x, 0
        while abs(term) > Decimal(10) ** -context.prec:
            k += 1
            term *= -x * x / (2 * k)
            total += term / (2 * k + 1)
        return Decimal("0.5") - total / (2 * pi).sqrt()


def curve(epsilon: Fraction, mu: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 90
        e = Decimal(epsilon.numerator) / epsilon.denominator
        m = Decimal(mu.numerator) / mu.denominator
        return normal_tail(e / m - m / 2) - e.exp() * normal_tail(e / m + m / 2)


@pytest.mark.parametrize(
    ("epsilon", "sigma", "delta"),  # dp-accounting 0.6.0, GaussianPrivacyLoss.get_delta_for_epsilon
    [
        (0.1, 1, 0.3523251716813667),
        (1.0, 1, 0.12693673750664392),
        (5.0, 1, 5.793721691919504e-07),
        (0.1, 5, 0.04148168846071831),
        (1.0, 5, 1.7546333318961037e-08),
        (5.0, 5, 2.954833357680679e-139),
        (1.0, 22.5, 6.730637088704429e-115),
    ],
)
def test_the_curve_agrees_with_dp_accounting(epsilon: float, sigma: float, delta: float) -> None:
    assert gaussian.curve_delta(epsilon, 1 / sigma) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),  # the first three: acceptance numbers; all: dp-accounting 0.6.0
    [
        ("1", "1e-5", 3.730631664679545),
        ("1", "1e-6", 4.224678930001968),
        ("1", "1e-9", 5.495266190361702),
        ("0.1", "1e-6", 36.30469045643756),
        ("5", "1e-9", 1.211712542610323),
        ("10", "1e-12", 0.7446123966925892),
        ("0.01", "1e-5", 243.78543770814494),
    ],
)
def test_sigma(epsilon: str, delta: str, sigma: float) -> None:
    assert float(1 / gaussian.mu_for(Fraction(epsilon), Fraction(delta))) == pytest.approx(sigma, rel=1e-7)


@given(epsilon=st.fractions(Fraction(1, 10**4), 12), delta=st.fractions(Fraction(1, 10**9), Fraction(1, 2)))
def test_mu_is_safe_and_nearly_the_largest(epsilon: Fraction, delta: Fraction) -> None:
    mu = gaussian.mu_for(epsilon, delta)
    assert mu.numerator.bit_length() <= 40
    assume(abs(float(epsilon / mu - mu / 2)) < 5 and float(epsilon / mu + mu / 2) < 5.4)
    limit = Decimal(delta.numerator) / delta.denominator
    assert curve(epsilon, mu) <= limit
    assert curve(epsilon, mu * (1 + Fraction(1, 10**6))) > limit


@given(epsilon=st.floats(0, 2000), delta=st.floats(1e-250, 0.9))
def test_mu_everywhere(epsilon: float, delta: float) -> None:
    """No overflow, no zero division, and the computed curve is at most delta."""
    mu = gaussian.mu_for(Fraction(epsilon), Fraction(delta))
    assert mu > 0
    assert gaussian.curve_delta(epsilon, float(mu)) <= delta


@given(b=st.floats(24.9, 40))
def test_the_scaled_tail_joins_where_the_plain_one_ends(b: float) -> None:
    assert gaussian._scaled_erfc(25.0) == pytest.approx(math.exp(625) * math.erfc(25.0), rel=1e-11)
    leading = 1 / (b * math.sqrt(math.pi))
    assert leading * (1 - 1 / (2 * b * b)) < gaussian._scaled_erfc(b) < leading


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, 1), (-1, Fraction(1, 10)), (1, Fraction(1, 10**300))])
def test_impossible_guarantees(epsilon: int, delta: Fraction) -> None:
    with pytest.raises(ValueError, match="delta"):
        gaussian.mu_for(Fraction(epsilon), Fraction(delta))


def discrete_tail(m: int, t: int) -> float:
    weights = [math.exp(-0.5 * (k / t) ** 2) for k in range(-60 * t, 60 * t + 1)]
    return math.fsum(weights[m + 60 * t :]) / math.fsum(weights)


@pytest.mark.parametrize("t", [1, 2, 3, 10, 64])
def test_the_tail_bound_holds(t: int) -> None:
    for m in (*range(-3, 4), *range(4, 8 * t, max(1, t // 4))):
        true = discrete_tail(m, t)
        assert true <= gaussian.upper_tail_bound(m, t)
        if m > 1:
            assert gaussian.upper_tail_bound(m, t) <= 0.5 * math.erfc((m - 1) / t / math.sqrt(2)) * (1 + 1e-9)


@pytest.mark.parametrize("p", [0.3, 1e-2, 1e-6, 1e-9, 1e-15])
@pytest.mark.parametrize("t", [1, 5, 40])
def test_threshold(t: int, p: float) -> None:
    threshold = gaussian.threshold(t=t, one_unit=7, p=p)
    assert discrete_tail(threshold - 7, t) <= p
    assert gaussian.upper_tail_bound(threshold - 7, t) <= p < gaussian.upper_tail_bound(threshold - 8, t)


@pytest.mark.parametrize(("sigma", "p", "continuous"), [(5, 1e-6, 24.76712), (1, 1e-9, 6.99781)])
def test_threshold_on_a_fine_lattice(sigma: int, p: float, continuous: float) -> None:
    grid = 2**18
    assert gaussian.threshold(t=sigma * grid, one_unit=grid, p=p) / grid == pytest.approx(continuous, abs=1e-5)


@pytest.mark.parametrize("t", [1, 2, 10, 50, 400])
def test_half_width(t: int) -> None:
    for level in (0.5, 0.9, 0.95, 0.99):
        r = gaussian.half_width(t, level)
        assert 2 * discrete_tail(r, t) <= 1 - level + 1e-12
        assert r <= 1 or 2 * discrete_tail(r - 1, t) > 1 - level


def test_half_width_of_large_scales() -> None:
    assert gaussian.half_width(2**20) / 2**20 == pytest.approx(1.959964, abs=1e-5)


@pytest.mark.parametrize("p", [0.0, 1.0, 1e-300])
def test_impossible_probabilities(p: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        gaussian.threshold(t=5, one_unit=1, p=p)
