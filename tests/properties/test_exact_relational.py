"""Exact mode with caps that do not bite is DuckDB's own answer over cleaned tables, for statements over several tables.

Keys along unit paths belong to one unit here: then the tracked unit of a path changes no count. Rows of a path that reach
no unit are dropped from the cleaned tables, as rows without a unit are. The statement's text is what DuckDB runs.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.errors import Error
from dpsql.testing import exact
from tests.profile import drawn
from tests.properties.generator.oracle import alike, cleaned_cell, duckdb_answer
from tests.properties.generator.statements import Statements
from tests.properties.generator.tables import BY_TABLE, Tables, arrow, source, tables
from tests.properties.generator.worlds import Rows

SHARDS = drawn(1, deep=2)
WORLDS = 12
QUERIES = 30
COMPARED = 250


def cleaned(one: Tables) -> dict[str, Rows]:
    clean: dict[str, Rows] = {}
    for name, rows in one.rows.items():
        table, declared = BY_TABLE[name], one.catalog["tables"][name]["columns"]
        kinds = {column.name: column for column in table.columns}
        through, on = table.path or ("", ())
        parents = set(zip(*(clean[through][c] for c in on), strict=True)) if through else set()
        kept: list[dict[str, Any]] = []
        for cells in zip(*rows.values(), strict=True):
            row = dict(zip(rows, cells, strict=True))
            if not table.public:
                row |= {c: cleaned_cell(kinds[c].letter, declared[c], row[c]) for c in kinds}
                needed = [c for c in kinds if not declared[c].get("nullable", True)] + (["u"] if table.unit else [])
                if any(row[c] is None for c in needed):
                    continue
                key = tuple(row[c] for c in on)
                if through and (None in key or key not in parents):
                    continue
            kept.append(row)
        clean[name] = {column: [row[column] for row in kept] for column in rows}
    return clean


def oracle(one: Tables) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET integer_division = false; SET TimeZone = 'UTC'; SET threads = 1")
    for name, rows in {**cleaned(one), "mine": one.mine}.items():
        connection.register("given", arrow(rows))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    return connection


@pytest.mark.parametrize("shard", range(SHARDS))
def test_exact_mode_over_several_tables_is_duckdb(shard: int, tmp_path: Path) -> None:
    draw = random.Random(7300 + shard)
    used: Counter[str] = Counter()
    compared = 0
    for _ in range(WORLDS):
        one = tables(draw, clean=True, caps=(10_000,))
        statements = Statements(draw, used=used, exact=True)
        with (
            oracle(one) as theirs,
            exact(one.catalog, source=source(one.rows, one.form, tmp_path), threads=1) as connection,
        ):
            connection.load("mine", arrow(one.mine))
            for _ in range(QUERIES):
                compared += compare(connection, theirs, statements.statement(), one)
    assert compared >= COMPARED


def compare(connection: dpsql.Connection, theirs: duckdb.DuckDBPyConnection, sql: str, one: Tables) -> int:
    try:
        cursor = connection.execute(sql)
    except Error as refused:
        assert refused.code < "DPSQL-2", (sql, refused)
        return 0
    answer = duckdb_answer(theirs, sql)
    if answer is None:
        return 0
    columns, rows = answer
    mine = cursor.fetchall()
    assert [c[0] for c in cursor.description or ()] == [name for name, _ in columns], sql
    for (_, type_, *_), (_, wanted) in zip(cursor.description or (), columns, strict=True):
        assert str(type_) == wanted.replace("HUGEINT", "BIGINT"), (sql, type_, wanted)
    assert alike(mine, rows), (sql, one, mine, rows)
    return 1
