"""Totals from the value grid to the noise grid."""

from __future__ import annotations

from dpsql.plan.stages import GRID_LIMIT, Noise


def on_noise_grid(total: str, noise: Noise) -> str:
    """The total in noise-grid integers, within 62 bits: multiplied for a finer grid, rounded half up for a coarser."""
    total = f"coalesce({total}, 0)"
    if noise.shift <= 0:
        limit = 2 ** max(0, GRID_LIMIT + noise.shift)
        factor = 2**-noise.shift
        return f"CAST(CAST(greatest(least({total}, {limit}), -{limit}) AS BIGINT) * {factor} AS BIGINT)"
    limit = 2 ** min(GRID_LIMIT + noise.shift, 125)
    half = 2 ** (noise.shift - 1)
    kept = f"greatest(least(CAST({total} AS HUGEINT), CAST('{limit}' AS HUGEINT)), CAST('-{limit}' AS HUGEINT))"
    return f"CAST(({kept} + CAST('{half}' AS HUGEINT)) >> {noise.shift} AS BIGINT)"
