"""The vault's forms on PostgreSQL: total, and to the bit what DuckDB answers. A function without a form here is refused by
name (refusals.py); nothing is printed as name(args) because DuckDB has a function of that name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.errors import InternalError
from dpsql.functions.conditional import branches
from dpsql.functions.numbers import joined
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall
from dpsql.plan.dialects.duckdb.functions import UNIT_AGGREGATES, UNIT_WINDOWS
from dpsql.plan.dialects.postgres import boxes, moments, numbers, reals, rows, texts
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.casts import cast
from dpsql.plan.dialects.postgres.literals import literal, real
from dpsql.plan.dialects.postgres.numbers import Form, all_as, as_type
from dpsql.plan.dialects.postgres.refusals import refusal


def render(expr: Expr, column: Callable[[Column], str]) -> str:
    """The expression in its total form; `column` prints a column. The planner has refused what has none."""
    if refusal(expr) is not None:
        raise InternalError("an expression that PostgreSQL refuses was to be printed")
    match expr:
        case Column():
            return column(expr)
        case Literal():
            return literal(expr)
        case AggregateCall():
            if expr.function not in UNIT_AGGREGATES:
                raise InternalError(f"{expr.function} over rows has no form in the vault")
            return rows.aggregate(expr, column, render)
        case WindowCall():
            if expr.function not in UNIT_WINDOWS:
                raise InternalError(f"{expr.function} over rows has no form in the vault")
            return rows.window(expr, column, render)
        case Call():
            form = FORMS.get(expr.function)
            if form is None:
                raise InternalError(f"{expr.function} has no form on PostgreSQL")
            in_a_box = boxes.in_a_box(expr, column, render)
            if in_a_box is not None:
                return in_a_box
            return form(expr, tuple(render(arg, column) for arg in expr.args))
        case _:
            assert_never(expr)


def _infix(operator: str) -> Form:
    """A comparison: both sides in the type that they are compared in."""
    return lambda call, args: f"({f' {operator} '.join(all_as(call, args, _compared(call)))})"


def _compared(call: Call) -> Type:
    """All that is compared is brought to one type; dates meet timestamps."""
    return joined(call.args)


def _between(call: Call, args: tuple[str, ...]) -> str:
    value, low, high = all_as(call, args, _compared(call))
    return f"({value} BETWEEN {low} AND {high})"


def _in(call: Call, args: tuple[str, ...]) -> str:
    value, *rest = all_as(call, args, _compared(call))
    return f"({value} IN ({', '.join(rest)}))"


def _logical(operator: str) -> Form:
    return lambda call, args: f"({f' {operator} '.join(all_as(call, args, BOOLEAN))})"


def _tested(words: str) -> Form:
    return lambda call, args: f"({as_type(args[0], call.args[0].type, BOOLEAN)} {words})"


def _case(call: Call, args: tuple[str, ...]) -> str:
    values = set(branches(len(args)))
    shown = [
        as_type(text, arg.type, call.type if i in values else BOOLEAN)
        for i, (text, arg) in enumerate(zip(args, call.args, strict=True))
    ]
    whens = [f"WHEN {shown[i]} THEN {shown[i + 1]}" for i in range(0, len(shown) - 1, 2)]
    otherwise = [f"ELSE {shown[-1]}"] if len(shown) % 2 else []
    return f"CASE {' '.join(whens + otherwise)} END"


def _one_of(name: str) -> Form:
    return lambda call, args: f"{name}({', '.join(all_as(call, args, call.type))})"


def _nullif(call: Call, args: tuple[str, ...]) -> str:
    """The first argument keeps its type, though it may be compared in a wider one."""
    one, other = (arg.type for arg in call.args)
    if one.kind is Kind.NULL:
        return as_type(args[0], one, call.type)
    if one == other:
        return f"nullif({args[0]}, {args[1]})"
    type_ = _compared(call)

    def body(a: str, b: str) -> str:
        return f"CASE WHEN {as_type(a, one, type_)} = {as_type(b, other, type_)} THEN NULL ELSE {a} END"

    return bound((args[0], args[1]), body)


def _real(form: Callable[[str], str]) -> Form:
    return lambda call, args: form(reals.of_exact(args[0], call.args[0].type))


def _sum(operator: str) -> Form:
    plain, of_dates = numbers.sum_of(operator), moments.moved

    def form(call: Call, args: tuple[str, ...]) -> str:
        kinds = [arg.type.kind for arg in call.args]
        if call.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return of_dates(call, args, operator)
        if kinds == [Kind.DATE, Kind.DATE]:
            return moments.difference(call, args)
        return plain(call, args)

    return form


def _checked_sum(operator: str) -> Form:
    checked = numbers.checked_sum(operator)

    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return moments.moved(call, args, operator)
        if call.args[0].type.kind is Kind.DATE:
            return moments.difference(call, args)
        return checked(call, args)

    return form


def _is_null(words: str) -> Form:
    return lambda call, args: f"({args[0]} {words})"


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "negate": numbers.negated,
        "checked_negate": numbers.checked_unary("-"),
        "add": _sum("+"),
        "checked_add": _checked_sum("+"),
        "subtract": _sum("-"),
        "checked_subtract": _checked_sum("-"),
        "multiply": numbers.product,
        "checked_multiply": numbers.checked_product,
        "divide": numbers.quotient,
        "integer_divide": numbers.whole_quotient,
        "checked_integer_divide": numbers.checked_whole_quotient,
        "modulo": numbers.remainder,
        "checked_modulo": numbers.checked_remainder,
        "equal": _infix("="),
        "not_equal": _infix("<>"),
        "less": _infix("<"),
        "less_equal": _infix("<="),
        "greater": _infix(">"),
        "greater_equal": _infix(">="),
        "is_distinct": _infix("IS DISTINCT FROM"),
        "is_not_distinct": _infix("IS NOT DISTINCT FROM"),
        "between": _between,
        "in": _in,
        "and": _logical("AND"),
        "or": _logical("OR"),
        "not": lambda call, args: f"(NOT {as_type(args[0], call.args[0].type, BOOLEAN)})",
        "is_null": _is_null("IS NULL"),
        "is_not_null": _is_null("IS NOT NULL"),
        "is_true": _tested("IS TRUE"),
        "is_false": _tested("IS FALSE"),
        "is_not_true": _tested("IS NOT TRUE"),
        "is_not_false": _tested("IS NOT FALSE"),
        "case": _case,
        "coalesce": _one_of("coalesce"),
        "least": _one_of("least"),
        "greatest": _one_of("greatest"),
        "nullif": _nullif,
        "cast": cast,
        "checked_cast": cast,
        "try_cast": cast,
        "abs": numbers.absolute,
        "checked_abs": numbers.checked_unary("abs"),
        "sign": numbers.sign,
        "floor": numbers.stepped("floor"),
        "ceil": numbers.stepped("ceil"),
        "trunc": numbers.stepped("trunc"),
        "round": numbers.rounded,
        "checked_round": numbers.checked_rounded,
        "sqrt": _real(reals.root),
        "degrees": _real(lambda x: reals.multiplied(x, real(180 / math.pi))),
        "radians": _real(lambda x: reals.multiplied(x, real(math.pi / 180))),
        "pi": lambda call, args: real(math.pi),
        "canonical": _real(reals.canonical),
        "isnan": _real(lambda x: f"({x} = {reals.NAN})"),
        "isinf": _real(lambda x: f"(abs({x}) = {reals.INFINITY})"),
        "isfinite": _real(lambda x: f"(abs({x}) < {reals.INFINITY})"),
        "concat": texts.joined,
        "concat_all": texts.joined,
        "left": texts.sliced("left"),
        "right": texts.sliced("right"),
        "substring": texts.sliced("substr"),
        "trim": texts.trimmed("btrim"),
        "ltrim": texts.trimmed("ltrim"),
        "rtrim": texts.trimmed("rtrim"),
        "replace": texts.function("replace"),
        "translate": texts.function("translate"),
        "split_part": texts.split,
        "length": texts.counted("char_length"),
        "strlen": texts.counted("octet_length"),
        "starts_with": texts.function("starts_with"),
        "ends_with": texts.ends_with,
        "contains": texts.contains,
        "strpos": texts.counted("strpos"),
        "like": texts.like("LIKE"),
        "not_like": texts.like("NOT LIKE"),
        "date_part": moments.part,
        "date_trunc": moments.truncated,
        "checked_date_trunc": moments.truncated,
        "date_diff": moments.boundaries,
        "date_sub": moments.full_parts,
        "last_day": moments.last_day,
        "epoch_ms": moments.epoch_ms,
        "epoch_us": moments.epoch_us,
        "dayname": moments.named("FMDay"),
        "monthname": moments.named("FMMonth"),
        "strftime": moments.formatted,
    }
)
