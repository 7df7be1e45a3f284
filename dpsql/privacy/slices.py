"""Disjoint parts cost once: totals of one kind whose conditions no row can satisfy together are one vector.

    SELECT COUNT(*) FILTER (WHERE k = 'a'), COUNT(*) FILTER (WHERE k = 'b') …    one measurement, as GROUP BY k would be
    SELECT SUM(CASE WHEN k = 'a' THEN x END), SUM(CASE WHEN k = 'b' THEN x END) …

A row's number says in which part it is: CASE WHEN <first condition> THEN 0 WHEN <second> THEN 1 … END. So it is in one at
most, whatever is stored and however the conditions were judged here; `sensitivity.reaches` rests on that alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from dpsql import functions
from dpsql.domain.types import INTEGER, NULL, Kind
from dpsql.functions.conjunctions import conjunction
from dpsql.ir.expr import AggregateCall, Call, Expr, Literal, columns_of
from dpsql.plan.measurements import Measurement, RowMoments, RowTotal, Slice, axes
from dpsql.plan.slices import slice_of
from dpsql.privacy.disjoint import Condition, Numbers, condition, disjoint

MOST = 100  # of one number
PIVOTED = ("sum", "avg", "count")


def pivoted(calls: Sequence[AggregateCall]) -> list[tuple[AggregateCall, bool]]:
    """The calls, those of a CASE as the same call with a FILTER where another one is disjoint from it; and whether the
    answer of no rows is 0."""
    made = [_pivot(call) or (call, False) for call in calls]
    numbers: Numbers = {}
    by_kind: dict[AggregateCall, dict[int, Condition]] = {}
    for i, (call, _) in enumerate(made):
        if call.where is not None:
            kind = dataclasses.replace(call, where=None)
            by_kind.setdefault(kind, {})[i] = condition(call.where, numbers)
    parted = {
        i
        for alike in by_kind.values()
        for i, one in alike.items()
        if any(disjoint(one, other) for j, other in alike.items() if j != i)
    }
    return [made[i] if i in parted else (call, False) for i, call in enumerate(calls)]


def _pivot(call: AggregateCall) -> tuple[AggregateCall, bool] | None:
    """f(CASE WHEN c THEN x END) is f(x) FILTER (WHERE c); so is SUM(CASE WHEN c THEN x ELSE 0 END), but of no rows (and
    with a FILTER of its own, which may leave none, it is neither). Where c is about x, the CASE may have narrower bounds
    than x: it stays."""
    if call.function not in PIVOTED or call.distinct or len(call.args) != 1 or call.options:
        return None
    (case,) = call.args
    around = case if isinstance(case, Call) and case.function == "canonical" else None
    case = case if around is None else around.args[0]
    if not isinstance(case, Call) or case.function != "case" or len(case.args) not in (2, 3):
        return None
    condition, value, otherwise = (*case.args, Literal(None, NULL))[:3]
    if not isinstance(otherwise, Literal) or not _adds_up_alike(value, case):
        return None
    if call.function != "count" and not columns_of(condition).isdisjoint(columns_of(value)):
        return None
    zero = (
        call.function == "sum"
        and call.where is None
        and otherwise.value is not None
        and not isinstance(otherwise.value, str)
    )
    if otherwise.value is not None and not (zero and otherwise.value == 0):
        return None
    where = conjunction([part for part in (call.where, condition) if part is not None])
    if zero and isinstance(value, Literal) and value.value == 1 and value.type.kind is Kind.INTEGER:
        return dataclasses.replace(call, function="count", args=(), where=where), False
    value = value if around is None else dataclasses.replace(around, args=(value,))
    return dataclasses.replace(call, args=(value,), where=where), zero


def _adds_up_alike(value: Expr, case: Expr) -> bool:
    """Whether the value is the same number outside of the CASE, whose other branch may have made its type wider."""
    return (value.type.kind, value.type.scale) == (case.type.kind, case.type.scale)


def sliced(measurements: Iterable[Measurement]) -> list[Measurement]:
    """The measurements, those of disjoint parts as slices."""
    new = list(measurements)
    for together in _groups(new):
        conditions = [one.where for _, one in together if one.where is not None]
        number = _number(conditions)
        for which, (j, one) in enumerate(together):
            new[j] = dataclasses.replace(one, where=None, slice=Slice(number, which, len(together)))
    return new


def together(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """What EXPLAIN says of slices."""
    by_vector: dict[object, list[str]] = {}
    for one in measurements:
        mine = slice_of(one)
        if mine is not None:
            by_vector.setdefault((mine.number, type(one), *axes(one)), []).append(one.name)
    return tuple(f"disjoint parts are one measurement, with one share of ε: {'; '.join(v)}" for v in by_vector.values())


Placed = tuple[int, RowTotal | RowMoments]


def _groups(measurements: Sequence[Measurement]) -> list[list[Placed]]:
    numbers: Numbers = {}
    by_kind: dict[object, list[list[tuple[Placed, Condition]]]] = {}
    for j, one in enumerate(measurements):
        if not isinstance(one, RowTotal | RowMoments) or one.where is None or _is_alone(one):
            continue
        mine, groups = condition(one.where, numbers), by_kind.setdefault(_kind(one), [])
        fitting = (g for g in groups if len(g) < MOST and all(disjoint(mine, other) for _, other in g))
        group = next(fitting, None)
        if group is None:
            groups.append(group := [])
        group.append(((j, one), mine))
    return [[placed for placed, _ in g] for groups in by_kind.values() for g in groups if len(g) > 1]


def _kind(one: RowTotal | RowMoments) -> object:
    """Slices of one number measure the same."""
    match one:
        case RowTotal():
            return one.piece, one.needs
        case RowMoments():
            return one.axis, one.degree, one.needs


def _is_alone(one: RowTotal | RowMoments) -> bool:
    """Limited by its own values, so that it shares no weight."""
    return isinstance(one, RowTotal) and one.within is not None


def _number(conditions: Sequence[Expr]) -> Expr:
    args: list[Expr] = []
    for which, one in enumerate(conditions):
        args += [one, Literal(which, INTEGER)]
    return functions.make("case", (*args, Literal(None, NULL)), at=None)
