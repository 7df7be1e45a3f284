"""What may be a source on Spark, what of it is read, and what is refused; what happens to it while a query runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql import testing
from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.engine.hardening import Limits
from dpsql.engine.sources import Cluster, SparkTable
from dpsql.engine.spark import describing, stored
from dpsql.engine.spark.backend import Spark
from dpsql.engine.vault import Vault
from dpsql.errors import ExecutionError, SourceError
from dpsql.metadata.load import load
from dpsql.sources.identity import check_identity
from tests.engines.spark_data import by_spark
from tests.worlds import people

pytestmark = pytest.mark.slow
LONG = "SELECT CAST(count(*) AS BIGINT) AS n FROM range(100000000000) WHERE id % 7 = 3"


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """With visits.parquet of two rows, which is the table visits too."""
    folder = tmp_path_factory.mktemp("sources")
    pq.write_table(pa.table({"u": [1, 2], "x": [0.5, 1.5]}), folder / "visits.parquet")
    spark.read.parquet(str(folder / "visits.parquet")).write.saveAsTable("visits")
    yield folder
    spark.sql("DROP TABLE visits")


def at(spark: Any, name: str = "", *, files: str = "", timeout: int = 3600) -> SparkTable:
    cluster = Cluster(session=spark, timeout=timeout)
    return SparkTable(cluster=cluster, name=tuple(name.split(".")) if name else (), files=(files,) if files else ())


def opened(source: SparkTable) -> Vault:
    return Vault(Spark({"t": source}, Limits(), None), None)


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "name", "code"),
    [
        ("CREATE VIEW {} AS SELECT * FROM visits", "view_1", 316),
        ("CREATE TEMPORARY VIEW {} AS SELECT * FROM visits", "view_2", 316),
        ("CREATE GLOBAL TEMPORARY VIEW {} AS SELECT * FROM visits", "global_temp.view_3", 316),
        ("CREATE TABLE {} USING csv AS SELECT * FROM visits", "csv_1", 316),
        ("CREATE TABLE {} USING json AS SELECT * FROM visits", "json_1", 316),
        ("", "no_such_table", 303),
        ("", "no_such_schema.visits", 303),
        ("", "parquet./tmp/visits", 303),
    ],
)
def test_what_is_no_table_of_spark_is_refused(made: str, name: str, code: int, spark: Any, folder: Path) -> None:
    if made:
        spark.sql(made.format(name.rpartition(".")[2]))
    try:
        with pytest.raises(SourceError) as caught:
            opened(at(spark, name))
        assert caught.value.number == code
    finally:
        if made:
            spark.sql(f"DROP {'TABLE' if 'TABLE' in made else 'VIEW'} {name}")


def test_files_are_parquet(spark: Any, folder: Path) -> None:
    (folder / "visits.csv").write_text("u,x\n1,0.5\n")
    for file, code in (("visits.csv", 302), ("missing.parquet", 303)):
        with pytest.raises(SourceError) as caught:
            opened(at(spark, files=str(folder / file)))
        assert caught.value.number == code


MIXED = {
    "whole and real": ([1], [0.5]),
    "whole and text": ([1], ["1"]),
    "places": (pa.array([Decimal("1.5")], pa.decimal128(9, 2)), pa.array([Decimal("1.5")], pa.decimal128(9, 4))),
    "of one file": (pa.array([time_of_day(1)]),),
}


@pytest.mark.parametrize("kind", MIXED)
def test_files_with_a_type_that_spark_would_fail_at_are_refused_before_the_charge(
    kind: str, spark: Any, tmp_path: Path
) -> None:
    for n, values in enumerate(MIXED[kind]):
        pq.write_table(pa.table({"u": [n], "x": values}), tmp_path / f"{n}.parquet")
    with pytest.raises(SourceError) as caught:
        opened(at(spark, files=str(tmp_path)))
    assert caught.value.number == 302


def test_files_of_which_some_lack_a_column_are_read(spark: Any, tmp_path: Path) -> None:
    """Whichever file Spark asks for the columns."""
    pq.write_table(pa.table({"u": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"u": [2], "x": [3]}), tmp_path / "2.parquet")
    source = {"t": {"spark": spark, "files": str(tmp_path)}}
    with testing.exact(people({"x": "integer"}), source=source) as connection:
        assert connection.execute("SELECT COUNT(*), COUNT(x) FROM t").fetchall() == [(2, 1)]


def test_a_column_whose_files_have_another_type_than_the_table_is_not_read(spark: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": [1], "x": ["1"], "y": [2]}), tmp_path / "1.parquet")
    spark.sql(f"CREATE TABLE retyped (u BIGINT, x BIGINT, y BIGINT) USING parquet LOCATION '{tmp_path}'").collect()
    with opened(at(spark, "retyped")) as vault:
        types = {column.name: column.type for column in vault.columns("t")}
    assert types == {"u": "bigint", "x": "unreadable: bigint: its files hold string", "y": "bigint"}
    spark.sql("DROP TABLE retyped")


def test_footers_are_read_again_where_a_file_changed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only there: a table may have very many."""
    read: list[str] = []

    def counted(session: Any, table: str, *rest: Any) -> Any:
        read.append(table)
        return stored.stored_by_others(session, table, *rest)

    monkeypatch.setattr(describing, "stored_by_others", counted)
    pq.write_table(pa.table({"u": [1]}), tmp_path / "1.parquet")
    spark.sql(f"CREATE TABLE grown (u BIGINT) USING parquet LOCATION '{tmp_path}'").collect()
    source = {"t": at(spark, files=str(tmp_path)), "s": at(spark, "grown")}
    catalog = people({})
    catalog["tables"]["s"] = catalog["tables"]["t"]
    asked = "SELECT (SELECT COUNT(*) FROM t) + (SELECT COUNT(*) FROM s)"
    with testing.exact(catalog, source=source) as connection:
        for _ in range(2):
            assert connection.execute(asked).fetchall() == [(2,)]
        assert sorted(read) == ["s", "t"]
        pq.write_table(pa.table({"u": [2]}), tmp_path / "2.parquet")
        assert connection.execute(asked).fetchall() == [(4,)]
        assert sorted(read) == ["s", "s", "t", "t"]
    spark.sql("DROP TABLE grown")


def test_a_file_of_another_type_that_is_added_later_is_refused_before_the_charge(spark: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": [1]}), tmp_path / "1.parquet")
    catalog = people({}, per_query={"epsilon": 1}, budget={"epsilon": 9})
    with dpsql.connect(catalog, source={"t": at(spark, files=str(tmp_path))}, ledger=None) as connection:
        pq.write_table(pa.table({"u": ["2"]}), tmp_path / "2.parquet")
        with pytest.raises(SourceError) as caught:
            connection.execute("SELECT COUNT(*) FROM t")
        assert caught.value.number == 302 and connection.budget.spent.epsilon == 0


def test_a_dataframe_is_refused_and_says_what_to_do(spark: Any, folder: Path) -> None:
    frame = spark.table("visits")
    for source in (frame, {"t": frame}):
        with pytest.raises(dpsql.Error, match="a DataFrame of Spark is not a source") as caught:
            dpsql.connect(people({"x": "real"}), source=source, ledger=None)
        assert "saveAsTable" in str(caught.value)
    with testing.exact(people({"x": "real"}), source=frame.toArrow()) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(2,)]


def test_a_name_is_the_users_own(spark: Any, folder: Path) -> None:
    """USE says where it is looked for; where a temporary view hides a table of that name, nothing is read by it."""
    spark.sql("CREATE SCHEMA clinic")
    spark.sql("CREATE TABLE clinic.visits USING parquet AS SELECT 1L AS u")
    try:
        spark.sql("USE clinic")
        with opened(at(spark, "visits")) as vault:
            assert vault.identity("t")["schema"] == "clinic"
            spark.sql("USE default")
            assert vault.run(f"SELECT u FROM {vault.relation('t')}")["u"].tolist() == [1]
        spark.sql("CREATE TEMPORARY VIEW visits AS SELECT 7L AS u")
        with pytest.raises(SourceError, match="visits is a view"):
            opened(at(spark, "visits"))
        with opened(at(spark, "clinic.visits")) as vault:
            assert vault.columns("t")[0].name == "u"
    finally:
        spark.sql("USE default")
        spark.sql("DROP VIEW IF EXISTS visits")
        spark.sql("DROP SCHEMA clinic CASCADE")


# --- what is read ------------------------------------------------------------------------------------------------------


def test_no_setting_of_the_users_session_changes_an_answer(spark: Any, folder: Path) -> None:
    """ANSI mode, the time zone and everything else are those of the query's session (engine/spark/settings.py)."""
    columns = {"x": {"type": "real", "lower": 0, "upper": 4}, "y": "integer", "m": "timestamp"}
    spark.sql(
        "CREATE TABLE moments USING parquet AS SELECT id AS u, double(id) AS x, 9223372036854775807 - id AS y,"
        " timestamp_seconds(id * 1800) AS m FROM range(50)"
    )
    asked = (
        "SELECT date_part('hour', m), COUNT(*), SUM(x), COUNT(y * 2), COUNT(x / (x - x)) FROM t GROUP BY 1 ORDER BY 1"
    )
    before = {name: spark.conf.get(name) for name in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")}
    answers = []
    try:
        for ansi, zone in (("true", "Asia/Kolkata"), ("false", "America/New_York")):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            spark.conf.set("spark.sql.session.timeZone", zone)
            with testing.exact(people(columns), source={"t": {"spark": spark, "table": "moments"}}) as connection:
                answers.append(connection.execute(asked).fetchall())
            assert spark.conf.get("spark.sql.ansi.enabled") == ansi
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
        spark.sql("DROP TABLE moments")
    assert answers[0] == answers[1] and [row[:2] for row in answers[0]][:2] == [(0, 4), (1, 2)]


HOSTILE = {
    "i": "integer",
    "x": "real",
    "c": "decimal(38, 0)",
    "d": "date",
    "m": "timestamp",
    "z": "timestamp",
    "s": "text",
}


def hostile(folder: Path) -> Path:
    """Ends of every type as files hold them: days and microseconds that no calendar has, bytes that are no UTF-8."""
    days = pa.array([2**31 - 1, -(2**31), 0, -719893, 2932897, None], pa.int32()).cast(pa.date32())
    micros = pa.array([2**63 - 1, -(2**63), 0, -62167219200000001, 253402300800000000, None], pa.int64())
    bad = pa.array([b"\xff", b"\xfe\xff", b"ok", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", None], pa.binary())
    table = pa.table(
        {
            "u": [1, 2, 3, 4, 5, 6],
            "i": [2**63 - 1, -(2**63), 0, 1, 1, None],
            "x": [float("nan"), -0.0, float("inf"), 5e-324, -1.7976931348623157e308, None],
            "c": pa.array([10**38 - 1, 1 - 10**38, 0, 1, 2**63, None], pa.decimal128(38, 0)),
            "d": days,
            "m": micros.cast(pa.timestamp("us")),
            "z": micros.cast(pa.timestamp("us", "UTC")),
            "s": pa.StringArray.from_buffers(6, *bad.buffers()[1:], bad.buffers()[0]),
            "nested": [[1], [2], [], None, [3], [4]],
            "fields": [{"a": 1}] * 6,
            "raw": bad,
            "Twice": [1] * 6,
            "tWICE": [2] * 6,
            "tick`s\nand lines": [1] * 6,
        }
    )
    pq.write_table(by_spark(table), folder / "hostile.parquet")
    return folder / "hostile.parquet"


def test_no_stored_value_stops_a_query(spark: Any, folder: Path) -> None:
    source = {"t": {"spark": spark, "files": str(hostile(folder))}}
    both = "COUNT(d), COUNT(m), COUNT(z), COUNT(s), COUNT(x), COUNT(c), COUNT(i)"
    texts = ", ".join(f"COUNT(DISTINCT CAST({name} AS VARCHAR))" for name in "dmzic")
    parts = ", ".join(f"COUNT(DISTINCT date_part('year', {name}))" for name in "dmz")
    moved = "COUNT(d + INTERVAL 40 DAY), COUNT(m - INTERVAL 13 MONTH), COUNT(date_diff('day', m, z)), COUNT(i * i)"
    with testing.exact(people(HOSTILE, rows_per_unit=9), source=source) as connection:
        answered = [connection.execute(f"SELECT {items} FROM t").fetchall() for items in (both, texts, parts, moved)]
        assert connection.execute("SELECT COUNT(*) FROM t WHERE s = 'ok'").fetchall() == [(1,)]
    assert answered[0] == [(5, 5, 5, 1, 4, 5, 5)]  # NaN is no value, and of five texts one is UTF-8


def beyond(precision: int, scale: int, *units: int) -> Any:
    """Decimals of which the type does not say the digits, as files may hold them."""
    cells = b"".join(unit.to_bytes(16, "little", signed=True) for unit in units)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(units), [None, pa.py_buffer(cells)])


@pytest.mark.parametrize("as_integers", [True, False])
@pytest.mark.parametrize(("precision", "scale", "most"), [(9, 2, 2**31), (10, 0, 2**39), (18, 4, 2**63)])
def test_decimals_beyond_their_digits_are_no_values(
    precision: int, scale: int, most: int, as_integers: bool, spark: Any, tmp_path: Path
) -> None:
    end = 10**precision
    cells = beyond(precision, scale, end - 1, 1 - end, end, -end, most - 1, -most)
    table = pa.table({"u": range(6), "d": cells, "k": cells})
    pq.write_table(table, tmp_path / "d.parquet", store_decimal_as_integer=as_integers)
    source = {"t": {"spark": spark, "files": str(tmp_path)}}
    columns = {"d": f"decimal({precision}, {scale})", "k": "text"}
    with testing.exact(people(columns), source=source) as connection:
        asked = "SELECT COUNT(*), COUNT(d), COUNT(k), COUNT(d - d), COUNT(DISTINCT d) FROM t"
        assert connection.execute(asked).fetchall() == [(6, 2, 2, 2, 2)]
    with testing.exact(people({}, unit="d"), source=source) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(2 if scale == 0 else 0,)]


def test_columns_of_other_types_and_odd_names_are_said_not_to_be_readable(spark: Any, folder: Path) -> None:
    with opened(at(spark, files=str(hostile(folder)))) as vault:
        types = {column.name: column.type for column in vault.columns("t")}
    assert types["nested"] == "unreadable: array: arrays are not among dpsql's types"
    assert types["fields"] == "unreadable: struct: structs are not among dpsql's types"
    assert types["raw"].startswith("unreadable: binary") and types["Twice"] == types["tWICE"]
    assert types["Twice"].startswith("unreadable: another column") and types["m"] == "timestamp_ntz"


# --- what happens while a query runs -----------------------------------------------------------------------------------


def test_a_time_limit_has_a_code_of_its_own(spark: Any, folder: Path) -> None:
    with opened(at(spark, "visits", timeout=1)) as vault:
        with pytest.raises(ExecutionError) as caught:
            vault.run(LONG)
        assert caught.value.number == 506
        assert vault.run("SELECT u FROM visits ORDER BY u")["u"].tolist() == [1, 2]


def test_interrupt_from_a_thread(spark: Any, folder: Path) -> None:
    with opened(at(spark, "visits")) as vault:
        over = threading.Event()

        def again_and_again() -> None:
            time.sleep(1)
            while not over.wait(0.2):
                vault.interrupt()

        stopping = threading.Thread(target=again_and_again)
        stopping.start()
        with pytest.raises(ExecutionError) as caught:
            vault.run(LONG)
        over.set()
        stopping.join()
        assert caught.value.number == 503
        assert vault.run("SELECT u FROM visits ORDER BY u")["u"].tolist() == [1, 2]


def test_rows_that_change_while_a_query_runs_stop_it(spark: Any, folder: Path) -> None:
    """Added to a table, added to a folder of files, written over by hand."""
    spark.sql("CREATE TABLE changing USING parquet AS SELECT 1L AS u")
    files = folder / "changing"
    files.mkdir()
    pq.write_table(pa.table({"u": [1]}), files / "1.parquet")
    for source, change in (
        (at(spark, "changing"), lambda: spark.sql("INSERT INTO changing VALUES (2L)")),
        (at(spark, files=str(files)), lambda: pq.write_table(pa.table({"u": [2]}), files / "2.parquet")),
        (at(spark, files=str(files)), lambda: pq.write_table(pa.table({"u": [3, 4, 5]}), files / "1.parquet")),
    ):
        with opened(source) as vault:
            asked = f"SELECT CAST(count(*) AS BIGINT) AS n FROM {vault.relation('t')}"
            with vault.snapshot() as snapshot:
                before = snapshot.run(asked)["n"].tolist()
                change()
                with pytest.raises(ExecutionError) as caught:
                    snapshot.run(asked)
                assert caught.value.number == 505
            assert vault.run(asked)["n"].tolist() > before  # a new query sees the new rows
    spark.sql("DROP TABLE changing")


def test_a_table_that_is_altered_after_it_was_opened_is_another(spark: Any) -> None:
    spark.sql("CREATE TABLE altered USING parquet AS SELECT 1L AS u")
    with opened(at(spark, "altered")) as vault:
        spark.sql("ALTER TABLE altered ADD COLUMNS (x BIGINT)")
        with pytest.raises(ExecutionError) as caught, vault.snapshot() as snapshot:
            snapshot.start()
        assert caught.value.number == 505
    spark.sql("DROP TABLE altered")


# --- whose budget it is ------------------------------------------------------------------------------------------------

METADATA = """
dataset: visits
version: "1"
unit: person
budget: {{epsilon: 10, delta: 1.0e-6}}
tables:
  visits:
    source: {source}
    unit: u
    rows_per_unit: 1
    columns: {{u: integer, x: {{type: real, lower: 0, upper: 4}}}}
"""


def test_two_spellings_of_a_source_are_one_budget(spark: Any, folder: Path, tmp_path: Path) -> None:
    """The ledger knows it in a later process too, of Spark and of this one: nothing of a session is in an identity."""
    ledger = Ledger.open(tmp_path / "ledger", Account(dataset="visits", epsilon=None, capped=False))
    (tmp_path / "visits.yaml").write_text(METADATA.format(source='{spark: "local[2]", table: visits}'))
    declared = list(load(tmp_path / "visits.yaml").tables)

    def known(source: SparkTable) -> dict[str, str]:
        with Vault(Spark({"visits": source}, Limits(), None), None) as vault:
            check_identity(vault, declared, ledger)
            return dict(vault.identity("visits"))

    names = [known(at(spark, name)) for name in ("visits", "default.visits", "spark_catalog.default.visits")]
    assert all(one == names[0] for one in names)
    assert names[0] == {"kind": "spark", "catalog": "spark_catalog", "schema": "default", "table": "visits"}
    spark.sql("CREATE TABLE others USING parquet AS SELECT * FROM visits")
    with pytest.raises(SourceError) as caught:
        known(at(spark, "others"))
    assert caught.value.number == 317
    spark.sql("DROP TABLE others")
    ledger.close()


def test_files_are_known_by_where_they_are(spark: Any, folder: Path) -> None:
    path = str(folder / "visits.parquet")
    for spelling in (path, f"file:{path}", f"file://{path}"):
        with opened(at(spark, files=spelling)) as vault:
            assert vault.identity("t") == {"kind": "spark", "files": path}


def test_what_two_spellings_cost_is_on_one_ledger(spark: Any, folder: Path, tmp_path: Path) -> None:
    """A repeat is free in a later session, by another way to the same name; by another name it is charged once more."""
    metadata = tmp_path / "visits.yaml"
    asked = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) COUNT(*), SUM(x) FROM visits"
    answers, spent = [], []
    for rest in ("visits", "visits, timeout: 60", "spark_catalog.default.visits"):
        metadata.write_text(METADATA.format(source=f'{{spark: "{spark.sparkContext.master}", table: {rest}}}'))
        with dpsql.connect(metadata) as connection:
            answers.append(connection.execute(asked).fetchall())
            spent.append(float(connection.budget.spent.epsilon))
    assert answers[0] == answers[1] and spent == [1, 1, 2]


def test_milliseconds_are_not_read(spark: Any, folder: Path) -> None:
    """Spark would stop at the third row, and DuckDB too."""
    moments = pa.array([0, 1, 2**63 - 1], pa.timestamp("ms"))
    table = pa.table({"u": [1, 2, 3], "m": moments, "x": [1, 2, 3]})
    pq.write_table(table, folder / "millis.parquet")
    pq.write_table(table.set_column(1, "m", moments.cast("int64").cast(pa.timestamp("us"))), folder / "micros.parquet")
    with opened(at(spark, files=str(folder / "millis.parquet"))) as vault:
        types = {column.name: column.type for column in vault.columns("t")}
    assert types["m"].startswith("unreadable: timestamp_ntz: the files hold milliseconds") and types["x"] == "bigint"
    with opened(at(spark, files=str(folder / "micros.parquet"))) as vault:
        assert {column.name: column.type for column in vault.columns("t")}["m"] == "timestamp_ntz"
    spark.sql(f"CREATE TABLE foreign_moments USING parquet LOCATION '{folder / 'millis.parquet'}'").collect()
    spark.sql("CREATE TABLE its_moments USING parquet AS SELECT 1 AS u, timestamp_seconds(1) AS m").collect()
    spark.sql(
        f"CREATE TABLE orc_moments USING orc LOCATION '{folder / 'o'}' AS SELECT 1 AS u, timestamp_seconds(1) AS m"
    )
    for name, readable in (("foreign_moments", False), ("its_moments", True), ("orc_moments", False)):
        with opened(at(spark, name)) as vault:
            kind = {column.name: column.type for column in vault.columns("t")}["m"]
        assert kind.startswith("unreadable") != readable, (name, kind)


def test_decimals_that_others_wrote_as_bytes_are_not_read(spark: Any, folder: Path) -> None:
    """They may have more digits than their column says: only Spark is known to count them. It stops at such a one."""
    digits = b"".join((10**n).to_bytes(16, "little", signed=True) for n in (0, 1, 38))
    long, short = (pa.Array.from_buffers(pa.decimal128(p, 0), 3, [None, pa.py_buffer(digits)]) for p in (38, 18))
    table = pa.table({"u": [1, 2, 3], "long": long, "short": short})
    pq.write_table(table, folder / "digits.parquet")
    types = {}
    spark.sql(f"CREATE TABLE foreign_digits USING parquet LOCATION '{folder / 'digits.parquet'}'")
    spark.sql(
        f"CREATE TABLE orc_digits USING orc LOCATION '{folder / 'd'}' AS SELECT 1 AS u, CAST(1 AS DECIMAL(38)) AS long"
    )
    spark.sql("CREATE TABLE its_digits USING parquet AS SELECT 1 AS u, CAST(1 AS DECIMAL(38)) AS long")
    spark.table("its_digits").write.parquet(str(folder / "its_digits"))
    its_files, its_table = at(spark, files=str(folder / "its_digits")), at(spark, "its_digits")
    for source in (at(spark, "foreign_digits"), at(spark, "orc_digits"), its_files, its_table):
        with opened(source) as vault:
            types[source.name or source.files] = vault.columns("t")[1].type
    assert [word.startswith("unreadable: decimal(38,0)") for word in types.values()] == [True, True, False, False], (
        types
    )
    with testing.exact(people({"short": "decimal(18, 0)"}), source={"t": at(spark, "foreign_digits")}) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t WHERE short BETWEEN 0 AND 10").fetchall() == [(2,)]


def test_a_table_that_says_how_it_is_read_is_refused(spark: Any, folder: Path) -> None:
    """By this option Spark stopped at one day before 1582, whatever the session's settings say."""
    pq.write_table(pa.table({"u": [1, 2], "d": [date(2020, 1, 1), date(1000, 1, 1)]}), folder / "old.parquet")
    for option, refused in (("datetimeRebaseMode 'EXCEPTION'", True), ("compression 'zstd'", False)):
        name = "refusing" if refused else "squeezed"
        where = f"OPTIONS ({option}) LOCATION '{folder / 'old.parquet'}'"
        spark.sql(f"CREATE TABLE {name} (u BIGINT, d DATE) USING parquet {where}")
        if refused:
            with pytest.raises(SourceError) as caught:
                opened(at(spark, name))
            assert caught.value.number == 316 and "the option datetimeRebaseMode" in str(caught.value)
        else:
            with opened(at(spark, name)) as vault:
                assert [column.type for column in vault.columns("t")] == ["bigint", "date"]


def test_what_somebody_cached_is_not_read(spark: Any, folder: Path) -> None:
    """It is evaluated under the settings of their session, by which one day before 1582 stopped each query."""
    setting = "spark.sql.parquet.datetimeRebaseModeInRead"
    before = spark.conf.get(setting)
    pq.write_table(pa.table({"u": [1, 2], "d": [date(2020, 1, 1), date(1000, 1, 1)]}), folder / "cached.parquet")
    spark.sql(f"CREATE TABLE cached (u BIGINT, d DATE) USING parquet LOCATION '{folder / 'cached.parquet'}'")
    spark.conf.set(setting, "EXCEPTION")
    spark.catalog.cacheTable("cached")
    try:
        with testing.exact(people({"d": "date"}), source={"t": at(spark, "cached")}) as connection:
            assert connection.execute("SELECT COUNT(*), COUNT(d) FROM t").fetchall() == [(2, 2)]
    finally:
        spark.catalog.uncacheTable("cached")
        spark.conf.set(setting, before)
        spark.sql("DROP TABLE cached")


def test_buckets_are_not_believed(spark: Any, folder: Path) -> None:
    """Spark takes the number in a file's name for the bucket of all its rows: one unit in four files was four units."""
    where = folder / "buckets"
    where.mkdir()
    spark.sql(
        f"CREATE TABLE buckets (u BIGINT, x BIGINT) USING parquet CLUSTERED BY (u) INTO 4 BUCKETS LOCATION '{where}'"
    )
    for number in range(4):
        name = f"part-0000{number}-11111111-2222-3333-4444-555555555555_0000{number}.c000.snappy.parquet"
        pq.write_table(pa.table({"u": [7] * 5, "x": [1] * 5}), where / name)
    catalog = people({"x": {"type": "integer", "lower": 0, "upper": 1}}, rows_per_unit=2)
    with testing.exact(catalog, source={"t": at(spark, "buckets")}) as connection:
        answers = [
            connection.execute(f"SELECT {asked} FROM t").fetchall()[0][0]
            for asked in ("COUNT(*)", "SUM(x)", "COUNT(DISTINCT u)")
        ]
        per_unit = "SELECT COUNT(*) FROM (SELECT u, COUNT(*) AS n FROM t GROUP BY u)"
        answers += connection.execute(per_unit).fetchall()[0]
    assert answers == [2, 2, 1, 1]
    spark.sql("DROP TABLE buckets")


def test_one_folder_does_not_decide_whether_a_query_is_answered(spark: Any, folder: Path) -> None:
    """In ANSI mode Spark stops at a folder whose name is no value of its column, whatever is asked."""
    above = folder / "folders"
    for name, unit in (("k=1", 1), ("k=abc", 7)):
        (above / name).mkdir(parents=True)
        pq.write_table(pa.table({"u": [unit]}), above / name / "part.parquet")
    spark.sql(f"CREATE TABLE folders (u BIGINT, k BIGINT) USING parquet PARTITIONED BY (k) LOCATION '{above}'")
    spark.sql("MSCK REPAIR TABLE folders")
    with pytest.raises(SourceError) as caught:
        opened(at(spark, "folders"))
    assert caught.value.number == 316 and "reads as bigint (k)" in str(caught.value)
    with testing.exact(people({"k": "integer"}), source={"t": at(spark, files=str(above))}) as connection:
        assert connection.execute("SELECT COUNT(*), COUNT(k) FROM t").fetchall() == [(2, 1)]
    spark.sql("CREATE TABLE its_folders USING parquet PARTITIONED BY (k) AS SELECT 1 AS u, DATE'2020-01-01' AS k")
    with opened(at(spark, "its_folders")) as vault:
        assert [column.type for column in vault.columns("t")] == ["int", "date"]


@pytest.mark.parametrize("where", ["", "LOCATION '{}'"])
def test_no_value_in_a_folders_name_hides_its_file(where: str, spark: Any, folder: Path) -> None:
    """Spark says of files where they are as URIs: a value with a blank, say, is written in another way there."""
    values = [
        "a ",
        " ",
        "x%y",
        "x%20y",
        "A:ä",
        "a}b",
        "{a,b}",
        "a+b",
        "[a]",
        "a*?",
        "a\\b",
        "#;,&=",
        "日本",
        "a\nb",
        "/../",
        "~",
    ]
    rows = [(unit, value) for unit, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "u BIGINT, s STRING")
    spark.sql(
        f"CREATE TABLE named (u BIGINT, s STRING) USING parquet PARTITIONED BY (s) {where.format(folder / 'named')}"
    )
    frame.write.insertInto("named")
    with testing.exact(people({"s": "text"}), source={"t": at(spark, "named")}) as connection:
        answered = connection.execute("SELECT s, COUNT(*) FROM t GROUP BY s").fetchall()
    assert sorted(answered) == sorted((value, 1) for value in values)
    spark.sql("DROP TABLE named")


def test_days_and_moments_are_what_is_stored(spark: Any, folder: Path) -> None:
    """Before 1582 and before 1900, with INT96 and with a time zone."""
    rows = [datetime(1, 1, 1), datetime(1582, 10, 10, 1), datetime(1890, 3, 1, 0, 0, 1), datetime(9999, 12, 31, 23)]
    table = pa.table({"u": [1, 2, 3, 4], "m": rows, "d": [row.date() for row in rows]})
    old = folder / "int96.parquet"
    pq.write_table(table, old, use_deprecated_int96_timestamps=True)
    columns = {"m": "timestamp", "d": "date"}
    with testing.exact(people(columns), source={"t": {"spark": spark, "files": str(old)}}) as connection:
        asked = "SELECT COUNT_IF(CAST(m AS DATE) = d), COUNT_IF(d = DATE '1582-10-10') FROM t"
        assert connection.execute(asked).fetchall() == [(4, 1)]
    assert date(1582, 10, 10) in table["d"].to_pylist()


def test_decimals_with_a_scale_are_no_units_declared_text(spark: Any, tmp_path: Path) -> None:
    """1.00 there would be another person than 1 in a table of whole numbers."""
    catalog = people({})
    catalog["tables"]["t"]["columns"]["u"] = "text"
    for scale, read in ((0, True), (2, False)):
        pq.write_table(
            pa.table({"u": pa.array([Decimal(1), Decimal(2)], pa.decimal128(9, scale))}), tmp_path / "t.parquet"
        )
        source = {"t": at(spark, files=str(tmp_path / "t.parquet"))}
        asked = "SELECT COUNT(*), COUNT(DISTINCT u) FROM t"
        with testing.exact(catalog, source=source) as connection:
            if read:
                assert connection.execute(asked).fetchall() == [(2, 2)]
                continue
            with pytest.raises(dpsql.Error) as caught:
                connection.execute(asked)
            assert caught.value.number == 307
