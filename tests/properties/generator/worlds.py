"""Random catalogs with one private table, and hostile rows for it, as Arrow, pandas, Parquet or a .duckdb file."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

INF, NAN = float("inf"), float("nan")
DAY = 86_400_000_000
Rows = dict[str, list[Any]]  # column → cells; dates as days, timestamps as microseconds

BOUNDS = ((-5, 5), (-3, 7), (2, 5), (-9, -1), (0, 0), (0, 240), (0, 1))
REALS = [NAN, INF, -INF, -0.0, 0.0, 1e308, -1e308, 5e-324, 1.7976931348623157e308, 0.1, -2.5, 1e-7, 3.0000000001]
INTEGERS = [2**63 - 1, -(2**63), 0, -1, 2**53 + 1, -(2**31), 10**18]
DATES = [2**31 - 1, -(2**31) + 1, 2932896, -719162, -719163, 0, 18262, 18300, 10_000_000]
TIMES = [2**63 - 1, -(2**63) + 1, 0, 18262 * DAY + 1, 2932897 * DAY - 1, -719162 * DAY, 8_000_000_000_000_000_000]
TEXTS = [
    "",
    " ",
    "a\x00b",
    "\x00",
    "é",
    "e\u0301",
    "A",
    "a%",
    "'",
    '"',
    "NULL",
    "1",
    "-1e400",
    "2020-01-01",
    "\u202e",
    "x" * 300,
]
DECIMALS = [Decimal("9999999.99"), Decimal("-9999999.99"), Decimal("0.01"), Decimal("0.00")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnKind:
    """letter: the kind in expressions. declared: its catalog line (given the draw). arrow: its natural type."""

    name: str
    letter: str
    arrow: Any
    declared: Callable[[random.Random], dict[str, Any]]
    common: Sequence[Any]
    hostile: Sequence[Any]
    groupable: bool = True


def _bounded(type_: str, always: bool = False) -> Callable[[random.Random], dict[str, Any]]:
    def line(draw: random.Random) -> dict[str, Any]:
        declared: dict[str, Any] = {"type": type_}
        if always or draw.random() < 0.75:
            declared["lower"], declared["upper"] = draw.choice(BOUNDS)
        return declared

    return line


def _plain(**line: Any) -> Callable[[random.Random], dict[str, Any]]:
    return lambda draw: dict(line)


def _keyed(draw: random.Random) -> dict[str, Any]:
    keys: list[Any] = draw.choice([["a", "b"], ["a", "b", "c", None], ["b", "é", ""]])
    return {"type": "text", "keys": keys}


COLUMNS = (
    ColumnKind(
        name="f", letter="B", arrow=pa.bool_(), declared=_plain(type="boolean"), common=[True, False], hostile=[]
    ),
    ColumnKind(
        name="i", letter="I", arrow=pa.int64(), declared=_bounded("integer"), common=[0, 1, 2, 3], hostile=INTEGERS
    ),
    ColumnKind(
        name="j",
        letter="I",
        arrow=pa.int64(),
        declared=_plain(type="integer", lower=1, upper=4),
        common=[1, 2, 3, 4, 5],
        hostile=INTEGERS,
    ),
    ColumnKind(
        name="m",
        letter="M",
        arrow=pa.decimal128(9, 2),
        declared=_bounded("decimal(9, 2)"),
        common=[Decimal("1.00"), Decimal("2.50"), Decimal("-0.75")],
        hostile=DECIMALS,
    ),
    ColumnKind(
        name="w",
        letter="M",
        arrow=pa.decimal128(38, 10),
        declared=_bounded("decimal(38, 10)"),
        common=[Decimal("1.5000000000"), Decimal("0.3333333333")],
        hostile=[Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28 + "." + "9" * 10)],
    ),
    ColumnKind(
        name="x",
        letter="X",
        arrow=pa.float64(),
        declared=_bounded("real", always=True),
        common=[0.0, 1.0, 2.5, -1.25, 3.999],
        hostile=REALS,
        groupable=False,
    ),
    ColumnKind(
        name="y",
        letter="X",
        arrow=pa.float64(),
        declared=_plain(type="real"),
        common=[0.0, 1.0, 100.0],
        hostile=REALS,
        groupable=False,
    ),
    ColumnKind(
        name="d",
        letter="D",
        arrow=pa.date32(),
        declared=_plain(type="date", lower="2020-01-01", upper="2020-03-31"),
        common=[18262, 18263, 18300, 18340],
        hostile=DATES,
    ),
    ColumnKind(
        name="e", letter="D", arrow=pa.date32(), declared=_plain(type="date"), common=[18262, 18263, 0], hostile=DATES
    ),
    ColumnKind(
        name="s",
        letter="S",
        arrow=pa.timestamp("us"),
        declared=_plain(type="timestamp"),
        common=[18262 * DAY, 18262 * DAY + 36_000_000_000],
        hostile=TIMES,
    ),
    ColumnKind(name="k", letter="T", arrow=pa.string(), declared=_keyed, common=["a", "b", "c"], hostile=TEXTS),
    ColumnKind(
        name="n",
        letter="T",
        arrow=pa.string(),
        declared=_plain(type="text"),
        common=["a", "b", "abc", "p,q"],
        hostile=TEXTS,
    ),
)
BY_NAME = {column.name: column for column in COLUMNS}
LETTERS: Mapping[str, list[str]] = {
    letter: [c.name for c in COLUMNS if c.letter == letter] for letter in {c.letter for c in COLUMNS}
}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A catalog with the private table t, its rows, and the form they come in."""

    catalog: dict[str, Any]
    rows: Rows
    form: str
    row_is_unit: bool

    @property
    def units(self) -> list[Any]:
        return list(dict.fromkeys(unit for unit in self.rows["u"] if unit is not None))

    def without(self, unit: Any) -> Rows:
        kept = [at for at, one in enumerate(self.rows["u"]) if one != unit]
        return {name: [cells[at] for at in kept] for name, cells in self.rows.items()}


def world(
    draw: random.Random, *, hostile: float = 0.2, caps: tuple[int, ...] = (1, 2, 3, 4), most_rows: int = 7
) -> World:
    text_units, row_is_unit = draw.random() < 0.3, draw.random() < 0.15
    columns: dict[str, Any] = {"u": "text" if text_units else "integer"}
    for column in COLUMNS:
        line = column.declared(draw)
        if draw.random() < 0.25 and None not in line.get("keys", ()):
            line["nullable"] = False
        columns[column.name] = line
    unit: dict[str, Any] = {"row_is_unit": True} if row_is_unit else {"unit": "u"}
    if not row_is_unit:
        unit |= {"max_groups": draw.choice(caps), "max_rows": draw.choice(caps)}
    catalog = {
        "dataset": "world",
        "unit": "person",
        "budget": {"epsilon": 1_000_000, "delta": 0.5},
        "per_query": {"epsilon": 1, "delta": 1e-6},
        "tables": {"t": {**unit, "columns": columns}},
    }
    pool: list[Any] = [1, 2, 3, 7, -1, 0, 10**15, 2**63 - 1, -(2**63), 5, 6, 8]
    if text_units:
        pool = ["ann", "Ann", "bob", "", "é", "a\x00b", "zoe", "o'x", "e\u0301", "\x00", "1", "NULL"]
    names = draw.sample(pool, draw.randrange(8, 13))
    return World(
        catalog=catalog,
        rows=_rows(draw, names, hostile, most_rows),
        form=draw.choice(("arrow", "arrow", "arrow", "pandas", "parquet", "duckdb")),
        row_is_unit=row_is_unit,
    )


def _rows(draw: random.Random, names: list[Any], hostile: float, most_rows: int) -> Rows:
    units: list[Any] = []
    for at, name in enumerate(names):
        units += [name] * (draw.randrange(most_rows, 3 * most_rows) if at == 0 else draw.randrange(most_rows))
    units += [None] * draw.randrange(3)
    draw.shuffle(units)
    rows: Rows = {"u": units}
    for column in COLUMNS:
        rows[column.name] = [_cell(draw, column, hostile) for _ in units]
    return rows


def _cell(draw: random.Random, column: ColumnKind, hostile: float) -> Any:
    chance = draw.random()
    if chance < 0.06 and hostile:
        return None
    if chance < hostile and column.hostile:
        return draw.choice(list(column.hostile))
    return draw.choice(list(column.common))


def arrow(rows: Rows) -> pa.Table:
    arrays: dict[str, Any] = {}
    for name, cells in rows.items():
        column = BY_NAME.get(name)
        if column is None:
            texts = any(isinstance(cell, str) for cell in cells)
            arrays[name] = pa.array(cells, pa.string() if texts else pa.int64())
        elif column.letter == "D":
            arrays[name] = pa.array(cells, pa.int32()).view(pa.date32())
        elif column.letter == "S":
            arrays[name] = pa.array(cells, pa.int64()).view(pa.timestamp("us"))
        else:
            arrays[name] = pa.array(cells, column.arrow)
    return pa.table(arrays)


def source(rows: Rows, form: str, folder: Path) -> Any:
    """What connect(source=…) takes."""
    table = arrow(rows)
    match form:
        case "pandas":
            return {"t": _pandas(table)}
        case "parquet":
            path = folder / "t.parquet"
            path.unlink(missing_ok=True)
            pq.write_table(table, path)
            return {"t": str(path)}
        case "duckdb":
            path = folder / "w.duckdb"
            path.unlink(missing_ok=True)
            connection = duckdb.connect(str(path))
            connection.register("given", table)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
            connection.close()
            return str(path)
        case _:
            return {"t": table}


def _pandas(table: pa.Table) -> Any:
    """A frame as people have them: moments as text where pandas has none so far away, whole numbers as they are."""
    for name in ("d", "e", "s"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, _as_text(table.column(name), name))
    return table.to_pandas(integer_object_nulls=True)


def _as_text(column: Any, name: str) -> Any:
    connection = duckdb.connect()
    connection.register("given", pa.table({"c": column}))
    return connection.sql("SELECT CAST(c AS VARCHAR) AS c FROM given").to_arrow_table().column("c")
