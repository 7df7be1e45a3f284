"""Four more tables for worlds in which what is declared is not so: o ← c ← e ← h, by composite keys that repeat.

o has the unit; c finds it by two columns of o, e by two of c, h by one of e. Keys are few, so that most are shared by
units and by rows; some are NULL. Declared are bounds, keys, `unique` and `nullable: false` that the rows do not keep, and
bounds at the ends of what integers can hold.
"""

from __future__ import annotations

import random
from typing import Any

from tests.properties.generator import tables as plain
from tests.properties.generator.tables import Table, Tables, _cell, _kind
from tests.properties.generator.worlds import INTEGERS, REALS, TEXTS, Rows

ENDS = (2**31, 2**53, 2**62, 2**63 - 1)
CODES = ["r", "s"]
GRIM = (
    Table(
        name="o",
        unit=True,
        keys=("k1", "k2"),
        number="onum",
        columns=(
            _kind("fl", "I", [0, 1], INTEGERS, type="integer", lower=0, upper=1, nullable=False),
            _kind("re", "X", [0.0, 1.0, -0.0, 4.0], REALS, type="real"),
            _kind("sr", "X", [0.0, -0.0, 2.5, -1.0], REALS, type="real", lower=-3, upper=7),
            _kind("big", "I", [0, 1, -1, *ENDS], [-(2**63), *INTEGERS], type="integer"),
            _kind("oc", "T", CODES, TEXTS, type="text", keys=CODES),
            _kind("un", "I", [0, 1, 2], INTEGERS, type="integer", lower=0, upper=3, unique=True),
        ),
    ),
    Table(
        name="c",
        keys=("k1", "k2", "q"),
        path=("o", ("k1", "k2")),
        number="cnum",
        columns=(
            _kind("ca", "I", [0, 1, 5], INTEGERS, type="integer", lower=0, upper=9, nullable=False),
            _kind("cz", "X", [0.5, -0.0, 0.0], REALS, type="real"),
        ),
    ),
    Table(
        name="e",
        keys=("k1", "q", "m"),
        path=("c", ("k1", "q")),
        number="enum",
        columns=(_kind("em", "T", CODES, TEXTS, type="text", keys=CODES),),
    ),
    Table(
        name="h",
        keys=("m",),
        path=("e", ("m",)),
        number="hnum",
        columns=(_kind("hl", "I", [0, 1, 2], INTEGERS, type="integer", lower=0, upper=3),),
    ),
)
BY_GRIM = {table.name: table for table in GRIM}
KEYS = {"k1": (1, 2), "k2": (1, 2), "q": (0, 1), "m": (5, 6, 7)}
TYPES = {**plain.ARROW, **{column.name: column.arrow for table in GRIM for column in table.columns}}


def grim_tables(draw: random.Random, *, caps: tuple[int, ...] = (1, 1, 2, 3)) -> Tables:
    """A dirty world of tables.py with these four beside it; one in two has no cell that is odd by itself."""
    one = plain.tables(draw, caps=caps)
    hostile = draw.choice((0.0, 0.1, 0.3))
    units = one.units() or [1]
    rows = dict(one.rows)
    rows["o"] = _rows(draw, BY_GRIM["o"], draw.randrange(4, 12), hostile)
    rows["o"]["u"] = [None if draw.random() < 0.05 else draw.choice(units) for _ in rows["o"]["k1"]]
    for name in ("c", "e", "h"):
        rows[name] = _rows(draw, BY_GRIM[name], draw.randrange(2, 9), hostile)
    catalog = {**one.catalog, "tables": dict(one.catalog["tables"])}
    text = catalog["tables"]["p"]["columns"]["u"]
    for table in GRIM:
        catalog["tables"][table.name] = _declared(draw, table, text, caps)
    return Tables(catalog=catalog, rows=rows, mine=one.mine, form=one.form)


def _declared(draw: random.Random, table: Table, text: str, caps: tuple[int, ...]) -> dict[str, Any]:
    columns: dict[str, Any] = {"u": text} if table.unit else {}
    columns |= dict.fromkeys((*table.keys, table.number), "integer")
    columns |= {column.name: column.declared(draw) for column in table.columns}
    if table.name == "o":
        end = draw.choice(ENDS)
        low = draw.choice((-end, 0, end - 10, -(2**63) if end == 2**63 - 1 else -end))
        columns["big"] = {"type": "integer", "lower": low, "upper": end}
    through: Any = "u" if table.path is None else {"through": table.path[0], "on": {c: c for c in table.path[1]}}
    return {"unit": through, "max_groups": draw.choice(caps), "max_rows": draw.choice(caps), "columns": columns}


def _rows(draw: random.Random, table: Table, count: int, hostile: float) -> Rows:
    columns: Rows = {
        key: [None if draw.random() < 0.08 else draw.choice(KEYS[key]) for _ in range(count)] for key in table.keys
    }
    columns[table.number] = [draw.randrange(3) for _ in range(count)]
    for column in table.columns:
        columns[column.name] = [_cell(draw, column, hostile, False) for _ in range(count)]
    again = [at for at in range(count) if draw.random() < 0.2]
    return {name: [*cells, *(cells[at] for at in again)] for name, cells in columns.items()}
