"""A PostgreSQL server of the tests' own: Debian's package, a folder that is removed, no port, no durability."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dpsql.engine.sources import Address
from dpsql.engine.sources import Server as Source

if TYPE_CHECKING:
    import psycopg

MISSING = "PostgreSQL is not installed: apt-get install postgresql"
OWNER, READER, GUARDED = "owner", "reader", "guarded"  # superuser; SELECT only; asks for a password
PASSWORD = "sentinel-password-7f3a"
PLAIN, COLLATED = "plain", "collated"  # databases: C.UTF-8; ICU, with the nondeterministic collation "insensitive"

_RULES = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
_SETTINGS = "-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off -c max_connections=60"


def binaries() -> Path | None:
    """The folder of the newest server that is installed; None where none is."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda name: int(name.split("/")[4]))
    path = programs[-1] if programs else shutil.which("initdb")
    return None if path is None else Path(path).resolve().parent


class Server:
    """A running server. Its only door is a socket in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str = PLAIN, user: str = READER) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def address(self, database: str = PLAIN, user: str = READER, **more: Any) -> Address:
        parameters = (("dbname", database), ("host", str(self.folder)), ("user", user))
        return Address(parameters=parameters, **more)

    def table(self, name: str, schema: str = "public", system: str | None = None, **more: Any) -> Source:
        """The table as a source."""
        return Source(address=self.address(**more), schema=schema, table=name, system=system)

    def connect(self, *, database: str = PLAIN, user: str = OWNER) -> psycopg.Connection[Any]:
        import psycopg

        return psycopg.connect(host=str(self.folder), dbname=database, user=user, autocommit=True)

    def execute(self, sql: str, *, database: str = PLAIN, user: str = OWNER) -> list[tuple[Any, ...]]:
        """Statements without parameters; the rows of the last one, if it has any."""
        with self.connect(database=database, user=user) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]  # made by tests
            return list(cursor.fetchall()) if cursor.description is not None else []


@contextmanager
def running() -> Iterator[Server]:
    """Start a server, stop it and remove its folder at the end."""
    programs = binaries()
    assert programs is not None, MISSING
    folder = Path(tempfile.mkdtemp(prefix="dpsql-pg-"))
    data = folder / "data"
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        folder.chmod(0o755)
        options = ("-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "-U", OWNER, "--no-sync", "-D", str(data))
        _as_postgres(programs / "initdb", *options)
        (data / "pg_hba.conf").write_text(_RULES)
        started = ("-w", "-l", str(folder / "log"), "-o", _SETTINGS.format(folder=folder), "start")
        _as_postgres(programs / "pg_ctl", "-D", str(data), *started)
        try:
            server = Server(folder)
            _prepare(server)
            yield server
        finally:
            _as_postgres(programs / "pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_postgres(program: Path, *arguments: str) -> None:
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    command = [*user, str(program), *arguments]
    done = subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def _prepare(server: Server) -> None:
    server.execute(
        f"CREATE ROLE {READER} LOGIN; CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'", database="postgres"
    )


def fresh(server: Server) -> None:
    """Both databases as they are at first: what one module of tests makes, another one does not meet."""
    run = server.execute
    icu = "LOCALE_PROVIDER icu ICU_LOCALE 'und' TEMPLATE template0"
    insensitive = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    for database, words in ((PLAIN, ""), (COLLATED, icu)):
        run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)", database="postgres")
        run(f"CREATE DATABASE {database} {words}", database="postgres")
        run(f"REVOKE CREATE, TEMPORARY ON DATABASE {database} FROM PUBLIC", database=database)
        run(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {READER}, {GUARDED}",
            database=database,
        )
    run(f"CREATE COLLATION public.insensitive {insensitive}", database=COLLATED)
