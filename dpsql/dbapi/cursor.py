"""Cursors: execute a statement, fetch its rows, read its privacy report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self

from dpsql import errors
from dpsql.dbapi.boundary import answering
from dpsql.dbapi.rows import Description, Row, RowFactory, RowMaker
from dpsql.dbapi.served import Served
from dpsql.dbapi.statements import execute, execute_many
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Closing, Sealed
from dpsql.errors import InterfaceError, NotSupportedError
from dpsql.execution.planning import Parameters
from dpsql.query import Answer
from dpsql.session import Session

if TYPE_CHECKING:
    from dpsql.dbapi.connection import Connection

SHOWN_NAMES = 6
Messages = list[tuple[type[Exception], Exception]]


class Cursor(Sealed, Closing, Served, Generic[Row]):
    """PEP 249's cursor. After a query: rows, description, privacy.

    A SELECT is run and charged by execute(); fetching its rows, in whatever form and however often, costs nothing.
    """

    lastrowid: None = None  # PEP 249: None where the database has no row ids

    def __init__(self, connection: Connection[Any], session: Session, row_factory: RowFactory[Row]) -> None:
        self._connection = connection
        self._session = session
        self._restricted = session.restricted
        self._row_factory = row_factory
        self._make_row: RowMaker[Row] | None = None
        self._answer: Answer | None = None
        self._fetched = 0
        self._closed = False
        self._arraysize = 1
        self.messages: Messages = []

    @property
    def connection(self) -> Connection[Any]:
        """The connection that made this cursor."""
        return self._connection

    @answering
    def execute(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Self:
        """Run one statement. query_id: a retry with the same id gives the same rows, charged once."""
        self._begin()
        self._keep(execute(self._session, sql, parameters, query_id=query_id))
        return self

    @answering
    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> Self:
        """Run an INSERT once for each of the parameters. Anything else is refused: a query asked many times would be
        charged many times."""
        self._begin()
        self._keep(execute_many(self._session, sql, parameters))
        return self

    def callproc(self, name: str, parameters: Sequence[object] = ()) -> Sequence[object]:
        """PEP 249 names it; dpsql has no stored procedures."""
        self._check_open()
        raise NotSupportedError("dpsql has no stored procedures", code=122, fix="Execute a SELECT.")

    @property
    def description(self) -> Description | None:
        """For each column (name, type code, None, None, precision, scale, None); None without a result."""
        rows = None if self._answer is None else self._answer.rows
        if rows is None:
            return None
        return [(column.name, column.type, None, None, *_digits(column.type), None) for column in rows.columns]

    @property
    def rowcount(self) -> int:
        """Rows of the result, or rows that INSERT added; -1 before anything was executed."""
        if self._answer is None:
            return -1
        return self._answer.changed if self._answer.rows is None else len(self._answer.rows)

    @property
    def rownumber(self) -> int | None:
        """The position of the next row in the result, from 0; None without a result."""
        return None if self._answer is None or self._answer.rows is None else self._fetched

    @property
    def arraysize(self) -> int:
        """How many rows fetchmany() fetches by itself."""
        return self._arraysize

    @arraysize.setter
    def arraysize(self, size: int) -> None:
        self._arraysize = _row_number(size, at_least=1)

    def fetchone(self) -> Row | None:
        """The next row; None after the last."""
        rows = self._took(self._rows().fetchmany(1))
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, at most `size` (arraysize where it is not given)."""
        wanted = self._arraysize if size is None else _row_number(size, at_least=0)
        return self._took(self._rows().fetchmany(wanted))

    def fetchall(self) -> list[Row]:
        """The rows not yet fetched."""
        return self._took(self._rows().fetchall())

    def nextset(self) -> None:
        """PEP 249: None, a statement has one result."""
        self._check_open()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        rows = self._took(self._rows().fetchmany(1))
        if not rows:
            raise StopIteration
        return rows[0]

    def setinputsizes(self, sizes: object) -> None:
        """PEP 249: allowed to do nothing."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """PEP 249: allowed to do nothing."""

    def close(self) -> None:
        """Idempotent. Discards the rows."""
        self._forget()
        self._closed = True

    def _took(self, rows: list[tuple[Any, ...]]) -> list[Row]:
        if self._make_row is None:
            self._make_row = self._row_factory(self)
        self._fetched += len(rows)
        return [self._make_row(row) for row in rows]

    def _served(self) -> Answer:
        self._check_open()
        if self._answer is None or self._answer.rows is None:
            raise InterfaceError("there are no rows to fetch", code=602, fix="Execute a query first.")
        return self._answer

    def _rows(self) -> ScratchResult:
        rows = self._served().rows
        assert rows is not None
        return rows

    def _begin(self) -> None:
        self._check_open()
        self._forget()
        self.messages.clear()
        self._connection.messages.clear()

    def _keep(self, answer: Answer) -> None:
        self._answer = answer
        notes = () if answer.privacy is None else answer.privacy.notes
        self.messages += [(errors.Warning, errors.Warning(note)) for note in notes]

    def _forget(self) -> None:
        if self._answer is not None and self._answer.rows is not None and not self._session.closed:
            self._answer.rows.close()
        self._answer, self._make_row, self._fetched = None, None, 0

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed", code=602, fix="Make a new one with connection.cursor().")
        if self._session.closed:
            raise InterfaceError("the connection is closed", code=601, fix="Open a new one with dpsql.connect().")

    def __enter__(self) -> Self:
        self._check_open()
        return self

    _repr_pretty_ = Served._repr_pretty_  # IPython takes the one of the class that has __repr__

    def __repr__(self) -> str:
        loud = ", EXACT: NO NOISE, FOR TESTS ONLY" if self._session.exact else ""
        return f"<dpsql cursor ({'closed' if self._closed else 'open'}{loud}{self._holds()})>"

    def _holds(self) -> str:
        """What a prompt shows for a cursor: how many rows it holds, of which columns, and what they cost."""
        answer = self._answer
        if self._closed or answer is None or answer.rows is None or not answer.rows.is_open:
            return ""
        names = ", ".join(column.name for column in answer.rows.columns[:SHOWN_NAMES])
        more = ", …" if len(answer.rows.columns) > SHOWN_NAMES else ""
        cost = "" if self.cost is None else f"; cost {self.cost}"
        rows = f"{len(answer.rows)} row{'' if len(answer.rows) == 1 else 's'}"
        return f"; {rows} of {names}{more}{cost}"


def _digits(code: str) -> tuple[int, int] | tuple[None, None]:
    """The precision and scale of a decimal's type code."""
    match = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", code)  # not of a list of them
    return (None, None) if match is None else (int(match[1]), int(match[2]))


def _row_number(size: object, *, at_least: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < at_least:
        raise InterfaceError(f"a number of rows must be a whole number of at least {at_least}, not {size!r}", code=603)
    return size
