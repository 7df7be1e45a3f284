"""What an aggregate over private rows is: a result type, and an expression over measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.types import Type
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy.measuring import Measuring


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """name: DuckDB's. signature and doc: for the reference.

    result: DuckDB's result type for arguments (raises functions.TypeProblem).
    measure: asks for the measurements of one call and answers with the expression that finishes it.
    order: who asks first; aggregates that can reuse what others measured come later.
    """

    name: str
    signature: str
    doc: str
    result: Callable[[tuple[Expr, ...]], Type]
    measure: Callable[[AggregateCall, Measuring], Expr]
    order: int = 1


def contribution_bounds(call: AggregateCall) -> tuple[Fraction, Fraction] | None:
    """contribution_bounds_per_group => (low, high), if the call has it."""
    given = dict(call.options)
    low = given.get("contribution_bounds_per_group_low")
    high = given.get("contribution_bounds_per_group_high")
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        return low, high
    return None
