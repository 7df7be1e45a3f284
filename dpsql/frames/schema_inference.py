"""From PrivateFrame's keywords to the catalog a YAML file would have given. The catalog's loader judges all of it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.engine.frame_schema import frame_columns
from dpsql.errors import InterfaceError
from dpsql.metadata.budget import DELTA_OF_A_NUMBER

TABLE = "df"
_TYPES = {
    "BOOLEAN": "boolean",
    "FLOAT": "real",
    "DOUBLE": "real",
    "DATE": "date",
    "VARCHAR": "text",
    **{f"{sign}{size}INT": "integer" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")},
    "INTEGER": "integer",
    "UINTEGER": "integer",
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"), "timestamp"
    ),
}
Bounds = Mapping[str, Sequence[object]]
Keys = Mapping[str, Sequence[object]]


def described(
    data: object,
    *,
    unit: str | None,
    row_is_unit: bool,
    bounds: Bounds,
    keys: Keys,
    types: Mapping[str, str],
    not_null: Sequence[str],
    **limits: int | None,
) -> dict[str, Any]:
    """The table's description; limits by their names in the catalog. Types come from the frame's schema, or from
    `types`; no cell is looked at."""
    columns: dict[str, dict[str, Any]] = {}
    for position, column in enumerate(frame_columns(data), start=1):
        columns[column.name] = {"type": types.get(column.name) or _type(column.type, position, column.name == unit)}
    if unit is not None and unit not in columns and unit in getattr(getattr(data, "index", None), "names", ()):
        raise InterfaceError(
            f"the unit {unit!r} is the frame's index, which is not a column",
            code=606,
            fix="Pass df.reset_index().",
        )
    _named("bounds", bounds, columns)
    _named("keys", keys, columns)
    _named("types", types, columns)
    _named("not_null", not_null, columns)
    for column_name, pair in bounds.items():
        if isinstance(pair, str) or len(pair) != 2:
            raise InterfaceError(
                f"the bounds of {column_name!r} are not a pair", code=606, fix="Write bounds={'age': (0, 120)}."
            )
        if column_name not in types and columns[column_name]["type"] == "text":  # Python objects: what are the ends?
            columns[column_name]["type"] = _moment(pair) or "text"
        columns[column_name] |= {"lower": pair[0], "upper": pair[1]}
    for column_name, listed in keys.items():
        columns[column_name]["keys"] = list(listed)
    for column_name in not_null:
        columns[column_name]["nullable"] = False
    table: dict[str, Any] = {"columns": columns}
    table |= {} if unit is None else {"unit": unit}
    table |= {"row_is_unit": True} if row_is_unit else {}
    return table | {limit: most for limit, most in limits.items() if most is not None}


def _moment(ends: Sequence[object]) -> str | None:
    """The type of a column whose bounds are moments."""
    if not all(isinstance(end, datetime.date) for end in ends):
        return None
    return "timestamp" if any(isinstance(end, datetime.datetime) for end in ends) else "date"


def budget_of(given: object) -> object:
    """{epsilon, delta}, or a number: ε with the δ cap that connect(budget=) gives it."""
    if given is None:
        raise InterfaceError(
            "the frame has no budget",
            code=606,
            why="It is the most that all queries together may cost, and dpsql cannot guess it.",
            fix="Add budget=5.0, or budget={'epsilon': 5, 'delta': 1e-6}.",
        )
    return given if isinstance(given, Mapping) else {"epsilon": given, "delta": DELTA_OF_A_NUMBER}


def _type(sql: str, position: int, is_unit: bool) -> str:
    """A whole number with gaps is a float to pandas: as the unit it is an integer again."""
    if is_unit and sql in ("FLOAT", "DOUBLE"):
        return "integer"
    if sql in _TYPES:
        return _TYPES[sql]
    if sql.startswith("DECIMAL("):
        return "decimal" + sql.removeprefix("DECIMAL").replace(",", ", ")
    raise InterfaceError(
        f"column {position} of the frame has a type dpsql does not know",
        code=606,
        fix="Name it with types={'column': 'text'}, or leave out the column.",
    )


def _named(keyword: str, given: Mapping[str, Any] | Sequence[str], columns: Mapping[str, Any]) -> None:
    unknown = [str(column) for column in given if column not in columns]
    if unknown:
        raise InterfaceError(
            f"{keyword} names {unknown[0]!r}, which is not a column of the frame",
            code=606,
            fix=f"The columns are: {', '.join(list(columns)[:20])}.",
        )
