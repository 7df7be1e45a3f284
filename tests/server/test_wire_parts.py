"""The PostgreSQL door in parts: texts, values, and messages that are none."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import random
import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import Error
from dpsql.server.wire import catalog_tables, messages, types
from dpsql.server.wire.catalog import PgCatalog
from dpsql.server.wire.catalog_text import cast_oids, rewritten, select_list
from dpsql.server.wire.conversation import HANDLERS, Conversation
from dpsql.server.wire.framing import read_message, read_startup
from dpsql.server.wire.messages import Bind, Execute, Named, Parse, WireError
from dpsql.server.wire.portals import Result, tag_of
from dpsql.server.wire.statements import Statements
from dpsql.server.wire.texts import first_words, parameters, statements, tokens
from dpsql.server.wire.transactions import FAILED, IDLE, OPEN, Transaction
from dpsql.session import open_session
from tests.server.started import write_data
from tests.server.test_malformed_http import MANY, assert_no_growth, held


def test_statements_are_split_where_they_end() -> None:
    sql = "SELECT ';' AS a; /* ; /* ; */ ; */ SELECT $$;$$, $x$;$x$, \"a;b\" -- ;\n, E'\\';' ; ;"
    assert statements(sql) == ["SELECT ';' AS a", "/* ; /* ; */ ; */ SELECT $$;$$, $x$;$x$, \"a;b\" -- ;\n, E'\\';'"]
    assert statements(" -- nothing\n ;; /* */") == []
    assert parameters("SELECT $1, '$9', $3 -- $8") == 3
    assert first_words("/* x */ Set Session a = 1") == ("set", "session", "a")


@given(st.text(max_size=60))
def test_any_text_has_tokens(sql: str) -> None:
    parts = tokens(sql)
    assert all(sql.startswith(part.text, part.start) and part.text.strip() for part in parts)
    assert len("".join(statements(sql))) <= len(sql)


VALUES: list[tuple[int, Any]] = [
    *((types.BOOL, v) for v in (True, False)),
    *((types.INT2, v) for v in (0, -5, 32_767)),
    *((types.INT8, v) for v in (2**63 - 1, -(2**63))),
    *((types.FLOAT8, v) for v in (1.5, -0.0, float("inf"), 1e300)),
    *((types.NUMERIC, Decimal(v)) for v in ("0", "1", "-1.50", "0.0001", "12345678.9", "10000", "-99990000", "1E-10")),
    *((types.DATE, v) for v in (dt.date(2000, 1, 1), dt.date(1731, 4, 27), dt.date(9999, 12, 31))),
    *((types.TIMESTAMP, v) for v in (dt.datetime(2020, 1, 2, 3, 4, 5, 6), dt.datetime(1, 1, 1))),
    *((types.TEXT, v) for v in ("", "é", "a'b")),
    *((1007, [1, None, -2]), (1016, []), (1009, ["a"])),
]


@pytest.mark.parametrize(("oid", "value"), VALUES, ids=repr)
def test_binary_values_come_back(oid: int, value: Any) -> None:
    raw = types.encoded(value, oid, 1)
    assert raw is not None
    again = types.decoded(raw, oid, 1)
    assert again == value and str(again) == str(value if oid != types.NUMERIC else again)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=8))
def test_numerics(value: Decimal) -> None:
    assert types.decoded(types.encoded(value, types.NUMERIC, 1), types.NUMERIC, 1) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((True, "t"), (1.0, "1"), (float("nan"), "NaN"), (float("-inf"), "-Infinity"), (b"\x00\xff", "\\x00ff")),
        *((dt.timedelta(days=1), "1 day"), (dt.timedelta(seconds=5), "00:00:05"), ([1, None], "{1,NULL}")),
        *((["a,b", 'c"d\\'], '{"a,b","c\\"d\\\\"}'), (dt.datetime(2020, 1, 1, 1), "2020-01-01 01:00:00")),
    ],
)
def test_text(value: Any, text: str) -> None:
    assert types.as_text(value) == text


@pytest.mark.parametrize(
    ("raw", "oid", "form"),
    [
        *((b"\x02", types.BOOL, 1), (b"12", types.INT4, 1), (b"x", types.INT4, 0), (b"1" * 30, types.INT8, 0)),
        *((b"soon", types.DATE, 0), (b"\xff", types.TEXT, 0), (b"{1", 1007, 0), (b"\0" * 11, 1007, 1)),
        *((struct.pack("!hhHh", 1, 0, 0xC000, 0) + b"\0\1", types.NUMERIC, 1), (b"maybe", types.BOOL, 0)),
        *((struct.pack("!hhHh1h", 1, 30_000, 0, 0, 1), types.NUMERIC, 1), (b"\0" * 8, types.INTERVAL, 1)),
        *((struct.pack("!iiIii", 1, 0, 23, 2**31 - 1, 1), 1007, 1), (struct.pack("!i", 2**31 - 1), types.DATE, 1)),
    ],
)
def test_what_is_no_value_is_refused(raw: bytes, oid: int, form: int) -> None:
    with pytest.raises(Error) as raised:
        types.decoded(raw, oid, form)
    assert raised.value.code == "DPSQL-109"


def test_catalog_texts() -> None:
    sql = "SELECT c.oid::pg_catalog.regclass, 'pg_catalog.pg_class', CAST($1 AS REGCLASS) FROM pg_catalog.pg_class c"
    sql += " WHERE relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default AND x <> 'a' AND 'v'::regclass = 5"
    made = rewritten(tokens(sql), ["pg_type"], {"v": 16_384})
    assert made == (
        "SELECT c . oid :: VARCHAR , 'pg_catalog.pg_class' , CAST ( 'pg_type' AS INTEGER ) FROM pg_class c "
        "WHERE relname ~ '^(t)$' AND x <> 'a' AND 'v' :: INTEGER = 5"
    ).replace("'pg_type' AS INTEGER", "1247 AS INTEGER").replace("'v' :: INTEGER", "16384 :: INTEGER")
    assert cast_oids("SELECT $1::oid[], $2, $3::pg_catalog.int4", [0, 21]) == [1028, 21, 23]
    assert select_list(tokens('SELECT a, b.c AS "D", f(x, y) z, 1 FROM t')) == ["a", "D", "z", "?column?"]


HOSTILE = [
    *("read_csv('/etc/passwd')", "read_text('/etc/passwd')", "glob('/*')", "'/etc/passwd'", "duckdb_settings()"),
    *("duckdb_databases()", "duckdb_settings", "query('SELECT 1')", "query_table('pg_type')", "pragma_version()"),
    *(
        "(SELECT getenv('HOME')) AS t",
        "\"read_csv\"('/etc/passwd')",
        "sqlite_master",
        "(SELECT current_setting('home')) AS t",
    ),
]


@pytest.fixture(scope="module")
def pg_catalog(tmp_path_factory: pytest.TempPathFactory) -> PgCatalog:
    return PgCatalog(open_session(write_data(tmp_path_factory.mktemp("catalog")), analyst="ana", restricted=True))


@pytest.mark.parametrize("source", HOSTILE)
def test_nothing_but_the_catalog_is_reached_through_it(pg_catalog: PgCatalog, source: str) -> None:
    answer = pg_catalog.rows(f"SELECT * FROM pg_class, {source}", [])
    assert answer is None or answer[1] == [] or "current_setting" in source and answer[1][0][-1] is None


@pytest.mark.parametrize("sql", ["DELETE FROM pg_class", "SELECT 1 FROM pg_class; DROP TABLE pg_class", "PRAGMA pg_x"])
def test_it_is_only_read(pg_catalog: PgCatalog, sql: str) -> None:
    answer = pg_catalog.rows(sql, [])
    assert answer is None or answer[1] == []
    told = pg_catalog.rows("SELECT relname FROM pg_catalog.pg_class ORDER BY oid", [])
    assert told == ([["relname", "VARCHAR"]], [("visits",), ("specialties",)])


def test_what_names_a_table_of_the_metadata_is_the_planners(pg_catalog: PgCatalog) -> None:
    for sql in ("SELECT * FROM pg_class, visits", "SELECT pg_x(cost) FROM visits", "SELECT COUNT(*) FROM visits"):
        assert pg_catalog.rows(sql, []) is None
    assert pg_catalog.rows('SELECT a AS "B", 1 FROM pg_nothing', []) == (
        [["B", "VARCHAR"], ["?column?", "VARCHAR"]],
        [],
    )


def test_every_table_and_function_of_the_catalog_binds(pg_catalog: PgCatalog) -> None:
    for table in catalog_tables.TABLES:
        assert pg_catalog.columns(f"SELECT * FROM {table}, pg_class", []), table
    for macro in catalog_tables.MACROS:
        name, _, arguments = macro.partition(" AS ")[0].partition("(")
        values = ", ".join(["NULL"] * arguments.count("z"))
        if name != "_pg_expandarray":
            assert pg_catalog.rows(f"SELECT pg_catalog.{name}({values}) AS x, oid FROM pg_am", []) is not None, macro
            assert len(pg_catalog.rows(f"SELECT pg_catalog.{name}({values}) AS x, oid FROM pg_am", [])[1]) == 2, macro  # type: ignore[index]


def test_transactions() -> None:
    here = Transaction()
    assert here.reply("BEGIN") is not None and here.status == OPEN
    here.status = FAILED
    assert (reply := here.reply("commit work")) is not None and reply.tag == "ROLLBACK" and here.status == IDLE
    assert here.reply("SET epsilon = 1") is None and here.reply("SHOW budget") is None
    assert (reply := here.reply("SET application_name = 'x y'")) is not None and reply.tag == "SET"
    assert (reply := here.reply("SHOW application_name")) is not None and reply.shown == ("application_name", "x y")
    assert (reply := here.reply("show transaction isolation level")) is not None and reply.shown is not None
    assert (reply := here.reply("RESET ALL")) is not None and reply.tag == "RESET" and reply.resets
    assert here.settings == {} and here.reply("RESET epsilon") is None
    assert (
        (reply := here.reply("DISCARD ALL")) is not None and reply.statements == reply.cursors == "all" and reply.resets
    )
    assert (reply := here.reply("DISCARD PLANS")) is not None and reply.tag == "DISCARD PLANS" and not reply.resets
    for wrong in ("SHOW nothing", "SET client_encoding = 'LATIN1'", "SET statement_timeout = 'soon'"):
        with pytest.raises(Error):
            here.reply(wrong)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5000", 5), ("'5s'", 5), ("'2 min'", 120), ("250ms", 0.25), ("0", None), ("default", None), ("'0'", None)],
)
def test_a_timeout_is_read_as_postgresql_reads_it(value: str, seconds: float | None) -> None:
    here = Transaction()
    assert here.reply("SET statement_timeout = 1") is not None and here.timeout == 0.001
    assert here.reply(f"SET SESSION statement_timeout TO {value}") is not None and here.timeout == seconds
    assert here.reply("RESET statement_timeout") is not None and here.timeout is None


def test_tags() -> None:
    assert tag_of("insert", "INSERT INTO t VALUES (1)", 1, None) == "INSERT 0 1"
    assert tag_of("change", "DELETE FROM t", 3, None) == "DELETE 3"
    assert tag_of("query", "SELECT 1", -1, [1, 2]) == "SELECT 2"
    assert tag_of("create_table", "CREATE TABLE t (a INTEGER)", -1, None) == "CREATE TABLE"


# --- malformed messages


class Sink:
    """A writer: sent is what was written."""

    def __init__(self) -> None:
        self.sent = bytearray()

    def writelines(self, parts: Any) -> None:
        for part in parts:
            self.write(part)

    def write(self, part: bytes) -> None:
        assert isinstance(part, bytes)
        self.sent += part

    async def drain(self) -> None: ...


class Client(Statements):
    """Without a server behind it: statements give one row."""

    def __init__(self) -> None:
        nothing: Any = None
        super().__init__(nothing, "ana", nothing)

    def check(self) -> None: ...

    async def _asked(self, sql: str, values: Any) -> Result:
        return Result("SELECT 1", [["a", "INTEGER"], ["b", "VARCHAR"]], [[1, "x"]], "told")

    async def describe(self, prepared: Any, values: Any) -> Any:
        return [types.INT4] * parameters(prepared.sql), [["a", "INTEGER"], ["b", "VARCHAR"]]


def bind(portal: bytes = b"", statement: bytes = b"", values: tuple[bytes | None, ...] = ()) -> bytes:
    sent = b"".join(b"\xff" * 4 if v is None else struct.pack("!i", len(v)) + v for v in values)
    return portal + b"\0" + statement + b"\0" + struct.pack("!hh", 0, len(values)) + sent + struct.pack("!h", 0)


SOUND = [
    messages.message(b"Q", b"SELECT 1; SELECT 2\0"),
    messages.message(b"P", b"s\0SELECT $1, $2\0", struct.pack("!hI", 1, 23)),
    messages.message(b"P", b"\0SELECT 1\0", struct.pack("!h", 0)),
    messages.message(b"B", bind(b"p", b"s", (b"1", None))),
    messages.message(b"B", bind()),
    *(
        messages.message(tag, kind + name + b"\0")
        for tag in (b"D", b"C")
        for kind in (b"S", b"P")
        for name in (b"", b"s")
    ),
    messages.message(b"E", b"\0", struct.pack("!i", 1)),
    messages.message(b"E", b"p\0", struct.pack("!i", 0)),
    *(messages.message(b"S"), messages.message(b"H")),
    messages.message(b"Q", b"BEGIN\0"),
    messages.message(b"Q", b"DECLARE c CURSOR FOR SELECT 1\0"),
    messages.message(b"Q", b"FETCH 5 FROM c\0"),
]


def mutated(draw: random.Random) -> bytes:
    """A few sound messages, with bytes changed, lost, doubled."""
    stream = bytearray(b"".join(draw.choices(SOUND, k=draw.randint(1, 5))))
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(stream))
        match draw.randrange(4):
            case 0:
                stream[place] = draw.randrange(256)
            case 1:
                del stream[place : place + draw.randint(1, 4)]
            case 2:
                stream[place:place] = draw.randbytes(draw.randint(1, 6))
            case _:
                stream[place : place + 4] = struct.pack("!i", draw.choice([0, 3, 4, -1, 2**31 - 1, 17 << 20]))
        if not stream:
            return b"Q"
    return bytes(stream)


async def _heard(stream: bytes) -> str:
    reader = asyncio.StreamReader()
    reader.feed_data(stream)
    reader.feed_eof()
    sink: Any = Sink()
    try:
        await Conversation(reader, sink, Client()).talk()
    except (WireError, EOFError) as error:
        return type(error).__name__
    return "goodbye"


@pytest.mark.parametrize("count", MANY)
def test_malformed_streams_end_in_errors_of_the_protocol_alone(count: int) -> None:
    draw = random.Random(17)

    async def hear(count: int) -> set[str]:
        return {await _heard(mutated(draw)) for _ in range(count)}

    asyncio.run(hear(count // 5))
    before = held()
    seen = asyncio.run(hear(count - count // 5))
    assert {"WireError", "IncompleteReadError"} <= seen <= {"WireError", "IncompleteReadError", "goodbye"}
    assert_no_growth(before)


def test_sound_streams_are_understood() -> None:
    assert asyncio.run(_heard(b"".join(SOUND) + messages.message(b"S") + messages.message(b"X"))) == "goodbye"


@given(
    st.binary(max_size=40), st.sampled_from([Parse.read, Bind.read, Named.read, Execute.read, messages.read_startup])
)
def test_any_body_is_read_or_refused(body: bytes, read: Any) -> None:
    with contextlib.suppress(WireError):
        read(body)


@given(st.binary(max_size=40))
def test_any_first_packet(raw: bytes) -> None:
    async def read() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(raw)
        reader.feed_eof()
        with contextlib.suppress(WireError, EOFError):
            await read_startup(reader)
            await read_message(reader, 100)

    asyncio.run(read())


def test_every_message_has_its_place() -> None:
    assert set(HANDLERS) == {bytes([tag]) for tag in b"QPBDECHdcf"}


def test_a_statement_that_is_too_long_is_not_even_looked_at() -> None:
    """Eight megabytes of it once kept everybody waiting for minutes: the door reads on the server's one loop."""
    long = b"SELECT " + b"1+" * 4_000_000 + b"1\0"
    for message in (messages.message(b"Q", long), messages.message(b"P", b"\0", long, struct.pack("!h", 0))):
        assert asyncio.run(_heard(message + messages.message(b"X"))) == "goodbye"


def test_a_line_of_the_log_is_a_line(pg_catalog: PgCatalog, capsys: pytest.CaptureFixture[str]) -> None:
    pg_catalog.rows('SELECT "a\ndpsql: a bug\x1b[2J" FROM pg_nothing_at_all', [])
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "\x1b" not in said and "a\\ndpsql: a bug" in said


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT current_user, session_user, current_catalog", "current_user, session_user, current_catalog"),
        ("SELECT COUNT(*), coalesce(1, 2), NULL, 'x', 1 + 1 FROM pg_class", "count, coalesce" + ", ?column?" * 3),
        ('SELECT oid::regclass, CASE WHEN true THEN 1 END, 1 AS "The (a)" FROM pg_class', "oid, case, The (a)"),
    ],
)
def test_columns_have_postgresqls_names(pg_catalog: PgCatalog, sql: str, names: str) -> None:
    assert ", ".join(name for name, _ in pg_catalog.columns(sql, []) or []) == names
