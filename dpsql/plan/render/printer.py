"""What the statements of a stage share: its rows as a step, and what a unit may add to what is made of them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from dpsql.plan.balls import Ball, Norm
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Measurement
from dpsql.plan.ready import AllRows, Ready
from dpsql.plan.render.keys import Joins
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.rows import Extra, rows
from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import Columns, Step

Parts = Sequence[tuple[int, Measurement]]

NOT_ASKED = ("none", "summed")  # mechanisms of what the vault is not asked for


@dataclass(slots=True, kw_only=True)
class Printer:
    """kept: the rows are stored once and read twice, rather than evaluated twice (sources that are no one snapshot)."""

    ready: Ready
    relations: Relations
    exact: bool
    kept: bool
    salt: int
    tables: dict[str, Columns] = field(default_factory=dict)

    @property
    def stage(self) -> NoisyStage:
        return self.ready.stage

    def rows(self, parts: Parts, *, present: Container[int] = (), extra: Extra = ()) -> str:
        joins = Joins(self.dialect, self.tables, self.stage.source.single)
        return rows(self.ready, self.relations, joins, parts, present=present, extra=extra)

    @property
    def dialect(self) -> Dialect:
        return self.relations.dialect

    def step(self, name: str, select: str) -> Step:
        """A step that is read twice."""
        return Step(name, select, stored=self.kept or self.dialect.dear(select))

    @property
    def one_group(self) -> bool:
        return isinstance(self.ready.groups, AllRows)

    def ball(self, per_rows: bool, norm: Norm) -> Ball | None:
        """None where a unit has one row, by the form of the relation: it counts in full."""
        if self.stage.source.single or (not per_rows and self.one_group):
            return None
        limit = self.stage.limit.rows if per_rows else self.stage.limit.groups
        return limit.ball(norm)
