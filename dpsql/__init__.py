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

if TYPE_CHECKING:
    from dpsql import testing
    from dpsql.catalog.load import load as load_catalog
    from dpsql.catalog.model import Catalog
    from dpsql.dbapi import Connection, Cursor, connect

__version__ = "0.1.0"

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not a connection
paramstyle = "qmark"  # ? and, beyond PEP 249's one word, $1 and $name

_LAZY = {
    "Catalog": "dpsql.catalog.model",
    "Connection": "dpsql.dbapi",
    "Cursor": "dpsql.dbapi",
    "connect": "dpsql.dbapi",
    "testing": "dpsql.testing",
}


def __getattr__(name: str) -> object:
    if name == "load_catalog":
        return importlib.import_module("dpsql.catalog.load").load
    if name not in _LAZY:
        raise AttributeError(f"module 'dpsql' has no attribute {name!r}")
    module = importlib.import_module(_LAZY[name])
    return module if name == "testing" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "BudgetError",
    "Catalog",
    "CatalogError",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Error",
    "ExecutionError",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "LedgerError",
    "NotSupportedError",
    "OperationalError",
    "PostProcessingError",
    "ProgrammingError",
    "Refused",
    "SourceError",
    "SqlError",
    "TamperedLedger",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "load_catalog",
    "paramstyle",
    "testing",
    "threadsafety",
]
