"""Whoever can write the file cannot hide it: every changed byte, entry, total, pointer or old copy is found."""

from __future__ import annotations

import random
import shutil
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_chain import COLUMNS, START, Entry, digest
from dpsql.accounting.loss import Cost
from dpsql.errors import Error, TamperedLedger

ACCOUNT = Account(dataset="tamper", epsilon=Fraction(100), delta=Fraction(1, 10**6))


def charge(epsilon: str, plan: str = "p") -> Charge:
    amounts = Cost(epsilon=Fraction(epsilon), delta=Fraction(1, 10**9), rho=Fraction(0), delta_keys=Fraction(0))
    return Charge(plan=plan, metadata="m", cost=amounts, analyst="ana", query_id=None)


def head_of(path: Path) -> Path:
    return path.with_name(path.name + ".head")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with every kind of entry, closed and checkpointed."""
    path = tmp_path / "a.ledger"
    ledger = Ledger.open(path, ACCOUNT)
    for number in range(4):
        receipt = ledger.reserve(charge("0.5", f"plan{number}"))
        ledger.running(receipt)
        ledger.store(receipt, b"noisy rows %d" % number)
    ledger.sub(Fraction(1)).sub(Fraction(1, 2)).reserve(charge("0.25"))
    ledger.void(ledger.reserve(charge("3")).id, "never ran")
    ledger.grant(epsilon=Fraction(1), why="board")
    ledger.limit(analyst="ana", epsilon=Fraction(50), why="board")
    ledger.close()
    assert Ledger.verify_file(path) is None
    return path


def entries(path: Path) -> list[Entry]:
    ledger = Ledger.inspect(path)
    rows = list(ledger.rows())
    ledger.close()
    return rows


def change(path: Path, sql: str, *parameters: object) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(sql, parameters)
    connection.close()


def copied(path: Path, folder: Path) -> Path:
    folder.mkdir()
    for file in (path, head_of(path)):
        shutil.copy(file, folder / file.name)
    return folder / path.name


def contents(path: Path) -> object:
    """Everything the ledger says, or None if it cannot be read."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        tables = [
            connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
            for name in ("entry", "latest", "released")
        ]
        return tables, sorted(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=repr)
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()


def noticed(path: Path) -> bool:
    try:
        return Ledger.verify_file(path) is not None
    except Error:
        return True


def flip_bytes(path: Path, folder: Path, places: list[int]) -> int:
    """Flips one bit of each place in turn. Found, or else the flip said nothing: an unused byte of a page."""
    whole, truth, silent = path.read_bytes(), contents(path), 0
    folder.mkdir()
    copy = folder / path.name
    shutil.copy(head_of(path), head_of(copy))
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 8)
        copy.write_bytes(changed)
        if not noticed(copy):
            silent += 1
            assert contents(copy) == truth, f"byte {place} was changed and nobody noticed"
        for rest in ("-wal", "-shm"):
            copy.with_name(copy.name + rest).unlink(missing_ok=True)
    return silent


def test_flipped_bytes_are_found(path: Path, tmp_path: Path) -> None:
    size = path.stat().st_size
    places = random.Random(7).sample(range(size), 500)
    assert flip_bytes(path, tmp_path / "flipped", places) < 500


def test_flipped_bytes_of_what_is_written_are_found(path: Path, tmp_path: Path) -> None:
    """Only places that say something: inside the stored entries, none may pass unnoticed."""
    whole = path.read_bytes()
    texts = [entry.hash for entry in entries(path)] + ["noisy rows 2", "plan3", "never ran", '"all:dataset"']
    places = [at + 1 for text in texts for at in _all_places(whole, text.encode())]
    assert flip_bytes(path, tmp_path / "flipped", places) == 0


def _all_places(whole: bytes, text: bytes) -> list[int]:
    found_at = [at for at in range(len(whole)) if whole.startswith(text, at)]
    assert found_at
    return found_at


@pytest.mark.deep
def test_every_flipped_byte_is_found(path: Path, tmp_path: Path) -> None:
    flip_bytes(path, tmp_path / "flipped", list(range(path.stat().st_size)))


def test_flipped_bytes_of_the_head_are_found(path: Path) -> None:
    whole = head_of(path).read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            head_of(path).write_bytes(changed)
            assert noticed(path), f"bit {bit} of byte {place}"


def test_every_deleted_entry_is_named(path: Path, tmp_path: Path) -> None:
    for entry in entries(path):
        copy = copied(path, tmp_path / str(entry.n))
        change(copy, "DELETE FROM entry WHERE n = ?", entry.n)
        bad = Ledger.verify_file(copy)
        assert bad is not None
        assert bad.row == entry.n


def test_every_changed_field_is_named(path: Path, tmp_path: Path) -> None:
    for entry in entries(path):
        for column in COLUMNS[1:]:
            copy = copied(path, tmp_path / f"{entry.n}-{column}")
            old = getattr(entry, column)
            new: object = 77 if column in ("epoch", "time", "subject", "sub") else f"{old or ''}0"
            change(copy, f"UPDATE entry SET {column} = ? WHERE n = ?", new, entry.n)
            bad = Ledger.verify_file(copy)
            assert bad is not None
            assert bad.row == entry.n, column


@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "hash"])
def test_the_hash_covers_every_field(path: Path, column: str) -> None:
    """Also those whose change a replay would find by itself."""
    for entry in entries(path):
        old = getattr(entry, column)
        for new in (f"{old}0", None, 77, "", "77") if old is not None else (77, "", "null"):
            assert digest(replace(entry, **{column: new})) != entry.hash == digest(entry)


def test_swapped_and_renumbered_entries_are_found(path: Path, tmp_path: Path) -> None:
    copy = copied(path, tmp_path / "swapped")
    for old, new in ((3, -1), (6, 3), (-1, 6)):
        change(copy, "UPDATE entry SET n = ? WHERE n = ?", new, old)
    bad = Ledger.verify_file(copy)
    assert bad is not None
    assert bad.row == 3


def rechained(path: Path, first: int, **changed: str) -> None:
    """A forger who knows the format: changes one entry and computes every later hash anew."""
    previous = START
    for entry in entries(path):
        forged = replace(entry, previous=previous, **changed) if entry.n == first else replace(entry, previous=previous)
        forged = replace(forged, hash=digest(forged))
        columns = ", ".join(f"{name} = ?" for name in COLUMNS)
        change(path, f"UPDATE entry SET {columns} WHERE n = {entry.n}", *(getattr(forged, name) for name in COLUMNS))
        previous = forged.hash


def test_a_history_with_new_hashes_does_not_match_the_head(path: Path) -> None:
    rechained(path, 3, analyst="bob", plan="elsewhere", detail="{}", query_id="forged")
    bad = Ledger.verify_file(path)
    assert bad is not None
    with pytest.raises(TamperedLedger):
        Ledger.open(path, ACCOUNT)


def test_a_history_with_new_hashes_and_head_must_still_add_up(path: Path) -> None:
    rechained(path, 3, epsilon="1/1000000")
    head_of(path).write_text(f"{len(entries(path))}:{entries(path)[-1].hash}\n")
    bad = Ledger.verify_file(path)
    assert bad is not None
    assert bad.row == 3
    assert "add up" in bad.why


def test_a_perfect_forgery_does_not_match_the_head_the_owner_printed(path: Path) -> None:
    ledger = Ledger.open(path, ACCOUNT)
    printed = ledger.head()
    ledger.close()
    assert Ledger.verify_file(path, printed) is None
    rechained(path, 3, detail='{"nothing": "here"}')
    head_of(path).write_text(f"{len(entries(path))}:{entries(path)[-1].hash}\n")
    assert Ledger.verify_file(path) is None
    bad = Ledger.verify_file(path, printed)
    assert bad is not None
    assert bad.row == len(entries(path))


def test_an_old_copy_put_back_is_found_and_refused(path: Path, tmp_path: Path) -> None:
    old = copied(path, tmp_path / "yesterday")
    ledger = Ledger.open(path, ACCOUNT)
    ledger.reserve(charge("1"))
    ledger.close()
    shutil.copy(old, path)
    with pytest.raises(TamperedLedger):
        Ledger.open(path, ACCOUNT)
    bad = Ledger.verify_file(path)
    assert bad is not None
    assert "older copy" in bad.why
    assert bad.row == len(entries(path)) + 1


def test_a_head_that_is_put_back_alone_is_found_and_refused(path: Path) -> None:
    """Every head there ever was, also that of the entry just before, and the one of an empty ledger."""
    for entry in [None, *entries(path)[:-1]]:
        text = f"0:{START}\n" if entry is None else f"{entry.n}:{entry.hash}\n"
        head_of(path).write_text(text)
        with pytest.raises(TamperedLedger, match="put back"):
            Ledger.open(path, ACCOUNT)
        assert "put back" in str(Ledger.verify_file(path)), text


def test_a_crash_names_two_entries_and_no_third(path: Path) -> None:
    """As a change that was killed leaves the head file: either name is the ledger's, an older one is not."""
    last, before, older = entries(path)[-1], entries(path)[-2], entries(path)[-3]
    line = "{0.n}:{0.hash}\n".format
    head_of(path).write_text(line(last) + line(before))
    assert Ledger.verify_file(path) is None
    ledger = Ledger.open(path, ACCOUNT)
    ledger.reserve(charge("1"))
    assert head_of(path).read_text() == f"{ledger.head()}\n"
    ledger.close()
    head_of(path).write_text(line(before) + line(older))
    assert noticed(path)
    for text in (line(last), line(last) * 2, line(last) + line(before) + line(older), line(last) + "\n", ""):
        head_of(path).write_text(text)
        assert noticed(path), text


def test_an_old_copy_with_its_old_head_does_not_match_what_the_owner_printed(path: Path, tmp_path: Path) -> None:
    """Both files lie in one folder: whoever puts back both is found by a head that was kept elsewhere."""
    old = copied(path, tmp_path / "yesterday")
    ledger = Ledger.open(path, ACCOUNT)
    ledger.reserve(charge("1"))
    printed = ledger.head()
    ledger.close()
    for file in (old, head_of(old)):
        shutil.copy(file, path.parent / file.name)
    assert Ledger.verify_file(path) is None
    bad = Ledger.verify_file(path, printed)
    assert bad is not None
    assert "older copy" in bad.why


def test_an_old_copy_put_back_under_an_open_connection_is_refused(path: Path, tmp_path: Path) -> None:
    old = copied(path, tmp_path / "yesterday")
    ledger = Ledger.open(path, ACCOUNT)
    ledger.reserve(charge("1"))
    ledger.close()
    shutil.copy(old, path)
    stale = Ledger.inspect(path)
    with pytest.raises(TamperedLedger):
        stale.reserve(charge("1"))
    with pytest.raises(TamperedLedger):
        stale.grant(epsilon=Fraction(1), why="x")
    stale.close()
    fresh = Ledger.open(path, ACCOUNT, new_epoch=True)  # the owner's explicit way out, on record
    fresh.reserve(charge("1"))
    assert fresh.verify() is None
    fresh.close()


def test_a_file_moved_into_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    """The open connection would go on charging a file that nobody sees any more."""
    ledger = Ledger.open(path, ACCOUNT)
    old = copied(path, tmp_path / "copy")
    old.replace(path)
    with pytest.raises(TamperedLedger, match="another file replaced it"):
        ledger.reserve(charge("1"))
    path.unlink()
    with pytest.raises(TamperedLedger, match="another file replaced it"):
        ledger.reserve(charge("1"))
    ledger.close()


def test_deleting_the_ledger_or_its_head_is_not_a_refill(path: Path) -> None:
    kept = head_of(path).read_text()
    head_of(path).unlink()
    with pytest.raises(TamperedLedger, match="missing"):
        Ledger.open(path, ACCOUNT)
    assert noticed(path)
    head_of(path).write_text(kept)
    path.unlink()
    with pytest.raises(TamperedLedger, match="cut off"):
        Ledger.open(path, ACCOUNT)


def test_released_rows_pointers_and_triggers_are_checked(path: Path, tmp_path: Path) -> None:
    forgeries = {
        "rows": "UPDATE released SET rows = x'00' WHERE n = 5",
        "lost": "DELETE FROM released WHERE n = 5",
        "extra": "INSERT INTO released VALUES (3, x'00')",
        "pointer": "UPDATE latest SET n = 3 WHERE scope = '1|all:dataset'",
        "forgotten": "DELETE FROM latest WHERE scope = '1|all:dataset'",
        "invented": "INSERT INTO latest VALUES ('1|all:sub:99', 3)",
        "trigger": "CREATE TRIGGER refill AFTER INSERT ON entry BEGIN DELETE FROM latest; END",
        "index": "DROP INDEX entry_query",
        "header": "PRAGMA application_id = 7",
    }
    for name, sql in forgeries.items():
        copy = copied(path, tmp_path / name)
        change(copy, sql)
        assert noticed(copy), name


def test_changed_rows_are_not_handed_out(path: Path) -> None:
    change(path, "UPDATE released SET rows = x'00'")
    ledger = Ledger.open(path, ACCOUNT)
    with pytest.raises(TamperedLedger):
        ledger.stored(analyst="ana", plan="plan1", metadata="m")
    ledger.close()
