"""verify: reads a whole ledger again and names the first entry that is not as it was written.

What it finds: any changed, missing, inserted or reordered entry (the chain), any total, pointer or stored row that does
not follow from the entries (a replay), a changed schema, a damaged file, an older copy of the ledger or of its head put
back (the head file). Whoever rewrites ledger *and* head file consistently, or puts back old copies of both, is found by a
head that was kept elsewhere: pass it as `printed`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpsql.accounting.ledger_book import effect
from dpsql.accounting.ledger_chain import (
    KINDS,
    NO_ENTRIES,
    START,
    Entry,
    Head,
    HeadFile,
    digest,
    rows_digest,
    write_totals,
)
from dpsql.accounting.ledger_place import APPLICATION
from dpsql.accounting.ledger_rows import SCHEMA, VERSION, Reading, latest_key
from dpsql.accounting.ledger_store import Store
from dpsql.accounting.loss import ZERO, Cost
from dpsql.errors import Error, TamperedLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """row: the number of the first entry that is wrong or missing; None: the file around the entries is."""

    row: int | None
    why: str

    def __str__(self) -> str:
        return self.why if self.row is None else f"entry {self.row}: {self.why}"


def verify_store(store: Store, printed: Head | None = None) -> BadRow | None:
    """Everything that can be checked about a ledger. The head is read before and after the entries: others may write."""
    try:
        earlier = store.read_head()
        with store.read() as reading:
            reading.begun()  # from here on the entries stay as they are
            later = store.read_head()
            return _verify(reading, (earlier, later), needs_head=store.path is not None, printed=printed)
    except TamperedLedger as problem:
        return BadRow(row=None, why=f"{problem.what}. {problem.why}".strip())
    except (TypeError, ValueError) as problem:
        # A damaged page can hold a value of any type in any column, whatever the table declares.
        return BadRow(row=None, why=f"the file is damaged: {type(problem).__name__}")


def verify_file(path: Path, printed: Head | None = None, *, timeout: float = 30.0) -> BadRow | None:
    """The same for a file that may be too damaged to open."""
    try:
        store = Store(path, timeout=timeout, crash_point=lambda name: None)
    except TamperedLedger as problem:
        return BadRow(row=None, why=f"{problem.what}. {problem.why}".strip())
    try:
        return verify_store(store, printed)
    finally:
        store.close()


Heads = tuple[HeadFile | None, HeadFile | None]
"""What the head file said before and after the entries were read."""


def _verify(reading: Reading, heads: Heads, *, needs_head: bool, printed: Head | None) -> BadRow | None:
    replay = Replay()
    if not reading.begun():  # killed before its first entry, or deleted: the head knows
        return _wrong_head(replay, heads, False) or _not_of(replay, printed)
    bad = _replayed(reading, replay)
    if bad is None:
        bad = _wrong_head(replay, heads, needs_head) or _not_of(replay, printed)
    return bad or _wrong_pointers(reading, replay) or _wrong_rows(reading, replay) or _wrong_file(reading)


@dataclass(slots=True)
class Replay:
    """The ledger as it must be, built up from its entries."""

    hashes: list[str] = field(default_factory=list)
    time: int = 0
    epoch: int = 0
    totals: dict[str, Cost] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    charges: dict[int, Entry] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    parents: dict[int, int | None] = field(default_factory=dict)
    releases: dict[int, str | None] = field(default_factory=dict)

    def take(self, entry: Entry) -> str | None:
        """What is wrong with the next entry; None, and it is taken in, if nothing is."""
        return self._broken_chain(entry) or self._broken_life(entry) or self._broken_totals(entry)

    def _broken_chain(self, entry: Entry) -> str | None:
        if entry.n != len(self.hashes) + 1:
            return "is missing"
        if entry.previous != (self.hashes[-1] if self.hashes else START):
            return "does not follow from the entry before it"
        if entry.hash != digest(entry):
            return "was changed"
        if entry.time < self.time:
            return "is dated before the entry before it"
        begins = entry.kind == "epoch"
        if entry.kind not in KINDS or entry.epoch != self.epoch + begins:
            return "is not an entry that is possible here"
        self.hashes.append(entry.hash)
        self.time, self.epoch = entry.time, entry.epoch
        return None

    def _broken_life(self, entry: Entry) -> str | None:
        """A charge is reserved, then voided or running, then released; a sub-budget lies within an earlier one."""
        if entry.kind == "charge":
            self.charges[entry.n] = entry
        elif entry.kind == "sub":
            self.parents[entry.n] = entry.subject
        elif entry.kind in ("running", "released", "void"):
            subject = self.charges.get(entry.subject or 0)
            before = "running" if entry.kind == "released" else None
            if subject is None or subject.epoch != entry.epoch or self.states.get(subject.n) != before:
                return "is about a charge that cannot be in that state"
            self.states[subject.n] = entry.kind
            if entry.kind == "released":
                self.releases[entry.n] = entry.rows_hash
        parent = entry.sub if entry.kind == "charge" else entry.subject if entry.kind == "sub" else None
        return "names a sub-budget that does not exist" if parent is not None and parent not in self.parents else None

    def _broken_totals(self, entry: Entry) -> str | None:
        charge = self.charges.get(entry.subject or 0) if entry.kind == "void" else None
        subs = tuple(self._subs((charge or entry).sub))
        change = effect(entry, charge, subs)
        totals = change.totals(lambda scope: self.totals.get(latest_key(entry.epoch, scope), ZERO))
        if entry.totals != write_totals(totals):
            return "has running totals that do not add up"
        for scope, cost in totals.items():
            self.totals[latest_key(entry.epoch, scope)] = cost
            self.latest[latest_key(entry.epoch, scope)] = entry.n
        return None

    def _subs(self, sub: int | None) -> Iterator[int]:
        while sub is not None:
            yield sub
            sub = self.parents.get(sub)


def _replayed(reading: Reading, replay: Replay) -> BadRow | None:
    while True:
        expected = len(replay.hashes) + 1
        try:
            entries = reading.after(expected - 1, 500)
            if not entries:
                return None
            for entry in entries:
                expected = len(replay.hashes) + 1
                wrong = replay.take(entry)
                if wrong is not None:
                    return BadRow(row=expected, why=wrong)
        except sqlite3.DatabaseError as problem:
            return BadRow(row=expected, why=f"cannot be read: {problem}")
        except (Error, ValueError, TypeError, ArithmeticError, UnicodeError) as problem:
            # Hashes were recomputed over fields that make no sense: whatever they raise, the entry is the culprit.
            return BadRow(row=expected, why=f"makes no sense: {type(problem).__name__}")


def _wrong_head(replay: Replay, heads: Heads, needs_head: bool) -> BadRow | None:
    """Where nobody wrote meanwhile, the last entry is one that the head file names. Where somebody did, it lies between
    what the two name, and the earlier names are of this chain."""
    earlier, later = heads
    if earlier is None or later is None:
        return BadRow(row=None, why="the head file is missing") if needs_head else None
    tip = Head(count=len(replay.hashes), hash=replay.hashes[-1]) if replay.hashes else NO_ENTRIES
    if earlier == later:
        wrong = earlier.wrong(tip)
        return None if wrong is None else _not_of(replay, earlier.before or earlier.head) or BadRow(row=None, why=wrong)
    between = (earlier.before or earlier.head).count <= tip.count <= later.head.count
    named = [head for head in (earlier.before, earlier.head) if head is not None and head.count <= tip.count]
    if between and all(_is_of(replay, head) for head in named):
        return None
    return BadRow(row=None, why="the head file is not this ledger's")


def _is_of(replay: Replay, head: Head) -> bool:
    """Whether the chain had this head once."""
    if head.count == 0:
        return head == NO_ENTRIES
    return head.count <= len(replay.hashes) and replay.hashes[head.count - 1] == head.hash


def _not_of(replay: Replay, head: Head | None) -> BadRow | None:
    """What is wrong with the chain if it should have had this head once."""
    if head is None or _is_of(replay, head):
        return None
    if head.count > len(replay.hashes):
        why = f"is missing: there were {head.count} entries, so this is an older copy, or its end was cut off"
        return BadRow(row=len(replay.hashes) + 1, why=why)
    return BadRow(row=head.count, why="is not the one the head was taken of: the history was rewritten")


def _wrong_pointers(reading: Reading, replay: Replay) -> BadRow | None:
    stored = dict(reading.connection.execute("SELECT scope, n FROM latest").fetchall())
    for key in stored.keys() | replay.latest.keys():
        if stored.get(key) != replay.latest.get(key):
            return BadRow(row=replay.latest.get(key), why=f"is not what the total {key!r} points to")
    return None


def _wrong_rows(reading: Reading, replay: Replay) -> BadRow | None:
    numbers = [row[0] for row in reading.connection.execute("SELECT n FROM released ORDER BY n").fetchall()]
    if numbers != sorted(replay.releases):
        wrong = min(set(numbers) ^ set(replay.releases))
        return BadRow(row=wrong, why="has lost its released rows, or got rows it never had")
    for n in numbers:
        rows = reading.connection.execute("SELECT rows FROM released WHERE n = ?", (n,)).fetchone()[0]
        if rows_digest(rows) != replay.releases[n]:
            return BadRow(row=n, why="has other released rows than were stored")
    return None


def _objects(connection: sqlite3.Connection) -> set[tuple[str | None, ...]]:
    return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())


def _objects_of_a_new_ledger() -> set[tuple[str | None, ...]]:
    connection = sqlite3.connect(":memory:")
    try:
        for statement in SCHEMA:
            connection.execute(statement)
        return _objects(connection)
    finally:
        connection.close()


def _wrong_file(reading: Reading) -> BadRow | None:
    """Schema (a trigger could undo a charge), version, and SQLite's own check of pages and indexes."""
    if _objects(reading.connection) != _objects_of_a_new_ledger():
        return BadRow(row=None, why="the tables of the file were changed")
    header = tuple(
        reading.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if header != (APPLICATION, VERSION):
        return BadRow(row=None, why="the file's header was changed")
    verdict = reading.connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    return None if verdict == "ok" else BadRow(row=None, why=f"the file is damaged: {verdict}")
