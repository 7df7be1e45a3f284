"""DuckDB's plain forms of the table's functions, shared by the vault and scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from dpsql.ir.expr import Call

Form = Callable[[Call, tuple[str, ...]], str]


def infix(operator: str) -> Form:
    return lambda call, args: f"({f' {operator} '.join(args)})"


def suffix(words: str) -> Form:
    return lambda call, args: f"({args[0]} {words})"


def function(name: str) -> Form:
    return lambda call, args: f"{name}({', '.join(args)})"


def _case(call: Call, args: tuple[str, ...]) -> str:
    whens = [f"WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2)]
    otherwise = [f"ELSE {args[-1]}"] if len(args) % 2 else []
    return f"CASE {' '.join(whens + otherwise)} END"


def _cast(call: Call, args: tuple[str, ...]) -> str:
    return f"CAST({args[0]} AS {call.type.sql})"


def _try_cast(call: Call, args: tuple[str, ...]) -> str:
    return f"TRY_CAST({args[0]} AS {call.type.sql})"


def _between(call: Call, args: tuple[str, ...]) -> str:
    return f"({args[0]} BETWEEN {args[1]} AND {args[2]})"


def _in(call: Call, args: tuple[str, ...]) -> str:
    return f"({args[0]} IN ({', '.join(args[1:])}))"


def like(words: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        escape = f" ESCAPE {args[2]}" if len(args) == 3 else ""
        return f"({args[0]} {words} {args[1]}{escape})"

    return form


def _canonical(call: Call, args: tuple[str, ...]) -> str:
    return f"CASE WHEN NOT isnan({args[0]}) THEN {args[0]} + 0e0 END"


def _logical(operator: str) -> Form:
    return infix(operator)


def _negate(call: Call, args: tuple[str, ...]) -> str:
    return f"(-({args[0]}))"


PLAIN: Mapping[str, Form] = MappingProxyType(
    {
        "negate": _negate,
        "add": infix("+"),
        "subtract": infix("-"),
        "multiply": infix("*"),
        "divide": infix("/"),
        "integer_divide": infix("//"),
        "modulo": infix("%"),
        "concat": infix("||"),
        "concat_all": function("concat"),
        "equal": infix("="),
        "not_equal": infix("<>"),
        "less": infix("<"),
        "less_equal": infix("<="),
        "greater": infix(">"),
        "greater_equal": infix(">="),
        "is_distinct": infix("IS DISTINCT FROM"),
        "is_not_distinct": infix("IS NOT DISTINCT FROM"),
        "between": _between,
        "in": _in,
        "and": _logical("AND"),
        "or": _logical("OR"),
        "not": lambda call, args: f"(NOT {args[0]})",
        "is_null": suffix("IS NULL"),
        "is_not_null": suffix("IS NOT NULL"),
        "is_true": suffix("IS TRUE"),
        "is_false": suffix("IS FALSE"),
        "is_not_true": suffix("IS NOT TRUE"),
        "is_not_false": suffix("IS NOT FALSE"),
        "canonical": _canonical,
        "case": _case,
        "cast": _cast,
        "try_cast": _try_cast,
        "like": like("LIKE"),
        "not_like": like("NOT LIKE"),
        "ilike": like("ILIKE"),
        "not_ilike": like("NOT ILIKE"),
    }
)


def plain(call: Call, args: tuple[str, ...]) -> str:
    """The form DuckDB's user would write; a function without one of its own is name(args)."""
    form = PLAIN.get(call.function)
    return form(call, args) if form is not None else f"{call.function}({', '.join(args)})"
