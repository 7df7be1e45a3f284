"""Certain bounds of exp(-n/d) in integers: what an exact coin or an exact threshold is compared with."""

from __future__ import annotations

import functools

_GUARD_BITS = 32


@functools.lru_cache(maxsize=4096)
def exp_minus(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """(low, high) with low <= 2^bits * exp(-numerator/denominator) <= high, for numerator >= 0, denominator >= 1.

    As `bits` grows, (high - low) / 2^bits goes to 0, so any comparison with a number that is not equal is decided.

    Lemma. Write the exponent as k + f, k whole and 0 <= f < 1: the value is (e^-1)^k * e^-f. Both factors are bounded
    by `_unit_bounds`, products of bounds are rounded outwards. For k > bits the value is below 1 since e^-k < 2^-k.
    """
    whole, rest = divmod(numerator, denominator)
    if whole > bits:
        return 0, 1
    work = bits + _GUARD_BITS + whole.bit_length()
    low, high = _unit_bounds(rest, denominator, work)
    if whole:
        base_low, base_high = _unit_bounds(1, 1, work)
        for _ in range(whole):
            low = (low * base_low) >> work
            high = -((-high * base_high) >> work)
    cut = work - bits
    return low >> cut, -(-high >> cut)


def _unit_bounds(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Bounds of 2^bits * exp(-x) for x = numerator/denominator in [0, 1].

    Proof. Units are 2^-bits. x is taken as its floor F, which is off by less than 1 unit, and so is exp(-x) since
    its slope is at most 1. term_i, the floor of term_(i-1)*F/i, is off by at most 1 + (error of term_(i-1))/i <= 2.
    The series alternates with terms that do not grow, so what is left out after the first term that rounds to 0 is at
    most that term, below 1 + 2 units. With i terms the sum is off by at most 2*i + 4.
    """
    one = 1 << bits
    if not numerator:
        return one, one
    point = (numerator << bits) // denominator
    total, term, count = one, one, 0
    while term:
        count += 1
        term = (term * point >> bits) // count
        total += -term if count & 1 else term
    slack = 2 * count + 4
    return max(0, total - slack), min(one, total + slack)
