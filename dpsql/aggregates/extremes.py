"""MIN, MAX."""

from __future__ import annotations

from collections.abc import Callable

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, plain
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy import candidates
from dpsql.privacy.measuring import MeasurementCollector


def _result(args: tuple[Expr, ...]) -> Type:
    if not args:
        raise functions.TypeProblem("MIN and MAX take one argument", None, "Write MIN(x).")
    return args[0].type


def _measure(*, greatest: bool) -> Callable[[AggregateCall, MeasurementCollector], Expr]:
    def measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
        if len(call.args) != 1:
            raise Refused(
                "MIN and MAX of several values are not answered",
                code=132,
                at=call.at,
                why="Each of them would be one person's value.",
                fix="Write QUANTILE_CONT(x, 0.05).",
            )
        plain(call)
        return candidates.extreme(collector, call.args[0], call.where, greatest=greatest)

    return measure


def _aggregate(name: str, which: str, *, greatest: bool) -> Aggregate:
    return Aggregate(
        name=name,
        signature=f"{name.upper()}(x)",
        doc=f"The {which} candidate with a few rows beyond it (EXPLAIN "
        f"shows how many): the {which} value itself is one person's.",
        result=_result,
        measure=_measure(greatest=greatest),
    )


MIN = _aggregate("min", "least", greatest=False)
MAX = _aggregate("max", "greatest", greatest=True)
EXTREMES = (MIN, MAX)
