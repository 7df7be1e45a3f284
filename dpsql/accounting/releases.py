"""What was charged, and the DP release table to publish with the numbers: read from the ledger's entries, nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from dpsql.accounting.account import Account, Amount
from dpsql.accounting.ledger_chain import Entry
from dpsql.accounting.loss import ZERO, Cost

RESERVED, RUNNING, RELEASED, VOID = "reserved", "running", "released", "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One charge with its release record. state: reserved, running (or died while running), released or void."""

    id: int
    time: datetime
    analyst: str | None
    query_id: str | None
    plan: str
    metadata: str
    state: str
    cost: Cost
    record: Mapping[str, Any]

    @property
    def measured(self) -> str:
        return ", ".join(str(m.get("name", "")) for m in self.record.get("measurements", []))

    @property
    def sql(self) -> str | None:
        """The statement as it was asked; None for a choice before one, and for older records."""
        text = self.record.get("sql")
        return None if text is None else str(text)

    @property
    def tables(self) -> str:
        names = dict.fromkeys(t for stage in self.record.get("stages", []) for t in stage.get("tables", []))
        return ", ".join(names)


def releases(entries: Iterable[Entry]) -> tuple[Release, ...]:
    """One for each charge, in order, of the epoch that the newest entry belongs to."""
    charges: list[Entry] = []
    states: dict[int, str] = {}
    for entry in entries:
        if entry.kind == "epoch":
            charges, states = [], {}
        elif entry.kind == "charge":
            charges.append(entry)
            states[entry.n] = RESERVED
        elif entry.subject in states and entry.kind in (RUNNING, RELEASED, VOID):
            states[entry.subject] = entry.kind
    return tuple(_release(entry, states[entry.n]) for entry in charges)


def chosen_limits(entries: Iterable[Entry]) -> Iterator[tuple[tuple[str, ...], str, Fraction]]:
    """The limits that the data chose, oldest first: the tables they were chosen for, of what, and which."""
    for entry in entries:
        if entry.kind == RELEASED and entry.detail and _NO_LIMITS not in entry.detail:
            for one in json.loads(entry.detail)["limits"]:
                yield tuple(one["tables"]), str(one["of"]), Fraction(one["chosen"])


_NO_LIMITS = '"limits": []'


def _release(entry: Entry, state: str) -> Release:
    return Release(
        id=entry.n,
        time=entry.when,
        analyst=entry.analyst,
        query_id=entry.query_id,
        plan=entry.plan or "",
        metadata=entry.metadata or "",
        state=state,
        cost=entry.cost,
        record=json.loads(entry.detail or "{}"),
    )


def total_cost(releases: Iterable[Release]) -> Cost:
    """Of what was not voided."""
    return sum((one.cost for one in releases if one.state != VOID), ZERO)


def odds(epsilon: float, delta: float = 0.0, unit: str = "person") -> str:
    """ε in words. Lemma: posterior odds ≤ e^ε · prior odds, apart from δ: Bayes' rule on the likelihood ratio that
    (ε, δ) bounds. From even odds that is a probability of at most e^ε/(1 + e^ε)."""
    most = 1 / (1 + math.exp(-epsilon))
    factor = f"{math.exp(epsilon):.3g}" if epsilon < 700 else "e^" + f"{epsilon:.6g}"
    words = (
        f"Whatever anyone believed before about one {unit}'s data, these numbers multiply the odds by at most {factor}"
        f" (ε = {epsilon:.6g}): a suspicion of 50 % becomes at most {100 * most:.4g} %"
    )
    failing = f", except with a probability of about {delta:.3g} (δ)" if delta > 0 else ""
    return f"{words}{failing}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The release table: charges, and what they cost together as the budget itself adds them up (spending.published).

    whole: under zcdp ρ is what adds up, ε and δ are converted from it; under approx ε and δ add up, and there is no ρ.
    """

    account: Account
    whole: Amount
    releases: Sequence[Release]

    @property
    def unit(self) -> str:
        return _common(self.releases, "unit") or "person"

    @property
    def meaning(self) -> str:
        return odds(_number(self.whole.epsilon), _number(self.whole.delta), self.unit)


def _number(part: Fraction | None) -> float:
    return 0.0 if part is None else float(part)


def as_json(table: Published, *, sql: bool = False) -> dict[str, Any]:
    """The release table as data. sql: with the statements, whose literals their analysts chose: a name, say."""
    whole = table.whole
    return {
        "accounting": table.account.accounting,
        "epsilon": _number(whole.epsilon),
        "delta": _number(whole.delta),
        **({} if whole.rho is None else {"rho": float(whole.rho), "delta_keys": _number(whole.delta_keys)}),
        "meaning": table.meaning,
        "releases": [release_as_json(one, sql=sql) for one in table.releases],
    }


def release_as_json(one: Release, *, sql: bool = False) -> dict[str, Any]:
    """One line of it."""
    epsilon, delta = float(one.cost.epsilon), float(one.cost.delta)
    return {
        "id": one.id,
        "time": one.time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "analyst": one.analyst,
        "query_id": one.query_id,
        "plan": one.plan,
        "metadata": one.metadata,
        "state": one.state,
        "epsilon": epsilon,
        "delta": delta,
        "rho": float(one.cost.rho),
        "delta_keys": float(one.cost.delta_keys),
        "meaning": odds(epsilon, delta, str(one.record.get("unit", "person"))),
        **{name: value for name, value in one.record.items() if sql or name != "sql"},
    }


HEAD = ("id", "released", "tables", "measured", "mechanism", "scale", "± 95 %", "limits", "bounds", "T", "ε", "δ")


def as_markdown(table: Published) -> str:
    """The release table to publish: what holds for all of it in words, then a line for each measurement."""
    releases, unit, zcdp = table.releases, table.unit, table.account.accounting == "zcdp"
    head = (*HEAD, "ρ") if zcdp else HEAD
    lines = [
        f"# Differentially private releases of {_common(releases, 'dataset') or 'the dataset'}",
        "",
        f"- Privacy unit: {unit} ({_common(releases, 'neighbours') or 'one unit added or removed'}).",
        f"- In total {_totals(table)}.",
        f"- {table.meaning}",
        f"- Data: version {_common(releases, 'version') or 'not stated'}. Made with {_common(releases, 'implementation')}.",
        "",
        _line(head),
        _line(["---"] * len(head)),
    ]
    lines += [_line(row[: len(head)]) for one in releases for row in _rows(one)]
    return "\n".join(lines) + "\n"


def _totals(table: Published) -> str:
    """Under zcdp one query's ε is what it was asked with; those do not add up, their ρ do."""
    whole = table.whole
    said = f"ε = {_number(whole.epsilon):.6g}, δ = {_number(whole.delta):.6g}"
    if whole.rho is not None:
        said += f" by zcdp accounting: converted from ρ = {float(whole.rho):.6g}"
        said += f" and δ = {_number(whole.delta_keys):.6g} of private keys" if whole.delta_keys else ""
    else:
        said += f" by {table.account.accounting} accounting"
    return f"{said}, of all months together" if table.account.per == "month" else said


def _rows(one: Release) -> Iterable[Sequence[str]]:
    """Keys of a stage are said once, at its first measurement; ε and δ once, at the charge's first."""
    released = f"{one.time:%Y-%m-%d}" if one.state == RELEASED else one.state
    threshold = one.record.get("threshold_units")
    for number, m in enumerate(one.record.get("measurements", [])):
        first = number == 0
        yield (
            str(one.id) if first else "",
            released if first else "",
            one.tables if first else "",
            str(m["name"]),
            str(m["mechanism"]),
            f"{m['scale']:.6g}",
            f"{m['half_width_95']:.6g}",
            _limits(m),
            _bounds(m),
            f"{threshold:.1f}" if first and threshold is not None else "",
            f"{float(one.cost.epsilon):.6g}" if first else "",
            f"{float(one.cost.delta):.6g}" if first else "",
            f"{float(one.cost.rho):.6g}" if first else "",
        )


def _limits(m: Mapping[str, Any]) -> str:
    """What of one unit counts; older records say it of each group."""
    if "max_groups" in m:
        return f"{m['max_groups']} groups, {m['max_rows']} rows in each"
    return f"{_counted(m['rows'], 'row')} in all, {_counted(m['groups'], 'group')}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _bounds(m: Mapping[str, Any]) -> str:
    if m.get("lower") is None:
        return str(m["bounds"] or "none needed")
    origin = f" ({m['bounds']})" if m["bounds"] else ""
    return f"{m['lower']:.6g} to {m['upper']:.6g}{origin}"


def _common(releases: Sequence[Release], name: str) -> str:
    """What the records say, each different answer once."""
    return ", ".join(dict.fromkeys(str(one.record[name]) for one in releases if one.record.get(name) is not None))


def _line(cells: Sequence[str]) -> str:
    """One line of a table; nothing in a cell can end the cell or the line, or be read as markup."""
    shown = ("".join(_MARKUP.get(c, c) if c.isprintable() else " " for c in cell) for cell in cells)
    return f"| {' | '.join(shown)} |"


_MARKUP = {"|": "\\|", "<": "&lt;", ">": "&gt;", "&": "&amp;", "\\": "\\\\", "`": "\\`", "*": "\\*", "_": "\\_"}
