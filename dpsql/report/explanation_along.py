"""What EXPLAIN says of totals that are measured for their cumulative sums."""

from __future__ import annotations

from dpsql.mechanisms.prefix_sums import Toeplitz, Tree
from dpsql.plan.measurements import RowTotal, UnitTotal, step_of
from dpsql.plan.stages import Noised, NoisyStage
from dpsql.privacy.running import rmse, width_of_sum
from dpsql.report.half_widths import LEVEL


def told_along(noised: Noised, stage: NoisyStage) -> list[str]:
    """What is measured for cumulative sums, and what they gain."""
    running, one = noised.running, noised.measurement
    if running is None or not isinstance(one, RowTotal | UnitTotal):
        return []
    step, (running_error, plain) = float(step_of(one.piece)), rmse(stage, noised)
    names = " and ".join(stage.keys[i].field.name or "a key" for i, _ in running.order)
    match running.strategy:
        case Toeplitz():
            how = "by the square root of the matrix of all sums"
        case Tree(arity=arity) as tree:
            how = f"by sums of runs of {arity:,} on {tree.levels} levels"
    width = float(width_of_sum(noised, LEVEL)) * step
    return [
        f"Measured for its cumulative sums along {names}, {how}: 95 % confidence interval of each ±{width:.6g}, RMSE "
        f"{running_error * step:.6g} (sums of plain groups: {plain * step:.6g})."
    ]
