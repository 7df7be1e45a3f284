"""One client after its login: messages in, messages out, simple and extended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from dpsql.errors import Error, InterfaceError, SqlError
from dpsql.server.wire import messages, states, types
from dpsql.server.wire.copying import copied
from dpsql.server.wire.framing import MOST, drained, read_message
from dpsql.server.wire.messages import Bind, Execute, Named, Parse, WireError
from dpsql.server.wire.portals import Portal, Prepared, Result, without_count
from dpsql.server.wire.statements import Statements
from dpsql.server.wire.texts import parameters, statements, tokens
from dpsql.server.wire.transactions import FAILED, OPEN
from dpsql.sql.limits import LENGTH_LIMIT

T = TypeVar("T")
MANY_ROWS = 1000
QUIET = ("warning", "error", "fatal", "panic")


class Conversation:
    """After an error in a batch, everything is ignored until its end (Sync)."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Statements) -> None:
        self._reader, self._writer, self._client = reader, writer, client
        self._skipping = False

    async def talk(self) -> None:
        """Until it says goodbye; WireError, and what reading raises, end it too."""
        while True:
            tag, body = await read_message(self._reader, MOST)
            if tag == b"X":
                return
            if tag == b"S":
                self._skipping = False
                self._client.end_of_batch()
                self._ready()
            elif not self._skipping or tag == b"Q":
                await self._answered(tag, body)
            await drained(self._writer)

    async def _answered(self, tag: bytes, body: bytes) -> None:
        answer = HANDLERS.get(tag)
        if answer is None:
            raise WireError("a message that has no place here")
        try:
            self._client.check()
            await answer(self, body)
        except Error as error:
            if error.number in (700, 704):  # nobody gets in any more, or the session has ended
                self._send(messages.failure("FATAL", states.fields(error)))
                raise EOFError from None
            self._failed(error)
            self._skipping = tag != b"Q"
        if tag == b"Q":
            self._skipping = False
            self._ready()

    def _failed(self, error: Error) -> None:
        transaction = self._client.transaction
        told = states.IN_FAILED if transaction.status == FAILED and error.number == 709 else states.fields(error)
        if transaction.status == OPEN:
            transaction.status = FAILED
        self._send(messages.failure("ERROR", told))

    def _ready(self) -> None:
        self._send(messages.ready(self._client.transaction.status))

    def _send(self, *parts: bytes) -> None:
        self._writer.writelines(parts)

    # --- simple

    async def _query(self, body: bytes) -> None:
        sql = _bounded(messages.read_query(body))
        parts = statements(sql)
        if not parts:
            self._send(messages.EMPTY_QUERY)
        for part in parts:
            result = await self._client.run(part, [])
            self._notice(result)
            portal = Portal(Prepared(part, ()), [], result=result)
            if result.copy is not None:
                self._copied(result)
            elif result.columns is not None:
                self._send(messages.row_description(portal.fields(result.columns)))
                self._send(*(await _aside(len(result.rows), portal.rows, 0))[0])
            self._send(messages.complete(result.tag))
            await drained(self._writer)

    def _copied(self, result: Result) -> None:
        assert result.copy is not None
        self._send(*copied(result.copy, result.columns or [], result.rows))

    def _notice(self, result: Result) -> None:
        quiet = self._client.transaction.settings.get("client_min_messages", "").lower() in QUIET
        if result.notice and not quiet:
            self._send(messages.notice({"C": "00000", "M": result.notice}))

    # --- extended

    async def _parse(self, body: bytes) -> None:
        asked = Parse.read(body)
        _bounded(asked.sql)
        if len(statements(asked.sql)) > 1:
            raise SqlError("a prepared statement is one statement", code=100, fix="Send them one after the other.")
        self._client.keep_statement(
            asked.name, Prepared((statements(asked.sql) or [""])[0], asked.oids, size=len(body))
        )
        self._send(messages.PARSE_COMPLETE)

    async def _bind(self, body: bytes) -> None:
        asked = Bind.read(body)
        prepared = self._client.statement(asked.statement)
        count = len(asked.values)
        await self._client.know_parameters(prepared, count)
        forms = asked.forms if len(asked.forms) == count else asked.forms[:1] * count or (0,) * count
        values = [types.decoded(v, oid, f) for v, oid, f in zip(asked.values, prepared.oids, forms, strict=False)]
        self._client.keep_portal(asked.portal, Portal(prepared, values, asked.results, size=len(body)))
        self._send(messages.BIND_COMPLETE)

    async def _describe(self, body: bytes) -> None:
        asked = Named.read(body)
        if asked.kind == "S":
            prepared = self._client.statement(asked.name)
            await self._client.know_parameters(prepared)
            if not prepared.described:
                prepared.columns = await self._client.columns(prepared, None)
            self._send(messages.parameter_description(prepared.oids[: parameters(prepared.sql)]))
            self._describe_columns(Portal(prepared, [], columns=prepared.columns))
            return
        portal = self._portal(asked.name)
        if portal.columns is None and portal.result is None:
            portal.columns = await self._client.columns(portal.prepared, portal.values)
        self._describe_columns(portal)

    def _describe_columns(self, portal: Portal) -> None:
        if portal.columns is None:
            self._send(messages.NO_DATA)
        else:
            self._send(messages.row_description(portal.fields(portal.columns)))

    async def _execute(self, body: bytes) -> None:
        asked = Execute.read(body)
        portal = self._portal(asked.portal)
        if not tokens(portal.prepared.sql):
            self._send(messages.EMPTY_QUERY)
            return
        if portal.result is None:
            portal.result = await self._client.run(portal.prepared.sql, portal.values)
            self._notice(portal.result)
        if portal.result.copy is not None:
            self._copied(portal.result)
        if portal.result.columns is None or portal.result.copy is not None:
            self._send(messages.complete(portal.result.tag))
            return
        sent, more = await _aside(len(portal.result.rows), portal.rows, asked.rows)
        self._send(
            *sent, messages.SUSPENDED if more else messages.complete(without_count(portal.result.tag, len(sent)))
        )

    async def _close(self, body: bytes) -> None:
        asked = Named.read(body)
        (self._client.prepared if asked.kind == "S" else self._client.portals).pop(asked.name, None)
        self._send(messages.CLOSE_COMPLETE)

    async def _flush(self, body: bytes) -> None:
        """Everything is sent at once anyway."""

    async def _no_copy(self, body: bytes) -> None:
        """Of a COPY that was refused: ignored, as PostgreSQL does."""

    def _portal(self, name: str) -> Portal:
        if name not in self._client.portals:
            raise InterfaceError(f"there is no portal {name[:60]!r}", code=602)
        return self._client.portals[name]


def _bounded(sql: str) -> str:
    """What is longer is no statement; and it is not looked at here, where everybody would wait for it."""
    if len(sql) > LENGTH_LIMIT:
        raise SqlError(
            f"the statement is longer than {LENGTH_LIMIT:,} characters", code=100, fix="Send less at a time."
        )
    return sql


async def _aside(rows: int, work: Callable[..., T], *given: Any) -> T:
    """Work on many rows, in a thread: everybody else goes on meanwhile."""
    return await asyncio.to_thread(work, *given) if rows > MANY_ROWS else work(*given)


HANDLERS: Mapping[bytes, Callable[[Conversation, bytes], Awaitable[None]]] = {
    b"Q": Conversation._query,
    b"P": Conversation._parse,
    b"B": Conversation._bind,
    b"D": Conversation._describe,
    b"E": Conversation._execute,
    b"C": Conversation._close,
    b"H": Conversation._flush,
    b"d": Conversation._no_copy,
    b"c": Conversation._no_copy,
    b"f": Conversation._no_copy,
}
