"""SmartNoise's own files load unchanged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.catalog.budget import with_budget
from dpsql.catalog.load import load, loads
from dpsql.catalog.model import Amount, Caps
from dpsql.domain.interval import Interval
from dpsql.domain.types import BIGINT, REAL, TEXT
from dpsql.errors import CatalogError

STUDENT = """
Database:
  school:
    student:
      row_privacy: True
      rows: 649
      famsize: {type: string, cardinality: 2}
      age: {type: int, lower: 15, upper: 25}
      absences: {type: int, lower: 0, upper: 50}
"""
PUMS = """
'':
  PUMS:
    PUMS:
      max_ids: 4
      sample_max_ids: yes
      censor_dims: On
      clamp_counts: False
      clamp_columns: False
      use_dpsu: False
      rows: 1000
      pid: {type: int, private_id: True, lower: 0, upper: 1000}
      income: {type: float, lower: 0, upper: 500000, nullable: True, missing_value: 0, sensitivity: 3}
      name: {type: string, lower: null}
    more:
      id: {type: int, private_id: True}
engine: sqlserver
"""


def test_student() -> None:
    catalog = loads(STUDENT)
    (student,) = catalog.tables
    assert catalog.format == "smartnoise"
    assert not catalog.budget.capped
    assert student.row_is_unit
    assert student.caps == Caps(rows=1, groups=1)
    assert student.source is None
    assert [(column.name, column.type) for column in student.columns] == [
        ("famsize", TEXT),
        ("age", BIGINT),
        ("absences", BIGINT),
    ]
    assert student.columns[1].interval == Interval(Fraction(15), Fraction(25))
    for spelling in ("student", "school.student", "Database.school.student", "SCHOOL.STUDENT"):
        assert catalog.table(spelling) is student
    for other in ("Database.student", "school", "x.student"):
        assert catalog.table(other) is None


def test_pums() -> None:
    catalog = loads(PUMS, name="pums.yaml")
    pums, more = catalog.tables
    assert catalog.dataset == "pums"
    assert pums.unit_column == "pid"
    assert pums.caps == Caps(rows=4)  # in all: SmartNoise keeps max_ids rows of a unit
    assert pums.columns[0].interval == Interval()  # bounds of an identifier would merge people
    assert pums.columns[1].type == REAL
    assert pums.columns[1].interval == Interval(Fraction(0), Fraction(500000))
    assert catalog.table("PUMS.PUMS") is pums
    assert more.caps == Caps(rows=1)


def test_one_table_name_in_two_schemas() -> None:
    two = "db: {a: {t: {id: {type: int, private_id: true}}}, b: {t: {id: {type: int, private_id: true}}}}"
    catalog = loads(two)
    assert [table.name for table in catalog.tables] == ["a.t", "b.t"]
    assert catalog.table("t") is None
    assert catalog.table("b.t") is catalog.table("db.b.t") is catalog.tables[1]


def test_censor_dims_false_with_keys() -> None:
    keys = STUDENT.replace("cardinality: 2", "keys: [LE3, GT3]").replace("rows: 649", "censor_dims: False")
    assert loads(keys).tables[0].columns[0].keys == ("LE3", "GT3")


def test_what_would_weaken_is_ignored() -> None:
    same = loads(STUDENT.replace("rows: 649", "rows: 3\n      clamp_counts: True\n      sample_max_ids: False"))
    assert same.tables[0].columns == loads(STUDENT).tables[0].columns
    assert same.tables[0].caps == loads(STUDENT).tables[0].caps


def test_connect_gives_a_budget() -> None:
    budget = with_budget(loads(STUDENT), 3).budget
    assert budget.capped
    assert budget.total == Amount(epsilon=Fraction(3), delta=Fraction(1, 10**6))


def test_as_a_dict() -> None:
    named = load({"db": {"s": {"t": {"id": {"type": "int", "private_id": True}}}}})
    assert named.dataset == "db"
    with pytest.raises(CatalogError):
        load({"": {"s": {"t": {"id": {"type": "int", "private_id": True}}}}})


def test_the_sample_file() -> None:
    path = Path(__file__).parents[3] / "metadata" / "student_smartnoise.yaml"
    assert load(path).table("school.student") is not None
