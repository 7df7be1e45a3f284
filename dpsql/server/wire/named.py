"""PREPARE … AS and EXECUTE: the named statements of extended queries, said in SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.errors import NotSupportedError, SqlError
from dpsql.server.wire import types
from dpsql.server.wire.portals import Prepared
from dpsql.server.wire.texts import Token

FIRST = ("select", "with", "from", "values", "insert", "update", "delete", "merge")
OF_TYPES = {
    **types.NAMES,
    "int": types.INT4,
    "smallint": types.INT2,
    "boolean": types.BOOL,
    "decimal": types.NUMERIC,
    "unknown": 0,
    "real": types.FLOAT4,
    "float4": types.FLOAT4,
    "double precision": types.FLOAT8,
    "character varying": types.VARCHAR,
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def prepare_of(sql: str, parts: Sequence[Token]) -> tuple[str, Prepared]:
    """The name, and the statement with the types that were said."""
    name, rest = _name(parts), parts[2:]
    given, rest = _within(rest)
    if len(rest) < 2 or rest[0].word != "as" or rest[1].word not in FIRST:
        raise SqlError("PREPARE has a name and a query", code=100, fix="PREPARE p (integer) AS SELECT … $1 ….")
    query = sql[rest[1].start :].strip()
    return name, Prepared(query, tuple(_type(one) for one in given), size=len(sql))


def execute_of(parts: Sequence[Token]) -> tuple[str, list[bytes | None]]:
    """The name, and the values as texts."""
    given, rest = _within(parts[2:])
    if rest:
        raise SqlError("EXECUTE has a name and constants", code=100, fix="EXECUTE p (1, 'a').")
    return _name(parts), [_constant(one) for one in given]


def _name(parts: Sequence[Token]) -> str:
    if len(parts) < 2 or not parts[1].word:
        raise SqlError("a prepared statement has a name", code=100, fix="PREPARE p AS SELECT …; EXECUTE p.")
    return parts[1].word


def _within(parts: Sequence[Token]) -> tuple[list[list[Token]], Sequence[Token]]:
    """What is in the parentheses that come first, cut at its commas, and what follows them."""
    if not parts or parts[0].text != "(":
        return [], parts
    cut: list[list[Token]] = [[]]
    depth = 0
    for place, part in enumerate(parts):
        depth += {"(": 1, ")": -1}.get(part.text, 0)
        if depth == 0:
            return cut, parts[place + 1 :]
        if depth == 1 and part.text == ",":
            cut.append([])
        elif place:
            cut[-1].append(part)
    raise SqlError("a parenthesis is not closed", code=100)


def _type(parts: Sequence[Token]) -> int:
    """Of a parameter; a length in parentheses says nothing."""
    words = [part.word for part in parts[: next((i for i, part in enumerate(parts) if part.text == "("), len(parts))]]
    name = " ".join(word for word in words if word not in ("pg_catalog", ""))
    if name not in OF_TYPES:
        raise NotSupportedError(f"a parameter has no type {name[:40]!r} here", code=122, fix="Leave the types out.")
    return OF_TYPES[name]


def _constant(parts: Sequence[Token]) -> bytes | None:
    """As text, which is read by the type of its parameter."""
    cast = next((i for i, part in enumerate(parts) if part.kind == "cast"), len(parts))
    match [*parts[:cast]]:
        case [Token() as one] if one.word in ("null", "true", "false") and one.kind == "word":
            return None if one.word == "null" else one.word.encode()
        case [Token(kind="string") as one] | [Token(kind="word"), Token(kind="string") as one]:
            return _unquoted(one.text).encode()
        case constant:
            number = "".join(part.text for part in constant)
    if not _NUMBER.fullmatch(number):
        raise NotSupportedError("EXECUTE takes constants", code=122, fix="Write a number, a text, TRUE, FALSE or NULL.")
    return number.encode()


def _unquoted(text: str) -> str:
    if text.startswith("$"):
        mark = text[: text.index("$", 1) + 1]
        return text.removeprefix(mark).removesuffix(mark)
    return text[1:-1].replace("''", "'")
