"""Which database each table was in when it was first opened, by what the server says of itself.

A host name says nothing lasting: it may lead to another server tomorrow, and two names to one. So a ledger remembers the
identity of each table of a server, on record. What was spent was spent on that data; another server under the same catalog
is refused, until the owner says that it is meant (`system:` in the source) or starts over (--new-epoch).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping

from dpsql.accounting.ledger_book import SOURCE_SCOPE, now_after, post
from dpsql.accounting.ledger_chain import Entry
from dpsql.accounting.ledger_rows import Reading, Writing
from dpsql.accounting.ledger_store import Store

Identities = Mapping[str, Mapping[str, str]]  # by table


def known(reading: Reading, epoch: int) -> dict[str, dict[str, str]]:
    entry = reading.latest(epoch, SOURCE_SCOPE)
    remembered: dict[str, dict[str, str]] = {} if entry is None else json.loads(entry.detail or "{}")
    return remembered


def remember(
    store: Store,
    tip: Callable[[Reading], Entry],
    identities: Identities,
    *,
    meant: Container[str],
    clock: Callable[[], int],
) -> str | None:
    """Record what is new. The name of a table that is now another, and not meant to be: then nothing is recorded."""
    with store.read() as reading:
        before = known(reading, tip(reading).epoch)
    if all(before.get(table) == identity for table, identity in identities.items()):
        return None
    with store.write("source") as writing:
        return _remember(writing, tip(writing), identities, meant, clock)


def _remember(
    writing: Writing, tip: Entry, identities: Identities, meant: Container[str], clock: Callable[[], int]
) -> str | None:
    before = known(writing, tip.epoch)
    for table, identity in identities.items():
        if before.get(table, identity) != identity and table not in meant:
            return table
    after = json.dumps(before | {table: dict(identity) for table, identity in identities.items()}, sort_keys=True)
    post(writing, Entry(n=0, epoch=tip.epoch, kind="source", time=now_after(tip, clock), detail=after))
    return None
