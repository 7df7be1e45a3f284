"""kill -9 around a whole query, through the public API: what was released had been charged, and nothing charged is lost.

Each victim is a process that asks in a loop and writes down, outside the ledger, what it saw: private data was touched,
rows came back. It dies at a named point: before or after a step of the query, or inside one of the ledger's writes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.accounting.ledger import CRASH_POINTS, Ledger
from tests.worlds.towns import write

STEPS = ("vault.before", "vault.after", "noise.after", "finish.before", "finish.after")
LEDGER_POINTS = tuple(point for point in CRASH_POINTS if not point.startswith("open"))
POINTS = STEPS + LEDGER_POINTS

VICTIM = """
import os, signal, sys
import dpsql
import dpsql.accounting.ledger as ledger
import dpsql.query as query
import dpsql.execution.release_stages as release_stages
import dpsql.engine.vault as vault

yaml, diary, point, passes = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
pen = os.open(diary, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
left = [passes]

def reached(name):
    if name == point:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

def around(module, name, before=None, after=None, note=None):
    real = getattr(module, name)
    def stepped(*args, **kwargs):
        if before: reached(before)
        if note: os.write(pen, note)
        returned = real(*args, **kwargs)
        if after: reached(after)
        return returned
    setattr(module, name, stepped)

ledger.crash_point = reached
around(vault.Snapshot, "run", "vault.before", "vault.after", b"touched\\n")
around(release_stages, "release", None, "noise.after")
around(query, "_finish", "finish.before", "finish.after")
conn = dpsql.connect(yaml, analyst="ana")
for asked in range(8):
    rows = conn.execute("SELECT COUNT(*) FROM visits WHERE x > ?", [asked], query_id=f"q{asked}").fetchall()
    os.write(pen, f"got {asked} {rows[0][0]}\\n".encode())
"""


def victims(yaml: Path, diary: Path, point: str, passes: int) -> int:
    command = [sys.executable, "-c", VICTIM, str(yaml), str(diary), point, str(passes)]
    return subprocess.run(command, timeout=300, check=False).returncode


def check(yaml: Path, diary: Path, killed: int) -> None:
    """released ⊆ charged; every answer that was seen is on record, to the bit; a retry costs at most what was lost."""
    path = yaml.with_name(yaml.name + ".ledger")
    assert Ledger.verify_file(path) is None
    notes = diary.read_text().splitlines() if diary.exists() else []
    seen = [line.split()[1:] for line in notes if line.startswith("got")]
    ledger = Ledger.inspect(path)
    entries = list(ledger.rows())
    ledger.close()
    charged = {entry.n: entry for entry in entries if entry.kind == "charge"}
    released = {entry.subject for entry in entries if entry.kind == "released"}
    running = {entry.subject for entry in entries if entry.kind == "running"}
    assert notes.count("touched") <= len(running) <= len(charged)
    assert {f"q{asked}" for asked, _ in seen} <= {charged[n].query_id for n in released if n is not None}
    assert len(charged) - len(released) <= killed
    with dpsql.connect(yaml, analyst="ana") as conn:
        assert conn.budget.spent.epsilon == len(charged)
        for asked, value in seen:
            again = conn.execute("SELECT COUNT(*) FROM visits WHERE x > ?", [int(asked)], query_id=f"q{asked}")
            assert again.fetchall() == [(int(value),)]
        assert conn.budget.spent.epsilon == len(charged)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point(tmp_path: Path, point: str) -> None:
    yaml, diary = write(tmp_path), tmp_path / "diary"
    passes = POINTS.index(point) % 4
    assert victims(yaml, diary, point, passes) == -signal.SIGKILL
    check(yaml, diary, 1)


@pytest.mark.deep
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("passes", range(8))
def test_killed_at_every_pass(tmp_path: Path, point: str, passes: int) -> None:
    yaml, diary = write(tmp_path), tmp_path / "diary"
    assert victims(yaml, diary, point, passes) == -signal.SIGKILL
    check(yaml, diary, 1)


def test_the_same_account_survives_many_deaths(tmp_path: Path) -> None:
    """One ledger, killed again and again; what was asked before is answered from the record."""
    yaml, diary = write(tmp_path), tmp_path / "diary"
    for killed, point in enumerate(("vault.after", "store.written", "store.committed", "reserve.committed"), start=1):
        assert victims(yaml, diary, point, 1) == -signal.SIGKILL
        check(yaml, diary, killed)
    assert victims(yaml, diary, "nowhere", 0) == 0
    check(yaml, diary, 4)


def test_interrupted_after_the_charge_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsql.execution import release_stages

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with dpsql.connect(write(tmp_path), analyst="ana") as conn:
        with monkeypatch.context() as patched:
            patched.setattr(release_stages, "release", interrupted)
            with pytest.raises(KeyboardInterrupt):
                conn.execute("SELECT COUNT(*) FROM visits")
        assert conn.budget.spent.epsilon == 1
        path = tmp_path / "towns.yaml.ledger"
        ledger = Ledger.inspect(path)
        charge = next(entry.n for entry in ledger.rows() if entry.kind == "charge")
        with pytest.raises(dpsql.LedgerError):
            ledger.void(charge, "it ran: what it saw is not forgotten")
        ledger.close()
        assert conn.budget.spent.epsilon == 1


def test_the_owners_log_lies_beside_the_ledger_and_is_the_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    yaml = write(tmp_path, more="ledger: elsewhere/towns.ledger")
    with dpsql.connect(yaml, analyst="ana") as conn:
        conn._session.engines._tell_owner("the engine's own words")
    log = tmp_path / "elsewhere" / "towns.ledger.owner.log"
    assert log.read_text().endswith("the engine's own words\n")
    assert os.stat(log).st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "elsewhere" / "towns.ledger").st_mode & 0o777 == 0o600
