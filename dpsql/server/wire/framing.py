"""A stream of bytes cut into messages, with a cap on their length: small until it is known who it is."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable

from dpsql.server.wire.messages import WireError

MOST_BEFORE_LOGIN, MOST = 10_000, 8 << 20
STALLED_SECONDS = 60.0  # without one byte that is read
READ_SECONDS = 600.0  # until an answer is read to its end
TAGS = frozenset(b"QPBDECHSXpdcfF")


class Input(asyncio.StreamReader):
    """It says at once when the client is gone, also while nobody reads."""

    when_gone: Callable[[], None] = staticmethod(lambda: None)

    def feed_eof(self) -> None:
        super().feed_eof()
        self.when_gone()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.when_gone()


async def drained(writer: asyncio.StreamWriter) -> None:
    """Until what was written is on its way; EOFError for a client that does not read it."""
    until, unsent = asyncio.get_running_loop().time() + READ_SECONDS, -1
    while True:
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                return await writer.drain()
        except TimeoutError:
            before, unsent = unsent, writer.transport.get_write_buffer_size()
            if unsent == before or asyncio.get_running_loop().time() > until:
                writer.transport.abort()
                raise EOFError from None


async def read_startup(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """A first packet: its code and what follows. TLS that begins at once (0x16) is not awaited for longer."""
    head = await reader.readexactly(1)
    if head == b"\x16":
        raise WireError("TLS begins with a request for it")
    (length,) = struct.unpack("!i", head + await reader.readexactly(3))
    if not 8 <= length <= MOST_BEFORE_LOGIN:
        raise WireError("a first packet of a wrong length")
    body = await reader.readexactly(length - 4)
    return int(struct.unpack("!i", body[:4])[0]), body[4:]


async def read_message(reader: asyncio.StreamReader, most: int) -> tuple[bytes, bytes]:
    """A message's tag and body."""
    tag = await reader.readexactly(1)
    if tag[0] not in TAGS:
        raise WireError("there is no such message")
    (length,) = struct.unpack("!i", await reader.readexactly(4))
    if not 4 <= length <= most:
        raise WireError("a message of a wrong length")
    return tag, await reader.readexactly(length - 4)
