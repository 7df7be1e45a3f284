"""What DuckDB raised, told apart without its message: the message of a failed query quotes cells."""

from __future__ import annotations

import enum

import duckdb


class Failure(enum.Enum):
    INTERRUPTED = "interrupted"
    OUT_OF_MEMORY = "out of memory"
    IN_USE = "in use"
    CHANGED = "changed"
    FAILED = "failed"


def classify(error: BaseException) -> Failure:
    """DuckDB turns Ctrl-C into RuntimeError("Query interrupted"); interrupt() into an InterruptException."""
    if isinstance(error, (KeyboardInterrupt, duckdb.InterruptException)):
        return Failure.INTERRUPTED
    if isinstance(error, RuntimeError) and not isinstance(error, duckdb.Error) and str(error) == "Query interrupted":
        return Failure.INTERRUPTED
    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
        return Failure.OUT_OF_MEMORY
    if isinstance(error, duckdb.ResourceInUseException):
        return Failure.IN_USE
    return Failure.FAILED


def first_line(error: BaseException) -> str:
    """The sentence of a message, without DuckDB's excerpt of the statement (it is ours, not the analyst's)."""
    return str(error).partition("\n")[0].strip() or type(error).__name__
