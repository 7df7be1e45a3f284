"""A release that is opened again: named as its number and the beginning of its plan's fingerprint."""

from __future__ import annotations

import dataclasses
import hmac
import re
from collections.abc import Mapping

from dpsql.accounting.ledger import Ledger
from dpsql.accounting.releases import RELEASED, Release, releases
from dpsql.dbapi.exchange import Tree
from dpsql.errors import Error, ProgrammingError
from dpsql.execution.passing import read_for
from dpsql.query import Answer, answer_on_record
from dpsql.session import Session

_NAME = re.compile(r"([0-9]{1,18})-([0-9a-f]{32})")


def open_again(session: Session, request: Mapping[str, Tree]) -> tuple[Release, Answer]:
    """The release, and what its statement makes of its rows. Who has its name may open it, whoever asked for it: what was
    released is released, and nobody guesses the plan of a statement that they do not know. Who may not ask may not open."""
    ledger = session.ledger
    assert ledger is not None  # a server has no exact mode
    refused = None if request.get("everybody") else ledger.stranger(session.analyst)
    if refused is not None:
        raise refused
    released = _named(ledger, request.get("release"))
    rows = None if released is None else ledger.rows_of(released.id)
    if released is None or rows is None:
        raise ProgrammingError("there is no such release", code=710, fix="Is the link complete?")
    return released, _answered(session, released, rows)


def _named(ledger: Ledger, name: Tree) -> Release | None:
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return None
    number, plan = int(match[1]), match[2]
    one = next((one for one in releases(ledger.rows()) if one.id == number), None)
    right = one is not None and one.state == RELEASED and hmac.compare_digest(one.plan[:32], plan)
    return one if right else None


def _answered(session: Session, released: Release, rows: bytes) -> Answer:
    """As for whoever asked: what was chosen for them before is part of the plan. ε may have been theirs by SET."""
    settings = (session.connected, dataclasses.replace(session.connected, epsilon=released.cost.epsilon))
    for defaults in settings:
        theirs = dataclasses.replace(session, analyst=released.analyst, defaults=defaults)
        try:
            statement = read_for(theirs, released.sql or "")
            answer = answer_on_record(theirs, statement, released, rows)
        except Error:
            answer = None
        if answer is not None:
            return answer
    raise ProgrammingError(
        "this release cannot be opened again",
        code=710,
        why="Its statement alone does not say what was asked: it had parameters, settings or tables of a session, or the "
        "metadata changed since.",
        fix="Whoever asked has the rows. Its record stays in the release table.",
    )
