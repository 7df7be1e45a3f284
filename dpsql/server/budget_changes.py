"""What an owner changes of the budget over the server: as `dpsql budget grant` and `limit`, on record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpsql.accounting.ledger import Ledger
from dpsql.dbapi.exchange import Tree, malformed
from dpsql.errors import InterfaceError
from dpsql.sql.options import number

CHANGES = ("grant", "limit")
MOST_WHY = 500


def change(ledger: Ledger, request: Mapping[str, Tree], by: str) -> None:
    """One grant or limit; the ledger keeps the reason, and who gave it."""
    kind, analyst, why = request["ask"], request.get("analyst"), request.get("why")
    if not isinstance(why, str) or not why.strip() or len(why) > MOST_WHY:
        raise malformed(f"why is a text of at most {MOST_WHY} characters: the ledger records it")
    if analyst is not None and not isinstance(analyst, str):
        raise malformed("analyst is a name")
    epsilon, delta = _amount(request, "epsilon"), _amount(request, "delta")
    reason = f"{why.strip()} ({by}, over the server)"
    known = ledger.balance().per_analyst
    if analyst is not None and analyst not in {*known, *request["accounts"]}:
        raise InterfaceError(f"there is no analyst {analyst[:70]!r}", code=707, fix="GET /v1/accounts lists them.")
    if kind == "limit":
        ledger.limit(analyst=analyst, epsilon=epsilon, delta=delta, why=reason)
        return
    if not epsilon and not delta:
        raise malformed("a grant needs epsilon or delta")
    total = ledger.balance().total if analyst is None else known[analyst].total if analyst in known else None
    if total is None or (epsilon and total.epsilon is None) or (delta and total.delta is None):
        raise InterfaceError("there is no cap to raise", code=707, fix="Only a limit can be set here.")
    ledger.grant(analyst=analyst, epsilon=epsilon, delta=delta, why=reason)


def on_record(ledger: Ledger) -> list[Tree]:
    """The changes so far, the newest first."""
    entries: list[Any] = [one for one in ledger.rows() if one.kind in CHANGES]
    return [
        {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.time // 1_000_000)),
            "kind": one.kind,
            "analyst": one.analyst,
            "epsilon": None if one.epsilon is None else float(Fraction(one.epsilon)),
            "delta": None if one.delta is None else float(Fraction(one.delta)),
            "why": one.detail,
        }
        for one in reversed(entries)
    ]


def _amount(request: Mapping[str, Tree], name: str) -> Fraction | None:
    given = request.get(name)
    if given is None:
        return None
    value = number(str(given)) if isinstance(given, str | int | float) and not isinstance(given, bool) else None
    if value is None or value < 0:
        raise malformed(f"{name} is a number of at least 0")
    return value
