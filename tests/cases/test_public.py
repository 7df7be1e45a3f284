"""tests/cases/public: statements that name nothing private have DuckDB's own values, names and types, and so has what is
passed on over private queries, where exact mode answers these.

`equal`: values, names and types; `columns`: names and types alone; `released`: forms of dpsql's own, which have rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import duckdb
import pytest

import dpsql
from dpsql import testing
from dpsql.engine.apart.courier import Courier
from tests.cases.reading import Case, read
from tests.worlds import markets

PUBLIC = read("public/duckdb.sql")
MIXED = read("public/mixed.sql")
ROOMY = 10_000
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def public() -> Iterator[dpsql.Connection]:
    with dpsql.connect(markets.catalog(), source=markets.source()) as opened:
        for statement in markets.MADE:
            opened.execute(statement)
        yield opened


@pytest.fixture(scope="module")
def exact() -> Iterator[dpsql.Connection]:
    with testing.exact(markets.catalog(), source=markets.source()) as opened:
        opened.execute(f"SET max_groups_contributed = {ROOMY}")
        opened.execute(f"SET max_rows_per_group = {ROOMY}")
        for statement in markets.MADE:
            opened.execute(statement)
        yield opened


@pytest.fixture(scope="module")
def oracle() -> Iterator[duckdb.DuckDBPyConnection]:
    with markets.oracle() as opened:
        yield opened


@pytest.mark.parametrize("case", PUBLIC, ids=str)
def test_what_is_public_is_duckdbs(case: Case, public: dpsql.Connection, oracle: duckdb.DuckDBPyConnection) -> None:
    cursor = public.execute(case.text)
    assert cursor.privacy is None
    _compare(case, cursor, oracle)


@pytest.mark.parametrize("case", MIXED, ids=str)
def test_what_is_above_releases_is_duckdbs(
    case: Case, exact: dpsql.Connection, oracle: duckdb.DuckDBPyConnection
) -> None:
    cursor = exact.execute(case.text)
    assert cursor.privacy is not None
    _compare(case, cursor, oracle)


@pytest.mark.parametrize("case", MIXED, ids=str)
def test_what_is_mixed_costs_what_its_parts_do(case: Case, public: dpsql.Connection) -> None:
    """One query, one ε, and an EXPLAIN that says so."""
    assert public.cost(case.text).epsilon == markets.ASKED["epsilon"]
    assert "ε = 1" in str(public.explain(case.text))


@pytest.mark.parametrize(
    "query",
    ["SELECT ward, COUNT(*) AS n, AVG(age) FROM visits GROUP BY ward", "FROM (SELECT SUM(age) AS s FROM visits)"],
)
@pytest.mark.parametrize("around", ["DESCRIBE {}", "DESCRIBE ({})", "DESCRIBE WITH w AS (SELECT 1) {}", "DESC {}"])
def test_describing_is_free(
    query: str, around: str, public: dpsql.Connection, oracle: duckdb.DuckDBPyConnection
) -> None:
    """Names and types are no release, whatever the query would cost."""
    text = around.format(query)
    assert public.cost(text).epsilon == 0 and "free" in str(public.explain(text))
    cursor = public.execute(text)
    rows = [(name, "BIGINT" if type_ == "HUGEINT" else type_) for name, type_, *_ in oracle.execute(text).fetchall()]
    assert [row[:2] for row in cursor.fetchall()] == rows and cursor.privacy is None


@pytest.mark.parametrize(
    "text",
    [
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT COUNT(*) FROM visits, r) SELECT [n] FROM r",
        "WITH r AS (SELECT 5 AS n), x AS (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT COUNT(*) FROM visits, r)"
        " SELECT * FROM r) SELECT [n] FROM x",
        "WITH RECURSIVE towns AS (SELECT 1 AS id UNION ALL SELECT (SELECT COUNT(*) FROM visits, towns) FROM towns)"
        " SELECT [id] FROM towns",
        "SELECT age FROM visits UNION ALL SELECT unnest([1, 2])",
        "SELECT unnest([1, 2]) UNION ALL FROM visits SELECT age",
        "SUMMARIZE SELECT * FROM visits",
        "SUMMARIZE visits",
        "DESCRIBE SELECT age FROM visits",
        "DESCRIBE SELECT unnest([age]) FROM visits",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT unnest([note]) FROM visits",
    ],
)
def test_what_is_not_cut_out(text: str, public: dpsql.Connection) -> None:
    """A name of a recursive CTE means rows that are not there yet; rows of persons are nobody's."""
    with pytest.raises(dpsql.Error, match=r"DPSQL-1\d\d"):
        public.execute(text)


VALUES = (
    time(1, 2, 3),
    time(1, 2, tzinfo=timezone(timedelta(hours=2))),
    timedelta(days=1, microseconds=5),
    b"\x00a",
    UUID(int=7),
    [1, 2, None],
    [[time(1)], []],
    {"a": 1, "b": UUID(int=8)},
    Decimal("1.50"),
    datetime(2020, 1, 1, 12, tzinfo=UTC),
    2**100,
    True,
    None,
)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_parameters_are_what_duckdb_takes(
    value: object, public: dpsql.Connection, oracle: duckdb.DuckDBPyConnection
) -> None:
    """Of every kind; in what is planned only those that the planner knows."""
    ours, theirs = (c.execute("SELECT ? AS x, typeof(?)", [value] * 2) for c in (public, oracle))
    if isinstance(value, datetime):  # DuckDB needs another package for its zone
        assert ours.fetchall() == [(value, "TIMESTAMP WITH TIME ZONE")]
    else:
        assert ours.fetchall() == theirs.fetchall()
    assert public.execute("SELECT $v AS x", {"v": value}).fetchall() == [(value,)]


@pytest.mark.parametrize(
    ("sql", "near"),
    [
        ("SELECT list_transfrm([1], lambda x: x)", "list_transform"),
        ("SELECT {'a': strng_agg(name, '')} FROM towns", "string_agg"),
        ("SELECT x.list_srt() FROM (SELECT [age] AS x FROM visits)", "list_sort"),
    ],
)
def test_a_mistyped_function_is_named(sql: str, near: str, public: dpsql.Connection) -> None:
    with pytest.raises(dpsql.SqlError, match=f"(?s)DPSQL-107.*Did you mean {near}"):
        public.execute(sql)


def test_a_private_query_takes_plain_parameters(public: dpsql.Connection) -> None:
    for value in (b"x", UUID(int=7), [1], time(1)):
        with pytest.raises(dpsql.SqlError, match="DPSQL-109"):
            public.execute("SELECT COUNT(*) FROM visits WHERE note = ?", [value])


def test_public_tables_are_handed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a session their rows stay as they are; the analyst's own tables do not."""
    written: list[str] = []
    write = Courier.write

    def counting(courier: Courier, file: Path, tables: Mapping[str, str]) -> None:
        written.extend(tables)
        write(courier, file, tables)

    monkeypatch.setattr(Courier, "write", counting)
    with dpsql.connect(markets.catalog(), source=markets.source()) as opened:
        opened.execute("CREATE TABLE mine AS SELECT 1 AS a")
        for wanted in (1, 2):
            rows = opened.execute("SELECT list(a)[1], count(id) FROM mine, towns, roads GROUP BY ALL").fetchall()
            assert rows == [(wanted, 16)]
            opened.execute("UPDATE mine SET a = 2")
    assert sorted(written) == ["mine", "mine", "rows", "rows"]


def test_lists_are_opened_with_their_intervals(public: dpsql.Connection) -> None:
    """The ends of a histogram's bins are columns beside it, and opened as it is."""
    rows = public.execute(
        """
        SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals = 0.95) e.key, e.value, l.value, u.value
        FROM (SELECT unnest(map_entries(h)) AS e, unnest(map_entries(h_low)) AS l, unnest(map_entries(h_high)) AS u
              FROM (SELECT HISTOGRAM(age, 5) AS h FROM visits))
        """
    ).fetchall()
    assert len(rows) == 5 and all(low < n < high for _, n, low, high in rows)


DOUBLED = 'list_transform(["sum(age)"], lambda x: 2 * x)[1] AS l'
ABOVE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) {}"
BOTH = "COUNT(*) AS n, format('{}', COUNT(*)) AS shown, [SUM(age)] AS l FROM visits"


@pytest.mark.parametrize("accuracy", ["20000", "(n => 90)", '(n => 90, "sum(age)" => 1e6)'])
@pytest.mark.parametrize("query", [BOTH, f"n, {DOUBLED} FROM (SELECT COUNT(*) AS n, SUM(age) FROM visits)"])
def test_accuracy_is_of_the_numbers_that_a_text_reads(query: str, accuracy: str, public: dpsql.Connection) -> None:
    """It costs what the same accuracy does of the numbers alone."""
    plain = 'COUNT(*) AS n, SUM(age) AS "sum(age)" FROM visits'
    of_text, alone = (public.cost(ABOVE.format(f"accuracy = {accuracy}", one)).epsilon for one in (query, plain))
    assert 0 < of_text == alone < markets.ASKED["epsilon"]


def test_accuracy_of_a_text_is_of_no_expression(public: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Refused, match=r"accuracy of shown is not known(.|\n)*n, sum\(age\)"):
        public.cost(ABOVE.format("accuracy = (shown => 90)", BOTH))


def test_a_part_of_what_was_released_is_an_accuracy_of_a_text(public: dpsql.Connection) -> None:
    public.execute("SELECT SUM(age) AS s FROM visits")
    assert (
        public.cost(ABOVE.format("accuracy = (s => '90%')", "[s] AS l FROM (SELECT SUM(age) AS s FROM visits)")).epsilon
        < 1
    )


def test_intervals_stand_beside_what_is_no_expression(public: dpsql.Connection) -> None:
    cursor = public.execute(ABOVE.format("intervals = 0.95", f"ward, {BOTH} GROUP BY ward HAVING COUNT(*) > -1e9"))
    assert [d[0] for d in cursor.description or ()] == ["ward", "n", "n_low", "n_high", "shown", "l"]
    assert all(low < n < high and shown == str(n) for _, n, low, high, shown, _ in cursor.fetchall())


def _compare(case: Case, cursor: dpsql.Cursor, oracle: duckdb.DuckDBPyConnection) -> None:
    if case.outcome == "released":
        assert cursor.fetchall()
        return
    wanted = [tuple(row[:2]) for row in oracle.execute(f"DESCRIBE {case.text}").fetchall()]
    columns = [(str(d[0]), str(d[1])) for d in cursor.description or ()]
    assert columns == [(name, _narrow(type_, dict(columns).get(name))) for name, type_ in wanted]
    rows, right = cursor.fetchall(), oracle.execute(case.text).fetchall()
    if case.outcome == "equal":
        assert _ordered(case.text, rows) == _ordered(case.text, right)
    else:
        assert case.outcome == "columns" and len(rows) <= 100


def _narrow(type_: str, ours: str | None) -> str:
    """A HUGEINT column is shown as BIGINT where its values are (decisions/sql.md, 53)."""
    return "BIGINT" if type_ == "HUGEINT" and ours == "BIGINT" else type_


def _ordered(text: str, rows: Rows) -> list[str]:
    """In their order, if the statement gives them one."""
    shown = [repr(tuple(map(_close, row))) for row in rows]
    return shown if "ORDER BY" in text else sorted(shown)


def _close(value: object) -> object:
    """Sums of reals depend on their order."""
    return float(f"{value:.12g}") if isinstance(value, float) and math.isfinite(value) else value


def test_there_are_enough() -> None:
    assert len([case for case in PUBLIC if case.outcome == "equal"]) >= 150
    assert len(MIXED) >= 50
