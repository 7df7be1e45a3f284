"""Exact samplers on the integers, vectorised (Canonne, Kamath, Steinke, "The Discrete Gaussian", 2020),
made of exact coins (coins.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import entropy
from dpsql.mechanisms.coins import bernoulli_exp, coin_exp, coins_exp, coins_fraction
from dpsql.mechanisms.exp_bounds import exp_minus

Integers = npt.NDArray[np.int64]

LAPLACE_SCALE_LIMIT = 1 << 31
GAUSSIAN_SCALE_LIMIT = 1 << 21
FRACTION_LIMIT = 1 << 10

_BLOCK = 1 << 15  # proposals handled at once: the arrays stay in the cache
_TAIL_BITS = 15  # of a proposal's word: the first digits that decide the geometric part; one more bit is the sign
_UNDECIDED = 255
_GEOMETRIC_LIMIT = 1 << 30  # P[beyond] = exp(-2^30): such a value saturates, a function of the exact one


def discrete_laplace(t: int, size: int, per: int = 1) -> Integers:
    """`size` independent draws with P[x] proportional to exp(-|x|*per/t), 1 <= t, per < 2^31."""
    t, per = operator.index(t), operator.index(per)
    if not 1 <= min(t, per) <= max(t, per) < LAPLACE_SCALE_LIMIT:
        raise ValueError(f"the scale of a discrete Laplace must be from 1 to 2^31 - 1, not {t} (per {per})")
    return _filled(size, lambda missing: _laplace_block(t, min(_BLOCK, missing * 5 // 3 + 16), per))


def discrete_gaussian(t: int, size: int, per: int = 1) -> Integers:
    """`size` independent draws with P[x] proportional to exp(-(x*per)^2 / (2 t^2)), 1 <= t < 2^21; with
    per > 1, up to 2^10, t is at most 16*per."""
    t, per = operator.index(t), operator.index(per)
    if not 1 <= t < GAUSSIAN_SCALE_LIMIT:
        raise ValueError(f"the scale of a discrete Gaussian must be from 1 to 2^21 - 1, not {t}")
    if per != 1 and not (1 < per <= FRACTION_LIMIT and t <= 16 * per):
        raise ValueError(f"a fraction for a discrete Gaussian has up to 2^10 parts and is up to 16, not {t}/{per}")

    def block(missing: int) -> Integers:
        proposals = min(_BLOCK, missing * 9 // 4 + 16)
        return _gaussian_block(t, proposals) if per == 1 else _small_gaussian_block(t, per, proposals)

    return _filled(size, block)


def _filled(size: int, block: Callable[[int], Integers]) -> Integers:
    """Blocks one after the other, each made for as many draws as are missing."""
    drawn = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        more = block(size - filled)[: size - filled]
        drawn[filled : filled + more.size] = more
        filled += more.size
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
    kept = np.flatnonzero(coins_fraction(low, t))
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


def _squares(values: Integers) -> npt.NDArray[Any]:
    """As words where they fit, else as Python's integers: told so, since of some beyond 2^63 numpy would make floats."""
    if values.size and int(values.max()) >= 1 << 31:
        return values.astype(object) ** 2
    squares: Integers = values * values
    return squares


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
