"""Entries of the ledger and the hash chain over them. Pure: no file is read or written here.

An entry never changes once written: what happens to a charge (running, released, voided) is a later entry about it.
Each entry's hash covers the previous hash and every field: changing, removing or inserting one breaks the chain there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from dpsql.accounting.loss import Cost
from dpsql.errors import TamperedLedger

KINDS = ("epoch", "account", "source", "charge", "running", "released", "void", "grant", "limit", "sub")
START = "0" * 64
GRID = 2**256

Totals = Mapping[str, Cost]
"""Running totals by scope, as they stand after an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the ledger, field by field as it is stored.

    n: 1, 2, 3… time: microseconds of Unix time, never before the previous entry's. subject: the charge that running,
    released and void entries are about; the parent of a sub. amounts: exact rationals as text. sub: the sub-budget a
    charge counts against. detail: the account, the sources, the release record, or why. totals: scope → running
    totals, JSON.
    """

    n: int
    epoch: int
    kind: str
    time: int
    subject: int | None = None
    analyst: str | None = None
    query_id: str | None = None
    plan: str | None = None
    metadata: str | None = None
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    delta_keys: str | None = None
    sub: int | None = None
    detail: str | None = None
    rows_hash: str | None = None
    totals: str = "{}"
    previous: str = START
    hash: str = ""

    @property
    def cost(self) -> Cost:
        """The amounts as numbers; an absent one is 0."""
        parts = (self.epsilon, self.delta, self.rho, self.delta_keys)
        epsilon, delta, rho, delta_keys = (Fraction(part or 0) for part in parts)
        return Cost(epsilon=epsilon, delta=delta, rho=rho, delta_keys=delta_keys)

    @property
    def cap(self) -> tuple[Fraction | None, Fraction | None]:
        """The amounts of a sub or limit: an absent one is no cap."""
        epsilon, delta = (None if part is None else Fraction(part) for part in (self.epsilon, self.delta))
        return epsilon, delta

    @property
    def when(self) -> datetime:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.time)

    @property
    def running_totals(self) -> Totals:
        return {scope: _cost(parts) for scope, parts in json.loads(self.totals).items()}


COLUMNS = tuple(field.name for field in fields(Entry))


def digest(entry: Entry) -> str:
    """SHA-256 over every field but the hash itself, the previous hash among them.

    JSON keeps 1, 1.0, "1" and null apart and quotes every delimiter, so different entries have different texts.
    """
    values = [getattr(entry, name) for name in COLUMNS if name != "hash"]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def rows_digest(rows: bytes) -> str:
    return hashlib.sha256(rows).hexdigest()


def write_totals(totals: Totals) -> str:
    return json.dumps({scope: _texts(cost) for scope, cost in totals.items()}, sort_keys=True)


def _texts(cost: Cost) -> list[str]:
    return [str(part) for part in (cost.epsilon, cost.delta, cost.rho, cost.delta_keys)]


def _cost(parts: list[str]) -> Cost:
    epsilon, delta, rho, delta_keys = (Fraction(part) for part in parts)
    return Cost(epsilon=epsilon, delta=delta, rho=rho, delta_keys=delta_keys)


def month(time: int) -> str:
    """The UTC calendar month of a time in microseconds: "2026-11"."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)).strftime("%Y-%m")


def dataset_scope(window: str) -> str:
    return f"{window}:dataset"


def analyst_scope(window: str, analyst: str) -> str:
    return f"{window}:analyst:{analyst}"


def sub_scope(sub: int) -> str:
    return f"all:sub:{sub}"


def grant_scope(window: str, analyst: str | None) -> str:
    return f"{window}:granted:dataset" if analyst is None else f"{window}:granted:analyst:{analyst}"


def limit_scope(analyst: str | None) -> str:
    return "all:limit:dataset" if analyst is None else f"all:limit:analyst:{analyst}"


def charge_scopes(time: int, analyst: str | None, subs: tuple[int, ...]) -> tuple[str, ...]:
    """Every total a charge counts in: all time and its month, so that changing the window later never refills."""
    windows = ("all", month(time))
    dataset = tuple(dataset_scope(window) for window in windows)
    of_analyst = () if analyst is None else tuple(analyst_scope(window, analyst) for window in windows)
    return (*dataset, *of_analyst, *(sub_scope(sub) for sub in subs))


def add(total: Cost, cost: Cost) -> Cost:
    return _each(total, cost, 1)


def take_back(total: Cost, cost: Cost) -> Cost:
    return _each(total, cost, -1)


def _each(total: Cost, cost: Cost, sign: int) -> Cost:
    return Cost(
        epsilon=_short(total.epsilon + sign * cost.epsilon),
        delta=_short(total.delta + sign * cost.delta),
        rho=_short(total.rho + sign * cost.rho),
        delta_keys=_short(total.delta_keys + sign * cost.delta_keys),
    )


def _short(total: Fraction) -> Fraction:
    """The total itself, unless its denominator has grown beyond 2^256: then the next multiple of 2^-256 above.

    Lemma: a recorded total is never below the true sum. Proof: rounding goes up only, and adding or subtracting an
    exact amount keeps the order. (Decimal amounts never get here; it stops an analyst from choosing ever new primes as
    caps until the numbers no longer fit.)
    """
    if total.denominator <= GRID:
        return total
    return Fraction(-((-total.numerator * GRID) // total.denominator), GRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How many entries there were, and the last one's hash: kept apart from the ledger, it shows an old copy."""

    count: int
    hash: str

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Strict: any other text than __str__ writes is tampering."""
        count, _, digest_text = text.removesuffix("\n").partition(":")
        head = cls(count=int(count), hash=digest_text) if count.isascii() and count.isdigit() else None
        if head is None or str(head) != text.removesuffix("\n") or len(digest_text) != len(START):
            raise TamperedLedger("the ledger's head file is damaged", fix="Run `dpsql ledger verify`.")
        return head


NO_ENTRIES = Head(count=0, hash=START)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFile:
    """What the head file says: the newest entry. While a change is being committed a second line says the newest one before
    it: until the first line stands alone, either may be the ledger's last."""

    head: Head
    before: Head | None = None

    def __str__(self) -> str:
        return "".join(f"{head}\n" for head in (self.head, self.before) if head is not None)

    @classmethod
    def parse(cls, text: str) -> HeadFile:
        """Strict: any other text than __str__ writes is tampering."""
        lines = [Head.parse(line) for line in text.removesuffix("\n").split("\n")[:2]]
        heads = cls(head=lines[0], before=lines[1] if len(lines) > 1 else None)
        if str(heads) != text:
            raise TamperedLedger("the ledger's head file is damaged", fix="Run `dpsql ledger verify`.")
        return heads

    def wrong(self, tip: Head) -> str | None:
        """Why this is not the head file of a ledger that ends with `tip`; None if it is.

        Lemma: a ledger and a head file that were written here and are put back apart do not fit. Proof: a change writes
        the head file durably before it commits, naming the entry before it and the new one, and takes back the old name
        once it has committed. So every state of the ledger is named by the head files written from then on until the next
        change, and by no other: an older ledger is named by none that came later, an older head names no newer entry.
        (After a crash in between, the last change of all is named twice, and only that one.)
        """
        if tip in (self.head, self.before):
            return None
        least = self.head if self.before is None else self.before
        if tip.count < least.count:
            return (
                f"it has {tip.count} entries, but there were {least.count}: it is an old copy, or its end was cut off"
            )
        if tip.count > self.head.count:
            return f"its head file names entry {self.head.count}, but there are {tip.count}: an old head was put back"
        return f"entry {tip.count} is not the one that was written"
