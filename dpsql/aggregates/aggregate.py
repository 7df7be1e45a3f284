"""What an aggregate over private rows is: a result type, and an expression over measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpsql import functions
from dpsql.domain.types import REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy.measuring import MeasurementCollector


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
    measure: Callable[[AggregateCall, MeasurementCollector], Expr]
    order: int = 1


def contribution_bounds(call: AggregateCall) -> tuple[Fraction, Fraction] | None:
    """contribution_bounds_per_group => (low, high), if the call has it."""
    given = dict(call.options)
    low = given.get("contribution_bounds_per_group_low")
    high = given.get("contribution_bounds_per_group_high")
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        return low, high
    return None


def plain(call: AggregateCall) -> None:
    """Refuse DISTINCT and bounds per unit, which have no meaning for this aggregate."""
    name = call.function.upper()
    if call.distinct:
        raise Refused(
            f"{name}(DISTINCT …) is not answered",
            code=132,
            at=call.at,
            why="One person's row can change which values are distinct for everybody.",
            fix=f"Write {name}(x).",
        )
    if call.options:
        raise Refused(
            f"{name} has no bounds per unit",
            code=132,
            at=call.at,
            why="contribution_bounds_per_group bounds a sum or a count.",
            fix="Leave it out: the bounds of the column are enough.",
        )


def numbers(name: str, count: int, type_: Type = REAL) -> Callable[[tuple[Expr, ...]], Type]:
    """The result rule of an aggregate of `count` numbers."""

    def result(args: tuple[Expr, ...]) -> Type:
        shown = f"{name.upper()}({', '.join('yx' if count == 2 else 'x')})"
        if len(args) != count:
            raise functions.TypeProblem(f"{name.upper()} takes {count} argument{'s'[: count - 1]}", None, shown)
        for position, arg in enumerate(args):
            if not (arg.type.is_numeric or arg.type.kind in (Kind.NULL, Kind.ANY)):
                raise functions.TypeProblem(f"{name.upper()} needs numbers, not {arg.type}", position, shown)
        return type_

    return result
