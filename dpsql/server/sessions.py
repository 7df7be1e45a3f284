"""Sessions: worker processes, each one account's. It runs on the server's event loop, and asks workers in threads."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from dpsql.dbapi.exchange import Tree
from dpsql.engine.temporary import place_from, sweep
from dpsql.errors import InterfaceError
from dpsql.mechanisms.entropy import secret
from dpsql.metadata.load import load
from dpsql.server.places import busy
from dpsql.server.process import WorkerDied, WorkerProcess
from dpsql.server.settings import Settings
from dpsql.server.worker import Task, digest_of


class Session:
    """One worker and whose it is. name: what it is found by, 128 random bits. One statement at a time. begin: SET
    statements that each worker of it begins with."""

    def __init__(self, account: str, begin: tuple[str, ...] = ()) -> None:
        self.account = account
        self.begin = begin
        self.name = secret(16).hex()
        self.used = time.monotonic()
        self.turn = asyncio.Lock()
        self.worker: WorkerProcess | None = None
        self.ended = asyncio.Event()

    @property
    def closed(self) -> bool:
        return self.ended.is_set()

    def stop(self) -> None:
        """Stop what runs now."""
        if self.worker is not None and self.turn.locked():
            self.worker.stop()


class Sessions:
    """Open sessions, and idle workers that are lent to questions without one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._digest = digest_of(str(settings.metadata))
        self._place = place_from(load(settings.metadata).temp_folder, None) or Path(tempfile.gettempdir())
        self._threads = ThreadPoolExecutor(settings.sessions + settings.running + 4, thread_name_prefix="dpsql-session")
        self._open: dict[str, Session] = {}
        self._lent: set[Session] = set()
        self._idle: list[Session] = []
        self.deaths = 0

    @property
    def count(self) -> int:
        """Worker processes, or places for them."""
        return len(self._open) + len(self._lent) + len(self._idle)

    def all(self) -> list[Session]:
        """Open ones and idle workers."""
        return [*self._open.values(), *self._idle]

    async def open(self, account: str, begin: tuple[str, ...] = ()) -> Session:
        """A session of an account; 702 where there are too many."""
        of_account = sum(one.account == account for one in self._open.values())
        if of_account >= self._settings.for_account:
            raise busy("this account has as many sessions as it may have", "Close one of them.")
        await self._make_room(account)
        session = Session(account, begin)
        self._open[session.name] = session
        return session

    def find(self, name: str, account: str) -> Session:
        """The account's session of that name; of another's it is not told that it is there."""
        session = self._open.get(name)
        if session is None or session.account != account:
            raise InterfaceError("there is no such session", code=704, fix="It may have ended. Open a new one.")
        return session

    async def close(self, session: Session) -> None:
        """Ends its worker, whatever it does."""
        session.ended.set()
        self._open.pop(session.name, None)
        self._lent.discard(session)
        worker, session.worker = session.worker, None
        if worker is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, worker.end)

    @asynccontextmanager
    async def lent(self, account: str) -> AsyncIterator[Session]:
        """An idle worker of the account, or a new one; kept for the next question if it survives."""
        session = next((one for one in self._idle if one.account == account), None)
        if session is not None:
            self._idle.remove(session)
        else:
            await self._make_room(account)
            session = Session(account)
        self._lent.add(session)
        try:
            yield session
        finally:
            self._lent.discard(session)
            session.used = time.monotonic()
            if session.worker is not None and session.worker.alive and not session.closed:
                self._idle.append(session)

    async def _make_room(self, account: str) -> None:
        """Of idle workers the one that was used longest ago has to go; then an idle session of the account that has most,
        where that has at least two more than this one."""
        while self.count >= self._settings.sessions:
            oldest = min(self._idle, key=lambda one: one.used, default=None) or self._one_too_many(account)
            if oldest is None:
                raise busy("there are as many sessions as the server allows", "Try again later.")
            if oldest in self._idle:
                self._idle.remove(oldest)
            await self.close(oldest)

    def _one_too_many(self, account: str) -> Session | None:
        counts = Counter(one.account for one in [*self._open.values(), *self._lent])
        name, most = counts.most_common(1)[0]
        idle = [one for one in self._open.values() if one.account == name and not one.turn.locked()]
        if most < counts[account] + 2:
            return None
        return min(idle, key=lambda one: one.used, default=None)

    async def ask(
        self, session: Session, request: Mapping[str, Tree], stopped: threading.Event
    ) -> tuple[dict[str, Tree], bytes | None]:
        """What is stopped before it is sent never begins. The caller has the session's turn. WorkerDied: it has a new worker
        next time, which knows nothing of this one."""
        if session.closed:
            raise InterfaceError("there is no such session", code=704, fix="It has ended. Open a new one.")
        session.used = time.monotonic()
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(self._threads, self._ask, session, dict(request), stopped)
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:  # who asked is gone: the thread must end before the worker is used again
            stopped.set()
            session.stop()
            await asyncio.wait([asked])
            asked.exception()
            raise
        finally:
            session.used = time.monotonic()

    def _ask(
        self, session: Session, request: dict[str, Tree], stopped: threading.Event
    ) -> tuple[dict[str, Tree], bytes | None]:
        """In a thread."""
        until = time.monotonic() + self._settings.seconds
        if session.worker is None:
            session.worker = WorkerProcess(self._task(session))
        try:
            return session.worker.ask(request, max(0.1, until - time.monotonic()), stopped)
        except WorkerDied:
            self.deaths += 1
            worker, session.worker = session.worker, None
            worker.end()
            raise

    def _task(self, session: Session) -> Task:
        s = self._settings
        return Task(
            metadata=str(s.metadata),
            digest=self._digest,
            analyst=session.account,
            begin=session.begin,
            memory=s.memory,
            disk=s.disk,
            threads=s.threads,
        )

    async def sweep(self) -> None:
        """Ends what was not used for long, and workers that died in their sleep; removes what the dead wrote down."""
        now = time.monotonic()
        for session in self.all():
            dead = session.worker is not None and not session.worker.alive
            if not session.turn.locked() and (dead or now - session.used > self._settings.idle):
                if session in self._idle:
                    self._idle.remove(session)
                await self.close(session)
        await asyncio.get_running_loop().run_in_executor(self._threads, sweep, self._place)

    async def close_account(self, account: str) -> None:
        """Nobody gets in under that name any more."""
        for session in [*self.all(), *self._lent]:
            if session.account == account:
                if session in self._idle:
                    self._idle.remove(session)
                await self.close(session)

    async def end(self) -> None:
        """All of them."""
        for session in [*self.all(), *self._lent]:
            await self.close(session)
        self._idle.clear()
        sweep(self._place)
        self._threads.shutdown(wait=False, cancel_futures=True)
