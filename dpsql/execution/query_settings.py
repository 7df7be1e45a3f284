"""A query's settings: its OPTIONS, then SET and connect(), then what the catalog gives each query."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpsql.errors import SqlError
from dpsql.metadata.delta import check_delta
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit, QuerySettings
from dpsql.session import Session
from dpsql.sql.statement import Accuracy, Option, Relative, Statement, Weights

Said = Mapping[str, Option]


def settings_of(session: Session, statement: Statement) -> QuerySettings:
    chosen, said, per_query = session.defaults, statement.options, session.catalog.per_query
    delta = _fraction(said.get("delta"), chosen.delta if chosen.delta is not None else per_query.delta)
    check_delta(session.catalog, delta, at=None if (option := said.get("delta")) is None else option.at)
    mechanism, split = said.get("mechanism"), said.get("split")
    rows, rows_in_group = _rows(session, said)
    groups = as_limit(said.get("max_groups_contributed"), chosen.groups)
    weights: Weights | None = split.value if split is not None and isinstance(split.value, tuple) else None  # type: ignore[assignment]  # validated by sql/options
    return QuerySettings(
        epsilon=_fraction(said.get("epsilon"), chosen.epsilon or per_query.epsilon),
        rho=_fraction(said.get("rho"), None),
        delta=Fraction(0) if delta is None else delta,
        mechanism=chosen.mechanism if mechanism is None else str(mechanism.value),  # type: ignore[arg-type]  # validated by sql/options
        rows=rows,
        groups=groups,
        rows_in_group=rows_in_group,
        released=session.released_limits() if RELEASED in (rows, groups) else {},
        split=weights,
        error=None if (goal := said.get("error")) is None else str(goal.value),  # type: ignore[arg-type]  # validated
        accuracy=_accuracy(said.get("accuracy")),
        confidence=_fraction(said.get("confidence"), Fraction(95, 100)) or Fraction(95, 100),
        assumed_rows=_integer(said.get("assumed_rows")),
        best=(short := said.get("if_not_enough")) is not None and short.value == "best",
        over_limit=_flag(said, "over_limit"),
        top_k=_flag(said, "top_k", chosen.top_k),
        nonnegative=_flag(said, "nonnegative", chosen.nonnegative),
        intervals=_fraction(said.get("intervals"), chosen.intervals),
        proof=_flag(said, "proof"),
        exact=session.exact,
    )


def wants_fresh(session: Session, statement: Statement) -> bool:
    """Whether new noise is asked, and paid, for what was answered before."""
    return _flag(statement.options, "fresh", session.defaults.fresh)


def as_limit(option: Option | None, default: AskedLimit | None) -> AskedLimit | None:
    """A number, 'auto' or 'released'."""
    if option is None:
        return default
    if isinstance(option.value, str):
        return RELEASED if option.value == RELEASED else AUTO
    return _integer(option)


def _rows(session: Session, said: Said) -> tuple[AskedLimit | None, int | None]:
    """A unit's rows over all groups, or in each: one of the two at most, and what OPTIONS say before any default."""
    rows, in_group = said.get("max_rows_contributed"), said.get("max_rows_per_group")
    if rows is not None and in_group is not None:
        raise SqlError(
            "max_rows_contributed and max_rows_per_group are two limits on the same thing",
            code=119,
            at=in_group.at,
            why="One limits a unit's rows in the whole query, the other in each of its groups.",
            fix="Leave one of them out.",
        )
    if rows is None and in_group is None:
        return session.defaults.rows, session.defaults.rows_in_group
    return as_limit(rows, None), _integer(in_group)


def _flag(said: Said, name: str, default: bool = False) -> bool:
    option = said.get(name)
    return default if option is None else bool(option.value)


def _fraction(option: Option | None, default: Fraction | None) -> Fraction | None:
    if option is None:
        return default
    assert isinstance(option.value, Fraction | int)
    return Fraction(option.value)


def _integer(option: Option | None) -> int | None:
    if option is None:
        return None
    assert isinstance(option.value, Fraction | int)
    return int(option.value)


def _accuracy(option: Option | None) -> Accuracy | None:
    match option.value if option is not None else None:
        case Fraction() | Relative() as one:
            return one
        case tuple() as pairs:
            return tuple(pair for pair in pairs if isinstance(pair, tuple))
        case _:
            return None
