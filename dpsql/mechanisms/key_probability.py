"""How likely one unit's keys may be to appear."""

from __future__ import annotations

import math
from fractions import Fraction

_BITS = 256


def key_probability(delta: Fraction, max_groups: int) -> float:
    """p*: the chance each of a unit's keys may have to appear; a float that is at most 1 - (1-delta)^(1/max_groups).

    Lemma. If each of at most L0 keys that a unit alone holds appears, independently, with probability at most p*, then
    some of them appears with probability at most delta.
    Proof. None appears with probability at least (1-p*)^L0 >= 1 - delta. The last inequality is checked here with a
    lower bound of the power (products of 256-bit fractions, rounded down), and p* is lowered until it holds; delta/L0,
    by Bernoulli's inequality, always does.
    """
    if not 0 < delta < 1:
        raise ValueError(f"a delta between 0 and 1 is needed, not {float(delta)}")
    if max_groups < 1:
        raise ValueError(f"at least one group is needed, not {max_groups}")
    p = -math.expm1(math.log1p(-float(delta)) / max_groups) if float(delta) < 1.0 else 1.0
    for _ in range(64):
        if 0.0 < p < 1.0 and _none_appears(p, max_groups) >= 1 - delta:
            return p
        p = math.nextafter(p, 0.0)
    return _float_below(delta / max_groups)


def _none_appears(p: float, max_groups: int) -> Fraction:
    """A lower bound of (1-p)^max_groups."""
    one = 1 << _BITS
    exact = Fraction(p)
    base = one + (-exact.numerator << _BITS) // exact.denominator
    power = one
    for bit in bin(max_groups)[2:]:
        power = power * power >> _BITS
        if bit == "1":
            power = power * base >> _BITS
    return Fraction(power, one)


def _float_below(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, 0.0)
