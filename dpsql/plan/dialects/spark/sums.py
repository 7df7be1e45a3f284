"""Sums of whole numbers on Spark. A sum of BIGINTs is a BIGINT there, and fails where that ends; decimals of 38 digits have
room, but each addition makes an object, ten times as dear. So numbers that are known to be small, by what they are printed
from, are added up in parts of few bits, each a BIGINT sum, and the parts' sums are put together, once for each group."""

from __future__ import annotations

from dpsql.plan.dialects.spark.literals import WIDE

PART_BITS = 22


def total(x: str, most: int | None, where: str) -> str:
    """The sum as a wide number; NULL of no number. most: x is a BIGINT within ±most. where: "" or a FILTER.

    Lemma: it never fails. Proof: by that of `parts`; what is put together is below 2^62·2^44·3 < 10^38."""
    if most is None:
        return f"sum(CAST({x} AS {WIDE})){where}"
    shown = " + ".join(_scaled(f"CAST({text} AS {WIDE})", factor) for text, factor, _ in parts(x, most, where))
    return f"({shown})"


def _scaled(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * CAST('{factor}' AS {WIDE})"


def parts(x: str, most: int, where: str) -> list[tuple[str, int, int]]:
    """BIGINT sums, the factors that they are put together with, and the most that one number's part is.

    Lemma: the parts' sums never fail, and with their factors they add up to the sum. Proof: x = ⌊x / 2^k⌋·2^k + (x mod 2^k)
    for any k, negative x too, as >> rounds down and & takes the low bits of the two's complement. The top part is within
    2^22 in size, as x is within 2^(22·parts), the others from 0 to 2^22 − 1; so 2^40 of them (no relation has more rows) add
    up to 2^62 at most. All parts of a number are NULL or none is, so the sums are over the same rows."""
    count = max(1, -(-most.bit_length() // PART_BITS))
    made = []
    for n in range(count):
        shifted = f"shiftright({x}, {n * PART_BITS})" if n else x
        taken = shifted if n == count - 1 else f"({shifted} & {2**PART_BITS - 1}L)"
        made.append((f"sum({taken}){where}", 2 ** (n * PART_BITS), 2**PART_BITS))
    return made
