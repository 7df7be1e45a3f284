"""What is measured for cumulative sums, computed a second time: from its definition, number by number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from math import comb

from dpsql.mechanisms.prefix_sums import Toeplitz, Tree
from dpsql.plan.stages import Noised

Place = tuple[tuple[object, ...], int]


def along(totals: Mapping[int, int], noised: Noised) -> dict[Place, int]:
    """The numbers that noise is added to, of each order, from the totals by group; those that are 0 are left out."""
    running, shift = noised.running, noised.draw.shift
    assert running is not None
    ranks = [{place: n for n, place in enumerate(places)} for _, places in running.order]
    orders: dict[tuple[object, ...], dict[int, int]] = {}
    for ordinal, key in enumerate(product(*(range(length) for length in running.lengths))):
        if totals.get(ordinal, 0):
            at = 0
            for (i, places), rank in zip(running.order, ranks, strict=True):
                at = at * len(places) + rank[key[i]]
            apart = tuple(k for i, k in enumerate(key) if i not in {i for i, _ in running.order})
            orders.setdefault(apart, {})[at] = totals[ordinal]
    by_place: dict[Place, int] = {}
    for other, values in orders.items():
        match running.strategy:
            case Toeplitz(count=count):
                numbers = _toeplitz(values, count)
            case Tree(count=count, arity=arity):
                numbers = _tree(values, count, arity)
        for i, number in enumerate(numbers):
            on_grid = (number + (2**shift) // 2) // 2**shift
            if on_grid:
                by_place[other, i] = max(-(2**62), min(on_grid, 2**62))
    return by_place


def _toeplitz(values: Mapping[int, int], count: int) -> list[int]:
    return [sum(_coefficient(i - j) * x for j, x in values.items() if j <= i) for i in range(count)]


@cache
def _coefficient(k: int) -> int:
    """2^20·(2k choose k)/4^k, rounded half up."""
    quarter: int = 4**k
    return (2 * comb(2 * k, k) * 2**20 + quarter) // (2 * quarter)


def _tree(values: Mapping[int, int], count: int, arity: int) -> list[int]:
    sums, length = [values.get(i, 0) for i in range(count)], 1
    while -(-count // length) > arity:
        length *= arity
        runs = range(0, count, length)
        sums += [sum(x for j, x in values.items() if start <= j < start + length) for start in runs]
    return sums
