"""The ledger's tables, and what can be asked of them and added to them within one transaction."""

from __future__ import annotations

import sqlite3

from dpsql.accounting.ledger_chain import COLUMNS, Entry, digest
from dpsql.errors import TamperedLedger

VERSION = 1

SCHEMA = (
    "CREATE TABLE entry (n INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL, "
    "subject INTEGER, analyst TEXT, query_id TEXT, plan TEXT, metadata TEXT, epsilon TEXT, delta TEXT, rho TEXT, "
    "delta_keys TEXT, sub INTEGER, detail TEXT, rows_hash TEXT, totals TEXT NOT NULL, previous TEXT NOT NULL, "
    "hash TEXT NOT NULL) STRICT",
    "CREATE INDEX entry_subject ON entry (subject) WHERE subject IS NOT NULL",
    "CREATE INDEX entry_query ON entry (query_id, analyst) WHERE query_id IS NOT NULL",
    "CREATE INDEX entry_plan ON entry (plan, metadata, analyst) WHERE plan IS NOT NULL",
    "CREATE TABLE latest (scope TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE released (n INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT",
)

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entry"
_INSERT = f"INSERT INTO entry ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


def tampered(why: str) -> TamperedLedger:
    return TamperedLedger(
        "the ledger is not the one that was written",
        why=f"The ledger does not match its record: {why}.",
        fix="Run `dpsql ledger verify`; restore the newest copy, or start over on record with --new-epoch.",
    )


class Reading:
    """What can be asked of a ledger within a transaction. Every entry's hash is checked when it is read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def begun(self) -> bool:
        """False for the empty file of a ledger that no transaction has completed on."""
        return bool(self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

    def tip(self) -> Entry | None:
        return self._one(f"{_SELECT} ORDER BY n DESC LIMIT 1")

    def entry(self, n: int) -> Entry | None:
        return self._one(f"{_SELECT} WHERE n = ?", n)

    def latest(self, epoch: int, scope: str) -> Entry | None:
        """The entry that last changed a total."""
        where = "WHERE n = (SELECT n FROM latest WHERE scope = ?)"
        return self._one(f"{_SELECT} {where}", latest_key(epoch, scope))

    def scopes(self, epoch: int, prefix: str) -> tuple[str, ...]:
        """What follows the prefix in every scope that has a total."""
        key = latest_key(epoch, prefix)
        cursor = self.connection.execute(
            "SELECT substr(scope, ?) FROM latest WHERE substr(scope, 1, ?) = ?", (len(key) + 1, len(key), key)
        )
        return tuple(scope for (scope,) in cursor.fetchall())

    def last_about(self, subject: int) -> Entry | None:
        return self._one(f"{_SELECT} WHERE subject = ? AND kind <> 'sub' ORDER BY n DESC LIMIT 1", subject)

    def by_query(self, epoch: int, analyst: str | None, query_id: str) -> list[Entry]:
        cursor = self.connection.execute(
            f"{_SELECT} WHERE query_id = ? AND analyst IS ? AND epoch = ? ORDER BY n DESC", (query_id, analyst, epoch)
        )
        return [_checked(row) for row in cursor.fetchall()]

    def last_metadata(self, epoch: int) -> str | None:
        """Of the newest charge."""
        entry = self._one(f"{_SELECT} WHERE plan IS NOT NULL AND epoch = ? ORDER BY n DESC LIMIT 1", epoch)
        return None if entry is None else entry.metadata

    def released(
        self, epoch: int, analyst: str | None, plan: str, metadata: str, query_id: str | None
    ) -> tuple[Entry, Entry, bytes] | None:
        """The newest charge with stored rows: (charge, release, rows)."""
        row = self.connection.execute(
            "SELECT c.n, s.n, r.rows FROM entry c JOIN entry s ON s.subject = c.n AND s.kind = 'released' "
            "JOIN released r ON r.n = s.n WHERE c.plan = ? AND c.metadata = ? AND c.analyst IS ? AND c.epoch = ? "
            "AND c.kind = 'charge' AND (? IS NULL OR c.query_id = ?) ORDER BY s.n DESC LIMIT 1",
            (plan, metadata, analyst, epoch, query_id, query_id),
        ).fetchone()
        if row is None:
            return None
        charge, release = self.entry(row[0]), self.entry(row[1])
        assert charge is not None and release is not None
        return charge, release, row[2]

    def released_by(self, epoch: int, charge: int) -> tuple[Entry, bytes] | None:
        """What the charge of this number released: (release, rows)."""
        row = self.connection.execute(
            "SELECT s.n, r.rows FROM entry s JOIN released r ON r.n = s.n "
            "WHERE s.subject = ? AND s.epoch = ? AND s.kind = 'released'",
            (charge, epoch),
        ).fetchone()
        if row is None:
            return None
        release = self.entry(row[0])
        assert release is not None
        return release, row[1]

    def answering(
        self, epoch: int, analyst: str | None, metadata: str, mark: str, most: int
    ) -> list[tuple[Entry, Entry, bytes]]:
        """The first charges, oldest first, whose releases say this of themselves: (charge, release, rows)."""
        cursor = self.connection.execute(
            "SELECT c.n, s.n, r.rows FROM entry s JOIN entry c ON c.n = s.subject JOIN released r ON r.n = s.n "
            "WHERE s.kind = 'released' AND s.epoch = ? AND instr(s.detail, ?) > 0 AND c.metadata = ? AND c.analyst IS ? "
            "ORDER BY s.n LIMIT ?",
            (epoch, mark, metadata, analyst, most),
        ).fetchall()
        return [(self._known(charge), self._known(release), rows) for charge, release, rows in cursor]

    def _known(self, n: int) -> Entry:
        entry = self.entry(n)
        assert entry is not None
        return entry

    def after(self, n: int, count: int) -> list[Entry]:
        """Up to `count` entries after entry n, unchecked: for reports and for verify."""
        rows = self.connection.execute(f"{_SELECT} WHERE n > ? ORDER BY n LIMIT ?", (n, count)).fetchall()
        return [_entry(row) for row in rows]

    def _one(self, sql: str, *parameters: object) -> Entry | None:
        row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else _checked(row)


class Writing(Reading):
    def insert(self, entry: Entry, scopes: tuple[str, ...], rows: bytes | None = None) -> None:
        """Append an entry, which becomes the latest of its scopes, with the rows it releases."""
        self.connection.execute(_INSERT, [getattr(entry, name) for name in COLUMNS])
        self.connection.executemany(
            "INSERT INTO latest (scope, n) VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET n = excluded.n",
            [(latest_key(entry.epoch, scope), entry.n) for scope in scopes],
        )
        if rows is not None:
            self.connection.execute("INSERT INTO released (n, rows) VALUES (?, ?)", (entry.n, rows))


def latest_key(epoch: int, scope: str) -> str:
    return f"{epoch}|{scope}"


def _entry(row: tuple[object, ...]) -> Entry:
    return Entry(**dict(zip(COLUMNS, row, strict=True)))  # type: ignore[arg-type]  # STRICT tables keep the types


def _checked(row: tuple[object, ...]) -> Entry:
    entry = _entry(row)
    try:
        intact = digest(entry) == entry.hash
    except TypeError:  # a text that became bytes
        intact = False
    if not intact:
        raise tampered(f"entry {entry.n} was changed")
    return entry
