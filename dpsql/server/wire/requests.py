"""The worker's side of the PostgreSQL door: statements are described from their plans, catalog queries answered."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpsql.aggregates import BY_NAME
from dpsql.catalog.model import fold
from dpsql.dbapi.changes import change_here, returned_columns
from dpsql.dbapi.exchange import Tree, malformed, of_tree
from dpsql.dbapi.statements import execute, kind_of
from dpsql.domain.types import Kind, Type
from dpsql.engine.printing import printed
from dpsql.errors import Error
from dpsql.execution.known import check, plan_now
from dpsql.execution.passing import read_for
from dpsql.execution.planning import read
from dpsql.ir.expr import Call, Expr, Literal, children
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import walk
from dpsql.server.wire import types
from dpsql.server.wire.catalog import PgCatalog, type_of
from dpsql.server.wire.catalog_text import cast_oids
from dpsql.server.wire.texts import parameters
from dpsql.session import Session
from dpsql.sql.bind import bind

# Values that no statement has by chance, one of each type: where one is found, its neighbours tell the type.
MARKS: tuple[Any, ...] = (
    *(
        7_310_442_001,
        "dpsql 7310442",
        dt.date(1731, 4, 27),
        dt.datetime(1731, 4, 27, 7, 31, 4),
        7310442.001953125,
        True,
    ),
)
SAMPLES: Mapping[int, Any] = {
    **dict.fromkeys((types.INT2, types.INT4, types.INT8, types.OID), 1),
    **dict.fromkeys((types.FLOAT4, types.FLOAT8, types.NUMERIC), 1.5),
    types.BOOL: True,
    types.DATE: dt.date(2020, 1, 1),
    types.TIMESTAMP: dt.datetime(2020, 1, 1),
    types.TIMESTAMPTZ: dt.datetime(2020, 1, 1),
}


class WireRequests:
    """Of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._catalog = PgCatalog(session)

    def describe(self, request: Mapping[str, Tree]) -> dict[str, Tree]:
        """The types of parameters, and the columns of the result with DuckDB's types; None where it has none."""
        sql, declared, given = request.get("sql"), request.get("oids"), request.get("parameters")
        if not isinstance(sql, str) or not isinstance(declared, list):
            raise malformed("a statement and the types of its parameters are needed")
        values = None if given is None else [of_tree(one) for one in given]
        found_there = self._catalog.columns(sql, values if values is not None else [None] * parameters(sql))
        if found_there is not None:
            return {"oids": cast_oids(sql, declared), "columns": found_there, "catalog": True}
        oids = self._oids(sql, declared)
        if values is None:
            values = [SAMPLES.get(oid) if oid in SAMPLES else "a" for oid in oids]
        try:
            columns = self._columns(sql, values)
        except Error:
            if given is None:  # of a value that is ours nothing is said
                self._columns(sql, [None] * len(values))
            raise
        return {"oids": oids, "columns": columns, "catalog": False}

    def lookup(self, request: Mapping[str, Tree]) -> tuple[list[list[str]], list[tuple[Any, ...]]] | None:
        """The rows of a catalog query; None for any other statement."""
        sql, given = request.get("sql"), request.get("parameters") or []
        if not isinstance(sql, str) or not isinstance(given, list):
            raise malformed("a statement is needed")
        return self._catalog.rows(sql, [of_tree(one) for one in given])

    def _columns(self, sql: str, values: Sequence[Any]) -> list[list[str]] | None:
        kind = kind_of(self._session, sql, list(values))
        match kind:
            case "query":
                statement = read_for(self._session, sql, list(values))
                plan = plan_now(self._session, statement)
                described = check(self._session, plan).columns(self._session.scratch)
                return [[column.name, column.type] for column in described]
            case "explain":
                return [["explain", "VARCHAR"]]
            case "show_tables" | "show_budget" | "show_settings" | "describe":
                rows = execute(self._session, sql, list(values)).rows
                assert rows is not None
                columns = [[column.name, column.type] for column in rows.columns]
                rows.close()
                return columns
            case _:
                change = change_here(self._session, sql)
                returned = None if change is None else returned_columns(self._session, change)
                return None if returned is None else [[column.name, column.type] for column in returned]

    def _oids(self, sql: str, declared: Sequence[int]) -> list[int]:
        """As declared; what is not, from what it meets in the bound statement."""
        count = parameters(sql)
        said = [declared[i] if i < len(declared) else 0 for i in range(count)]
        return [oid if oid not in (0, types.UNKNOWN) else self._oid(sql, said, i) for i, oid in enumerate(said)]

    def _oid(self, sql: str, said: Sequence[int], which: int) -> int:
        for others in (None, 1, "a"):
            for mark in MARKS:
                values = [SAMPLES.get(oid, others) for oid in said]
                values[which] = mark
                oid = self._bound_oid(sql, values, mark)
                if oid is not None:
                    return oid
        return types.TEXT

    def _bound_oid(self, sql: str, values: list[Any], mark: Any) -> int | None:
        """None where the statement does not bind with this value."""
        try:
            statement = read(sql, values)
            if statement.kind == "insert":
                return self._inserted(statement.name, values.index(mark))
            if statement.kind not in ("query", "explain", "create_table_as"):
                return types.TEXT
            tree = bind(
                statement,
                self._session.catalog,
                aggregates=BY_NAME,
                user_tables=self._session.user_tables,
                ids=Ids(),
                printed=printed,
            )
        except Error:
            return None
        met = [type_ for node in walk(tree) for expr in _expressions(node) for type_ in _neighbours(expr, mark)]
        useful = [_oid_of(type_) for type_ in met if type_.kind not in (Kind.NULL, Kind.ANY)]
        return useful[0] if useful else types.INT8 if isinstance(mark, int) and "limit" in sql.lower() else types.TEXT

    def _inserted(self, name: str, which: int) -> int:
        columns = self._session.user_tables.get(fold(name), ())
        return _oid_of(columns[which % len(columns)][1]) if columns else types.TEXT


def _oid_of(type_: Type) -> int:
    return type_of(type_)[0]


def _expressions(value: object) -> Iterator[Expr]:
    """The expressions that a node has, wherever its fields keep them."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _expressions(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, Type):
        for one in dataclasses.fields(value):
            inner = getattr(value, one.name)
            if not _is_node(inner):
                yield from _expressions(inner)


def _is_node(value: object) -> bool:
    return type(value).__module__ == "dpsql.ir.nodes" and hasattr(value, "fields")


def _neighbours(expr: Expr, mark: Any) -> list[Type]:
    """The types of what is beside the mark, in the innermost call that has something beside it."""
    for inner in children(expr):
        below = _neighbours(inner, mark)
        if below:
            return below
    beside = [child for child in children(expr) if not _holds(child, mark)]
    if len(beside) == len(children(expr)):
        return []
    told = [_uncast(child).type for child in beside if not isinstance(_uncast(child), Literal)]
    return told or [child.type for child in beside]


def _uncast(expr: Expr) -> Expr:
    """A column that is cast to the type of what it meets still has its own."""
    while isinstance(expr, Call) and expr.function in ("cast", "try_cast") and len(expr.args) == 1:
        expr = expr.args[0]
    return expr


def _holds(expr: Expr, mark: Any) -> bool:
    return _is_mark(expr, mark) or any(_holds(child, mark) for child in children(expr))


def _is_mark(expr: Expr, mark: Any) -> bool:
    if not isinstance(expr, Literal):
        return False
    if isinstance(mark, bool):
        return expr.value is True
    if isinstance(mark, dt.datetime):
        return expr.value == (mark - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    if isinstance(mark, dt.date):
        return expr.value == (mark - dt.date(1970, 1, 1)).days
    return bool(expr.value == mark)
