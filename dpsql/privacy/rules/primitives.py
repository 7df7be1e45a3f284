"""The exact calls that calls over one unit's rows are made of: each is asked once, whatever needs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range
from dpsql.errors import Span
from dpsql.ir.expr import AggregateCall, Column, Expr, WindowCall
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field
from dpsql.plan.tracked import Tracked
from dpsql.privacy.rules.exact import canonical, refuse_interval
from dpsql.privacy.rules.unit_calls import Made

Primitive = TypeVar("Primitive", AggregateCall, WindowCall)


@dataclass(frozen=True, slots=True)
class Primitives(Generic[Primitive]):
    """input: whose rows they are about. domains, ranges: of the columns of the node that is made; the calls' are added."""

    input: Tracked
    ids: Ids
    domains: dict[int, Domain]
    ranges: dict[int, Range]
    fields: dict[Primitive, Field] = field(default_factory=dict)

    def column(self, call: Primitive, domain: Domain) -> Column:
        if call not in self.fields:
            made = self.fields[call] = self.ids.field("", call.type)
            self.domains[made.id] = domain
            range_ = functions.call_range(call, self.input.ranges)
            if range_ is not None:
                self.ranges[made.id] = range_
        return self.fields[call].column()

    def exact(self, expr: Expr, how: str, at: Span | None) -> Expr:
        """An expression over the input that never fails, and whose equal values are one."""
        refuse_interval(expr, how, at)
        return functions.totalise(canonical(expr), self.input.ranges)[0]


def with_intervals(tracked: Tracked, fields: Sequence[Field], made: Sequence[Made]) -> Tracked:
    """With what is known of finished calls beyond what their expressions show."""
    bounds = {
        f.id: tracked.domains[f.id].but(interval=one.interval)
        for f, one in zip(fields, made, strict=True)
        if one.interval is not None
    }
    return dataclasses.replace(tracked, domains={**tracked.domains, **bounds})
