"""The PostgreSQL door: TLS, who it is, cancelling; then the conversation."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ssl
import sys
from collections import Counter
from collections.abc import Mapping

from dpsql.errors import Error, ProgrammingError
from dpsql.mechanisms.entropy import secret
from dpsql.server.accounts import Account
from dpsql.server.scram import MECHANISM, Exchange, ScramError, Verifier
from dpsql.server.service import QueryService
from dpsql.server.sessions import Session
from dpsql.server.settings import Settings
from dpsql.server.wire import messages, startup, states
from dpsql.server.wire.conversation import Conversation
from dpsql.server.wire.framing import MOST_BEFORE_LOGIN, Input, read_message, read_startup
from dpsql.server.wire.messages import Reader, WireError
from dpsql.server.wire.statements import Statements
from dpsql.server.wire.transactions import REPORTED, SHOWN

LOGIN_SECONDS = 30.0
MOST_STRANGERS = 200  # connections that have not logged in yet
STRANGER = "a stranger"
ENDED = "too many connections have not logged in"
LAST_WORDS_SECONDS = 5.0  # until a connection that is closed has read them


class Door:
    """The listening socket and who is inside, by the keys that cancel their statements."""

    def __init__(self, service: QueryService, settings: Settings) -> None:
        self._service = service
        self._tls = _context(settings)
        self._inside: dict[int, tuple[int, Statements]] = {}
        self._strangers: dict[asyncio.Task[None], str] = {}
        service.unread.kept = self._kept
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int) -> asyncio.Server:
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            return asyncio.StreamReaderProtocol(Input(loop=loop), self._came, loop=loop)

        return await loop.create_server(protocol, host, port)

    def _kept(self, account: str) -> int:
        """The bytes of rows that clients of an account have not read."""
        return sum(client.unread for _, client in self._inside.values() if client.account == account)

    async def end(self) -> None:
        """Whoever is inside is shown out."""
        for task in [*self._tasks]:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._served(reader, writer)
        except WireError as error:
            writer.write(messages.failure("FATAL", {"C": "08P01", "M": f"not of the protocol: {error}"}))
        except (EOFError, OSError, TimeoutError, ssl.SSLError):
            pass  # gone
        except asyncio.CancelledError as cancelled:
            told = ENDED if cancelled.args == (STRANGER,) else "the server is stopping"
            writer.write(messages.failure("FATAL", {"C": "57P01", "M": told}))
        except Exception as error:  # a bug of ours: told by its kind alone
            print(f"dpsql: a bug: {type(error).__name__} in the PostgreSQL door", file=sys.stderr)
            writer.write(messages.failure("FATAL", {"C": "XX000", "M": "a bug in dpsql"}))
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(OSError, asyncio.CancelledError):
                writer.close()
            asyncio.get_running_loop().call_later(LAST_WORDS_SECONDS, writer.transport.abort)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._one_stranger_too_many()
        self._strangers[task] = _address(writer)
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                login = await self._let_in(reader, writer)
        finally:
            del self._strangers[task]
        if login is not None:
            await self._inside_with(*login, reader, writer)

    def _one_stranger_too_many(self) -> None:
        """The oldest one of the address that has most has to go: nobody locks out another address."""
        if len(self._strangers) >= MOST_STRANGERS:
            ((address, _),) = Counter(self._strangers.values()).most_common(1)
            next(task for task, theirs in self._strangers.items() if theirs == address).cancel(STRANGER)

    async def _inside_with(
        self, account: Account, told: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            asked = startup.begin(told)
            session = await self._service.sessions.open(account.name, asked.statements)
        except Error as error:
            writer.write(messages.failure("FATAL", states.fields(error)))
            return
        client = Statements(self._service, account.name, session)
        process, key = self._new_key(client)
        try:
            await client.begin(asked)
            writer.write(messages.authentication(0))
            writer.writelines(messages.parameter_status(name, SHOWN[setting]) for name, setting in REPORTED.items())
            writer.write(messages.parameter_status("session_authorization", account.name))
            name = client.transaction.settings.get("application_name", "")
            writer.write(messages.parameter_status("application_name", name))
            writer.write(messages.key_data(process, key) + messages.ready(client.transaction.status))
            await writer.drain()
            if isinstance(reader, Input):
                reader.when_gone = client.withdraw
            await self._talk_until_ended(Conversation(reader, writer, client), session, writer)
        except Error as error:  # of a setting; whatever comes later is told within the conversation
            writer.write(messages.failure("FATAL", states.fields(error)))
        finally:
            del self._inside[process]
            await self._service.sessions.close(session)

    @staticmethod
    async def _talk_until_ended(conversation: Conversation, session: Session, writer: asyncio.StreamWriter) -> None:
        """A session that was idle for too long, or whose account was revoked, takes its connection with it."""
        talking, ended = asyncio.create_task(conversation.talk()), asyncio.create_task(session.ended.wait())
        try:
            await asyncio.wait([talking, ended], return_when=asyncio.FIRST_COMPLETED)
            if talking.done():
                await talking
            else:
                writer.write(messages.failure("FATAL", {"C": "57P05", "M": "the session has ended"}))
        finally:
            for task in (talking, ended):
                task.cancel()
            await asyncio.wait([talking, ended])
            if not talking.cancelled():
                talking.exception()  # it was raised above, or came too late to matter

    def _new_key(self, client: Statements) -> tuple[int, int]:
        process = next(n for n in iter(lambda: int.from_bytes(secret(4), "big") >> 1, None) if n not in self._inside)
        self._inside[process] = (int.from_bytes(secret(4), "big"), client)
        return process, self._inside[process][0]

    # --- before it is known who it is

    async def _let_in(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[Account, Mapping[str, str]] | None:
        """The account and its first packet; None where the connection was about something else, or has no business here."""
        encrypted = False
        for _ in range(4):
            code, body = await read_startup(reader)
            if code == messages.CANCEL:
                self._cancel(body)
                return None
            if code == messages.SSL and self._tls is not None and not encrypted:
                await self._encrypt(reader, writer, self._tls)
                encrypted = True
            elif code in (messages.SSL, messages.GSSENC):
                writer.write(b"N")
            elif code >> 16 == 3:
                return await self._login(code, body, encrypted, reader, writer)
            else:
                raise WireError("a version that is not spoken here")
        raise WireError("too many requests before the first")

    @staticmethod
    async def _encrypt(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: ssl.SSLContext) -> None:
        """What came before the encryption must not count as if it had come after it."""
        if getattr(reader, "_buffer", b""):
            raise WireError("bytes after the request for TLS")
        writer.write(b"S")
        await writer.drain()
        await writer.start_tls(tls)

    async def _login(
        self, code: int, body: bytes, encrypted: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[Account, Mapping[str, str]] | None:
        told = messages.read_startup(body)
        unknown = [name for name in told if name.startswith("_pq_.")]
        if code != messages.PROTOCOL or unknown:
            writer.write(messages.negotiate(unknown))
        if self._tls is not None and not encrypted:
            writer.write(messages.failure("FATAL", {"C": "28000", "M": "this server needs TLS: sslmode=require"}))
            return None
        try:
            return await self._scram(told.get("user", ""), reader, writer), told
        except (Error, ScramError) as error:
            known = error if isinstance(error, Error) else _refused()
            writer.write(messages.failure("FATAL", states.fields(known)))
            return None

    async def _scram(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Account:
        address = _address(writer)
        lockout = self._service.lockout
        lockout.check(address, name)
        account = self._service.accounts.named(name)
        verifier = None if account is None else account.verifier
        exchange = Exchange(verifier or Verifier.of_nobody(name, self._service.accounts.key))
        try:
            writer.write(messages.authentication(10, messages.text(MECHANISM) + b"\x00"))
            first = Reader(await self._password(reader))
            if first.text() != MECHANISM:
                raise ScramError("another mechanism")
            length = first.int32()
            writer.write(messages.authentication(11, exchange.first(first.raw(length))))
            answer = exchange.final(await self._password(reader))
        except ScramError:
            lockout.failed(address, name)
            self._service.audit.write("refused", address=address, account=name)
            raise
        if account is None or verifier is None:  # nobody knows such a password
            raise _refused()
        lockout.let_in(address, name)
        writer.write(messages.authentication(12, answer))
        return account

    @staticmethod
    async def _password(reader: asyncio.StreamReader) -> bytes:
        tag, body = await read_message(reader, MOST_BEFORE_LOGIN)
        if tag != b"p":
            raise WireError("a password was expected")
        return body

    def _cancel(self, body: bytes) -> None:
        """Who knows the key may stop the statement, whether it waits or runs."""
        if len(body) != 8:
            raise WireError("a request to cancel of a wrong length")
        process, key = int.from_bytes(body[:4], "big"), body[4:]
        inside = self._inside.get(process)
        if inside is not None and hmac.compare_digest(inside[0].to_bytes(4, "big"), key):
            self._service.stop(inside[1].account, session=inside[1].session)


def _address(writer: asyncio.StreamWriter) -> str:
    return str((writer.get_extra_info("peername") or ("",))[0])


def _refused() -> Error:
    return ProgrammingError("not let in", code=700, fix="Check the name and the password; the owner sets them.")


def _context(settings: Settings) -> ssl.SSLContext | None:
    if settings.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(settings.certificate, settings.key)
    return context
