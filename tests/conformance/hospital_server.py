"""The hospital's tables on a PostgreSQL server, as `dpsql help databases` has them before it begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import duckdb

from tests.engines.postgres import OWNER, Server

DATABASE, SERVICE, ROLE = "hospital", "hospital", "dpsql_reader"
COLUMNS = (
    "visit_id bigint PRIMARY KEY, patient_id bigint NOT NULL, specialty text, duration double precision, visited_on date,"
    " referrer text"
)


@contextmanager
def hospital(server: Server, folder: Path) -> Iterator[None]:
    """A database with the visits of folder/data, and a service of that name for everything that runs inside."""
    server.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
    server.execute(f"CREATE DATABASE {DATABASE}")
    server.execute(f"CREATE TABLE visits ({COLUMNS})", database=DATABASE)
    lines = folder / "visits.csv"
    duckdb.sql(f"COPY (SELECT * FROM '{folder}/data/hospital/visits.parquet') TO '{lines}' (HEADER false)")
    with (
        server.connect(database=DATABASE) as connection,
        connection.cursor().copy("COPY visits FROM STDIN (FORMAT csv)") as copy,
    ):
        copy.write(lines.read_bytes())
    lines.unlink()
    services = folder / "pg_service.conf"
    services.write_text(f"[{SERVICE}]\nhost={server.folder}\ndbname={DATABASE}\nuser={ROLE}\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    try:
        with mock.patch.dict(os.environ, {**clean, "PGSERVICEFILE": str(services)}, clear=True):
            yield
    finally:
        server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        server.execute(f"DROP ROLE IF EXISTS {ROLE}")


def typed_into_psql(server: Server, sql: str) -> None:
    """As a superuser of the database."""
    server.execute(sql, database=DATABASE, user=OWNER)
