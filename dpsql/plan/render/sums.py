"""Sums over weighed rows (or pairs of a unit and a group), the totals made of them, and the totals on their noise grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from dpsql.plan.balls import FULL, ROWS_LIMIT
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Measurement
from dpsql.plan.render.ball import is_narrow, weighted
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts, Printer
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import GRID_LIMIT, Draw
from dpsql.plan.vault_query import GROUP, Question, Step, VaultColumn, total
from dpsql.plan.what_is_read import entering


@dataclass(slots=True)
class Weighing:
    """The weight of each measurement's rows, by name, and what it is shared by: the unit's rows that enter. Measurements
    over the same rows share one; slices share one that is made of the rows of all of them. present: whose rows are counted
    by a column h<j> of their own, without making p<j>. seen: of each that not every row enters, the column that is NULL
    where a row does not: p<j>, or the h of one that has the same rows."""

    names: dict[int, str]
    counts: dict[str, str]
    present: frozenset[int]
    seen: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Parts, *, apart: bool, shown: bool = True) -> Weighing:
        """shown: what is weighed has the columns h<j>, too."""
        by_entering: dict[object, str] = {}
        names: dict[int, str] = {}
        counts: dict[str, str] = {}
        counted: dict[tuple[str, int | None], str] = {}
        present: set[int] = set()
        seen: dict[int, str] = {}
        for j, one in parts:
            name = by_entering.setdefault(entering(one), f"e{len(by_entering)}")
            names[j] = name
            mine = slice_of(one)
            rows_ = name, None if mine is None else mine.which
            first = rows_ not in counted
            seen[j] = counted.setdefault(rows_, f"{'h' if apart else 'p'}{j}")
            if not first:
                continue
            entered = "count(*)" if enters_all(one) else f"count({seen[j]})"
            counts[name] = entered if name not in counts else f"{counts[name]} + {entered}"
            present |= set() if enters_all(one) or not apart else {j}
        counts = {name: f"({c})" if " + " in c else c for name, c in counts.items()}
        return cls(names, counts, frozenset(present), seen if shown else {})


@dataclass(slots=True)
class Sums:
    """Sums per group that totals are made of, each once. kind: of rows (or pairs) joined to weights; of units (or of a
    unit's rows in one group) with their weights; of shares (ball.shares), of which one is many units'; or of rows with the
    full weight, which is multiplied in afterwards. inner: what is added up for each unit, or share. reach: the most that a
    unit's weight times those of its rows that it is for is."""

    dialect: Dialect
    weighing: Weighing
    kind: OneOf["of rows", "of units", "of shares", "full"]
    reach: int = ROWS_LIMIT * FULL
    names: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        return self.names.setdefault(text, f"s{len(self.names)}")

    def count(self, j: int, *, all_rows: bool) -> str:
        """Σ w over the rows that enter: with weights, over all rows less those that do not, usually none."""
        weight, seen = self.weighing.names[j], self.weighing.seen.get(j, f"p{j}")
        entered = "count(*)" if all_rows else f"count({seen if self.kind == 'of shares' else f'p{j}'})"
        match self.kind:
            case "full":
                return self._full(self.of(entered))
            case "of units":
                return self.of(self.dialect.sum(f"{self._inner(entered)} * {weight}", most=self.reach))
            case "of shares":
                return self.of(self.dialect.sum(f"{self.dialect.wide(self._inner(entered))} * {weight}"))
            case "of rows":
                every = self.of(self.dialect.sum(weight, most=FULL))
                if all_rows:
                    return every
                none = self.of(self.dialect.sum(weight, most=FULL, where=f"{seen} IS NULL"))
                return f"({every} - coalesce({none}, 0))"

    def sum(self, j: int, piece: str, largest: int) -> str:
        """Σ w·p."""
        weight = self.weighing.names[j]
        match self.kind:
            case "full":
                return self._full(self.of(self.dialect.sum(piece, most=largest if largest < 2**62 else None)))
            case "of units" | "of shares":
                parts = self.dialect.parts(piece, largest) if self.kind == "of units" and largest < 2**62 else ()
                if parts and self.reach * max(size for _, _, size in parts) < 2**62:
                    return self._in_parts(parts, weight)
                inner = self._inner(self.dialect.sum(piece, most=largest if largest < 2**62 else None))
                return self.of(self.dialect.sum(f"{self.dialect.wide(inner)} * {weight}"))
            case "of rows":
                added = weighted(piece, weight, largest, self.dialect)
                return self.of(self.dialect.sum(added, most=largest * FULL if is_narrow(largest) else None))

    def _in_parts(self, parts: Sequence[tuple[str, int, int]], weight: str) -> str:
        """Lemma: no product is beyond 2^62. Proof: a unit's part is at most its rows times the size, and its weight times
        these rows at most the reach."""
        terms = []
        for text, factor, size in parts:
            added = self.of(self.dialect.sum(f"{self._inner(text)} * {weight}", most=self.reach * size))
            terms.append(f"{added} * {self.dialect.wide(self.dialect.integer(factor))}")
        return f"({' + '.join(terms)})"

    def entered(self, j: int, *, all_rows: bool) -> str:
        entered = "count(*)" if all_rows else f"count(p{j})"
        if self.kind in ("of units", "of shares"):
            most = ROWS_LIMIT if self.kind == "of units" else None
            return self.of(self.dialect.sum(self._inner(entered), most=most))
        return self.of(entered)

    def _inner(self, text: str) -> str:
        return self.inner.setdefault(text, f"a{len(self.inner)}")

    def _full(self, name: str) -> str:
        return f"({self.dialect.wide(name)} * {self.dialect.integer(FULL)})"


@dataclass(frozen=True, slots=True)
class Total:
    """text: over the sums of a group. counts: of no rows it is 0, where other totals are NULL without noise."""

    text: str
    counts: bool = False


def shown_totals(
    printer: Printer, parts: Parts, totals: dict[int, list[Total]], sums: Sums
) -> list[tuple[VaultColumn, str]]:
    """The totals on their noise grids; without noise as text."""
    outs: list[tuple[VaultColumn, str]] = []
    for j, one in parts:
        for i, (each, draw) in enumerate(zip(totals[j], printer.stage.noised[j].asked, strict=True)):
            shown = _exactly(j, one, each, sums) if printer.exact else on_noise_grid(each.text, draw, printer.dialect)
            outs.append((total(j, i, exact=printer.exact), shown))
    return outs


def _exactly(j: int, one: Measurement, each: Total, sums: Sums) -> str:
    if each.counts:
        return sums.dialect.as_text(f"coalesce({each.text}, 0)")
    return f"CASE WHEN {sums.entered(j, all_rows=enters_all(one))} > 0 THEN {sums.dialect.as_text(each.text)} END"


def on_noise_grid(text: str, draw: Draw, dialect: Dialect) -> str:
    """The total in noise-grid integers, within 62 bits, rounded half up."""
    limit = 2 ** min(GRID_LIMIT + draw.shift, 125)
    low, high = (dialect.wide(dialect.integer(end)) for end in (-limit, limit))
    kept = f"greatest(least({dialect.wide(f'coalesce({text}, 0)')}, {high}), {low})"
    return dialect.halved(kept, draw.shift) if draw.shift else dialect.narrow(kept)


def summed(
    printer: Printer, steps: list[Step], source: str, sums: Sums, outs: list[tuple[VaultColumn, str]], parts: Parts
) -> Question:
    """Sums per group, and what is shown of them."""
    g, by = (f"{printer.dialect.bigint('0')} AS g", "") if printer.one_group else ("g", " GROUP BY g")
    inner = ", ".join([g, *(f"{text} AS {name}" for text, name in sums.names.items())])
    shown = ", ".join(["g", *(f"{text} AS {column.name}" for column, text in outs)])
    return Question(
        steps=tuple(steps),
        select=f"SELECT {shown} FROM (SELECT {inner} FROM {source}{by}) AS z",
        columns=(GROUP, *(column for column, _ in outs)),
        answers=tuple(j for j, _ in parts),
    )


def weighed(rows_: str) -> str:
    return f"{rows_} JOIN weights ON {rows_}.u = weights.u"
