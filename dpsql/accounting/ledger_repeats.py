"""Released rows that answer again: of the same query id, or of an equal plan. Asked within one transaction."""

from __future__ import annotations

from typing import NamedTuple

from dpsql.accounting.account import Charge, Receipt
from dpsql.accounting.ledger_chain import Entry, rows_digest
from dpsql.accounting.ledger_rows import Reading, tampered
from dpsql.errors import InterfaceError


class Question(NamedTuple):
    """Who asked what of which metadata; query_id: under this id only."""

    analyst: str | None
    plan: str
    metadata: str
    query_id: str | None = None


def retried(reading: Reading, epoch: int, charge: Charge) -> Receipt | None:
    """The receipt of the run that this query id names, if it released rows. An id belongs to its analyst and plan."""
    if charge.query_id is None:
        return None
    earlier = reading.by_query(epoch, charge.analyst, charge.query_id)
    if any((entry.plan, entry.metadata) != (charge.plan, charge.metadata) for entry in earlier):
        raise InterfaceError(
            f"query id {charge.query_id!r} belongs to another query",
            code=412,
            why="A query id names one run of one plan over one version of the metadata.",
            fix="Give every query its own id.",
        )
    return _receipt(reading, epoch, Question(charge.analyst, charge.plan, charge.metadata, charge.query_id))


def repeated(reading: Reading, epoch: int, charge: Charge) -> Receipt | None:
    """The receipt of the newest run of the same plan by the same analyst, under whatever query id."""
    return _receipt(reading, epoch, Question(charge.analyst, charge.plan, charge.metadata))


def _receipt(reading: Reading, epoch: int, question: Question) -> Receipt | None:
    row = stored(reading, epoch, question)
    return None if row is None else Receipt(id=row[0].n, cost=row[0].cost, repeats=row[1])


def stored(reading: Reading, epoch: int, question: Question) -> tuple[Entry, bytes] | None:
    """The newest charge for the question that released rows, and the rows, checked against what was recorded."""
    row = reading.released(epoch, *question)
    if row is None:
        return None
    charge, release, rows = row
    if rows_digest(rows) != release.rows_hash:
        raise tampered(f"the rows of entry {release.n} were changed")
    return charge, rows


def rows_of(reading: Reading, epoch: int, charge: int) -> bytes | None:
    """What the charge of this number released, checked against what was recorded."""
    row = reading.released_by(epoch, charge)
    if row is None:
        return None
    release, rows = row
    if rows_digest(rows) != release.rows_hash:
        raise tampered(f"the rows of entry {release.n} were changed")
    return rows


class Before(NamedTuple):
    """A release: the charge's number, what it says of itself (JSON), and its rows."""

    charge: int
    detail: str
    rows: bytes


def answering(reading: Reading, epoch: int, asked: Question, mark: str, most: int) -> tuple[Before, ...]:
    """The first releases to the analyst, of this metadata, that say the mark of themselves; asked.plan does not count."""
    answers: list[Before] = []
    for charge, release, rows in reading.answering(epoch, asked.analyst, asked.metadata, mark, most):
        if rows_digest(rows) != release.rows_hash:
            raise tampered(f"the rows of entry {release.n} were changed")
        answers.append(Before(charge.n, release.detail or "", rows))
    return tuple(answers)
