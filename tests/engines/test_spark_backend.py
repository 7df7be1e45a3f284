"""Queries on Spark through the public API."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import dpsql
from dpsql import testing
from dpsql.engine.sources import Cluster
from dpsql.engine.spark import script, settings
from dpsql.engine.spark.connecting import session_at
from dpsql.engine.spark.script import Stored, Views
from dpsql.errors import SourceError
from dpsql.plan.dialects.spark import SPARK
from tests.worlds import people

CATALOG: dict[str, Any] = people(
    {"k": {"type": "integer", "keys": {"from": 0, "to": 2}}, "x": {"type": "real", "lower": 0, "upper": 4}, "s": "text"}
)
ASKED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6)"
MADE = """
    CREATE TABLE {name} USING parquet AS
    SELECT id % 100 AS u, id % 3 AS k, double(id % 17) / 4 AS x, concat('g', id % 5) AS s FROM range(2000)
"""


@pytest.fixture(scope="module")
def table(spark: Any) -> str:
    spark.sql(MADE.format(name="t"))
    return "t"


@pytest.mark.slow
def test_sums_by_a_public_key_are_exact(spark: Any, table: str) -> None:
    with testing.exact(CATALOG, source=spark) as connection:
        answered = connection.execute("SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k ORDER BY k").fetchall()
    expected = spark.sql("SELECT k, count(*), sum(x) FROM t GROUP BY k ORDER BY k").collect()
    assert answered == [tuple(row) for row in expected]


@pytest.mark.slow
def test_an_answer_is_noisy_and_charged(spark: Any, table: str) -> None:
    with dpsql.connect(CATALOG, source=spark) as connection:
        cursor = connection.cursor()
        rows = cursor.execute(f"{ASKED} s, COUNT(*) FROM t GROUP BY s").fetchall()
    assert {name for name, _ in rows} <= {f"g{n}" for n in range(5)}


def test_what_spark_has_no_form_of_is_refused_by_name(spark: Any, table: str) -> None:
    with dpsql.connect(CATALOG, source=spark) as connection, pytest.raises(dpsql.Error) as caught:
        connection.cursor().execute(f"{ASKED} LOWER(s), COUNT(*) FROM t GROUP BY 1")
    assert caught.value.code == "DPSQL-140" and "this LOWER is not answered on Spark" in str(caught.value)


@pytest.mark.slow
def test_a_text_of_more_than_1_mib_is_null(spark: Any) -> None:
    spark.sql("CREATE TABLE long USING parquet AS SELECT id AS u, repeat('é', 524288 + int(id)) AS s FROM range(2)")
    catalog = people({"s": "text"})
    with testing.exact({**catalog, "tables": {"long": catalog["tables"]["t"]}}, source=spark) as connection:
        assert connection.execute("SELECT COUNT(*), COUNT(s) FROM long").fetchall() == [(2, 1)]
    spark.sql("DROP TABLE long")


@pytest.mark.slow
def test_one_text_does_not_decide_whether_a_pattern_is_answered(spark: Any) -> None:
    """Java calls itself for each character that a pattern leaves open, and ended its stack after 30,000."""
    spark.sql("CREATE TABLE alike USING parquet AS SELECT id AS u, repeat('a', 40000 * int(id)) AS s FROM range(2)")
    catalog = people({"s": "text"})
    with testing.exact({**catalog, "tables": {"alike": catalog["tables"]["t"]}}, source=spark) as connection:
        asked = "SELECT COUNT(*) FROM alike WHERE s LIKE '{}%a%'"
        assert connection.execute(asked.format("_" * 997)).fetchall() == [(1,)]
        with pytest.raises(dpsql.Error, match="the pattern is longer than 1000 characters"):
            connection.execute(asked.format("_" * 30_000))
    spark.sql("DROP TABLE alike")


@pytest.mark.slow
def test_sums_in_parts_are_exact(spark: Any) -> None:
    """Of numbers as large as is said, of both signs; of no number NULL."""
    from dpsql.plan.dialects.spark.sums import total

    for bits in (1, 21, 22, 23, 43, 44, 45, 62):
        ends = [2**bits, -(2**bits), 2**bits - 1, 1 - 2**bits, -1, 0, 1, 2 ** (bits - 1), None]
        numbers = ends * 3 + [2**bits] * 50
        values = ", ".join(
            f"({'NULL' if x is None else f'CAST({x} AS BIGINT)'}, {n % 2 == 0})" for n, x in enumerate(numbers)
        )
        asked = f"{total('x', 2**bits, '')} AS a, {total('x', 2**bits, ' FILTER (WHERE b)')} AS c"
        row = spark.sql(
            f"SELECT {asked}, {total('CAST(NULL AS BIGINT)', 2**bits, '')} AS n FROM VALUES {values} AS v (x, b)"
        )
        expected = sum(filter(None, numbers)), sum(filter(None, numbers[::2])), None
        assert tuple(row.collect()[0]) == expected, bits


def test_a_session_whose_server_died_is_asked_nothing() -> None:
    """PySpark would ask again for ten minutes, of the version first."""

    class Dead:
        """A session of Spark Connect at a port that nobody listens at."""

        __module__ = "pyspark.sql.connect.session"

        @property
        def client(self) -> Any:
            from pyspark.sql.connect.client import DefaultChannelBuilder

            return SimpleNamespace(_builder=DefaultChannelBuilder("sc://127.0.0.1:1"))

        @property
        def version(self) -> str:
            raise AssertionError("it was asked")

    with pytest.raises(SourceError) as caught:
        session_at(Cluster(session=Dead()), None)
    assert caught.value.code == "DPSQL-315" and "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize("few", [0, 4])
def test_rows_of_units_travel_once_where_few_tasks_run(few: int, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the unit's rows are sent as they are or added up first, each is in one place when its weight is made."""
    monkeypatch.setattr(settings, "FEW", few)
    pairs = f"SELECT u, g, count(*) AS n FROM {SPARK.by_unit('rows', 10)} GROUP BY u, g"
    counted = f"SELECT *, sum(n) OVER (PARTITION BY u) AS total FROM ({pairs}) AS pairs"
    rows = "SELECT id % 7 AS u, id % 3 AS g FROM range(100)"
    session = settings.fresh(spark)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    frame = session.sql(f"WITH rows AS ({rows}) {counted}")
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange hashpartitioning(u") == (1 if few else 2)
    answered = [(row.u, row.g, row.n, row.total) for row in frame.collect()]
    assert len(answered) == 21 and sum(n for *_, n, _ in answered) == 100
    assert {(u, total) for u, *_, total in answered} == {(u, 15 if u < 2 else 14) for u in range(7)}


def test_rows_of_units_that_have_many_are_added_up_first() -> None:
    assert SPARK.by_unit("rows", 10_000) == "rows"


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_votes_and_totals_are_of_one_evaluation(
    mechanism: str, spark: Any, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all rows, where a unit has more than count; the next query evaluates anew."""
    evaluated: list[object] = []
    checkpoint = script._checkpoint
    monkeypatch.setattr(script, "_checkpoint", lambda *given: evaluated.append(given) or checkpoint(*given))
    catalog = people(CATALOG["tables"]["t"]["columns"], rows_per_unit=15)
    asked = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10000, delta=1e-6, mechanism='{mechanism}')"
    answers: list[list[Any]] = []
    for source in (spark, {"t": spark.table("t").toArrow()}):
        with dpsql.connect(catalog, source=source) as connection:
            cursor = connection.cursor()
            for query in (
                f"{asked} s, COUNT(*), SUM(x) FROM t GROUP BY s ORDER BY s",
                f"{asked} k, s, AVG(x) FROM t GROUP BY k, s",
            ):
                answers.append(sorted(cursor.execute(query).fetchall()))
                assert len(evaluated) <= len(answers)
    assert len(evaluated) == 1 and [len(rows) for rows in answers] == [5, 15, 5, 15]
    for here, there in zip(answers[0] + answers[1], answers[2] + answers[3], strict=True):
        assert here == pytest.approx(there, abs=10)


@pytest.mark.parametrize("few", [0, 4])
def test_where_kept_rows_lie_is_known(few: int, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not sent again to be grouped by unit, where few tasks run at a time."""
    monkeypatch.setattr(settings, "FEW", few)
    session = settings.fresh(spark)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    views = Views(session)
    rows = SPARK.by_unit("(SELECT id % 7 AS unit_, id % 3 AS k FROM range(100)) AS rows", 10, "unit_")
    step = Stored("kept_rows", f"SELECT *, count(*) OVER (PARTITION BY unit_) AS n FROM {rows}", kept=True)
    views.store(step)
    named = "(SELECT unit_ AS u, k FROM kept_rows JOIN (SELECT 1 AS one) ON k <=> one) AS named"
    frame = session.sql(f"SELECT u, sum(k) OVER (PARTITION BY u) AS total FROM {named}")
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange hashpartitioning(u") == (0 if few else 1)
    assert frame.count() == 33 and session.conf.get("spark.sql.shuffle.partitions") == "2"
    assert session.conf.get("spark.sql.adaptive.enabled") == spark.conf.get("spark.sql.adaptive.enabled")
    views.begin([step])
    assert session.catalog.tableExists("kept_rows")
    views.begin([Stored("kept_rows", f"{step.select} WHERE TRUE", kept=True)])
    assert not session.catalog.tableExists("kept_rows")
