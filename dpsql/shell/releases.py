"""The ledger's entries as a list of charges, for the owner."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction

from dpsql.accounting.ledger_chain import Entry

COLUMNS = ("id", "time", "analyst", "epsilon", "delta", "state", "measured")
STATES = {"running": "running", "released": "released", "void": "void"}

Row = tuple[int, datetime, str | None, float, float, str, str]


def release_rows(entries: Iterable[Entry]) -> list[Row]:
    """One row a charge, in order; state: reserved, running (or died while running), released or void."""
    charges: list[Entry] = []
    states: dict[int, str] = {}
    for entry in entries:
        if entry.kind == "charge":
            charges.append(entry)
            states[entry.n] = "reserved"
        elif entry.subject is not None and entry.kind in STATES:
            states[entry.subject] = STATES[entry.kind]
    return [_row(entry, states[entry.n]) for entry in charges]


def _row(entry: Entry, state: str) -> Row:
    time = datetime.fromtimestamp(entry.time // 1_000_000, UTC).replace(tzinfo=None)
    epsilon, delta = float(Fraction(entry.epsilon or 0)), float(Fraction(entry.delta or 0))
    return entry.n, time, entry.analyst, epsilon, delta, state, _measured(entry.detail)


def _measured(record: str | None) -> str:
    """The names of a release record's measurements."""
    measurements = json.loads(record or "{}").get("measurements", [])
    return ", ".join(str(measurement.get("name", "")) for measurement in measurements)
