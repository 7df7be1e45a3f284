"""SmartNoise's own files load unchanged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql import testing
from dpsql.catalog.model import Amount, Caps
from dpsql.domain.interval import Interval
from dpsql.domain.types import BIGINT, REAL, TEXT
from dpsql.errors import CatalogError
from dpsql.metadata.budget import with_budget
from dpsql.metadata.load import load, loads

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
      clamp_columns: On
      use_dpsu: True
      rows: 1000
      pid: {type: int, private_id: True, lower: 0, upper: 1000}
      income: {type: float, lower: 0, upper: 500000, nullable: False, sensitivity: 500000}
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


def test_promises_are_not_believed() -> None:
    same = loads(
        STUDENT.replace("rows: 649", "rows: 3\n      rows_exact: 9\n      sample_max_ids: False\n      use_dpsu: yes")
    )
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


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("rows: 649", "clamp_columns: False", 6, "always clips values to their bounds"),
        ("rows: 649", "clamp_counts: yes", 6, "counts may be negative"),
        ("rows: 649", "max_ids: 3", 6, "row_privacy says that a row is a unit, but max_ids says that a unit has 3"),
        ("rows: 649", "censor_dims: off", 6, "famsize"),
        ("upper: 25}", "upper: 25, missing_value: 20}", 8, "NULL stays NULL"),
        ("upper: 25}", "upper: 25, sensitivity: 3}", 8, "on the bounds"),
        ("age: {type: int, lower: 15, upper: 25}", "age: {type: int, sensitivity: 3}", 8, "on the bounds"),
    ],
)
def test_what_has_no_like_here_is_refused_at_its_line(old: str, new: str, line: int, what: str) -> None:
    assert STUDENT.count(old) == 1
    with pytest.raises(CatalogError) as caught:
        loads(STUDENT.replace(old, new), name="student.yaml")
    assert any(f":{line}" in problem.where and what in problem.what for problem in caught.value.problems), caught.value


def test_what_means_the_same_is_kept() -> None:
    kept = STUDENT.replace(
        "rows: 649", "clamp_columns: True\n      clamp_counts: False\n      max_ids: 1\n      censor_dims: True"
    )
    kept = kept.replace("upper: 25}", "upper: 25, missing_value: null, sensitivity: 25, nullable: no}").replace(
        "upper: 50", "upper: null"
    )
    (table,) = loads(kept).tables
    assert table.caps == Caps(rows=1, groups=1)
    assert all(column.nullable for column in table.columns)
    assert table.columns[1].interval == Interval(Fraction(15), Fraction(25))
    assert table.columns[2].interval == Interval()  # one bound alone is none there


@pytest.mark.parametrize(
    ("column", "public"),
    [
        ("{type: string}", False), ("{type: string, keys: [a]}", True), ("{type: int}", False), ("{type: boolean}", True),
        ("{type: int, lower: 0}", False), ("{type: int, lower: 0, upper: 9}", True), ("{type: datetime}", False),
        ("{type: float}", True),  # GROUP BY of a real is refused in any case
    ],
)  # fmt: skip
def test_uncensored_keys_are_public(column: str, public: bool) -> None:
    text = f"d: {{s: {{t: {{censor_dims: false, row_privacy: true, c: {column}}}}}}}"
    if public:
        assert loads(text).tables[0].column("c") is not None
    else:
        with pytest.raises(CatalogError, match="censor_dims is false"):
            loads(text)


ANSWERED = """
db:
  s:
    t:
      max_ids: 3
      pid: {type: int, private_id: true}
      x: {type: float, lower: 0, upper: 10, nullable: False}
      k: {type: string, keys: [a, b, c, d]}
"""


def test_nothing_is_dropped_and_max_ids_is_of_the_whole_query() -> None:
    """nullable: False dropped 808 of 1,000 rows, max_ids: 3 was 3 groups with 3 rows in each."""
    rows = {"pid": list(range(1000)), "x": [None if i % 5 else 1.0 for i in range(1000)], "k": ["a"] * 1000}
    with testing.exact(loads(ANSWERED), source=rows) as connection:
        assert connection.execute("SELECT COUNT(*), COUNT(x) FROM s.t").fetchall() == [(1000, 200)]
    busy = {"pid": [1] * 12, "x": [1.0] * 12, "k": ["a", "b", "c", "d"] * 3}
    with testing.exact(loads(ANSWERED), source=busy) as connection:
        counts = connection.execute("SELECT k, COUNT(*) FROM s.t GROUP BY k").fetchall()
    assert sum(count for _, count in counts) <= 3 + len(counts)  # each is rounded
