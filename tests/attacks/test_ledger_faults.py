"""The disk is full, the file is read-only, somebody holds the lock: a clear error, and nothing is free."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import ledger_place
from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost
from dpsql.errors import Error, LedgerError

ACCOUNT = Account(dataset="faults", epsilon=Fraction(1000), delta=Fraction(1, 10**6))
EACH = Cost(epsilon=Fraction(1), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0))
NOBODY = 65534


def charge(record: str = "{}") -> Charge:
    return Charge(plan="p", metadata="m", cost=EACH, record=record)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    made = Path(tempfile.mkdtemp())
    yield made
    shutil.rmtree(made)


def in_child(work: Callable[[], str]) -> str:
    """What `work` returns in a forked process, whose limits and user it may change."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work().encode())
        except BaseException as problem:
            os.write(writer, repr(problem).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    said = os.read(reader, 10_000).decode()
    os.close(reader)
    return said


def test_a_read_only_file(folder: Path) -> None:
    path = folder / "a.ledger"
    Ledger.open(path, ACCOUNT).close()
    files = [folder, *folder.iterdir()]
    for file in files:
        os.chown(file, NOBODY, NOBODY) if os.getuid() == 0 else None
        file.chmod(0o500 if file.is_dir() else 0o400)

    def reserve() -> str:
        if os.getuid() == 0:  # root may write anything: be somebody else
            os.setuid(NOBODY)
        try:
            Ledger.open(path, ACCOUNT).reserve(charge())
        except LedgerError as problem:
            return f"{problem.code} {problem.why}"
        return "charged"

    said = in_child(reserve)
    folder.chmod(0o700)
    assert said.startswith("DPSQL-420")
    assert path.stat().st_mode & 0o777 == 0o400  # and no rights were added


def test_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    Ledger.open(path, ACCOUNT).close()

    def spend_until_full() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        ledger = Ledger.open(path, ACCOUNT)
        accepted = 0
        try:
            while True:
                ledger.reserve(charge(record="x" * 3000))
                accepted += 1
        except LedgerError as problem:
            return f"{problem.code} {accepted}"

    code, accepted = in_child(spend_until_full).split()
    assert code == "DPSQL-420"
    assert 0 < int(accepted) < 200
    ledger = Ledger.open(path, ACCOUNT)
    assert ledger.verify() is None
    assert int(accepted) <= (ledger.balance().spent.epsilon or 0) <= int(accepted) + 1
    ledger.reserve(charge())
    ledger.close()


def test_a_full_disk_when_rows_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    Ledger.open(path, ACCOUNT).close()

    def store() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        ledger = Ledger.open(path, ACCOUNT)
        receipt = ledger.reserve(charge())
        ledger.running(receipt)
        try:
            ledger.store(receipt, b"x" * 10**6)
        except LedgerError as problem:
            return problem.code
        return "stored"

    assert in_child(store) == "DPSQL-420"
    ledger = Ledger.open(path, ACCOUNT)
    assert ledger.verify() is None
    assert ledger.stored(analyst=None, plan="p", metadata="m") is None
    assert ledger.balance().spent.epsilon == 1
    ledger.close()


def test_the_head_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is charged that the head file could not announce; the caller is told."""
    path = tmp_path / "a.ledger"
    ledger = Ledger.open(path, ACCOUNT)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(ledger_place.os, "fsync", full)
        with pytest.raises(LedgerError) as caught:
            ledger.reserve(charge())
    assert caught.value.code == "DPSQL-420"
    assert ledger.balance().spent.epsilon == 0
    assert ledger.verify() is None
    ledger.reserve(charge())
    assert ledger.verify() is None
    assert (tmp_path / "a.ledger.head").read_text().strip() == ledger.head()
    ledger.close()


def test_somebody_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = Ledger.open(path, ACCOUNT, timeout=0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    for action in (lambda: ledger.reserve(charge()), lambda: Ledger.open(path, ACCOUNT, timeout=0.05)):
        with pytest.raises(LedgerError) as caught:
            action()
        assert caught.value.code == "DPSQL-421"
    assert ledger.balance().spent.epsilon == 0  # reading does not wait
    holder.execute("ROLLBACK")
    holder.close()
    ledger.reserve(charge())
    ledger.close()


def test_errors_do_not_quote_the_records(tmp_path: Path) -> None:
    """A damaged page may hold an analyst's parameters; SQLite's message about it must not carry them on."""
    path = tmp_path / "a.ledger"
    ledger = Ledger.open(path, ACCOUNT)
    for _ in range(20):
        ledger.reserve(charge(record="sentinel-7341"))
    ledger.close()
    whole = bytearray(path.read_bytes())
    for at in range(4096, len(whole), 64):
        whole[at] ^= 0xFF
    path.write_bytes(whole)
    try:
        Ledger.open(path, ACCOUNT)
    except Error as problem:
        assert "sentinel" not in str(problem)
        assert problem.__cause__ is None
    else:
        pytest.fail("a damaged ledger was opened")
    assert "sentinel" not in str(Ledger.verify_file(path))
