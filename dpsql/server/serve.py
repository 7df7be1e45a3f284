"""`dpsql serve`: what is checked before it listens, what listens, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import ipaddress
import os
import resource
import signal
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import uvicorn

from dpsql.errors import InterfaceError
from dpsql.metadata.load import load
from dpsql.server.accounts import Accounts
from dpsql.server.audit import Audit
from dpsql.server.connections import HEAD_SECONDS, Connection
from dpsql.server.http import Http
from dpsql.server.process import context
from dpsql.server.service import QueryService
from dpsql.server.settings import Settings
from dpsql.server.wire.door import Door
from dpsql.sources.catalog_ledger import ledger_path_of, open_ledger

SWEEP_SECONDS = 5.0
MOST_CONNECTIONS = 2000  # over HTTP, most of which have a request: idle ones are fewer
MOST_FILES = 8192


def accounts_of(metadata: Path) -> Accounts:
    """The accounts of a dataset: beside its ledger."""
    ledger = ledger_path_of(load(metadata))
    assert ledger is not None  # a catalog with a file has a place for its ledger
    return Accounts(ledger.with_name(ledger.name + ".users"))


def serve(settings: Settings) -> None:
    """Until SIGTERM or SIGINT."""
    check(settings)
    catalog = load(settings.metadata)
    open_ledger(catalog, None, new_epoch=False, changes="any").close()  # whatever is wrong with it is said now
    accounts = accounts_of(settings.metadata)
    accounts.all()
    alone = the_only_one(accounts.path)
    _many_files()
    from multiprocessing.forkserver import ensure_running

    context()
    ensure_running()
    try:
        asyncio.run(_serve(settings, QueryService(settings, accounts, Audit(settings.audit))))
    finally:
        os.close(alone)


def _many_files() -> None:
    """A connection is an open file; many systems allow few at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def the_only_one(accounts: Path) -> int:
    """A lock that lasts as long as this process: two servers of one ledger would charge the same question twice."""
    lock = os.open(f"{accounts}.serving", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InterfaceError(
            "another server serves this dataset", code=708, fix="Stop it first; one server has all analysts."
        ) from None
    return lock


def check(settings: Settings) -> None:
    """Where it would listen, somebody may listen in: InterfaceError 708."""
    if (settings.certificate is None) != (settings.key is None):
        raise InterfaceError("TLS needs a certificate and its key", code=708, fix="Give --tls-cert and --tls-key.")
    if settings.certificate is None and not settings.insecure and not _loopback(settings.host):
        raise InterfaceError(
            f"{settings.host} can be reached from other machines, and there is no TLS",
            code=708,
            why="Tokens and results would cross the network as plain text.",
            fix="Give --tls-cert and --tls-key, or --insecure where something in front of it has TLS.",
        )


def _loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _Uvicorn(uvicorn.Server):
    """Signals are ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """With connections of our own, and little time for TLS to begin."""
        made = partial(Connection, config=self.config, server_state=self.server_state, app_state={})
        tls = self.config.ssl
        self.servers = [
            await asyncio.get_running_loop().create_server(
                made,
                self.config.host,
                self.config.port,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else HEAD_SECONDS,
                backlog=self.config.backlog,
            )
        ]
        self.started = True


async def _serve(settings: Settings, service: QueryService) -> None:
    stop = asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(one, stop.set)
    http = _Uvicorn(_config(settings, service))
    running = asyncio.create_task(http.serve())
    door = Door(service, settings)
    while not http.started and not running.done():
        await asyncio.sleep(0.01)
    try:
        if running.done():
            await running
        wire = None if settings.postgres_port is None else await door.listen(settings.host, settings.postgres_port)
    except OSError as error:
        raise InterfaceError(
            f"it cannot listen at {settings.host}",
            code=708,
            why=f"The system says: {error.strerror}.",
            fix="Is another server there? Give another --host, --port or --postgres-port.",
        ) from None
    sweeping = asyncio.create_task(_sweep(service))
    if not running.done():
        port = http.servers[0].sockets[0].getsockname()[1]
        scheme = "http" if settings.certificate is None else "https"
        also = "" if wire is None else f", postgres port {wire.sockets[0].getsockname()[1]}"
        print(f"dpsql serves {settings.metadata.name} at {scheme}://{settings.host}:{port}{also}", flush=True)
        service.audit.write("started", metadata=settings.metadata.name)
        if service.audit.failing:
            raise InterfaceError("the audit log cannot be written", code=708, fix="Is its disk full?")
    await asyncio.wait([running, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
    sweeping.cancel()
    if wire is not None:
        wire.close()
    await service.end()
    await door.end()
    http.should_exit = True
    await running


async def _sweep(service: QueryService) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        await service.sweep()


def _config(settings: Settings, service: QueryService) -> uvicorn.Config:
    return uvicorn.Config(
        Http(service).app,
        host=settings.host,
        port=settings.port,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        loop="asyncio",
        http="h11",
        h11_max_incomplete_event_size=16_384,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        limit_concurrency=MOST_CONNECTIONS,
        proxy_headers=False,
    )
