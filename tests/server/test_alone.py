"""A server that cannot do its work says so: a full disk under the audit log, a port that is taken, a second server."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpsql.errors import InterfaceError, OperationalError
from dpsql.server import audit as auditing
from dpsql.server.accounts import Account, Accounts
from dpsql.server.audit import Audit
from dpsql.server.serve import the_only_one
from dpsql.server.service import QueryService
from dpsql.server.settings import Settings
from tests.server.started import COMMAND, started, write_data

ROOT = Path(__file__).parents[2]


class Disk:
    """os.write, until it is full: then a few bytes of each line fit, and then none."""

    def __init__(self) -> None:
        self.left: int | None = None

    def write(self, file: int, text: bytes) -> int:
        if self.left is None:
            return os_write(file, text)
        if self.left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = os_write(file, text[: self.left])
        self.left -= count
        return count


os_write = os.write


def test_nothing_is_asked_that_cannot_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk, path = Disk(), tmp_path / "audit"
    monkeypatch.setattr(auditing.os, "write", disk.write)
    service = QueryService(Settings(metadata=write_data(tmp_path)), Accounts(tmp_path / "users"), Audit(path))
    ana, ran = Account("ana", "analyst"), []

    async def asked(*given: Any) -> Any:
        ran.append(1)
        return {"rows": []}, None

    monkeypatch.setattr(service, "_asked", asked)
    ask = {"ask": "query", "sql": "SELECT 1"}
    asyncio.run(service.ask(ana, "http", ask))
    disk.left = 20
    asyncio.run(service.ask(ana, "http", ask))  # answered: it was charged before anybody knew
    for _ in range(3):
        with pytest.raises(OperationalError) as raised:
            asyncio.run(service.ask(ana, "http", ask))
        assert raised.value.code == "DPSQL-702" and raised.value.why == "Nothing was charged."
    assert len(ran) == 2 and capsys.readouterr().err.count("audit log") == 1
    disk.left = None
    asyncio.run(service.ask(ana, "http", ask))
    assert len(ran) == 3 and [one["event"] for one in service.audit.newest()] == ["asked", "resumed", "asked"]  # type: ignore[index,call-overload]
    service.audit.close()


def test_there_is_one_server_of_a_ledger(tmp_path: Path) -> None:
    first = the_only_one(tmp_path / "users")
    with pytest.raises(InterfaceError, match="another server serves this dataset"):
        the_only_one(tmp_path / "users")
    os.close(first)
    os.close(the_only_one(tmp_path / "users"))


def begun(metadata: Path, *options: str) -> tuple[int, str]:
    """The exit code of a server that does not start, and what it said."""
    command = [sys.executable, "-c", COMMAND, "serve", str(metadata), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why(visits: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with started(visits, "--postgres-port", "0") as server:
        code, said = begun(visits, "--port", "0")
        assert code != 0 and "another server serves this dataset" in said and "Traceback" not in said
        there = write_data(other)
        for taken in (("--port", str(server.port)), ("--port", "0", "--postgres-port", str(server.postgres))):
            code, said = begun(there, *taken)
            assert code != 0 and "DPSQL-708" in said and "it cannot listen" in said and "Traceback" not in said
        code, said = begun(there, "--port", "0", "--audit", "/dev/full")
        assert code != 0 and "audit log cannot be written" in said and "Traceback" not in said
        assert server.query("SELECT 1 AS a").status == 200
