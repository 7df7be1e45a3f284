"""Running one statement for a client: the session's own, cursors, and what the worker answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.dbapi.exchange import of_tree, to_tree
from dpsql.errors import Error, InterfaceError, NotSupportedError, SqlError
from dpsql.server.asked import Asked
from dpsql.server.service import QueryService
from dpsql.server.sessions import Session
from dpsql.server.wire import types
from dpsql.server.wire.copying import copy_of
from dpsql.server.wire.named import execute_of, prepare_of
from dpsql.server.wire.portals import Columns, Portal, Prepared, Result, tag_of
from dpsql.server.wire.startup import Begin
from dpsql.server.wire.texts import Token, first_words, parameters, tokens
from dpsql.server.wire.transactions import FAILED, IDLE, OPEN, Reply, Transaction

READING = {
    (word,)
    for word in ("select", "with", "from", "values", "explain", "show", "describe", "set", "declare", "fetch", "copy")
}
MOST_KEPT = 1000  # prepared statements of one client, and portals
MOST_BYTES = 16 << 20  # of both, with their values


class Statements:
    """Of one client: its session, its transaction's status, its prepared statements and portals."""

    def __init__(self, service: QueryService, account: str, session: Session) -> None:
        self._service = service
        self.account = account
        self.session = session
        self.transaction = Transaction()
        self.prepared: dict[str, Prepared] = {}
        self.portals: dict[str, Portal] = {}
        self._asked_now: Asked | None = None
        self._begun = False  # whether the worker has begun the transaction, too

    def keep_statement(self, name: str, prepared: Prepared) -> None:
        """With a bound on how many there are, and on their bytes. The one without a name is replaced."""
        if name and name in self.prepared:
            raise SqlError(f"there is a prepared statement {name[:60]!r}", code=106, fix="Close it first.")
        self._room(self.prepared, name, prepared.size)
        self.prepared[name] = prepared

    def keep_portal(self, name: str, portal: Portal) -> None:
        """As statements; what its rows take counts for the account."""
        self._room(self.portals, name, portal.size)
        self.portals[name] = portal

    def _room(self, kept: Mapping[str, Prepared | Portal], name: str, size: int) -> None:
        before = kept[name].size if name in kept else 0
        all_of_them = sum(one.size for one in self.prepared.values()) + sum(one.size for one in self.portals.values())
        if (name not in kept and len(kept) >= MOST_KEPT) or all_of_them - before + size > MOST_BYTES:
            raise SqlError(
                "too many prepared statements or cursors, or too large ones",
                code=702,
                fix="Close some of them: DEALLOCATE ALL; CLOSE ALL.",
            )

    @property
    def unread(self) -> int:
        """Bytes of rows that are kept for it."""
        return sum(one.rows_size for one in self.portals.values())

    def end_of_batch(self) -> None:
        """As in PostgreSQL: outside of a transaction portals end here. Cursors that were declared stay."""
        if self.transaction.status == IDLE:
            self.portals = {name: one for name, one in self.portals.items() if one.declared}

    def withdraw(self) -> None:
        """The client is gone: what waits does not run."""
        if self._asked_now is not None:
            self._asked_now.withdraw()

    def check(self) -> None:
        """Before each message, also one that is answered from rows that are kept: 700 if the account was revoked."""
        self._service.still(self.account)

    async def run(self, sql: str, values: Sequence[Any]) -> Result:
        """The result; an error is raised, and fails the transaction."""
        if self.transaction.status == FAILED and not _ends(sql):
            raise SqlError("the transaction failed: statements are ignored until ROLLBACK", code=709)
        reply = self.transaction.reply(sql)
        if reply is not None:
            await self._follow(reply)
            return self._of_session(reply)
        if self.transaction.status == OPEN and not self._begun and first_words(sql, 1)[:1] not in READING:
            await self._asked("BEGIN", [])
            self._begun = True
        match tokens(sql):
            case [Token() as first, Token() as name, *rest] if first.word == "declare":
                return await self._declare(name.word, sql, rest, values)
            case [Token() as first, *_] as parts if first.word == "prepare":
                named, prepared = prepare_of(sql, parts)
                await self.know_parameters(prepared)
                self.keep_statement(named, prepared)
                return Result("PREPARE")
            case [Token() as first, *_] as parts if first.word == "execute":
                prepared, bound = await self._bound(parts)
                return await self.run(prepared.sql, bound)
            case [Token() as first, *rest] if first.word in ("fetch", "move"):
                return self._fetch(first.word, [part.word or part.text for part in rest])
            case [Token() as first, *_] as parts if first.word == "copy":
                copy = copy_of(sql, parts)
                result = await self._asked(copy.query, values)
                tag = f"COPY {len(result.rows)}"
                return Result(tag, result.columns, result.rows, result.notice, copy, result.size)
            case _:
                return await self._asked(sql, values)

    async def begin(self, asked: Begin) -> None:
        """As if each setting had been SET; what is refused is raised. The worker has dpsql's own from its start: here it
        is started. The timeout is for what comes after."""
        transaction = Transaction()
        transaction.begin(asked.others)
        if asked.statements:
            await self._asked("SHOW ALL", [])
        self.transaction = transaction

    async def columns(self, prepared: Prepared, values: Sequence[Any] | None) -> Columns | None:
        """Of a statement that does not run yet: from its plan."""
        if not tokens(prepared.sql):
            return None
        reply = Transaction(self.transaction.status, dict(self.transaction.settings)).reply(prepared.sql)
        if reply is not None:
            return None if reply.shown is None else [[reply.shown[0], "VARCHAR"]]
        words = [part.word or part.text for part in tokens(prepared.sql)]
        if words[0] in ("declare", "copy", "prepare"):
            return None
        if words[0] == "execute":
            return await self.columns(*await self._bound(tokens(prepared.sql)))
        if words[0] in ("fetch", "move"):
            return self._cursor(words[1:]).columns if words[0] == "fetch" else None
        described = await self.describe(prepared, values)
        return described[1]

    def statement(self, name: str) -> Prepared:
        """The prepared statement of that name."""
        if name not in self.prepared:
            raise InterfaceError(f"there is no prepared statement {name[:60]!r}", code=602)
        return self.prepared[name]

    async def know_parameters(self, prepared: Prepared, given: int | None = None) -> None:
        """Their types: what the client did not say, the plan does; once. given: how many values came."""
        count = parameters(prepared.sql)
        if given is not None and given != count and tokens(prepared.sql):
            raise SqlError(f"{given} parameters were sent, {count} are needed", code=109)
        said = len(prepared.oids) >= count and all(oid not in (0, types.UNKNOWN) for oid in prepared.oids[:count])
        if said or not count or prepared.described:
            return
        if tokens(prepared.sql)[0].word in ("declare", "copy"):
            prepared.oids = tuple(oid or types.TEXT for oid in (*prepared.oids, *[0] * count)[:count])
            return
        oids, prepared.columns = await self.describe(prepared, None)
        prepared.oids, prepared.described = tuple(oids), True

    async def _bound(self, parts: list[Token]) -> tuple[Prepared, list[Any]]:
        """Of an EXECUTE: its statement and values."""
        name, values = execute_of(parts)
        prepared = self.statement(name)
        if first_words(prepared.sql, 1) == ("execute",):  # Parse takes any statement, this one too
            raise NotSupportedError("EXECUTE of an EXECUTE", code=122, fix="Execute the statement that it names.")
        await self.know_parameters(prepared, len(values))
        return prepared, [types.decoded(v, oid, 0) for v, oid in zip(values, prepared.oids, strict=False)]

    async def describe(self, prepared: Prepared, values: Sequence[Any] | None) -> tuple[list[int], Columns | None]:
        """The types of its parameters, and its columns."""
        asked: dict[str, Any] = {"ask": "pg_describe", "sql": prepared.sql, "oids": list(prepared.oids)}
        asked["parameters"] = None if values is None else [to_tree(one) for one in values]
        told, _ = await self._ask(asked)
        return list(told["oids"]), told["columns"]

    async def _asked(self, sql: str, values: Sequence[Any]) -> Result:
        told, _ = await self._ask({"ask": "pg_query", "sql": sql, "parameters": [to_tree(one) for one in values]})
        rows = None if told["rows"] is None else await asyncio.to_thread(_cells, told["rows"])
        privacy = told.get("privacy")
        notice = "" if privacy is None else str(privacy["text"])
        tag, size = tag_of(told["kind"], sql, told["changed"], rows), told.get("size", 0)
        return Result(tag, told["columns"], rows or (), notice, size=size)

    async def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes | None]:
        account = self._service.still(self.account)
        self._asked_now = asked = Asked()
        timeout = self.transaction.timeout
        timer = None if timeout is None else asyncio.get_running_loop().call_later(timeout, asked.stop)
        try:
            return await self._service.ask(account, "postgres", request, self.session, asked)
        finally:
            self._asked_now = None
            if timer is not None:
                timer.cancel()

    async def _follow(self, reply: Reply) -> None:
        """Settings are the worker's. Tables of the user's own know transactions: it hears of them once they change."""
        if reply.resets:
            await self._asked("RESET ALL", [])
        if not self._begun or reply.tag not in ("COMMIT", "ROLLBACK") or self.transaction.status != IDLE:
            return
        self._begun = False
        if reply.tag == "COMMIT":
            await self._asked("COMMIT", [])
        else:
            with contextlib.suppress(Error):  # a worker that died has undone it
                await self._asked("ROLLBACK", [])

    def _of_session(self, reply: Reply) -> Result:
        for kept, name in ((self.prepared, reply.statements), (self.portals, reply.cursors)):
            if name == "all":
                kept.clear()
            else:
                kept.pop(name, None)
        if reply.shown is None:
            return Result(reply.tag)
        return Result(reply.tag, [[reply.shown[0], "VARCHAR"]], [[reply.shown[1]]])

    async def _declare(self, name: str, sql: str, rest: list[Token], values: Sequence[Any]) -> Result:
        begin = next((part for part in rest if part.word == "for"), None)
        if begin is None or not name:
            raise SqlError("a cursor is declared FOR a query", code=100, fix="DECLARE c CURSOR FOR SELECT …")
        query = sql[begin.start + 3 :]
        result = await self._asked(query, values)
        portal = Portal(Prepared(query, ()), [], columns=result.columns, result=result, size=len(query), declared=True)
        self.keep_portal(name, portal)
        return Result("DECLARE CURSOR", notice=result.notice)

    def _cursor(self, words: list[str]) -> Portal:
        portal = self.portals.get(words[-1]) if words else None
        if portal is None or portal.result is None:
            raise SqlError("there is no such cursor", code=602, fix="DECLARE c CURSOR FOR SELECT … first.")
        return portal

    def _fetch(self, verb: str, words: list[str]) -> Result:
        portal = self._cursor(words)
        assert portal.result is not None
        counts = [int(word) for word in words[:-1] if word.isascii() and word.isdigit()]
        everything = "all" in words[:-1]
        if "backward" in words[:-1] or "prior" in words[:-1] or "-" in words[:-1]:
            raise SqlError("a cursor goes forward only", code=122, fix="FETCH FORWARD n FROM c.")
        end = len(portal.result.rows) if everything else portal.at + (counts[0] if counts else 1)
        rows = portal.result.rows[portal.at : end]
        portal.at += len(rows)
        if verb == "move":
            return Result(f"MOVE {len(rows)}")
        return Result(f"FETCH {len(rows)}", portal.columns, rows)


def _cells(rows: list[list[Any]]) -> list[list[Any]]:
    return [[of_tree(cell) for cell in row] for row in rows]


def _ends(sql: str) -> bool:
    return bool((parts := tokens(sql)) and parts[0].word in ("rollback", "commit", "end", "abort"))
