"""Worlds of several tables: people and their visits (two private tables with one unit), items and parts that find their
unit through one and two foreign keys, a public table with repeated, missing and NULL keys, and a table of the user's.

Dirty: one key that belongs to two units, NULL keys, keys without a parent, rows that are equal in every column, tables
without rows, units that appear in one table only. Clean: the same, but a key belongs to one unit alone, every table has a
column that tells its rows apart, and numbers are multiples of 1/4, so that sums do not depend on their order.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tests.properties.generator.worlds import DATES, DECIMALS, INTEGERS, REALS, TEXTS, ColumnKind, Rows

NO_ROWS = 0.08
# beyond bounds and unusual, but such that sums do not depend on their order
ODD: dict[str, list[Any]] = {
    "I": [50, -50],
    "X": [float("nan"), -0.0, 50.0],
    "M": [Decimal("7.25"), Decimal("-1.50")],
    "D": [0, 30_000, 2**31 - 1],
    "T": ["", " ", "é", "a\x00b", "A"],
    "B": [],
}
KEYED = ("k", "g", "mark")  # declared keys have no NULL


def _kind(name: str, letter: str, common: list[Any], hostile: list[Any], **declared: Any) -> ColumnKind:
    arrow = {"I": pa.int64(), "M": pa.decimal128(9, 2), "X": pa.float64(), "D": pa.date32(), "T": pa.string()}
    arrow |= {"B": pa.bool_()}
    return ColumnKind(
        name=name,
        letter=letter,
        arrow=arrow[letter],
        declared=lambda draw: dict(declared),
        common=common,
        hostile=hostile,
        groupable=letter != "X",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """unit: it has the unit's column u. keys: its key columns (integers). number: the column that tells its rows apart."""

    name: str
    unit: bool = False
    keys: tuple[str, ...] = ()
    path: tuple[str, tuple[str, ...]] | None = None  # through, on columns of the same name
    public: bool = False
    number: str
    columns: tuple[ColumnKind, ...]


DAYS = [18262, 18263, 18264, 18300, 18340]
SIDES, KINDS, CODES = ["a", "b"], ["x", "y", "z"], ["r", "s", "t"]
TABLES = (
    Table(
        name="p",
        unit=True,
        number="pn",
        columns=(
            _kind("g", "T", SIDES, TEXTS, type="text", keys=SIDES),
            _kind("a", "I", [0, 1, 5, 9], INTEGERS, type="integer", lower=0, upper=9),
            _kind("y", "X", [0.0, 1.25, 100.0], REALS, type="real"),
            _kind("city", "T", ["Bern", "Basel", "x"], TEXTS, type="text"),
        ),
    ),
    Table(
        name="v",
        unit=True,
        keys=("id",),
        number="vn",
        columns=(
            _kind("k", "T", KINDS, TEXTS, type="text", keys=KINDS),
            _kind("x", "X", [0.0, 1.0, 2.5, -1.25, 4.0], REALS, type="real", lower=-3, upper=7),
            _kind("j", "I", [1, 2, 3, 4, 5], INTEGERS, type="integer", lower=1, upper=4),
            _kind("m", "M", [Decimal("1.00"), Decimal("2.50")], DECIMALS, type="decimal(9, 2)", lower=0, upper=5),
            _kind("d", "D", DAYS, DATES, type="date", lower="2020-01-01", upper="2020-03-31", nullable=False),
            _kind("n", "T", ["a", "b", "x"], TEXTS, type="text"),
            _kind("i", "I", [0, 1, 2, 3], INTEGERS, type="integer"),
            _kind("f", "B", [True, False], [], type="boolean"),
        ),
    ),
    Table(
        name="t",
        keys=("id", "line"),
        path=("v", ("id",)),
        number="tn",
        columns=(
            _kind("code", "T", CODES, TEXTS, type="text"),
            _kind("q", "I", [0, 1, 2, 9], INTEGERS, type="integer", lower=0, upper=9, nullable=False),
            _kind("z", "X", [0.5, 1.5, -2.0], REALS, type="real", lower=-9, upper=-1),
        ),
    ),
    Table(
        name="w",
        keys=("id", "line"),
        path=("t", ("id", "line")),
        number="wn",
        columns=(
            _kind("mark", "T", ["l", "o"], TEXTS, type="text", keys=["l", "o"]),
            _kind("h", "I", [0, 1, 2, 3], INTEGERS, type="integer", lower=0, upper=3),
        ),
    ),
    Table(
        name="b",
        public=True,
        number="bn",
        columns=(
            _kind("k", "T", ["x", "x", "y", "q"], [], type="text"),
            _kind("code", "T", ["r", "r", "s", "u"], [], type="text"),
            _kind("r", "I", [0, 1, 2, 3, 3], [], type="integer", lower=0, upper=9),
            _kind("lab", "T", ["one", "two"], [], type="text"),
        ),
    ),
)
BY_TABLE = {table.name: table for table in TABLES}
MINE = Table(
    name="mine",
    public=True,
    number="mn",
    columns=(_kind("mk", "T", ["x", "y", "y"], [], type="text"), _kind("mr", "I", [1, 2, 2, 4], [], type="integer")),
)
ARROW = {c.name: c.arrow for table in (*TABLES, MINE) for c in table.columns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """A catalog over several tables, their rows, and the form they come in. mine: the rows of the user's table."""

    catalog: dict[str, Any]
    rows: dict[str, Rows]
    mine: Rows
    form: str

    def units(self) -> list[Any]:
        return list(dict.fromkeys(u for name in ("p", "v") for u in self.rows[name]["u"] if u is not None))

    def without(self, unit: Any) -> dict[str, Rows]:
        """The rows without all that is the unit's alone: rows of a path that reach another unit too stay."""
        remaining = dict(self.rows)
        for name in ("p", "v"):
            remaining[name] = _kept(self.rows[name], [u != unit for u in self.rows[name]["u"]])
        for name in ("t", "w"):
            through, on = BY_TABLE[name].path or ("", ())
            gone = _keys(self.rows[through], on) - _keys(remaining[through], on)
            remaining[name] = _kept(self.rows[name], [key not in gone for key in _tuples(self.rows[name], on)])
        return remaining


def _tuples(rows: Rows, on: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*(rows[c] for c in on), strict=True))


def _keys(rows: Rows, on: tuple[str, ...]) -> set[tuple[Any, ...]]:
    return {key for key in _tuples(rows, on) if None not in key}


def _kept(rows: Rows, keeps: list[bool]) -> Rows:
    return {name: [cell for cell, keep in zip(cells, keeps, strict=True) if keep] for name, cells in rows.items()}


def tables(draw: random.Random, *, clean: bool = False, caps: tuple[int, ...] = (1, 1, 2, 3)) -> Tables:
    hostile = draw.choice((0.0, 0.05)) if clean else draw.choice((0.0, 0.05, 0.2))
    pool: list[Any] = [1, 2, 3, 7, -1, 0, 2**63 - 1]
    if draw.random() < 0.3:
        pool = ["ann", "Ann", "", "é", "b\x00", "1", "e\u0301"]
    names = draw.sample(pool, draw.choice((5, 6, 7)))
    rows = {
        "p": _people(draw, names[:-1], clean, hostile),
        "v": _visits(draw, names[1:], clean, hostile),
        "b": _public(draw),
    }
    rows["t"] = _children(draw, BY_TABLE["t"], rows["v"], clean, hostile)
    rows["w"] = _children(draw, BY_TABLE["w"], rows["t"], clean, hostile)
    return Tables(
        catalog=_catalog(draw, isinstance(pool[0], str), caps),
        rows=rows,
        mine=_cells(draw, MINE, 3, 0.0),
        form=draw.choice(("arrow", "arrow", "arrow", "parquet", "duckdb")),
    )


def _catalog(draw: random.Random, texts: bool, caps: tuple[int, ...]) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for table in TABLES:
        columns: dict[str, Any] = {"u": "text" if texts else "integer"} if table.unit else {}
        columns |= dict.fromkeys((*table.keys, table.number), "integer")
        columns |= {c.name: c.declared(draw) for c in table.columns}
        line: dict[str, Any] = {"columns": columns}
        if table.public:
            line["public"] = True
        else:
            line |= {"unit": "u", "max_groups": draw.choice(caps), "max_rows": draw.choice(caps)}
        if table.path is not None:
            line["unit"] = {"through": table.path[0], "on": {c: c for c in table.path[1]}}
        described[table.name] = line
    return {
        "dataset": "tables",
        "unit": "person",
        "budget": {"epsilon": 1_000_000, "delta": 0.5},
        "per_query": {"epsilon": 1, "delta": 1e-6},
        "tables": described,
    }


def _people(draw: random.Random, names: list[Any], clean: bool, hostile: float) -> Rows:
    units = [name for name in names for _ in range(draw.choice((1, 1, 1, 2)))]
    return {"u": _some_units(draw, units), **_cells(draw, BY_TABLE["p"], len(units), hostile, clean)}


def _some_units(draw: random.Random, units: list[Any]) -> list[Any]:
    """Now and then a row without a unit; now and then a table without rows."""
    return [None if draw.random() < 0.05 else unit for unit in units]


def _visits(draw: random.Random, names: list[Any], clean: bool, hostile: float) -> Rows:
    units = [n for at, n in enumerate(names) for _ in range(draw.randrange(4, 9) if at == 0 else draw.randrange(5))]
    if draw.random() < NO_ROWS:
        units = []
    draw.shuffle(units)
    columns = {"u": _some_units(draw, units), "id": _numbers(draw, len(units), clean)}
    return _with_twins(draw, columns | _cells(draw, BY_TABLE["v"], len(units), hostile, clean), clean)


def _numbers(draw: random.Random, count: int, clean: bool) -> list[Any]:
    """Keys: different ones; else few, so that some belong to several rows and units, and some are NULL."""
    if clean:
        return draw.sample(range(100, 100 + count), count)
    different = draw.choice((2, 1 + count // 3, 2 + 3 * count // 4))
    return [None if draw.random() < 0.1 else 100 + draw.randrange(different) for _ in range(count)]


def _with_twins(draw: random.Random, rows: Rows, clean: bool) -> Rows:
    if clean or draw.random() < 0.5:
        return rows
    count = len(rows["u"])
    again = [n for n in range(count) if draw.random() < 0.2]
    return {name: [*cells, *(cells[n] for n in again)] for name, cells in rows.items()}


def _children(draw: random.Random, table: Table, parents: Rows, clean: bool, hostile: float) -> Rows:
    """Rows by foreign keys: of parents that are there, NULL, and of none."""
    assert table.path is not None
    on = table.path[1]
    there = list(zip(*(parents[c] for c in on), strict=True))
    count = 0 if draw.random() < NO_ROWS else draw.randrange(3, 13)
    columns: Rows = {c: [] for c in table.keys}
    used: set[tuple[Any, ...]] = set()
    for _ in range(count):
        chance = draw.random()
        key = draw.choice(there) if there and chance < 0.85 else (None if chance < 0.92 else 999,) * len(on)
        row = dict(zip(on, key, strict=True))
        row |= {c: draw.randrange(1, 4) for c in table.keys if c not in row}
        if clean and table.name == "t" and tuple(row.values()) in used:
            continue
        used.add(tuple(row.values()))
        for c in table.keys:
            columns[c].append(row[c])
    return columns | _cells(draw, table, len(columns[table.keys[0]]), hostile, clean)


def _public(draw: random.Random) -> Rows:
    rows = _cells(draw, BY_TABLE["b"], 0 if draw.random() < NO_ROWS / 2 else draw.randrange(3, 8), 0.0)
    return {name: [None if name != "bn" and draw.random() < 0.1 else c for c in cells] for name, cells in rows.items()}


def _cells(draw: random.Random, table: Table, count: int, hostile: float, clean: bool = True) -> Rows:
    columns: Rows = {table.number: list(range(count)) if clean else [draw.randrange(3) for _ in range(count)]}
    for column in table.columns:
        columns[column.name] = [_cell(draw, column, hostile, clean) for _ in range(count)]
    return columns


def _cell(draw: random.Random, column: ColumnKind, hostile: float, clean: bool) -> Any:
    odd = [] if clean and column.name in KEYED else ODD[column.letter] if clean else list(column.hostile)
    if draw.random() < 0.06 and not (clean and column.name in KEYED):
        return None
    return draw.choice(odd if odd and draw.random() < hostile else list(column.common))


def arrow(rows: Rows, types: Mapping[str, Any] = ARROW) -> pa.Table:
    arrays: dict[str, Any] = {}
    for name, cells in rows.items():
        kind = types.get(name)
        if kind is None:
            kind = pa.string() if any(isinstance(cell, str) for cell in cells) else pa.int64()
        arrays[name] = pa.array(cells, pa.int32()).view(kind) if kind == pa.date32() else pa.array(cells, kind)
    return pa.table(arrays)


def source(rows: dict[str, Rows], form: str, folder: Path, types: Mapping[str, Any] = ARROW) -> dict[str, Any] | str:
    """What connect(source=…) takes."""
    given = {name: arrow(cells, types) for name, cells in rows.items()}
    match form:
        case "parquet":
            for name, table in given.items():
                pq.write_table(table, folder / f"{name}.parquet")
            return {name: str(folder / f"{name}.parquet") for name in given}
        case "duckdb":
            path = folder / "tables.duckdb"
            path.unlink(missing_ok=True)
            with duckdb.connect(str(path)) as connection:
                for name, table in given.items():
                    connection.register("given", table)
                    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            return str(path)
        case _:
            return dict(given)
