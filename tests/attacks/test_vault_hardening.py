"""The vault's connection and scratch's: nothing else can be read, nothing written, nothing reconfigured.

dpsql never hands an analyst's text to the vault; these tests ask what it could do if it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dpsql.engine import hardening
from dpsql.engine.hardening import PINS, Limits
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Database, Files, Frame
from dpsql.engine.vault import Vault
from dpsql.errors import ExecutionError, InternalError, SourceError

a_python_variable = {"secret": np.arange(3)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("data")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    with duckdb.connect() as connection:
        for name in ("a.parquet", "other.parquet"):
            connection.execute(f"COPY (SELECT 1 AS a) TO '{tmp_path / name}'")
    (tmp_path / "c.csv").write_text("a\n1\n")
    (tmp_path / "other.csv").write_text("a\n1\n")
    return tmp_path


@pytest.fixture(scope="module")
def vault(folder: Path) -> Iterator[Vault]:
    sources = {
        "a": Files(paths=(folder / "a.parquet",), kind="parquet"),
        "c": Files(paths=(folder / "c.csv",), kind="csv"),
        "d": Database(path=folder / "d.duckdb", schema="main", table="t"),
        "f": Frame(data={"x": [1]}),
    }
    with Vault.open(sources) as vault:
        yield vault


@pytest.fixture(scope="module", params=["vault", "vault, a second cursor", "scratch", "scratch, a second cursor"])
def connection(request: pytest.FixtureRequest, vault: Vault) -> Iterator[duckdb.DuckDBPyConnection]:
    with Scratch() as scratch:
        database = vault._backend._database if request.param.startswith("vault") else scratch._database
        yield database.cursor() if "cursor" in request.param else database.connection


# Folder stands for a folder with other data in it.
REACHING_OUT = [
    "SELECT * FROM read_csv('FOLDER/other.csv')",
    "SELECT * FROM read_csv_auto('FOLDER/other.csv')",
    "SELECT * FROM 'FOLDER/other.csv'",
    'SELECT * FROM "FOLDER/other.csv"',
    "SELECT * FROM 'FOLDER/other.parquet'",
    "SELECT * FROM read_parquet('FOLDER/*.parquet')",
    "SELECT * FROM read_parquet('FOLDER/other.parquet')",
    "SELECT * FROM parquet_metadata('FOLDER/other.parquet')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('FOLDER/other.csv')",
    "SELECT * FROM sniff_csv('FOLDER/other.csv')",
    "SELECT * FROM glob('FOLDER/*')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM read_parquet('https://example.org/x.parquet')",
    "SELECT * FROM read_csv('s3://bucket/x.csv')",
    "SELECT * FROM a_python_variable",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO 'FOLDER/out.csv'",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "WITH w AS (COPY (SELECT 1) TO 'FOLDER/out.csv') SELECT * FROM w",
    "EXPORT DATABASE 'FOLDER/out'",
    "IMPORT DATABASE 'FOLDER'",
    "ATTACH 'FOLDER/new.duckdb'",
    "ATTACH 'FOLDER/other.parquet' AS o",
    "INSTALL httpfs",
    "INSTALL spatial FROM community",
    "LOAD httpfs",
    "LOAD 'FOLDER/other.csv'",
    "UPDATE EXTENSIONS",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
]

RECONFIGURING = [
    "SET enable_external_access = true",
    "SET GLOBAL lock_configuration = false",
    "SET SESSION lock_configuration = false",
    "RESET lock_configuration",
    "SET allowed_paths = ['/etc/passwd']",
    "SET allowed_directories = ['/']",
    "SET TimeZone = 'Asia/Tokyo'",
    "RESET TimeZone",
    "SET default_collation = 'nocase'",
    "SET default_null_order = 'nulls_first'",
    "SET ieee_floating_point_ops = false",
    "SET integer_division = true",
    "SET threads = 1",
    "SET memory_limit = '100GB'",
    "SET temp_directory = '/tmp/elsewhere'",
    "SET python_enable_replacements = true",
    "SET enable_logging = true",
    "SET log_query_path = '/tmp/queries'",
    "PRAGMA enable_profiling",
    "PRAGMA enable_progress_bar",
    "CALL enable_logging()",
]


@pytest.mark.parametrize("sql", [*REACHING_OUT, *RECONFIGURING])
def test_refused(connection: duckdb.DuckDBPyConnection, folder: Path, sql: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises((duckdb.Error, duckdb.PermissionException)):
        connection.execute(sql.replace("FOLDER", str(folder))).fetchall()
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_owner_s_database_is_read_only(vault: Vault) -> None:
    cursor = vault._backend.cursor()
    for sql in ("INSERT INTO database_0.t VALUES (2)", "DROP TABLE database_0.t", "CREATE TABLE database_0.u (a INT)"):
        with pytest.raises(duckdb.Error):
            cursor.execute(sql).fetchall()


def test_what_was_given_can_be_read(vault: Vault) -> None:
    for table in "acdf":
        assert vault.run(f"SELECT count(*) AS n FROM {vault.relation(table)}")["n"].tolist() == [1]


def test_every_pin_holds_on_every_cursor(connection: duckdb.DuckDBPyConnection) -> None:
    names = {"threads": None, "lock_configuration": True, "enable_external_access": False, **dict(PINS)}
    for name, wanted in names.items():
        ((value,),) = connection.execute(f"SELECT current_setting('{name}')").fetchall()
        if wanted is not None:
            assert str(value).lower() in (str(wanted).strip("'").lower(), {"true": "1", "false": "0"}.get(str(wanted)))


def test_no_connection_opens_with_other_settings_than_the_proofs_know(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("error_on_division_by_zero", "true"), ("ieee_floating_point_ops", "false")):
        changed = tuple((pin, value if pin == name else kept) for pin, kept in PINS)
        monkeypatch.setattr(hardening, "PINS", changed)
        database = hardening.Hardened(hardening.Limits())
        with pytest.raises(InternalError, match=name):
            database.lock()
        database.close()


def test_a_load_does_not_open_anything(vault: Vault) -> None:
    assert vault.run("SELECT count(*) AS n FROM k", loads={"k": {"a": np.arange(4)}})["n"].tolist() == [4]
    with pytest.raises(duckdb.Error):
        vault._backend.cursor().execute("SELECT * FROM k").fetchall()


def test_one_query_s_internal_error_leaves_the_next_one_alone(vault: Vault) -> None:
    far = pa.table({"x": pa.array([-(2**63)], pa.timestamp("us"))})  # DuckDB 2.0 fails inside when it prints this one
    with pytest.raises(ExecutionError):
        vault.run("SELECT CAST(x AS VARCHAR) AS x FROM far", loads={"far": far})
    test_what_was_given_can_be_read(vault)


def test_rows_spill_when_memory_is_short(tmp_path: Path) -> None:
    sql = "SELECT count(*) AS n FROM (SELECT DISTINCT range::VARCHAR || 'abcdefghijklmnop' FROM range(2000000))"
    frame = Frame(data={"x": np.arange(10)})
    with Vault.open({"f": frame}, Limits(memory="60MB", threads=1, temp_directory=tmp_path / "new" / "spill")) as vault:
        assert vault.run(sql)["n"].tolist() == [2_000_000]


def test_a_folder_that_cannot_be_spilled_to_is_found_when_the_vault_opens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError) as caught:
        Vault.open({"f": Frame(data={"x": np.arange(10)})}, Limits(temp_directory=tmp_path / "file" / "not a folder"))
    assert caught.value.code == "DPSQL-312"
