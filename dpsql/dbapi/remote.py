"""A connection to a dpsql server: the same driver, whose statements run there. Results are held in a scratch here, which
knows every form of handing rows over."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self, cast

from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import boundary
from dpsql.dbapi.budget import Budget
from dpsql.dbapi.channel import Channel
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.exchange import Tree, cost_of, of_tree, privacy_of, to_tree
from dpsql.dbapi.rows import Row, RowFactory
from dpsql.dbapi.sent_rows import held_rows
from dpsql.dbapi.telling import Asked, Tell, tell_of, telling
from dpsql.engine.scratch import Scratch
from dpsql.errors import Error, InterfaceError, Interrupted, NotSupportedError
from dpsql.execution.planning import Parameters
from dpsql.metadata.load import load
from dpsql.privacy.settings import Defaults
from dpsql.query import Answer
from dpsql.report.explanation import Explanation
from dpsql.report.privacy import CostReport, Privacy
from dpsql.report.work import Work
from dpsql.session import Session

OF_SERVER = ("source", "analyst", "budget", "ledger", "temp_folder", "memory_limit", "threads")


@dataclass(slots=True, kw_only=True)
class RemoteSession:
    """What this end knows of a session: how it is asked, and what connections and cursors look at."""

    channel: Channel
    name: str
    catalog: Catalog
    analyst: str
    scratch: Scratch = field(default_factory=Scratch)
    defaults: Defaults = field(default_factory=Defaults)
    ledger: None = None
    notices: tuple[str, ...] = ()
    restricted: bool = False
    exact: bool = False
    closed: bool = False
    in_transaction: bool = False
    autocommit: bool = True
    turn: threading.RLock = field(default_factory=threading.RLock)
    work: Work = field(default_factory=Work)
    tell: Tell | None = None

    def ask(self, method: str, what: str, **told: Tree) -> dict[str, Tree]:
        """A request within the session. Ctrl-C stops the statement there, too."""
        with self.turn:
            try:
                with telling(self):
                    answer = self.channel.ask(method, f"/v1/sessions/{self.name}/{what}", told or None)
                self.in_transaction = bool(answer.get("in_transaction", self.in_transaction))
                return answer
            except KeyboardInterrupt:
                self.interrupt()
                why = "What it may have charged stays charged: SHOW BUDGET shows it."
                raise Interrupted("interrupted", why=why) from None

    def interrupt(self) -> None:
        """From any thread."""
        with contextlib.closing(self.channel.another()) as channel:
            channel.ask("POST", f"/v1/sessions/{self.name}/stop")

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(Error):  # it ended before, or the server did
            self.channel.ask("DELETE", f"/v1/sessions/{self.name}")
        self.channel.close()
        self.scratch.close()


class RemoteConnection(Connection[Row]):
    """Like any other, but for what only the owner's own process can do."""

    _session: RemoteSession  # type: ignore[assignment]  # what the two have in common is what the driver uses

    def cursor(self, *, row_factory: RowFactory[Any] | None = None) -> Cursor[Any]:
        self._check_open()
        factory = self.row_factory if row_factory is None else row_factory
        return RemoteCursor(self, cast(Session, self._session), factory)

    def load(self, name: str, frame: object) -> None:
        raise _not_here("load()", "Use CREATE TABLE and executemany(INSERT …).")

    @boundary
    def explain(self, sql: str, parameters: Parameters = None) -> Explanation:
        self._check_open()
        told = self._session.ask("POST", "explain", sql=sql, parameters=_sent(parameters))
        return cast(Explanation, SentExplanation(told["text"], told["tree"], privacy_of(told["privacy"], [])))

    def cost(self, sql: str, parameters: Parameters = None) -> CostReport:
        return self._costs(sql, parameters, "cost")

    def would_charge(self, sql: str, parameters: Parameters = None) -> CostReport:
        return self._costs(sql, parameters, "would_charge")

    @boundary
    def _costs(self, sql: str, parameters: Parameters, which: str) -> CostReport:
        self._check_open()
        return cost_of(self._session.ask("POST", "cost", sql=sql, parameters=_sent(parameters))[which])

    @property
    def budget(self) -> Budget:
        return self._budget()

    @boundary
    def _budget(self) -> Budget:
        self._check_open()
        return _budget_of(self._session.ask("GET", "budget")["budget"])

    def beside(self) -> Connection[Row]:
        raise _not_here("beside()", "Open another connection with dpsql.connect().")

    def sub_budget(self, epsilon: object = None, delta: object = None) -> Connection[Row]:
        raise _not_here("sub_budget()", "Ask the owner for an account with a cap.")

    def commit(self) -> None:
        self._transaction("commit")

    def rollback(self) -> None:
        self._transaction("rollback")

    @boundary
    def _transaction(self, do: str) -> None:
        self._check_open()
        self.messages.clear()
        if self._session.in_transaction or do in ("automatic", "manual"):
            self._session.ask("POST", "transaction", do=do)

    @property
    def in_transaction(self) -> bool:
        """As of any connection."""
        self._check_open()
        return self._session.in_transaction

    @property
    def autocommit(self) -> bool:
        """As of any connection."""
        return self._session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._transaction("automatic" if value else "manual")
        self._session.autocommit = bool(value)

    @property
    def ledger_head(self) -> str | None:
        """The owner's business."""
        return None


class RemoteCursor(Cursor[Row]):
    """Its statements run at the server; its rows are here."""

    _session: RemoteSession  # type: ignore[assignment]  # as above

    @boundary
    def execute(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Self:
        self._begin()
        sent = {"sql": sql, "parameters": _sent(parameters), "query_id": query_id, "cells": "tagged"}
        told = self._session.ask("POST", "query", **sent)
        self._note(sql, told["kind"])
        self._keep(self._answer_of(told))
        return self

    @boundary
    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> Self:
        self._begin()
        told = self._session.ask("POST", "many", sql=sql, many=[_sent(one) for one in parameters])
        self._keep(Answer(kind="insert", rows=None, changed=told["changed"]))
        return self

    def _answer_of(self, told: Mapping[str, Tree]) -> Answer:
        if told["columns"] is None:
            return Answer(kind=told["kind"], rows=None, changed=told["changed"])
        rows = [tuple(of_tree(cell) for cell in row) for row in told["rows"]]
        privacy = None if told["privacy"] is None else privacy_of(told["privacy"], rows)
        return Answer(kind=told["kind"], rows=held_rows(self._session.scratch, told["columns"], rows), privacy=privacy)

    def _note(self, sql: str, kind: str) -> None:
        """SET confirm_above is for people at this end."""
        if kind == "set" and "confirm_above" in sql:
            from dpsql.dbapi.statements import KINDS
            from dpsql.execution.planning import read

            statement = read(sql)
            if statement.value is not None and statement.value.name == "confirm_above":
                KINDS["set"](cast(Session, self._session), statement)


@dataclass(frozen=True, slots=True)
class SentExplanation:
    """str() for reading, to_dict() for programs."""

    text: str
    tree: dict[str, Any]
    privacy: Privacy

    def to_dict(self) -> dict[str, Any]:
        return self.tree

    def __str__(self) -> str:
        return self.text


def connect_remote(
    address: str, token: str | None, row_factory: RowFactory[Any], given: Mapping[str, object]
) -> RemoteConnection[Any]:
    """A session at a server. given: connect()'s other arguments."""
    wrong = [name for name in OF_SERVER if given.get(name) is not None]
    if wrong:
        raise InterfaceError(f"{wrong[0]}= is set by the server", code=610, fix=f"Leave {wrong[0]}= out.")
    token = token or os.environ.get("DPSQL_TOKEN")
    if not token:
        raise InterfaceError(
            "a server needs a token",
            code=700,
            fix="Give token=, or set the variable DPSQL_TOKEN; the owner makes tokens.",
        )
    channel = Channel(address, token)
    analyst = channel.ask("GET", "/v1/me")["name"]
    name = channel.ask("POST", "/v1/sessions")["session"]
    catalog = load(of_tree(channel.ask("GET", f"/v1/sessions/{name}/metadata")["metadata"]))
    session = RemoteSession(channel=channel, name=name, catalog=catalog, analyst=analyst)
    session.restricted = bool(given.get("restricted"))
    session.tell = tell_of(cast(Asked, given.get("progress")))
    connection: RemoteConnection[Any] = RemoteConnection(cast(Session, session), row_factory=row_factory)
    try:
        for option in ("epsilon", "delta", "max_rows_contributed", "max_groups_contributed"):
            if given.get(option) is not None:
                connection.execute(f"SET {option} = {_literal(given[option])}").close()
    except BaseException:  # whatever it is: the session ends with it, and it is raised again
        connection.close()
        raise
    return connection


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) and value.isalpha() else str(value)


def _sent(parameters: Parameters) -> Tree:
    if parameters is None:
        return None
    if isinstance(parameters, Mapping):
        return {str(name): to_tree(_plain(value)) for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        from dpsql.errors import SqlError

        raise SqlError("parameters are a list or a dict", code=109, fix="Pass [value, …] or {'name': value, …}.")
    return [to_tree(_plain(value)) for value in parameters]


def _plain(value: object) -> object:
    """numpy's numbers as Python's."""
    item = getattr(value, "item", None)
    return item() if callable(item) and type(value).__module__ == "numpy" else value


def _budget_of(tree: Mapping[str, Tree]) -> Budget:
    most = tree["max_per_query"]
    return Budget(
        total=cost_of(tree["total"]),
        spent=cost_of(tree["spent"]),
        left=cost_of(tree["left"]),
        max_per_query=None if most is None else cost_of(most),
        per_analyst=MappingProxyType({name: _budget_of(inner) for name, inner in tree["per_analyst"].items()}),
    )


def _not_here(what: str, fix: str) -> NotSupportedError:
    return NotSupportedError(f"{what} does not work over a server", code=122, fix=fix)
