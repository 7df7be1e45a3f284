"""delta split over the groups one unit may reach, against exact powers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms.key_probability import key_probability


@given(delta=st.fractions(Fraction(1, 10**20), Fraction(999, 1000)), groups=st.integers(1, 64))
def test_some_key_appears_with_at_most_delta(delta: Fraction, groups: int) -> None:
    p = Fraction(key_probability(delta, groups))
    assert 1 - (1 - p) ** groups <= delta
    more = p * (1 + Fraction(1, 10**13))
    assert more >= 1 or 1 - (1 - more) ** groups > delta


@pytest.mark.parametrize("groups", [1, 2, 8, 64])
def test_it_is_not_the_union_bound(groups: int) -> None:
    delta = Fraction(1, 2)
    p = key_probability(delta, groups)
    assert p == pytest.approx(1 - 0.5 ** (1 / groups), rel=1e-12)
    assert (p > float(delta) / groups) == (groups > 1)


def test_many_groups_and_tiny_deltas() -> None:
    assert key_probability(Fraction(1, 10**9), 10**6) == pytest.approx(1e-15, rel=1e-8)
    assert 0 < Fraction(key_probability(Fraction(1, 10**30), 10**9)) <= Fraction(1, 10**39) * (1 + Fraction(1, 10**12))
    assert 2.0**-20 * (1 - 1e-15) <= key_probability(Fraction(1, 2**20), 1) <= 2.0**-20
    assert Fraction(key_probability(1 - Fraction(1, 10**30), 1)) <= 1 - Fraction(1, 10**30)


@pytest.mark.parametrize(("delta", "groups"), [(0, 1), (1, 1), (-1, 1), (2, 1), (Fraction(1, 2), 0)])
def test_impossible_splits(delta: Fraction, groups: int) -> None:
    with pytest.raises(ValueError, match="needed"):
        key_probability(Fraction(delta), groups)
    assert math.isfinite(groups)
