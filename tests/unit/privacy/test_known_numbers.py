"""Numbers that were worked out independently, in exact arithmetic or to ten digits: choices, votes, thresholds, widths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.accounting.loss import epsilon_of_rho, rho_of_bounded_range, rho_of_pure
from dpsql.mechanisms import laplace
from dpsql.mechanisms.key_probability import key_probability
from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.stages import Draw, LimitChoice
from dpsql.privacy.auto import KEYED, KEYLESS, doublings, scores
from dpsql.privacy.selection import selection
from tests.worlds import people

ABOVE = (900, 400, 120, 30, 5, 1, 0, 0)
CHOICE = LimitChoice(of="rows", candidates=doublings(1)[:8], step=10, tolerated=Fraction(1))


def permute_and_flip(scored: Sequence[int], epsilon: float) -> list[float]:
    """By definition: candidates in random order, each taken with probability e^(−ε·gap)."""
    chances = [0.0] * len(scored)
    orders = list(itertools.permutations(range(len(scored))))
    for order in orders:
        left = 1 / len(orders)
        for i in order:
            taken = left * math.exp(-epsilon * (max(scored) - scored[i]))
            chances[i] += taken
            left -= taken
    return chances


def exponential(scored: Sequence[int], epsilon: float) -> list[float]:
    weights = [math.exp(epsilon * (score - max(scored))) for score in scored]
    return [weight / sum(weights) for weight in weights]


def test_the_exponential_mechanism_s_choice() -> None:
    expected = [0.0356319271, 0.715686387, 0.215560597, 0.0291729545, 0.00394813006]
    scored = scores(CHOICE, ABOVE, 1)
    assert exponential(scored, 0.2)[3:] == pytest.approx(expected, rel=1e-8)
    drawn = choose_most(
        np.array([scored] * 40_000, dtype=np.int64), 1, by="exponential", epsilon=Fraction(1, 5), sensitivity=1
    )[:, 0]
    for i, p in enumerate(expected, 3):
        assert abs(np.mean(drawn == i) - p) <= 5.2 * (p * (1 - p) / len(drawn)) ** 0.5


def test_permute_and_flip_is_no_better_than_pure_under_zcdp() -> None:
    """Two tied candidates, one of which falls by one: a divergence of 0.255, more than the 1/8 of a bounded range."""
    before, after = permute_and_flip((0, 0), 1), permute_and_flip((0, -1), 1)
    assert after == pytest.approx([0.81606028, 0.18393972], abs=1e-8)
    divergence = sum(p * math.log(p / q) for p, q in zip(before, after, strict=True))
    assert divergence == pytest.approx(0.25505994, abs=1e-8)
    assert rho_of_bounded_range(Fraction(1)) < divergence <= rho_of_pure(Fraction(1))


@pytest.mark.parametrize(
    ("calm", "expected"), [(Fraction(2), 2.180268), (KEYLESS.calm, 1.488849), (KEYED.calm, 1.248671)]
)
def test_how_much_too_large_a_limit_is_expected_to_be(calm: Fraction, expected: float) -> None:
    """1 + Σ (4e^(−c))^i is the bound; a candidate i steps past the right one wins with probability at most e^(−c·i)."""
    assert 1 / (1 - 4 * math.exp(-calm)) == pytest.approx(expected, abs=2e-6)
    epsilon = Fraction(1, 5)
    choice = LimitChoice(of="rows", candidates=doublings(1)[:8], step=math.ceil(calm / epsilon), tolerated=Fraction(1))
    right = next(i for i, n in enumerate(ABOVE) if n <= 1)
    for mechanism in (permute_and_flip, exponential):
        chances = mechanism(scores(choice, ABOVE, 1), float(epsilon))
        for i in range(1, 8 - right):
            assert chances[right + i] <= math.exp(-calm * i)


@pytest.mark.parametrize(("calm", "doublings_up", "epsilon", "needed"), [(2, 5, 0.2, 50), (2, 5, 0.05, 200)])
def test_a_large_limit_needs_many_heavy_units(calm: int, doublings_up: int, epsilon: float, needed: int) -> None:
    """Group privacy: below (c·j − ln 2)/ε heavy units, j doublings are reached with probability below one half."""
    assert calm * doublings_up / epsilon == needed
    step = round(calm / epsilon)
    choice = LimitChoice(of="rows", candidates=doublings(1)[: doublings_up + 2], step=step, tolerated=Fraction(1))
    for heavy in (needed // 2, int(needed - math.log(2) / epsilon)):
        above = [heavy] * doublings_up + [0, 0]
        assert sum(permute_and_flip(scores(choice, above, 1), epsilon)[doublings_up:]) < 0.5
    above = [2 * needed] * doublings_up + [0, 0]
    assert sum(permute_and_flip(scores(choice, above, 1), epsilon)[doublings_up:]) > 0.5


def gaussian_votes(scale: int, bits: int) -> Draw:
    return Draw(mechanism="gaussian", norm=2, reach=2**bits, scale=scale)


@pytest.mark.parametrize(
    ("bits", "scale", "delta", "limit", "threshold"),
    [
        (17, 1310720, Fraction(1, 3 * 10**6), 64, 7518686),  # ρ = 0.1 in three rounds
        (18, 1513490, Fraction(1, 3 * 10**6), 64, 8695685),
        (19, 1310720, Fraction(1, 3 * 10**6), 64, 7567838),
        (20, 2**20, Fraction(1, 10**6), 64, 6032904),  # ρ = 1/2 in one: t = 1 decides
        (20, 741456, Fraction(1, 10**9), 64, 5495687),
        (18, 1310720, Fraction(1, 10**6), 64, 7286668),  # ρ = 0.02 in one: t = 64 does
        (2, 2, Fraction(1, 100), 3, 10),
    ],
)
def test_thresholds_of_gaussian_votes(bits: int, scale: int, delta: Fraction, limit: int, threshold: int) -> None:
    """At most a few grid steps above the exact one: tails are bounded from above."""
    at_least = selection(gaussian_votes(scale, bits), bits, limit, delta).at_least
    assert threshold <= at_least <= threshold + max(1, threshold // 10**5)


def test_rounds_of_votes() -> None:
    """ρ = 0.02 and δ = 1e-6, halved, in rounds of a fifth and four fifths, in units."""
    for part, bits, expected in ((Fraction(1, 5), 16, 63.344887), (Fraction(4, 5), 18, 31.734943)):
        scale = math.ceil(2**bits / math.sqrt(2 * Fraction(2, 100) * part))
        actual = selection(gaussian_votes(scale, bits), bits, 64, Fraction(1, 2 * 10**6)).units
        assert float(actual) == pytest.approx(expected, rel=2e-5)


def test_small_votes() -> None:
    assert selection(gaussian_votes(2, 2), 2, 3, Fraction(1, 100)).votes == (4, 2, 2)
    votes = selection(gaussian_votes(2**20, 20), 20, 64, Fraction(1, 10**6)).votes
    assert (votes[0], votes[1], votes[2], votes[9], votes[63]) == (1048576, 741455, 605395, 331588, 131072)
    assert sum(votes) == 15311343


@pytest.mark.parametrize(
    ("groups", "threshold"), [(1, 27.244727), (2, 56.262041 / 2), (5, 148.318009 / 5), (10, 309.498960 / 10)]
)
def test_thresholds_of_laplace_votes(groups: int, threshold: float) -> None:
    """ε = 1/2, δ = 1e-6. A unit with g groups gives each 1/g: what one of g scaled counts needs is a g-th of it here."""
    draw = Draw(mechanism="laplace", norm=1, reach=2**20, scale=2**21)
    selected = selection(draw, 20, groups, Fraction(1, 10**6))
    assert float(selected.units) == pytest.approx(threshold, abs=2e-5)


def test_key_probability() -> None:
    assert key_probability(Fraction(1, 3 * 10**6), 64) == pytest.approx(5.208334188e-9, rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [
        ("0.001", 0.189982),
        ("0.005", 0.445198),
        ("0.01", 0.642938),
        ("0.02", 0.929539),
        ("0.05", 1.517537),
        ("0.1", 2.206046),
    ],
)
def test_zcdp_and_back(rho: str, epsilon: float) -> None:
    assert float(epsilon_of_rho(Fraction(rho), Fraction(5, 10**7))) == pytest.approx(epsilon, abs=2e-6)


def test_a_pair_of_ends_is_so_wide() -> None:
    """The 95 % half-width of half the sum of two Laplace variables, in their scale, is 4.113003/2 of it and its double."""
    c = 4.113003
    assert (1 + c / 2) * math.exp(-c) == pytest.approx(0.05, abs=1e-7)
    assert laplace.half_width_of_sum([2.0**20, 2.0**20], 0.95) / 2**20 == pytest.approx(c, rel=1e-3)


@pytest.mark.parametrize(
    ("rows", "near", "laplace_epsilon"), [(64, 100, 1.917269), (16, 50, 0.958634), (1, 10, 0.299573)]
)
def test_the_epsilon_for_an_accuracy(rows: int, near: int, laplace_epsilon: float) -> None:
    """Of Laplace noise ln(20)·T/h; two-sided geometric noise on whole rows is beyond ±h with probability 2q^(h+1)/(1 + q),
    q = e^(−ε/T), which needs a little less."""
    catalog = people({}, rows_per_unit=rows, budget={"epsilon": 100})
    with dpsql.connect(catalog, source={"t": pd.DataFrame({"u": range(100)})}, epsilon=5) as connection:
        told = connection.explain(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = {near}) COUNT(*) AS n FROM t")
    cost = told.privacy.cost.epsilon
    assert laplace_epsilon == pytest.approx(math.log(20) * rows / near, abs=1e-6)

    def beyond(epsilon: float) -> float:
        q = math.exp(-epsilon / rows)
        return 2 * q ** (near + 1) / (1 + q)

    assert beyond(cost) <= 0.05 < beyond(cost * 0.98)
    assert cost <= laplace_epsilon * 1.01 + 0.0005
