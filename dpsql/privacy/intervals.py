"""OPTIONS(intervals = 0.95): beside each released number x the columns x_low and x_high.

The interval is about the noise: with probability `level` it holds what the same plan would answer without noise. A plain
measurement has the exact quantile of its noise; an expression over m measurements has interval arithmetic over their
intervals at level 1 − (1 − level)/m, which all hold at once with probability `level` at least (Boole).
All of it is post-processing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.domain.types import NULL, REAL, Kind
from dpsql.errors import Refused
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of, rewrite
from dpsql.ir.nodes import Field, Filter, Limit, Node, Noisy, Project, Sort, inputs, with_inputs
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.privacy.measure import half_width
from dpsql.privacy.measuring import number
from dpsql.sql import functions
from dpsql.sql.bind.context import Ids

UNKNOWN = 1e150  # an end that division leaves open; products of two such are still finite
OPEN = 1e100  # ends from here on are shown as NULL

Ends = tuple[Expr, Expr]


def with_intervals(stages: tuple[Stage, ...], final: Node, level: Fraction, ids: Ids) -> tuple[tuple[Stage, ...], Node]:
    """Stages that release two more expressions for each number of the result, and the query that shows them."""
    source = _source(final)
    let = Steps(ids)
    found = {} if source is None else _intervals(stages[source.stage], source, final, level, let)
    if source is None or not found:
        raise Refused(
            "no column of this result has an interval",
            code=135,
            why="Intervals are computed for numbers that are expressions over one release's measurements; a value that is "
            "chosen among candidates, and what joins, unions or further aggregation make of the results, have none.",
            fix="Leave intervals out, or select counts, sums, averages or moments plainly.",
        )
    pairs = {
        id_: (ids.field("", REAL), ids.field("", REAL)) for id_ in found
    }  # the ends as columns of the noisy relation
    outputs = tuple(pair for id_, ends in found.items() for pair in zip(pairs[id_], ends, strict=True))
    stage = stages[source.stage]
    wider = dataclasses.replace(stage, outputs=(*stage.outputs, *outputs), steps=let.levels())
    changed = tuple(wider if s.number == stage.number else s for s in stages)
    ends = tuple(f for pair in pairs.values() for f in pair)
    below, carried = _carry(final, ends, ids)
    by_end = dict(zip(ends, carried, strict=True))
    shown: list[tuple[Field, Expr]] = []
    for f in final.fields:
        shown.append((ids.field(f.name, f.type), f.column()))
        if f.id in pairs:
            low, high = (by_end[end] for end in pairs[f.id])
            shown.append((ids.field(f"{f.name}_low", REAL), low.column()))
            shown.append((ids.field(f"{f.name}_high", REAL), high.column()))
    return changed, Project(below, tuple(f for f, _ in shown), tuple(e for _, e in shown))


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


def _intervals(stage: Stage, source: Noisy, final: Node, level: Fraction, let: Steps) -> dict[int, Ends]:
    """Low and high of each column of the result that has an interval, over the stage's measurements."""
    released = {f.id: expr for f, expr in stage.outputs}
    released = {f.id: released.get(f.id, f.column()) for f in source.fields}
    measured = _measured(stage)
    found: dict[int, Ends] = {}
    for f in final.fields:
        expr = _over_measures(f.column(), final, released)
        used = {measured[id_][0].real.id for id_ in columns_of(expr) if id_ in measured}
        if not used or f.type.kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.ANY):
            continue
        each = 1 - (1 - level) / len(used)
        widths = {id_: _width(*measured[id_], each) for id_ in columns_of(expr) if id_ in measured}
        ends = interval_of(expr, widths, let)
        if ends is not None:
            found[f.id] = (_shown(expr, ends[0], let), _shown(expr, ends[1], let))
    return found


def _measured(stage: Stage) -> dict[int, tuple[Measure, Noise]]:
    """The measurement behind each of the stage's columns that carries additive noise."""
    pairs = [(m, n) for m, n in zip(stage.measures, stage.noises, strict=True) if m.candidates is None]
    return {f.id: (m, n) for m, n in pairs for f in (m.real, m.whole)}


def _width(measure: Measure, noise: Noise, level: Fraction) -> Fraction:
    """Half the interval of a measurement; half a unit more where it is rounded to whole units after the noise."""
    width = half_width(noise, float(level)) * measure.step * noise.grid
    return width if noise.mechanism in ("none", "exact") else width + _rounding(measure, noise)


def _rounding(measure: Measure, noise: Noise) -> Fraction:
    grid = measure.step * noise.grid
    unit = {Kind.INTEGER: Fraction(1), Kind.DECIMAL: Fraction(1, 10**measure.whole.type.scale)}.get(
        measure.whole.type.kind, Fraction(0)
    )
    return Fraction(0) if unit == 0 or grid % unit == 0 else unit / 2


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


# --- interval arithmetic ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Steps:
    """Intermediate values with names, so that an end that is used twice is written once. A step reads those before it."""

    ids: Ids
    named: dict[Expr, Field] = field(default_factory=dict)
    depths: dict[int, int] = field(default_factory=dict)

    def __call__(self, function: str, *args: Expr) -> Expr:
        return self.name(functions.make(function, args, at=None))

    def name(self, expr: Expr) -> Expr:
        if isinstance(expr, Column | Literal):
            return expr
        if expr not in self.named:
            made = self.ids.field("", expr.type)
            self.depths[made.id] = 1 + max((self.depths.get(id_, 0) for id_ in columns_of(expr)), default=0)
            self.named[expr] = made
        return self.named[expr].column()

    def real(self, expr: Expr) -> Expr:
        return expr if expr.type == REAL else self.name(functions.make("try_cast", (expr,), at=None, to=REAL))

    def levels(self) -> tuple[tuple[tuple[Field, Expr], ...], ...]:
        """Steps that read one another are on different levels, in order."""
        deepest = max(self.depths.values(), default=0)
        steps = [(made, expr) for expr, made in self.named.items()]
        return tuple(tuple(s for s in steps if self.depths[s[0].id] == level) for level in range(1, deepest + 1))


def interval_of(expr: Expr, widths: Mapping[int, Fraction], let: Steps) -> Ends | None:
    """(low, high) such that expr is between them whenever each measurement is within its width of what is released; None
    where a function has no rule."""
    match expr:
        case Column():
            value = let.real(expr)
            width = widths.get(expr.id)
            if width is None:
                return (value, value)
            return let("subtract", value, number(width)), let("add", value, number(width))
        case Literal():
            return (let.real(expr), let.real(expr)) if expr.type.is_numeric else None
        case Call(function="case"):
            return _branches(expr.args[1::2] + expr.args[-1:], widths, let)
        case Call(function="coalesce"):
            return _branches(expr.args, widths, let)
        case Call(function=function):
            rule = RULES.get(function)
            if rule is None:
                return None
            parts = [interval_of(arg, widths, let) for arg in expr.args[: ARGUMENTS.get(function, len(expr.args))]]
            known = [part for part in parts if part is not None]
            return rule(known, let) if len(known) == len(parts) else None
        case _:
            return None


def _branches(values: tuple[Expr, ...], widths: Mapping[int, Fraction], let: Steps) -> Ends | None:
    """Whichever branch is taken: a condition that was true of the noisy values may not be of the others. NULL branches
    only say when there is no value."""
    taken = [interval_of(value, widths, let) for value in dict.fromkeys(values) if value.type != NULL]
    known = [ends for ends in taken if ends is not None]
    if len(known) < len(taken) or not known:
        return None
    if len(known) == 1:
        return known[0]
    return let("least", *(low for low, _ in known)), let("greatest", *(high for _, high in known))


def _add(parts: list[Ends], let: Steps) -> Ends:
    (a, b), (c, d) = parts
    return let("add", a, c), let("add", b, d)


def _subtract(parts: list[Ends], let: Steps) -> Ends:
    (a, b), (c, d) = parts
    return let("subtract", a, d), let("subtract", b, c)


def _negate(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    return let("negate", high), let("negate", low)


def _multiply(parts: list[Ends], let: Steps) -> Ends:
    one, other = parts
    if one == other:
        return _square(one, let)
    constant = next((n for n in (0, 1) if parts[n][0] == parts[n][1]), None)
    if constant is not None:  # two products are enough
        value, (low, high) = parts[constant][0], parts[1 - constant]
        products = [let("multiply", value, low), let("multiply", value, high)]
    else:
        products = [let("multiply", x, y) for x in one for y in other]
    return let("least", *products), let("greatest", *products)


def _square(ends: Ends, let: Steps) -> Ends:
    low, high = ends
    nearest = let("greatest", low, let("negate", high), number(Fraction(0)))
    farthest = let("greatest", let("abs", low), let("abs", high))
    return let("multiply", nearest, nearest), let("multiply", farthest, farthest)


def _divide(parts: list[Ends], let: Steps) -> Ends:
    """Open on both sides where the divisor may be 0."""
    (low, high), (first, last) = parts
    constant = first == last
    zero = number(Fraction(0))
    away = let("or", let("greater", first, zero), let("less", last, zero))
    ratios = [let("divide", x, y) for x in (low, high) for y in ((first,) if constant else (first, last))]
    open_low, open_high = Literal(-UNKNOWN, REAL), Literal(UNKNOWN, REAL)
    return (
        let("case", away, let("least", *ratios), open_low),
        let("case", away, let("greatest", *ratios), open_high),
    )


def _least(parts: list[Ends], let: Steps) -> Ends:
    return let("least", *(low for low, _ in parts)), let("least", *(high for _, high in parts))


def _greatest(parts: list[Ends], let: Steps) -> Ends:
    return let("greatest", *(low for low, _ in parts)), let("greatest", *(high for _, high in parts))


def _sqrt(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    zero = number(Fraction(0))
    return let("sqrt", let("greatest", low, zero)), let("sqrt", let("greatest", high, zero))


def _abs(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    nearest = let("greatest", low, let("negate", high), number(Fraction(0)))
    return nearest, let("greatest", let("abs", low), let("abs", high))


def _rising(function: str) -> Callable[[list[Ends], Steps], Ends]:
    def rule(parts: list[Ends], let: Steps) -> Ends:
        ((low, high),) = parts
        return let(function, low), let(function, high)

    return rule


def _rounded(parts: list[Ends], let: Steps) -> Ends:
    """Rounding to any number of places, casts and truncation move a value by at most the distance of whole numbers."""
    ((low, high),) = parts
    return let("floor", low), let("ceil", high)


RULES: Mapping[str, Callable[[list[Ends], Steps], Ends]] = {
    "add": _add,
    "subtract": _subtract,
    "negate": _negate,
    "multiply": _multiply,
    "divide": _divide,
    "least": _least,
    "greatest": _greatest,
    "sqrt": _sqrt,
    "abs": _abs,
    "floor": _rising("floor"),
    "ceil": _rising("ceil"),
    "exp": _rising("exp"),
    "round": _rounded,
    "trunc": _rounded,
    "cast": _rounded,
    "try_cast": _rounded,
    "nullif": lambda parts, let: parts[0],
}
ARGUMENTS = {"round": 1, "nullif": 1}  # how many of a call's arguments have an interval
