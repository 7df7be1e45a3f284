"""Steps 3 to 7 for a session: a statement's plan, with what its catalog leaves to the data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar

from dpsql.catalog.model import Catalog
from dpsql.domain.interval import Interval
from dpsql.engine.printing import printed
from dpsql.errors import Refused, SqlError
from dpsql.execution import asked_rho
from dpsql.execution.accuracy import Limits, Wanted, near_enough
from dpsql.execution.asked_accuracy import Asking
from dpsql.execution.auto_bounds import (
    SHARE,
    Bounds,
    Column,
    columns_left_to_data,
    ladder,
    placeholders,
    question,
    released_before,
    with_bounds,
)
from dpsql.execution.key_values import answers
from dpsql.execution.query_settings import settings_of, wants_fresh
from dpsql.plan.stages import Before, ReleasePlan
from dpsql.planner import PlannerInput, can_release, plan
from dpsql.privacy.rules.context import KeysNeeded
from dpsql.privacy.settings import QuerySettings
from dpsql.session import Session
from dpsql.sql.allow import allow
from dpsql.sql.parse import parse
from dpsql.sql.statement import Statement

# Types that do not fit, and intervals that cannot be: the other way would fail after the charge, or leave them out.
STAYS = ("DPSQL-105", "DPSQL-135")
T = TypeVar("T")
Parameters = Sequence[object] | Mapping[str, object] | None


def read(text: str, parameters: Parameters = None) -> Statement:
    """Steps 1 and 2."""
    statement = parse(text, parameters)
    allow(statement)
    return statement


@dataclasses.dataclass(frozen=True, slots=True)
class Decided:
    """What releases before the query have chosen: bounds of columns, and the limits of its stages."""

    bounds: Bounds = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    limits: Limits | None = None


UNDECIDED = Decided()


def plan_of(session: Session, statement: Statement, decided: Decided = UNDECIDED) -> ReleasePlan:
    """Steps 3 to 7. Where bounds are left to the data: with those that are `decided` for this query, or were released
    before, else with wide ones, and the choices that have to come first. Where an accuracy is asked for, with the least ε
    for it; limits that the data choose have to be chosen first, too."""
    columns, settings = columns_left_to_data(session.catalog), settings_of(session, statement)
    asked_rho.check(statement, session.catalog.accounting)
    if settings.rho is not None and not session.exact:
        plain = asked_rho.with_mechanism(settings)

        def costing(epsilon: Fraction) -> ReleasePlan:
            return _planned(session, statement, columns, dataclasses.replace(plain, epsilon=epsilon), decided.bounds)

        return asked_rho.within(settings.rho, costing)
    if settings.accuracy is None or settings.epsilon is None or session.exact:
        return _planned(session, statement, columns, settings, decided.bounds)
    plain = dataclasses.replace(settings, accuracy=None)

    def at(epsilon: Fraction) -> ReleasePlan:
        return _planned(session, statement, columns, dataclasses.replace(plain, epsilon=epsilon), decided.bounds)

    asking = Asking(session, settings.assumed_rows, settings.confidence)
    asked = asking.half_widths(at(settings.epsilon), settings.accuracy)
    wanted = Wanted(asked, settings.confidence, settings.epsilon, settings.best, asking.widths)
    return near_enough(at, wanted, decided.limits)


def _planned(
    session: Session,
    statement: Statement,
    columns: tuple[Column, ...],
    settings: QuerySettings,
    chosen: Bounds,
) -> ReleasePlan:
    def planned(bounds: Bounds, epsilon: Fraction | None) -> ReleasePlan:
        catalog = with_bounds(session.catalog, bounds)
        return _plan(session, statement, catalog, dataclasses.replace(settings, epsilon=epsilon))

    if not columns:
        return planned({}, settings.epsilon)
    try:
        return planned({}, settings.epsilon)
    except Refused:
        known: dict[Column, Interval] = (
            {} if wants_fresh(session, statement) or session.exact else released_bounds(session)
        )
        bounds = {**placeholders(session.catalog, columns), **known, **chosen}
        plan = planned(bounds, settings.epsilon)  # what it lacks is bounds, or this says what else
    needed = [column for column in columns if _is_refused(planned, {c: b for c, b in bounds.items() if c != column})]
    bounds = {column: bounds[column] for column in needed}
    left = [column for column in needed if column not in known and column not in chosen]
    if session.exact or settings.epsilon is None or not plan.stages or not (left or chosen):
        return plan if session.exact else planned(bounds, settings.epsilon)
    share = settings.epsilon * SHARE
    before = tuple(Before(plan=ladder_of(session, column, share / len(left)), column=column) for column in left)
    shown = {**bounds, **placeholders(session.catalog, left, 1)}
    return dataclasses.replace(planned(shown, settings.epsilon - share), before=before)


def _plan(session: Session, statement: Statement, catalog: Catalog, settings: QuerySettings) -> ReleasePlan:
    """Where it cannot be planned as one query: its private parts, with the rest as text; or what was said first."""
    try:
        return _asking(session, catalog, lambda given: plan(statement, given, settings))
    except (Refused, SqlError) as refused:
        mixed = None if statement.otherwise is None or refused.code in STAYS else statement.otherwise()
        if mixed is None:
            raise
        first = refused
    try:
        return _asking(session, catalog, lambda given: plan(mixed, given, settings))
    except (Refused, SqlError):
        raise first from None


def releases_alone(session: Session, statement: Statement) -> bool:
    """Whether the query could be released by itself."""
    try:
        return _asking(session, session.catalog, lambda given: can_release(statement, given))
    except (Refused, SqlError):
        return False


def _asking(session: Session, catalog: Catalog, work: Callable[[PlannerInput], T]) -> T:
    """The planner reads nothing: it says which public column's values it lacks, and is asked again with them. It ends, since
    each time it has one column more."""
    while True:
        given = PlannerInput(
            catalog=catalog,
            printed=printed,
            user_tables=session.user_tables,
            keys_of=MappingProxyType(session.keys),
            key_values=answers(session),
            engine=session.engine,
            size_limit=session.size_limit,
        )
        try:
            return work(given)
        except KeysNeeded as needed:
            session.read_keys(*needed.column)


def _is_refused(planned: Callable[[Bounds, Fraction | None], ReleasePlan], bounds: Bounds) -> bool:
    try:
        planned(bounds, Fraction(1))
    except Refused:
        return True
    return False


def ladder_of(session: Session, column: Column, epsilon: Fraction) -> ReleasePlan:
    """The plan of a choice of bounds."""
    settings = QuerySettings(epsilon=epsilon, delta=Fraction(0), mechanism="laplace")
    return ladder(_plan(session, read(question(*column)), session.catalog, settings), column[1], epsilon)


def released_bounds(session: Session) -> dict[Column, Interval]:
    """Of the columns whose bounds are left to the data, those that were chosen before."""
    released = session.released_limits()
    intervals = {column: released_before(released, *column) for column in columns_left_to_data(session.catalog)}
    return {column: bounds for column, bounds in intervals.items() if bounds is not None}
