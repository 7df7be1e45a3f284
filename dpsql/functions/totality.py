"""Which form of each call is printed: the plain one where no stored value can stop it, else the checked one.

Decided by types, and by the ranges of exact columns as they are defined (domain/ranges.py), never by what conditions say:
engines evaluate expressions on rows that a filter drops, reorder filters and push them through projections. Nothing is
believed of reals.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from dpsql.domain.ranges import ZERO, Range, Ranges, clipped, hull, type_range
from dpsql.domain.types import ANY, HUGEINT, Kind, Type, as_decimal, decimal, integer_range
from dpsql.errors import InternalError, Refused
from dpsql.functions.function import Args, Function, Spans, TypeProblem, checked, unchecked
from dpsql.functions.numbers import joined
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall

FROM_ONE = ("row_number", "rank", "dense_rank", "ntile")
HANDED_ON = ("min", "max", "first", "last", "mode", "quantile_disc", "first_value", "last_value", "nth_value")
OFFSETS = ("lag", "lead")

WRITTEN = {"current_localtimestamp": "now"}  # as people write it


def totalise(expr: Expr, ranges: Ranges) -> tuple[Expr, Range | None]:
    """The expression, every call of it in the form that always answers, and the Range of its values.

    Lemma: on every row whose columns are within `ranges` (or within their types, or NULL), evaluation does not fail, and
    the value is NULL or within the Range. Proof: by induction; a plain call answers on arguments of these types and
    ranges (`Function.plain`), a checked one on all arguments of these types, and is NULL where the plain one's answer is
    outside the type; nothing is converted in silence but what cannot fail (`settled`).
    """
    match expr:
        case Column():
            return expr, ranges.get(expr.id) or type_range(expr.type)
        case Literal():
            return expr, literal_range(expr)
        case Call():
            return _call(expr, ranges)
        case _:
            raise InternalError("an aggregate or window is inside an expression")


def range_of(expr: Expr, ranges: Ranges) -> Range | None:
    return totalise(expr, ranges)[1]


def literal_range(literal: Literal) -> Range | None:
    value = literal.value
    if value is None:
        return ZERO
    if isinstance(value, str) or type_range(literal.type) is None:
        return None
    exact = Fraction(value) * 10**literal.type.scale
    return Range(exact.__floor__(), exact.__ceil__())


def call_range(call: AggregateCall | WindowCall, ranges: Ranges) -> Range | None:
    """Of what a primitive over rows answers (privacy/rules/per_unit.py): a count is never negative, but as large as it
    likes; what hands on one of its values has their Range."""
    whole = type_range(call.type)
    if whole is None:
        return None
    if call.function == "count":
        return Range(0, whole.most)
    if call.function in FROM_ONE:
        return Range(1, whole.most)
    if call.function in HANDED_ON:
        return range_of(call.args[0], ranges)
    if call.function in OFFSETS:
        known = [range_of(arg, ranges) for arg in (call.args[0], *call.args[2:]) if arg.type == call.type]
        return hull(range_ for range_ in known if range_ is not None)
    return whole


def leaves_room(type_: Type, range_: Range | None, offset: Literal) -> bool:
    """Whether a RANGE frame's offset can be added to and taken from every value of its order key without leaving what
    DuckDB can hold: moments of the years 1 to 9999 and a thousand years, whole numbers within a quarter of their type."""
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP):
        if offset.type.kind is not Kind.INTERVAL or not isinstance(offset.value, str):
            return False
        months, days, microseconds = (int(part) for part in offset.value.split())
        return min(months, days, microseconds) >= 0 and months <= 12_000 and days <= 365_000
    if type_.kind is not Kind.INTEGER or isinstance(offset.value, bool) or not isinstance(offset.value, int):
        return False
    room = 2 ** (type_.bits - 2)
    return range_ is not None and 0 <= offset.value < room and range_.size < room


def _call(call: Call, ranges: Ranges) -> tuple[Expr, Range | None]:
    function = function_of(call)
    args, spans = _brought_together(function, [totalise(arg, ranges) for arg in call.args])
    plain = Call(function.name, args, call.type, call.at)
    form = plain if function.plain(plain, spans) else dataclasses.replace(plain, function=checked(function.name))
    return form, reached(function, plain, spans)


def function_of(call: Call) -> Function:
    name = unchecked(call.function)
    function = FUNCTIONS.get(name)
    if function is None or call.type == ANY:
        raise Refused(
            f"{WRITTEN.get(name, name).upper()} works on released results, not on rows of people",
            code=107,
            at=call.at,
            why="Over private rows, dpsql must know that a function never fails, whatever the data are.",
            fix="Use it outside, over the aggregated result; `dpsql help functions` lists what works inside.",
        )
    return function


def reached(function: Function, plain: Call, spans: Spans) -> Range | None:
    """The Range of a call in either form: the checked one is NULL where the plain one leaves the type."""
    whole = type_range(plain.type)
    range_ = function.reach(plain, spans)
    return whole if whole is None or range_ is None else clipped(range_, whole)


def span(expr: Expr, range_: Range | None) -> Range | None:
    """An argument's Range as the rows of the table take it: a NULL counts as zero."""
    return ZERO if expr.type.kind is Kind.NULL else range_


# --- conversions that engines make by themselves ----------------------------------------------------------------------


def _brought_together(function: Function, parts: list[tuple[Expr, Range | None]]) -> tuple[Args, Spans]:
    """Where arguments are brought to one type and one of them might not fit it, the conversions are written out, those
    that might fail in their checked form: engines each have a rule of their own, and raise."""
    new = list(parts)
    for group in function.alike(len(parts)):
        target = _target(function, tuple(new[i][0] for i in group))
        if target is None:
            continue
        for i in group:
            part, range_ = new[i]
            if part.type != target and part.type.kind is not Kind.NULL:
                new[i] = _converted(part, range_, target)
    return tuple(part for part, _ in new), tuple(span(part, range_) for part, range_ in new)


def _target(function: Function, args: Args) -> Type | None:
    """The type to which these arguments are to be brought by hand; None where the engine's own conversions cannot fail.
    Where they are compared it has the decimal places of all, as every digit decides."""
    if settled(args):
        return None
    sides = [side for arg in args if (side := as_decimal(arg.type)) is not None]
    return decimal(38, max(side.scale for side in sides)) if function.compares else joined(args)


def _converted(part: Expr, range_: Range | None, target: Type) -> tuple[Expr, Range | None]:
    cast = Call("cast", (part,), target, part.at)
    row, spans = FUNCTIONS["cast"], (span(part, range_),)
    form = cast if row.plain(cast, spans) else dataclasses.replace(cast, function=checked("cast"))
    return form, reached(row, cast, spans)


def settled(args: Args) -> bool:
    """Whether no conversion of these arguments to one type can fail or lose a digit, whatever is stored: they are of one
    type, or go to the engine's common type by widening alone."""
    try:
        target = joined(args)
    except TypeProblem:
        return False
    if not all(_widens(arg, target) for arg in args):
        return False
    sides = [side for arg in args if (side := as_decimal(arg.type)) is not None]
    if target.kind is not Kind.DECIMAL:
        return True
    return max(s.precision - s.scale for s in sides) + max(s.scale for s in sides) <= target.precision


def _widens(arg: Expr, target: Type) -> bool:
    source = arg.type
    if source == target or source.kind is Kind.NULL:
        return True
    match source.kind, target.kind:
        case (Kind.INTEGER, Kind.INTEGER):
            return source.bits <= target.bits or _constant_fits(arg, target)
        case (Kind.INTEGER | Kind.DECIMAL, Kind.REAL) | (Kind.DATE, Kind.TIMESTAMP):
            return True
        case (Kind.INTEGER | Kind.DECIMAL, Kind.DECIMAL):
            side = as_decimal(source)
            assert side is not None
            fits = side.precision - side.scale <= target.precision - target.scale and side.scale <= target.scale
            return fits and source != HUGEINT  # whose 39 digits no decimal has
        case _:
            return False


def _constant_fits(arg: Expr, target: Type) -> bool:
    low, high = integer_range(target)
    return isinstance(arg, Literal) and (arg.value is None or (isinstance(arg.value, int) and low <= arg.value <= high))
