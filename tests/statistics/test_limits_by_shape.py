"""Limits that the data choose, on twelve shapes of data: how far answers are from the best limit in hindsight's, by the
same scores and constants as the engine's (`python -m benchmarks limits` prints the table)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.limits import Shape, counts, means, shapes, sums

SHAPES = list(shapes())


@pytest.mark.parametrize("groups", [1, 20, 200])
@pytest.mark.parametrize(("of", "most", "worst"), [(counts, 2.5, 4.5), (sums, 2.5, 4.5), (means, 3.5, 6.0)])
def test_near_the_best_limit_in_hindsight(
    of: Callable[[Shape, float, int], float], most: float, worst: float, groups: int
) -> None:
    losses = {shape.name: of(shape, 1.0, groups) for shape in SHAPES}
    assert math.exp(float(np.mean(np.log(list(losses.values()))))) <= most, losses
    assert max(losses.values()) <= worst, losses
