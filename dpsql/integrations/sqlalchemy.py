"""The SQLAlchemy dialect: create_engine("dpsql:///metadata/hospital.yaml?epsilon=1&delta=1e-9&analyst=ana").

Reflection reads the catalog, never the data. Two, four slashes: dpsql:///relative.yaml, dpsql:////absolute.yaml.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import default, reflection
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql import compiler
from sqlalchemy.types import TypeEngine

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.dbapi.statements import columns_of
from dpsql.domain.types import Kind, Type
from dpsql.engine.printing import keywords
from dpsql.errors import InterfaceError
from dpsql.session import Session

_TYPES: dict[Kind, type[TypeEngine[Any]]] = {
    Kind.BOOLEAN: types.BOOLEAN,
    Kind.REAL: types.DOUBLE,
    Kind.DATE: types.DATE,
    Kind.TIMESTAMP: types.TIMESTAMP,
    Kind.TEXT: types.VARCHAR,
}
_NUMBERS = ("epsilon", "delta", "budget")
_TEXTS = ("analyst", "ledger", "temp_folder", "source", "memory_limit")


def column_type(type_: Type) -> TypeEngine[Any]:
    """SQLAlchemy's word for a type of the catalog."""
    if type_.kind is Kind.DECIMAL:
        return types.NUMERIC(type_.precision, type_.scale)
    if type_.kind is Kind.INTEGER:
        return {8: types.SMALLINT, 16: types.SMALLINT, 32: types.INTEGER}.get(type_.bits, types.BIGINT)()
    return _TYPES.get(type_.kind, types.NullType)()


class DpsqlIdentifiers(compiler.IdentifierPreparer):
    """Names are compared without case, so a name with capitals needs quotes only where SQLAlchemy must keep them."""

    reserved_words = set(keywords())


class DpsqlTypes(compiler.GenericTypeCompiler):
    """The names of types that CREATE TABLE understands."""

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_DOUBLE_PRECISION(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return "VARCHAR"

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP"


class DpsqlCompiler(compiler.SQLCompiler):
    """Standard SQL; a connection without transactions."""


class DpsqlDialect(default.DefaultDialect):
    """dpsql:// for SQLAlchemy 2. There are no transactions: commit and rollback do nothing, and nothing is refunded."""

    name = "dpsql"
    driver = "dpsql"
    default_paramstyle = "qmark"
    preparer = DpsqlIdentifiers
    type_compiler_cls = DpsqlTypes
    statement_compiler = DpsqlCompiler
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_alter = False
    supports_comments = False
    supports_default_values = False
    supports_empty_insert = False
    supports_multivalues_insert = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    insert_returning = False
    postfetch_lastrowid = False
    requires_name_normalize = False

    @classmethod
    def import_dbapi(cls) -> Any:
        import dpsql

        return dpsql

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """The path of the catalog; what else connect() takes (epsilon, analyst, source, temp_folder, …) as a query."""
        if url.host or url.username or url.password or url.port:
            raise InterfaceError("the URL names a host", code=605, fix="Write dpsql:///path/to/metadata.yaml.")
        if not url.database:
            raise InterfaceError("the URL names no metadata", code=605, fix="Write dpsql:///path/to/metadata.yaml.")
        options: dict[str, Any] = {}
        for name, value in url.query.items():
            if not isinstance(value, str) or name not in (*_NUMBERS, *_TEXTS, "threads"):
                known = ", ".join((*_NUMBERS, *_TEXTS, "threads"))
                raise InterfaceError(
                    f"the URL has an unknown or repeated option {name!r}", code=605, fix=f"There are {known}."
                )
            options[name] = _whole(name, value) if name == "threads" else _budget(value) if name == "budget" else value
        return [url.database], options

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Nothing to take back."""

    def do_commit(self, dbapi_connection: Any) -> None:
        """Nothing to commit."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.execute("SELECT 1").close()
        return True

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        return isinstance(e, InterfaceError) and e.number == 601

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return "AUTOCOMMIT"

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[Any]:
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """AUTOCOMMIT is all there is; SQLAlchemy has checked the level."""

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        import dpsql

        return tuple(int(part) for part in re.findall(r"\d+", dpsql.__version__))

    # Reflection -------------------------------------------------------------------------------------------------

    @reflection.cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        session = _held(connection)
        return [] if schema else [*(t.name for t in session.catalog.tables), *session.user_tables]

    @reflection.cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [] if schema else list(_catalog(connection).views)

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return []

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        session = _held(connection)
        folded = fold(table_name)
        known = session.catalog.table(table_name) is not None or folded in session.user_tables
        return schema is None and (known or folded in map(fold, session.catalog.views))

    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        session = _held(connection)
        spec = session.catalog.table(table_name)
        if spec is not None:
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
        if schema is None and self.has_table(connection, table_name):
            return [_plain(name, type_) for name, type_ in columns_of(session, table_name)]
        raise NoSuchTableError(table_name)

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """A unit path is a foreign key of the catalog."""
        spec = _catalog(connection).table(table_name)
        path = None if spec is None else spec.unit_path
        if path is None:
            return []
        return [
            {
                "name": None,
                "constrained_columns": [mine for mine, _ in path.on],
                "referred_schema": None,
                "referred_table": path.through,
                "referred_columns": [other for _, other in path.on],
                "options": {},
            }
        ]

    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        return []

    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        spec = _catalog(connection).table(table_name)
        columns = () if spec is None else spec.columns
        return [{"name": None, "column_names": [c.name], "duplicates_index": None} for c in columns if c.unique]

    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        return []

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        spec: TableSpec | None = _catalog(connection).table(table_name)
        return {"text": None if spec is None else spec.description or None}


def _held(connection: Any) -> Session:
    """The session below an SQLAlchemy connection."""
    session: Session = connection.connection.dbapi_connection._session
    return session


def _catalog(connection: Any) -> Catalog:
    return _held(connection).catalog


def _plain(name: str, type_: Type) -> Any:
    return {"name": name, "type": column_type(type_), "nullable": True, "default": None, "comment": None}


def _whole(name: str, value: str) -> int:
    if not value.isdigit():
        raise InterfaceError(f"{name} is a whole number", code=605)
    return int(value)


def _budget(value: str) -> Any:
    """A number: the epsilon of a catalog that has no budget."""
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(value)
    except InvalidOperation:
        raise InterfaceError("budget is a number", code=605) from None
