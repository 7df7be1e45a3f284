"""MODE(x), APPROX_TOP_K(x, k)."""

from __future__ import annotations

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, plain
from dpsql.domain.types import ANY, Type
from dpsql.errors import SqlError
from dpsql.ir.expr import AggregateCall, Expr, Literal
from dpsql.privacy import candidates
from dpsql.privacy.measuring import MeasurementCollector


def _mode_type(args: tuple[Expr, ...]) -> Type:
    if len(args) != 1:
        raise functions.TypeProblem("MODE takes one argument", None, "Write MODE(x).")
    return args[0].type


def _top_type(args: tuple[Expr, ...]) -> Type:
    if len(args) != 2:
        raise functions.TypeProblem("APPROX_TOP_K takes a value and a number", None, "Write APPROX_TOP_K(x, 3).")
    return ANY


def _mode(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    plain(call)
    return candidates.most_frequent(collector, call.args[0], call.where, 1)[0]


def _top(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    plain(call)
    count = call.args[1]
    if not isinstance(count, Literal) or isinstance(count.value, bool) or not isinstance(count.value, int):
        raise SqlError("k must be a whole number", code=105, at=call.at, fix="Write APPROX_TOP_K(x, 3).")
    values = candidates.most_frequent(collector, call.args[0], call.where, count.value)
    return functions.make("list_value", values, at=None)


MODE = Aggregate(
    name="mode",
    signature="MODE(x)",
    doc="The most frequent of x's public values (declared keys, or a small whole-number domain).",
    result=_mode_type,
    measure=_mode,
)
APPROX_TOP_K = Aggregate(
    name="approx_top_k",
    signature="APPROX_TOP_K(x, k)",
    doc="A list of the k most frequent of x's public values, chosen one after the other.",
    result=_top_type,
    measure=_top,
)
