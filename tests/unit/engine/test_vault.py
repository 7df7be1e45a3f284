"""Running on private data: integers and text out, failures opaque."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dpsql.engine.hardening import Limits
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Files, Frame
from dpsql.engine.vault import Vault
from dpsql.errors import Error, ExecutionError, InterfaceError, InternalError, Interrupted

SENTINEL = "sentinel-4b1d"
LONG = "SELECT count(*) AS n FROM range(100000000) a, range(40) b WHERE (a.range * b.range) % 7 = 3"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def vault(told: list[str]) -> Iterator[Vault]:
    frame = Frame(data={"x": np.arange(5), "name": [SENTINEL, None, "b", "", "é"]})
    with Vault.open({"t": frame}, owner_log=told.append) as vault:
        yield vault


def test_integers_are_int64_and_texts_are_objects(vault: Vault) -> None:
    got = vault.run("SELECT x, name, nullif(x, 1) AS y FROM source.t ORDER BY x")
    assert got["x"].dtype == np.int64 and not np.ma.isMaskedArray(got["x"])
    assert got["name"].tolist() == [SENTINEL, None, "b", "", "é"] and got["name"].dtype == object
    assert np.ma.isMaskedArray(got["y"]) and got["y"].tolist() == [0, None, 2, 3, 4]
    assert not np.ma.isMaskedArray(got["name"])


def test_no_rows_keep_their_types(vault: Vault) -> None:
    got = vault.run("SELECT x, name FROM source.t WHERE false")
    assert (got["x"].dtype, got["name"].dtype, len(got["x"])) == (np.dtype(np.int64), np.dtype(object), 0)


@pytest.mark.parametrize(
    "item", ["1.5", "1::HUGEINT", "x::INTEGER", "1e0", "DATE '2020-01-01'", "true", "NULL", "[1]", "x::UBIGINT"]
)
def test_other_types_are_a_bug_and_say_no_value(vault: Vault, item: str) -> None:
    with pytest.raises(InternalError):
        vault.run(f"SELECT {item} AS y FROM source.t")
    assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [5]


@pytest.mark.parametrize(
    "sql", ["SELECT x AS a, x AS a FROM source.t", "SELECT 1 AS x; SELECT 2 AS x", "DROP VIEW source.t"]
)
def test_what_the_planner_never_renders(vault: Vault, sql: str) -> None:
    with pytest.raises(InternalError):
        vault.run(sql)
    assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [5]


def test_loads_are_there_for_one_run(vault: Vault) -> None:
    keys = {
        "k": np.ma.MaskedArray(np.array([0, 1, 9]), [False, True, False]),
        "s": np.array(["a", None, "c"], dtype=object),
    }
    got = vault.run("SELECT x, s FROM source.t JOIN keys ON x IS NOT DISTINCT FROM k", loads={"keys": keys})
    assert (got["x"].tolist(), got["s"].tolist()) == ([0], ["a"])
    with pytest.raises(ExecutionError):
        vault.run("SELECT k FROM keys")
    with Scratch() as scratch:
        stream = scratch.query("SELECT 4::BIGINT AS k, DATE '2020-01-01' AS d")
        assert vault.run("SELECT x FROM source.t JOIN keys ON x = k", loads={"keys": stream})["x"].tolist() == [4]


def test_loads_of_no_rows_and_of_other_dtypes(vault: Vault) -> None:
    loads = {
        "none": {"k": np.array([], dtype=np.int64), "s": np.array([], dtype=object)},
        "more": {
            "b": np.array([True]),
            "f": np.array([0.5]),
            "d": np.array(["2020-02-03"], "M8[D]"),
            "u": np.array(["t"]),
        },
    }
    sql = "SELECT typeof(b) || typeof(f) || typeof(d) || typeof(u) AS t, (SELECT count(k) FROM none) AS n FROM more"
    got = vault.run(sql, loads=loads)
    assert (got["t"].tolist(), got["n"].tolist()) == (["BOOLEANDOUBLETIMESTAMPVARCHAR"], [0])


def everything_said(error: BaseException) -> str:
    said = "".join(traceback.format_exception(error)) + repr(error.__dict__) + repr(error.args)
    for other in (error.__cause__, error.__context__):
        said += everything_said(other) if other is not None else ""
    return said


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(name AS BIGINT) AS y FROM source.t",
        "SELECT error(name) AS y FROM source.t",
        "SELECT y FROM source.t",
        "SELECT CAST(strptime(name, '%Y') AS VARCHAR) AS y FROM source.t",
        "SELECT (SELECT x FROM source.t) AS y",
        "SELECT 9223372036854775807 + x AS y FROM source.t",
    ],
)
def test_a_failure_says_nothing_but_to_the_owner(
    vault: Vault, told: list[str], sql: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ExecutionError) as caught:
        vault.run(sql)
    assert caught.value.number == 500
    assert SENTINEL not in everything_said(caught.value) + "".join(capfd.readouterr()) + caplog.text
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert len(told) == 1
    assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [5]


def test_the_owner_is_told_what_happened(vault: Vault, told: list[str]) -> None:
    with pytest.raises(ExecutionError):
        vault.run("SELECT CAST(name AS BIGINT) AS y FROM source.t")
    assert SENTINEL in told[0]


def test_interrupt_from_a_thread(vault: Vault) -> None:
    timer = threading.Timer(0.3, vault.interrupt)
    timer.start()
    with pytest.raises(ExecutionError) as caught:
        vault.run(LONG)
    timer.join()
    assert caught.value.number == 503
    assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [5]


def test_control_c(vault: Vault) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted) as caught:
        vault.run(LONG)
    timer.join()
    assert caught.value.number == 503
    assert vault.run("SELECT count(*) AS n FROM source.t")["n"].tolist() == [5]


def test_out_of_memory_has_a_code_of_its_own() -> None:
    with Vault.open({"t": Frame(data={"x": [1]})}, Limits(memory="40MB", threads=1)) as vault:
        with pytest.raises(ExecutionError) as caught:
            vault.run("SELECT len(list(range)) AS n FROM range(30000000)")
        assert caught.value.number == 504


def test_runs_may_overlap(vault: Vault) -> None:
    failures: list[Error] = []

    def work(number: int) -> None:
        for _ in range(10):
            loads = {"k": {"v": np.array([number])}}
            try:
                assert vault.run("SELECT v, count(*) AS n FROM source.t, k GROUP BY v", loads=loads)["v"].tolist() == [
                    number
                ]
            except Error as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_file_that_is_written_between_two_statements_of_a_snapshot_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\nx\n")
    with Vault.open({"t": Files(paths=(path,), kind="csv")}) as vault, vault.snapshot() as snapshot:
        assert snapshot.run("SELECT a FROM source.t")["a"].tolist() == ["x"]
        path.write_text("a\ny\nz\n")
        with pytest.raises(ExecutionError) as caught:
            snapshot.run("SELECT a FROM source.t")
        assert caught.value.number == 505
        assert vault.run("SELECT a FROM source.t")["a"].tolist() == ["y", "z"]


def test_a_closed_vault_says_so(vault: Vault) -> None:
    vault.close()
    vault.close()
    with pytest.raises(InterfaceError):
        vault.run("SELECT 1::BIGINT AS n")


def test_neither_pandas_nor_pyarrow_is_loaded(tmp_path: Path) -> None:
    script = """
import sys, numpy as np
from pathlib import Path
from dpsql.engine.hardening import Limits
from dpsql.engine.scratch import Scratch
from dpsql.engine.public import PublicReader
from dpsql.engine.sources import Files, Frame
from dpsql.engine.vault import Vault
path = Path(sys.argv[1])
path.write_text("a,b\\n1,x\\n")
public = PublicReader({"p": Files(paths=(path,), kind="csv")}, Limits())
scratch = Scratch()
scratch.load_stream("p", public.stream("FROM source.p"))
scratch.load("r", {"n": np.array([1]), "s": np.array([None], dtype=object)}, {"n": "INTEGER"})
result = scratch.query("SELECT * FROM p, r")
vault = Vault.open({"t": Files(paths=(path,), kind="csv"), "f": Frame(data={"x": [1, "a"]})})
vault.run("SELECT t.a FROM source.t, k", loads={"k": result})
assert result.fetchall() == [("1", "x", 1, None)]
result.write(path, "csv")
print(sorted({"pandas", "pyarrow", "polars"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path / "p.csv")], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
