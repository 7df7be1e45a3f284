"""OPTIONS(nonnegative = true): which counts of a plan are shown as whole numbers from 0 on; release/nonnegative.py does it.

It is post-processing of released numbers: it costs nothing, the released rows are the same with and without it, and so
either is a free repeat of the other. But it changes the estimates: where many counts are near 0, what they are raised by is
taken from the large ones. So it is done only where a query says so, and the plan, the record and the answer tell it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from dpsql.errors import Refused
from dpsql.ir.expr import Column
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field
from dpsql.plan.levels import public_levels, runs
from dpsql.plan.measurements import DistinctCount, Measurement, One, RowMoments, RowTotal, UnitTotal
from dpsql.plan.stages import NoisyStage, NonNegative

NOTE = (
    "{} shown as the nearest non-negative whole numbers with the same total: on average, small counts are too large and "
    "large ones too small; the intervals are those of the noisy counts, cut off at 0"
)


def with_nonnegative(stages: Sequence[NoisyStage], ids: Ids) -> tuple[NoisyStage, ...]:
    """Each stage, its outputs that are plain counts read from what is made of them. AVG, VAR and ratios that the engine
    itself makes of a count keep the noisy one: their bias would be new, and nothing in them is negative by itself."""
    shown = tuple(_with_nonnegative(stage, stages, ids) for stage in stages)
    for stage in shown:
        _check_chain(stage, shown)
    return shown


def _with_nonnegative(stage: NoisyStage, stages: Sequence[NoisyStage], ids: Ids) -> NoisyStage:
    made: dict[int, NonNegative] = {}
    names: list[str] = []
    counts = _counts(stage)
    outputs = list(stage.outputs)
    for i, (f, expr) in enumerate(outputs):
        if not isinstance(expr, Column) or expr.id not in counts:
            continue
        position, count = counts[expr.id]
        if count.id not in made:
            slack = runs(stage, stages) if adds_up(stage.measurements[position]) else 0
            made[count.id] = NonNegative(position=position, count=count, shown=ids.field("", count.type), slack=slack)
        outputs[i] = f, made[count.id].shown.column()
        measured = stage.measurements[position]
        names.append(f.name if isinstance(measured, RowMoments) else measured.name)
    if not made:
        return stage
    note = NOTE.format(f"{' and '.join(dict.fromkeys(names))} {'are' if len(set(names)) > 1 else 'is'}")
    return dataclasses.replace(
        stage, outputs=tuple(outputs), nonnegative=tuple(made.values()), notes=(*stage.notes, note)
    )


def _counts(stage: NoisyStage) -> Mapping[int, tuple[int, Field]]:
    """Of each answer that is a count its measurement's position, and the field."""
    counts: dict[int, tuple[int, Field]] = {}
    for j, noised in enumerate(stage.noised):
        match noised.measurement:
            case RowTotal(piece=One(), answer=answer) | UnitTotal(piece=One(), answer=answer):
                field = answer.whole
            case DistinctCount(axis=None, answer=answer):
                field = answer.whole
            case RowMoments(count=count):
                field = count.whole
            case _:
                continue
        counts[field.id] = j, field
    return counts


def adds_up(one: Measurement) -> bool:
    """Whether a level's count is the sum of its parts': of rows, not of units or of different values."""
    return isinstance(one, RowTotal | RowMoments)


def _check_chain(stage: NoisyStage, stages: Sequence[NoisyStage]) -> None:
    """Refuse levels that are no hierarchy. In one, each level is made of the one above it (release/nonnegative.py), and
    stays the sum of its parts; two levels of which neither has all keys of the other would have to be met at once."""
    if not any(adds_up(stage.measurements[one.position]) for one in stage.nonnegative):
        return
    levels = sorted((set(s.level.keys) for s in public_levels(stage, stages) if s.level is not None), key=len)
    if all(above <= below for above, below in zip(levels, levels[1:], strict=False)):
        return
    raise Refused(
        "nonnegative needs nested levels, like those of ROLLUP",
        code=119,
        why="The groups of one level of CUBE are not made of those of another, so no non-negative counts would "
        "be close to all levels.",
        fix="Group by ROLLUP (…), ask for the levels one by one, or leave nonnegative out.",
    )
