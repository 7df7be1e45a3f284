"""Permute-and-flip: the best candidate, roughly (McKenna, Sheldon, 2020)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.coins import Words, coins_exp, coins_whole, coins_wide, uniform_below

_BLOCK = 1 << 16  # scores handled at once: the arrays stay in the cache
_DENOMINATOR_LIMIT = 1 << 62


def choose(scores: npt.NDArray[np.int64], *, epsilon: Fraction, sensitivity: int) -> npt.NDArray[np.int64]:
    """For each row of `scores` (groups x candidates) the index of one candidate: epsilon-DP in each row.

    `sensitivity` is what one unit may change any single score by.

    Lemma. Each candidate tosses a coin with P[heads] = exp(epsilon*(q - q_max)/(2*sensitivity)); one of the heads,
    chosen uniformly, is exactly permute-and-flip.
    Proof. Permute-and-flip visits the candidates in a uniform random order and answers the first whose coin shows
    heads. Toss all the coins beforehand: they do not depend on the order. Given the set of heads, which is never empty
    as the best candidate's coin has probability 1, its first member in a uniform random order is uniform on it.
    """
    rate = rate_of(scores, epsilon=epsilon, sensitivity=sensitivity)
    rows = max(1, _BLOCK // scores.shape[1])
    blocks = [_choose_block(scores[start : start + rows], rate) for start in range(0, scores.shape[0], rows)]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def rate_of(scores: npt.NDArray[np.int64], *, epsilon: Fraction, sensitivity: int) -> Fraction:
    """By what a gap between scores is multiplied; ValueError for what no choice can be made by."""
    if scores.ndim != 2 or scores.dtype != np.int64 or not scores.shape[1]:
        raise ValueError("scores are 64-bit integers, groups x candidates, with at least one candidate")
    if epsilon <= 0 or sensitivity < 1:
        raise ValueError("a choice needs a positive epsilon and a sensitivity of at least 1")
    return epsilon / (2 * sensitivity)


def gaps_below_best(scores: npt.NDArray[np.int64]) -> Words:
    """How far each score is below its row's best."""
    words = scores.view(np.uint64) if scores.flags.c_contiguous else np.ascontiguousarray(scores).view(np.uint64)
    best = scores.max(axis=1).astype(np.uint64)
    gaps: Words = best[:, np.newaxis] - words  # modulo 2^64, so right even where 63 bits would overflow
    return gaps


def _choose_block(scores: npt.NDArray[np.int64], rate: Fraction) -> npt.NDArray[np.int64]:
    heads = np.flatnonzero(coins(gaps_below_best(scores).ravel(), rate))
    rows, candidates = np.divmod(heads, scores.shape[1])
    counts = np.bincount(rows, minlength=scores.shape[0]).astype(np.uint64)
    first = np.cumsum(counts, dtype=np.uint64) - counts
    picked = (first + uniform_below(counts)).astype(np.int64)
    return candidates[picked].astype(np.int64)


def coins(gaps: Words, rate: Fraction) -> npt.NDArray[np.bool_]:
    """Coins with P[heads] = exp(-gap*rate), exactly, by words where products and denominator fit into them."""
    largest = int(gaps.max(initial=np.uint64(0)))
    if max(1, largest) * rate.numerator >= 1 << 64 or rate.denominator > _DENOMINATOR_LIMIT:
        return _wide_coins(gaps, rate)
    top = gaps * np.uint64(rate.numerator)
    whole = top // np.uint64(rate.denominator)
    return coins_exp(whole, top - whole * np.uint64(rate.denominator), rate.denominator)


def _wide_coins(gaps: Words, rate: Fraction) -> npt.NDArray[np.bool_]:
    """The same where numbers are too long: a whole number below the exponent first, as a coin of its own, turns most
    candidates away; only for the others Python's integers work out what is left of the exponent."""
    least = _whole_below(gaps, rate)
    heads = coins_whole(least)
    alive = np.flatnonzero(heads)
    pairs = zip(gaps[alive].tolist(), least[alive].tolist(), strict=True)
    left = [gap * rate.numerator - whole * rate.denominator for gap, whole in pairs]
    heads[alive] = coins_wide(left, rate.denominator)
    return heads


def _whole_below(gaps: Words, rate: Fraction) -> Words:
    """Whole numbers of at most gap*rate, close to it.

    Proof. With gap = 2^i * g + …, numerator = 2^j * n + … (g, n the leading 32 and 31 digits, so that g*n is a word)
    and d >= denominator/2^(i+j): gap*rate >= 2^(i+j)*g*n/denominator >= g*n/d. Where d is no word, 0 serves.
    """
    gap_cut = max(0, int(gaps.max(initial=np.uint64(0))).bit_length() - 32)
    rate_cut = max(0, rate.numerator.bit_length() - 31)
    bottom = -(-rate.denominator >> (gap_cut + rate_cut))
    if bottom >= 1 << 64:
        return np.zeros(gaps.size, dtype=np.uint64)
    return (gaps >> np.uint64(gap_cut)) * np.uint64(rate.numerator >> rate_cut) // np.uint64(bottom)
