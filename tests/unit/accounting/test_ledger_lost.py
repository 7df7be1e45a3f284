"""A process that is killed between writing a change to SQLite's log and saying so in the log's index: the change is not
there, and comes back when all processes are gone. Whatever was announced meanwhile, the ledger and its head fit."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import ledger_store
from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_verify import BadRow, verify_file

ACCOUNT = Account(dataset="d", epsilon=Fraction(10), delta=Fraction(0))


class Killed(BaseException):
    pass


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Open during the test, so that the log's index is never made again."""
    with closing(Ledger.open(tmp_path / "ledger", ACCOUNT)) as opened:
        opened.grant(epsilon=Fraction(1), why="the first")
        yield opened


def beside(ledger: Ledger, suffix: str) -> Path:
    assert ledger.path is not None
    return ledger.path.with_name(ledger.path.name + suffix)


def lose(ledger: Ledger, why: str) -> None:
    """A change whose process dies after the log and before its index."""
    assert ledger.path is not None
    index = announced = b""

    def point(name: str) -> None:
        nonlocal index, announced
        if name == "grant.announced":
            index, announced = beside(ledger, "-shm").read_bytes(), beside(ledger, ".head").read_bytes()

    with closing(Ledger.inspect(ledger.path)) as dying:
        dying._store._crash_point = point
        dying.grant(epsilon=Fraction(1), why=why)
    with beside(ledger, "-shm").open("r+b") as file:
        file.write(index)
    beside(ledger, ".head").write_bytes(announced)


def die(ledger: Ledger, at: str, why: str) -> None:
    assert ledger.path is not None

    def point(name: str) -> None:
        if name == at:
            raise Killed

    with closing(Ledger.inspect(ledger.path)) as dying:
        dying._store._crash_point = point
        with suppress(Killed):
            dying.grant(epsilon=Fraction(1), why=why)


def restarted(ledger: Ledger, folder: Path) -> tuple[BadRow | None, list[str | None]]:
    """What is there once everybody is gone: whether it holds, and the reasons of its entries."""
    folder.mkdir()
    for suffix in ("", "-wal", ".head"):
        shutil.copy(beside(ledger, suffix), folder / f"ledger{suffix}")
    bad = verify_file(folder / "ledger")
    with closing(Ledger.inspect(folder / "ledger")) as opened:
        if bad is None:
            opened.grant(epsilon=Fraction(1), why="after")
        return bad or verify_file(folder / "ledger"), [one.detail for one in opened.rows() if one.kind == "grant"]


def test_a_lost_change_comes_back(ledger: Ledger, tmp_path: Path) -> None:
    """That it does is why the rest is needed."""
    lose(ledger, "lost")
    assert [one.detail for one in ledger.rows() if one.kind == "grant"] == ["the first"]
    assert restarted(ledger, tmp_path / "r") == (None, ["the first", "lost", "after"])


@pytest.mark.parametrize("at", ["grant.before", "grant.written", "grant.announced"])
@pytest.mark.parametrize("losses", [1, 2, 3])
def test_who_writes_next_may_die_too(ledger: Ledger, tmp_path: Path, at: str, losses: int) -> None:
    for number in range(losses):
        lose(ledger, f"lost {number}")
    die(ledger, at, "dead")
    bad, reasons = restarted(ledger, tmp_path / "r")
    kept = [f"lost {losses - 1}"] if at == "grant.before" else []
    assert (bad, reasons) == (None, ["the first", *kept, "after"])


def test_who_writes_next_goes_on(ledger: Ledger, tmp_path: Path) -> None:
    lose(ledger, "lost")
    ledger.grant(epsilon=Fraction(1), why="next")
    assert restarted(ledger, tmp_path / "r") == (None, ["the first", "next", "after"])


def test_without_it_the_head_would_not_fit(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_store, "overwrite_the_lost", lambda *given: None)
    lose(ledger, "lost")
    die(ledger, "grant.announced", "dead")
    for suffix in ("", "-wal", ".head"):
        shutil.copy(beside(ledger, suffix), tmp_path / f"copy{suffix}")
    assert str(verify_file(tmp_path / "copy")) == "entry 4 is not the one that was written"
