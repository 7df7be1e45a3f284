"""A budget as a table: what SHOW BUDGET and `dpsql budget` print.

Under zcdp what is enforced comes first, ρ and the δ of thresholds: a query passes while both fit. ε and δ are then a report,
converted from them.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.accounting.account import Account, Amount, Balance

Row = tuple[str | float | None, ...]
CONVERTED = ("epsilon", "delta")
ENFORCED = ("rho", "delta_keys")
PER_QUERY = "max per query"


def columns(account: Account) -> tuple[str, ...]:
    return ("account", "what", *_parts(account))


def rows(account: Account, balance: Balance) -> list[Row]:
    """total, spent and left of the dataset (or sub-budget) and of each analyst; then the cap of one query, if any."""
    held = [(account.dataset, balance), *balance.per_analyst.items()]
    lines = [
        (name, what, *_amounts(account, amount))
        for name, one in held
        for what, amount in (("total", one.total), ("spent", one.spent), ("left", one.left))
    ]
    if account.per_query is not None:
        epsilon, delta = account.per_query
        lines.append((account.dataset, PER_QUERY, *_amounts(account, Amount(epsilon=epsilon, delta=delta))))
    return lines


def _parts(account: Account) -> tuple[str, ...]:
    return (*ENFORCED, *CONVERTED) if account.accounting == "zcdp" else CONVERTED


def _amounts(account: Account, amount: Amount) -> tuple[float | None, ...]:
    values: list[Fraction | None] = [getattr(amount, part) for part in _parts(account)]
    return tuple(None if value is None else float(value) for value in values)
