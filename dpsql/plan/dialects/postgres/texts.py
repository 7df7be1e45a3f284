"""Functions of text on PostgreSQL: characters are code points, compared byte by byte (COLLATE "C" where a text begins)."""

from __future__ import annotations

from dpsql.domain.types import TEXT, Kind
from dpsql.functions.text import JOINED_LIMIT
from dpsql.ir.expr import Call, Expr, Literal
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.casts import to_text
from dpsql.plan.dialects.postgres.literals import text
from dpsql.plan.dialects.postgres.numbers import Form, as_type

# What DuckDB's TRIM takes off: the characters of Unicode's class Zs.
BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def texts(call: Call, args: tuple[str, ...]) -> list[str]:
    return [as_type(a, e.type, TEXT) for a, e in zip(args, call.args, strict=True)]


def joined(call: Call, args: tuple[str, ...]) -> str:
    """Cut at a generous length before it is joined, as in DuckDB's form. CONCAT passes NULLs over."""
    pieces = [_shortened(a, e) for a, e in zip(args, call.args, strict=True)]
    if call.function.endswith("concat"):
        return f"({' || '.join(pieces)})"
    nothing = text("")
    return f"({' || '.join(f'coalesce({piece}, {nothing})' for piece in pieces)})"


def _shortened(arg: str, expr: Expr) -> str:
    shown = as_type(arg, expr.type, TEXT) if expr.type.kind is Kind.NULL else to_text(arg, expr.type)
    return shown if isinstance(expr, Literal) or expr.type.kind is not Kind.TEXT else f"left({shown}, {JOINED_LIMIT})"


def integer_of(expr: Expr) -> int:
    assert isinstance(expr, Literal) and isinstance(expr.value, int)
    return expr.value


def sliced(name: str) -> Form:
    """LEFT, RIGHT, SUBSTRING: positions and lengths are constants."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        numbers = "".join(f", {integer_of(arg)}" for arg in call.args[1:])
        return f"{name}({texts(call, args)[0]}{numbers})"

    return form


def trimmed(name: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        value, *characters = texts(call, args)
        return f"{name}({value}, {characters[0] if characters else text(BLANKS)})"

    return form


def function(name: str) -> Form:
    return lambda call, args: f"{name}({', '.join(texts(call, args))})"


def split(call: Call, args: tuple[str, ...]) -> str:
    return f"split_part({as_type(args[0], call.args[0].type, TEXT)}, {args[1]}, {integer_of(call.args[2])})"


def counted(name: str) -> Form:
    return lambda call, args: f"CAST({name}({', '.join(texts(call, args))}) AS bigint)"


def ends_with(call: Call, args: tuple[str, ...]) -> str:
    value, end = texts(call, args)
    return bound((value, end), lambda x, y: f"(right({x}, char_length({y})) = {y})")


def contains(call: Call, args: tuple[str, ...]) -> str:
    value, part = texts(call, args)
    return f"(strpos({value}, {part}) > 0)"


def like(words: str) -> Form:
    """Without ESCAPE nothing escapes."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        value, pattern, *escape = texts(call, args)
        character = escape[0] if escape else "''"
        return f"({value} {words} {pattern} ESCAPE {character})"

    return form
