"""A key that one unit alone holds: its chance to appear, exactly and by trying."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from dpsql.mechanisms import gaussian, laplace, lattice
from dpsql.mechanisms.key_probability import key_probability

GROUPS = (1, 2, 8, 64)


def laplace_tail(m: int, t: int) -> Decimal:
    """P[X >= m], the sum of the probabilities one by one, with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        a = (Decimal(-1) / t).exp()
        weight = (1 - a) / (1 + a)
        if m <= 0:
            return 1 - laplace_tail(1 - m, t)
        term, total = weight * a**m, Decimal(0)
        while term > Decimal("1e-58"):
            total, term = total + term, term * a
        return total


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("delta", ["0.05", "1e-6", "1e-9"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_the_laplace_threshold_spends_delta_and_no_more(groups: int, delta: str, epsilon: str) -> None:
    """With T some of the unit's keys appear with probability at most delta, with T - 1 (or > for >=) with more."""
    t = math.ceil(groups / Fraction(epsilon))
    threshold = laplace.threshold(t=t, one_unit=1, p=key_probability(Fraction(delta), groups))
    with localcontext() as context:
        context.prec = 60
        at, below = (1 - (1 - laplace_tail(threshold - s - 1, t)) ** groups for s in (0, 1))
        assert at <= Decimal(delta) < below


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("delta", ["0.05", "1e-6", "1e-9"])
def test_the_gaussian_threshold_stays_within_delta(groups: int, delta: str) -> None:
    """The bound costs at most one lattice step: with T - 2 the discrete tail is above."""
    t = math.ceil(4 * math.sqrt(groups))
    p = key_probability(Fraction(delta), groups)
    threshold = gaussian.threshold(t=t, one_unit=1, p=p)
    reach = 60 * t
    weights = [math.exp(-0.5 * (x / t) ** 2) for x in range(-reach, reach + 1)]

    def appears(limit: int) -> float:
        tail = math.fsum(weights[limit - 1 + reach :]) / math.fsum(weights)
        return -math.expm1(groups * math.log1p(-tail))

    assert appears(threshold) <= float(delta) < appears(threshold - 2)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("groups", [1, 8])
def test_release_rate_at_an_inflated_delta(mechanism: str, groups: int) -> None:
    """delta 0.05, 10^5 runs: a unit alone in `groups` keys; the runs where any appears are at most 5 %, as exactly as
    Laplace promises."""
    runs, delta = 100_000, 0.05
    p = key_probability(Fraction("0.05"), groups)
    if mechanism == "laplace":
        t = 40 * groups
        noise, threshold = lattice.discrete_laplace(t, runs * groups), laplace.threshold(t=t, one_unit=10, p=p)
    else:
        t = 100
        noise, threshold = lattice.discrete_gaussian(t, runs * groups), gaussian.threshold(t=t, one_unit=10, p=p)
    rate = float((10 + noise.reshape(runs, groups) >= threshold).any(axis=1).mean())
    error = math.sqrt(delta * (1 - delta) / runs)
    assert delta * 0.9 - 5 * error < rate < delta + 5 * error
