"""Noise on totals, by the draw that was planned."""

from __future__ import annotations

import numpy as np

from dpsql.errors import InternalError
from dpsql.mechanisms.lattice import discrete_gaussian, discrete_laplace
from dpsql.plan.stages import Draw
from dpsql.release.exact import Integers


def add_noise(totals: Integers, draw: Draw) -> Integers:
    """Totals plus one draw each. Totals are within 2^62 and noise within 2^40, so int64 holds the sum."""
    match draw.mechanism:
        case "laplace":
            return totals + discrete_laplace(draw.scale, len(totals), draw.parts)
        case "gaussian":
            return totals + discrete_gaussian(draw.scale, len(totals), draw.parts)
        case "none":
            return np.zeros(len(totals), dtype=np.int64)
        case _:
            raise InternalError("exact totals are never noisy ones")
