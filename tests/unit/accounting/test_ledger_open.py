"""Opening a ledger continues it, says what changed, and never refills it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import ledger_place
from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_place import file_system
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError, InterfaceError, LedgerError

ACCOUNT = Account(dataset="hospital", epsilon=Fraction(2), delta=Fraction(1, 10**6))


def charge(epsilon: str, rho: str = "0") -> Charge:
    amounts = Cost(epsilon=Fraction(epsilon), delta=Fraction(0), rho=Fraction(rho), delta_keys=Fraction(0))
    return Charge(plan="p", metadata="m", cost=amounts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def test_changing_the_budget_keeps_what_was_spent_and_tells_the_owner(path: Path) -> None:
    first = Ledger.open(path, ACCOUNT)
    assert first.notices == ()
    first.reserve(charge("1.5"))
    second = Ledger.open(path, replace(ACCOUNT, epsilon=Fraction(3)))
    assert second.balance().left.epsilon == Fraction(3, 2)
    assert len(second.notices) == 1
    assert "what was spent stays spent" in second.notices[0]
    third = Ledger.open(path, replace(ACCOUNT, epsilon=Fraction(1)))
    assert third.balance().left.epsilon == 0
    with pytest.raises(BudgetError):
        third.reserve(charge("0.1"))
    assert Ledger.open(path, replace(ACCOUNT, epsilon=Fraction(1))).notices == ()
    assert [entry.kind for entry in third.rows()] == ["epoch", "account", "charge", "account", "account"]
    assert third.verify() is None


def test_another_dataset_is_refused_unless_the_owner_begins_an_epoch(path: Path) -> None:
    old = Ledger.open(path, ACCOUNT)
    old.reserve(charge("2"))
    renamed = replace(ACCOUNT, dataset="clinic")
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path, renamed)
    assert caught.value.code == "DPSQL-410"
    new = Ledger.open(path, renamed, new_epoch=True)
    assert "on record" in new.notices[0]
    new.reserve(charge("2"))
    with pytest.raises(LedgerError) as stale:
        old.reserve(charge("0.1"))
    assert stale.value.code == "DPSQL-410"
    assert new.verify() is None
    assert Ledger.open(path, renamed).balance().left.epsilon == 0


def test_stored_rows_of_an_earlier_epoch_are_not_repeated(path: Path) -> None:
    old = Ledger.open(path, ACCOUNT)
    receipt = old.reserve(charge("1"))
    old.running(receipt)
    old.store(receipt, b"old data")
    new = Ledger.open(path, ACCOUNT, new_epoch=True)
    assert new.stored(analyst=None, plan="p", metadata="m") is None
    with pytest.raises(LedgerError):
        new.void(receipt.id, "another epoch's")


def test_the_notion_stays_once_something_was_spent(path: Path) -> None:
    zcdp = replace(ACCOUNT, accounting="zcdp")
    Ledger.open(path, ACCOUNT)
    ledger = Ledger.open(path, zcdp)  # nothing spent yet: may still change
    ledger.reserve(charge("1", "1/100"))
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path, ACCOUNT)
    assert caught.value.code == "DPSQL-413"


def test_inspect_needs_no_catalog(path: Path) -> None:
    with pytest.raises(LedgerError):
        Ledger.inspect(path)
    account = replace(ACCOUNT, analysts={"ana": (Fraction(1), None)}, per="month", per_query=(Fraction(1), None))
    Ledger.open(path, account)
    assert Ledger.inspect(path).account == account
    assert Ledger.verify_file(path) is None


def test_memory_ledgers_of_a_dataset_are_one() -> None:
    account = Account(dataset="memory-one", epsilon=Fraction(1), delta=Fraction(0))
    first = Ledger.open(None, account)
    first.reserve(charge("0.75"))
    first.close()
    second = Ledger.open(None, account, changes="none")
    assert second.balance().left.epsilon == Fraction(1, 4)
    assert second.verify() is None
    with pytest.raises(LedgerError) as caught:
        Ledger.open(None, replace(account, epsilon=Fraction(9)), changes="none")
    assert caught.value.code == "DPSQL-411"
    assert Ledger.open(None, replace(account, dataset="memory-two")).balance().left.epsilon == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": None},
        {"epsilon": Fraction(-1)},
        {"epsilon": 1.0},
        {"delta": Fraction(1)},
        {"per": "week"},
        {"accounting": "renyi"},
        {"accounting": "zcdp", "delta": None},
        {"accounting": "zcdp", "delta": Fraction(0)},
        {"accounting": "zcdp", "delta_keys": Fraction(1, 10**6)},
        {"analysts": {"ana": (float("nan"), None)}},
    ],
)
def test_a_wrong_account_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InterfaceError):
        replace(ACCOUNT, **wrong)  # type: ignore[arg-type]  # that is the point


def test_a_file_that_is_no_ledger_is_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (x)")
    other.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(path, ACCOUNT)
    path.write_bytes(b"hello, this is a letter and not a ledger" * 100)
    with pytest.raises(Exception, match="ledger"):
        Ledger.open(path, ACCOUNT)
    assert path.read_bytes().startswith(b"hello")


def test_a_newer_ledger_is_left_alone(path: Path) -> None:
    Ledger.open(path, ACCOUNT).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 2")
    other.close()
    with pytest.raises(LedgerError, match="version 2"):
        Ledger.open(path, ACCOUNT)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(tmp_path / "no" / "a.ledger", ACCOUNT)
    assert caught.value.code == "DPSQL-420"


MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/local xfs rw 0 0
me@host: /mnt/with\\040space fuse.sshfs rw 0 0
tmpfs /twice tmpfs rw 0 0
//box/share /twice cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/data", "ext4"),
        ("/home", "nfs4"),
        ("/home/ana", "nfs4"),
        ("/homework", "ext4"),
        ("/home/local/x", "xfs"),
        ("/mnt/with space/x", "fuse.sshfs"),
        ("/twice/x", "cifs"),
    ],
)
def test_the_file_system_is_the_innermost_and_last_mount(place: str, kind: str) -> None:
    assert file_system(Path(place), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "9p", "fuse.sshfs", "ceph"])
def test_a_network_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    mounts = path.with_name("mounts")
    mounts.write_text(f"server:/ / {kind} rw 0 0\n")
    monkeypatch.setattr(ledger_place, "MOUNTS", mounts)
    with pytest.raises(LedgerError) as caught:
        Ledger.open(path, ACCOUNT)
    assert caught.value.code == "DPSQL-422"
    assert not path.exists()


def test_where_mounts_are_not_listed_the_place_is_not_checked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_place, "MOUNTS", path.with_name("none"))
    Ledger.open(path, ACCOUNT).close()
