"""By how many rows a choice among candidates is off, with probability 95 %: whatever the data are, so of smooth data less.

Off is what the chosen candidate's score is below the best one's. Of a quantile the score is a distance of ranks, that of the
rows before the candidate from where they should end, its own rows left out; so the rows that share a candidate (in a list:
one of the cells that it is split into) come on top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsql.mechanisms.order_statistics import FRACTION_LIMIT
from dpsql.plan.candidates import MostFrequent, Quantiles
from dpsql.plan.measurements import Choice, TopGroups, shares
from dpsql.plan.stages import Draw

MISSED = 0.05


def weighed_against(one: Choice | TopGroups, draw: Draw) -> Fraction:
    """What an error in a score is weighed against, in weights (s below): twice the sensitivity over ε, or half of that where
    all scores move in one direction (choose_most). Scores of a quantile a = p/d are d times a distance of ranks and have
    max(p, d − p) times the sensitivity: in rows it is max(a, 1 − a) of this (`widest`)."""
    each = draw.epsilon / shares(one)
    rising = isinstance(one, TopGroups) or (isinstance(one, Choice) and isinstance(one.question, MostFrequent))
    return Fraction(0) if each == 0 else (1 if rising else 2) * draw.reach / each


def rank_error(one: Choice | TopGroups, draw: Draw) -> Fraction:
    """In weights. All answers of the measurement hold at once: each choice is given 5 % over their number (Boole)."""
    match one:
        case TopGroups():
            times, choices, count = Fraction(1), one.count, one.groups
        case Choice(question=Quantiles() as question):
            asked = sorted(set(question.fractions))
            times, choices, count = widest(asked), len(asked), one.candidates.count * question.spread
        case Choice():
            times, choices, count = Fraction(1), shares(one), one.candidates.count
    return times * weighed_against(one, draw) * Fraction(tail(count, MISSED / choices, by=draw.mechanism))


def tail(count: int, missed: float, *, by: str) -> float:
    """t such that one of `count` candidates is chosen with a score t·s or more below the best with probability at most
    `missed`, s what scores are weighed against.

    Lemma: t = ln(count/λ), where 1 − (1 − e^−λ)/λ = missed. Proof: permute-and-flip tosses a coin for each candidate, heads
    with probability e^(−gap/s), and chooses uniformly among the heads; the best one's is heads. With H heads among those
    that are t·s or more behind, one of them is chosen with probability at most H/(1 + H), which grows with H. The best
    is none of them, so H is, in distribution, at most binomial of count − 1 trials of probability q = e^−t = λ/count, for
    which E[H/(1 + H)] = 1 − (1 − (1 − q)^count)/(count·q), and (1 − q)^count ≤ e^−λ. It is reached where all others lie
    just t·s behind: nothing much smaller holds for all data.

    Under the exponential mechanism those behind have at most (count − 1)·e^−t of the best one's probability together, so t
    is ln((count − 1)·(1 − missed)/missed).
    """
    if by == "exponential":
        return max(0.0, math.log(max(1, count - 1) * (1 - missed) / missed))
    low, high = 0.0, 64.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 + math.expm1(-middle) / middle <= missed else (low, middle)
    return max(0.0, math.log(count / low))


def widest(fractions: Sequence[Fraction]) -> Fraction:
    """The largest error of a list's quantiles, where each choice alone is off by at most 1 (times its own max(a, 1 − a)).

    Lemma: a quantile that is looked for at part a between two ends that are off by x and y is off by at most
    max(a, 1 − a) + (1 − a)·x + a·y. Proof: the ends hold the ranks R and R′, and the target is R + a·(R′ − R) = (1 − a)·R +
    a·R′, off by a convex combination of theirs; its own choice adds its own error. The first and last end are exact.
    """
    worst = Fraction(0)

    def among(first: int, last: int, start: Fraction, end: Fraction, below: Fraction, above: Fraction) -> None:
        nonlocal worst
        if first > last:
            return
        middle = (first + last) // 2
        part = (fractions[middle] - start) / (end - start) if end > start else Fraction(1, 2)
        part = min(max(part, Fraction(0)), Fraction(1)).limit_denominator(FRACTION_LIMIT)
        off = max(part, 1 - part) + (1 - part) * below + part * above
        worst = max(worst, off)
        among(first, middle - 1, start, fractions[middle], below, off)
        among(middle + 1, last, fractions[middle], end, off, above)

    among(0, len(fractions) - 1, Fraction(0), Fraction(1), Fraction(0), Fraction(0))
    return worst
