"""Small worlds: the metadata that tests describe their data with, in one line each.

    people({"k": keys("a", "b"), "x": bounded("real", 0, 10)}, rows_per_unit=2)     one table t, its unit in column u
    dataset({"visits": private(…), "items": private(…, unit=through("visits", id="id")), "prices": public(…)})

    asking("COUNT(*) FROM t", epsilon=1)        a query with OPTIONS

Ledgers in memory are shared by name within a process: each dataset gets a name that no other has, `again` gives one another.
Worlds with data: clinic (patients, visits, items), towns (files and a ledger), mixed (every type, and all that goes wrong).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from dpsql.metadata.tables import TABLE_FIELDS

ROOMY = {"epsilon": 1_000_000_000, "delta": 0.5}
ASKED = {"epsilon": 1, "delta": 1e-6}

_NAMES = itertools.count(1)


def keys(*values: object) -> dict[str, Any]:
    """A text column with public group keys."""
    return {"type": "text", "keys": list(values)}


def bounded(type_: str, lower: object, upper: object, **more: object) -> dict[str, Any]:
    return {"type": type_, "lower": lower, "upper": upper, **more}


def through(table: str, **on: str) -> dict[str, Any]:
    """The unit of rows that belong to another table's: column = that table's column."""
    return {"through": table, "on": on}


def private(columns: Mapping[str, object], *, unit: object = "u", **more: object) -> dict[str, Any]:
    """A private table. The column of its unit is a whole number where columns do not say otherwise; unit=None: rows are."""
    if unit is None:
        return {"row_is_unit": True, **more, "columns": dict(columns)}
    first = {unit: "integer"} if isinstance(unit, str) and unit not in columns else {}
    return {"unit": unit, **more, "columns": {**first, **columns}}


def public(columns: Mapping[str, object], **more: object) -> dict[str, Any]:
    return {"public": True, **more, "columns": dict(columns)}


def dataset(tables: Mapping[str, object], **more: object) -> dict[str, Any]:
    return {"dataset": f"world {next(_NAMES)}", "unit": "person", "budget": ROOMY, **more, "tables": dict(tables)}


def people(columns: Mapping[str, object], *, unit: object = "u", **more: Any) -> dict[str, Any]:
    """A dataset of one private table, t. more: limits and whatever else tables have; budget and what else datasets have."""
    of_table = {name: value for name, value in more.items() if name in TABLE_FIELDS}
    of_dataset = {name: value for name, value in more.items() if name not in TABLE_FIELDS}
    return dataset({"t": private(columns, unit=unit, **of_table)}, **of_dataset)


def again(catalog: Mapping[str, Any], **changes: object) -> dict[str, Any]:
    """The same world with a ledger of its own, and changes."""
    return {**catalog, "dataset": f"world {next(_NAMES)}", **changes}


def asking(select: str, **options: object) -> str:
    """What is selected, with OPTIONS of Python's values."""
    listed = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({listed}) {select}"
