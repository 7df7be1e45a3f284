"""The lines below a result: how many rows, what they cost, how far they may be off, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dpsql.report.privacy import CostReport, Privacy
from dpsql.shell.output.mode import shown

MOST_COLUMNS = 6
DONE = {
    "create_table": "table created",
    "drop_table": "table dropped",
    "set": "setting changed",
    "reset": "setting changed",
}


def lines(
    kind: str, count: int, privacy: Privacy | None, left: CostReport, swamped: Iterable[str] = ()
) -> Iterator[str]:
    """The lines to print after a statement of this kind. swamped: columns that are mostly noise."""
    if kind in DONE:
        yield DONE[kind]
        return
    if kind not in ("query", "create_table_as", "insert"):
        return
    what = {"create_table_as": "table created, ", "insert": "inserted "}.get(kind, "")
    rows = f"{what}{count} row{'' if count == 1 else 's'}"
    if privacy is None:
        yield f"{rows}; free: nothing private was read"
        return
    if privacy.exact:
        yield f"{rows}; {privacy}"
        return
    asked = privacy.cost if left.rho is not None else replace(privacy.cost, rho=None, delta_keys=None)
    cost = "a repeat, nothing charged" if privacy.repeated else f"cost {amounts(asked)}"
    yield f"{rows}; {cost}; left {amounts(left)}"
    if privacy.intervals:
        yield f"95 % confidence intervals: {_intervals(privacy)}"
    if privacy.threshold is not None:
        yield f"keys of fewer than about {privacy.threshold:.0f} {privacy.unit}s are withheld"
    for limit in privacy.limits:
        if limit.epsilon and limit.chosen is not None:
            yield f"the data chose: {limit.of} of one {privacy.unit} up to {limit.chosen:,.10g}"
    yield from swamped
    yield from privacy.notes


def _intervals(privacy: Privacy) -> str:
    named = [f"{shown(name)} ±{shown(half)}" for name, half in privacy.intervals.items()]
    more = ["…"] if len(named) > MOST_COLUMNS else []
    return ", ".join([*named[:MOST_COLUMNS], *more])


def amounts(cost: CostReport) -> str:
    """ε, δ where there is any, and ρ and the δ of private keys where these are what counts."""
    epsilon = "unlimited" if cost.epsilon is None else f"{cost.epsilon:g}"
    delta = f", δ = {cost.delta:g}" if cost.delta else ""
    rho = f", ρ = {cost.rho:.6g}" if cost.rho is not None else ""
    keys = f", δ of keys = {cost.delta_keys:.6g}" if cost.delta_keys else ""
    return f"ε = {epsilon}{delta}{rho}{keys}"
