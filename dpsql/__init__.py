"""dpsql: differentially private SQL. `connect()` opens a catalog; everything a user needs is on this page.

Nothing heavy is imported until it is used: `import dpsql` loads neither DuckDB nor numpy nor pandas.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dpsql.errors import (
    BudgetError,
    CatalogError,
    DatabaseError,
    DataError,
    Error,
    ExecutionError,
    IntegrityError,
    InterfaceError,
    InternalError,
    Interrupted,
    LedgerError,
    NotSupportedError,
    OperationalError,
    PostProcessingError,
    ProgrammingError,
    Refused,
    SourceError,
    SqlError,
    TamperedLedger,
    Warning,  # noqa: A004 - PEP 249 names it so
)
from dpsql.version import VERSION

if TYPE_CHECKING:
    from dpsql import testing
    from dpsql.catalog.model import Catalog
    from dpsql.dbapi import Budget, Connection, Cursor, connect
    from dpsql.dbapi.rows import class_row, dict_row, namedtuple_row, scalar_row, tuple_row
    from dpsql.dbapi.type_objects import (
        BINARY,
        DATETIME,
        NUMBER,
        ROWID,
        STRING,
        Binary,
        Date,
        DateFromTicks,
        Time,
        TimeFromTicks,
        Timestamp,
        TimestampFromTicks,
    )
    from dpsql.frames import PrivateFrame
    from dpsql.metadata.load import load as load_catalog

__version__ = VERSION

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not a connection
paramstyle = "qmark"  # ? and, beyond PEP 249's one word, $1 and $name

_ROWS: tuple[str, ...] = ("class_row", "dict_row", "namedtuple_row", "scalar_row", "tuple_row")
_TYPE_OBJECTS: tuple[str, ...] = (
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Date",
    "DateFromTicks",
    "Time",
)
_TYPE_OBJECTS += ("TimeFromTicks", "Timestamp", "TimestampFromTicks")
_LAZY = {
    "Budget": "dpsql.dbapi",
    "Catalog": "dpsql.catalog.model",
    "Connection": "dpsql.dbapi",
    "Cursor": "dpsql.dbapi",
    "PrivateFrame": "dpsql.frames",
    "connect": "dpsql.dbapi",
    **dict.fromkeys(_ROWS, "dpsql.dbapi.rows"),
    **dict.fromkeys(_TYPE_OBJECTS, "dpsql.dbapi.type_objects"),
}


def __getattr__(name: str) -> object:
    if name == "load_catalog":
        return importlib.import_module("dpsql.metadata.load").load
    if name == "testing":
        return importlib.import_module("dpsql.testing")
    if name not in _LAZY:
        raise AttributeError(f"module 'dpsql' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def load_ipython_extension(shell: object) -> None:
    """`%load_ext dpsql` in a notebook: the cell magic %%dpsql."""
    importlib.import_module("dpsql.integrations.ipython").register(shell)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "BINARY",
    "Binary",
    "Budget",
    "BudgetError",
    "Catalog",
    "CatalogError",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "ExecutionError",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "Interrupted",
    "LedgerError",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "PostProcessingError",
    "PrivateFrame",
    "ProgrammingError",
    "ROWID",
    "Refused",
    "STRING",
    "SourceError",
    "SqlError",
    "TamperedLedger",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "class_row",
    "connect",
    "dict_row",
    "load_catalog",
    "namedtuple_row",
    "paramstyle",
    "scalar_row",
    "testing",
    "threadsafety",
    "tuple_row",
]
