"""What a session can be asked, in its worker: each request by its name, answered through a connection like any other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from dpsql.accounting.releases import as_json, as_markdown, release_as_json
from dpsql.accounting.spending import published, report
from dpsql.aggregates import AGGREGATES
from dpsql.catalog.model import fold
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.exchange import Tree, cost_tree, malformed, of_tree, privacy_tree, to_tree
from dpsql.dbapi.rows import tuple_row
from dpsql.dbapi.statements import columns_of, kind_of
from dpsql.errors import NotSupportedError
from dpsql.functions import FUNCTIONS
from dpsql.report.privacy import Privacy
from dpsql.server.bodies import MOST_ROWS, arrow, csv, too_large
from dpsql.server.budget_changes import change, on_record
from dpsql.server.opening import open_again
from dpsql.server.wire.requests import WireRequests
from dpsql.session import Session

OF_OWNER = ("ledger", "analysts", "temp_folder", "restricted")
LEAVES_NOTHING = frozenset({"query", "explain", "show_tables", "show_budget", "describe"})
Answered = tuple[dict[str, Tree], bytes | None]


class Served:
    """One session's answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._connection: Connection[tuple[Any, ...]] = Connection(session, row_factory=tuple_row)
        self._wire = WireRequests(session)

    def answer(self, request: Mapping[str, Tree]) -> Answered:
        """By the request's name; errors of dpsql come out as they are."""
        name = request.get("ask")
        if not isinstance(name, str) or name not in ASKED:
            raise malformed("there is no such request")
        return ASKED[name](self, request)

    def query(self, request: Mapping[str, Tree]) -> Answered:
        """Any statement; as: "rows" (JSON), "csv" or "arrow" in the body. alone: it may leave nothing in the session."""
        sql, parameters = _statement(request)
        if request.get("alone") and kind_of(self._session, sql, parameters) not in LEAVES_NOTHING:
            raise NotSupportedError(
                "without a session nothing can be set or kept",
                code=704,
                fix="Open a session first: dpsql.connect() and psql do; over HTTP, POST /v1/sessions.",
            )
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters, query_id=_text_or_none(request, "query_id"))
            return self._told(cursor, request.get("as", "rows"))

    def release(self, request: Mapping[str, Tree]) -> Answered:
        """A release that is named, and its rows: free, whoever asks."""
        released, answer = open_again(self._session, request)
        with self._connection.cursor() as cursor:
            cursor._keep(answer)
            told, body = self._told(cursor, request.get("as", "rows"))
        return {**told, "release": release_as_json(released, sql=True)}, body

    def _told(self, cursor: Cursor[tuple[Any, ...]], form: Tree) -> Answered:
        answer = cursor._answer
        assert answer is not None
        told: dict[str, Tree] = {"kind": answer.kind, "changed": answer.changed, "columns": None, "rows": None}
        told["in_transaction"] = self._connection.in_transaction
        if answer.rows is None:
            return {**told, "privacy": None}, None
        if len(answer.rows) > MOST_ROWS:
            raise too_large()
        told["columns"] = [[column.name, column.type] for column in answer.rows.columns]
        rows = answer.rows.head(MOST_ROWS)
        if form == "arrow":
            return {**told, "privacy": self._report(cursor.privacy, [], [])}, arrow(cursor)
        if form == "csv":
            return {**told, "privacy": self._report(cursor.privacy, [], [])}, csv(told["columns"], rows)
        told["rows"] = [[to_tree(cell) for cell in row] for row in rows]
        return {**told, "privacy": self._report(cursor.privacy, rows, [name for name, _ in told["columns"]])}, None

    @staticmethod
    def _report(privacy: Privacy | None, rows: list[tuple[Any, ...]], names: list[str]) -> Tree:
        if privacy is None:
            return None
        return {**privacy_tree(privacy, rows), "swamped": list(privacy.swamped(names, rows))}

    def many(self, request: Mapping[str, Tree]) -> Answered:
        """INSERT with each of many parameters."""
        sql, given = _statement({**request, "parameters": None})[0], request.get("many")
        if not isinstance(given, list):
            raise malformed("many is a list of parameters")
        with self._connection.cursor() as cursor:
            cursor.executemany(sql, [_parameters(one) for one in given])
            return {"changed": cursor.rowcount, "in_transaction": self._connection.in_transaction}, None

    def transaction(self, request: Mapping[str, Tree]) -> Answered:
        """commit, rollback, or from now on "automatic" or "manual", for tables of one's own."""
        match request.get("do"):
            case "commit":
                self._connection.commit()
            case "rollback":
                self._connection.rollback()
            case "automatic" | "manual" as mode:
                self._connection.autocommit = mode == "automatic"
            case _:
                raise malformed("do is commit, rollback, automatic or manual")
        return {"in_transaction": self._connection.in_transaction}, None

    def pg_describe(self, request: Mapping[str, Tree]) -> Answered:
        """For PostgreSQL's clients: the types of parameters and columns, from the plan."""
        return self._wire.describe(request), None

    def pg_query(self, request: Mapping[str, Tree]) -> Answered:
        """For PostgreSQL's clients: any statement, catalog queries too."""
        looked_up = self._wire.lookup(request)
        if looked_up is None:
            return self.query(request)
        columns, rows = looked_up
        sent = [[to_tree(cell) for cell in row] for row in rows]
        return {"kind": "catalog", "changed": -1, "columns": columns, "rows": sent, "privacy": None}, None

    def explain(self, request: Mapping[str, Tree]) -> Answered:
        """The plan as text and as a tree."""
        explanation = self._connection.explain(*_statement(request))
        privacy = privacy_tree(explanation.privacy, [])
        return {"text": str(explanation), "tree": explanation.to_dict(), "privacy": privacy}, None

    def metadata(self, request: Mapping[str, Tree]) -> Answered:
        """What analysts may know of the metadata: not where data and ledger are, nor who else may ask."""
        path = self._session.catalog.path
        assert path is not None  # a server serves a file
        tree: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
        kept = {name: value for name, value in tree.items() if name not in OF_OWNER}
        if isinstance(kept.get("tables"), dict):
            kept["tables"] = {
                name: {key: value for key, value in table.items() if key != "source"}
                for name, table in kept["tables"].items()
            }
        return {"metadata": to_tree(kept)}, None

    def cost(self, request: Mapping[str, Tree]) -> Answered:
        """What it costs, and what running it now would charge."""
        sql, parameters = _statement(request)
        cost, charge = self._connection.cost(sql, parameters), self._connection.would_charge(sql, parameters)
        return {"cost": cost_tree(cost), "would_charge": cost_tree(charge)}, None

    def budget(self, request: Mapping[str, Tree]) -> Answered:
        """The dataset's, and this analyst's; of other analysts nothing."""
        budget = self._connection.budget
        name = self._session.analyst or ""
        of_analyst = {name: budget.per_analyst[name]} if name in budget.per_analyst else {}
        held = dataclasses.replace(budget, per_analyst=of_analyst)
        return {"budget": budget_tree(held)}, None

    def releases(self, request: Mapping[str, Tree]) -> Answered:
        """The release table, with statements: of this analyst; everybody: of all, which the service allows owners. As
        Markdown without them, to publish."""
        ledger, name = self._session.ledger, self._session.analyst
        assert ledger is not None  # a server has no exact mode
        everybody = bool(request.get("everybody"))
        if not everybody and name not in ledger.balance(name).per_analyst:
            return {"releases": []}, b"" if request.get("as") == "markdown" else None
        table = published(ledger) if everybody else published(ledger, name)
        if request.get("as") == "markdown":
            return {}, as_markdown(table).encode()
        return as_json(table, sql=True), None

    def functions(self, request: Mapping[str, Tree]) -> Answered:
        """What a statement can call: the aggregates of private rows, and functions."""
        aggregates = [{"name": one.name, "signature": one.signature, "doc": one.doc} for one in AGGREGATES]
        functions = [{"name": name, "signature": one.signature, "doc": one.doc} for name, one in FUNCTIONS.items()]
        return {"aggregates": aggregates, "functions": functions}, None

    def ledger(self, request: Mapping[str, Tree]) -> Answered:
        """Whether the ledger holds, and its head, to keep elsewhere."""
        ledger = self._session.ledger
        assert ledger is not None
        bad = ledger.verify()
        return {"ok": bad is None, "wrong": None if bad is None else str(bad), "head": ledger.head()}, None

    def spending(self, request: Mapping[str, Tree]) -> Answered:
        """What is left, and who spent it on which plans: for the owner."""
        ledger = self._session.ledger
        assert ledger is not None
        return report(ledger).to_dict(), None

    def change(self, request: Mapping[str, Tree]) -> Answered:
        """A grant or a limit, which the service allows owners; and the budget after it."""
        assert self._session.ledger is not None
        change(self._session.ledger, request, self._session.analyst or "")
        return self.spending(request)

    def changes(self, request: Mapping[str, Tree]) -> Answered:
        """Grants and limits on record: for the owner."""
        assert self._session.ledger is not None
        return {"changes": on_record(self._session.ledger)}, None

    def tables(self, request: Mapping[str, Tree]) -> Answered:
        """What can be asked about: the metadata's tables and views with their columns, and the user's own."""
        catalog = self._session.catalog
        kinds = {table.name: "public" if table.public else "private" for table in catalog.tables}
        kinds |= dict.fromkeys(catalog.views, "view") | dict.fromkeys(self._session.user_tables, "yours")
        about = {fold(table.name): table for table in catalog.tables}
        listed = []
        for name, kind in kinds.items():
            spec = about.get(fold(name))
            columns = [[column, str(type_)] for column, type_ in columns_of(self._session, name)]
            listed.append(
                {
                    "name": name,
                    "kind": kind,
                    "columns": columns,
                    "description": "" if spec is None else spec.description,
                }
            )
        return {"dataset": catalog.dataset, "unit": catalog.unit, "tables": listed}, None


def budget_tree(budget: Any) -> dict[str, Tree]:
    """A Budget; None where nothing limits."""
    most = budget.max_per_query
    return {
        "total": cost_tree(budget.total),
        "spent": cost_tree(budget.spent),
        "left": cost_tree(budget.left),
        "max_per_query": None if most is None else cost_tree(most),
        "per_analyst": {name: budget_tree(inner) for name, inner in budget.per_analyst.items()},
    }


def _statement(request: Mapping[str, Tree]) -> tuple[str, Any]:
    sql = request.get("sql")
    if not isinstance(sql, str):
        raise malformed("sql is a text")
    return sql, _parameters(request.get("parameters"))


def _parameters(tree: Tree) -> Any:
    if isinstance(tree, list):
        return [of_tree(one) for one in tree]
    if isinstance(tree, dict):
        return {name: of_tree(one) for name, one in tree.items()}
    if tree is not None:
        raise malformed("parameters are a list or an object")
    return None


def _text_or_none(request: Mapping[str, Tree], name: str) -> str | None:
    value = request.get(name)
    if value is not None and not isinstance(value, str):
        raise malformed(f"{name} is a text")
    return value


ASKED: Mapping[str, Callable[[Served, Mapping[str, Tree]], Answered]] = {
    "query": Served.query,
    "many": Served.many,
    "pg_describe": Served.pg_describe,
    "pg_query": Served.pg_query,
    "transaction": Served.transaction,
    "explain": Served.explain,
    "cost": Served.cost,
    "budget": Served.budget,
    "releases": Served.releases,
    "release": Served.release,
    "functions": Served.functions,
    "ledger": Served.ledger,
    "spending": Served.spending,
    "grant": Served.change,
    "limit": Served.change,
    "changes": Served.changes,
    "tables": Served.tables,
    "metadata": Served.metadata,
}
