"""Exact samplers on the integers, vectorised (Canonne, Kamath, Steinke, "The Discrete Gaussian", 2020).

Only integers decide. Every uniform choice among n outcomes gives each outcome the same number of 64-bit words and draws
again on the words left over. Coins with a real probability compare the digits of a uniform real, drawn as far as they
are needed, with certain bounds of the probability: they are exact, not exact up to rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import entropy
from dpsql.mechanisms.exp_bounds import exp_minus

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

LAPLACE_SCALE_LIMIT = 1 << 31
GAUSSIAN_SCALE_LIMIT = 1 << 21
FRACTION_LIMIT = 1 << 10

_LARGEST_WORD = (1 << 64) - 1
_COIN_LIMIT = 1 << 62
_CUT = 40
_BLOCK = 1 << 15  # proposals handled at once: the arrays stay in the cache
_TAIL_BITS = 15  # of a proposal's word: the first digits that decide the geometric part; one more bit is the sign
_UNDECIDED = 255
_GEOMETRIC_LIMIT = 1 << 30  # P[beyond] = exp(-2^30): such a value saturates, a function of the exact one


def discrete_laplace(t: int, size: int, per: int = 1) -> Integers:
    """`size` independent draws with P[x] proportional to exp(-|x|*per/t), 1 <= t, per < 2^31."""
    t, per = operator.index(t), operator.index(per)
    if not 1 <= min(t, per) <= max(t, per) < LAPLACE_SCALE_LIMIT:
        raise ValueError(f"the scale of a discrete Laplace must be from 1 to 2^31 - 1, not {t} (per {per})")
    drawn = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        block = _laplace_block(t, min(_BLOCK, (size - filled) * 5 // 3 + 16), per)
        taken = min(block.size, size - filled)
        drawn[filled : filled + taken] = block[:taken]
        filled += taken
    return drawn


def discrete_gaussian(t: int, size: int, per: int = 1) -> Integers:
    """`size` independent draws with P[x] proportional to exp(-(x*per)^2 / (2 t^2)), 1 <= t < 2^21; with
    per > 1, up to 2^10, t is at most 16*per."""
    t, per = operator.index(t), operator.index(per)
    if not 1 <= t < GAUSSIAN_SCALE_LIMIT:
        raise ValueError(f"the scale of a discrete Gaussian must be from 1 to 2^21 - 1, not {t}")
    if per != 1 and not (1 < per <= FRACTION_LIMIT and t <= 16 * per):
        raise ValueError(f"a fraction for a discrete Gaussian has up to 2^10 parts and is up to 16, not {t}/{per}")
    drawn = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        proposals = min(_BLOCK, (size - filled) * 9 // 4 + 16)
        block = _gaussian_block(t, proposals) if per == 1 else _small_gaussian_block(t, per, proposals)
        taken = min(block.size, size - filled)
        drawn[filled : filled + taken] = block[:taken]
        filled += taken
    return drawn


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
    heads[alive] = _coins_fraction(rest[alive], bottom)
    return heads


def uniform_below(limits: Words) -> Words:
    """Independent uniform integers with 0 <= result < limit, 1 <= limit < 2^63."""
    share = np.uint64(_LARGEST_WORD) // limits
    drawn = entropy.random_words(limits.size) // share
    over = np.flatnonzero(drawn >= limits)
    if over.size:
        drawn[over] = uniform_below(limits[over])
    return drawn


def _laplace_block(t: int, proposals: int, per: int = 1) -> Integers:
    """The accepted ones among `proposals` proposals, in order.

    A proposal is u uniform on 0..t-1, kept with probability exp(-u/t), and v with P[v] proportional to exp(-v):
    u + t*v has P proportional to exp(-(u + t*v)/t). With a fair sign, and minus zero dropped, every x has the weight
    exp(-|x|/t)/2. u comes from the upper 48 bits of a word, sign and v from the lower 16: independent bits.

    per: P[⌊size/per⌋ >= j] = P[size >= j*per] = exp(-j*per/t), so sizes are floored before they have a sign.
    """
    words = entropy.random_words(proposals)
    low = (words >> np.uint64(16)) // np.uint64(((1 << 48) - 1) // t)
    inside = low < np.uint64(t)
    if not inside.all():
        words, low = words[inside], low[inside]
    kept = np.flatnonzero(_coins_fraction(low, t))
    tail = words[kept].astype(np.uint16)  # the lower 16 bits
    size = (low[kept].astype(np.int64) + _geometric(tail >> np.uint16(1)) * t) // per
    minus = (tail & np.uint16(1)).astype(np.int64)
    signed = (size ^ -minus) + minus
    accepted: Integers = signed[(signed != 0) | (minus == 0)]
    return accepted


def _gaussian_block(t: int, proposals: int) -> Integers:
    """A Laplace proposal y of scale t, kept with probability exp(-(|y| - t)^2 / (2 t^2)).

    The weights multiply to exp(-|y|/t - (|y| - t)^2 / (2 t^2)) = exp(-y^2 / (2 t^2)) * exp(-1/2).
    """
    y = _laplace_block(t, proposals)
    away = np.abs(y) - t
    bottom = 2 * t * t
    if away.size and int(away.max()) >= 1 << 31:  # the square would leave 64 bits
        return y[[coin_exp(int(a) ** 2, bottom) for a in away]]
    top = (away * away).astype(np.uint64)
    whole = top // np.uint64(bottom)
    return y[coins_exp(whole, top - whole * np.uint64(bottom), bottom)]


def _small_gaussian_block(t: int, per: int, proposals: int) -> Integers:
    """The same for sigma = t/per: a proposal y of whole scale L >= sigma, kept with probability
    exp(-(|y| - sigma^2/L)^2 / (2 sigma^2)), which is exp(-(|y| per^2 L - t^2)^2 / (2 (t per L)^2)) in integers.

    The weights multiply to exp(-y^2/(2 sigma^2)) times a constant. With t <= 16*per <= 2^14 and
    L <= 16 the bottom is at most 2 * (2^14 * 2^14)^2 = 2^57, and |y| <= 2^35 times per^2 L is at most 2^59.
    """
    whole = -(-t // per)
    y = _laplace_block(whole, proposals)
    away = np.abs(np.abs(y) * (per * per * whole) - t * t)
    bottom = 2 * (t * per * whole) ** 2
    return y[bernoulli_exp(_squares(away), bottom)]


def _squares(values: Integers) -> npt.NDArray[np.integer] | list[int]:
    """As words where they fit, else as Python's integers."""
    if values.size and int(values.max()) >= 1 << 31:
        return [int(value) ** 2 for value in values]
    squares: Integers = values * values
    return squares


def _coins_fraction(rest: Words, denominator: Words | int) -> Booleans:
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


def coins_whole(whole: Words) -> Booleans:
    """Coins with P[True] = exp(-whole): the digits of a uniform real against the digits of exp(-whole). Of 0, every one."""
    words = _random_shorts(whole.size)
    limits = _WHOLE_LIMITS[np.minimum(whole, np.uint64(_WHOLE_LIMITS.size - 1))]
    heads = words < limits
    for i in np.flatnonzero(words == limits):
        heads[i] = _below_exp(int(whole[i]), 1, int(words[i]), 16)
    return heads


def _geometric(prefixes: npt.NDArray[np.uint16]) -> Integers:
    """v with P[v >= j] = exp(-j): the number of j >= 1 with w < exp(-j), w the uniform real whose digits begin so."""
    v = _GEOMETRIC[prefixes].astype(np.int64)
    for i in np.flatnonzero(v == _UNDECIDED):
        v[i] = _geometric_of(int(prefixes[i]), _TAIL_BITS)
    return v


def _geometric_of(prefix: int, bits: int) -> int:
    """The geometric value of the uniform real whose first `bits` digits are `prefix`; draws more digits as needed."""
    v = 0
    while v < _GEOMETRIC_LIMIT:
        low, high = exp_minus(v + 1, 1, bits)
        if prefix >= high:
            break
        if prefix < low:
            v += 1
        else:
            prefix, bits = prefix << 64 | int(entropy.random_words(1)[0]), bits + 64
    return v


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


def _geometric_table() -> npt.NDArray[np.uint8]:
    """The geometric value of every 15-digit prefix that determines it."""
    table = np.full(1 << _TAIL_BITS, _UNDECIDED, dtype=np.uint8)
    above = 1 << _TAIL_BITS
    for v in range(_TAIL_BITS):
        low, high = exp_minus(v + 1, 1, _TAIL_BITS)
        table[high:above] = v
        above = low
    return table


_GEOMETRIC = _geometric_table()
# Entry k: words below it are below exp(-k) whatever follows, words above are not, equality is not decided yet.
_WHOLE_LIMITS = np.array([exp_minus(k, 1, 16)[0] for k in range(16)], dtype=np.uint32)
