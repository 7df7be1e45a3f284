"""Thresholds of private keys, against sums of the noise's own probabilities."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from functools import cache
from itertools import accumulate

import pytest

from dpsql.plan.balls import Norm
from dpsql.plan.stages import Draw, Selection
from dpsql.privacy.parts import VOTES
from dpsql.privacy.selection import selection
from dpsql.privacy.sensitivity import votes


def chosen(norm: Norm, scale: int, bits: int, limit: int, delta: str, min_units: int = 0) -> Selection:
    draw = Draw(mechanism="laplace" if norm == 1 else "gaussian", norm=norm, reach=2**bits, scale=scale)
    return selection(draw, bits, limit, Fraction(delta), min_units)


@cache
def tails(mechanism: str, scale: int) -> list[float]:
    """P[X ≥ m] for m from −45·scale on, by summing; to twelve digits and more."""
    far = 45 * scale

    def weight(x: int) -> float:
        return math.exp(-abs(x) / scale if mechanism == "laplace" else -0.5 * (x / scale) ** 2)

    sums = list(accumulate(weight(x) for x in range(far, -far - 1, -1)))  # the small ones first
    return [each / sums[-1] for each in reversed(sums)]


def tail(draw: Draw, m: int) -> float:
    tail_of = tails(draw.mechanism, draw.scale)
    return tail_of[m + 45 * draw.scale] if m <= 45 * draw.scale else 0.0


def shows(selection: Selection, held: int, groups: int) -> float:
    """P[some of `own` keys that one unit alone holds is released], its votes spread over `groups`."""
    return -math.expm1(held * math.log1p(-tail(selection.draw, selection.at_least - selection.votes[groups - 1])))


def test_a_small_gaussian() -> None:
    """A19: σ = 2, 2 bits, 3 keys, δ = 1 %."""
    selection = chosen(2, 2, 2, 3, "0.01")
    assert selection.votes == (4, 2, 2)
    assert selection.at_least == 10
    assert [shows(selection, t, t) for t in (1, 2, 3)] == pytest.approx(
        [0.0027279729, 0.000151409, 0.00022710491], rel=1e-6
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 64, 65, 100, 1000])
@pytest.mark.parametrize("delta", ["0.3", "0.01", "1e-6"])
@pytest.mark.parametrize(
    ("norm", "scale", "bits"), [(1, 1, 0), (1, 9, 3), (1, 40, 6), (2, 2, 2), (2, 30, 3), (2, 20, 6)]
)
def test_none_of_a_unit_s_own_keys_shows(norm: Norm, scale: int, bits: int, delta: str, limit: int) -> None:
    """With probability 1 − δ, whether it holds others' keys too or not; and no threshold is needlessly high."""
    selection = chosen(norm, scale, bits, limit, delta)
    tried = [t for t in range(1, limit + 1) if limit <= 100 or t < 20 or t.bit_count() < 3 or t % 97 == 0]
    worst = max(shows(selection, held, groups) for held in tried for groups in {held, min(held + 1, limit), limit})
    assert worst <= float(Fraction(delta)) * (1 + 1e-9)
    if limit <= 64 and norm == 1:  # a Gaussian's tail is bounded, not summed
        lower = dataclasses.replace(selection, at_least=selection.at_least - 1)
        assert max(shows(lower, t, t) for t in tried) > float(Fraction(delta))


def test_votes_are_within_their_ball() -> None:
    """A9, and for every number of groups the sum in the norm; nobody beyond the limit votes."""
    counted = votes(20, 2, VOTES)
    assert [counted[g - 1] for g in (1, 2, 3, 10, 64)] == [1048576, 741455, 605395, 331588, 131072]
    assert sum(counted[:64]) == 15311343
    assert len(counted) == VOTES
    for bits in (0, 3, 20):
        for g, (one, two) in enumerate(zip(votes(bits, 1, VOTES), votes(bits, 2, VOTES), strict=True), start=1):
            assert g * one <= 2**bits < g * (one + 1)
            assert g * two**2 <= 4**bits < g * (two + 1) ** 2


@pytest.mark.parametrize(
    ("scale", "bits", "at_least"),
    [(1310720, 17, 7518686), (1513490, 18, 8695685), (1310720, 19, 7567838)],
)
def test_thresholds_of_three_rounds(scale: int, bits: int, at_least: int) -> None:
    """A10 on the grids that fit the sampler: δ/3 each, 64 keys."""
    selection = chosen(2, scale, bits, 64, "1/3000000")
    assert at_least <= selection.at_least <= at_least + 1
    assert max(shows_at_most(selection, t) for t in range(1, 65)) <= 1 / 3e6


@pytest.mark.parametrize(
    ("scale", "delta", "at_least", "at"),
    [(2**20, "1e-6", 6032904, 1), (741456, "1e-9", 5495687, 1), (1310720, "1e-6", 7286668, 64)],
)
def test_thresholds_of_one_round(scale: int, delta: str, at_least: int, at: int) -> None:
    """A11, A12: with little noise a unit's single key decides, with much all 64 of them."""
    bits = 18 if at == 64 else 20
    selection = chosen(2, scale, bits, 64, delta)
    assert at_least <= selection.at_least <= at_least + 1
    assert max(range(1, 65), key=lambda t: shows_at_most(selection, t)) == at


def shows_at_most(selection: Selection, t: int) -> float:
    """By the continuous Gaussian, half a step further out."""
    p = 0.5 * math.erfc((selection.at_least - selection.votes[t - 1] - 1) / selection.draw.scale / math.sqrt(2))
    return -math.expm1(t * math.log1p(-p))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [65, 100, 127, 128, 129, 1000, 1024])
def test_few_evaluations_bound_them_all(limit: int) -> None:
    """Past 64 groups the threshold is no lower than at any number of groups, each looked at by itself."""
    for norm, scale, bits in ((1, 5000, 10), (2, 20_000, 10), (2, 1000, 10)):
        selection = chosen(norm, scale, bits, limit, "1e-6")  # type: ignore[arg-type]
        at_least = [chosen(norm, scale, bits, t, "1e-6").at_least for t in range(1, 65)]  # type: ignore[arg-type]
        assert selection.at_least >= max(at_least)
        for t in range(1, limit + 1):
            if norm == 2:
                assert shows_at_most(selection, t) <= 1e-6 * (1 + 1e-9)
            else:
                p = math.exp(-(selection.at_least - selection.votes[t - 1]) / scale) / (1 + math.exp(-1 / scale))
                assert -math.expm1(t * math.log1p(-p)) <= 1e-6 * (1 + 1e-9)


def test_min_units() -> None:
    """A key of so many units may be the unit's doing: the others' votes are whole ones."""
    plain = chosen(2, 20, 3, 4, "0.01")
    assert chosen(2, 20, 3, 4, "0.01", min_units=1).at_least == plain.at_least
    assert chosen(2, 20, 3, 4, "0.01", min_units=50).at_least == plain.at_least + 49 * 2**3
