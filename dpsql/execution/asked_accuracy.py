"""What an accuracy asks for, as half-widths: percentages are of what an earlier release showed, and averages and ratios are
estimated where it is known how many rows there are. Released numbers and the plan alone decide it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.catalog.model import fold
from dpsql.errors import Refused
from dpsql.execution.earlier_answers import rows_assumed, rows_counted, smallest_value
from dpsql.ir.nodes import Node, PublicText
from dpsql.plan.stages import ReleasePlan
from dpsql.report.estimates import RowsOf, all_widths, made
from dpsql.report.half_widths import unnamed
from dpsql.session import Session
from dpsql.sql.statement import Accuracy, HalfWidths, Relative


@dataclass(slots=True)
class Asking:
    """One query's accuracy. What the catalog promises of units is not taken for a number of rows: it may be far too few, and
    a count that is released later would change the ε."""

    session: Session
    assumed: int | None
    confidence: Fraction
    rows_of: RowsOf = field(init=False)

    def __post_init__(self) -> None:
        self.rows_of = rows_counted(self.session, self.assumed, promised=False)

    def widths(self, plan: ReleasePlan, confidence: Fraction) -> dict[str, float]:
        return all_widths(plan, confidence, self.rows_of)

    def half_widths(self, plan: ReleasePlan, accuracy: Accuracy) -> HalfWidths:
        """plan: before its limits are chosen: rows are counted as it asks for them."""
        self.widths(plan, self.confidence)  # from here on rows_of knows them
        if not isinstance(accuracy, tuple):
            accuracy = tuple((name, accuracy) for name in self._all(plan))
        return tuple((name, self._half_width(plan, name, near)) for name, near in accuracy)

    def _all(self, plan: ReleasePlan) -> tuple[str, ...]:
        """All columns whose half-widths are known whatever was released: so a query finds the same when it has run."""
        return tuple(all_widths(plan, self.confidence, rows_assumed(self.assumed)))

    def _half_width(self, plan: ReleasePlan, name: str, near: Fraction | Relative) -> Fraction:
        if isinstance(near, Fraction):
            return near
        parts = plan.final.parts if isinstance(plan.final, PublicText) else (plan.final,)
        values = [self._smallest(dataclasses.replace(plan, final=part), name) for part in parts if _has(part, name)]
        value = min((each for each in values if each is not None), default=None)
        if value is None or None in values:
            raise Refused(
                f"no earlier query released how large {name} is",
                code=119,
                why="A percentage refers to the smallest number above its noise that an earlier query of yours showed, over "
                "the same rows and keys, with the same limits.",
                fix="Ask for it once with a small epsilon and no accuracy, or ask for a half-width: a number without %.",
            )
        return near.part * Fraction(value)

    def _smallest(self, plan: ReleasePlan, name: str) -> float | None:
        left_out = unnamed(plan)
        places = [i for i, f in enumerate(plan.final.fields) if fold(f.name) == fold(name) and f.id not in left_out]
        sides = made(plan, places[0]) if places else None
        return None if sides is None else smallest_value(self.session, sides)


def _has(part: Node, name: str) -> bool:
    return any(fold(f.name) == fold(name) for f in part.fields)
