"""Private strings, passwords and tokens: through no door, in no log, metric, audit line or list of processes. What may come
out is a group key that was released."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest

import dpsql
from dpsql.server.accounts import Accounts
from tests.server.started import COMMAND, Started, started

pytestmark = pytest.mark.slow

CELL, UNIT, RARE, PLACE = "Cell-Ze7Q", "Unit-Kx3W", "Rare-Bq9J", "Place-Uv5R"
PASSWORD, WRONG = "Password-Nw2L", "Wrong-Td8H"
COMMON = "Basel"  # the one key that many units have: released
METADATA = """
dataset: notes
unit: person
budget: {epsilon: 1000, delta: 1.0e-3}
per_query: {epsilon: 20, delta: 1.0e-6}
tables:
  notes:
    source: notes.parquet
    unit: person
    rows_per_unit: 2
    groups_per_unit: 1
    columns:
      person: text
      city: text
      note: text
      amount: {type: integer, lower: 0, upper: 100}
"""
# What an analyst may try to make a cell speak.
STATEMENTS = [
    "SELECT city, COUNT(*) AS n FROM notes GROUP BY city",
    "SELECT note, COUNT(*) AS n FROM notes GROUP BY note",
    "SELECT person, SUM(amount) AS s FROM notes GROUP BY person",
    *(
        "SELECT note FROM notes",
        "SELECT * FROM notes",
        "SELECT MIN(note) AS a FROM notes",
        "SELECT ANY_VALUE(note) FROM notes",
    ),
    "SELECT COUNT(*) AS n FROM notes WHERE CAST(note AS INTEGER) > 1",
    "SELECT SUM(CAST(note AS INTEGER)) AS n FROM notes",
    "SELECT COUNT(*) AS n FROM notes WHERE CAST(note AS DATE) > DATE '2020-01-01'",
    "SELECT COUNT(*) AS n FROM notes WHERE 1 / (amount - amount) > 1",
    "SELECT COUNT(*) AS n FROM notes WHERE regexp_matches(note, '(')",
    "SELECT COUNT(*) AS n FROM notes WHERE regexp_matches('a', note || '(')",
    "SELECT COUNT(*) AS n FROM notes WHERE strptime(note, '%Y') IS NULL",
    "SELECT COUNT(*) AS n FROM notes WHERE error(note) IS NULL",
    "SELECT error(note) AS e FROM notes",
    "SELECT STRING_AGG(note, ',') AS a FROM notes",
    "SELECT LIST(note) AS a FROM notes",
    "SELECT MODE(note) AS a FROM notes",
    "SELECT COUNT(*) AS n FROM notes WHERE note = (SELECT MAX(note) FROM notes)",
    "SUMMARIZE notes",
    "DESCRIBE notes",
    "SHOW TABLES",
    "EXPLAIN SELECT COUNT(*) FROM notes WHERE note > 'm'",
    "CREATE TABLE stolen AS SELECT * FROM notes",
    "CREATE TABLE mine AS SELECT city, COUNT(*) AS n FROM notes GROUP BY city",
    "COPY notes TO 'stolen.csv'",
    *(
        "SELECT * FROM read_parquet('notes.parquet')",
        "SELECT * FROM 'notes.parquet'",
        "SELECT * FROM duckdb_settings()",
    ),
    "SELECT * FROM duckdb_temporary_files()",
    "SELECT current_setting('temp_directory') AS a",
    "SELECT getenv('HOME') AS a",
    "ATTACH 'stolen.db'",
    "SELECT * FROM pg_catalog.pg_stats",
    "SELECT most_common_vals FROM pg_stats WHERE tablename = 'notes'",
    "SELECT nothing_known(relname) FROM pg_class",
]


@dataclass
class Told:
    """Whatever anybody was told."""

    parts: list[bytes] = field(default_factory=list)

    def add(self, part: object) -> None:
        self.parts.append(part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape"))

    def error(self, error: Exception) -> None:
        """With all that a program can see of it."""
        self.add(f"{error!r} {error} {error.__dict__} {error.__cause__!r} {error.__context__!r}")
        diagnosis = getattr(error, "diag", None)
        self.add([getattr(diagnosis, name, None) for name in dir(diagnosis) if name[:1] != "_"] if diagnosis else "")

    @property
    def whole(self) -> bytes:
        return b"\n".join(self.parts)


def written(folder: Path) -> Path:
    """2,000 people; one of them has what must not come out."""
    people = [f"p{i}" for i in range(2000)]
    rows = {"person": people, "city": [COMMON] * 2000, "note": ["as usual"] * 2000, "amount": [50] * 2000}
    rows["person"][7], rows["city"][7], rows["note"][7] = UNIT, RARE, CELL
    pd.DataFrame(rows).to_parquet(folder / "notes.parquet")
    (folder / "notes.yaml").write_text(METADATA)
    return folder / "notes.yaml"


@dataclass
class Served:
    """A server with TLS, and what its clients need."""

    server: Started
    certificate: Path
    ssl: ssl.SSLContext

    def request(self, method: str, path: str, body: object = None, *, who: str = "ana", accept: str = "*/*") -> bytes:
        token = self.server.tokens.get(who, who)
        headers = {"authorization": f"Bearer {token}", "accept": accept}
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        connection = http.client.HTTPSConnection("localhost", self.server.port, timeout=60, context=self.ssl)
        connection.request(method, path, raw, headers)
        answer = connection.getresponse()
        told = str(answer.getheaders()).encode() + answer.read()
        connection.close()
        return told

    def postgres(self, **more: Any) -> psycopg.Connection[Any]:
        given = {"host": "localhost", "port": self.server.postgres, "user": "ana", "password": PASSWORD, "dbname": "x"}
        given |= {"sslmode": "verify-full", "sslrootcert": str(self.certificate), **more}
        return psycopg.connect(**given, autocommit=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(PLACE)
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(made, check=True, capture_output=True)
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with started(written(folder), "--postgres-port", "0", *tls) as server:
        Accounts(server.metadata.with_name("notes.yaml.ledger.users")).set_password("ana", PASSWORD)
        yield Served(server, certificate, ssl.create_default_context(cafile=str(certificate)))


@pytest.fixture(scope="module")
def told(served: Served) -> Told:
    """Everything that was said at all doors."""
    everything = Told()
    over_http(served, everything)
    over_postgres(served, everything)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(served.certificate))
        by_driver(served, everything)
        by_shell(served, everything)
    by_the_owner(served, everything)
    return everything


def over_http(served: Served, told: Told) -> None:
    for sql in STATEMENTS:
        told.add(served.request("POST", "/v1/query", {"sql": sql}))
    for sql in STATEMENTS[:10]:
        for accept in ("text/csv", "application/vnd.apache.arrow.stream"):
            told.add(served.request("POST", "/v1/query", {"sql": sql}, accept=accept))
        told.add(served.request("POST", "/v1/explain", {"sql": sql}))
        told.add(served.request("POST", "/v1/cost", {"sql": sql}))
    for path in ("budget", "tables", "metadata", "me", "releases", "ledger", "accounts"):
        told.add(served.request("GET", f"/v1/{path}"))
    for wrong in (WRONG, f"dpsql_{WRONG}", served.server.tokens["ana"][:-1]):
        told.add(served.request("GET", "/v1/me", who=wrong))
    told.add(served.request("POST", "/v1/query", b'{"sql": "' + WRONG.encode()))
    session = json.loads(served.request("POST", "/v1/sessions").partition(b"]")[2])["session"]
    told.add(served.request("POST", f"/v1/sessions/{session}/query", {"sql": "SELECT 1 AS a"}))
    for worker in served.server.workers():
        os.kill(worker, signal.SIGKILL)
    told.add(served.request("POST", f"/v1/sessions/{session}/query", {"sql": STATEMENTS[0]}))


def over_postgres(served: Served, told: Told) -> None:
    with served.postgres() as connection:
        connection.add_notice_handler(lambda notice: told.add(f"{notice.message_primary} {notice.message_detail}"))
        for number, sql in enumerate(STATEMENTS):
            ways: Any = ({}, {"prepare": True, "binary": True})[number % 2]
            try:
                told.add(connection.execute(sql.encode(), **ways).fetchall())
            except psycopg.Error as error:
                told.error(error)
        for sql in STATEMENTS[:10]:
            try:
                with connection.cursor().copy(f"COPY ({sql}) TO STDOUT".encode()) as copy:
                    told.add(b"".join(bytes(part) for part in copy))
            except psycopg.Error as error:
                told.error(error)
    for wrong in ({"password": WRONG}, {"user": WRONG}, {"dbname": WRONG}):
        try:
            served.postgres(**wrong).close()
        except psycopg.Error as error:
            told.add(str(error).replace(WRONG, "") if "user" in wrong else error)


def by_driver(served: Served, told: Told) -> None:
    with dpsql.connect(f"https://localhost:{served.server.port}", token=served.server.tokens["ana"]) as connection:
        for sql in STATEMENTS[::2]:
            try:
                cursor = connection.execute(sql)
                told.add(f"{cursor.privacy} {cursor.description} {cursor!r}")
                told.add(cursor.df().to_csv() if cursor.description else "")
            except dpsql.Error as error:
                told.error(error)
        told.add(f"{connection!r} {connection.catalog} {connection.budget} {vars(connection)}")


def by_shell(served: Served, told: Told) -> None:
    environment = {
        **os.environ,
        "DPSQL_TOKEN": served.server.tokens["ana"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    address = f"https://localhost:{served.server.port}"
    script = ";\n".join(STATEMENTS[1::2]) + ";\n.schema\n.tables\n.budget\n.privacy\n"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, address, "-m", "csv"],
        input=script.encode(),
        env=environment,
        capture_output=True,
    )
    told.add(done.stdout + done.stderr)


def by_the_owner(served: Served, told: Told) -> None:
    for path in ("/metrics", "/v1/accounts", "/v1/ledger", "/v1/releases", "/health"):
        told.add(served.request("GET", path, who="olga"))


SECRET = (CELL, UNIT, RARE)


def test_doors(served: Served, told: Told) -> None:
    whole = told.whole
    assert COMMON.encode() in whole and b"2,000" not in whole  # something was released
    for secret in (*SECRET, PLACE, PASSWORD, WRONG, *served.server.tokens.values()):
        assert secret.encode() not in whole, secret
    assert b"a bug in dpsql" not in whole and b"Traceback" not in whole


def test_what_the_server_wrote_down(served: Served, told: Told) -> None:
    """Logs, the audit log, accounts, and the ledger with its compressed rows."""
    folder = served.server.metadata.parent
    kept = b""
    for path in folder.iterdir():
        if path.name != "notes.parquet":
            kept += path.read_bytes()
    kept += b"".join(released(folder / "notes.yaml.ledger"))
    assert COMMON.encode() in kept  # the released key is on record: what is compressed was read
    for secret in (*SECRET, PASSWORD, *served.server.tokens.values()):
        assert secret.encode() not in kept, secret
    log, audit = served.server.log(), (folder / "audit.jsonl").read_text()
    assert WRONG not in log and "Traceback" not in log and "a bug" not in log
    attempts = [line for line in served.server.audit() if line["event"] == "refused"]
    assert attempts and all(WRONG not in str({**line, "account": ""}) for line in attempts)
    assert WRONG not in audit.replace(f'"account": "{WRONG}"', "")  # the name that was tried is for the owner


def released(ledger: Path) -> Iterator[bytes]:
    """Whatever in it is compressed."""
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as opened:
        for (table,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in opened.execute(f'SELECT * FROM "{table}"').fetchall():
                for cell in row:
                    if isinstance(cell, bytes) and cell[:1] == b"\x78":
                        yield zlib.decompress(cell)


def test_the_list_of_processes(served: Served, told: Told) -> None:
    processes = [served.server.process.pid, *descendants(served.server.process.pid)]
    assert len(processes) > 2
    for pid in processes:
        for name in ("cmdline", "comm", "environ"):
            shown = Path(f"/proc/{pid}/{name}").read_bytes()
            for secret in (*SECRET, PASSWORD, WRONG, *served.server.tokens.values()):
                assert secret.encode() not in shown


def descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from descendants(child)
