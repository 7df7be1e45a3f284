"""SET, RESET and SHOW ALL: the settings of a connection, and where each one in force comes from."""

from __future__ import annotations

from fractions import Fraction

from dpsql.dbapi.small_tables import Cell, small_table
from dpsql.errors import InternalError
from dpsql.execution.query_settings import as_limit
from dpsql.metadata.delta import check_delta
from dpsql.privacy.settings import Defaults
from dpsql.query import Answer
from dpsql.session import Session
from dpsql.sql.options import SETTINGS
from dpsql.sql.statement import Statement

# by setting: the field of Defaults
FIELDS = {
    "epsilon": "epsilon",
    "delta": "delta",
    "max_rows_contributed": "rows",
    "max_groups_contributed": "groups",
    "max_rows_per_group": "rows_in_group",
    "mechanism": "mechanism",
    "fresh": "fresh",
    "intervals": "intervals",
    "top_k": "top_k",
    "nonnegative": "nonnegative",
    "confirm_above": "confirm_above",
    "time_limit": "time_limit",
}


def set_one(session: Session, statement: Statement) -> Answer:
    option = statement.value
    if option is None:
        raise InternalError("SET without a value")
    value = option.value
    match option.name:
        case "epsilon" | "delta" | "confirm_above":
            assert isinstance(value, Fraction | int)
            if option.name == "delta":
                check_delta(session.catalog, Fraction(value), at=option.at)
            setattr(session.defaults, option.name, Fraction(value))
        case "max_groups_contributed":
            session.defaults.groups = as_limit(option, None)
        case "max_rows_contributed":  # the later of two ways to limit rows counts
            session.defaults.rows, session.defaults.rows_in_group = as_limit(option, None), None
        case "max_rows_per_group":
            session.defaults.rows, session.defaults.rows_in_group = None, int(value)  # type: ignore[arg-type]  # the same
        case _:
            setattr(session.defaults, option.name, value)
    return Answer(kind="set", rows=None)


def reset(session: Session, statement: Statement) -> Answer:
    """Settings as they were when the connection was opened: one, or all."""
    for name in [statement.name] if statement.name else FIELDS:
        setattr(session.defaults, FIELDS[name], getattr(session.connected, FIELDS[name]))
    return Answer(kind="reset", rows=None)


def show_settings(session: Session, statement: Statement) -> Answer:
    """The settings in force: one, or all."""
    names = [statement.name] if statement.name else list(FIELDS)
    rows: list[list[Cell]] = [[name, *_in_force(session, name), SETTINGS[name].takes] for name in names]
    columns = dict.fromkeys(("name", "value", "set_by", "takes"), "VARCHAR")
    return Answer(kind="show_settings", rows=small_table(session, columns, rows))


def _in_force(session: Session, name: str) -> tuple[str | None, str]:
    """The value as SET would take it, and what it comes from."""
    field = FIELDS[name]
    value = getattr(session.defaults, field)
    if value != getattr(session.connected, field):
        return _text(value), "SET"
    if value != getattr(Defaults(), field):
        return _text(value), "connection"
    declared = getattr(session.catalog.per_query, name, None)
    return _text(value if declared is None else declared), "default" if declared is None else "metadata"


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case Fraction():
            return f"{float(value):g}"
        case _:
            return str(value)
