"""Exact coins and uniform integers, vectorised: what the samplers on the integers are made of.

Only integers decide. Every uniform choice among n outcomes gives each outcome the same number of 64-bit words and draws
again on the words left over. Coins with a real probability compare the digits of a uniform real, drawn as far as they
are needed, with certain bounds of the probability: they are exact, not exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import entropy
from dpsql.mechanisms.exp_bounds import exp_minus

Words = npt.NDArray[np.uint64]
Booleans = npt.NDArray[np.bool_]

_LARGEST_WORD = (1 << 64) - 1
_COIN_LIMIT = 1 << 62
_CUT = 40
# Entry k: words below it are below exp(-k) whatever follows, words above are not, equality is not decided yet.
_WHOLE_LIMITS = np.array([exp_minus(k, 1, 16)[0] for k in range(16)], dtype=np.uint32)


def bernoulli_exp(
    numerators: npt.NDArray[np.integer] | Sequence[int], denominators: npt.NDArray[np.integer] | Sequence[int] | int
) -> Booleans:
    """Independent coins with P[True] = exp(-n/d), n >= 0, d >= 1; 64-bit arithmetic up to 2^62, Python's beyond."""
    top, bottom = np.broadcast_arrays(np.asarray(numerators), np.asarray(denominators))
    if not top.size:
        return np.zeros(top.shape, dtype=np.bool_)
    if top.dtype.kind not in "iuO" or bottom.dtype.kind not in "iuO":
        raise ValueError("a coin needs integers")
    if int(top.min()) < 0 or int(bottom.min()) < 1:
        raise ValueError("a coin needs a numerator of at least 0 and a denominator of at least 1")
    if int(top.max()) > _COIN_LIMIT or int(bottom.max()) > _COIN_LIMIT:
        coins = [coin_exp(int(n), int(d)) for n, d in zip(top.flat, bottom.flat, strict=True)]
        return np.array(coins, dtype=np.bool_).reshape(top.shape)
    n, d = top.astype(np.uint64).ravel(), bottom.astype(np.uint64).ravel()
    whole = n // d
    return coins_exp(whole, n - whole * d, d).reshape(top.shape)


def coin_exp(numerator: int, denominator: int) -> bool:
    """One exact coin with P[True] = exp(-n/d), integers of any size."""
    return _below_exp(numerator, denominator, 0, 0)


def coins_wide(numerators: Sequence[int], denominator: int) -> Booleans:
    """Coins with P[True] = exp(-n/d), n >= 0, d >= 1, integers of any size, at nearly the speed of words.

    n/d is cut after 40 binary digits: the coin of the digits and the coin of what is left are independent, so that both
    succeed has the product of their probabilities. What is left is y < 2^-40, and exp(-y) >= 1 - y: a word below
    2^64 - 2^24 decides the second coin; any other is followed by more digits.
    """
    parts = [divmod(n << _CUT, denominator) for n in numerators]
    near = np.array([q >> _CUT < _COIN_LIMIT for q, _ in parts], dtype=np.bool_)
    whole = np.array([min(q >> _CUT, _COIN_LIMIT) for q, _ in parts], dtype=np.uint64)
    digits = np.array([q & ((1 << _CUT) - 1) for q, _ in parts], dtype=np.uint64)
    heads = coins_exp(whole, digits, 1 << _CUT)
    words = entropy.random_words(len(parts))
    for i in np.flatnonzero(heads & (words >= np.uint64((1 << 64) - (1 << (64 - _CUT))))):
        heads[i] = _below_exp(parts[i][1], denominator << _CUT, int(words[i]), 64)
    for far in np.flatnonzero(~near).tolist():
        heads[far] = coin_exp(numerators[far], denominator)
    return heads


def coins_exp(whole: Words, rest: Words, denominator: Words | int) -> Booleans:
    """Coins with P[True] = exp(-whole - rest/denominator), 0 <= rest <= denominator <= 2^62.

    The whole part comes first: it turns most away by 16 random bits, before anything else is drawn. Both parts are
    independent coins, so that both succeed has the product of their probabilities.
    """
    heads = coins_whole(whole)
    alive = np.flatnonzero(heads)
    bottom = denominator if isinstance(denominator, int) else denominator[alive]
    heads[alive] = coins_fraction(rest[alive], bottom)
    return heads


def uniform_below(limits: Words) -> Words:
    """Independent uniform integers with 0 <= result < limit, 1 <= limit < 2^63."""
    share = np.uint64(_LARGEST_WORD) // limits
    drawn = entropy.random_words(limits.size) // share
    over = np.flatnonzero(drawn >= limits)
    if over.size:
        drawn[over] = uniform_below(limits[over])
    return drawn


def coins_whole(whole: Words) -> Booleans:
    """Coins with P[True] = exp(-whole): the digits of a uniform real against the digits of exp(-whole). Of 0, every one."""
    words = _random_shorts(whole.size)
    limits = _WHOLE_LIMITS[np.minimum(whole, np.uint64(_WHOLE_LIMITS.size - 1))]
    heads = words < limits
    for i in np.flatnonzero(words == limits):
        heads[i] = _below_exp(int(whole[i]), 1, int(words[i]), 16)
    return heads


def coins_fraction(rest: Words, denominator: Words | int) -> Booleans:
    """Coins with P[True] = exp(-x), x = rest/denominator in [0, 1].

    Toss coins of probability x/1, x/2, x/3, … until one fails, at the k-th: P[k > j] = x^j/j!, so P[k odd] =
    1 - x + x^2/2 - … = exp(-x).
    """
    go_on = _coins_ratio(rest, denominator, 1)
    heads = ~go_on
    index = np.flatnonzero(go_on)
    k = 1
    while index.size:
        k += 1
        bottom = denominator if isinstance(denominator, int) else denominator[index]
        index = index[_coins_ratio(rest[index], bottom, k)]
        heads[index] = k % 2 == 0
    return heads


def _coins_ratio(rest: Words, denominator: Words | int, k: int) -> Booleans:
    """Coins with P[True] = rest / (denominator * k).

    Of the 2^64 words, rest*share say yes and (denominator*k - rest)*share say no; on the others the draw is repeated.
    """
    largest = denominator if isinstance(denominator, int) else int(denominator.max(initial=1))
    if largest * k > _COIN_LIMIT:
        if k > 1:  # two coins: rest/denominator and 1/k
            ones = np.ones(rest.size, dtype=np.uint64)
            return _coins_ratio(rest, denominator, 1) & _coins_ratio(ones, k, 1)
        raise ValueError("the denominator of a coin is beyond 2^62")
    words = entropy.random_words(rest.size)
    if isinstance(denominator, int):
        share: np.uint64 | Words = np.uint64(_LARGEST_WORD // (denominator * k))
        limit: np.uint64 | Words = np.uint64(_LARGEST_WORD // (denominator * k) * denominator * k)
    else:
        total = denominator * np.uint64(k)
        share = np.uint64(_LARGEST_WORD) // total
        limit = share * total
    yes = words < rest * share
    over = words >= limit
    if over.any():
        again = np.flatnonzero(over)
        yes[again] = _coins_ratio(rest[again], denominator if isinstance(denominator, int) else denominator[again], k)
    return yes


def _below_exp(numerator: int, denominator: int, prefix: int, bits: int) -> bool:
    """Whether the uniform real whose first `bits` digits are `prefix` is below exp(-n/d); draws digits as needed.

    The real lies in [prefix, prefix + 1) / 2^bits: at most `low` it is below, from `high` on it is not.
    """
    while True:
        low, high = exp_minus(numerator, denominator, bits)
        if prefix < low:
            return True
        if prefix >= high:
            return False
        prefix, bits = prefix << 64 | int(entropy.random_words(1)[0]), bits + 64


def _random_shorts(count: int) -> npt.NDArray[np.uint16]:
    return entropy.random_words(-(-count // 4)).view(np.uint16)[:count]
