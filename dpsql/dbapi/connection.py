"""Connections: where a catalog, its data and its budget meet."""

from __future__ import annotations

from typing import Any, Generic, Self, overload

from dpsql import errors
from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import answering, boundary
from dpsql.dbapi.budget import Budget, budget_of
from dpsql.dbapi.cursor import Cursor, Messages
from dpsql.dbapi.given_options import Amountlike, exact_option
from dpsql.dbapi.rows import Row, RowFactory, T, tuple_row
from dpsql.dbapi.statements import charge_of, explain, kind_of, plan_of_text
from dpsql.dbapi.transactions import Transactions
from dpsql.dbapi.user_tables import load_frame
from dpsql.engine.sealed import Closing, Sealed
from dpsql.errors import InterfaceError
from dpsql.execution.planning import Parameters
from dpsql.report.explanation import Explanation
from dpsql.report.privacy import CostReport, cost_report
from dpsql.report.work import Progress
from dpsql.session import Session


class Connection(Sealed, Closing, Transactions, Generic[Row]):
    """One analyst's way to one catalog. Connections to one dataset share its budget."""

    # PEP 249: the exception classes are attributes of the connection too.
    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, session: Session, *, row_factory: RowFactory[Any] = tuple_row) -> None:
        self._session = session
        self.row_factory: RowFactory[Row] = row_factory
        self.notices = session.notices
        """What the owner should be told about the budget's account: that it, or the metadata, changed."""
        self.messages: Messages = [(errors.Warning, errors.Warning(notice)) for notice in self.notices]

    @overload
    def cursor(self) -> Cursor[Row]: ...
    @overload
    def cursor(self, *, row_factory: RowFactory[T]) -> Cursor[T]: ...
    def cursor(self, *, row_factory: RowFactory[Any] | None = None) -> Cursor[Any]:
        """A new cursor; row_factory: what its rows are, where that is not what the connection says."""
        self._check_open()
        return Cursor(self, self._session, self.row_factory if row_factory is None else row_factory)

    def execute(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Cursor[Row]:
        """A new cursor with the statement executed. query_id: a retry with the same id gives the same rows, charged once."""
        return self.cursor().execute(sql, parameters, query_id=query_id)

    def sql(self, sql: str, parameters: Parameters = None) -> Cursor[Row]:
        """DuckDB's word for execute(): conn.sql("SELECT …").show()."""
        return self.execute(sql, parameters)

    @answering
    def load(self, name: str, frame: object) -> None:
        """A table of one's own from a frame (pandas, polars, Arrow, a mapping of columns). It is public, as what
        CREATE TABLE makes: never load people's data this way."""
        self._check_open()
        load_frame(self._session, name, frame)

    @answering
    def explain(self, sql: str, parameters: Parameters = None) -> Explanation:
        """What a query would do and cost: free, and nothing private is read."""
        self._check_open()
        return explain(self._session, sql, parameters)

    @answering
    def cost(self, sql: str, parameters: Parameters = None) -> CostReport:
        """What one run of the query costs."""
        self._check_open()
        return cost_report(plan_of_text(self._session, sql, parameters).cost, self._session.catalog.accounting)

    @answering
    def would_charge(self, sql: str, parameters: Parameters = None) -> CostReport:
        """What running the query now would charge: its cost, or nothing where it would be a free repeat."""
        self._check_open()
        return cost_report(charge_of(self._session, sql, parameters), self._session.catalog.accounting)

    @answering
    def kind_of(self, sql: str) -> str:
        """What running the text would be: "query", "insert", "change" …; an error where it is no statement."""
        self._check_open()
        return kind_of(self._session, sql)

    @property
    def confirm_above(self) -> float | None:
        """The ε above which a person should be asked before a charge (`SET confirm_above`); interfaces for people do."""
        limit = self._session.defaults.confirm_above
        return None if limit is None else float(limit)

    @property
    @boundary
    def budget(self) -> Budget:
        self._check_open()
        return budget_of(self._session.ledger)

    @boundary
    def sub_budget(self, epsilon: Amountlike | None = None, delta: Amountlike | None = None) -> Connection[Row]:
        """A connection that can spend at most this much of the budget, for code that must not spend more.

        What it spends counts in this connection's budget too. None: that part is not limited further. It has tables of
        its own, and ends with this connection.
        """
        self._check_open()
        cap = (exact_option("epsilon", epsilon), exact_option("delta", delta))
        if cap == (None, None):
            raise InterfaceError("a sub-budget needs an amount", code=404, fix="Give epsilon, delta or both.")
        return Connection(self._session.with_sub_budget(*cap), row_factory=self.row_factory)

    @boundary
    def beside(self) -> Connection[Row]:
        """Another connection to the same budget and the same tables of one's own, with transactions of its own: for another
        thread. The tables last as long as one of them."""
        self._check_open()
        return Connection(self._session.beside(), row_factory=self.row_factory)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._session.closed

    @property
    def ledger_head(self) -> str | None:
        """`count:hash` of the ledger's last entry: kept elsewhere, it shows a ledger whose files were put back together."""
        self._check_open()
        return None if self._session.ledger is None else self._session.ledger.head()

    @property
    def restricted(self) -> bool:
        """Whether no interface reads or writes a file for whoever asks: restricted=True, or the metadata says so."""
        return self._session.restricted

    @property
    def catalog(self) -> Catalog:
        return self._session.catalog

    @property
    def analyst(self) -> str | None:
        return self._session.analyst

    @property
    def working(self) -> Progress:
        """How far the running query is; readable from any thread."""
        return self._session.work.now

    def interrupt(self) -> None:
        """Stop the running query; callable from any thread."""
        self._session.interrupt()

    @boundary
    def close(self) -> None:
        """Idempotent. What was spent stays spent."""
        self._session.close()

    def _check_open(self) -> None:
        if self._session.closed:
            raise InterfaceError("the connection is closed", code=601, fix="Open a new one with dpsql.connect().")

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __repr__(self) -> str:
        state = "closed" if self._session.closed else "open"
        loud = ", EXACT: NO NOISE, FOR TESTS ONLY" if self._session.exact else ""
        return f"<dpsql connection to {self._session.catalog.dataset!r} ({state}{loud})>"
