"""Connections: where a catalog, its data and its budget meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Self, overload

from dpsql import errors
from dpsql.accounting.account import Amount, Balance, Cap
from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import answering, boundary
from dpsql.dbapi.cursor import Cursor, Messages
from dpsql.dbapi.rows import Row, RowFactory, T, TupleRow, tuple_row
from dpsql.dbapi.statements import charge_of, explain, plan_text
from dpsql.dbapi.user_tables import load_frame
from dpsql.engine.sealed import Closing, Sealed
from dpsql.errors import InterfaceError, NotSupportedError
from dpsql.execution.planning import Parameters
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit
from dpsql.report.explanation import Explanation
from dpsql.report.privacy import CostReport, amount_report, cost_report
from dpsql.session import Session, open_session
from dpsql.sql import options

Amountlike = int | float | str | Decimal | Fraction


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Budget:
    """total, spent and left, each with .epsilon and .delta (None: not limited); the same for each analyst.

    max_per_query: the most a single query may cost; None without such a cap. Under `accounting: zcdp` the .rho and
    .delta_keys of total, spent and left are what is enforced; .epsilon and .delta are converted from them, for the reader.
    """

    total: CostReport
    spent: CostReport
    left: CostReport
    per_analyst: Mapping[str, Budget] = field(default_factory=lambda: MappingProxyType({}))
    max_per_query: CostReport | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        most = "" if self.max_per_query is None else f"; one query at most {self.max_per_query}"
        lines = [f"total {self.total}; spent {self.spent}; left {self.left}{most}"]
        return "\n".join([*lines, *(f"  {name}: {budget}" for name, budget in self.per_analyst.items())])


@overload
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Connection[TupleRow]: ...
@overload
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    row_factory: RowFactory[T],
) -> Connection[T]: ...
@boundary
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    row_factory: RowFactory[Any] = tuple_row,
) -> Connection[Any]:
    """Open a catalog (a YAML file, a dict, or a Catalog) for querying.

    epsilon, delta, max_rows_contributed, max_groups_contributed: of each query that does not say otherwise; ε and δ are
    never the total. source: the data, where the catalog does
    not say (a frame, {table: frame or file}, a .duckdb file). budget: for a catalog that has none; ledger: for one that is
    no file. temp_folder: where rows that do not fit into memory are written down. restricted: no files for whoever asks.
    row_factory: what its cursors' rows are, tuples unless said. Nothing private is read before a query is charged.
    """
    session = open_session(
        catalog,
        source=source,
        analyst=analyst,
        epsilon=exact_option("epsilon", epsilon),
        delta=exact_option("delta", delta),
        rows=_limit("max_rows_contributed", max_rows_contributed),
        groups=_limit("max_groups_contributed", max_groups_contributed),
        budget=budget,
        ledger=ledger,
        temp_folder=temp_folder,
        restricted=restricted,
        memory_limit=memory_limit,
        threads=threads,
    )
    return Connection(session, row_factory=row_factory)


def exact_option(name: str, value: Amountlike | None) -> Fraction | None:
    """The same validation as OPTIONS and SET."""
    if value is None:
        return None
    raw = options.number(value) if isinstance(value, str) else options.raw_of(value)
    checked = None if raw is None or isinstance(raw, bool) else options.OPTIONS[name].check(raw)
    if not isinstance(checked, Fraction | int):
        raise InterfaceError(
            f"{name}={value!r} is not possible", code=119, fix=f"{name} takes {options.OPTIONS[name].takes}."
        )
    return Fraction(checked)


def _limit(name: str, value: int | str | None) -> AskedLimit | None:
    """A number, 'auto' or 'released': the same validation as OPTIONS and SET."""
    if value is None:
        return None
    if isinstance(value, str) and value.casefold() in options.LIMIT_WORDS:
        return AUTO if value.casefold() == AUTO else RELEASED
    checked = exact_option(name, value)
    return None if checked is None else int(checked)


class Connection(Sealed, Closing, Generic[Row]):
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
        return cost_report(plan_text(self._session, sql, parameters).cost, self._session.catalog.accounting)

    @answering
    def would_charge(self, sql: str, parameters: Parameters = None) -> CostReport:
        """What running the query now would charge: its cost, or nothing where it would be a free repeat."""
        self._check_open()
        return cost_report(charge_of(self._session, sql, parameters), self._session.catalog.accounting)

    @property
    def confirm_above(self) -> float | None:
        """The ε above which a person should be asked before a charge (`SET confirm_above`); interfaces for people do."""
        limit = self._session.defaults.confirm_above
        return None if limit is None else float(limit)

    @property
    @boundary
    def budget(self) -> Budget:
        self._check_open()
        ledger = self._session.ledger
        if ledger is None:
            nothing = CostReport(epsilon=None, delta=None)
            return Budget(total=nothing, spent=CostReport(epsilon=0.0, delta=0.0), left=nothing)
        return replace(budget_of(ledger.balance()), max_per_query=_cap_report(ledger.account.per_query))

    @boundary
    def sub_budget(self, epsilon: Amountlike | None = None, delta: Amountlike | None = None) -> Connection[Row]:
        """A connection that can spend at most this much of the budget, for code that shall not spend more.

        What it spends counts in this connection's budget too. None: that part is not limited further. It has tables of
        its own, and ends with this connection.
        """
        self._check_open()
        cap = (exact_option("epsilon", epsilon), exact_option("delta", delta))
        if cap == (None, None):
            raise InterfaceError("a sub-budget of how much?", code=404, fix="Give epsilon, delta or both.")
        return Connection(self._session.with_sub_budget(*cap), row_factory=self.row_factory)

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

    def commit(self) -> None:
        """Every charge is durable at once; there is nothing to commit."""
        self._check_open()
        self.messages.clear()

    def rollback(self) -> None:
        """Nothing that was released can be taken back, and no charge is refunded."""
        self._check_open()
        self.messages.clear()

    @property
    def autocommit(self) -> bool:
        """Always: a charge is durable before its query runs."""
        return True

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if not value:
            raise NotSupportedError(
                "dpsql has no transactions",
                code=122,
                why="What a query has released cannot be taken back, and a charge is never refunded.",
            )

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


def budget_of(balance: Balance) -> Budget:
    return Budget(
        total=amount_report(balance.total),
        spent=amount_report(balance.spent),
        left=amount_report(balance.left),
        per_analyst={name: budget_of(inner) for name, inner in balance.per_analyst.items()},
    )


def _cap_report(cap: Cap | None) -> CostReport | None:
    return None if cap is None else amount_report(Amount(epsilon=cap[0], delta=cap[1]))
