"""Stored columns of every PostgreSQL type, read as every declared type: no value makes it fail, each means what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import dpsql
from dpsql.catalog.model import Catalog, ColumnSpec, TableSpec
from dpsql.domain.types import BIGINT, BOOLEAN, DATE, REAL, TEXT, TIMESTAMP, Type, decimal
from dpsql.errors import SourceError, SqlError
from dpsql.metadata.load import loads
from dpsql.plan.dialects.postgres import POSTGRES
from dpsql.plan.render.clean import kept
from dpsql.testing import exact
from tests.engines.postgres import COLLATED, OWNER, Server
from tests.worlds import people

MOST = 2**63 - 1
TEXTS = [
    None, "", " ", "a", "A", "a ", "1", " -12 ", "1.5", "2.5", ".5", "5.", "1e3", "1e99", "1e-99", "1e999",
    "9" * 60, "0" * 40 + "1", "nan",
    "inf", "1_000", "0x1F", "1d", "true", "T", "no", "1\n", "\t1", "2020-02-29", "2021-02-29", " 2020-01-31 ",
    "0000-01-01", "9999-12-31",
    "2020-13-01", "2020-04-31", "1900-02-29", "2020-01-31 23:59:59.123456", "2020-01-31T12:00:00",
    "2020-01-31 24:00:00", "2020-1-1",
    "infinity", "now", "epoch", "é", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "99999999.999",
]  # fmt: skip
# A type, its word, and values as PostgreSQL's texts.
STORED: dict[str, tuple[str, list[str | None]]] = {
    "boolean": ("boolean", [None, "true", "false"]),
    "smallint": ("smallint", [None, "0", "-32768", "32767"]),
    "integer": ("integer", [None, "0", "-2147483648", "2147483647"]),
    "bigint": ("bigint", [None, "0", "1", str(MOST), str(-MOST - 1)]),
    "real": ("real", [None, "0", "-0", "0.1", "NaN", "Infinity", "-Infinity", "3.4e38", "1e-45", "16777217"]),
    "double precision": (
        "double precision",
        [None, "0", "-0", "0.1", "NaN", "Infinity", "-Infinity", "1e308", "5e-324", "9.3e18",
        "9223372036854775808", "2.5"],
    ),
    "numeric": (
        "numeric",
        [None, "0", "1.50", "1.5", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "9" * 60,
        "9223372036854775807.5",
         "9223372036854775807.4", "-9223372036854775808.5", "99999999.995"],
    ),
    "numeric(10,2)": ("numeric(10,2)", [None, "0", "1.5", "NaN", "99999999.99", "-99999999.99"]),
    "numeric(38,10)": ("numeric(38,10)", [None, "1e27", "-1e27", "0.0000000001", "NaN", "9007199254740993.1"]),
    "date": ("date", [None, "0001-01-01", "9999-12-31", "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31",
    "1969-12-31"]),
    "timestamp": (
        "timestamp",
        [None, "0001-01-01", "9999-12-31 23:59:59.999999", "infinity", "-infinity", "4713-01-01 BC",
        "294276-12-31", "1969-12-31 23:59:59.999999"],
    ),
    "timestamptz": (
        "timestamptz",
        [None, "2020-01-01 00:00+14", "infinity", "-infinity", "4713-01-01 BC", "294276-12-31",
        "9999-12-31 23:59:59-12"],
    ),
    "text": ("text", TEXTS),
    "varchar(200)": ("varchar", TEXTS),
    "char(80)": ("char", TEXTS),
    "text COLLATE public.insensitive": ("folded text", TEXTS),
    "uuid": ("uuid", [None, "00000000-0000-0000-0000-000000000000", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]),
    "mood": ("enum", [None, "happy", "sad"]),
}  # fmt: skip
DECLARED = [
    TEXT,
    BIGINT,
    BOOLEAN,
    REAL,
    DATE,
    TIMESTAMP,
    decimal(9, 2),
    decimal(38, 10),
    decimal(38, 0),
    decimal(4, 4),
    decimal(10, 2),
]


@pytest.fixture(scope="module")
def database(postgres: Server) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(host=str(postgres.folder), dbname=COLLATED, user=OWNER, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
        for n, (type_, (_, values)) in enumerate(STORED.items()):
            connection.execute(f"CREATE TABLE s{n} (r integer, x {type_})")
            for r, value in enumerate(values):
                word = type_.partition(" COLLATE")[0]
                connection.execute(f"INSERT INTO s{n} VALUES (%s, CAST(%s::text AS {word}))", (r, value))
        yield connection


def spec() -> TableSpec:
    catalog: Catalog = loads(
        "dataset: d\nunit: person\nbudget: {epsilon: 1}\ntables: {t: {unit: u, columns: {u: integer}}}"
    )
    return catalog.tables[0]


def values(
    database: psycopg.Connection[Any], stored: str, declared: Type, *, is_unit: bool = False
) -> dict[str | None, Any]:
    """What each value is, cleaned, by its text. SourceError where it cannot be read."""
    word, written = STORED[stored]
    column = ColumnSpec(name="x", type=declared)
    read = POSTGRES.read('"x"', word, column, spec(), is_unit=is_unit)
    clean = "x" if is_unit else kept("x", column, POSTGRES)
    number = list(STORED).index(stored)
    sql = f"SELECT {clean} FROM (SELECT r, {read} AS x FROM s{number}) AS raw ORDER BY r".replace("%", "%%")
    answers = database.cursor(binary=True).execute(sql, ()).fetchall()
    return dict(zip(written, (value for (value,) in answers), strict=True))


def test_no_value_makes_reading_fail(database: psycopg.Connection[Any]) -> None:
    """Each pair of types is refused, or read whatever is stored."""
    readable = set()
    for stored in STORED:
        for declared in DECLARED:
            for is_unit in (False, True):
                try:
                    read = values(database, stored, declared, is_unit=is_unit)
                except SourceError as refused:
                    assert refused.code == "DPSQL-307"
                    continue
                assert read[None] is None
                readable.add((stored, declared, is_unit))
    for stored in STORED:
        assert any((stored, declared, False) in readable for declared in DECLARED)
    assert not any(is_unit and declared not in (TEXT, BIGINT) for _, declared, is_unit in readable)
    assert ("double precision", decimal(9, 2), False) not in readable  # numeric keeps 15 digits of it


def test_numbers(database: psycopg.Connection[Any]) -> None:
    whole = values(database, "numeric", BIGINT)
    assert whole["1.50"] == whole["1.5"] == 2 and whole["9223372036854775807.4"] == MOST
    assert [
        whole[text] for text in ("NaN", "Infinity", "1e400", "9223372036854775807.5", "-9223372036854775808.5")
    ] == [None] * 5
    real = values(database, "numeric", REAL)
    assert [real[text] for text in ("1e400", "-1e400", "1e-400", "NaN")] == [float("inf"), float("-inf"), 0.0, None]
    assert values(database, "double precision", REAL)["-0"].hex() == "0x0.0p+0"
    doubles = values(database, "double precision", BIGINT)
    assert (doubles["2.5"], doubles["9.3e18"], doubles["9223372036854775808"], doubles["NaN"]) == (2, None, None, None)
    money = values(database, "numeric", decimal(10, 2))
    assert money["99999999.995"] is None and str(money["1.5"]) == "1.50"
    assert values(database, "numeric(38,10)", REAL)["9007199254740993.1"] == 9007199254740993.1
    texts = values(database, "text", BIGINT)
    assert {text for text, value in texts.items() if value is not None} == {
        *("1", " -12 ", "1.5", "2.5", ".5", "5.", "1e3", "1e-99"),
        *("9223372036854775807", "-9223372036854775808", "99999999.999"),
    }
    assert (texts["1.5"], texts["2.5"], texts["1e3"]) == (2, 3, 1000)
    assert values(database, "text", REAL)["1e99"] == 1e99


def test_texts(database: psycopg.Connection[Any]) -> None:
    """Byte by byte in any collation; what pads char(n) is no part of it."""
    assert values(database, "char(80)", TEXT)["a "] == "a" and values(database, "text", TEXT)["a "] == "a "
    assert (
        values(database, "uuid", TEXT)["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"] == "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    )
    number = list(STORED).index("text COLLATE public.insensitive")
    read = POSTGRES.read('"x"', "text", ColumnSpec(name="x", type=TEXT), spec(), is_unit=False)
    sql = f"SELECT x FROM (SELECT {read} AS x FROM s{number}) AS t WHERE lower(x) = 'a' GROUP BY x"
    assert sorted(row[0] for row in database.execute(sql).fetchall()) == ["A", "a"]


def test_moments(database: psycopg.Connection[Any]) -> None:
    days = {text: str(day) for text, day in values(database, "date", DATE).items()}
    assert (days["infinity"], days["4713-01-01 BC"], days["5874897-12-31"]) == ("None", "0001-01-01", "9999-12-31")
    times = {text: str(time) for text, time in values(database, "date", TIMESTAMP).items()}
    assert times["5874897-12-31"] == "9999-12-31 23:59:59.999999" and times["-infinity"] == "None"
    zoned = {text: str(time) for text, time in values(database, "timestamptz", TIMESTAMP).items()}
    assert zoned["2020-01-01 00:00+14"] == "2019-12-31 10:00:00"
    assert zoned["9999-12-31 23:59:59-12"] == "9999-12-31 23:59:59.999999"
    written = values(database, "text", DATE)
    assert {text for text, day in written.items() if day is not None} == {"2020-02-29", " 2020-01-31 ", "9999-12-31"}
    stamps = {text for text, time in values(database, "text", TIMESTAMP).items() if time is not None}
    assert stamps - set(written) == set() and "2020-01-31T12:00:00" in stamps and "2020-01-31 24:00:00" not in stamps


def test_units_are_told_apart_as_postgresql_does(database: psycopg.Connection[Any]) -> None:
    texts = values(database, "numeric", TEXT, is_unit=True)
    assert texts["1.50"] == texts["1.5"] == "1.5"  # one value, one unit
    whole = values(database, "numeric", BIGINT, is_unit=True)
    assert whole["1.5"] is None and whole["0"] == 0
    written = values(database, "text", BIGINT, is_unit=True)
    assert {text for text, unit in written.items() if unit is not None} == {"1"}
    for stored in ("double precision", "real"):
        with pytest.raises(SourceError):
            values(database, stored, TEXT, is_unit=True)


@pytest.mark.parametrize("word", ["unreadable: integer[]: arrays are not among dpsql's types", "something"])
def test_other_types_are_refused(word: str) -> None:
    for declared in DECLARED:
        with pytest.raises(SourceError) as refused:
            POSTGRES.read('"x"', word, ColumnSpec(name="x", type=declared), spec(), is_unit=False)
        assert refused.value.code == "DPSQL-307" and refused.value.fix


@pytest.mark.slow
def test_one_long_text_does_not_decide_whether_a_query_is_answered(postgres: Server) -> None:
    """TRIM takes eight times a text's size, TRANSLATE and regular expressions four times, and PostgreSQL gives 1 GiB."""
    postgres.execute(
        """
        CREATE TABLE long_texts (u bigint, t text, v varchar);
        ALTER TABLE long_texts ALTER t SET STORAGE EXTERNAL, ALTER v SET STORAGE EXTERNAL;  -- not compressed: faster
        INSERT INTO long_texts VALUES (1, '1', '2020-01-01'), (2, ' 1 ', 'yes');
        INSERT INTO long_texts SELECT 3, repeat('1', 135000000), '';
        """
    )
    given = {"t": postgres.table("long_texts")}
    asked = {
        ("text", "text"): "COUNT(t), COUNT_IF(TRIM(t) = '1'), COUNT_IF(TRANSLATE(t, '1', '2') < '22')",
        ("integer", "date"): "COUNT(t), COUNT(v), SUM(t)",
        ("real", "timestamp"): "COUNT(t), COUNT(v), COUNT(*)",
        ("boolean", "boolean"): "COUNT(t), COUNT(v), COUNT(*)",
    }
    answers = []
    for (first, second), measured in asked.items():
        bounded_ = {"type": first, "lower": 0, "upper": 9} if first == "integer" else first
        with exact(people({"t": bounded_, "v": second}), source=given) as connection:
            answers += connection.execute(f"SELECT {measured} FROM t").fetchall()
    assert answers == [(2, 2, 2), (2, 1, 2), (2, 1, 3), (1, 1, 3)]


def test_one_text_does_not_decide_whether_a_pattern_is_answered(postgres: Server) -> None:
    """PostgreSQL calls itself for each % behind which the text matches, and ended its stack after 40,000."""
    postgres.execute(
        "CREATE TABLE alike (u bigint, t text); INSERT INTO alike VALUES (1, repeat('a', 40000)), (2, 'b')"
    )
    with exact(people({"t": "text"}), source={"t": postgres.table("alike")}) as connection:
        asked = "SELECT COUNT(*) FROM t WHERE t LIKE '{}'"
        assert connection.execute(asked.format("%a" * 500)).fetchall() == [(1,)]
        with pytest.raises(SqlError, match="the pattern is longer than 1000 characters"):
            connection.execute(asked.format("%a" * 40_000))


@pytest.mark.slow
def test_texts_that_are_made_of_one_text_do_not_decide_whether_a_query_is_answered(postgres: Server) -> None:
    """17 of 64 MiB are larger than a row may be."""
    postgres.execute(
        """
        CREATE TABLE made (u bigint, t text);
        INSERT INTO made VALUES (1, repeat('a', 16777216)), (2, repeat('a', 1048576)), (3, 'b');
        """
    )
    with exact(people({"t": "text"}), source={"t": postgres.table("made")}) as connection:
        asked = "SELECT COUNT(t), COUNT(r) FROM (SELECT t, row_number() OVER (PARTITION BY u ORDER BY {}) AS r FROM t)"
        texts = [f"translate(t, 'a', '{chr(0x1F600 + n)}')" for n in range(200)]
        assert connection.execute(asked.format(", ".join(texts[:18]))).fetchall() == [(2, 3)]
        with pytest.raises(dpsql.Error, match="a query that makes so many texts is not answered on PostgreSQL"):
            connection.execute(asked.format(", ".join(texts)))
        copied = ", ".join(f"c AS c{n}" for n in range(200)), ", ".join(f"c{n}" for n in range(200))
        below = f"(SELECT u, {copied[0]} FROM (SELECT u, {texts[0]} AS c FROM t))"
        with pytest.raises(dpsql.Error, match="makes so many texts"):
            connection.execute(
                f"SELECT SUM(r) FROM (SELECT row_number() OVER (PARTITION BY u ORDER BY {copied[1]}) AS r FROM {below})"
            )


@pytest.mark.slow
def test_long_texts_of_one_unit_do_not_decide_whether_the_first_is_answered(postgres: Server) -> None:
    """Gathered in an array, 1,200 of them would have more than the 1 GiB that PostgreSQL gives a value."""
    postgres.execute(
        """
        CREATE TABLE many_long_texts (u bigint, t text, v bigint);
        INSERT INTO many_long_texts SELECT 1, repeat('x', 1000000), i FROM generate_series(1, 1200) AS s(i);
        INSERT INTO many_long_texts VALUES (2, 'y', 1), (2, 'z', 2);
        """
    )
    given = {"t": postgres.table("many_long_texts")}
    with exact(people({"t": "text", "v": "integer"}), source=given) as connection:
        answers = connection.execute(
            "SELECT COUNT(f), COUNT_IF(f = 'y'), COUNT_IF(l = 'z') FROM (SELECT u, FIRST(t ORDER BY v) AS f,"
            " LAST(t ORDER BY v) AS l FROM t GROUP BY u)"
        ).fetchall()
    assert answers == [(2, 1, 1)]


def test_units_that_a_collation_takes_for_one_are_not_read_as_two(postgres: Server) -> None:
    """'anna' and 'ANNA' are one person to that database, and would have counted twice."""
    postgres.execute(
        """
        CREATE TABLE folded (u text COLLATE insensitive, v text COLLATE "C", x bigint);
        INSERT INTO folded VALUES ('anna', 'anna', 1), ('ANNA', 'ANNA', 2);
        """,
        database=COLLATED,
    )
    given = {"t": postgres.table("folded", database=COLLATED)}
    with exact(people({"u": "text", "v": "text"}), source=given) as connection, pytest.raises(SourceError) as caught:
        connection.execute("SELECT COUNT(*) FROM t")
    assert caught.value.number == 307 and "collation" in str(caught.value)
    with exact(people({"u": "text", "v": "text"}, unit="v"), source=given) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t WHERE u = 'anna'").fetchall() == [(1,)]


def test_numbers_of_one_unit_are_one_text(postgres: Server) -> None:
    """1 in one table, 1.00 in another, 1.0 beside 1 in a third."""
    postgres.execute(
        """
        CREATE TABLE whole (u bigint); INSERT INTO whole VALUES (1), (20);
        CREATE TABLE fixed_ (u numeric(5,2)); INSERT INTO fixed_ VALUES (1), (20);
        CREATE TABLE free (u numeric); INSERT INTO free VALUES (1.0), (1), (20.000), ('NaN');
        """
    )
    catalog = people({})
    catalog["tables"]["t"]["columns"]["u"] = "text"
    catalog["tables"] |= dict.fromkeys(("s", "r"), catalog["tables"]["t"])
    given = {"t": postgres.table("whole"), "s": postgres.table("fixed_"), "r": postgres.table("free")}
    every = " UNION ALL ".join(f"SELECT u FROM {name}" for name in "tsr")
    with exact(catalog, source=given) as connection:
        answered = connection.execute(f"SELECT COUNT(*), COUNT(DISTINCT u) FROM ({every})").fetchall()
    assert answered == [(8, 3)]
