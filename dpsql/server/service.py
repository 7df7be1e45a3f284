"""The query service: the only thing that the doors talk to. Who it is, who waits, who runs, how long, and the audit log."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from dpsql.dbapi.exchange import Tree, error_of, error_tree
from dpsql.errors import Error, OperationalError, ProgrammingError
from dpsql.server.accounts import Account, Accounts, Role
from dpsql.server.alike import Alike
from dpsql.server.audit import Audit
from dpsql.server.lockout import Lockout
from dpsql.server.process import WorkerDied, died_error
from dpsql.server.sessions import Session, Sessions, busy
from dpsql.server.settings import Settings

Answered = tuple[dict[str, Tree], bytes | None]


class QueryService:
    """One engine, one account book, one ledger, for all doors."""

    def __init__(self, settings: Settings, accounts: Accounts, audit: Audit) -> None:
        self.settings = settings
        self.accounts = accounts
        self.audit = audit
        self.sessions = Sessions(settings)
        self.lockout = Lockout()
        self.stopping = False
        self._running = asyncio.Semaphore(settings.running)
        self._waiting = 0
        self._active = 0
        self._asking: Counter[str] = Counter()
        self._alike = Alike()
        self.counts: Counter[tuple[str, str]] = Counter()

    # --- who it is

    def with_token(self, token: str, address: str) -> Account:
        """The account of a token; 700 otherwise, the same whatever is wrong with it. A token that is valid always passes:
        nobody else at its address can lock it out."""
        account = self.accounts.of_token(token)
        if account is None:
            self.lockout.check(address)
            self.lockout.failed(address)
            self.audit.write("refused", address=address)
            raise not_let_in()
        return account

    def still(self, name: str) -> Account:
        """The account of that name as it is now; 700 if nobody gets in under it any more."""
        now = self.accounts.named(name)
        if now is None or (now.verifier is None and not now.tokens):
            raise not_let_in()
        return now

    @staticmethod
    def check_role(account: Account, role: Role) -> None:
        """701 for an analyst who asks what is the owner's."""
        if account.role != role:
            raise ProgrammingError("this is for the owner of the data", code=701, fix="Ask them.")

    # --- what is asked

    async def ask(
        self, account: Account, door: str, request: Mapping[str, Tree], session: Session | None = None
    ) -> Answered:
        """The answer, in a session or without one; an error of the request is raised. What failed after the charge
        stays charged."""
        if self.stopping:
            raise OperationalError("the server is stopping", code=702, fix="Try again later.")
        began = time.monotonic()
        outcome = "DPSQL-001"
        try:
            answer, body = await self._asked(account, request, session)
            outcome = str(answer.get("real", "ok"))
            if "error" in answer:
                raise error_of(answer["error"])
            return answer, body
        except Error as error:
            outcome = error.code if outcome in ("ok", "DPSQL-001") else outcome
            raise
        except asyncio.CancelledError:
            outcome = "gone"
            raise
        finally:
            self.counts[door, outcome] += 1
            self._write(account, door, request, outcome, time.monotonic() - began)
            await self._answer_at(began)

    async def _asked(self, account: Account, request: Mapping[str, Tree], session: Session | None) -> Answered:
        """Whoever waits for a session of their own does not keep others waiting."""
        with self._one_of(account.name):
            async with self._alike.one_at_a_time(_likeness(account.name, request)):
                return await self._in_session(account, request, session)

    async def _in_session(self, account: Account, request: Mapping[str, Tree], session: Session | None) -> Answered:
        try:
            if session is not None:
                async with session.turn, self._turn():
                    return await self.sessions.ask(session, request)
            async with self._turn(), self.sessions.lent(account.name) as borrowed, borrowed.turn:
                return await self.sessions.ask(borrowed, {**request, "alone": True})
        except WorkerDied as died:
            if died.cause == "stopped":
                return {"error": error_tree(stopped()), "real": "DPSQL-503"}, None
            return {"error": died_error(), "real": died.cause}, None

    @contextmanager
    def _one_of(self, account: str) -> Iterator[None]:
        """One account cannot take all places: so many statements of it run and wait."""
        if self._asking[account] >= self.settings.for_account:
            raise busy("as many statements of this account run and wait as may", "Wait for one of them.")
        self._asking[account] += 1
        try:
            yield
        finally:
            self._asking[account] -= 1

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """So many run, so many more wait, the others hear "busy"."""
        if self._running.locked() and self._waiting >= self.settings.waiting:
            raise busy("the server is busy", "Try again in a moment.")
        self._waiting += 1
        try:
            await self._running.acquire()
        finally:
            self._waiting -= 1
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            self._running.release()

    async def _answer_at(self, began: float) -> None:
        """Times that tell little: answers leave at multiples of `every`."""
        every = self.settings.every
        if every > 0:
            passed = time.monotonic() - began
            await asyncio.sleep(math.ceil(passed / every) * every - passed)

    def _write(self, account: Account, door: str, request: Mapping[str, Tree], outcome: str, seconds: float) -> None:
        told = {"account": account.name, "door": door, "ask": request.get("ask"), "outcome": outcome}
        about = {name: request[name] for name in ("sql", "release") if request.get(name) is not None}
        self.audit.write("asked", **told, **about, seconds=round(seconds, 3))

    async def sweep(self) -> None:
        """Now and then: sessions that are idle, dead, or of accounts that were revoked."""
        for account in {one.account for one in self.sessions.all()}:
            try:
                self.still(account)
            except ProgrammingError:
                await self.sessions.close_account(account)
        await self.sessions.sweep()

    # --- how it is

    def metrics(self) -> str:
        """For the owner, as Prometheus reads it."""
        lines = [f"dpsql_running {self._active}", f"dpsql_waiting {self._waiting}"]
        lines += [f"dpsql_workers {self.sessions.count}", f"dpsql_worker_deaths_total {self.sessions.deaths}"]
        for (door, outcome), count in sorted(self.counts.items()):
            lines.append(f'dpsql_requests_total{{door="{door}",outcome="{outcome}"}} {count}')
        return "\n".join(lines) + "\n"

    async def end(self) -> None:
        """What runs has `grace` seconds; then everything ends. What was charged stays charged."""
        self.stopping = True
        until = time.monotonic() + self.settings.grace
        while self._active and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await self.sessions.end()
        self.audit.write("stopped")
        self.audit.close()


def _likeness(account: str, request: Mapping[str, Tree]) -> tuple[str, ...]:
    """What two requests have in common that are charged once, one after the other: their text, or their query id."""
    if request.get("ask") not in ("query", "pg_query"):
        return ()
    said = json.dumps([account, request.get("sql"), request.get("parameters") or None], sort_keys=True)
    query_id = request.get("query_id")
    return (f"text {said}",) if query_id is None else (f"text {said}", f"id {json.dumps([account, query_id])}")


def not_let_in() -> ProgrammingError:
    return ProgrammingError(
        "not let in", code=700, fix="Give a token that is valid: Authorization: Bearer …; the owner makes them."
    )


def stopped() -> OperationalError:
    return OperationalError(
        "the statement was stopped", code=503, why="What it may have charged stays charged: SHOW BUDGET shows it."
    )
