"""Cursors: execute a statement, fetch its rows, read its privacy report."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dpsql.engine.scratch_result import ScratchResult
from dpsql.errors import InterfaceError
from dpsql.query import Answer, Parameters
from dpsql.result import CostReport, Privacy
from dpsql.session import Session
from dpsql.statements import execute

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from dpsql.dbapi.connection import Connection

Row = tuple[Any, ...]
Description = list[tuple[str, str, None, None, None, None, None]]


class Cursor:
    """PEP 249's cursor. After a query: rows, description, privacy."""

    arraysize = 1

    def __init__(self, connection: Connection, session: Session) -> None:
        self.connection = connection
        self._session = session
        self._answer: Answer | None = None
        self._closed = False

    def execute(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Cursor:
        self._check_open()
        self._forget()
        self._answer = execute(self._session, sql, parameters, query_id=query_id)
        return self

    @property
    def description(self) -> Description | None:
        rows = None if self._answer is None else self._answer.rows
        if rows is None:
            return None
        return [(column.name, column.type, None, None, None, None, None) for column in rows.columns]

    @property
    def rowcount(self) -> int:
        if self._answer is None:
            return -1
        return self._answer.changed if self._answer.rows is None else len(self._answer.rows)

    @property
    def privacy(self) -> Privacy | None:
        """The privacy report of the last answer; None where nothing was released."""
        return None if self._answer is None else self._answer.privacy

    @property
    def cost(self) -> CostReport | None:
        return None if self.privacy is None else self.privacy.cost

    def fetchone(self) -> Row | None:
        return self._rows().fetchone()

    def fetchmany(self, size: int | None = None) -> list[Row]:
        return self._rows().fetchmany(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        return self._rows().fetchall()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())

    def df(self) -> pandas.DataFrame:
        """All rows as a pandas DataFrame."""
        return self._rows().df()

    def arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow Table."""
        return self._rows().arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows().__arrow_c_stream__(requested_schema)

    def setinputsizes(self, sizes: object) -> None:
        """PEP 249: allowed to do nothing."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """PEP 249: allowed to do nothing."""

    def close(self) -> None:
        self._forget()
        self._closed = True

    def _rows(self) -> ScratchResult:
        self._check_open()
        if self._answer is None or self._answer.rows is None:
            raise InterfaceError("there are no rows to fetch", code=602, fix="Execute a query first.")
        return self._answer.rows

    def _forget(self) -> None:
        if self._answer is not None and self._answer.rows is not None:
            self._answer.rows.close()
        self._answer = None

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed", code=602, fix="Make a new one with connection.cursor().")
        if self._session.closed:
            raise InterfaceError("the connection is closed", code=601, fix="Open a new one with dpsql.connect().")

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        loud = ", EXACT: NO NOISE, FOR TESTS ONLY" if self._session.exact else ""
        return f"<dpsql cursor ({'closed' if self._closed else 'open'}{loud})>"
