"""Where private rows are written down: one folder a session, gone with it, and swept when it was killed (S8, S9)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.engine.temporary import LOCK, TemporaryFolder, sweep
from dpsql.errors import InterfaceError, SourceError
from dpsql.shell.main import main
from tests.attacks.terminal import ROOT, terminal
from tests.worlds.towns import COUNT, write

SPILLING = """
    import os, sys
    import numpy as np
    import dpsql

    columns = {"id": "integer", "x": {"type": "integer", "lower": 0, "upper": 10}, "s": "text"}
    table = {"unit": "id", "rows_per_unit": 1, "columns": columns}
    catalog = {"dataset": "d", "budget": {"epsilon": 9, "delta": 0.001}, "per_query": {"epsilon": 1, "delta": 0.0001},
               "tables": {"t": table}}
    rows = 1_500_000
    frame = {"id": np.arange(rows), "x": np.arange(rows) % 11, "s": np.array([f"{i:040}" for i in range(rows)])}
    conn = dpsql.connect(catalog, source={"t": frame}, temp_folder=sys.argv[1], memory_limit="120MB", threads=1)
"""


def python(code: str, folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def ours(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.name.startswith("dpsql-")) if place.is_dir() else []


def held(place: Path) -> list[Path]:
    """All files in the folders, but for their locks."""
    folders = [folder for folder in ours(place) if folder.is_dir() and not folder.is_symlink()]
    return [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != LOCK]


def test_a_session_has_one_private_folder(tmp_path: Path) -> None:
    yaml, place = write(tmp_path), tmp_path / "made" / "here"
    with dpsql.connect(yaml, temp_folder=place) as conn:
        conn.execute(COUNT)
        (folder,) = ours(place)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.name for path in folder.iterdir()} == {LOCK, "scratch", "vault"}
        helper = conn.sub_budget(epsilon=1)
        helper.execute(COUNT)
        assert len(ours(place)) == 2
        helper.close()
        assert ours(place) == [folder]
    assert ours(place) == []


def test_its_place_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata's word first, then the caller's, then the environment's, then the system's."""
    places = [tmp_path / name for name in ("yaml", "given", "environment", "system")]
    monkeypatch.setenv("DPSQL_TEMP_FOLDER", str(places[2]))
    monkeypatch.setattr("tempfile.tempdir", str(places[3]))
    yaml = write(tmp_path, more="temp_folder: yaml")
    with dpsql.connect(yaml) as conn:
        conn.execute(COUNT)
        assert [len(ours(place)) for place in places] == [1, 0, 0, 0]
        with pytest.raises(InterfaceError) as caught:
            dpsql.connect(yaml, temp_folder=places[1])
        assert caught.value.code == "DPSQL-610"
    write(tmp_path)
    with dpsql.connect(yaml, temp_folder=places[1]) as conn:
        conn.execute("SELECT 1 AS a")
        assert [len(ours(place)) for place in places] == [0, 1, 0, 0]
    with dpsql.connect(yaml) as conn:
        conn.execute("SELECT 1 AS a")
        assert [len(ours(place)) for place in places] == [0, 0, 1, 0]
    monkeypatch.delenv("DPSQL_TEMP_FOLDER")
    places[3].mkdir(exist_ok=True)
    with dpsql.connect(yaml) as conn:
        conn.execute("SELECT 1 AS a")
        assert [len(ours(place)) for place in places] == [0, 0, 0, 1]


def test_a_place_that_is_none_has_a_code(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        dpsql.connect(write(tmp_path), temp_folder=tmp_path / "file" / "in") as conn,
        pytest.raises(SourceError) as caught,
    ):
        conn.execute(COUNT)
    assert caught.value.code == "DPSQL-312"
    with dpsql.connect(write(tmp_path)) as conn:
        assert conn.budget.spent.epsilon == 0


@pytest.mark.parametrize(("place", "code"), [("a\0b", "DPSQL-312"), (5, "DPSQL-600"), (b"x", "DPSQL-600")])
def test_what_is_no_place_has_a_code(tmp_path: Path, place: Any, code: str) -> None:
    with pytest.raises(dpsql.Error) as caught, dpsql.connect(write(tmp_path), temp_folder=place) as connection:
        connection.execute(COUNT)
    assert caught.value.code == code and "\0" not in str(caught.value)


def test_what_a_kill_leaves_is_swept_at_the_next_start_and_nothing_else(tmp_path: Path) -> None:
    """Killed while rows are spilled: they are there, in a folder of this user alone, until the next session begins."""
    place = tmp_path / "place"
    query = 'conn.execute("SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY 1")'
    process = python(f"{SPILLING}\n    {query}", tmp_path, str(place))
    end = time.monotonic() + 240
    while not held(place) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert held(place), "nothing was spilled"
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in ours(place))
    used = TemporaryFolder(place)
    others = [place / "dpsql-file", place / "notdpsql-x", place / "dpsql-new"]
    others[0].write_text("a file")
    others[1].mkdir()
    others[2].mkdir()  # being made: its lock is not there yet
    (place / "dpsql-link").symlink_to(tmp_path)
    assert used.path.exists()
    done = python("import sys, dpsql; c = dpsql.connect(sys.argv[1]); c.execute('SELECT 1 AS a')", tmp_path,
                  str(write(tmp_path)), DPSQL_TEMP_FOLDER=str(place))  # fmt: skip
    finished(done)
    assert held(place) == []
    assert ours(place) == sorted(
        [*[path for path in others if path.name.startswith("dpsql-")], place / "dpsql-link", used.path]
    )
    assert (tmp_path / "towns.yaml").exists()
    used.close()
    os.utime(others[2], (0, 0))
    sweep(place)
    assert others[2] not in ours(place) and others[0].exists()


def test_many_that_begin_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from dpsql.engine.temporary import TemporaryFolder, sweep
        for _ in range(150):
            folder = TemporaryFolder(Path(sys.argv[1]))
            (folder.path / "rows").write_text("x")
            sweep(folder.place)
            assert (folder.path / "rows").exists()
            folder.close()
    """
    for process in [python(code, tmp_path, str(tmp_path / "place")) for _ in range(4)]:
        finished(process)
    assert ours(tmp_path / "place") == []


LONG = "\n".join(
    [
        "CREATE TABLE p AS SELECT 1 AS x;",
        *["INSERT INTO p SELECT x + 1 FROM p;"] * 12,
        ".timer on",
        "SELECT 1 AS a;",
        "SELECT COUNT(*) AS n FROM p a CROSS JOIN p b CROSS JOIN p c WHERE a.x + b.x > c.x;",
    ]
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("busy", [False, True])
def test_a_shell_that_is_told_to_end_leaves_nothing(tmp_path: Path, number: signal.Signals, busy: bool) -> None:
    """At the prompt, and while a query runs."""
    place = tmp_path / "place"
    with terminal(str(write(tmp_path)), "--temp-folder", str(place), folder=tmp_path) as shell:
        shell.wait()
        shell.type(f"{COUNT};")
        assert len(ours(place)) == 1
        if busy:
            (tmp_path / "long.sql").write_text(LONG)
            shell.press(b".read long.sql\r")
            shell.wait_for("Time: ")
            time.sleep(0.5)
            assert shell.process.poll() is None
        os.kill(shell.process.pid, number)
        assert shell.ended() in (128 + number, -number)
    assert ours(place) == []
    with dpsql.connect(write(tmp_path)) as conn:
        assert conn.budget.spent.epsilon == 1


def test_hanging_up_the_terminal_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "place"
    with terminal(str(write(tmp_path)), "--temp-folder", str(place), folder=tmp_path) as shell:
        shell.wait()
        shell.type(f"{COUNT};")
        os.close(shell._screen)
        shell._screen = os.open(os.devnull, os.O_RDWR)
        shell.process.wait(30)
    assert ours(place) == []


def test_scripts_that_end_by_themselves_or_fail_leave_nothing(tmp_path: Path) -> None:
    yaml, place = write(tmp_path), tmp_path / "place"
    for words in (["-c", COUNT], ["-c", "SELECT nix"], ["--epsilon", "1000", "-c", COUNT]):
        main([str(yaml), "-q", "--temp-folder", str(place), *words])
        assert ours(place) == []
    code = "import sys, dpsql\nconn = dpsql.connect(sys.argv[1]); conn.execute(sys.argv[2])\n"
    for end in ("", "sys.exit(3)", "raise RuntimeError"):
        python(code + end, tmp_path, str(yaml), COUNT, DPSQL_TEMP_FOLDER=str(place)).communicate()
        assert ours(place) == []


FORKING = """
    conn.execute("SELECT COUNT(*) AS n FROM t")
    before = sorted(os.listdir(sys.argv[1]))
    child = os.fork()
    if child == 0:
        if sys.argv[2] == "close":
            conn.close()
        if sys.argv[2] == "use":
            try:
                conn.execute("SELECT 1 AS a")
            finally:
                sys.stdout.flush()
        sys.exit(0)  # as a program ends: with everything it does at its end
    assert os.waitpid(child, 0)[1] == 0
    assert sorted(os.listdir(sys.argv[1])) == before
    rows = conn.execute("SELECT s, COUNT(*) AS n FROM t GROUP BY s").fetchall()
    print(conn.execute("SELECT COUNT(*) AS n FROM t WHERE x > 3").fetchall()[0][0] > 0, flush=True)
    conn.close()
    assert os.listdir(sys.argv[1]) == []
"""


@pytest.mark.parametrize("what", ["exit", "close", "use"])
def test_a_forked_childs_end_is_not_its_parents(tmp_path: Path, what: str) -> None:
    """Its normal exit, its closing of the connection, its own queries: the parent's spilled rows stay where they are."""
    code = textwrap.dedent(SPILLING) + textwrap.dedent(FORKING)
    assert finished(python(code, tmp_path, str(tmp_path / "place"), what)).strip() == "True"


PUBLIC = """
    import os, sys
    import dpsql

    columns = {"k": "text", "name": "text"}
    catalog = {"dataset": "d", "budget": {"epsilon": 1},
               "tables": {"t": {"row_is_unit": True, "columns": {"k": "text"}}, "p": {"public": True, "columns": columns}}}
    conn = dpsql.connect(catalog, source={"t": {"k": ["a"]}, "p": {"k": ["a", "b"], "name": ["x", "y"]}})
    said = conn.execute("SELECT name FROM p ORDER BY name").fetchall()
    child = os.fork()
    if child == 0:
        print(conn.execute("SELECT name FROM p ORDER BY name").fetchall() == said, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_reads_public_tables_again(tmp_path: Path) -> None:
    """Their rows were in the parent's scratch."""
    assert finished(python(PUBLIC, tmp_path)).strip() == "True"
