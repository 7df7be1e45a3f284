"""Opening: files, globs, databases; coded errors that name places and never cells; row numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.engine.hardening import Limits
from dpsql.engine.sources import Database, Files, Source
from dpsql.engine.vault import Vault
from dpsql.errors import SourceError
from dpsql.testing import exact
from tests.worlds import dataset, people, private, public


def parquet(*paths: Path, exact: frozenset[str] = frozenset()) -> Files:
    return Files(paths=paths, kind="parquet", exact=exact)


def write(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=3)
    return path


def code(source: Source) -> int:
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": source})
    error = caught.value
    assert error.__cause__ is None and error.__context__ is None
    assert "table t" in str(error)
    return error.number


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            'CREATE SCHEMA s; CREATE TABLE s."odd ""name" AS SELECT range AS a FROM range(5);'
            ' DELETE FROM s."odd ""name" WHERE a = 2; CREATE VIEW s.v AS SELECT a * 2 AS b FROM s."odd ""name";'
            " CREATE VIEW s.outside AS SELECT 1 AS a; CREATE OR REPLACE MACRO m() AS 1;"
        )
    yield path


def test_missing_and_unusable_paths(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    odd = tmp_path / "a[1].parquet"
    write(odd, x=[1])
    assert code(parquet(tmp_path / "none.parquet")) == 301
    assert code(parquet(tmp_path / "*.none")) == 301
    assert code(parquet(tmp_path / "folder")) == 301
    assert code(parquet(odd)) == 301
    assert code(parquet(Path("a\0b"))) == 301
    assert code(parquet(Path(os.fsdecode(b"/tmp/\xff.parquet")))) == 301
    assert code(parquet(Path("s3://bucket/x.parquet"))) == 301
    assert code(Database(path=tmp_path / "none.duckdb", schema="main", table="t")) == 301


def test_files_that_are_not_parquet(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1 sentinel-7c1 PAR1")
    assert code(parquet(tmp_path / "x.parquet")) == 302
    (tmp_path / "empty.parquet").write_bytes(b"")
    assert code(parquet(tmp_path / "empty.parquet")) == 302


def test_row_numbers_are_unique_over_files_and_the_same_in_every_scan(tmp_path: Path) -> None:
    write(tmp_path / "b.parquet", x=list(range(10)))
    write(tmp_path / "a.parquet", x=list(range(100, 107)))
    with Vault.open({"t": parquet(tmp_path / "*.parquet")}, Limits(threads=4)) as vault:
        relation = vault.relation("t", row_number=True)
        got = vault.run(f"SELECT x, __row FROM {relation} ORDER BY __row")
        assert got["x"].tolist() == [*range(100, 107), *range(10)]
        assert len(set(got["__row"].tolist())) == 17
        again = vault.run(f"SELECT x, __row FROM {relation} WHERE x % 3 = 1 ORDER BY __row")
        numbers = dict(zip(got["x"].tolist(), got["__row"].tolist(), strict=True))
        assert all(numbers[x] == row for x, row in zip(again["x"].tolist(), again["__row"].tolist(), strict=True))
        both = vault.run(
            f"SELECT count(*) AS n FROM {relation} AS a JOIN {relation} AS b USING (__row) WHERE a.x = b.x"
        )
        assert both["n"].tolist() == [17]


def test_columns_that_have_the_names_of_virtual_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", file_row_number=[7, 7], filename=["x", "y"], file_index=[1, 1], __ROW=[5, 5])
    with Vault.open({"t": parquet(path)}) as vault:
        assert [c.name for c in vault.columns("t")] == ["file_row_number", "filename", "file_index"]
        got = vault.run("SELECT file_row_number, __row FROM source_rows.t ORDER BY 2")
        assert got["file_row_number"].tolist() == [7, 7]
        assert len(set(got["__row"].tolist())) == 2


def test_files_with_different_columns_are_joined_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=[1], y=["one"])
    write(tmp_path / "b.parquet", y=["two"], x=["text"])
    with Vault.open({"t": parquet(tmp_path / "*.parquet")}) as vault:
        got = vault.run("SELECT x, y FROM source.t ORDER BY y")
        assert (got["x"].tolist(), got["y"].tolist()) == (["1", "text"], ["one", "two"])


def test_bytes_that_are_not_utf8_fail_nothing_and_merge_no_units(tmp_path: Path) -> None:
    raw = pa.array([b"ann", b"\xff", b"\xfe", b"why?"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    path = write(tmp_path / "a.parquet", Unit=text, other=text)
    with Vault.open({"t": parquet(path, exact=frozenset({"unit"}))}) as vault:
        got = vault.run("SELECT unit, other FROM source.t")
        assert got["Unit"].tolist() == ["ann", None, None, None]
        assert got["other"].tolist() == ["ann", "?", "?", "why?"]


def test_symlinks_and_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.parquet", x=[1])
    (tmp_path / "link.parquet").symlink_to("a.parquet")
    monkeypatch.chdir(tmp_path)
    with Vault.open({"t": parquet(Path("link.parquet"))}) as vault:
        assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [1]


def test_database_tables_and_views(database: Path) -> None:
    sources: dict[str, Source] = {
        "t": Database(path=database, schema="s", table='odd "name'),
        "v": Database(path=database, schema="s", table="v"),
    }
    with Vault.open(sources) as vault:
        got = vault.run("SELECT a, __row FROM source_rows.t")
        assert got["a"].tolist() == [0, 1, 3, 4]
        assert len(set(got["__row"].tolist())) == 4
        assert vault.run("SELECT b, __row FROM source_rows.v ORDER BY b")["b"].tolist() == [0, 2, 6, 8]


def test_database_errors(database: Path, tmp_path: Path) -> None:
    assert code(Database(path=database, schema="s", table="none")) == 303
    assert code(Database(path=database, schema="none", table="v")) == 303
    (tmp_path / "x.duckdb").write_bytes(b"sentinel" * 1000)
    assert code(Database(path=tmp_path / "x.duckdb", schema="main", table="t")) == 307
    write(tmp_path / "p.duckdb", x=[1])
    assert code(Database(path=tmp_path / "p.duckdb", schema="main", table="p")) == 307


def test_a_database_open_in_this_process(database: Path) -> None:
    with duckdb.connect(str(database)):
        assert code(Database(path=database, schema="s", table="v")) == 304


def test_a_database_open_in_another_process(database: Path) -> None:
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "open\n"
        assert code(Database(path=database, schema="s", table="v")) == 304
        other.stdin.close()


def test_two_vaults_may_read_one_database(database: Path) -> None:
    source = Database(path=database, schema="s", table="v")
    with Vault.open({"a": source}) as one, Vault.open({"b": source}) as two:
        assert one.run("SELECT count(*) AS n FROM source.a")["n"] == two.run("SELECT count(*) AS n FROM source.b")["n"]


def test_names_are_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", **{'x "y"': [1], "select": [2]})
    with Vault.open({'odd "table"': parquet(path)}) as vault:
        got = vault.run(
            f'SELECT "x ""y""", "select" FROM {vault.relation(chr(111) + "dd " + chr(34) + "table" + chr(34))}'
        )
        assert list(got) == ['x "y"', "select"]


def test_spilled_rows_are_removed_and_the_folder_is_private(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", x=[1])
    vault = Vault.open({"t": parquet(path)})
    folder = Path(
        vault._backend._database.cursor().execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
    )
    assert folder.stat().st_mode & 0o777 == 0o700
    vault.close()
    assert not folder.exists()


def test_what_a_database_computes_as_it_is_read_is_said(database: Path) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "CREATE TABLE s.g (u BIGINT, y INTEGER GENERATED ALWAYS AS (CAST(random() * 100 AS INTEGER)))"
        )
    given = {name: Database(path=database, schema="s", table=table) for name, table in (("g", "g"), ("v", "v"))}
    with Vault.open(given) as vault:
        assert [c.type for c in vault.columns("g")] == ["BIGINT", "GENERATED INTEGER"]
        assert (vault.computed("g"), vault.computed("v")) == (None, "a view")


@pytest.mark.parametrize(
    ("table", "code"),
    [("v AS SELECT u, CAST(t AS INTEGER) AS y FROM base", 322), ("v AS SELECT u, random() * 9 AS y FROM base", 322)],
)
def test_no_view_of_a_database_is_read_as_a_private_table(tmp_path: Path, table: str, code: int) -> None:
    """DuckDB says of no function whether it may fail: one person's text would decide whether the query is answered."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(f"CREATE TABLE base AS SELECT 1 AS u, 'no number' AS t; CREATE VIEW {table}")
        connection.execute("CREATE TABLE t (u BIGINT, y INTEGER GENERATED ALWAYS AS (CAST(random() * 100 AS INTEGER)))")
    file = str(tmp_path / "d.duckdb")
    for name, expected in (("v", code), ("t", 307)):
        world = people({"y": "integer"})
        world["tables"]["t"]["source"] = {"database": file, "table": f"main.{name}"}
        with exact(world) as opened, pytest.raises(SourceError, match="computed as it is read") as caught:
            opened.execute("SELECT COUNT(y) FROM t")
        assert caught.value.number == expected
    words = dataset({"t": private({}), "v": public({"y": "text"})})
    words["tables"]["t"]["source"] = {"database": file, "table": "main.t"}
    words["tables"]["v"]["source"] = {"database": file, "table": "main.v"}
    with exact(words) as opened:  # what is not declared is not read
        assert opened.execute("SELECT COUNT(*) FROM t").fetchall() == [(0,)]
