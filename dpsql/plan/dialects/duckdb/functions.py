"""The vault's forms on DuckDB: total. No value of a cleaned column makes one raise, overflow or grow.

Checked rows compute where there is room (HUGEINT, a wider decimal) and come back by TRY_CAST; 128-bit operands are
first kept within 2^126, moments within the years 1 to 9999. Never TRY(…): its time depends on the data. No argument is
printed twice, so the SQL of nested calls grows with their number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar, assert_never

from dpsql.domain.types import DATE, HUGEINT, TIMESTAMP, Kind, Type, decimal
from dpsql.errors import InternalError
from dpsql.functions.function import CHECKED
from dpsql.functions.numbers import decimals
from dpsql.functions.table import FUNCTIONS
from dpsql.functions.text import JOINED_LIMIT
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall
from dpsql.plan.dialects import function_calls as calls
from dpsql.plan.dialects.forms import Form, plain
from dpsql.plan.dialects.literals import identifier, literal

__all__ = ["identifier", "literal", "render"]

BEFORE_DATES, AFTER_DATES = "DATE '0001-12-31 (BC)'", "DATE '10000-01-01'"
BEFORE_TIMES = "TIMESTAMP '0001-12-31 (BC) 23:59:59.999999'"
AFTER_TIMES = "TIMESTAMP '10000-01-01 00:00:00'"
# Over rows: total for every argument that privacy/rules gives them (SUM: of 64-bit integers and short decimals).
UNIT_AGGREGATES = frozenset(
    ["count", "sum", "min", "max", "first", "last", "bool_and", "bool_or", "quantile_cont", "quantile_disc", "mode"]
)
UNIT_WINDOWS = frozenset(
    """
    count sum min max bool_and bool_or row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value
    last_value nth_value
    """.split()
)


def render(expr: Expr, column: Callable[[Column], str]) -> str:
    """The expression in its total form; `column` prints a column."""
    match expr:
        case Column():
            return column(expr)
        case Literal():
            return literal(expr)
        case AggregateCall():
            return calls.aggregate(_primitive(expr, UNIT_AGGREGATES), column, render)
        case WindowCall():
            return calls.window(_primitive(expr, UNIT_WINDOWS), column, render)
        case Call():
            if expr.function.removeprefix(CHECKED) not in FUNCTIONS:
                raise InternalError(f"{expr.function} has no form in the vault")
            args = tuple(render(arg, column) for arg in expr.args)
            return form(expr, args)
        case _:
            assert_never(expr)


AnyCall = TypeVar("AnyCall", AggregateCall, WindowCall)


def _primitive(call: AnyCall, known: frozenset[str]) -> AnyCall:
    """One of the calls over a unit's rows that never fail, as privacy/rules/per_unit.py and windows.py make them."""
    if call.function not in known:
        raise InternalError(f"{call.function} over rows has no form in the vault")
    return call


def form(call: Call, args: tuple[str, ...]) -> str:
    """The total form of one call, its arguments printed."""
    special = TOTAL.get(call.function)
    return special(call, args) if special is not None else plain(call, args)


def within(value: str, low: str, high: str) -> str:
    """The value strictly between two constants, else NULL: LEAST passes a NULL over, NULLIF removes the constants.

    DuckDB writes NULLIF's first argument out twice, so nested ones would double with each level: a value that has one
    in it is bound to a name."""
    if _has_nullif(value):
        return f"list_transform([{value}], lambda w: CASE WHEN w > {low} AND w < {high} THEN w END)[1]"
    return f"NULLIF(NULLIF(greatest(least({value}, {high}), {low}), {high}), {low})"


def _has_nullif(*values: str) -> bool:
    return any("NULLIF(" in value for value in values)


def _not_zero(value: str) -> str:
    if _has_nullif(value):
        return f"list_transform([{value}], lambda w: CASE WHEN w <> 0 THEN w END)[1]"
    return f"NULLIF({value}, 0)"


def in_years(value: str, type_: Type) -> str:
    """A date or timestamp in the years 1 to 9999, else NULL."""
    if type_ == DATE:
        return within(value, BEFORE_DATES, AFTER_DATES)
    return within(value, BEFORE_TIMES, AFTER_TIMES)


def _huge(value: str) -> str:
    """A 128-bit operand with a bit to spare."""
    return within(f"CAST({value} AS HUGEINT)", f"CAST('-{2**126}' AS HUGEINT)", f"CAST('{2**126}' AS HUGEINT)")


def _wide(value: str, source: Type, type_: Type, headroom: int) -> str:
    """A decimal operand as DECIMAL(38, s), its size below a share of what that can hold."""
    scale = type_.scale
    cast = f"TRY_CAST({value} AS DECIMAL(38,{scale}))"
    if source.precision - source.scale + scale + 1 <= 38:
        return cast
    units = 10**38 // headroom
    digits = f"{units // 10**scale}.{str(units % 10**scale).rjust(scale, '0')}" if scale else str(units)
    end = f"DECIMAL(38,{scale}))"
    return within(cast, f"CAST('-{digits}' AS {end}", f"CAST('{digits}' AS {end}")


def _checked_sum(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return _moved(call, args, operator)
        if call.type.kind is Kind.DECIMAL:
            left, right = (_wide(a, side, call.type, 2) for a, side in zip(args, decimals(call.args), strict=True))
        elif call.type == HUGEINT:
            return f"({_huge(args[0])} {operator} {_huge(args[1])})"
        else:
            left, right = (f"CAST({a} AS HUGEINT)" for a in args)
            return f"TRY_CAST({left} {operator} {right} AS {call.type.sql})"
        return f"TRY_CAST({left} {operator} {right} AS {call.type.sql})"

    return form


def _moved(call: Call, args: tuple[str, ...], operator: str) -> str:
    """Days are first kept within a range no date can leave DuckDB's calendar by."""
    types = [arg.type for arg in call.args]
    if Kind.INTERVAL in (types[0].kind, types[1].kind):
        return in_years(f"({args[0]} {operator} {args[1]})", call.type)
    days = [
        within(a, "(-4000000)", "4000000") if type_.kind is Kind.INTEGER else a
        for a, type_ in zip(args, types, strict=True)
    ]
    days = [f"CAST({a} AS INTEGER)" if t.kind is Kind.INTEGER else a for a, t in zip(days, types, strict=True)]
    return in_years(f"({days[0]} {operator} {days[1]})", call.type)


def _checked_product(call: Call, args: tuple[str, ...]) -> str:
    if call.type.kind is Kind.DECIMAL:
        return _decimal_product(call, args)
    if call.type == HUGEINT:
        return _guarded_product(args, "HUGEINT", "HUGEINT", "HUGEINT", str(2**126))
    return f"TRY_CAST(CAST({args[0]} AS HUGEINT) * CAST({args[1]} AS HUGEINT) AS {call.type.sql})"


def _decimal_product(call: Call, args: tuple[str, ...]) -> str:
    """In 38 digits, if the factors have no more together; else after a look at the size of the product."""
    left, right = decimals(call.args)
    types = [decimal(38, side.scale).sql for side in (left, right)]
    if left.precision + right.precision <= 38:
        factors = [f"CAST({a} AS DECIMAL({p.precision},{p.scale}))" for a, p in zip(args, (left, right), strict=True)]
        wide = [f"CAST({factors[0]} AS {types[0]})", f"CAST({factors[1]} AS {types[1]})"]
        return f"TRY_CAST({wide[0]} * {wide[1]} AS {call.type.sql})"
    limit = str(10**38 // 10**call.type.scale)
    product = _guarded_product(args, types[0], types[1], f"DECIMAL(38,{call.type.scale})", limit)
    return f"TRY_CAST({product} AS {call.type.sql})"


def _guarded_product(args: tuple[str, ...], left: str, right: str, result: str, limit: str) -> str:
    """The product where its size, computed as DOUBLE, is surely below the limit. Each factor is printed once."""
    bound = f"{{'a': TRY_CAST({args[0]} AS {left}), 'b': TRY_CAST({args[1]} AS {right})}}"
    size = f"abs(CAST(p.a AS DOUBLE) * CAST(p.b AS DOUBLE)) < CAST('{limit}' AS DOUBLE) * 0.999999999999"
    body = f"CASE WHEN {size} THEN p.a * p.b END"
    return f"CAST(list_transform([{bound}], lambda p: {body})[1] AS {result})"


def _divided(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        divisor = _not_zero(args[1])
        if call.type.kind is Kind.INTEGER:
            wide = _huge(args[0]) if call.type == HUGEINT else f"CAST({args[0]} AS HUGEINT)"
            return f"TRY_CAST({wide} {operator} CAST({divisor} AS HUGEINT) AS {call.type.sql})"
        if call.type.kind is Kind.REAL:
            return f"({args[0]} {'/' if operator == '//' else operator} {divisor})"
        left, right = (f"TRY_CAST({a} AS {call.type.sql})" for a in args)
        return f"({left} {operator} {_not_zero(right)})"

    return form


def _checked_unary(name: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        wide = _huge(args[0]) if call.type == HUGEINT else f"CAST({args[0]} AS HUGEINT)"
        rest = "".join(f", {arg}" for arg in args[1:])
        return f"TRY_CAST({name}({wide}{rest}) AS {call.type.sql})"

    return form


def _plainly_rounded(call: Call, args: tuple[str, ...]) -> str:
    """To more digits than a decimal has before its point DuckDB answers 0, of a NULL too."""
    source, digits = call.args[0].type, call.args[1] if len(call.args) == 2 else None
    places = digits.value if isinstance(digits, Literal) and isinstance(digits.value, int) else 0
    if source.kind is Kind.DECIMAL and -places > source.precision - source.scale:
        return f"CASE WHEN {args[0]} IS NOT NULL THEN CAST(0 AS {call.type.sql}) END"
    return f"round({', '.join(args)})"


def _rounded(call: Call, args: tuple[str, ...]) -> str:
    """Whole decimals of 38 digits: kept below what rounds to 10^38."""
    digits = call.args[1] if len(call.args) == 2 else None
    if call.type.kind is not Kind.DECIMAL or not isinstance(digits, Literal) or not isinstance(digits.value, int):
        return _checked_unary("round")(call, args)
    end = 10**38 - 10**-digits.value // 2
    low, high = (f"CAST('{sign}{end}' AS DECIMAL(38,0))" for sign in ("-", ""))
    return f"round({within(args[0], low, high)}, {args[1]})"


def _checked_cast(call: Call, args: tuple[str, ...]) -> str:
    cast = f"TRY_CAST({args[0]} AS {call.type.sql})"
    if call.type.kind in (Kind.DATE, Kind.TIMESTAMP) and call.args[0].type.kind is Kind.TEXT:
        return in_years(cast, call.type)
    return cast


def _nullif(call: Call, args: tuple[str, ...]) -> str:
    """The first argument keeps its type, though it may have been brought to a wider one to be compared."""
    text = f"NULLIF({args[0]}, {args[1]})"
    if _has_nullif(*args):
        pair = f"{{'a': {args[0]}, 'b': {args[1]}}}"
        text = f"list_transform([{pair}], lambda p: CASE WHEN p.a = p.b THEN NULL ELSE p.a END)[1]"
    return text if call.args[0].type == call.type else f"TRY_CAST({text} AS {call.type.sql})"


def _joined(call: Call, args: tuple[str, ...]) -> str:
    """Text is cut at a generous length before it is joined, or nested queries could double it without end."""
    pieces = [_shortened(a, e) for a, e in zip(args, call.args, strict=True)]
    return f"({' || '.join(pieces)})" if call.function == "concat" else f"concat({', '.join(pieces)})"


def _shortened(arg: str, expr: Expr) -> str:
    if isinstance(expr, Literal) or expr.type.kind is not Kind.TEXT:
        return arg
    return f"left({arg}, {JOINED_LIMIT})"


def _parsed_time(call: Call, args: tuple[str, ...]) -> str:
    """DuckDB takes a few words for moments whatever the format is; here they are no dates."""
    words = ("'epoch'", "'infinity'", "'-infinity'")
    if _has_nullif(args[0]):
        value = f"list_transform([{args[0]}], lambda w: CASE WHEN w NOT IN ({', '.join(words)}) THEN w END)[1]"
    else:
        value = args[0]
        for word in words:
            value = f"NULLIF({value}, {word})"
    return in_years(f"try_strptime({value}, {args[1]})", TIMESTAMP)


def _truncated(call: Call, args: tuple[str, ...]) -> str:
    return in_years(f"date_trunc({args[0]}, {args[1]})", TIMESTAMP)


TOTAL: Mapping[str, Form] = MappingProxyType(
    {
        "checked_add": _checked_sum("+"),
        "checked_subtract": _checked_sum("-"),
        "checked_multiply": _checked_product,
        "checked_negate": _checked_unary("-"),
        "checked_abs": _checked_unary("abs"),
        "round": _plainly_rounded,
        "checked_round": _rounded,
        "checked_integer_divide": _divided("//"),
        "checked_modulo": _divided("%"),
        "checked_cast": _checked_cast,
        "try_cast": _checked_cast,
        "checked_date_trunc": _truncated,
        "checked_strptime": _parsed_time,
        "try_strptime": _parsed_time,
        "nullif": _nullif,
        "concat": _joined,
        "concat_all": _joined,
    }
)
