"""Steps 9 to 12 of whatever is released: it is charged before the vault is asked, and on record before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsql.accounting.account import Charge
from dpsql.engine.vault import Asked
from dpsql.execution.known import ledger_of
from dpsql.release.codec import decode, encode
from dpsql.release.released_rows import ReleasedRows
from dpsql.session import Session

Rows = tuple[ReleasedRows, ...]


@dataclass(frozen=True, slots=True)
class OnRecord:
    """data: the rows as they are on record. repeated: an equal run released them, and nothing was charged."""

    rows: Rows
    data: bytes
    repeated: bool


def released_once(
    session: Session, charge: Charge, run: Callable[[Asked], Rows], record: Callable[[Rows], str]
) -> OnRecord:
    """The sources are opened and connected to first: what is wrong with them costs nothing. All of a query is asked of one
    snapshot. record: what is told of the rows."""
    ledger = ledger_of(session)
    with session.vault().snapshot() as snapshot:
        snapshot.start()
        receipt = ledger.reserve(charge)
        if receipt.repeats is not None:
            return OnRecord(decode(receipt.repeats), receipt.repeats, repeated=True)
        ledger.running(receipt)
        rows = run(snapshot)
    data = encode(rows)
    ledger.store(receipt, data, record(rows))
    return OnRecord(rows, data, repeated=False)
