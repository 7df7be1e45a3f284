"""A change of the ledger that was announced, and whose process was killed while it was committed: it must not come back."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.accounting.ledger_chain import Head, HeadFile
from dpsql.accounting.ledger_rows import VERSION, Writing


def overwrite_the_lost(
    writing: Writing, read_head: Callable[[], HeadFile | None], head_of: Callable[[Writing], Head]
) -> None:
    """Within a transaction, before another head is announced: a change that the head file names and that is not there
    cannot come back from here on. The transaction may be another one afterwards.

    Lemma: no change ever comes back that the head file does not name. Proof: a process that is killed after it wrote its
    pages to SQLite's log, and before it said so in the log's index, leaves them beyond what others see. When all processes
    are gone, the index is made again from the log, and they count. Whoever writes next overwrites them from their first
    page on, and what follows no longer fits the log's running checksum. Until then the head file must go on naming the
    lost change. So what changes nothing is committed first (the first page, as it is): if that is interrupted, the head
    file still names whatever is there. Where somebody announced another change in between, it begins anew.
    """
    connection, lost = writing.connection, read_head()
    while lost is not None and lost.head != head_of(writing):
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        before, lost = lost, read_head()
        if lost == before:
            return
