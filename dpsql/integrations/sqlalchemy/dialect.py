"""The dialect: connecting, transactions, what DuckDB's tables can do.

Two, four slashes: dpsql:///relative.yaml, dpsql:////absolute.yaml. An engine's connections share the tables of one's own.
"""

from __future__ import annotations

import re
import weakref
from typing import Any

from sqlalchemy.engine.interfaces import BindTyping
from sqlalchemy.engine.url import URL
from sqlalchemy.sql.compiler import InsertmanyvaluesSentinelOpts

from dpsql.dbapi.connection import Connection
from dpsql.errors import InterfaceError
from dpsql.integrations.sqlalchemy.compiler import DpsqlCompiler, DpsqlContext, DpsqlDDL, DpsqlIdentifiers
from dpsql.integrations.sqlalchemy.reflection import Reflection
from dpsql.integrations.sqlalchemy.types import COLSPECS, DpsqlTypes

_NUMBERS = ("epsilon", "delta", "budget")
_TEXTS = ("analyst", "ledger", "temp_folder", "source", "memory_limit")
_LEVELS = ("SERIALIZABLE", "AUTOCOMMIT")


class DpsqlDialect(Reflection):
    """dpsql:// for SQLAlchemy 2. Transactions are of one's own tables; nothing that was released is taken back."""

    name = "dpsql"
    driver = "dpsql"
    default_paramstyle = "qmark"
    bind_typing = BindTyping.NONE
    preparer = DpsqlIdentifiers
    type_compiler_cls = DpsqlTypes
    statement_compiler = DpsqlCompiler
    ddl_compiler = DpsqlDDL
    execution_ctx_cls = DpsqlContext
    colspecs = COLSPECS
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_native_uuid = True
    supports_alter = False  # constraints are said in CREATE TABLE
    supports_comments = True
    inline_comments = False
    supports_sequences = True
    sequences_optional = True
    preexecute_autoincrement_sequences = True
    supports_default_values = True
    supports_default_metavalue = True
    supports_empty_insert = False
    supports_multivalues_insert = True
    supports_is_distinct_from = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_sane_rowcount_returning = False
    insert_returning = update_returning = delete_returning = True
    insert_executemany_returning = True
    update_returning_multifrom = delete_returning_multifrom = True
    use_insertmanyvalues = True
    insertmanyvalues_implicit_sentinel = InsertmanyvaluesSentinelOpts.ANY_AUTOINCREMENT
    postfetch_lastrowid = False
    requires_name_normalize = False
    div_is_floordiv = False
    tuple_in_values = False

    def __init__(self, json_serializer: Any = None, json_deserializer: Any = None, **kw: Any) -> None:
        super().__init__(**kw)
        self._json_serializer, self._json_deserializer = json_serializer, json_deserializer
        self._open: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()

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

    def connect(self, *cargs: Any, **cparams: Any) -> Any:
        """Connections of one engine share one set of tables, which lasts as long as one of them."""
        opened = next((one for one in list(self._open) if not one.closed), None)
        made: Any = super().connect(*cargs, **cparams) if opened is None else opened.beside()
        made.autocommit = False
        self._open.add(made)
        return made

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        compiled = None if context is None else context.compiled
        for first in getattr(compiled, "before", ()):
            cursor.execute(first)
        cursor.execute(statement, parameters)
        for last in getattr(compiled, "after", ()):
            cursor.execute(last)

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.execute("SELECT 1").close()
        return True

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        return isinstance(e, InterfaceError) and e.number == 601

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return _LEVELS[0]

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[Any]:
        return list(_LEVELS)

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "AUTOCOMMIT" if dbapi_connection.autocommit else "SERIALIZABLE"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return bool(dbapi_conn.autocommit)

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        import dpsql

        return tuple(int(part) for part in re.findall(r"\d+", dpsql.__version__))


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
