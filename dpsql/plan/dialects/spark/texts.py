"""Functions of text on Spark: characters are code points, compared byte by byte (UTF8_BINARY where a text begins)."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.domain.types import TEXT, Kind
from dpsql.functions.text import JOINED_LIMIT
from dpsql.ir.expr import Call, Expr, Literal
from dpsql.plan.dialects.spark.casts import to_text
from dpsql.plan.dialects.spark.literals import text
from dpsql.plan.dialects.spark.numbers import Form, as_type

# What DuckDB's TRIM takes off: the characters of Unicode's class Zs.
BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def texts(call: Call, args: tuple[str, ...]) -> list[str]:
    return [as_type(a, e.type, TEXT) for a, e in zip(args, call.args, strict=True)]


def joined(call: Call, args: tuple[str, ...]) -> str:
    """Cut at a generous length before it is joined, as in DuckDB's form. CONCAT passes NULLs over."""
    pieces = [_shortened(a, e) for a, e in zip(args, call.args, strict=True)]
    if call.function.endswith("concat_all"):
        pieces = [f"coalesce({piece}, '')" for piece in pieces]
    return f"concat({', '.join(pieces)})"


def _shortened(arg: str, expr: Expr) -> str:
    shown = as_type(arg, expr.type, TEXT) if expr.type.kind is Kind.NULL else to_text(arg, expr.type)
    return shown if isinstance(expr, Literal) or expr.type.kind is not Kind.TEXT else f"left({shown}, {JOINED_LIMIT})"


def integer_of(expr: Expr) -> int:
    assert isinstance(expr, Literal) and isinstance(expr.value, int)
    return expr.value


def text_of(expr: Expr) -> str:
    assert isinstance(expr, Literal) and isinstance(expr.value, str)
    return expr.value


def sliced(name: str) -> Form:
    """LEFT, RIGHT, SUBSTRING: positions and lengths are constants."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        numbers = "".join(f", {integer_of(arg)}" for arg in call.args[1:])
        return f"{name}({texts(call, args)[0]}{numbers})"

    return form


def trimmed(side: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        value, *characters = texts(call, args)
        return f"trim({side} {characters[0] if characters else text(BLANKS)} FROM {value})"

    return form


def function(name: str) -> Form:
    return lambda call, args: f"{name}({', '.join(texts(call, args))})"


def replaced(call: Call, args: tuple[str, ...]) -> str:
    return f"replace({', '.join(texts(call, args))})"


def split(call: Call, args: tuple[str, ...]) -> str:
    return f"split_part({as_type(args[0], call.args[0].type, TEXT)}, {args[1]}, {integer_of(call.args[2])})"


def counted(name: str) -> Form:
    return lambda call, args: f"CAST({name}({', '.join(texts(call, args))}) AS BIGINT)"


# --- LIKE -------------------------------------------------------------------------------------------------------------


def like(words: str) -> Form:
    """The pattern is a constant: it is written again with a backslash before what is meant as it stands."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        escape = text_of(call.args[2]) if len(call.args) == 3 else ""
        pattern = "".join(_pieces(text_of(call.args[1]), escape))
        return f"({as_type(args[0], call.args[0].type, TEXT)} {words} {text(pattern)})"

    return form


def _pieces(pattern: str, escape: str) -> Iterator[str]:
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            yield _as_it_stands(next(characters))
        elif character in "%_":
            yield character
        else:
            yield _as_it_stands(character)


def _as_it_stands(character: str) -> str:
    return "\\" + character if character in "%_\\" else character
