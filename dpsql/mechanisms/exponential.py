"""The exponential mechanism: one candidate, drawn by weights that grow with its score (McSherry, Talwar, 2007).

Under zCDP it is what chooses, since its privacy loss has a bounded range, which permute-and-flip's has not.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import entropy, permute_and_flip
from dpsql.mechanisms.coins import Words, coin_exp, uniform_below
from dpsql.mechanisms.exp_bounds import exp_minus

_BLOCK = 1 << 16  # rounds drawn at once: the arrays stay in the cache
_FIRST = 4  # a quarter of the first batch's rounds; often a few suffice
_NEAR = 64  # candidates whose weight is below exp(-64) are proposed together, as one


def choose(scores: npt.NDArray[np.int64], *, epsilon: Fraction, sensitivity: int) -> npt.NDArray[np.int64]:
    """For each row of `scores` (groups x candidates) the index k of one candidate with P[k] proportional to
    exp(epsilon*q_k/(2*sensitivity)).

    `sensitivity` is what one unit may change any single score by.

    Lemma (bounded range). The privacy loss L(k) = ln P[k]/P'[k] of two neighbours lies in an interval of length epsilon; if
    one unit moves the scores by at most c of that sensitivity, of length c*epsilon. Proof: with r = epsilon/(2*sensitivity)
    L(k) = r*(q_k - q'_k) + ln(Z'/Z), the last term is the same for every k, and q_k - q'_k is within ±c*sensitivity. Where
    all scores move in one direction it is within [0, c*sensitivity] or its negative, so the rate 2r has the same range.

    What follows: (c*epsilon)^2/8 of zCDP (accounting.loss.rho_of_bounded_range), and c*epsilon of pure DP, since L has
    both signs. Groups are drawn independently; those of one unit have c_g with sum 1 at most, so all together cost
    sum (c_g*epsilon)^2/8 <= epsilon^2/8.

    Lemma (the draw is exact). Let x_k = r*(q_max - q_k), A the near candidates, those with x_k < T, and B the m far ones. A
    round proposes "far" with probability m*exp(-T)/(|A| + m*exp(-T)), then a uniform candidate of B, whose coin has
    P[heads] = exp(-(x_k - T)); else a uniform one of A, whose coin has exp(-x_k). Rounds are drawn until heads: the k that
    ends it has P[k] proportional to exp(-x_k). Proof: with Z = |A| + m*exp(-T) a round ends with k of A with probability
    |A|/Z * 1/|A| * exp(-x_k), with k of B with m*exp(-T)/Z * 1/m * exp(T - x_k), both exp(-x_k)/Z; rounds are independent,
    and one that does not end leaves nothing behind. The best candidate is near and its coin always shows heads, so a round
    ends with probability 1/Z at least. Rounds are drawn in batches and the first that ends counts, as if the others had not
    been drawn.
    """
    rate = permute_and_flip.rate_of(scores, epsilon=epsilon, sensitivity=sensitivity)
    rows = max(1, _BLOCK // scores.shape[1])
    blocks = [_choose_block(scores[start : start + rows], rate) for start in range(0, scores.shape[0], rows)]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def _choose_block(scores: npt.NDArray[np.int64], rate: Fraction) -> npt.NDArray[np.int64]:
    gaps = permute_and_flip.gaps_below_best(scores)
    near = _is_near(gaps, rate)
    places, counts = np.flatnonzero(near), near.sum(axis=1)
    starts = np.cumsum(counts) - counts
    chosen = np.zeros(len(gaps), dtype=np.int64)
    left, rounds = np.arange(len(gaps)), _FIRST
    while left.size:
        rounds = min(4 * rounds, max(1, _BLOCK // left.size))
        sizes = np.repeat(counts[left], rounds).astype(np.uint64)
        proposed = places[np.repeat(starts[left], rounds) + uniform_below(sizes).astype(np.int64)]
        heads = permute_and_flip.coins(gaps.ravel()[proposed], rate)
        if not near.all():
            for i in _far_rounds(sizes, gaps.shape[1]):
                row = left[i // rounds]
                far = np.flatnonzero(~near[row])
                at = int(far[uniform_below(np.array([far.size], dtype=np.uint64))[0]])
                proposed[i] = row * gaps.shape[1] + at
                beyond = int(gaps[row, at]) * rate - _NEAR
                heads[i] = coin_exp(beyond.numerator, beyond.denominator)
        tossed = heads.reshape(left.size, rounds)
        ended, first = tossed.any(axis=1), tossed.argmax(axis=1)
        cells = proposed.reshape(left.size, rounds)[ended, first[ended]]
        chosen[left[ended]] = cells % gaps.shape[1]
        left = left[~ended]
    return chosen


def _is_near(gaps: Words, rate: Fraction) -> npt.NDArray[np.bool_]:
    """gap*rate < T: for whole gaps the same as gap < ceil(T/rate)."""
    limit = math.ceil(_NEAR / rate)
    near: npt.NDArray[np.bool_] = gaps < np.uint64(limit) if limit < 1 << 64 else np.ones(gaps.shape, dtype=np.bool_)
    return near


def _far_rounds(near: Words, candidates: int) -> list[int]:
    """The rounds that propose "far", each by a uniform real of its own, whose first digits are a word.

    Nearly all words decide: |A|/(|A| + m*exp(-T)) >= 1 - candidates*exp(-T), as |A| >= 1.
    """
    words = entropy.random_words(near.size)
    cut = (1 << 64) - candidates * exp_minus(_NEAR, 1, 64)[1] - 1
    undecided = np.flatnonzero(words >= np.uint64(max(0, cut)))
    return [i for i in undecided.tolist() if _is_far(int(near[i]), candidates - int(near[i]), int(words[i]))]


def _is_far(near: int, far: int, prefix: int) -> bool:
    """Whether the uniform real whose first 64 digits are `prefix` is above near/(near + far*exp(-T)); draws digits as
    needed. It lies in [prefix, prefix + 1)/2^bits, and exp(-T) between `low` and `high`, in 2^-bits."""
    bits = 64
    while True:
        low, high = exp_minus(_NEAR, 1, bits)
        whole = near << bits
        if (prefix + 1) * (whole + far * high) <= whole << bits:
            return False
        if prefix * (whole + far * low) >= whole << bits:
            return True
        prefix, bits = prefix << 64 | int(entropy.random_words(1)[0]), bits + 64
