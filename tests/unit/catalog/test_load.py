"""What a right catalog becomes."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpsql.catalog.model import Amount, Caps, Catalog, DatabaseSource, FileSource, KeyCaps, UnitPath
from dpsql.domain.interval import Interval
from dpsql.domain.types import BIGINT, REAL, TEXT, decimal
from dpsql.errors import CatalogError
from dpsql.metadata.budget import budget_of, with_budget
from dpsql.metadata.load import fingerprint, load, loads

HOSPITAL = """
dataset: hospital                # the ledger's account
version: 2026-11
unit: patient
budget: {epsilon: 10, delta: 1.0e-6}
per_query: {epsilon: 1, delta: 1.0e-9}
max_per_query: {epsilon: 2}
accounting: approx
analysts: {ana: {epsilon: 4}, bob: {}}
tables:
  visits:
    description: one row per visit
    source: visits.parquet
    unit: patient_id
    max_groups: 4
    max_rows: 3
    caps: [{by: [Month], max_groups: 12}]
    max_sum: {duration: [0, 900.5]}
    min_units: 5
    columns:
      visit_id: integer
      patient_id: integer
      specialty:  {type: text, keys: [cardiology, "no", yes, null]}
      duration:   {type: real, lower: 0, upper: 240, description: minutes}
      visited_on: {type: date, lower: 2020-01-01, upper: 2020-12-31, nullable: false}
      month: {type: integer, keys: {from: 1, to: 12}}
      floor: {type: integer, keys: {from: specialties.floor}}
      referrer:   text
  items:
    source: ../data/items-*.csv
    format: {delimiter: ";", date_format: "%d.%m.%Y"}
    unit: {through: visits, on: {visit_id: visit_id}}
    max_groups: 4
    max_rows: 10
    columns: {visit_id: integer, price: {type: decimal(9, 2), lower: 0, upper: 500}, other: decimal(5,1)}
  specialties: {public: true, source: {database: f.duckdb, table: x.specialties}, columns: {name: text, floor: integer}}
views: {long_visits: SELECT * FROM visits WHERE duration > 60}
ledger: spent.ledger
"""
SMALL = "budget: {epsilon: 1}\ntables: {t: {unit: u, max_groups: 1, max_rows: 1, columns: {u: integer, x: %s}}}"


@pytest.fixture
def hospital(tmp_path: Path) -> Catalog:
    path = tmp_path / "metadata" / "hospital.yaml"
    path.parent.mkdir()
    path.write_text(HOSPITAL, encoding="utf-8")
    return load(path)


def test_top_level(hospital: Catalog, tmp_path: Path) -> None:
    assert (hospital.dataset, hospital.version, hospital.unit, hospital.accounting) == (
        "hospital",
        "2026-11",
        "patient",
        "approx",
    )
    assert hospital.unit_type == BIGINT
    assert hospital.budget.total == Amount(epsilon=Fraction(10), delta=Fraction(1, 10**6))
    assert hospital.per_query == Amount(epsilon=Fraction(1), delta=Fraction(1, 10**9))
    assert hospital.max_per_query == Amount(epsilon=Fraction(2))
    assert hospital.analysts == {"ana": Amount(epsilon=Fraction(4)), "bob": Amount()}
    assert hospital.views == {"long_visits": "SELECT * FROM visits WHERE duration > 60"}
    assert hospital.ledger == tmp_path / "metadata" / "spent.ledger"
    assert hospital.folder == tmp_path / "metadata"
    assert hospital.format == "dpsql"


def test_tables(hospital: Catalog, tmp_path: Path) -> None:
    visits, items, public = hospital.tables
    assert visits.unit_column == "patient_id"
    assert visits.caps is not None
    assert (visits.caps.groups, visits.caps.rows_in_group, visits.min_units) == (4, 3, 5)
    assert visits.key_caps == (KeyCaps(by=frozenset({"month"}), groups=12),)
    assert visits.max_sum == {"duration": (Fraction(0), Fraction(1801, 2))}
    assert visits.where == "hospital.yaml:11"
    assert visits.source == FileSource(paths=(tmp_path / "metadata" / "visits.parquet",), kind="parquet")
    assert items.unit_path == UnitPath(through="visits", on=(("visit_id", "visit_id"),))
    assert isinstance(items.source, FileSource)
    assert items.source.paths == (tmp_path / "data" / "items-*.csv",)
    assert (items.source.kind, items.source.format.delimiter) == ("csv", ";")
    assert items.source.format.date_format == "%d.%m.%Y"
    assert public.public
    assert public.caps is None
    assert public.source == DatabaseSource(database=tmp_path / "metadata" / "f.duckdb", table=("x", "specialties"))
    assert hospital.table("VISITS") is visits


def test_columns(hospital: Catalog) -> None:
    visits, items, _ = hospital.tables
    columns = {column.name: column for column in visits.columns}
    assert columns["specialty"].keys == ("cardiology", "no", "yes", None)
    assert columns["duration"].interval == Interval(Fraction(0), Fraction(240))
    assert columns["duration"].description == "minutes"
    day = datetime.date(1970, 1, 1)
    low = (datetime.date(2020, 1, 1) - day).days
    assert columns["visited_on"].interval == Interval(Fraction(low), Fraction(low + 365))
    assert not columns["visited_on"].nullable
    assert columns["month"].keys == tuple(range(1, 13))
    assert columns["floor"].keys_from == ("specialties", "floor")
    assert columns["referrer"].type == TEXT
    assert [column.type for column in items.columns] == [BIGINT, decimal(9, 2), decimal(5, 1)]
    assert items.columns[1].interval == Interval(Fraction(0), Fraction(500))


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("1e-6", Fraction(1, 10**6)),
        ("1.0e-6", Fraction(1, 10**6)),
        (".5", Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        ("1E-9", Fraction(1, 10**9)),
        ("+0.25", Fraction(1, 4)),
        ("0", Fraction(0)),
    ],
)
def test_numbers_are_the_decimals_they_print(written: str, exact: Fraction) -> None:
    text = f"budget: {{epsilon: 1, delta: {written}}}\ntables: {{t: {{public: true, columns: {{u: integer}}}}}}"
    assert loads(text).budget.total.delta == exact


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("{type: date, keys: [1970-01-02, '1969-12-31']}", (1, -1)),
        ("{type: timestamp, keys: [1970-01-01 00:00:01, 1970-01-02T00:00:00.5, 1970-01-03]}", None),
        ("{type: boolean, keys: [true, false]}", (True, False)),
        ("{type: 'decimal(4, 1)', keys: [0.1, 2]}", (Fraction(1, 10), Fraction(2))),
        ("{type: real, keys: [0.1, -0.0]}", (0.1, 0.0)),
        ("{type: text, keys: [yes, no, on, off, 'true', '01', 1:30, 'null']}", None),
        ("{type: date, keys: {from: 1970-01-01, to: 1970-01-03}}", (0, 1, 2)),
    ],
)
def test_keys_are_atoms(column: str, keys: tuple[object, ...] | None) -> None:
    atoms = loads(SMALL % column).tables[0].columns[1].keys
    if "timestamp" in column:
        assert atoms == (1_000_000, 86_400_500_000, 172_800_000_000)
    elif "text" in column:
        assert atoms == ("yes", "no", "on", "off", "true", "01", "1:30", "null")
    else:
        assert atoms == keys
        assert [type(key) for key in atoms] == [type(key) for key in keys or ()]


def test_timestamps_before_1970_and_their_microseconds() -> None:
    column = "{type: timestamp, lower: 1969-12-31 23:59:59.999999, upper: 9999-12-31 23:59:59.999999}"
    interval = loads(SMALL % column).tables[0].columns[1].interval
    assert interval.lower == -1
    assert interval.upper == 253402300799999999


def test_a_dict_follows_the_same_rules() -> None:
    catalog = load(
        {
            "dataset": "frame",
            "budget": {"epsilon": 0.1, "delta": Decimal("1e-6")},
            "tables": {
                "df": {
                    "unit": "u",
                    "max_groups": np.int64(4),
                    "max_rows": 3,
                    "columns": {
                        "u": "text",
                        "x": {"type": "real", "lower": np.float64(0.1), "upper": np.float32(0.5)},
                        "k": {"type": "text", "keys": ("a", "b", None)},
                        "d": {"type": "date", "lower": datetime.date(1970, 1, 2), "nullable": np.True_},
                        "t": {"type": "timestamp", "upper": pd.Timestamp("1970-01-01 00:00:01")},
                    },
                }
            },
        }
    )
    _, x, k, d, t = catalog.tables[0].columns
    assert catalog.budget.total == Amount(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert x.interval == Interval(Fraction(1, 10), Fraction(1, 2))
    assert k.keys == ("a", "b", None)
    assert d.interval.lower == 1
    assert t.interval.upper == 1_000_000
    assert catalog.unit_type == TEXT
    assert catalog.path is None


def test_places_in_a_dict_are_paths() -> None:
    bad = {"dataset": "d", "budget": {"epsilon": 1}, "tables": {"v": {"columns": {"x": {"type": "real", "lower": []}}}}}
    with pytest.raises(CatalogError) as caught:
        load(bad)
    assert [problem.where for problem in caught.value.problems] == ["tables.v.columns.x.lower", "tables.v"]


@pytest.mark.parametrize(
    "bad",
    [pd.NaT, float("nan"), float("-inf"), b"1", object(), "x\ud800", {1: 2}, 10**5000],
    ids=lambda bad: type(bad).__name__,
)
def test_odd_objects_are_problems(bad: object) -> None:
    column = {"type": "real", "lower": bad, "keys": [bad], "description": bad}
    with pytest.raises(CatalogError) as caught:
        load({"dataset": bad, "budget": {"epsilon": bad}, "tables": {"t": {"public": bad, "columns": {"c": column}}}})
    assert len(caught.value.problems) >= 5
    str(caught.value).encode()


def test_a_dict_that_holds_itself() -> None:
    loop: dict[str, object] = {"dataset": "d"}
    loop["tables"] = loop
    with pytest.raises(CatalogError):
        load(loop)


def test_the_dataset_is_the_file_name_unless_said() -> None:
    assert loads(SMALL % "text", name="clinic.yaml").dataset == "clinic"
    with pytest.raises(CatalogError, match="1 problem") as caught:
        load({"budget": {"epsilon": 1}, "tables": {"p": {"public": True, "columns": {"x": "text"}}}})
    assert "no dataset" in caught.value.problems[0].what


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="1 problem") as caught:
        load(tmp_path / "no.yaml")
    assert caught.value.code == "DPSQL-201"
    for path in ("\0", tmp_path):
        with pytest.raises(CatalogError):
            load(path)
    with pytest.raises(CatalogError):
        load(5)  # type: ignore[arg-type]  # on purpose


def test_a_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (SMALL % "real").replace("\n", "\r\n").encode())
    assert load(path).tables[0].columns[1].type == REAL
    path.write_bytes(b"dataset: \xff")
    with pytest.raises(CatalogError) as caught:
        load(path)
    assert "UTF-8" in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("said", "caps", "rows"),
    [
        ("rows_per_unit: 12", Caps(rows=12), 12),
        ("rows_per_unit: 12, groups_per_unit: 4", Caps(rows=12, groups=4), 12),
        ("max_groups: 4, max_rows: 3", Caps(groups=4, rows_in_group=3), 12),
    ],
)
def test_limits(said: str, caps: Caps, rows: int) -> None:
    catalog = loads(f"budget: {{epsilon: 1}}\ntables: {{t: {{unit: u, {said}, columns: {{u: integer}}}}}}")
    assert catalog.tables[0].caps == caps
    assert caps.rows_of_a_unit == rows


def test_caps_for_keys_by_either_name() -> None:
    lines = "[{by: [a], groups_per_unit: 12}, {by: [b], max_groups: 7}]"
    for said in ("rows_per_unit: 12", "max_groups: 4, max_rows: 3"):
        table = f"unit: u, {said}, caps: {lines}, columns: {{u: integer}}"
        catalog = loads(f"budget: {{epsilon: 1}}\ntables: {{t: {{{table}}}}}")
        assert [(line.by, line.groups, line.rows_in_group) for line in catalog.tables[0].key_caps] == [
            ({"a"}, 12, None),
            ({"b"}, 7, None),
        ]


def test_row_is_unit() -> None:
    catalog = loads("budget: {epsilon: 1}\ntables: {t: {row_is_unit: true, columns: {x: integer}}}")
    table = catalog.tables[0]
    assert table.row_is_unit
    assert table.caps is not None
    assert (table.caps.rows, table.caps.groups) == (1, 1)
    assert catalog.unit_type == BIGINT


def test_budget_given_to_connect() -> None:
    assert budget_of(5.0).total == Amount(epsilon=Fraction(5), delta=Fraction(1, 10**6))
    assert budget_of({"epsilon": 5}).total == Amount(epsilon=Fraction(5), delta=Fraction(0))
    assert budget_of({"epsilon": 2, "delta": 1e-9}).total == Amount(epsilon=Fraction(2), delta=Fraction(1, 10**9))
    for bad in (0, -1, float("nan"), True, "1", None, {}, {"epsilon": 1, "delta": 1}, []):
        with pytest.raises(CatalogError):
            budget_of(bad)
    owned = loads(SMALL % "text")
    assert with_budget(owned, {"epsilon": 1}) == owned
    with pytest.raises(CatalogError):
        with_budget(owned, 2)


SAME = [
    ("description: minutes", "description: hours"),
    ("epsilon: 10", "epsilon: 99"),
    ("ana:", "eve:"),
    ("max_per_query: {epsilon: 2}", "max_per_query: {epsilon: 3}"),
    ("# the", "# a"),
]
OTHER = [
    ("upper: 240", "upper: 241"),
    ("max_rows: 3", "max_rows: 2"),
    ("visits.parquet", "other.parquet"),
    ("version: 2026-11", "version: 2026-12"),
    ("keys: [cardiology", "keys: [oncology"),
    ("unit: patient_id", "unit: visit_id"),
    ("nullable: false", "nullable: true"),
    ("min_units: 5", "min_units: 6"),
    ("referrer:   text", "referrer:   integer"),
    ("duration > 60", "duration > 61"),
    ('delimiter: ";"', 'delimiter: "|"'),
    ("{visit_id: visit_id}", "{visit_id: patient_id}"),
    ("max_groups: 12", "max_groups: 11"),
    ("[0, 900.5]", "[0, 900]"),
    ("dataset: hospital", "dataset: clinic"),
]


def test_fingerprint() -> None:
    first = fingerprint(loads(HOSPITAL))
    assert re.fullmatch("[0-9a-f]{64}", first)
    assert first == fingerprint(loads(HOSPITAL, folder=Path("/somewhere/else")))
    for old, new in SAME:
        assert old in HOSPITAL
        assert fingerprint(loads(HOSPITAL.replace(old, new))) == first
    different = {fingerprint(loads(HOSPITAL.replace(old, new, 1))) for old, new in OTHER}
    assert len(different | {first}) == len(OTHER) + 1
