"""What PostgreSQL's catalogs say of a table, without a row being read."""

from __future__ import annotations

import time

import pytest

from dpsql.engine.sources import UNREADABLE
from dpsql.engine.vault import Vault
from dpsql.errors import ExecutionError, SourceError
from dpsql.testing import exact
from tests.engines.postgres import Server
from tests.worlds import dataset, people, private, public

TYPES = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "integer",
    "bigint": "bigint",
    "real": "real",
    "double precision": "double precision",
    "numeric": "numeric",
    "numeric(10,2)": "numeric(10,2)",
    "numeric(38)": "numeric(38,0)",
    "numeric(39,1)": "numeric",
    "numeric(3,-2)": "numeric",
    "numeric(2,5)": "numeric",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp(3)": "timestamp",
    "timestamptz": "timestamptz",
    "text": "text",
    'text COLLATE "C"': "text",
    "varchar": "varchar",
    "varchar(7)": "varchar",
    "char(5)": "char",
    "uuid": "uuid",
    "mood": "enum",
    "amount": "numeric(12,3)",
    "small_amount": "numeric(12,3)",
}
UNREAD = (
    "json",
    "jsonb",
    "money",
    "time",
    "interval",
    "bytea",
    "integer[]",
    "pair",
    "int4range",
    "inet",
    "xml",
    "oid",
    "name",
)


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    postgres.execute(
        """
        CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO reader;
        CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE TYPE pair AS (a integer, b integer);
        CREATE DOMAIN amount AS numeric(12,3) CHECK (VALUE > 0) NOT NULL; CREATE DOMAIN small_amount AS amount;
        CREATE TABLE other."Odd ""name" (a integer); GRANT SELECT ON other."Odd ""name" TO reader;
        CREATE TABLE plain_rows (u bigint, x integer); INSERT INTO plain_rows SELECT i, i FROM generate_series(1, 1000) i;
        CREATE MATERIALIZED VIEW stored AS SELECT * FROM plain_rows;
        CREATE MATERIALIZED VIEW not_stored AS SELECT * FROM plain_rows WITH NO DATA;
        CREATE VIEW viewed AS SELECT u, x + 1 AS x, current_date AS today FROM plain_rows;
        CREATE VIEW viewed_twice AS SELECT * FROM viewed;
        CREATE VIEW sampled AS SELECT * FROM plain_rows TABLESAMPLE BERNOULLI (50);
        CREATE VIEW limited AS SELECT * FROM plain_rows LIMIT 5;
        CREATE VIEW random_rows AS SELECT u, random() AS r FROM plain_rows;
        CREATE VIEW of_random_rows AS SELECT u FROM random_rows;
        CREATE TABLE parts (u bigint, x integer) PARTITION BY RANGE (x);
        CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
        CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
        INSERT INTO parts SELECT i, i FROM generate_series(0, 19) i;
        CREATE TABLE parent (u bigint); CREATE TABLE child () INHERITS (parent);
        CREATE TABLE hidden (u bigint); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
        CREATE TABLE secret (u bigint); REVOKE ALL ON secret FROM reader;
        CREATE TABLE partly (u bigint, x integer); REVOKE ALL ON partly FROM reader; GRANT SELECT (u) ON partly TO reader;
        CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;
        CREATE FOREIGN TABLE abroad (u bigint) SERVER s;
        CREATE VIEW of_abroad AS SELECT * FROM abroad;
        CREATE VIEW of_hidden AS SELECT * FROM hidden; ALTER VIEW of_hidden OWNER TO guarded;
        GRANT SELECT ON of_hidden TO reader;
        """
    )
    columns = ", ".join(f'"c{i}" {type_}' for i, type_ in enumerate((*TYPES, *UNREAD)))
    postgres.execute(f"CREATE TABLE typed ({columns}, __row integer, s integer GENERATED ALWAYS AS (1) STORED)")
    return postgres


def test_types_are_words_of_the_base_types(server: Server) -> None:
    with Vault.open({"t": server.table("typed")}) as vault:
        columns = vault.columns("t")
    assert [c.type for c in columns[: len(TYPES)]] == list(TYPES.values())
    unread = columns[len(TYPES) : -1]
    assert len(unread) == len(UNREAD) and all(c.type.startswith(UNREADABLE) for c in unread)
    assert unread[0].type == f"{UNREADABLE}json: its equality is not the values'"
    assert unread[6].type == f"{UNREADABLE}integer[]: arrays are not among dpsql's types"
    assert (columns[-1].name, columns[-1].type) == ("s", "integer")  # and no __row


@pytest.mark.parametrize("name", ["plain_rows", "stored"])
def test_rows_of_tables_have_numbers_of_their_own_that_stay(server: Server, name: str) -> None:
    with Vault.open({"t": server.table(name)}) as vault, vault.snapshot() as snapshot:
        assert vault.unnumbered("t") is None
        rows = vault.relation("t", row_number=True)
        first = snapshot.run(f'SELECT x::bigint AS x, "__row" AS n FROM {rows} ORDER BY x')
        server.execute("UPDATE plain_rows SET x = x")  # other versions of the rows, which this snapshot does not see
        second = snapshot.run(f'SELECT x::bigint AS x, "__row" AS n FROM {rows} ORDER BY x')
        assert len(set(first["n"].tolist())) == 1000 and first["n"].tolist() == second["n"].tolist()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("viewed_twice", "a view"),
        ("parts", "a partitioned table"),
        ("parent", "a table that others inherit from"),
        ("partly", "a table of which the role may read some columns only"),
    ],
)
def test_where_rows_have_no_number_it_says_what_it_is(server: Server, name: str, what: str) -> None:
    with Vault.open({"t": server.table(name)}) as vault, vault.snapshot() as snapshot:
        assert vault.unnumbered("t") == what
        snapshot.start()
        assert len(snapshot.run(f"SELECT u FROM {vault.relation('t')}")["u"]) == {
            "viewed_twice": 1000,
            "parts": 20,
        }.get(name, 0)


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("nothing", 303, "no table public.nothing"),
        ("typed_pkey", 303, "no table"),
        ("secret", 303, "that the role may read"),
        ("of_hidden", 303, "that the role may read"),
        ("hidden", 316, "row-level security"),
        ("abroad", 316, "foreign table"),
        ("of_abroad", 316, "foreign table"),
        ("sampled", 316, "TABLESAMPLE"),
        ("limited", 316, "LIMIT"),
        ("random_rows", 316, "volatile"),
        ("of_random_rows", 316, "volatile"),
        ("not_stored", 316, "populated"),
    ],
)
def test_what_no_query_reads_is_refused_as_it_is_opened(server: Server, name: str, code: int, says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        Vault.open({"t": server.table(name)})
    assert caught.value.number == code


PLAIN_VIEWS = (
    "SELECT * FROM people",
    "SELECT u, x::bigint AS x, x::text AS y, t::varchar AS t, f FROM people p WHERE x > 3 AND t <> 'a' AND m < 9.5",
    "SELECT u, CASE WHEN x > 1 THEN 1 ELSE 0 END AS x, coalesce(t, '') AS t, greatest(x, 2) AS g, nullif(x, 0) FROM people",
    "SELECT p.u, q.x FROM people p LEFT JOIN people q ON p.u = q.u AND q.t IN ('a', 'b') AND q.x IS NOT NULL",
    "SELECT u, x FROM people WHERE EXISTS (SELECT FROM people q WHERE q.u < 5) OR u IN (SELECT x FROM people)",
    "WITH w AS (SELECT u, count(*) AS n, sum(x) AS s, max(m), bool_or(x > 2) FROM people GROUP BY u) SELECT * FROM w",
    "SELECT u, x FROM people UNION ALL SELECT u, u FROM people",
    "SELECT DISTINCT u, current_date AS d FROM people",
    'SELECT u AS "odd {FUNCEXPR :funcid 154 name" FROM people',
    "SELECT u, a FROM people WHERE a = 'x'",
    "SELECT u, min(t) AS t FROM people GROUP BY u",
)
COMPUTING_VIEWS = {
    "SELECT u, t::varchar(3) AS t FROM people": "varchar",
    "SELECT u, 100 / x AS x FROM people": "int4div(integer,integer)",
    "SELECT u, x + 1 AS x FROM people": "int4pl(integer,integer)",
    "SELECT u FROM people WHERE 100 % x = 1": "int4mod(integer,integer)",
    "SELECT u, t::integer AS x FROM people": "a conversion of text",
    "SELECT u, x FROM people ORDER BY t::date": "a conversion of text",
    "SELECT u, (SELECT q.x FROM people q WHERE q.x > p.x) AS x FROM people p": "a subquery that is a value",
    "SELECT u, ARRAY(SELECT q.x FROM people q) AS x FROM people p": "a subquery that is a value",
    "SELECT u, row_number() OVER () AS x FROM people": "WINDOW",
    "SELECT DISTINCT ON (x) u, t FROM people": "DISTINCT ON",
    "SELECT DISTINCT u, a FROM people": "takes for equal",
    "SELECT u, max(a) AS a FROM people GROUP BY u": "takes for equal",
    "SELECT u, a FROM people UNION SELECT u, t FROM people": "takes for equal",
    "SELECT u, array_agg(x) AS x FROM people GROUP BY u": "array_agg",
    "SELECT u, sum(f) AS x FROM people GROUP BY u": "sum(double precision)",
    "SELECT u, shouts(x) AS x FROM people": "shouts(integer)",
    "SELECT u, sworn(x) AS x FROM people": "sworn(integer)",
    "SELECT u, x % 2 AS x FROM people": "int4mod(integer,integer)",
    "WITH RECURSIVE r (u, x) AS (SELECT u, x FROM people UNION ALL SELECT u, x FROM r WHERE x = 0) TABLE r": "a recursion",
    "SELECT u, s.i AS x FROM people, generate_series(1, x) AS s (i)": "RANGETBLFUNCTION",
    "SELECT u, ROW(u, x) < ROW(1, 2) AS x FROM people": "ROWCOMPARE",
    "SELECT u, x::small_number AS x FROM people": "COERCETODOMAIN",
    "SELECT u FROM (SELECT u, x FROM computing) AS v": "int4div(integer,integer)",
}


def test_views_that_may_fail_on_a_stored_value_say_what_they_compute(server: Server) -> None:
    server.execute(
        """
        CREATE DOMAIN small_number AS integer CHECK (VALUE < 9);
        CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE people (u bigint, x integer, t text, f float8, m numeric, a text COLLATE alike);
        CREATE FUNCTION shouts(x integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'x'; END $$;
        CREATE FUNCTION sworn(x integer) RETURNS integer LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT 100 / x';
        ALTER FUNCTION int4mod(integer, integer) LEAKPROOF;
        CREATE VIEW computing AS SELECT u, 100 / x AS x FROM people;
        """
    )
    said: dict[str, str | None] = {}
    for sql in (*PLAIN_VIEWS, *COMPUTING_VIEWS):
        server.execute(f"DROP VIEW IF EXISTS one; CREATE VIEW one AS {sql}")
        with Vault.open({"t": server.table("one")}) as vault:
            said[sql] = vault.computed("t")
    assert {sql: what for sql, what in said.items() if what} == {sql: said[sql] for sql in COMPUTING_VIEWS}, said
    for sql, what in COMPUTING_VIEWS.items():
        assert what in (said[sql] or ""), (sql, said[sql])
    server.execute("DROP VIEW IF EXISTS one; CREATE MATERIALIZED VIEW kept_rows AS SELECT u, x + 1 AS x FROM people")
    with Vault.open({"t": server.table("kept_rows")}) as vault:
        assert vault.computed("t") is None


def test_one_persons_row_does_not_decide_whether_a_view_answers(server: Server) -> None:
    server.execute(
        """
        CREATE TABLE rated (u bigint, x integer); INSERT INTO rated VALUES (1, 5), (2, 0);
        CREATE VIEW rates AS SELECT u, 100 / x AS y FROM rated;
        """
    )
    known = people({"y": "integer"})
    for name in ("of_nobody", "rates"):
        server.execute("CREATE OR REPLACE VIEW of_nobody AS SELECT u, 100 / x AS y FROM rated WHERE u = 1")
        with exact(known, source={"t": server.table(name)}) as connection, pytest.raises(SourceError) as caught:
            connection.execute("SELECT COUNT(y) FROM t")
        assert caught.value.number == 322 and "int4div" in str(caught.value)
    words = dataset({"t": private({}), "w": public({"y": "integer"})})
    given = {"t": server.table("rated"), "w": server.table("of_nobody")}
    with exact(words, source=given) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t JOIN w ON u * 20 = y").fetchall() == [(1,)]


def test_an_enum_that_a_function_casts_is_not_read(server: Server) -> None:
    """Anybody may add a cast from a type of theirs, and `CAST(x AS text)` would run it."""
    server.execute(
        """
        CREATE TYPE tone AS ENUM ('low', 'high'); CREATE TABLE tones (u bigint, y tone);
        CREATE FUNCTION told(tone) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN
            IF $1 = 'high' THEN RAISE EXCEPTION 'one of them is high'; END IF; RETURN 'low'; END $$;
        CREATE CAST (tone AS text) WITH FUNCTION told(tone) AS IMPLICIT;
        """
    )
    with Vault.open({"t": server.table("tones")}) as vault:
        assert vault.columns("t")[1].type == f"{UNREADABLE}public.tone: it is cast by a function of the database's"


def test_a_database_whose_casts_are_somebody_elses_is_not_read(server: Server) -> None:
    """CAST(x AS text) of a uuid would run it. A cast through text runs nothing of theirs."""
    server.execute("CREATE FUNCTION raising(uuid) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$no$$; END'")
    try:
        server.execute("CREATE CAST (varchar AS integer) WITH INOUT AS IMPLICIT")
        with Vault.open({"t": server.table("plain_rows")}) as vault:
            assert len(vault.columns("t")) == 2
            server.execute("CREATE CAST (uuid AS text) WITH FUNCTION raising(uuid)")
            with pytest.raises(ExecutionError):
                vault.run("SELECT count(*) AS n FROM public.plain_rows")
        with pytest.raises(SourceError, match="a cast of its own from uuid to text") as caught:
            Vault.open({"t": server.table("plain_rows")})
        assert caught.value.number == 319
    finally:
        server.execute("DROP CAST IF EXISTS (varchar AS integer); DROP CAST IF EXISTS (uuid AS text)")


def test_names_are_exact_and_quoted(server: Server) -> None:
    with Vault.open({"t": server.table('Odd "name', schema="other")}) as vault:
        assert vault.relation("t") == '"other"."Odd ""name"'
        assert vault.run(f"SELECT count(*) AS n FROM {vault.relation('t', row_number=True)}")["n"].tolist() == [0]
    with pytest.raises(SourceError):
        Vault.open({"t": server.table('odd "name', schema="other")})


def test_columns_that_differ_in_case_alone_are_not_guessed_at(server: Server) -> None:
    server.execute('CREATE TABLE twice (u bigint, "Ward" text, ward text, "É" text, "é" text)')
    with Vault.open({"t": server.table("twice")}) as vault:
        words = {c.name: c.type for c in vault.columns("t")}
    other = f"{UNREADABLE}another column has the same name but for case"
    assert words == {"u": "bigint", "Ward": other, "ward": other, "É": "text", "é": "text"}


def test_a_column_that_the_role_may_not_select_says_so(server: Server) -> None:
    with Vault.open({"t": server.table("partly")}) as vault:
        words = {c.name: c.type for c in vault.columns("t")}
    assert words == {"u": "bigint", "x": f"{UNREADABLE}the role may not select it, or it is computed as it is read"}


def test_nothing_is_read_to_describe_a_table(server: Server) -> None:
    """The server counts scans, of a connection when it ends: of two descriptions and one query there is one."""
    count = "SELECT sum(seq_scan + coalesce(idx_scan, 0))::bigint FROM pg_stat_all_tables WHERE relname = 'counted'"
    server.execute("CREATE TABLE counted AS SELECT generate_series(1, 9)::bigint AS u; ANALYZE counted")
    server.execute("CREATE VIEW of_counted AS SELECT * FROM counted")
    ((before,),) = server.execute(count)
    with Vault.open({"t": server.table("counted"), "v": server.table("of_counted")}) as vault:
        vault.run("SELECT u FROM public.counted")
    for _ in range(100):
        ((after,),) = server.execute(count)
        if after > before:
            break
        time.sleep(0.1)
    time.sleep(0.3)
    assert server.execute(count) == [(before + 1,)]
