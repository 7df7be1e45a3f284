"""MEDIAN, QUANTILE_CONT, QUANTILE_DISC (and so QUANTILE, PERCENTILE_CONT, PERCENTILE_DISC WITHIN GROUP)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, plain
from dpsql.domain.types import ANY, NULL, REAL, TIMESTAMP, Kind, Type
from dpsql.errors import SqlError
from dpsql.ir.expr import AggregateCall, Call, Expr, Literal, place
from dpsql.plan.candidates import Rule
from dpsql.privacy import candidates
from dpsql.privacy.measuring import MeasurementCollector

ORDERED = (*candidates.ORDERED, Kind.NULL, Kind.ANY)


def _type(arg: Expr, *, interpolated: bool) -> Type:
    """DuckDB's: between two integers lies a real, between two dates a moment."""
    if interpolated and arg.type.kind is Kind.INTEGER:
        return REAL
    if interpolated and arg.type.kind is Kind.DATE:
        return TIMESTAMP
    return arg.type


def _result(name: str, *, interpolated: bool, fraction: bool) -> Callable[[tuple[Expr, ...]], Type]:
    def result(args: tuple[Expr, ...]) -> Type:
        shown = f"{name.upper()}(x{', 0.95' if fraction else ''})"
        if len(args) != 1 + fraction:
            raise functions.TypeProblem(
                f"{name.upper()} takes {'a value and a fraction' if fraction else 'one argument'}", None, shown
            )
        if args[0].type.kind not in ORDERED:
            raise functions.TypeProblem(
                f"{args[0].type} has no quantiles: their candidates are numbers or dates", 0, f"Write {shown}."
            )
        if fraction and isinstance(args[1], Call) and args[1].function == "list_value":
            return ANY
        return _type(args[0], interpolated=interpolated)

    return result


def _measure(*, interpolated: bool) -> Callable[[AggregateCall, MeasurementCollector], Expr]:
    def measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
        plain(call)
        arg = call.args[0]
        descending = bool(call.order) and call.order[0].descending
        asked = _fractions(call)
        type_ = _type(arg, interpolated=interpolated)
        rule: Rule = "between" if interpolated else "upper" if descending else "lower"
        quantiles = [candidates.quantile(collector, arg, call.where, 1 - f if descending else f, rule) for f in asked]
        cast = [v if v.type == type_ else functions.make("try_cast", (v,), at=None, to=type_) for v in quantiles]
        if call.type != ANY:
            return cast[0]
        # without noise there may be no rows: NULL, not a list of NULLs
        nothing = functions.make("is_null", (quantiles[0],), at=None)
        listed = functions.make("list_value", tuple(cast), at=None)
        return functions.make("case", (nothing, Literal(None, NULL), listed), at=None)

    return measure


def _fractions(call: AggregateCall) -> tuple[Fraction, ...]:
    """1/2 for MEDIAN; a constant; or a list of constants."""
    if len(call.args) == 1:
        return (Fraction(1, 2),)
    given = call.args[1]
    listed = given.args if isinstance(given, Call) and given.function == "list_value" else (given,)
    if not listed:
        raise SqlError(
            "the list of fractions is empty", code=105, at=place(given), fix="Write QUANTILE_CONT(x, [0.25, 0.75])."
        )
    return tuple(_fraction(item, call) for item in listed)


def _fraction(item: Expr, call: AggregateCall) -> Fraction:
    if isinstance(item, Literal) and isinstance(item.value, int | Fraction) and not isinstance(item.value, bool):
        return Fraction(item.value)
    if isinstance(item, Literal) and isinstance(item.value, float):
        return Fraction(repr(item.value))
    raise SqlError(
        "a quantile's fraction must be a constant",
        code=105,
        at=place(item) or call.at,
        fix="Write QUANTILE_CONT(x, 0.95).",
    )


def _aggregate(name: str, doc: str, *, interpolated: bool, fraction: bool) -> Aggregate:
    return Aggregate(
        name=name,
        signature=f"{name.upper()}(x{', fraction' if fraction else ''})",
        doc=doc,
        result=_result(name, interpolated=interpolated, fraction=fraction),
        measure=_measure(interpolated=interpolated),
    )


MEDIAN = _aggregate(
    "median",
    "The middle value, chosen among public candidates within the bounds.",
    interpolated=True,
    fraction=False,
)
QUANTILE_CONT = _aggregate(
    "quantile_cont",
    "The value below which a fraction of the rows lies; a list of fractions costs about log2 of their number.",
    interpolated=True,
    fraction=True,
)
QUANTILE_DISC = _aggregate(
    "quantile_disc",
    "The same, with the argument's own type.",
    interpolated=False,
    fraction=True,
)
QUANTILES = (MEDIAN, QUANTILE_CONT, QUANTILE_DISC)
