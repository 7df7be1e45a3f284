"""Replay by removal on PostgreSQL: the worlds and statements of test_physical_replay.py, stored in tables of a server.

The whole engine runs on the tables, on a copy of them without a unit, and on one that keeps the rows that only the unit
reached, in another order. Copies are tables of the same types, made by the judge. Every second world is read by a role that
may make no temporary tables, and whose plans use parallel workers where two threads are given.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from dpsql.dbapi.user_tables import load_frame
from dpsql.engine.sources import Server as Source
from dpsql.errors import InterfaceError
from dpsql.testing import Copies, Replayer, exact, neighbour
from tests.engines.postgres import OWNER, PLAIN, READER, Server
from tests.engines.postgres_data import stored
from tests.properties.generator.draws import fixed_noise
from tests.properties.generator.grim import MODES
from tests.properties.generator.grim_tables import TYPES
from tests.properties.generator.tables import Tables, arrow
from tests.properties.test_physical_replay import replayed
from tests.worlds import people

JUDGE = "judge"  # may make schemas, and no temporary tables
SHARDS = 4  # 500 pairs in all
PAIRS, EACH = 500 // SHARDS, 15 // SHARDS
MADE = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dpsql_judge_%'"


@pytest.fixture(scope="module")
def server(postgres: Server) -> Iterator[Server]:
    postgres.execute(f"CREATE ROLE {JUDGE} LOGIN; GRANT CREATE ON DATABASE {PLAIN} TO {JUDGE}")
    postgres.execute(f"GRANT {READER} TO {JUDGE}")
    for setting in ("min_parallel_table_scan_size", "parallel_setup_cost", "parallel_tuple_cost"):
        postgres.execute(f"ALTER ROLE {JUDGE} SET {setting} = 0")
    yield postgres
    postgres.execute(f"DROP OWNED BY {JUDGE}; DROP ROLE {JUDGE}")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_replay_by_removal(server: Server, shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, 15 + shard)
    seen = replayed(random.Random(1511 + shard), PAIRS, _opening(server), EACH)
    assert not {mode: seen[mode] for mode in MODES if seen[mode] < EACH}, seen
    assert seen["grim"] > seen["pairs"] / 4 and seen["refused"] < seen["asked"] * 0.75, seen
    assert server.execute(MADE) == [(0,)]


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(200, 204))
def test_much_replay_by_removal(server: Server, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, seed)
    replayed(random.Random(seed), int(os.environ.get("DPSQL_PAIRS", "20000")) // 4, _opening(server), EACH)


def _opening(server: Server) -> Any:
    roles = itertools.cycle((OWNER, JUDGE))

    def opens(one: Tables) -> Replayer:
        frames = {name: arrow(rows, TYPES) for name, rows in one.rows.items()}
        public = {name: frames.pop(name) for name in [*frames] if one.catalog["tables"][name].get("public")}
        given = {**_as(next(roles), server, stored(server, one.catalog, frames)), **public}
        return Replayer(one.catalog, given, prepare=lambda session: load_frame(session, "mine", arrow(one.mine, TYPES)))

    return opens


def _as(role: str, server: Server, given: dict[str, Source]) -> dict[str, Source]:
    return {name: replace(source, address=server.address(user=role)) for name, source in given.items()}


# --- what the judge reads and makes ------------------------------------------------------------------------------------

KINDS = """
    CREATE DOMAIN amount AS numeric(9, 2) CHECK (VALUE IS NULL OR VALUE <> 13);
    CREATE TYPE mood AS ENUM ('b', 'a');
    CREATE TABLE kinds (
        u numeric, cost amount, mood mood, fixed char(4), "Back\\slash" text, gone float8, seen timestamptz, day date,
        tags text[], twice bigint GENERATED ALWAYS AS (id * 2) STORED, id bigint GENERATED ALWAYS AS IDENTITY,
        flag boolean NOT NULL
    );
    INSERT INTO kinds (u, cost, mood, fixed, "Back\\slash", gone, seen, day, tags, flag) VALUES
        (1.00, 0.10, 'a', 'x', E'tab\\tfeed\\nslash\\\\N\\r', 5e-324, '2026-07-01 12:00+02', '0044-03-15 BC', '{x,NULL}',
         true),
        (1, NULL, 'b', 'x  ', E'\\\\N', '-0', 'infinity', 'infinity', NULL, false),
        (2.5, 'NaN', NULL, '', '', 'NaN', NULL, '9999-12-31', '{}', true),
        ('NaN', 1, 'a', NULL, NULL, 1e308, '20000-01-01', '20000-01-01', '{}', true),
        (7, 1, 'a', 'ab', 'é', 0.1, NULL, NULL, '{}', true)
"""


@pytest.fixture(scope="module")
def kinds(server: Server) -> Source:
    server.execute(KINDS)
    server.execute(f"GRANT ALL ON kinds TO {JUDGE}")
    return server.table("kinds", user=JUDGE)


CATALOG: dict[str, Any] = people(
    {"cost": "decimal(9, 2)", "Back\\slash": "text", "gone": "real", "day": "date", "flag": "boolean"}
)


def test_cells_are_what_is_stored(kinds: Source) -> None:
    copies = Copies.read(CATALOG, {"t": kinds})
    cells = copies.copies["t"].cells
    assert cells("u")[:3] == [Decimal(1), Decimal(1), Decimal("2.5")]
    assert cells("BACK\\slash") == ["tab\tfeed\nslash\\N\r", "\\N", "", None, "é"]
    assert cells("fixed") == ["x", "x", "", None, "ab"]
    assert [str(cell) for cell in cells("gone")] == ["5e-324", "-0.0", "nan", "1e+308", "0.1"]
    assert [getattr(cell, "forever", None) for cell in cells("day")] == [False, True, False, False, None]
    assert cells("tags")[0] == "{x,NULL}" and cells("twice")[4] == 10
    assert copies.units() == [1, 7]
    days = date(9999, 12, 31).toordinal() - date(1970, 1, 1).toordinal()
    assert [getattr(cell, "micros", None) for cell in cells("day")][2] == days * 86_400_000_000


def test_a_text_of_more_than_1_mib_is_no_value_to_the_judge_either(server: Server) -> None:
    server.execute("CREATE TABLE long (u text, x integer)")
    server.execute(
        f"INSERT INTO long SELECT repeat(c, n), n % 7 FROM (VALUES ('a', {2**20}), ('b', {2**20 + 1}),"
        f" ('é', {2**19}), ('ü', {2**19 + 1})) AS v (c, n)"
    )
    catalog = people({"u": "text", "x": "integer"})
    source = server.table("long", user=OWNER)
    copies = Copies.read(catalog, {"t": source})
    assert [None if cell is None else cell[:1] for cell in copies.copies["t"].cells("u")] == ["a", None, "é", None]
    assert sorted(unit[:1] for unit in copies.units()) == ["a", "é"]
    with exact(catalog, source={"t": source}) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(2,)]


def test_a_neighbour_is_a_table_of_the_same_types_without_the_unit(server: Server, kinds: Source) -> None:
    given = neighbour(CATALOG, {"t": kinds}, 1)
    made = given["t"]
    assert isinstance(made, Source) and made.schema.startswith("dpsql_judge_")
    shape = "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attnum > 0 AND attrelid = "
    types = [server.execute(f"{shape}'{name}'::regclass") for name in ("kinds", f"{made.schema}.{made.table}")]
    assert {row[:2] for row in types[0]} == {row[:2] for row in types[1]} and len(types[0]) == 12
    assert server.execute(f"SELECT id FROM {made.schema}.{made.table}") == [(3,), (4,), (5,)]
    assert server.execute(
        f"SELECT count(*) FROM {made.schema}.{made.table} AS m JOIN kinds AS k ON m::text = k::text"
    ) == [(3,)]
    with exact(CATALOG, source={"t": kinds}) as all_rows, exact(CATALOG, source=given) as without:
        question = "SELECT COUNT(*) FROM t"
        assert [c.execute(question).fetchall() for c in (all_rows, without)] == [[(3,)], [(1,)]]
    server.execute(f"DROP SCHEMA {made.schema} CASCADE")


def test_a_role_that_may_make_no_schema_is_told_so(server: Server, kinds: Source) -> None:
    server.execute(f"GRANT SELECT ON kinds TO {READER}")
    with pytest.raises(InterfaceError, match="may not make a schema"):
        neighbour(CATALOG, {"t": replace(kinds, address=server.address())}, 1)
