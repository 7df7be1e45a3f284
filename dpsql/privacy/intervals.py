"""OPTIONS(intervals = 0.95): beside each released number x the columns x_low and x_high.

The interval is about the noise: with probability `level` it holds what the same plan would answer without noise. A plain
measurement has the exact quantile of its noise; an expression over m measurements has interval arithmetic over their
intervals at level 1 − (1 − level)/m, which all hold at once with probability `level` at least (Boole). Each bin of a
histogram is a measurement of its own, like each group. All of it is post-processing.

What is chosen among candidates (MEDIAN, MIN, MODE, …) has no interval: how far a choice may be off is known in ranks, and
how far apart in value the rows of those ranks lie is in the data alone. Nor has what is made of it, or by a function without
a rule. Their ends are NULL, never a guess.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from dpsql.domain.types import NULL, REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of, rewrite
from dpsql.ir.nodes import Field, Filter, Limit, Node, Noisy, Project, Sort, inputs, with_inputs
from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.answers import Answer, answers
from dpsql.plan.measurements import Choice
from dpsql.plan.stages import Draw, NoisyStage
from dpsql.privacy.calibrate import half_width
from dpsql.privacy.interval_arithmetic import Ends, Steps, interval_of
from dpsql.privacy.measuring import number
from dpsql.sql import functions
from dpsql.sql.bind.context import Ids

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


def has_one_source(final: Node) -> bool:
    """Whether a query shows one release's rows, each as one row: then its columns can have intervals."""
    return _source(final) is not None


def with_intervals(stages: tuple[NoisyStage, ...], final: Node, level: Fraction, ids: Ids) -> Widened:
    """Stages that release two more expressions for each number of the result, and the query that shows them."""
    found = widened(stages, final, level, ids)
    if found is None:
        raise Refused(
            "no column of this result has an interval",
            code=135,
            why="Intervals are computed for numbers that are expressions over one release's measurements; lists, and what "
            "joins, unions (ROLLUP, CUBE) or further aggregation make of the results, have none.",
            fix="Leave intervals out, or select counts, sums, averages or moments plainly.",
        )
    return found


def widened(
    stages: tuple[NoisyStage, ...], final: Node, level: Fraction, ids: Ids, *, skip: frozenset[int] = frozenset()
) -> Widened | None:
    """None where no column can have an interval. skip: columns that shall have none (ends that are there already)."""
    source = _source(final)
    if source is None:
        return None
    let = Steps(ids)
    stage = stages[source.stage]
    found = {id_: ends for id_, ends in _intervals(stage, source, final, level, let).items() if id_ not in skip}
    if not found:
        return None
    pairs = {  # the ends as columns of the noisy relation
        id_: (ids.field("", low.type), ids.field("", high.type)) for id_, (low, high) in found.items()
    }
    outputs = tuple(pair for id_, ends in found.items() for pair in zip(pairs[id_], ends, strict=True))
    steps = (*stage.steps, *let.levels())
    wider = dataclasses.replace(stage, outputs=(*stage.outputs, *outputs), steps=steps)
    ends = tuple(f for pair in pairs.values() for f in pair)
    below, carried = _carry(final, ends, ids)
    return _shown_beside(
        tuple(wider if s.number == stage.number else s for s in stages),
        final,
        below,
        {id_: (carried[2 * n], carried[2 * n + 1]) for n, id_ in enumerate(pairs)},
        ids,
    )


def _shown_beside(
    stages: tuple[NoisyStage, ...], final: Node, below: Node, pairs: Mapping[int, tuple[Field, Field]], ids: Ids
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
                columns.append((ids.field(f"{f.name}_{suffix}", end.type), end.column()))
                ends.append(columns[-1][0].id)
    query = Project(below, tuple(f for f, _ in columns), tuple(e for _, e in columns))
    return Widened(stages=stages, final=query, shown=tuple(shown), ends=frozenset(ends))


def _source(node: Node) -> Noisy | None:
    """The one noisy relation below projections, filters, sorting and limits."""
    match node:
        case Noisy():
            return node
        case Project() | Filter() | Sort() | Limit():
            return _source(node.input)
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


def _intervals(stage: NoisyStage, source: Noisy, final: Node, level: Fraction, let: Steps) -> dict[int, Ends]:
    """Low and high of each column of the result that is made of the stage's measurements; NULL ends where there is no
    interval."""
    released = {f.id: expr for f, expr in stage.outputs}
    released = {f.id: released.get(f.id, f.column()) for f in source.fields}
    measured = measured_columns(stage)
    chosen = frozenset(f.id for m in stage.measurements if isinstance(m, Choice) for f in m.answers)
    found: dict[int, Ends] = {}
    for f in final.fields:
        expr = _over_measures(f.column(), final, released)
        used = frozenset(columns_of(expr))
        if not used & (chosen | measured.keys()) or f.type.kind not in (*NUMBERS, *MOMENTS):
            continue
        ends = None if used & chosen else _ends(expr, used, measured, level, let)
        if ends is not None:
            found[f.id] = ends
        elif f.type.kind is not Kind.ANY:
            found[f.id] = (_nothing(f.type), _nothing(f.type))
    return found


def _ends(
    expr: Expr, used: frozenset[int], measured: Mapping[int, Measured], level: Fraction, let: Steps
) -> Ends | None:
    """Numbers that are one total, rounded and not, are one event; so is each combination of the ends of moments."""
    draws = {measured[id_].answer.real.id for id_ in used & measured.keys()}
    bins = bins_of(expr)
    each = level if bins is not None else 1 - (1 - level) / len(draws)
    widths = {id_: measured[id_].width(each, id_) for id_ in used & measured.keys()}
    if bins is not None:
        keys, counts = bins
        lists = zip(*(interval_of(count, widths, let) or () for count in counts), strict=True)
        low, high = (functions.make("map", (keys, _listed(ends)), at=None) for ends in lists)
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
    return functions.make("list_value", ends, at=None)


def _nothing(type_: Type) -> Expr:
    """NULL, in the type that the ends of a column of this type have."""
    to = type_ if type_.kind in MOMENTS else REAL
    return functions.make("try_cast", (Literal(None, NULL),), at=None, to=to)


@dataclass(frozen=True, slots=True)
class Measured:
    """An answer with additive noise, and the draws of the totals it is made of; ratio: of its variance to that of these
    draws (plan.stages.After)."""

    answer: Answer
    draws: tuple[Draw, ...]
    ratio: Fraction = Fraction(1)

    def width(self, level: Fraction, id_: int | None = None) -> Fraction:
        """Half its interval, in the user's units; half a unit more where the column id_ is rounded to whole units."""
        width = noise_width(self.answer, self.draws, level, self.ratio)
        rounded = self.answer.whole is not None and id_ in (None, self.answer.whole.id)
        return width + (_rounding(self.answer, self.draws) if rounded else Fraction(0))


def measured_columns(stage: NoisyStage) -> dict[int, Measured]:
    """Of each of the stage's columns that carries additive noise what is behind it."""
    found: dict[int, Measured] = {}
    for noised in stage.noised:
        if noised.draw.mechanism not in ("laplace", "gaussian", "none", "summed"):
            continue
        own = noised if noised.after is None else dataclasses.replace(noised, draws=noised.after.draws)
        ratio = Fraction(1) if noised.after is None else noised.after.ratio
        for answer in answers(own):
            count = len(answer.factors)
            draws = own.draws if len(own.draws) == count else own.draws * count
            found[answer.real.id] = Measured(answer, draws, ratio)
            if answer.whole is not None:
                found[answer.whole.id] = Measured(answer, draws, ratio)
    return found


def noise_width(answer: Answer, draws: tuple[Draw, ...], level: Fraction, ratio: Fraction = Fraction(1)) -> Fraction:
    """r with P[|noise| ≥ r] ≤ 1 − level: of one total exactly; of several, of Laplace noise by the tail of their sum, of
    Gaussian noise by their joint σ.

    ratio ≠ 1: of a level that was made consistent, whose noise is a mixture of many with that ratio's variance. A mixture of
    Gaussians is one; a mixture of Laplace variables has tails between those of one and of a Gaussian of its variance
    (tests/statistics/test_levels.py), so the wider of both.
    """
    own = _own_width(answer, draws, level)
    if ratio == 1 or own == 0:
        return own
    parts = [float(factor * draw.steps) for factor, draw in zip(answer.factors, draws, strict=True)]
    deviation = math.hypot(*parts) * (math.sqrt(2) if draws[0].mechanism == "laplace" else 1)
    normal = Fraction(deviation * NormalDist().inv_cdf((1 + float(level)) / 2))
    return max(own, normal) * Fraction(math.sqrt(ratio))


def _own_width(answer: Answer, draws: tuple[Draw, ...], level: Fraction) -> Fraction:
    used = [(abs(factor), draw) for factor, draw in zip(answer.factors, draws, strict=True) if factor and draw.scale]
    if not used:
        return Fraction(0)
    if len(used) == 1:
        ((factor, draw),) = used
        return half_width(draw, float(level)) * factor
    unit = max(factor for factor, _ in used)
    scales = [float(factor / unit * draw.steps) for factor, draw in used]
    if used[0][1].mechanism == "laplace":
        return Fraction(laplace.half_width_of_sum(scales, float(level))) * unit
    return Fraction(gaussian.half_width(math.ceil(math.hypot(*scales)), float(level))) * unit


def _rounding(answer: Answer, draws: tuple[Draw, ...]) -> Fraction:
    assert answer.whole is not None
    type_ = answer.whole.type
    unit = {Kind.INTEGER: Fraction(1), Kind.DECIMAL: Fraction(1, 10**type_.scale)}.get(type_.kind, Fraction(0))
    if unit == 0 or all(draw.mechanism == "none" for draw in draws):
        return Fraction(0)
    return Fraction(0) if all(factor % unit == 0 for factor in answer.factors) else unit / 2


def _over_measures(expr: Expr, node: Node, released: Mapping[int, Expr]) -> Expr:
    """The expression with columns written out, down to the stage's measurements."""
    match node:
        case Noisy():
            return rewrite(expr, lambda e: released.get(e.id) if isinstance(e, Column) else None)
        case Project():
            made = {f.id: e for f, e in zip(node.fields, node.exprs, strict=True)}
            inner = rewrite(expr, lambda e: made.get(e.id) if isinstance(e, Column) else None)
            return _over_measures(inner, node.input, released)
        case _:
            return _over_measures(expr, inputs(node)[0], released)


def _shown(expr: Expr, end: Expr, let: Steps) -> Expr:
    """NULL where the value is NULL or the end is open."""
    closed = let("less", let("abs", end), number(Fraction(OPEN)))
    present = let("is_not_null", expr)
    return let("case", let("and", present, closed), end, Literal(None, NULL))
