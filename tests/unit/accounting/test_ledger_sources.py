"""The ledger remembers which database each table was in."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.errors import LedgerError

ACCOUNT = Account(dataset="d", epsilon=Fraction(1))
HERE = {"kind": "postgresql", "system": "1", "database": "5", "schema": "public", "table": "t"}


def test_a_table_stays_in_its_database_until_the_owner_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger.open(path, ACCOUNT)
    assert ledger.remember_sources({"t": HERE}, meant=()) is None
    count = sum(1 for _ in ledger.rows())
    assert ledger.remember_sources({"t": dict(HERE)}, meant=()) is None
    assert sum(1 for _ in ledger.rows()) == count  # known already: nothing is written
    ledger.close()

    ledger = Ledger.open(path, ACCOUNT)
    for name, other in {"system": "2", "database": "6", "schema": "s", "table": "u"}.items():
        assert ledger.remember_sources({"s": HERE, "t": HERE | {name: other}}, meant={"s"}) == "t"
    assert sum(1 for _ in ledger.rows()) == count  # and the table beside it is not recorded either
    assert ledger.remember_sources({"s": HERE}, meant=()) is None
    assert ledger.remember_sources({"t": HERE | {"system": "2"}}, meant={"t"}) is None
    assert ledger.remember_sources({"t": HERE}, meant=()) == "t"
    last = [entry for entry in ledger.rows() if entry.kind == "source"][-1]
    assert json.loads(last.detail or "") == {"s": HERE, "t": HERE | {"system": "2"}}
    assert ledger.verify() is None
    newer = Ledger.open(path, ACCOUNT, new_epoch=True)
    with pytest.raises(LedgerError):  # of a connection that was opened in the epoch before
        ledger.remember_sources({"t": HERE}, meant=())
    ledger.close()
    newer.close()

    ledger = Ledger.open(path, ACCOUNT)
    assert ledger.remember_sources({"t": HERE}, meant=()) is None
    assert ledger.verify() is None
    ledger.close()
