"""One connection and what a shell remembers about it; runs statements, for the prompt and for scripts alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from dpsql.dbapi import Connection
from dpsql.errors import InterfaceError
from dpsql.report.privacy import CostReport, Privacy
from dpsql.shell import summary
from dpsql.shell.output import Page
from dpsql.shell.results import Results
from dpsql.shell.spinner import spinner
from dpsql.shell.stderr import hint, say
from dpsql.shell.variables import replaced

HAVE_A_QUERY = ("query", "create_table_as", "insert")
FREE = ("explain", "show_budget", "show_tables", "show_settings", "describe", "set", "reset")
NO_COST = CostReport(epsilon=0.0, delta=0.0)
OURS = ("show_tables", "show_budget", "show_settings", "describe")  # NULLs are shown as nothing there
TOLD_APART = 10_000  # with at most so many rows, the shell says in how many of them a column is mostly noise

Ask = Callable[[str], bool]


@dataclass(slots=True, kw_only=True)
class Shell:
    """ask: how to get a yes before a large charge; None where nobody can be asked. quiet: say nothing about results.
    dry_run: queries are explained, not run. depth: of files that read files. variables: psql's, for :name."""

    connection: Connection[Any]
    results: Results
    ask: Ask | None = None
    quiet: bool = False
    timing: bool = False
    dry_run: bool = False
    last_sql: str = ""
    last_privacy: Privacy | None = None
    would_cost: CostReport = NO_COST
    depth: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, sql: str) -> None:
        """One statement, with its result written and its cost printed. Raises dpsql's errors."""
        self.last_sql = sql
        sql = replaced(sql, self.variables)
        started = time.monotonic()
        kind = self.connection.kind_of(sql)
        if self.dry_run and kind not in FREE:
            self._explain(sql, kind)
            return
        if kind in HAVE_A_QUERY:
            self._confirm(sql)
        if kind == "query":
            self.results.check()
        with spinner(lambda: self.connection.working):
            cursor = self.connection.execute(sql)
        try:
            self._write(cursor, kind)
        finally:
            cursor.close()
        if self.timing:
            say(f"Time: {time.monotonic() - started:.3f} s")

    def _write(self, cursor: Any, kind: str) -> None:
        privacy = cursor.privacy
        count = cursor.rowcount
        swamped: tuple[str, ...] = ()
        if cursor.description is not None:
            page = self.results.page(cursor, privacy, text=kind == "explain")
            self.results.write(without_nulls(page) if kind in OURS and self.results.chosen.for_people else page)
            if privacy is not None and len(page.rows) <= TOLD_APART:
                swamped = privacy.swamped(page.names, page.rows)
        if privacy is not None:
            self.last_privacy = privacy
        if not self.quiet:
            for line in summary.lines(kind, count, privacy, self.left, swamped):
                hint(line)
            if cursor.description is not None and self.results.path is not None:
                hint(f"written to {self.results.path}")

    @property
    def restricted(self) -> bool:
        return bool(self.connection.restricted)

    @property
    def left(self) -> CostReport:
        """What the next query may cost: what is left to the dataset, or to the analyst if that is less."""
        budget = self.connection.budget
        of_analyst = budget.per_analyst.get(self.connection.analyst or "")
        return budget.left if of_analyst is None else smaller(budget.left, of_analyst.left)

    def _confirm(self, sql: str) -> None:
        """A charge above the limit needs a yes; what is free does not."""
        limit = self.connection.confirm_above
        if limit is None:
            return
        epsilon = self.connection.would_charge(sql).epsilon
        if epsilon is None or epsilon <= limit:
            return
        cost = f"this query costs ε = {epsilon:g}, more than {limit:g}; ε = {_amount(self.left.epsilon)} is left"
        if self.ask is None:
            raise InterfaceError(
                cost,
                code=623,
                why="confirm_above is set, and there is nobody who could confirm.",
                fix="Add --yes to confirm it.",
            )
        if not self.ask(f"{cost}. Run it? [y/N] "):
            raise InterfaceError("not run, nothing was charged", code=624)

    def refuse_charges(self, sql: str) -> None:
        """Refuse to run a statement again that would be charged again."""
        sql = replaced(sql, self.variables)
        if self.connection.kind_of(sql) not in HAVE_A_QUERY:
            return
        epsilon = self.connection.would_charge(sql).epsilon
        if epsilon:
            raise InterfaceError(
                f"each further run would cost ε = {epsilon:g}",
                code=624,
                why="What runs again and again must be free: a repeat, or a query of public tables.",
                fix="Run it once more by hand if you want new noise.",
            )

    def _explain(self, sql: str, kind: str) -> None:
        if kind not in HAVE_A_QUERY:
            say(f"not run: {kind.replace('_', ' ')} (--dry-run)")
            return
        explanation = self.connection.explain(sql)
        self.would_cost = added(self.would_cost, explanation.privacy.cost)
        self.results.line(str(explanation))

    def say_dry_run(self) -> None:
        left = self.left
        cost = self.would_cost if left.rho is not None else replace(self.would_cost, rho=None, delta_keys=None)
        say(
            f"dry run: nothing was charged; in total this would cost at most {summary.amounts(cost)};"
            f" left: {summary.amounts(left)}"
        )


def without_nulls(page: Page) -> Page:
    return replace(page, rows=[["" if value is None else value for value in row] for row in page.rows])


def smaller(one: CostReport, other: CostReport) -> CostReport:
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in ("epsilon", "delta", "rho", "delta_keys")}
    return CostReport(**{name: _least(*pair) for name, pair in pairs.items()})


def added(one: CostReport, other: CostReport) -> CostReport:
    """What two runs cost; a part that neither has stays out."""
    sums: dict[str, float | None] = {}
    for name in ("epsilon", "delta", "rho", "delta_keys"):
        parts = [part for part in (getattr(one, name), getattr(other, name)) if part is not None]
        sums[name] = math.fsum(parts) if parts else None
    return CostReport(**sums)


def _least(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else min(one, other)


def _amount(epsilon: float | None) -> str:
    return "unlimited" if epsilon is None else f"{epsilon:g}"
