"""The query service: the only thing that the doors talk to. Who it is, who waits, who runs, how long, and the audit log."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager

from dpsql.dbapi.exchange import Tree, error_of, error_tree
from dpsql.errors import Error, OperationalError, ProgrammingError
from dpsql.metadata.load import load
from dpsql.server.accounts import Account, Accounts, Role
from dpsql.server.alike import Alike
from dpsql.server.asked import Asked, stopped
from dpsql.server.audit import Audit
from dpsql.server.lockout import Lockout
from dpsql.server.places import Places, busy
from dpsql.server.process import WorkerDied, died_error
from dpsql.server.sessions import Session, Sessions
from dpsql.server.settings import Settings
from dpsql.server.unread import Unread

Answered = tuple[dict[str, Tree], bytes | None]


class QueryService:
    """One engine, one account book, one ledger, for all doors."""

    def __init__(self, settings: Settings, accounts: Accounts, audit: Audit) -> None:
        self.settings = settings
        self.accounts = accounts
        self.audit = audit
        self.sessions = Sessions(settings)
        self.analysts = load(settings.metadata).analysts  # None: whoever has an account
        self.lockout = Lockout()
        self.stopping = False
        self._places = Places(
            running=settings.running, of_account=settings.running_of_account, waiting=settings.waiting
        )
        self.unread = Unread()
        self._requests: Counter[str] = Counter()
        self._asking: dict[Asked, tuple[str, Session | None, Tree]] = {}
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
        self,
        account: Account,
        door: str,
        request: Mapping[str, Tree],
        session: Session | None = None,
        asked: Asked | None = None,
    ) -> Answered:
        """The answer, in a session or without one; an error of the request is raised. What failed after the charge
        stays charged."""
        if self.stopping:
            raise OperationalError("the server is stopping", code=702, fix="Try again later.")
        if not self.audit.works():
            raise OperationalError(
                "the server cannot write its audit log", code=702, why="Nothing was charged.", fix="Tell the owner."
            )
        began = time.monotonic()
        outcome = "DPSQL-001"
        try:
            answer, body = await self._asked(account, request, session, asked or Asked())
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

    async def _asked(
        self, account: Account, request: Mapping[str, Tree], session: Session | None, asked: Asked
    ) -> Answered:
        """It waits for what is alike, for its session, and for a place among those that run; then it runs."""
        async with AsyncExitStack() as held:
            held.enter_context(self._one_of(account.name, session, asked, request.get("query_id")))
            self.unread.check(account.name)
            async with asked.waits(self.settings.seconds):
                await held.enter_async_context(self._alike.one_at_a_time(_likeness(account.name, request)))
                if session is not None:
                    await held.enter_async_context(session.turn)
                await held.enter_async_context(self._places.one(account.name))
                if session is None:
                    session, request = await held.enter_async_context(self.sessions.lent(account.name)), alone(request)
                    await held.enter_async_context(session.turn)
            self.still(account.name)  # as it is now, after the wait
            return await self._run(session, request, asked)

    async def _run(self, session: Session, request: Mapping[str, Tree], asked: Asked) -> Answered:
        asked.runs(session.stop)
        try:
            return await self.sessions.ask(session, request, asked.told_to_stop)
        except WorkerDied as died:
            if died.cause == "stopped":
                return {"error": error_tree(stopped()), "real": "DPSQL-503"}, None
            return {"error": died_error(), "real": died.cause}, None

    @contextmanager
    def _one_of(self, account: str, session: Session | None, asked: Asked, query_id: Tree) -> Iterator[None]:
        """One account cannot take all that is there: so many statements of it run and wait, half of them in one session."""
        others = [one for name, one, _ in self._asking.values() if name == account]
        most = self.settings.for_account
        if len(others) >= most:
            raise busy("as many statements of this account run and wait as may", "Wait for one of them.")
        if session is not None and others.count(session) >= (most + 1) // 2:
            raise busy("as many statements of this session run and wait as may", "Wait for one of them.")
        self._asking[asked] = (account, session, query_id)
        try:
            yield
        finally:
            del self._asking[asked]

    @contextmanager
    def one_request(self, account: str) -> Iterator[None]:
        """From before its body is read until its answer is made: memory is bounded for each account."""
        if self._requests[account] >= 2 * self.settings.for_account:
            raise busy("as many requests of this account are under way as may be", "Wait for one of them.")
        self._requests[account] += 1
        try:
            yield
        finally:
            self._requests[account] -= 1

    def stop(self, account: str, *, session: Session | None = None, query_id: Tree = None) -> int:
        """What the account asked in this session, or under this query id: so many."""
        count = 0
        for asked, (name, within, named) in [*self._asking.items()]:
            chosen = within is session if session is not None else query_id is not None and named == query_id
            if name == account and chosen:
                asked.stop()
                count += 1
        return count

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
        waiting = {name for name, _, _ in self._asking.values()}
        for account in {one.account for one in self.sessions.all()} | waiting:
            try:
                self.still(account)
            except ProgrammingError:
                for asked, (name, _, _) in [*self._asking.items()]:
                    if name == account:
                        asked.refuse(not_let_in)
                await self.sessions.close_account(account)
        await self.sessions.sweep()

    # --- how it is

    def metrics(self) -> str:
        """For the owner, as Prometheus reads it."""
        running = self._places.running
        lines = [f"dpsql_running {running}", f"dpsql_waiting {len(self._asking) - running}"]
        lines += [f"dpsql_workers {self.sessions.count}", f"dpsql_worker_deaths_total {self.sessions.deaths}"]
        for (door, outcome), count in sorted(self.counts.items()):
            lines.append(f'dpsql_requests_total{{door="{door}",outcome="{outcome}"}} {count}')
        return "\n".join(lines) + "\n"

    async def end(self) -> None:
        """What runs has `grace` seconds; then everything ends. What was charged stays charged."""
        self.stopping = True
        until = time.monotonic() + self.settings.grace
        while self._places.running and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await self.sessions.end()
        self.audit.write("stopped")
        self.audit.close()


def alone(request: Mapping[str, Tree]) -> dict[str, Tree]:
    """In no session: it may leave nothing there."""
    return {**request, "alone": True}


def _likeness(account: str, request: Mapping[str, Tree]) -> tuple[str, ...]:
    """What two requests have in common that are charged once, one after the other: their text, or their query id."""
    if request.get("ask") not in ("query", "pg_query"):
        return ()
    said = json.dumps([account, request.get("sql"), request.get("parameters") or None], sort_keys=True)
    query_id = request.get("query_id")
    return (f"text {said}",) if query_id is None else (f"text {said}", f"id {json.dumps([account, query_id])}")


def not_let_in() -> ProgrammingError:
    return ProgrammingError(
        "not let in", code=700, fix="Ask the owner for a token that is valid; over HTTP: Authorization: Bearer …."
    )
