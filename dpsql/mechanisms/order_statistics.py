"""Scores of candidates from their weights, and the choices made by them: quantiles, ends, most frequent values.

`by`: the mechanism. What is said of a round's ε holds of a unit's part of it in each choice, so for the exponential
mechanism the bounded ranges of one round's choices add up to at most ε too, and their squares to at most ε².

`weights` is groups x candidates, integers of at least 0; adding or removing one unit changes them, in a group, by at most
`sensitivity` in sum, all in one direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.choice import Chooser, choose

Integers = npt.NDArray[np.int64]

_HALF = 31
_MASK = (1 << _HALF) - 1
_ROOM = 1 << 61
FRACTION_LIMIT = 10_000  # denominators of quantiles


def below(weights: Integers, limit: int) -> Integers:
    """For each candidate the weight of those before it, at most `limit` (up to 2^61).

    Lemma: it changes by at most the sum of the changes of the weights. Proof: sums do, and min(·, limit) is 1-Lipschitz.
    The sum is exact: a word where the largest weight says that it must fit, else two halves of 31 digits, each of whose sums
    over 2^22 candidates fits a word.
    """
    if _fit(weights):
        summed: Integers = np.minimum(np.cumsum(weights, axis=1) - weights, limit)
        return summed
    high = np.cumsum(weights >> _HALF, axis=1) - (weights >> _HALF)
    low = np.cumsum(weights & _MASK, axis=1) - (weights & _MASK)
    high += low >> _HALF
    exact: Integers = (np.minimum(high, _ROOM >> _HALF) << _HALF) | (low & _MASK)
    capped: Integers = np.minimum(exact, limit)
    return capped


def _fit(weights: Integers, times: int = 1) -> bool:
    """Whether no sum of a row's weights, times so much, can pass 2^61."""
    largest: int = int(weights.max(initial=0))
    return largest * int(weights.shape[1]) <= _ROOM // times


def above(weights: Integers, limit: int) -> Integers:
    """The same for the candidates after it."""
    return below(weights[:, ::-1], limit)[:, ::-1]


def quantile_scores(weights: Integers, fraction: Fraction) -> Integers:
    """-|(1-a)*below - a*above| in whole numbers, a = p/d: times d."""
    p, d = fraction.numerator, fraction.denominator
    limit = _ROOM // d
    if _fit(weights, d):
        before: Integers = np.cumsum(weights, axis=1)  # in place from here on: new arrays cost more than sums
        after = before[:, -1:] - before
        before -= weights
        before *= d - p
        after *= p
        before -= after
        np.abs(before, out=before)
        np.negative(before, out=before)
        return before
    return np.ascontiguousarray(-np.abs((d - p) * below(weights, limit) - p * above(weights, limit)))


def quantile_sensitivity(fraction: Fraction, sensitivity: int) -> int:
    """Lemma: a score changes by at most max(p, d-p)*sensitivity.

    Proof: below and above of a candidate count disjoint weights, so a unit moves them by x and y of one sign with
    |x| + |y| <= sensitivity, and |(d-p)x - p*y| <= max(p, d-p)*sensitivity.
    """
    return max(fraction.numerator, fraction.denominator - fraction.numerator) * sensitivity


def choose_quantile(
    weights: Integers, fraction: Fraction, *, by: Chooser, epsilon: Fraction, sensitivity: int
) -> Integers:
    scores = quantile_scores(weights, fraction)
    return choose(scores, by=by, epsilon=epsilon, sensitivity=quantile_sensitivity(fraction, sensitivity))


def choose_quantiles(
    weights: Integers, fractions: Sequence[Fraction], *, by: Chooser, epsilon: Fraction, sensitivity: int
) -> Integers:
    """Groups x fractions, in their order, by recursive halving; `epsilon` is each round's, of which there are
    bit_length(number of different fractions).

    Lemma: a round is epsilon-DP in each group. Proof: its choices look at disjoint ranges of candidates, fixed by the rounds
    before; a unit with weight w_i in range i changes that choice's scores by at most w_i/sensitivity of what it is
    calibrated to, so choice i is epsilon*w_i/sensitivity-DP for it, and the w_i add up to at most sensitivity.
    """
    ascending = sorted(set(fractions))
    if len(ascending) == 1:
        chosen = choose_quantile(weights, ascending[0], by=by, epsilon=epsilon, sensitivity=sensitivity)[:, np.newaxis]
    else:
        chosen = np.zeros((weights.shape[0], len(ascending)), dtype=np.int64)
        for group in range(weights.shape[0]):
            chosen[group] = _halve(weights[group], ascending, by=by, epsilon=epsilon, sensitivity=sensitivity)
    return chosen[:, [ascending.index(fraction) for fraction in fractions]]


def _halve(
    weights: Integers, fractions: list[Fraction], *, by: Chooser, epsilon: Fraction, sensitivity: int
) -> list[int]:
    """The middle fraction among all candidates; those before it among the candidates up to there, with its rows, those
    after it from there on, without."""
    answers = [0] * len(fractions)

    def among(first: int, last: int, rows: Integers, start: Fraction, end: Fraction, low: int, high: int) -> None:
        if first > last:
            return
        middle = (first + last) // 2
        part = (fractions[middle] - start) / (end - start) if end > start else Fraction(1, 2)
        part = min(max(part, Fraction(0)), Fraction(1)).limit_denominator(FRACTION_LIMIT)
        inside = rows[low : high + 1][np.newaxis, :]
        chosen = low + int(choose_quantile(inside, part, by=by, epsilon=epsilon, sensitivity=sensitivity)[0])
        answers[middle] = chosen
        left, right = rows.copy(), rows.copy()
        left[chosen + 1 :] = 0
        right[: chosen + 1] = 0
        among(first, middle - 1, left, start, fractions[middle], low, chosen)
        among(middle + 1, last, right, fractions[middle], end, chosen, high)

    among(0, len(fractions) - 1, weights, Fraction(0), Fraction(1), 0, len(weights) - 1)
    return answers


def choose_end(
    weights: Integers, rank: int, *, greatest: bool, by: Chooser, epsilon: Fraction, sensitivity: int
) -> Integers:
    """The candidate with about `rank` of weight before (after) it: score -|weight before - rank|.

    Lemma: a score changes by at most `sensitivity`. Proof: the weight before it does, and |x - rank| is 1-Lipschitz.
    """
    beyond = above(weights, _ROOM) if greatest else below(weights, _ROOM)
    scores = np.ascontiguousarray(-np.abs(beyond - min(rank, _ROOM)))
    return choose(scores, by=by, epsilon=epsilon, sensitivity=sensitivity)


def choose_most(weights: Integers, count: int, *, by: Chooser, epsilon: Fraction, sensitivity: int) -> Integers:
    """Groups x count: the heaviest candidate, then the heaviest of the others, …; `epsilon` is each round's.

    Lemma: with scores that all move in one direction a round of permute-and-flip at exp(epsilon*(q-q_max)/sensitivity) is
    epsilon-DP. Proof: it answers as the maximum of scores plus independent exponential noise of rate epsilon/sensitivity
    does (Ding et al. 2021). Given the others' noise, candidate i wins when its noise exceeds t = max of the others - q_i;
    all scores grow by 0 to sensitivity, so t moves by at most sensitivity, and the tail by at most e^epsilon. A round of the
    exponential mechanism at that rate has a bounded range of epsilon (mechanisms/exponential).
    """
    left = np.broadcast_to(np.arange(weights.shape[1], dtype=np.int64), weights.shape)
    chosen: list[Integers] = []
    for _ in range(count):
        at = choose(np.ascontiguousarray(weights), by=by, epsilon=2 * epsilon, sensitivity=sensitivity)
        rows = np.arange(weights.shape[0])
        chosen.append(left[rows, at])
        others = np.ones(weights.shape, dtype=bool)
        others[rows, at] = False
        shape = (weights.shape[0], weights.shape[1] - 1)
        weights, left = weights[others].reshape(shape), left[others].reshape(shape)
    return np.stack(chosen, axis=1)
