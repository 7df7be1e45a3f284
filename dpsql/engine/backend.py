"""What an engine must give, and what the vault makes sure of whatever the engine is.

A backend opens tables and describes them from their schema alone. Every query begins one `Run`: all that is asked of it sees
the same rows. Names of the tables that a statement may read besides are those of its loads.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from dpsql.engine.sources import Array, ArrowStream, Column, Columns
from dpsql.errors import ExecutionError

Loads = Mapping[str, Columns | ArrowStream]
Described = tuple[
    str, str, bool
]  # a column's name, its type (BIGINT or VARCHAR, on every engine), whether it may be NULL
BIGINT, VARCHAR = "BIGINT", "VARCHAR"


class Failure(enum.Enum):
    """What went wrong, told apart without the engine's message, which may quote a cell."""

    INTERRUPTED = "interrupted"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_TIME = "out of time"
    IN_USE = "in use"
    CHANGED = "changed"
    FAILED = "failed"


class Changed(Exception):
    """The sources are not what they were when the run began, or the vault was opened."""


class Run(Protocol):
    """One query's look at the data, used by one thread at a time; only `interrupt` may come from another."""

    def start(self) -> None:
        """Connect and begin, unless that is done: reads nothing. SourceError where the source cannot be reached."""

    def execute(self, sql: str, loads: Loads) -> Sequence[tuple[str, str]] | None:
        """Run one SELECT over the tables and `loads`, which are tables for this statement alone. The columns' names and
        types: BIGINT and VARCHAR are 64-bit integers and text, any other word is what `fetch` does not read. None for
        anything but one SELECT."""

    def fetch(self) -> dict[str, Array]:
        """What was executed: BIGINT as int64 (masked if a NULL came), VARCHAR as objects (str or None)."""

    def check(self) -> None:
        """Raise Changed if what was fetched may come from other rows than what was fetched before."""

    def interrupt(self) -> None:
        """Stop what is executed now; callable from any thread, again and again, and when nothing is."""

    def close(self) -> None:
        """Never raises."""


class Backend(Protocol):
    """Opened tables of one engine. Runs may overlap."""

    @property
    def name(self) -> str:
        """The dialect's: "duckdb", "postgresql"."""

    def columns(self, table: str) -> tuple[Column, ...]:
        """The source's own columns, from its schema only; types in the engine's words."""

    def relation(self, table: str, *, row_number: bool = False) -> str:
        """The SQL to put after FROM; with row_number there is the BIGINT column "__row" too."""

    def unnumbered(self, table: str) -> str | None:
        """What the source is, where its rows have no lasting number: "a view". None where "__row" is the same in every scan
        of a run, and no two rows share one."""

    def computed(self, table: str) -> str | None:
        """What is computed as the source is read that may fail on a stored value, or answer otherwise another time: "a view
        with the function int4div(integer,integer)". None where reading is known to answer, with the rows that are stored."""

    def identity(self, table: str) -> Mapping[str, str]:
        """What the engine says the source is: never a host or a user. Empty of files and frames."""

    def begin(self) -> Run:
        """A run that has not started."""

    def classify(self, error: BaseException) -> Failure:
        """OUT_OF_TIME also of what was stopped, where the engine has one word for both: the vault knows whom it stopped."""

    def close(self) -> None: ...


def wrong_columns(described: Sequence[tuple[str, str]], expected: Sequence[Described] | None) -> str:
    """What is wrong with a statement's columns, or "": anything but BIGINT and VARCHAR would be fetched inexactly."""
    for name, type_ in described:
        if type_ not in (BIGINT, VARCHAR):
            return f"the vault's column {name} is a {type_}, neither BIGINT nor VARCHAR"
    if expected is not None and list(described) != [(name, type_) for name, type_, _ in expected]:
        return "the vault's columns are not those of the statement"
    if len({name for name, _ in described}) < len(described):
        return "two of the vault's columns have one name"
    return ""


def wrong_values(values: Mapping[str, Array], expected: Sequence[Described] | None) -> str:
    """What is wrong with a statement's values, or ""."""
    if any(not nullable and _has_null(values[name]) for name, _, nullable in expected or ()):
        return "the vault answered NULL where there is none"
    return ""


def _has_null(values: Array) -> bool:
    if values.dtype.kind == "O":
        return any(value is None for value in values)
    return bool(np.ma.getmaskarray(values).any())


def not_begun(failure: Failure) -> ExecutionError:
    """What is said where a query could not begin: it is not charged yet."""
    match failure:
        case Failure.CHANGED:
            return ExecutionError(
                "a source was written to or altered after it was opened",
                code=505,
                fix="Nothing was charged. Connect again.",
            )
        case Failure.FAILED:
            return ExecutionError(
                "the engine could not begin the query",
                code=500,
                fix="Nothing was charged. Details are in the owner's log.",
            )
        case _:
            return opaque(failure)


def opaque(failure: Failure) -> ExecutionError:
    """What is said of a failure on private data."""
    match failure:
        case Failure.INTERRUPTED:
            return ExecutionError("the query was interrupted", code=503)
        case Failure.CHANGED:
            return ExecutionError(
                "a source was written to or altered while the query ran",
                code=505,
                fix="Nothing was released, and the charge stays. Replace files as a whole, between queries.",
            )
        case Failure.OUT_OF_MEMORY:
            return ExecutionError(
                "the query needed more memory or disk than is allowed", code=504, fix="The owner can raise the limits."
            )
        case Failure.OUT_OF_TIME:
            return ExecutionError(
                "the query took longer than is allowed", code=506, fix="The owner can raise the source's `timeout:`."
            )
        case _:
            return ExecutionError(
                "the engine could not finish the query", code=500, fix="Details are in the owner's log."
            )
