"""PostgreSQL's spellings in catalog queries as DuckDB's: token by token, so that texts stay as they are."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.catalog.model import fold
from dpsql.plan.dialects.literals import text
from dpsql.server.wire import types
from dpsql.server.wire.texts import Token, parameters, tokens

TEXTUAL = frozenset(
    "regclass regtype regproc regprocedure regnamespace regoper regrole name char text cstring pg_lsn".split()
)
NUMERIC = frozenset(("oid", "xid", "cid"))


def rewritten(parts: list[Token], values: Sequence[Any], oids: Mapping[str, int]) -> str:
    """oids: the numbers of tables, by their names."""
    return " ".join(_spelled(parts, values, oids))


def _spelled(parts: list[Token], values: Sequence[Any], oids: Mapping[str, int]) -> list[str]:
    written: list[str] = []
    place = 0
    while place < len(parts):
        here, after = parts[place], [part.word or part.text for part in parts[place + 1 : place + 6]]
        match (here.word or here.text, *after):
            case ("pg_catalog" | "public", ".", *_):
                place += 2
            case ("information_schema", ".", name, *_):
                written.append(name if name.startswith("_pg_") else f"is_{name}")
                place += 3
            case ("operator", "(", *_):
                close = next((i for i in range(place, len(parts)) if parts[i].text == ")"), len(parts) - 1)
                written.append("".join(p.text for p in parts[place + 2 : close] if p.word != "pg_catalog").lstrip("."))
                place = close + 1
            case ("collate", "pg_catalog", ".", *_):
                place += 4
            case ("collate", *_):
                place += 2
            case ("::" | "as", *_) if _cast(parts, place, written, oids):
                place += 4 if after[:2] == ["pg_catalog", "."] else 2
            case ("json_build_object", *_):
                written.append("json_object")
                place += 1
            case ("current_user" | "session_user" | "user" | "current_catalog" as name, *rest) if here.kind == "word":
                bare = rest[:1] != ["("] and (not written or written[-1] not in (".", "as"))
                written.append(f'"{name}"()' if bare else name)
                place += 1
            case _:
                written.append(_literal(values, here) if here.kind == "parameter" else here.text)
                place += 1
    return written


def _cast(parts: list[Token], place: int, written: list[str], oids: Mapping[str, int]) -> bool:
    """A cast to a type that DuckDB does not have, as one that it has; a name of a relation as its number."""
    qualified = [part.word for part in parts[place + 1 : place + 2]] == ["pg_catalog"]
    at = place + (3 if qualified else 1)
    if at >= len(parts) or (parts[place].word == "as" and not _within_cast(parts, place)):
        return False
    target = parts[at].word
    if target == "regclass" and parts[place - 1].kind in ("string", "parameter"):
        name = written[-1].strip("'").rpartition(".")[2].strip('"')
        known = {"pg_class": 1259, "pg_type": 1247, "pg_namespace": 2615, "pg_proc": 1255, "pg_constraint": 2606}
        written[-1] = str(known.get(name, oids.get(fold(name), 0)))
        written.extend((parts[place].text, "INTEGER"))
        return True
    if target in TEXTUAL or target in NUMERIC:
        written.extend((parts[place].text, "VARCHAR" if target in TEXTUAL else "INTEGER"))
        return True
    if qualified:
        written.extend((parts[place].text, parts[at].text))
    return qualified


def cast_oids(sql: str, declared: Sequence[int]) -> list[int]:
    """The types of a catalog query's parameters: as declared, or as the text casts them."""
    parts = [part for part in tokens(sql) if part.word not in ("pg_catalog",) and part.text != "."]
    oids = [declared[i] if i < len(declared) else 0 for i in range(parameters(sql))]
    for place, part in enumerate(parts):
        if part.kind != "parameter" or oids[int(part.text[1:]) - 1]:
            continue
        after = [one.word or one.text for one in parts[place + 1 : place + 5]]
        oid = types.NAMES.get(after[1], types.TEXT) if after[:1] == ["::"] and len(after) > 1 else types.TEXT
        oids[int(part.text[1:]) - 1] = types.ARRAYS.get(oid, oid) if after[2:4] == ["[", "]"] else oid
    return [oid or types.TEXT for oid in oids]


def _within_cast(parts: list[Token], place: int) -> bool:
    depth = 0
    for index in range(place - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(parts[index].text, 0)
        if depth < 0:
            return index > 0 and parts[index - 1].word == "cast"
    return False


def _literal(values: Sequence[Any], parameter: Token) -> str:
    number = int(parameter.text[1:])
    return _written(values[number - 1] if 1 <= number <= len(values) else None)


def _written(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value)
        case float() | decimal.Decimal():
            return f"CAST('{value}' AS DOUBLE)"
        case dt.date():
            return text(value.isoformat())
        case list():
            return f"[{', '.join(_written(one) for one in value)}]"
        case _:
            return text(str(value))


def select_list(parts: list[Token]) -> list[str]:
    """The names of a statement's columns, as far as its text tells."""
    names, depth, last = [], 0, "?column?"
    for part in parts[1:]:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(part.text, 0)
        if depth == 0 and part.text == ",":
            names.append(last)
            last = "?column?"
        elif depth == 0 and part.word == "from":
            break
        elif depth == 0 and part.word and part.word != "as":
            last = part.word
    return [*names, last]
