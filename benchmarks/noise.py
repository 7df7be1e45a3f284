"""What does a noisy value cost? Microseconds per value, ours and OpenDP's; choices per candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from benchmarks._oracles.environment import opendp_draws
from dpsql.mechanisms import lattice
from dpsql.mechanisms.choice import Chooser, choose

COUNT = 1_000_000
CHOOSERS: tuple[Chooser, ...] = ("permute-and-flip", "exponential")
SCALES = (1, 37, 2**20, 2**21 - 1)


def main(argv: list[str]) -> None:
    """`--alone` leaves OpenDP out."""
    print(f"{'':9} {'scale':>9} {'ours, us':>9} {'OpenDP':>9} {'ratio':>7}   batches of {COUNT:,}")
    for name, draw in (("laplace", lattice.discrete_laplace), ("gaussian", lattice.discrete_gaussian)):
        for t in SCALES:
            ours = _fastest(draw, t, COUNT) / COUNT * 1e6
            line = f"{name:9} {t:>9} {ours:>9.3f}"
            if "--alone" not in argv:
                theirs = opendp_draws(name, t, COUNT)[1] / COUNT * 1e6
                line += f" {theirs:>9.3f} {theirs / ours:>6.1f}x"
            print(line)
    for name, draw in (("laplace", lattice.discrete_laplace), ("gaussian", lattice.discrete_gaussian)):
        for size in (1, 100):
            print(f"{name:9} batch of {size}: {_fastest(draw, 2**20, size) * 1e6:.0f} us")
    for groups, candidates in ((16, 2**16), (10_000, 100)):
        for by in CHOOSERS:
            print(f"{by} {groups} x {candidates}: {_choices(by, groups, candidates) * 1e9:.1f} ns per candidate")


def _fastest(draw: Callable[[int, int], object], t: int, size: int) -> float:
    return min(_seconds(lambda: draw(t, size)) for _ in range(5))


def _choices(by: Chooser, groups: int, candidates: int) -> float:
    """Scores that fall by one from candidate to candidate, as quantile scores of evenly spread rows do."""
    scores = -np.abs(np.arange(candidates) - np.arange(groups)[:, np.newaxis] * candidates // groups)
    return _seconds(lambda: choose(scores, by=by, epsilon=Fraction(1, 2), sensitivity=3)) / float(scores.size)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
