"""Totals that are measured for their cumulative sums (mechanisms/prefix_sums.py)."""

from __future__ import annotations

import dataclasses

from dpsql.plan.measurements import Measurement
from dpsql.plan.stages import Running, Stage
from dpsql.privacy import noise_grid
from dpsql.privacy.sensitivity import reaches, rounded_reach, running_reach


def along(one: Measurement, stage: Stage, running: Running) -> tuple[Running, int, int]:
    """A total that is measured along an order: the grid on which the matrix is applied to it, how far one unit then moves
    what is measured, and how many numbers that are.

    The finest grid on which 2^34 rows fit in 62 bits. Totals within a ball of norm 1 are moved by Δ in norm 1, on that grid
    by rounded_reach(Δ), and A·x by running_reach of that; when it is rounded to the noise grid, by rounded_reach again.
    """
    (reach,) = reaches(one, "plain", stage.limit, 1)
    shift = next(noise_grid.shifts(noise_grid.largest(one, "plain", 0), reach))
    groups = stage.combinations
    there = rounded_reach(reach, groups, shift, 1)
    count = groups // running.strategy.count * running.strategy.rows
    return dataclasses.replace(running, shift=shift), running_reach(there, running.strategy), count
