"""Rows that were sent, in a scratch of this process, with the names and types that they had."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsql.engine.scratch import Scratch
from dpsql.engine.scratch_result import ScratchResult
from dpsql.plan.dialects.literals import identifier

TABLE = "dpsql_sent"


def held_rows(scratch: Scratch, columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Any, ...]]) -> ScratchResult:
    """The rows as a result like any other. Each cell is its text, cast to the column's type."""
    texts = {f"c{i}": _texts([row[i] for row in rows], "MAP(" in type_) for i, (_, type_) in enumerate(columns)}
    texts["n"] = np.arange(len(rows), dtype=np.int64)
    scratch.load(TABLE, texts, {name: "VARCHAR" for name in texts if name != "n"})
    try:
        cells = [f"CAST(c{i} AS {type_}) AS {identifier(name)}" for i, (name, type_) in enumerate(columns)]
        return scratch.query(f"SELECT {', '.join(cells)} FROM {TABLE} ORDER BY {TABLE}.n")
    finally:
        scratch.drop(TABLE)


def _texts(values: list[Any], maps: bool) -> Any:
    texts = np.empty(len(values), dtype=object)
    texts[:] = [cell_text(value, maps) for value in values]
    return texts


def cell_text(value: object, maps: bool = False) -> str | None:
    """What DuckDB casts to the value again; maps: what dicts are, structs otherwise."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case dt.timedelta():
            return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
        case bytes():
            return "".join(f"\\x{byte:02X}" for byte in value)
        case list() | tuple():
            return f"[{', '.join(_inner(one, maps) for one in value)}]"
        case dict():
            colon = "=" if maps else ": "
            return f"{{{', '.join(f'{_inner(key, maps)}{colon}{_inner(one, maps)}' for key, one in value.items())}}}"
        case _:
            return str(value)


def _inner(value: object, maps: bool) -> str:
    """Within a list or a struct text is quoted."""
    if value is None:
        return "NULL"
    text = str(cell_text(value, maps))
    if isinstance(value, list | tuple | dict):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
