"""How a CSV's cells are written: what the engine makes of them, and the judge, which read them by rules of their own."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql import testing
from dpsql.catalog.model import format_of
from dpsql.errors import CatalogError, InterfaceError
from dpsql.metadata.load import load
from dpsql.testing.cells import value_of
from tests.worlds import bounded, dataset, private

pytestmark = pytest.mark.slow

COLUMNS: dict[str, Any] = {
    "id": "integer",
    "price": bounded("decimal(10, 2)", -90000, 90000),
    "n": bounded("integer", -9_999_999, 9_999_999),
    "r": bounded("real", -1e6, 1e6),
    "ok": "boolean",
}
GERMAN = {"delimiter": ";", "decimal": ",", "thousands": ".", "true_words": ["ja", "Ja", 1], "false_words": "nein"}


def catalog(folder: Path, form: dict[str, Any], **columns: Any) -> dict[str, Any]:
    table = private({**COLUMNS, **columns}, unit=None, source=str(folder / "t.csv"), format=form)  # fmt: skip
    return dataset({"t": table}, unit="row", budget={"epsilon": 1, "delta": 0})


def written(folder: Path, *rows: str, delimiter: str = ";") -> None:
    lines = [delimiter.join(COLUMNS), *rows]
    (folder / "t.csv").write_text("".join(line + "\n" for line in lines), "utf-8")


def read(described: dict[str, Any], columns: str = "price, n, r, ok") -> list[tuple[Any, ...]]:
    """Each row's values: one private row at a time, without noise."""
    rows = []
    with testing.exact(described) as connection:
        count = connection.execute("SELECT COUNT(*) FROM t").fetchall()[0][0]
        for row in range(1, count + 1):
            whole = [f"CASE WHEN COUNT({name}) = 1 THEN {'SUM' if name != 'ok' else 'COUNT_IF'}({name}) END"
                     for name in columns.split(", ")]  # fmt: skip
            rows.append(connection.execute(f"SELECT {', '.join(whole)} FROM t WHERE id = {row}").fetchall()[0])
    return rows


def test_separators_and_words(tmp_path: Path) -> None:
    written(
        tmp_path,
        "1;129,95;1.234;1,5;ja",
        "2;-1.129,95;1234;,5;nein",
        "3; 12 ;-1.234.567;5,;Ja",
        "4;12.34;12.34;1.5;NEIN",  # groups are of three digits
        "5;12,9,5;1,5,;1e;true",
        "6;abc;;-;",
        "7;1.2345,0;1234.567;1e2,5;0",
        "8;+1.000,00;+7;25e-1;1",
    )
    assert read(catalog(tmp_path, GERMAN)) == [
        (Decimal("129.95"), 1234, 1.5, 1),
        (Decimal("-1129.95"), 1234, 0.5, 0),
        (Decimal("12.00"), -1234567, 5.0, 1),
        (None, None, None, None),
        (None, None, None, None),
        (None, None, None, None),
        (None, None, None, None),
        (Decimal("1000.00"), 7, 2.5, 1),
    ]


@pytest.mark.parametrize("thousands", ["'", "_", " ", "\u00a0", "\u202f", "\u2019", ","])
def test_every_separator_of_thousands(tmp_path: Path, thousands: str) -> None:
    written(tmp_path, f"1;1{thousands}129.95;-12{thousands}345;1234;t", delimiter=";")
    form = {"delimiter": ";", "thousands": thousands, "true_words": "t", "false_words": "f"}
    assert read(catalog(tmp_path, form)) == [(Decimal("1129.95"), -12345, 1234.0, 1)]


def test_a_column_has_its_own_format(tmp_path: Path) -> None:
    written(tmp_path, "1;129,95;1,234;1.5;wahr")
    formatted = {
        "n": {**COLUMNS["n"], "format": {"decimal": ".", "thousands": ","}},
        "r": {**COLUMNS["r"], "format": {"decimal": "."}},
        "ok": {"type": "boolean", "format": {"true_words": ["wahr"], "false_words": ["falsch"]}},
    }
    described = catalog(tmp_path, {"delimiter": ";", "decimal": ","}, **formatted)
    assert read(described) == [(Decimal("129.95"), 1234, 1.5, 1)]


def test_without_a_format_all_is_as_before(tmp_path: Path) -> None:
    written(tmp_path, "1;129,95;1.4;1.5e3;true", "2;129.95;2; 7;f")
    assert read(catalog(tmp_path, {"delimiter": ";"})) == [(None, 1, 1500.0, 1), (Decimal("129.95"), 2, 7.0, 0)]


PIECES = [
    "1",
    "12",
    "123",
    "0",
    "999",
    "1234",
    ".",
    ",",
    "'",
    " ",
    "-",
    "+",
    "e",
    "E-3",
    "e2",
    "ja",
    "nein",
    "x",
    "٣",
    "\t",
    "½",
]


@pytest.mark.parametrize("form", [GERMAN, {"delimiter": ";", "thousands": "'"}, {"delimiter": ";", "decimal": ","}])
def test_the_judge_reads_the_same(tmp_path: Path, form: dict[str, Any]) -> None:
    """800 cells of pieces that matter; where the judge says that it does not know, nothing is compared."""
    source = random.Random(20261119)
    cells = list(dict.fromkeys("".join(source.choices(PIECES, k=source.randint(1, 5))) for _ in range(800)))
    written(tmp_path, *(f"{row};{cell};{cell};{cell};{cell}" for row, cell in enumerate(cells, start=1)))
    described = catalog(tmp_path, form)
    table = load(described).tables[0]
    known = {"price": 0, "n": 0, "r": 0}
    values = 0
    keys = {"id": {"type": "integer", "keys": {"from": 1, "to": len(cells)}}}
    keyed = catalog(tmp_path, form, **keys)
    with testing.exact(keyed) as connection:
        for name in known:
            rows = connection.execute(
                f"SELECT id, SUM({name}), COUNT({name}) FROM t GROUP BY id ORDER BY id"
            ).fetchall()
            column = table.column(name)
            assert column is not None and len(rows) == len(cells)
            for cell, (_, total, count) in zip(cells, rows, strict=True):
                try:
                    expected = value_of(cell, column, format_of(table, column))
                except InterfaceError:
                    continue
                known[name] += 1
                values += expected is not None
                assert (count == 1) == (expected is not None), (name, cell)
                if expected is not None:
                    assert float(total) == pytest.approx(float(expected), rel=1e-6, abs=1e-3), (name, cell)
    assert min(known.values()) > 500 and values > 60


VISITS = """dataset: replayed
unit: person
budget: {epsilon: 10, delta: 1e-3}
per_query: {epsilon: 1, delta: 1e-6}
tables:
  visits:
    source: visits.csv
    format: {delimiter: ";", decimal: ",", thousands: ".", true_words: [ja], false_words: [nein]}
    unit: pid
    rows_per_unit: 3
    columns:
      pid: integer
      vid: {type: "decimal(10, 1)", lower: 0, upper: 100000}
      x: {type: real, lower: 0, upper: 100}
      ok: boolean
  items:
    source: items.csv
    unit: {through: visits, on: {v: vid}}
    rows_per_unit: 4
    columns:
      v: {type: "decimal(10, 1)", lower: 0, upper: 100000, format: {decimal: "."}}
      k: {type: text, keys: [a, b]}
"""


def test_replay_follows_paths_through_formats(tmp_path: Path) -> None:
    """1.000,5 here is 1000.5 there, and 1000,5 is the same visit."""
    visits = [
        "1;1.000,5;1,5;ja",
        "1;1000,5;99,9;nein",
        "2;2;1.5;ja",
        "2;2,0;7;Ja",
        "3;1.00,5;3;ja",
        "3;3,5;,5;nein",
        "4;x;;",
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["pid;vid;x;ok", *visits]) + "\n")
    items = ["1000.5,a", "1000.5,b", "2,a", "2.0,b", "100.5,a", "3.5,b", "x,a", "3.5,a"]
    (tmp_path / "items.csv").write_text("\n".join(["v,k", *items]) + "\n")
    (tmp_path / "c.yaml").write_text(VISITS)
    path = str(tmp_path / "c.yaml")
    for sql, units in (
        ("SELECT COUNT(*), SUM(x), COUNT_IF(ok) FROM visits", {1, 2, 3, 4}),
        ("SELECT k, COUNT(*) FROM items GROUP BY k", {1, 2, 3}),
        ("SELECT k, SUM(x), COUNT(*) FROM items JOIN visits ON v = vid GROUP BY k", {1, 2, 3}),
    ):
        lines = testing.replay(path, sql)
        assert {line.unit for line in lines if any(line.changes.values())} == units, (sql, lines)
        assert all(line.holds for line in lines), lines
    neighbour = testing.neighbour(path, None, 1)
    assert [row["k"] for row in neighbour["items"].to_pylist()] == ["a", "b", "a", "b", "a", "a"]


def test_the_judge_would_notice_cells_that_the_engine_reads_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that takes visits of different people for one: their items are then no longer removed with one unit."""
    test_replay_follows_paths_through_formats(tmp_path)
    monkeypatch.setattr("dpsql.plan.dialects.duckdb.reading._plain_number", lambda column, form: "'2'")
    lines = testing.replay(str(tmp_path / "c.yaml"), "SELECT k, COUNT(*) FROM items GROUP BY k")
    assert not all(line.holds for line in lines)


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ({"decimal": ";"}, "decimal cannot be"),
        ({"decimal": ","} | {"thousands": ","}, "the same character"),
        ({"thousands": "."}, "the same character"),
        ({"thousands": "x"}, "thousands cannot be"),
        ({"true_words": ["ja"]}, "given together"),
        ({"true_words": ["ja"], "false_words": ["ja"]}, "given together"),
        ({"true_words": [], "false_words": ["n"]}, "1 to 20 words"),
        ({"true_words": {"a": 1}, "false_words": ["n"]}, "1 to 20 words"),
        ({"decimal_sign": ","}, "no field"),
    ],
)
def test_what_a_format_cannot_be(tmp_path: Path, form: dict[str, Any], what: str) -> None:
    for described in (
        catalog(tmp_path, form),
        catalog(tmp_path, {}, price={**COLUMNS["price"], "format": form}),
    ):
        with pytest.raises(CatalogError, match=what):
            load(described)


def test_only_a_csv_has_a_format(tmp_path: Path) -> None:
    described = catalog(tmp_path, {}, price={**COLUMNS["price"], "format": {"decimal": ","}})
    table = described["tables"]["t"]
    for source in ({"source": "t.parquet"}, {}):
        without = {key: value for key, value in table.items() if key not in ("source", "format")}
        with pytest.raises(CatalogError, match="format describes a column of a CSV"):
            load({**described, "tables": {"t": {**without, **source}}})


def test_formats_are_part_of_what_answers_mean(tmp_path: Path) -> None:
    from dpsql.catalog.fingerprint import fingerprint

    forms = ({}, {"decimal": ","}, {"thousands": "'"}, {"true_words": "j", "false_words": "n"})
    prints = [fingerprint(load(catalog(tmp_path, form))) for form in forms]
    formatted = {"price": {**COLUMNS["price"], "format": {"decimal": ","}}}
    prints.append(fingerprint(load(catalog(tmp_path, {}, **formatted))))
    assert all(one != other for one, other in itertools.combinations(prints, 2))


def test_no_cell_stops_a_query(tmp_path: Path) -> None:
    hostile = [
        "9" * 400,
        "1e999",
        "-1e-999",
        ",",
        ".",
        "1." * 50,
        "nan",
        "inf",
        "\x01",
        "1" * 39 + ",5",
        "e",
        "+",
        "1e+",
        "\ufeff1",
    ]
    written(tmp_path, *(f"{row};{cell};{cell};{cell};{cell}" for row, cell in enumerate(hostile, start=1)))
    with dpsql.connect(catalog(tmp_path, GERMAN), ledger=tmp_path / "l.ledger") as connection:
        connection.execute(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) SUM(price), SUM(n), SUM(r), COUNT_IF(ok) FROM t"
        )
