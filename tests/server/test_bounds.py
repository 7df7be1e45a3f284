"""What a client may keep of the server: bytes, connections, time; before and after it is known who it is."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn

from dpsql.errors import Error
from dpsql.server import connections
from dpsql.server.answers import Sent
from dpsql.server.connections import Connection
from dpsql.server.unread import MOST_UNREAD, Unread
from dpsql.server.wire import door, framing, messages
from dpsql.server.wire.conversation import Conversation
from dpsql.server.wire.portals import Portal, Prepared, Result
from dpsql.server.wire.statements import MOST_BYTES, MOST_KEPT, Statements
from tests.server.test_wire_parts import Client, Sink, bind

LARGE = b"x" * (16 << 20)
UNREAD = Unread()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The answer to a request with a body: many bytes; without: few."""
    from starlette.responses import Response

    more, size = True, 0
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await Sent(Response(LARGE if size else b"small"), UNREAD, "ana")(scope, receive, send)


def served(play: Callable[[int, Any], Awaitable[None]], **seconds: float) -> None:
    """With time limits of the test's own."""

    async def run() -> None:
        config = uvicorn.Config(app, lifespan="off", log_level="error", timeout_keep_alive=1)
        config.load()
        state: Any = uvicorn.server.ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
        with contextlib.closing(server):
            try:
                await asyncio.wait_for(play(server.sockets[0].getsockname()[1], state), 20)
            finally:
                await close_all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "LOOK_SECONDS", 0.02)
        for name, value in seconds.items():
            patch.setattr(connections, f"{name}_SECONDS", value)
        asyncio.run(run())


OPENED: list[asyncio.StreamWriter] = []


async def came(port: int, sent: bytes, **more: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **more)
    OPENED.append(writer)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def close_all() -> None:
    """What the test opened."""
    while OPENED:
        writer = OPENED.pop()
        writer.transport.abort()
    await asyncio.sleep(0.05)


async def ended(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes."""
    with contextlib.suppress(ConnectionError):
        return await reader.read()
    return b""


HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_request_that_does_not_come_is_not_awaited(sent: bytes) -> None:
    async def play(port: int, state: Any) -> None:
        reader, _ = await came(port, sent)
        assert await ended(reader) == b"" and not state.connections

    served(play, HEAD=0.1, BODY=60)


def test_drops_of_a_request_do_not_count_as_one() -> None:
    async def play(port: int, state: Any) -> None:
        reader, writer = await came(port, b"G")
        with contextlib.suppress(ConnectionError):
            for byte in b"ET / HTTP/1.1\r\nHost: " + b"a" * 20:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.02)
        assert await ended(reader) == b"" and not state.connections

    served(play, HEAD=0.1)


def test_a_slow_body_is_not_awaited() -> None:
    async def play(port: int, state: Any) -> None:
        reader, _ = await came(port, HEAD + b"123")
        assert await ended(reader) == b"" and not state.connections

    served(play, BODY=0.1)


def test_who_does_not_read_is_dropped_and_counts_until_then() -> None:
    async def play(port: int, state: Any) -> None:
        reader, writer = await came(port, HEAD + b"1234567890", limit=1024)
        while not UNREAD._sending["ana"]:
            await asyncio.sleep(0.01)
        assert UNREAD._sending["ana"] == len(LARGE)
        while state.connections:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert not UNREAD._sending
        assert len(await ended(reader)) < len(LARGE)
        writer.close()

    served(play, STALLED=0.3)


def test_who_reads_drop_by_drop_has_a_limit_too() -> None:
    async def play(port: int, state: Any) -> None:
        reader, writer = await came(port, HEAD + b"1234567890", limit=1024)
        with contextlib.suppress(ConnectionError):
            while state.connections:
                await reader.read(65_536)
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        assert not state.connections and not UNREAD._sending

    served(play, STALLED=60, READ=0.5)


def test_who_reads_gets_all_of_it() -> None:
    async def play(port: int, state: Any) -> None:
        reader, writer = await came(port, HEAD + b"1234567890")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"content-length: %d" % len(LARGE) in head.lower()
        assert await reader.readexactly(len(LARGE)) == LARGE
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await ended(reader)).endswith(b"small")  # then it is closed, since it says no more

    served(play, STALLED=5)


def test_a_newcomer_gets_the_place_of_the_oldest_that_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_IDLE", 5)

    async def play(port: int, state: Any) -> None:
        idle = []
        for _ in range(5):
            idle.append(await came(port, b""))
            await asyncio.sleep(0.02)
        reader, _ = await came(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert (await ended(reader)).endswith(b"small")
        assert await ended(idle[0][0]) == b"" and len(state.connections) == 4

    served(play)


# --- the PostgreSQL wire


def test_prepared_statements_and_values_have_a_limit_in_bytes() -> None:
    client = Client()
    sql = b"SELECT 1 -- " + b"x" * 99_000
    stream = b"".join(messages.message(b"P", b"%d\0%b\0\0\0" % (i, sql)) for i in range(300))
    sent = heard(client, stream + messages.message(b"S"))
    assert b"C53300" in sent and sum(one.size for one in client.prepared.values()) <= MOST_BYTES
    assert 100 < len(client.prepared) < 300


def heard(client: Statements, stream: bytes) -> bytes:
    async def talk() -> bytes:
        reader = asyncio.StreamReader()
        reader.feed_data(stream)
        reader.feed_eof()
        sink: Any = Sink()
        with contextlib.suppress(EOFError):
            await Conversation(reader, sink, client).talk()
        return bytes(sink.sent)

    return asyncio.run(talk())


def test_their_number_has_a_limit() -> None:
    client = Client()
    for i in range(MOST_KEPT):
        client.keep_statement(str(i), Prepared("", ()))
        client.keep_portal(str(i), Portal(Prepared("", ()), []))
    with pytest.raises(Error, match="too many"):
        client.keep_statement("x", Prepared("", ()))
    with pytest.raises(Error, match="too many"):
        client.keep_portal("x", Portal(Prepared("", ()), []))
    client.keep_portal("0", Portal(Prepared("", ()), [], size=MOST_BYTES))  # in the place of another
    with pytest.raises(Error, match="too large"):
        client.keep_portal("1", Portal(Prepared("", ()), [], size=1))
    with pytest.raises(Error, match="DPSQL-106"):
        client.keep_statement("1", Prepared("", ()))


def test_portals_end_with_their_batch_and_cursors_stay() -> None:
    client = Client()
    parse = messages.message(b"P", b"s\0SELECT 1\0", struct.pack("!h", 0))
    portal = messages.message(b"B", bind(b"p", b"s")) + messages.message(b"E", b"p\0", struct.pack("!i", 1))
    declare = messages.message(b"Q", b"DECLARE c CURSOR FOR SELECT 1\0")
    heard(client, declare + parse + portal + messages.message(b"S"))
    assert set(client.portals) == {"c"} and set(client.prepared) == {"s"}
    begin = messages.message(b"Q", b"BEGIN\0")
    heard(client, begin + portal + messages.message(b"S"))
    assert set(client.portals) == {"c", "p"}
    heard(client, messages.message(b"Q", b"COMMIT\0") + messages.message(b"S"))
    assert set(client.portals) == {"c"}


def test_rows_that_are_kept_count_until_they_are_closed() -> None:
    client, unread = Client(), Unread()
    unread.kept = lambda name: client.unread if name == client.account else 0
    unread.check("ana")
    client.keep_portal("c", Portal(Prepared("", ()), [], result=Result("", size=MOST_UNREAD + 1), declared=True))
    with pytest.raises(Error) as raised:
        unread.check("ana")
    assert raised.value.code == "DPSQL-702" and "Nothing was charged" in raised.value.fix
    unread.check("ben")
    heard(client, messages.message(b"Q", b"CLOSE c\0"))
    unread.check("ana")


def test_a_wire_client_that_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "STALLED_SECONDS", 0.2)

    async def play() -> None:
        done: list[str] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(LARGE)
            try:
                await framing.drained(writer)
                done.append("read")
            except EOFError:
                done.append("dropped")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        _, writer = await came(port, b"", limit=1024)
        while not done:
            await asyncio.sleep(0.02)
        writer.close()
        reader, writer = await came(port, b"")
        assert len(await reader.read()) == len(LARGE)
        writer.close()
        server.close()
        await close_all()
        assert done == ["dropped", "read"]

    asyncio.run(asyncio.wait_for(play(), 20))


def test_a_stranger_too_many_takes_the_place_of_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_STRANGERS", 3)

    class Service:
        unread = Unread()

    class Settings:
        certificate = None

    async def play() -> None:
        nothing: Any = Service()
        settings: Any = Settings()
        here = door.Door(nothing, settings)
        server = await here.listen("127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        idle = [await came(port, b"") for _ in range(3)]
        await asyncio.sleep(0.05)
        reader, writer = await came(port, b"")
        writer.write(struct.pack("!ii", 8, messages.SSL))
        assert await reader.readexactly(1) == b"N"
        assert b"have not logged in" in await idle[0][0].read()
        await here.end()
        server.close()
        await close_all()
        assert not here._strangers

    asyncio.run(asyncio.wait_for(play(), 20))


def test_who_goes_away_is_noticed_while_nobody_reads() -> None:
    async def play() -> None:
        gone = asyncio.Event()
        reader = framing.Input()
        reader.when_gone = gone.set
        here, there = socket.socketpair()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), here)
        there.sendall(b"X\0\0\0\4")  # said goodbye, unread
        await asyncio.sleep(0.05)
        assert not gone.is_set()
        there.close()
        await asyncio.wait_for(gone.wait(), 10)
        transport.abort()

    asyncio.run(play())
