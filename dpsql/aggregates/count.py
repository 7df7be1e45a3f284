"""COUNT(*), COUNT(x), COUNT(DISTINCT unit)."""

from __future__ import annotations

from dpsql.aggregates.model import Aggregate
from dpsql.domain.types import BIGINT, Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy.measuring import Measuring, whole


def _result(args: tuple[Expr, ...]) -> Type:
    return BIGINT


def _measure(call: AggregateCall, ask: Measuring) -> Expr:
    if call.distinct:
        if len(call.args) == 1 and ask.is_unit(call.args[0]):
            return whole(ask.units(call.where))
        raise Refused(
            "COUNT(DISTINCT …) of a column is not answered yet",
            code=132,
            at=call.at,
            why="Only people can be counted without repetition for now.",
            fix="Write COUNT(DISTINCT <the unit column>), or COUNT(*) … GROUP BY the column.",
        )
    if len(call.args) > 1:
        raise Refused("COUNT takes one argument", code=105, at=call.at, fix="Write COUNT(x) or COUNT(*).")
    return whole(ask.rows(call.args[0] if call.args else None, call.where))


COUNT = Aggregate(
    name="count",
    signature="COUNT(*), COUNT(x), COUNT(DISTINCT unit)",
    doc="Rows, rows where x is not NULL, or people; at most max_rows rows of one person count in a group.",
    result=_result,
    measure=_measure,
)
