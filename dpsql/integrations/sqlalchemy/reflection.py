"""What inspect(engine) says: of the metadata's tables from the catalog, of the analyst's from their database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy.engine import default, reflection
from sqlalchemy.exc import NoSuchTableError

from dpsql.catalog.model import TableSpec, fold
from dpsql.dbapi.statements import columns_of
from dpsql.integrations.sqlalchemy.types import column_type, type_named
from dpsql.session import Session

MAIN = "main"
_TABLES = "SELECT table_name, temporary FROM duckdb_tables() WHERE NOT internal AND {place} ORDER BY table_oid"
_VIEWS = "SELECT view_name, temporary FROM duckdb_views() WHERE NOT internal AND {place} ORDER BY view_oid"
_KEYS = """SELECT constraint_type, constraint_name, constraint_column_names, referenced_table, referenced_column_names,
    expression FROM duckdb_constraints() WHERE table_name = ? AND {place} ORDER BY constraint_index"""
_HERE = "database_name = 'scratch' AND schema_name = ?"
_ANYWHERE = "(database_name = 'temp' OR (database_name = 'scratch' AND schema_name = ?))"


class Reflection(default.DefaultDialect):
    """The half of the dialect that reads names, columns and keys."""

    default_schema_name = MAIN

    def _get_default_schema_name(self, connection: Any) -> str:
        return MAIN

    # Names

    @reflection.cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        sql = "SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'scratch' ORDER BY oid"
        names = [name for (name,) in _session(connection).user.rows(sql)]
        return [MAIN, *(name for name in names if name not in (MAIN, *_public_schemas(_session(connection))))]

    @reflection.cache
    def has_schema(self, connection: Any, schema_name: str, **kw: Any) -> bool:
        return schema_name in self.get_schema_names(connection)

    @reflection.cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        session = _session(connection)
        catalog = [t.name for t in session.catalog.tables] if schema in (None, MAIN) else []
        return [*catalog, *(name for name, temporary in _listed(session, _TABLES, schema) if not temporary)]

    @reflection.cache
    def get_temp_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, temporary in _listed(_session(connection), _TABLES, schema, _ANYWHERE) if temporary]

    @reflection.cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        session = _session(connection)
        catalog = list(session.catalog.views) if schema in (None, MAIN) else []
        return [*catalog, *(name for name, temporary in _listed(session, _VIEWS, schema) if not temporary)]

    @reflection.cache
    def get_temp_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, temporary in _listed(_session(connection), _VIEWS, schema, _ANYWHERE) if temporary]

    @reflection.cache
    def get_sequence_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        sql = f"SELECT sequence_name FROM duckdb_sequences() WHERE {_HERE} ORDER BY sequence_oid"
        return [name for (name,) in _session(connection).user.rows(sql, (schema or MAIN,))]

    @reflection.cache
    def has_sequence(self, connection: Any, sequence_name: str, schema: str | None = None, **kw: Any) -> bool:
        return fold(sequence_name) in map(fold, self.get_sequence_names(connection, schema))

    @reflection.cache
    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        self._ensure_has_table_connection(connection)
        return _of_catalog(_session(connection), table_name, schema) or bool(_columns(connection, table_name, schema))

    # Columns

    @reflection.cache
    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        session = _session(connection)
        if _of_catalog(session, table_name, schema):
            spec = session.catalog.table(table_name)
            return _view_columns(session, table_name) if spec is None else _spec_columns(spec)
        rows = _columns(connection, table_name, schema)
        if not rows:
            raise NoSuchTableError(table_name)
        return [_column(*row) for row in rows]

    @reflection.cache
    def get_view_definition(self, connection: Any, view_name: str, schema: str | None = None, **kw: Any) -> str:
        session = _session(connection)
        if _of_catalog(session, view_name, schema):
            for name, sql in session.catalog.views.items():
                if fold(name) == fold(view_name):
                    return str(getattr(sql, "text", sql))
        sql = f"SELECT sql FROM duckdb_views() WHERE lower(view_name) = ? AND {_ANYWHERE}"
        rows = session.user.rows(sql, (fold(view_name), schema or MAIN))
        if not rows:
            raise NoSuchTableError(view_name)
        return str(rows[0][0]).rstrip(";")

    @reflection.cache
    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        session = _session(connection)
        spec = session.catalog.table(table_name) if _of_catalog(session, table_name, schema) else None
        if spec is not None:
            return {"text": spec.description or None}
        self._must_be_there(connection, table_name, schema)
        sql = f"""SELECT comment FROM (SELECT table_name AS n, comment, database_name, schema_name FROM duckdb_tables()
            UNION ALL SELECT view_name, comment, database_name, schema_name FROM duckdb_views())
            WHERE lower(n) = ? AND {_ANYWHERE}"""
        rows = session.user.rows(sql, (fold(table_name), schema or MAIN))
        return {"text": rows[0][0] if rows else None}

    # Keys

    @reflection.cache
    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        for kind, name, columns, *_ in self._keys(connection, table_name, schema):
            if kind == "PRIMARY KEY":
                return {"constrained_columns": list(columns), "name": name}
        return {"constrained_columns": [], "name": None}

    @reflection.cache
    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """A unit path is a foreign key of the catalog."""
        session = _session(connection)
        if _of_catalog(session, table_name, schema):
            spec = session.catalog.table(table_name)
            path = None if spec is None else spec.unit_path
            pairs = () if path is None else path.on
            return (
                []
                if path is None
                else [_foreign_key(None, [a for a, _ in pairs], schema, path.through, [b for _, b in pairs])]
            )
        return [
            _foreign_key(name, list(columns), schema, other, list(referred))
            for kind, name, columns, other, referred, _ in self._keys(connection, table_name, schema)
            if kind == "FOREIGN KEY"
        ]

    @reflection.cache
    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        session = _session(connection)
        spec = session.catalog.table(table_name) if _of_catalog(session, table_name, schema) else None
        if spec is not None:
            return [{"name": None, "column_names": [c.name]} for c in spec.columns if c.unique]
        return [
            {"name": name, "column_names": list(columns)}
            for kind, name, columns, *_ in self._keys(connection, table_name, schema)
            if kind == "UNIQUE"
        ]

    @reflection.cache
    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        return [
            {"name": name, "sqltext": _bare(str(expression))}
            for kind, name, _, _, _, expression in self._keys(connection, table_name, schema)
            if kind == "CHECK"
        ]

    @reflection.cache
    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        session = _session(connection)
        if _of_catalog(session, table_name, schema):
            return []
        self._must_be_there(connection, table_name, schema)
        sql = f"""SELECT index_name, is_unique, expressions FROM duckdb_indexes()
            WHERE lower(table_name) = ? AND {_ANYWHERE} ORDER BY index_name"""
        return [_index(*row) for row in session.user.rows(sql, (fold(table_name), schema or MAIN))]

    def _keys(self, connection: Any, table_name: str, schema: str | None) -> list[tuple[Any, ...]]:
        session = _session(connection)
        if _of_catalog(session, table_name, schema):
            return []
        self._must_be_there(connection, table_name, schema)
        name = _columns(connection, table_name, schema)[0][0]
        return session.user.rows(_KEYS.format(place=_ANYWHERE), (name, schema or MAIN))

    def _must_be_there(self, connection: Any, table_name: str, schema: str | None) -> None:
        if not _columns(connection, table_name, schema):
            raise NoSuchTableError(table_name)


def _session(connection: Any) -> Session:
    """The session below an SQLAlchemy connection."""
    session: Session = connection.connection.dbapi_connection._session
    return session


def _of_catalog(session: Session, name: str, schema: str | None) -> bool:
    """Whether the metadata has a table or a view of that name."""
    return schema in (None, MAIN) and session.catalog.has(name)


def _public_schemas(session: Session) -> set[str]:
    """Schemas that only show public tables under their longer names."""
    return {fold(part) for spec in session.catalog.tables for part in spec.qualifiers}


def _listed(session: Session, sql: str, schema: str | None, place: str = _HERE) -> list[tuple[str, bool]]:
    rows = session.user.rows(sql.format(place=place), (schema or MAIN,))
    return [(name, temporary) for name, temporary in rows if not _of_catalog(session, name, schema)]


def _columns(connection: Any, table_name: str, schema: str | None) -> list[tuple[Any, ...]]:
    place = _HERE if schema else _ANYWHERE
    sql = f"""SELECT table_name, column_name, data_type, column_default, is_nullable, comment, is_generated
        FROM duckdb_columns() WHERE lower(table_name) = ? AND {place} ORDER BY database_name = 'scratch', column_index"""
    rows = _session(connection).user.rows(sql, (fold(table_name), schema or MAIN))
    return [row for row in rows if row[0] == rows[0][0]]


def _column(_: str, name: str, type_: str, default: str | None, nullable: bool, comment: str | None, made: bool) -> Any:
    column = {"name": name, "type": type_named(type_), "nullable": nullable, "comment": comment}
    if made:
        return {**column, "default": None, "computed": {"sqltext": _uncast(default or "")}}
    counted = default is not None and re.match(r"nextval\(", default) is not None
    return {**column, "default": default, "autoincrement": counted}


def _uncast(expression: str) -> str:
    """A generated column's expression, without the cast to its type."""
    match = re.fullmatch(r"CAST\((.*) AS [^()]*(?:\([^()]*\))?\)", expression, re.DOTALL)
    return _bare(expression if match is None else match[1])


def _bare(expression: str) -> str:
    """Without the parentheses around all of it."""
    depth = 0
    for place, sign in enumerate(expression):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and place < len(expression) - 1:
            return expression
    return expression[1:-1] if expression.startswith("(") else expression


def _spec_columns(spec: TableSpec) -> list[Any]:
    return [
        {
            "name": column.name,
            "type": column_type(column.type),
            "nullable": column.nullable,
            "default": None,
            "comment": column.description or None,
        }
        for column in spec.columns
    ]


def _view_columns(session: Session, name: str) -> list[Any]:
    return [
        {"name": column, "type": column_type(type_), "nullable": True, "default": None, "comment": None}
        for column, type_ in columns_of(session, name)
    ]


def _foreign_key(name: str | None, columns: list[str], schema: str | None, other: str, referred: list[str]) -> Any:
    return {
        "name": name,
        "constrained_columns": columns,
        "referred_schema": schema,
        "referred_table": other,
        "referred_columns": referred,
        "options": {},
    }


def _index(name: str, unique: bool, expressions: str) -> Any:
    parts = list(_parts(expressions))
    plain = [None if part.startswith("(") else part for part in parts]
    index = {"name": name, "unique": unique, "column_names": plain, "dialect_options": {}}
    if None in plain:
        index["expressions"] = [_bare(part) for part in parts]
    return index


def _parts(expressions: str) -> Iterator[str]:
    """DuckDB's list of what an index is over: names, in quotes where they need them, and expressions in parentheses."""
    for match in re.finditer(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"]|\"\")*)\"|([^,\s][^,]*)", expressions.strip()[1:-1]):
        text = next(part for part in match.groups() if part is not None)
        yield re.sub(r"\\(.)", r"\1", text).replace('""', '"').strip('"')
