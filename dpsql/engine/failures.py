"""What DuckDB raised, told apart without its message: the message of a failed query quotes cells."""

from __future__ import annotations

import duckdb

from dpsql.engine.backend import Changed, Failure
from dpsql.errors import Error, PostProcessingError, SqlError


def classify(error: BaseException) -> Failure:
    """DuckDB turns Ctrl-C into RuntimeError("Query interrupted"); interrupt() into an InterruptException."""
    if isinstance(error, (KeyboardInterrupt, duckdb.InterruptException)):
        return Failure.INTERRUPTED
    if isinstance(error, RuntimeError) and not isinstance(error, duckdb.Error) and str(error) == "Query interrupted":
        return Failure.INTERRUPTED
    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
        return Failure.OUT_OF_MEMORY
    if isinstance(error, Changed):
        return Failure.CHANGED
    if isinstance(error, duckdb.ResourceInUseException):
        return Failure.IN_USE
    return Failure.FAILED


def first_line(error: BaseException) -> str:
    """The sentence of a message, without DuckDB's excerpt of the statement (it is ours, not the analyst's)."""
    return str(error).partition("\n")[0].strip() or type(error).__name__


def said(kind: str, message: str, *, bound: bool) -> Error:
    """What a statement that ran apart failed with. bound: while its columns were found out, before it ran."""
    if kind == "memory" or "failed to allocate" in message or "Could not write" in message:
        return PostProcessingError("the statement needed more memory or disk than is allowed", code=504)
    line = message.partition("\n")[0].strip() or kind
    return SqlError(line, code=105) if bound or kind in _BEFORE_IT_RUNS else PostProcessingError(line, code=502)


_BEFORE_IT_RUNS = ("BinderException", "CatalogException", "ParserException", "PermissionException", "SyntaxException")
