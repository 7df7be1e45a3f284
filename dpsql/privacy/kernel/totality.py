"""Totality: no expression of a relation can fail, whatever is stored. Whether a query is answered then tells nothing.

The Range of every column of an exact type is said once, by what defines it, and computed here from the relation itself:
a scan clamps in its own SELECT (catalog/cleaning.py), so its numbers hold wherever an engine evaluates what; filters and
joins define nothing, and the NULLs of an outer join are no values. Each call stands in its checked form, which answers on
all values of its argument types, or its row of the function table says that the plain form answers on these types and
ranges. No engine converts in silence but to a wider type. What runs over rows is in a form that cannot overflow.

Premises: the vault's settings (engine/hardening.py: PROVED, asserted when it is opened), DuckDB's semantics of the plain
and checked forms (tests/attacks/test_totality.py, for each version), and no more than 2^40 rows of a unit. Memory, disk
and time are not spoken of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from dpsql.catalog.cleaning import clean_range
from dpsql.catalog.model import Catalog
from dpsql.domain.ranges import Range, hull, together, type_range
from dpsql.domain.types import BIGINT, BOOLEAN, HUGEINT, NULL, REAL, Kind, Type, decimal
from dpsql.functions.casts import convertible
from dpsql.functions.function import CHECKED, Function, TypeProblem, always, unchecked
from dpsql.functions.table import FUNCTIONS
from dpsql.functions.totality import call_range, leaves_room, literal_range, reached, settled, span
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Frame, Literal, WindowCall
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Loaded,
    Node,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    Window,
    inputs,
)
from dpsql.privacy.kernel.unproved import unproved

CANNOT_FAIL = "never fails on any value"
FARTHEST = 10**9  # rows or peer groups a frame may reach
SUMMED_DIGITS = 28  # 2^32 decimals of 28 digits fit 38
SUMMED_SIZE = 2**86  # 2^40 of them fit a HUGEINT

Below = dict[int, Range]


@dataclass(slots=True)
class Totality:
    """calls: how many scalar calls were looked at; checked: those that may be NULL where a plain one would fail."""

    catalog: Catalog
    calls: int = 0
    checked: list[Call] = field(default_factory=list)

    def ranges(self, node: Node) -> Below:
        """The ranges of a relation's columns, all of whose expressions are total."""
        if isinstance(node, SetOp):
            return _union(node, self.ranges(node.left), self.ranges(node.right))
        sides = [self.ranges(child) for child in inputs(node)]
        below = together(*sides)
        match node:
            case Scan():
                return _scan(node, self.catalog)
            case Loaded():
                return {}
            case Filter():
                self._condition(node, node.predicate, below)
                return below
            case Join():
                self._condition(node, node.on, below)
                return below
            case SemiJoin():
                self._condition(node, node.on, below)
                return sides[0]
            case Project():
                of_exprs = [self._value(node, expr, below) for expr in node.exprs]
                return _said((f.id for f in node.fields), of_exprs)
            case Aggregate():
                keys = [self._value(node, key, below) for key in node.keys]
                calls = [self._over_rows(node, call, below) for call in node.calls]
                return _said((f.id for f in node.fields), [*keys, *calls])
            case Window():
                calls = [self._over_rows(node, call, below) for call in node.calls]
                return together(below, _said((f.id for f in node.call_fields), calls))
        refuse(node, "it is none of the relations that are read in the vault")

    def _condition(self, node: Node, expr: Expr | None, below: Below) -> None:
        if expr is None:
            return
        self._value(node, expr, below)
        if expr.type not in (BOOLEAN, NULL):
            refuse(node, "a condition is not boolean")

    def _value(self, node: Node, expr: Expr, below: Below) -> Range | None:
        match expr:
            case Column():
                return below.get(expr.id) or type_range(expr.type)
            case Literal():
                return literal_range(expr)
            case Call():
                spans = tuple(span(arg, self._value(node, arg, below)) for arg in expr.args)
                return self._call(node, expr, spans)
        refuse(node, "an aggregate or window is inside an expression")

    def _call(self, node: Node, call: Call, spans: tuple[Range | None, ...]) -> Range | None:
        name = unchecked(call.function)
        function = FUNCTIONS.get(name)
        if function is None or not _is_typed(function, call):
            refuse(node, f"{name} does not take these arguments")
        for group in function.alike(len(call.args)):
            if not settled(tuple(call.args[i] for i in group)):
                refuse(node, f"{name} converts its arguments")
        plain = Call(name, call.args, call.type)
        self.calls += 1
        if call.function.startswith(CHECKED):
            if function.plain is always:
                refuse(node, f"{name} has no checked form")
            self.checked.append(call)
        elif not function.plain(plain, spans):
            refuse(node, f"{name} may fail on a value")
        return reached(function, plain, spans)

    def _over_rows(self, node: Node, call: AggregateCall | WindowCall, below: Below) -> Range | None:
        """An aggregate or window: its parts are total, and it is one of the forms below."""
        known: Mapping[str, Form] = AGGREGATES if isinstance(call, AggregateCall) else WINDOWS
        parts = [*call.args, *(key.expr for key in call.order)]
        if isinstance(call, WindowCall):
            parts += call.partition
        ranges = [self._value(node, part, below) for part in parts]
        self._condition(node, call.where, below)
        form = known.get(call.function)
        if form is None or not form(call.args, call.type, ranges[: len(call.args)]):
            refuse(node, f"{call.function} over rows may fail on a value")
        if isinstance(call, WindowCall) and call.frame is not None:
            self._frame(node, call, call.frame, below)
        return call_range(call, below)

    def _frame(self, node: Node, call: WindowCall, frame: Frame, below: Below) -> None:
        for _, offset in (frame.start, frame.end):
            if offset is None:
                continue
            if frame.unit != "RANGE":
                if not _is_count(offset, 0):
                    refuse(node, "the offset of a frame is not a constant number of rows")
            elif len(call.order) != 1 or not isinstance(offset, Literal):
                refuse(node, "a RANGE frame has several order keys, or an offset that is not constant")
            else:
                key = call.order[0].expr
                if not leaves_room(key.type, self._value(node, key, below), offset):
                    refuse(node, "a RANGE frame may leave its order key's type")


def refuse(node: Node, why: str) -> NoReturn:
    raise unproved(node, why, CANNOT_FAIL)


def _said(ids: Iterable[int], ranges: Iterable[Range | None]) -> Below:
    return {id_: range_ for id_, range_ in zip(ids, ranges, strict=True) if range_ is not None}


def _scan(node: Scan, catalog: Catalog) -> Below:
    spec = catalog.table(node.table)
    declared = [None if spec is None else spec.column(column) for column in node.columns]
    return _said((f.id for f in node.fields), (None if column is None else clean_range(column) for column in declared))


def _union(node: SetOp, left: Below, right: Below) -> Below:
    hulls: Below = {}
    for f, a, b in zip(node.fields, node.left.fields, node.right.fields, strict=True):
        if not f.type == a.type == b.type:
            refuse(node, f'the sides have "{f.name}" in different types')
        if a.id in left and b.id in right:
            hulls[f.id] = hull((left[a.id], right[b.id]))
    return hulls


def _is_typed(function: Function, call: Call) -> bool:
    """The arguments are what the row takes: also its constants (patterns, formats, positions), which are checked there."""
    count = len(call.args)
    if count < function.least or (function.most is not None and count > function.most):
        return False
    try:
        type_ = function.type(call.args)
    except TypeProblem:
        return False
    if function.name in ("cast", "try_cast"):
        return convertible(type_, call.type)
    # the first argument of NULLIF may have been brought to a wider type, from which its form comes back
    return type_ == call.type or (function.name == "nullif" and convertible(type_, call.type))


# --- what runs over rows ------------------------------------------------------------------------------------------------

Form = Callable[[tuple[Expr, ...], Type, list[Range | None]], bool]


def _is_count(expr: Expr, least: int) -> bool:
    value = expr.value if isinstance(expr, Literal) else None
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= FARTHEST


def _count(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return len(args) <= 1 and type_ == BIGINT


def _sum(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    """2^40 integers of 64 bits, or of that size, fit a HUGEINT; 2^32 decimals of 28 digits fit 38."""
    if len(args) != 1:
        return False
    one, (range_,) = args[0].type, ranges
    if one.kind is Kind.DECIMAL:
        return one.precision <= SUMMED_DIGITS and type_ == decimal(38, one.scale)
    small = one.bits <= 64 or (range_ is not None and range_.size <= SUMMED_SIZE)
    return one.kind is Kind.INTEGER and small and type_ == HUGEINT


def _one_of(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return len(args) == 1 and args[0].type == type_


def _truth(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return len(args) == 1 and args[0].type == type_ == BOOLEAN


def _quantile(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    fraction = args[-1].value if isinstance(args[-1], Literal) else None
    return len(args) == 2 and args[0].type == type_ and isinstance(fraction, float) and -1 <= fraction <= 1


def _between(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return type_ == REAL and _quantile(args, type_, ranges)


def _number(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return not args and type_ == BIGINT


def _share(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return not args and type_ == REAL


def _tile(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return len(args) == 1 and _is_count(args[0], 1) and type_ == BIGINT


def _shifted(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    if not 1 <= len(args) <= 3 or args[0].type != type_:
        return False
    near = len(args) == 1 or _is_count(args[1], -FARTHEST)
    return near and (len(args) < 3 or args[2].type in (type_, NULL))


def _nth(args: tuple[Expr, ...], type_: Type, ranges: list[Range | None]) -> bool:
    return len(args) == 2 and args[0].type == type_ and _is_count(args[1], 1)


BOTH: Mapping[str, Form] = {
    "count": _count,
    "sum": _sum,
    "min": _one_of,
    "max": _one_of,
    "bool_and": _truth,
    "bool_or": _truth,
}
AGGREGATES: Mapping[str, Form] = MappingProxyType(
    {
        **BOTH,
        "first": _one_of,
        "last": _one_of,
        "mode": _one_of,
        "quantile_disc": _quantile,
        "quantile_cont": _between,
    }
)
WINDOWS: Mapping[str, Form] = MappingProxyType(
    {
        **BOTH,
        "row_number": _number,
        "rank": _number,
        "dense_rank": _number,
        "percent_rank": _share,
        "cume_dist": _share,
        "ntile": _tile,
        "lag": _shifted,
        "lead": _shifted,
        "first_value": _one_of,
        "last_value": _one_of,
        "nth_value": _nth,
    }
)
