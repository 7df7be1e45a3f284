"""The acceptance numbers, frozen numbers of dp-accounting 0.6.0 (an independent implementation), and safe sides."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.accounting.loss import (
    ZERO,
    Cost,
    epsilon_of_rho,
    exact,
    rho_for,
    rho_of_gaussian,
    rho_of_pure,
)
from dpsql.mechanisms import gaussian, laplace


def sigma_of(rho: Fraction, sensitivity: float = 1.0) -> float:
    return sensitivity / math.sqrt(2 * rho)


def test_twenty_gaussians() -> None:
    rho = 20 * rho_of_gaussian(Fraction(2, 100))
    assert rho == Fraction(4, 1000)
    assert epsilon_of_rho(rho, Fraction(1, 10**8)) == pytest.approx(0.465965, abs=1e-6)


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon", "within"),
    [
        ("0.5", "1e-6", 5.221534, 1e-6),
        ("0.5", "1e-9", 6.474070, 1e-6),
        ("2", "1e-6", 11.6886, 1e-4),
        ("2", "1e-8", 13.3861, 1e-4),
    ],
)
def test_epsilon_of_rho(rho: str, delta: str, epsilon: float, within: float) -> None:
    assert epsilon_of_rho(exact(rho), exact(delta)) == pytest.approx(epsilon, abs=within)


@pytest.mark.parametrize(("sensitivity", "sigma"), [(22, 89.814624), (50, 204.124145), (5, 20.412415)])
def test_sigma_of_rho(sensitivity: int, sigma: float) -> None:
    assert sigma_of(Fraction(3, 100), sensitivity) == pytest.approx(sigma, abs=1e-6)
    assert rho_of_gaussian(Fraction(sensitivity) / Fraction(sigma)) == pytest.approx(0.03, abs=1e-8)


@pytest.mark.parametrize(("delta", "sigma"), [("1e-5", 4.045130), ("1e-6", 4.530877), ("1e-9", 5.778695)])
def test_sigma_through_zcdp(delta: str, sigma: float) -> None:
    assert sigma_of(rho_for(Fraction(1), exact(delta))) == pytest.approx(sigma, abs=1e-6)


def test_hundred_laplace_queries() -> None:
    """Basic composition 10, zCDP 5.221534 (privacy loss distributions, the oracle: 4.692667 by dp-accounting)."""
    tenth = exact(0.1)
    cost = sum([Cost(epsilon=tenth, rho=rho_of_pure(tenth))] * 100, ZERO)
    assert cost.epsilon == 10
    assert cost.rho == Fraction(1, 2)
    assert 4.692667 < epsilon_of_rho(cost.rho, 1e-6) == pytest.approx(5.221534, abs=1e-6)


def test_rho_of_anything_pure() -> None:
    assert rho_of_pure(Fraction(1)) == Fraction(1, 2)


def test_a_filter_of_1_1() -> None:
    first = Cost(epsilon=exact("1.0986"))
    assert first.epsilon <= exact("1.1") < (first + first).epsilon


def test_four_releases() -> None:
    one = Cost(epsilon=exact(1.2), delta=exact(1e-10))
    four = one + one + one + one
    assert (four.epsilon, four.delta) == (Fraction(48, 10), Fraction(4, 10**10))


def test_every_part_of_a_cost_adds_up() -> None:
    one = Cost(epsilon=Fraction(1), delta=Fraction(2), rho=Fraction(3), delta_keys=Fraction(1))
    assert one + one == Cost(epsilon=Fraction(2), delta=Fraction(4), rho=Fraction(6), delta_keys=Fraction(2))
    assert one + ZERO == one


def test_where_gaussian_noise_becomes_the_smaller() -> None:
    """One COUNT at epsilon 1, delta 1e-6: Gaussian noise has the smaller 95 % error from 8 groups (exact), 9 (zCDP)."""
    delta = Fraction(1, 10**6)
    normal = 1.959963984540054

    def first(sigma: float) -> int:
        return next(groups for groups in range(1, 100) if normal * sigma * math.sqrt(groups) < math.log(20) * groups)

    assert first(1 / float(gaussian.mu_for(Fraction(1), delta))) == 8
    assert first(sigma_of(rho_for(Fraction(1), delta))) == 9
    grid = 1 << 10
    assert laplace.half_width(8 * grid) > gaussian.half_width(math.ceil(4.224680 * math.sqrt(8) * grid))
    assert laplace.half_width(7 * grid) < gaussian.half_width(math.ceil(4.224680 * math.sqrt(7) * grid))


@pytest.mark.parametrize(  # dp_accounting.rdp.compute_epsilon over 400,000 orders
    ("rho", "delta", "epsilon"),
    [
        (0.5, 1e-6, 5.221534444603396),
        (0.004, 1e-8, 0.4659651965376761),
        (2.0, 1e-6, 11.688596249739867),
        (0.5, 1e-9, 6.474070021657923),
        (0.0305, 1e-5, 0.9989916945339936),
    ],
)
def test_epsilon_agrees_with_dp_accounting(rho: float, delta: float, epsilon: float) -> None:
    assert epsilon_of_rho(rho, delta) == pytest.approx(epsilon, rel=1e-9)


@given(rho=st.floats(1e-8, 50), delta=st.floats(1e-15, 0.1), alpha=st.floats(1.0001, 1e4))
def test_no_order_does_better(rho: float, delta: float, alpha: float) -> None:
    """The infimum is at most the value at any order: the search has found it."""
    gap = alpha - 1
    excess = (math.log(1 / delta) + gap * math.log1p(-1 / alpha) - math.log(alpha)) / gap
    assert epsilon_of_rho(rho, delta) <= max(0.0, alpha * rho + excess) * (1 + 1e-9) + 1e-12


@given(epsilon=st.fractions(Fraction(1, 1000), 50), delta=st.fractions(Fraction(1, 10**12), Fraction(1, 10)))
def test_rho_for_is_the_largest_that_passes(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_for(epsilon, delta)
    assert rho > 0
    assert rho.denominator.bit_length() <= 120
    assert Fraction(epsilon_of_rho(rho, delta)) <= epsilon
    assert epsilon_of_rho(rho * (1 + Fraction(1, 10**7)), delta) > epsilon


def test_a_delta_too_small_for_a_float_still_counts() -> None:
    tiny = Fraction(1, 10**400)
    assert rho_for(Fraction(1), tiny) > 0
    assert epsilon_of_rho(Fraction(1), tiny) > epsilon_of_rho(Fraction(1), Fraction(1, 10**300))


def test_nothing_spent() -> None:
    assert epsilon_of_rho(Fraction(0), Fraction(1, 10**6)) == 0


@pytest.mark.parametrize("delta", [0, 1, -1, 2, math.nan, math.inf, Fraction(0), Fraction(3, 2)])
def test_impossible_deltas(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        epsilon_of_rho(0.5, delta)


@pytest.mark.parametrize("rho", [math.nan, math.inf, -1.0])
def test_impossible_rhos(rho: float) -> None:
    with pytest.raises(ValueError, match="finite number"):
        epsilon_of_rho(rho, 1e-6)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (3, Fraction(3)),
        ("0.30", Fraction(3, 10)),
        (" 1e-9 ", Fraction(1, 10**9)),
        ("1/3", Fraction(1, 3)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        (Decimal("1.20"), Fraction(6, 5)),
        (Decimal("1E+2"), Fraction(100)),
        (Fraction(2, 7), Fraction(2, 7)),
        (-2.5, Fraction(-5, 2)),
        (5e-324, Fraction(5, 10**324)),
    ],
)
def test_exact(value: int | float | str | Fraction | Decimal, number: Fraction) -> None:
    assert exact(value) == number
    assert type(exact(value)) is Fraction


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, True, False, np.float64("nan"), np.bool_(True)),
        *("", "nan", "inf", "Infinity", "yes", "true", "0x10", "1_000", "1,5", "1e", "1/0", "1/2/3", "1 2", "--1"),
        *("1e401", "1e-500", "1e9999", "1e999999999", "1e-999999999", "9" * 500, "\u0661", "½"),
        *(Decimal("NaN"), Decimal("Infinity"), Decimal("1e999999"), None, [1], b"1", 1j, object()),
    ],
)
def test_not_a_number(value: object) -> None:
    with pytest.raises(ValueError, match="is not a"):
        exact(value)  # type: ignore[arg-type]  # wrong types must be refused, too
