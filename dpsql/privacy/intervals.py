"""OPTIONS(intervals = 0.95): beside each released number x the columns x_low and x_high.

The interval is about the noise: with probability `confidence` it holds what the same plan would answer without noise. A
plain measurement has the exact quantile of its noise; an expression over m measurements has interval arithmetic over
their intervals at confidence 1 − (1 − confidence)/m, which all hold at once with probability `confidence` at least
(Boole). Each bin of a histogram is a measurement of its own, like each group. All of it is post-processing.

What is chosen among candidates (MEDIAN, MIN, MODE, …) has no interval: how far a choice may be off is known in ranks, and
how far apart in value the rows of those ranks lie is in the data alone. Nor has what is made of it, or by a function without
a rule. Their ends are NULL, never a guess.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsql import functions
from dpsql.domain.types import BIGINT, NULL, REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of, rewrite
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import (
    Field,
    Filter,
    Limit,
    Node,
    Noisy,
    Project,
    SetOp,
    Sort,
    Window,
    inputs,
    with_inputs,
)
from dpsql.plan.measurements import Choice
from dpsql.plan.stages import NoisyStage
from dpsql.privacy.interval_arithmetic import Ends, Steps, interval_of
from dpsql.privacy.measured import Measured, measured_columns
from dpsql.privacy.measuring import number
from dpsql.privacy.running import measured_windows

_ZERO = Literal(0, BIGINT)
OPEN = 1e100  # ends from here on are shown as NULL


NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.ANY)
MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened:
    """A plan's stages and last query with the ends of intervals in them. shown: for each column of the query that has an
    interval its position and those of its ends. ends: the ids of all ends."""

    stages: tuple[NoisyStage, ...]
    final: Node
    shown: tuple[tuple[int, int, int], ...]
    ends: frozenset[int]

    def closed(self, at: tuple[int, int, int]) -> bool:
        """Whether the column at this position is a number with numbers for ends: not a histogram, not a chosen date."""
        return all(self.final.fields[i].type.kind in NUMBERS[:-1] for i in at[1:])


def has_one_source(stages: tuple[NoisyStage, ...], final: Node) -> bool:
    """Whether a query shows one release's rows, each as one row: then its columns can have intervals."""
    return source_of(final, frozenset(measured_windows(stages, final))) is not None


def branches(node: Node) -> list[Node]:
    """The query over each side of a UNION ALL (the levels of grouping sets) alone, all of its rows."""
    match node:
        case Project() | Filter() | Sort():
            return [dataclasses.replace(node, input=side) for side in branches(node.input)]
        case Limit():
            sides = branches(node.input)
            return sides if len(sides) > 1 else [node]
        case SetOp(kind="union", all=True):
            sides = [side for half in (node.left, node.right) for side in branches(half)]
            return [Project(side, node.fields, tuple(f.column() for f in side.fields)) for side in sides]
        case _:
            return [node]


def with_intervals(stages: tuple[NoisyStage, ...], final: Node, confidence: Fraction, ids: Ids) -> Widened:
    """Stages that release two more expressions for each number of the result, and the query that shows them."""
    widened_plan = widened(stages, final, confidence, ids)
    if widened_plan is None:
        raise without_intervals()
    return widened_plan


def without_intervals() -> Refused:
    return Refused(
        "no column of this result has an interval",
        code=135,
        why="Intervals are computed for numbers that are expressions over one release's measurements; lists, and what "
        "joins, unions (ROLLUP, CUBE) or further aggregation make of the results, have none.",
        fix="Leave intervals out, or select counts, sums, averages or moments plainly.",
    )


def widened(
    stages: tuple[NoisyStage, ...], final: Node, confidence: Fraction, ids: Ids, *, skip: frozenset[int] = frozenset()
) -> Widened | None:
    """None where no column can have an interval. skip: columns that shall have none (ends that are there already)."""
    windows = measured_windows(stages, final)
    source = source_of(final, frozenset(windows))
    if source is None:
        return None
    let = Steps(ids)
    stage = stages[source.stage]
    ends_of = {id_: ends for id_, ends in _intervals(stage, source, final, confidence, let).items() if id_ not in skip}
    sums = {f.id: windows[id_].width(confidence) for f in final.fields for id_ in _passed(f.id, final) & windows.keys()}
    sums = {id_: width for id_, width in sums.items() if id_ not in skip}
    if not ends_of and not sums:
        return None
    pairs = {  # the ends as columns of the noisy relation
        id_: (ids.field("", low.type), ids.field("", high.type)) for id_, (low, high) in ends_of.items()
    }
    outputs = tuple(pair for id_, ends in ends_of.items() for pair in zip(pairs[id_], ends, strict=True))
    steps = (*stage.steps, *let.layers())
    wider = dataclasses.replace(stage, outputs=(*stage.outputs, *outputs), steps=steps)
    ends = tuple(f for pair in pairs.values() for f in pair)
    below, carried = _carry(final, ends, ids)
    return _shown_beside(
        tuple(wider if s.number == stage.number else s for s in stages),
        final,
        below,
        {id_: (carried[2 * n].column(), carried[2 * n + 1].column()) for n, id_ in enumerate(pairs)}
        | {f.id: _around(f, sums[f.id]) for f in final.fields if f.id in sums},
        ids,
    )


def _around(f: Field, width: Fraction) -> Ends:
    """A cumulative sum's ends: its interval is known beforehand (privacy/running.py)."""
    value = functions.call("try_cast", f.column(), to=REAL)
    low, high = (functions.call(by, value, number(width)) for by in ("subtract", "add"))
    return low, high


def _passed(id_: int, node: Node) -> frozenset[int]:
    """What a column is called on its way down, as long as it is passed through unchanged."""
    match node:
        case Project():
            expr = next((e for f, e in zip(node.fields, node.exprs, strict=True) if f.id == id_), None)
            return frozenset({id_}) | (_passed(expr.id, node.input) if isinstance(expr, Column) else frozenset())
        case Filter() | Sort() | Limit() | Window():
            return frozenset({id_}) | _passed(id_, node.input)
        case _:
            return frozenset({id_})


def _shown_beside(
    stages: tuple[NoisyStage, ...], final: Node, below: Node, pairs: Mapping[int, Ends], ids: Ids
) -> Widened:
    """x, x_low, x_high for each column x that has ends below."""
    columns: list[tuple[Field, Expr]] = []
    shown: list[tuple[int, int, int]] = []
    ends: list[int] = []
    for f in final.fields:
        columns.append((ids.field(f.name, f.type), f.column()))
        if f.id in pairs:
            at = len(columns)
            shown.append((at - 1, at, at + 1))
            for end, suffix in zip(pairs[f.id], ("low", "high"), strict=True):
                columns.append((ids.field(f"{f.name}_{suffix}", end.type), end))
                ends.append(columns[-1][0].id)
    query = Project(below, tuple(f for f, _ in columns), tuple(e for _, e in columns))
    return Widened(stages=stages, final=query, shown=tuple(shown), ends=frozenset(ends))


def source_of(node: Node, windows: frozenset[int] = frozenset()) -> Noisy | None:
    """The one noisy relation below projections, filters, sorting and limits, and below windows (by their columns) for which
    a total is measured."""
    match node:
        case Noisy():
            return node
        case Project() | Filter() | Sort() | Limit():
            return source_of(node.input, windows)
        case Window() if any(f.id in windows for f in node.call_fields):
            return source_of(node.input, windows)
        case _:
            return None


def _carry(node: Node, ends: tuple[Field, ...], ids: Ids) -> tuple[Node, tuple[Field, ...]]:
    """The relation with the ends passed through to the top, and what they are called there."""
    match node:
        case Noisy():
            return dataclasses.replace(node, fields=(*node.fields, *ends)), ends
        case Project():
            below, inner = _carry(node.input, ends, ids)
            outer = tuple(ids.field("", f.type) for f in inner)
            exprs = (*node.exprs, *(f.column() for f in inner))
            return Project(below, (*node.fields, *outer), exprs), outer
        case _:
            (only,) = inputs(node)
            below, inner = _carry(only, ends, ids)
            return with_inputs(node, (below,)), inner


def _intervals(stage: NoisyStage, source: Noisy, final: Node, confidence: Fraction, let: Steps) -> dict[int, Ends]:
    """Low and high of each column of the result that is made of the stage's measurements; NULL ends where there is no
    interval."""
    released = {f.id: as_measured(expr, stage) for f, expr in stage.outputs}
    released = {f.id: released.get(f.id, f.column()) for f in source.fields}
    measured = measured_columns(stage)
    chosen = frozenset(f.id for m in stage.measurements if isinstance(m, Choice) for f in m.answers)
    ends_of: dict[int, Ends] = {}
    for f in final.fields:
        expr = over_measures(f.column(), final, released)
        used = frozenset(columns_of(expr))
        if not used & (chosen | measured.keys()) or f.type.kind not in (*NUMBERS, *MOMENTS):
            continue
        ends = None if used & chosen else _ends(expr, used, measured, confidence, let)
        if ends is not None:
            ends_of[f.id] = ends
        elif f.type.kind is not Kind.ANY:
            ends_of[f.id] = (_nothing(f.type), _nothing(f.type))
    return ends_of


def as_measured(expr: Expr, stage: NoisyStage) -> Expr:
    """An output by what intervals are made of: a count that is shown from 0 on (release/nonnegative.py) by max(ñ, 0), ñ the
    noisy one.

    Lemma: with ñ ± r an interval of confidence 1 − α for the count n, [max(ñ − r, 0), max(ñ + r, 0)] is one, too, whatever
    number is shown beside it. Proof: n ≥ 0, so n = max(n, 0) lies between the two whenever ñ − r ≤ n ≤ ñ + r. What is shown
    may lie outside, since it also depends on the other groups; half-widths (Privacy.intervals) reach from it to the
    farther end, and so hold n whenever the interval does.
    """
    shown = {one.shown.id: functions.call("greatest", one.count.column(), _ZERO) for one in stage.nonnegative}
    return rewrite(expr, lambda e: shown.get(e.id) if isinstance(e, Column) else None) if shown else expr


def _ends(
    expr: Expr, used: frozenset[int], measured: Mapping[int, Measured], confidence: Fraction, let: Steps
) -> Ends | None:
    """Numbers that are one total, rounded and not, are one event; so is each combination of the ends of moments."""
    draws = {measured[id_].answer.real.id for id_ in used & measured.keys()}
    bins = bins_of(expr)
    each = confidence if bins is not None else 1 - (1 - confidence) / len(draws)
    widths = {id_: measured[id_].width(each, id_) for id_ in used & measured.keys()}
    if bins is not None:
        keys, counts = bins
        lists = zip(*(interval_of(count, widths, let) or () for count in counts), strict=True)
        low, high = (functions.call("map", keys, _listed(ends)) for ends in lists)
        return low, high
    ends = interval_of(expr, widths, let)
    return None if ends is None else (_shown(expr, ends[0], let), _shown(expr, ends[1], let))


def bins_of(expr: Expr) -> tuple[Expr, tuple[Column, ...]] | None:
    """The keys and the counts of a histogram, if an expression is one."""
    match expr:
        case Call(function="map", args=(keys, Call(function="list_value", args=counts))):
            columns = tuple(count for count in counts if isinstance(count, Column))
            return (keys, columns) if columns and len(columns) == len(counts) else None
        case _:
            return None


def _listed(ends: tuple[Expr, ...]) -> Expr:
    return functions.call("list_value", *ends)


def _nothing(type_: Type) -> Expr:
    """NULL, in the type that the ends of a column of this type have."""
    to = type_ if type_.kind in MOMENTS else REAL
    return functions.call("try_cast", Literal(None, NULL), to=to)


def over_measures(expr: Expr, node: Node, released: Mapping[int, Expr]) -> Expr:
    """The expression with columns written out, down to the stage's measurements."""
    match node:
        case Noisy():
            return rewrite(expr, lambda e: released.get(e.id) if isinstance(e, Column) else None)
        case Project():
            made = {f.id: e for f, e in zip(node.fields, node.exprs, strict=True)}
            inner = rewrite(expr, lambda e: made.get(e.id) if isinstance(e, Column) else None)
            return over_measures(inner, node.input, released)
        case _:
            return over_measures(expr, inputs(node)[0], released)


def _shown(expr: Expr, end: Expr, let: Steps) -> Expr:
    """NULL where the value is NULL or the end is open."""
    closed = let("less", let("abs", end), number(Fraction(OPEN)))
    present = let("is_not_null", expr)
    return let("case", let("and", present, closed), end, Literal(None, NULL))
