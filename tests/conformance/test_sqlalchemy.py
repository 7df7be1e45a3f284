"""dpsql:// for SQLAlchemy: queries, reflection from the catalog, pandas without a warning."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsql
from dpsql.samples.prepare import prepare

sa = pytest.importorskip("sqlalchemy")
# what the entry point says; a checkout may have been installed before there was one
sa.dialects.registry.register("dpsql", "dpsql.integrations.sqlalchemy", "DpsqlDialect")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = prepare("hospital", tmp_path_factory.mktemp("hospital"))
    text = path.read_text().replace("budget: {epsilon: 10,", "budget: {epsilon: 1000,")
    text += "views:\n  long_visits: SELECT specialty, duration / 60 AS hours FROM visits WHERE duration > 60\n"
    path.write_text(text)
    made = sa.create_engine(f"dpsql:///{path}?epsilon=1&delta=1e-9")
    yield made
    made.dispose()


def test_the_package_declares_its_dialect() -> None:
    project = tomllib.loads((Path(dpsql.__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    entry = project["entry-points"]["sqlalchemy.dialects"]["dpsql"]
    assert entry == "dpsql.integrations.sqlalchemy:DpsqlDialect"
    assert sa.engine.make_url("dpsql:///x.yaml").get_dialect().name == "dpsql"


def test_pandas_reads_without_a_warning(engine: Any) -> None:
    with engine.connect() as connection:
        read = pd.read_sql("SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty", connection)
        assert list(read.columns) == ["specialty", "n"] and len(read) == 6 and read["n"].dtype == "int64"
    with engine.connect() as connection:
        some = pd.read_sql(
            sa.text("SELECT COUNT(*) AS n FROM visits WHERE duration > :x"), connection, params={"x": 30}
        )
        assert list(some.columns) == ["n"]


def test_reflection_is_the_catalog(engine: Any) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["visits", "specialties"]
    assert inspector.get_view_names() == ["long_visits"]
    columns = {column["name"]: column for column in inspector.get_columns("visits")}
    types = {name: str(column["type"]) for name, column in columns.items()}
    assert types == {
        "visit_id": "BIGINT",
        "patient_id": "BIGINT",
        "specialty": "VARCHAR",
        "duration": "DOUBLE",
        "visited_on": "DATE",
        "referrer": "VARCHAR",
    }
    assert not columns["specialty"]["nullable"] and columns["duration"]["comment"] == "minutes"
    assert [column["name"] for column in inspector.get_columns("long_visits")] == ["specialty", "hours"]
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_unique_constraints("visits")[0]["column_names"] == ["visit_id"]
    assert inspector.get_table_comment("visits") == {"text": "one row per visit"}
    assert inspector.has_table("visits") and not inspector.has_table("nobody")
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nobody")


def test_expressions(engine: Any) -> None:
    with engine.connect() as connection:
        visits = sa.Table("visits", sa.MetaData(), autoload_with=connection)
        count = sa.func.count().label("n")
        asked = (
            sa.select(visits.c.specialty, count)
            .where(visits.c.duration > 10, visits.c.visited_on >= datetime.date(2020, 1, 1))
            .group_by(visits.c.specialty)
            .order_by(sa.desc("n"))
            .limit(3)
        )
        rows = connection.execute(asked).fetchall()
        assert len(rows) == 3 and rows[0].n >= rows[1].n >= rows[2].n
        average = sa.select(sa.func.avg(visits.c.duration)).where(visits.c.specialty.in_(["surgery", "oncology"]))
        assert 0 <= connection.execute(average).scalar_one() <= 240


def test_tables_in_the_schema_that_they_are_listed_in(engine: Any) -> None:
    visits = sa.Table("visits", sa.MetaData(), schema="main", autoload_with=engine)
    asked = sa.select(visits.c.specialty, sa.func.count()).group_by(visits.c.specialty)
    with engine.connect() as conn:
        assert "main.visits" in str(asked)
        assert len(conn.execute(asked).all()) == 6


def test_tables_of_ones_own(engine: Any) -> None:
    metadata = sa.MetaData()
    mine = sa.Table("mine", metadata, sa.Column("a", sa.Integer), sa.Column("b", sa.String(9)), sa.Column("d", sa.Date))
    rows = [{"a": 1, "b": "x", "d": datetime.date(2020, 1, 1)}, {"a": 2, "b": None, "d": None}]
    with engine.connect() as connection:
        metadata.create_all(connection)
        connection.execute(mine.insert(), rows)
        connection.commit()
        assert connection.execute(sa.select(mine).order_by(mine.c.a)).mappings().all() == rows
        assert [str(column["type"]) for column in sa.inspect(connection).get_columns("mine")] == [
            "INTEGER",
            "VARCHAR",
            "DATE",
        ]
        pd.DataFrame({"u": [1, 2], "s": ["a", "b"]}).to_sql("up", connection, index=False)
        assert len(pd.read_sql_table("up", connection)) == 2
        connection.rollback()
        metadata.drop_all(connection)
        assert not sa.inspect(connection).has_table("mine")


def test_errors_are_sqlalchemys_around_ours(engine: Any) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.NotSupportedError) as refused:
        connection.execute(sa.text("SELECT duration FROM visits"))
    assert isinstance(refused.value.orig, dpsql.Refused)


@pytest.mark.parametrize(
    "url",
    [
        "dpsql://host/x.yaml",
        "dpsql://",
        "dpsql:///x.yaml?colour=red",
        "dpsql:///x.yaml?threads=many",
        "dpsql:///x.yaml?epsilon=nan",
    ],
)
def test_bad_urls(url: str) -> None:
    with pytest.raises((dpsql.Error, sa.exc.DBAPIError)):
        sa.create_engine(url).connect()


def test_relative_paths(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(engine.url.database)
    monkeypatch.chdir(path.parent)
    with sa.create_engine(f"dpsql:///{path.name}").connect() as connection:
        assert connection.execute(sa.text("SHOW TABLES")).fetchall()[0][0] == "visits"


def test_whole_numbers_divide_to_whole_ones(engine: Any) -> None:
    """Down, as Python does it; shares of rows are FETCH's; times keep their zone."""
    from sqlalchemy import Time, literal, select, text

    at = datetime.time(12, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    with engine.connect() as connection:
        row = connection.execute(select(literal(15) // literal(10), literal(-7) // 2, literal(7.5) // 2)).one()
        assert tuple(row) == (1, -4, 3.0) and type(row[0]) is int
        shares = select(text("i")).select_from(text("range(10) AS r(i)")).order_by(text("i"))
        assert connection.scalars(shares.fetch(20, percent=True).offset(1)).all() == [1, 2]
        assert connection.scalar(select(literal(at, Time(timezone=True)))) == at
