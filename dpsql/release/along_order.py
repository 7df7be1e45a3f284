"""Totals that are measured for their cumulative sums, beside totals.py: a matrix is applied, noise is added, and from these
noisy numbers alone whole numbers are made of which the cumulative sums are the rounded estimates.

Everything up to the noise is in exact integers; how far one unit moves it is in privacy/sensitivity.running_reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.plan.balls import FULL
from dpsql.plan.stages import GRID_LIMIT, Draw, Noised, Running
from dpsql.release.exact import Integers

Whole = npt.NDArray[Any]  # of Python's integers
LIMIT = 2**GRID_LIMIT


def released_along(totals: Integers, noised: Noised, add_noise: Callable[[Integers, Draw], Integers]) -> Integers:
    """Of each group a whole number of pieces. totals: of all groups, on the grid that the vault was asked for."""
    assert noised.running is not None
    running, draw = noised.running, noised.draw
    measured = on_noise_grid(running.strategy.measured(in_order(totals.astype(object), running)), draw)
    noisy = add_noise(measured.reshape(-1), draw).reshape(measured.shape)
    sums = running.strategy.prefixes(noisy.astype(np.float64) * _pieces(running, draw))
    most = float(LIMIT // 2)  # so that differences fit, too
    whole = np.clip(np.rint(sums), -most, most).astype(np.int64)
    return in_groups(np.diff(whole, axis=1, prepend=0), running)


def _pieces(running: Running, draw: Draw) -> float:
    """One integer of the draw's grid as so many times what the matrix makes of one piece."""
    return float(draw.grid << running.shift) / FULL


def on_noise_grid(measured: Whole, draw: Draw) -> Integers:
    """Rounded half up to 2^shift and held within 62 bits: neither moves two vectors apart but as rounded_reach says."""
    half = (1 << draw.shift) >> 1
    flat = [min(max((int(v) + half) >> draw.shift, -LIMIT), LIMIT) for v in measured.reshape(-1)]
    return np.array(flat, dtype=np.int64).reshape(measured.shape)


def in_order(groups: npt.NDArray[Any], running: Running) -> npt.NDArray[Any]:
    """A row for each order, its groups one after the other. Groups come with their last key varying fastest."""
    return groups[_places(running)]


def in_groups(ordered: Integers, running: Running) -> Integers:
    by_cell = np.zeros(math.prod(running.lengths), dtype=np.int64)
    by_cell[_places(running).reshape(-1)] = ordered.reshape(-1)
    return by_cell


def _places(running: Running) -> Integers:
    """The groups' ordinals: rows of orders, in order."""
    ordinals = np.arange(math.prod(running.lengths), dtype=np.int64).reshape(running.lengths)
    for key, places in running.order:
        ordinals = np.take(ordinals, places, axis=key)
    along = [key for key, _ in running.order]
    others = [key for key in range(len(running.lengths)) if key not in along]
    return ordinals.transpose([*others, *along]).reshape(-1, running.strategy.count)
