"""The data without a unit, against worlds small enough to say by hand which rows go."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql import testing
from dpsql.engine.hardening import Limits
from dpsql.engine.public import PublicReader
from dpsql.engine.reader import relation
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Files
from dpsql.testing.copies import shuffled
from dpsql.testing.csv_copies import fields
from tests.worlds import dataset, private, public

pytestmark = pytest.mark.slow

CAPS = {"max_groups": 1, "max_rows": 1}


def catalog(tables: dict[str, Any]) -> dict[str, Any]:
    described = {name: said if "public" in said else {**CAPS, **said} for name, said in tables.items()}
    for table in described.values():
        if table.get("row_is_unit"):
            table.pop("max_groups"), table.pop("max_rows")
    return dataset(described, budget={"epsilon": 1, "delta": 0})


def path(through: str, **on: str) -> dict[str, Any]:
    return {"through": through, "on": on}


HOPS = catalog(
    {
        "people": private({"cid": "integer", "n": "text"}, unit="pid"),
        "visits": private({"c": "integer", "vid": "integer", "n": "text"}, unit=path("people", c="cid")),
        "items": private({"vid": "integer", "iid": "integer", "n": "text"}, unit=path("visits", vid="vid")),
        "parts": private({"iid": "integer", "v": "integer", "n": "text"}, unit=path("items", iid="iid", v="vid")),
        "prices": public({"iid": "integer"}),
    }
)
ROWS: dict[str, list[tuple[Any, ...]]] = {
    # 1 owns clinic 10 alone, 1 and 2 own 11 together, 2 owns 12; nobody owns 13; one row has no unit
    "people": [(1, 10, "a"), (1, 11, "b"), (2, 11, "c"), (2, 12, "d"), (None, 13, "e"), (1, None, "f"), (1, 10, "g")],
    "visits": [(10, 100, "a"), (11, 101, "b"), (12, 102, "c"), (13, 103, "d"), (None, 104, "e"), (99, 105, "f")]
    + [(12, 100, "g"), (10, 106, "h")],  # the visit 100 is one of 1's and one of 2's
    "items": [(100, 1, "a"), (101, 2, "b"), (106, 3, "c"), (102, 4, "d"), (None, 5, "e"), (103, 6, "f")],
    "parts": [(1, 100, "a"), (3, 106, "b"), (3, 100, "c"), (None, 106, "d"), (4, 102, "e")],
    "prices": [(1,), (2,)],
}
NAMES = {
    "people": ("pid", "cid", "n"),
    "visits": ("c", "vid", "n"),
    "items": ("vid", "iid", "n"),
    "parts": ("iid", "v", "n"),
    "prices": ("iid",),
}
WITHOUT = {
    1: {"people": "cde", "visits": "bcdefg", "items": "abdef", "parts": "acde"},
    2: {"people": "abefg", "visits": "abdefh", "items": "abcef", "parts": "abcd"},
    7: {"people": "abcdefg", "visits": "abcdefgh", "items": "abcdef", "parts": "abcde"},
}
ORPHANS = {1: "cde", 2: "abefg", 7: "abcdefg"}  # the rows of people that stay: all others do


def arrow(table: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    types = {"n": pa.string()}
    columns = zip(NAMES[table], zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(cells), types.get(name, pa.int64())) for name, cells in columns})


def as_parquet(folder: Path) -> Any:
    for name, rows in ROWS.items():
        pq.write_table(arrow(name, rows), folder / f"{name}.parquet")
    return {name: str(folder / f"{name}.parquet") for name in ROWS}


def as_database(folder: Path) -> Any:
    with duckdb.connect(str(folder / "w.duckdb")) as made:
        for name, rows in ROWS.items():
            made.register("given", arrow(name, rows))
            made.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            made.unregister("given")
    return str(folder / "w.duckdb")


def as_csv(folder: Path) -> Any:
    for name, rows in ROWS.items():
        lines = [",".join(NAMES[name]), *(",".join("" if c is None else str(c) for c in row) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.csv" for name in ROWS}


FORMS: dict[str, Callable[[Path], Any]] = {
    "arrow": lambda folder: {name: arrow(name, rows) for name, rows in ROWS.items()},
    "pandas": lambda folder: {n: arrow(n, rows).to_pandas(integer_object_nulls=True) for n, rows in ROWS.items()},
    "pandas of reals": lambda folder: {n: arrow(n, rows).to_pandas() for n, rows in ROWS.items()},
    "pandas of Int64": lambda folder: {n: arrow(n, rows).to_pandas().convert_dtypes() for n, rows in ROWS.items()},
    "pandas of arrow": lambda folder: {
        n: arrow(n, rows).to_pandas(types_mapper=pd.ArrowDtype) for n, rows in ROWS.items()
    },
    "polars": lambda folder: {n: pl.DataFrame(arrow(n, rows)) for n, rows in ROWS.items()},
    "lazy polars": lambda folder: {n: pl.DataFrame(arrow(n, rows)).lazy() for n, rows in ROWS.items()},
    "mapping": lambda folder: {n: arrow(n, rows).to_pydict() for n, rows in ROWS.items()},
    "parquet": as_parquet,
    "duckdb": as_database,
    "csv": as_csv,
}


def told(catalog: dict[str, Any], source: object, tables: dict[str, str]) -> dict[str, str]:
    """The column n of each table's raw rows, without a word from the engine's rules about units."""
    letters: dict[str, str] = {}
    copies = testing.Copies.read(catalog, source)
    for name in tables:
        letters[name] = "".join(str(cell) for cell in copies.copies[name].cells("n"))
    return letters


@pytest.mark.parametrize("unit", WITHOUT)
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_only_the_unit_reaches_are_gone(tmp_path: Path, form: str, unit: int) -> None:
    source = FORMS[form](tmp_path)
    rest = testing.neighbour(HOPS, source, unit)
    assert told(HOPS, rest, WITHOUT[unit]) == WITHOUT[unit]
    with_orphans = testing.neighbour(HOPS, source, unit, orphans=True)
    assert told(HOPS, with_orphans, WITHOUT[unit]) == {**WITHOUT[7], "people": ORPHANS[unit]}
    (tmp_path / "rest").mkdir()
    written = testing.neighbour_files(HOPS, source, unit, tmp_path / "rest")
    assert told(HOPS, written, WITHOUT[unit]) == WITHOUT[unit]
    kinds = {"parquet": "t.parquet", "csv": "t.csv", "duckdb": "w.duckdb"}
    assert sorted({p.suffix for p in (tmp_path / "rest").iterdir()}) == (
        [Path(kinds[form]).suffix] if form in kinds else []
    )
    for copies in (rest, with_orphans, written):
        with testing.exact(HOPS, source=copies) as connection:
            connection.execute("SET max_rows_per_group = 99")
            ((count,),) = connection.execute("SELECT COUNT(*) FROM people").fetchall()
            assert count == len(WITHOUT[unit]["people"]) - 1  # one row has no unit


def test_the_source_of_the_catalogue_is_read(tmp_path: Path) -> None:
    """With its format: a CSV of semicolons, without a header, in two files, one of them packed."""
    (tmp_path / "v1.csv").write_bytes("1;a;x\n2;b;'y;\n1;'c;';z\r\n;d;q\n1;only two\n\n\xff;e;q\n".encode("latin-1"))
    with gzip.open(tmp_path / "v2.csv.gz", "wb") as packed:
        packed.write(b"1;f;x\n3;'';x\n")
    said = {"delimiter": ";", "quote": "'", "header": False}
    columns = {"pid": "integer", "n": "text", "m": "text"}
    for file, whole, rest in (("v1.csv", "ac;d", "d"), ("v2.csv.gz", "f", "")):
        described = catalog({"t": private(columns, unit="pid", source=str(tmp_path / file), format=said)})
        assert told(described, None, {"t": ""}) == {"t": whole}
        assert told(described, testing.neighbour(described, None, 1), {"t": ""}) == {"t": rest}
        out = tmp_path / f"out of {file}"
        out.mkdir()
        written = testing.neighbour_files(described, None, 1, out)
        assert told(described, written, {"t": ""}) == {"t": rest}
        with testing.exact(described, source=written) as connection:
            assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(1 if "gz" in file else 0,)]


LINES = ["a,b", '"a,b",c', '"a""b",""', '""', '"a', 'a"b,c"', ",", '"a"x,b', "é,\u2028", '"",""""']


@pytest.mark.parametrize("marks", [(",", '"', '"'), (",", '"', "\\"), (";", "'", "'"), (",", "", "")])
def test_lines_are_cut_as_the_engine_cuts_them(tmp_path: Path, marks: tuple[str, str, str]) -> None:
    """Two programs, one rule: the judge's fields and the reader's."""
    delimiter, quote, escape = marks
    lines = [line.replace(",", delimiter).replace('"', quote or "'") for line in LINES]
    lines += ["a\\" + (quote or "x") + f"b{delimiter}c", f"\\\\{delimiter}\\x", f"{quote}\\\\{quote}{delimiter}a\\"]
    (tmp_path / "t.csv").write_text("pid" + "".join(f"\n{line}" for line in lines), newline="")
    for count in (1, 2):
        source = Files(
            paths=(tmp_path / "t.csv",), kind="csv", delimiter=delimiter, quote=quote, escape=escape, header=False,
            names=("a", "b")[:count],
        )  # fmt: skip
        with PublicReader({"t": source}, Limits()) as reader, Scratch() as scratch:
            scratch.load_stream("t", reader.stream(f"SELECT * FROM {relation('t')}"))
            theirs = scratch.query("FROM t").fetchall()
        ours = [tuple(cells) for line in ["pid", *lines] if (cells := fields(line, source)) and len(cells) == count]
        assert ours == theirs


def test_a_row_as_unit_is_its_number(tmp_path: Path) -> None:
    described = catalog({"t": private({"n": "text"}, unit=None)})
    source = {"t": pa.table({"n": list("abcd")})}
    assert told(described, testing.neighbour(described, source, 1), {"t": ""}) == {"t": "acd"}
    copies = testing.Copies.read(described, source)
    assert list(copies.everything(last=1)["t"]) == [0, 2, 3, 1]
    assert copies.units() == [0, 1, 2, 3]


BIG = 2**53
CONVERTED: list[tuple[Any, str, Any]] = [  # cells, the type of units, the units or None
    (pa.array([1, None, -5, 2**63 - 1]), "integer", [1, None, -5, 2**63 - 1]),
    (pa.array([1, 2**63, 2**64 - 1], pa.uint64()), "integer", [1, None, None]),
    (pa.array([1.0, 1.5, -0.0, float("nan"), float("inf"), BIG - 1.0, float(BIG)]), "integer",
     [1, None, 0, None, None, BIG - 1, None]),
    (pa.array(["1", "01", " 1", "+1", "1.0", "-0", "-7", "x", "", "9223372036854775808", "1e3"]), "integer",
     [1, None, None, None, None, None, -7, None, None, None, None]),
    (pa.array([Decimal("1.00"), Decimal("2.50")], pa.decimal128(9, 2)), "integer", [None, None]),
    (pa.array([Decimal("1"), Decimal("-2")], pa.decimal128(9, 0)), "integer", [1, -2]),
    (pa.array([True, False]), "integer", [None, None]),
    (pa.array(["a", "A", "", None, "a\x00b", " a"]), "text", ["a", "A", "", None, "a\x00b", " a"]),
    (pa.array([1, -5]), "text", ["1", "-5"]),
    (pa.array([True, None]), "text", ["true", None]),
    (pa.array([Decimal("15")], pa.decimal128(9, 0)), "text", ["15"]),
    (np.array([1, "1", 1.0, True, None, float("nan"), "x"], dtype=object), "integer", [1, 1, None, None, None, None, None]),
    (np.array([1, "1", 1.5, True, None], dtype=object), "text", ["1", "1", "1.5", "true", None]),
    (pd.Series(["a", "b", None]).astype("category"), "text", ["a", "b", None]),
    (pd.Series([1.0, float("nan")]), "integer", [1, None]),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "type_", "units"), CONVERTED)
def test_units_are_what_the_catalogue_makes_of_cells(cells: Any, type_: str, units: list[Any]) -> None:
    """By hand, and as the engine counts them: without a unit there is no row of it."""
    described = catalog({"t": private({"u": type_, "n": "integer"})})
    frame: Any = {"u": cells, "n": list(range(len(cells)))}
    if isinstance(cells, pd.Series):
        frame = pd.DataFrame(frame)
    elif isinstance(cells, pa.Array):
        frame = pa.table(frame)
    copies = testing.Copies.read(described, {"t": frame})
    assert [next(iter(row), None) for row in copies.reach["t"]] == units
    for unit in {None: None, **dict.fromkeys(units)}:
        rest = {"t": frame} if unit is None else copies.without(unit)
        left = [one for one in units if one is not None and one != unit]
        with testing.exact(described, source=rest) as connection:
            connection.execute("SET max_rows_per_group = 99")
            rows = connection.execute("SELECT COUNT(*), COUNT(DISTINCT u) FROM t").fetchall()
            assert rows == [(len(left), len(set(left)))]


TIES: list[tuple[str, Any, Any]] = [  # a path column's type, the cells on the path's two sides: all are equal
    ("integer", pa.array([7]), pa.array(["7"])),
    ("integer", pa.array(["7"]), pa.array([" 7.4 "])),
    ("integer", pa.array([2.5]), pa.array(["1.5"])),
    ("integer", pa.array([Decimal("2.50")], pa.decimal128(9, 2)), pa.array([3])),
    ("integer", pa.array([True]), pa.array([1])),
    ("real", pa.array([0.0]), pa.array([-0.0])),
    ("real", pa.array([float("inf")]), pa.array([float("inf")])),
    ("decimal(9, 2)", pa.array([1.5]), pa.array(["1.5"])),
    ("decimal(9, 2)", pa.array([1.005]), pa.array(["1.00"])),
    ("text", pa.array([1]), pa.array(["1"])),
    ("text", pa.array([10957], pa.int32()).cast(pa.date32()), pa.array(["2000-01-01"])),
    ("boolean", pa.array([True]), pa.array([True])),
    ("date", pa.array([10957], pa.int32()).cast(pa.date32()), pa.array(["2000-01-01"])),
    ("date", pa.array([10957 * 86_400_000_000 + 5]).cast(pa.timestamp("us")), pa.array(["2000-01-01"])),
    ("date", pa.array([4_000_000], pa.int32()).cast(pa.date32()), pa.array(["9999-12-31"])),
    (
        "timestamp",
        pa.array([10957 * 86_400_000_000 + 5]).cast(pa.timestamp("us")),
        pa.array(["2000-01-01 00:00:00.000005"]),
    ),
]
APART: list[tuple[str, Any, Any]] = [
    ("integer", pa.array(["x"]), pa.array(["x"])),
    ("integer", pa.array([2**63], pa.uint64()), pa.array([2**63], pa.uint64())),
    ("real", pa.array([float("nan")]), pa.array([float("nan")])),
    ("text", pa.array(["a"]), pa.array(["A"])),
    ("text", pa.array(["a"]), pa.array(["a "])),
    ("decimal(3, 2)", pa.array([10.0]), pa.array([10.0])),
    ("date", pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), pa.array([2**31 - 1], pa.int32()).cast(pa.date32())),
    ("date", pa.array(["never"]), pa.array(["never"])),
    ("date", pa.array(["2000-02-30"]), pa.array(["2000-02-30"])),
]


@pytest.mark.parametrize(
    ("type_", "here", "there", "equal"), [*((*t, True) for t in TIES), *((*a, False) for a in APART)]
)
def test_path_columns_are_compared_as_declared(type_: str, here: Any, there: Any, equal: bool) -> None:
    """The judge finds a row's unit where the engine does."""
    described = catalog(
        {
            "p": private({"k": type_}),
            "t": private({"k": type_}, unit=path("p", k="k")),
        }
    )
    source = {"p": pa.table({"u": [5], "k": there}), "t": pa.table({"k": here})}
    copies = testing.Copies.read(described, source)
    assert copies.reach["t"] == [frozenset([5] if equal else [])]
    with testing.exact(described, source=source) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(int(equal),)]


@pytest.mark.parametrize("text", ["0x1F", "1_000", "1e-1"])
def test_texts_that_only_the_engine_understands_are_an_error(text: str) -> None:
    described = catalog(
        {"p": private({"k": "integer"}),
         "t": private({"k": "integer"}, unit=path("p", k="k"))}
    )  # fmt: skip
    source = {"p": pa.table({"u": [5], "k": [1]}), "t": pa.table({"k": [text]})}
    with pytest.raises(dpsql.InterfaceError, match="the judge does not know"):
        testing.neighbour(described, source, 5)


def test_another_order() -> None:
    for count in range(30):
        for seed in range(4):
            assert sorted(shuffled(count, seed)) == list(range(count))
    assert shuffled(9, 1) != list(range(9))
