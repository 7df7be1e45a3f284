"""A really started server over made-up visits, and what its clients need."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dpsql.server.accounts import Accounts

COMMAND = "import sys; from dpsql.shell.main import main; sys.exit(main())"
METADATA = """
dataset: visits
version: 2026-11
unit: patient
budget: {{epsilon: {epsilon}, delta: 1.0e-3}}
per_query: {{epsilon: 1, delta: 1.0e-9}}
{analysts}
tables:
  visits:
    description: one row per visit
    source: visits.parquet
    unit: patient_id
    rows_per_unit: 2
    groups_per_unit: 2
    columns:
      patient_id: integer
      specialty: {{type: text, keys: [cardiology, oncology, surgery]}}
      cost: {{type: integer, lower: 0, upper: 500}}
      duration: {{type: real, lower: 0, upper: 240}}
      visited_on: {{type: date, lower: 2020-01-01, upper: 2020-12-31}}
      referrer: text
  specialties:
    public: true
    source: specialties.parquet
    columns:
      name: text
      floor: integer
"""
SENTINEL = "SENTINEL-Ze7Q"  # a private cell: it must come out of no door and be in no log


def write_data(folder: Path, *, epsilon: float = 1000, analysts: str = "") -> Path:
    """A metadata file with its sources."""
    rows = range(4000)
    pd.DataFrame(
        {
            "patient_id": [i // 2 for i in rows],
            "specialty": [("cardiology", "oncology", "surgery")[i % 3] for i in rows],
            "cost": [i % 500 for i in rows],
            "duration": [float(i % 240) for i in rows],
            "visited_on": pd.date_range("2020-01-01", periods=300).repeat(14)[:4000],
            "referrer": [SENTINEL if i == 7 else f"doctor {i % 5}" for i in rows],
        }
    ).to_parquet(folder / "visits.parquet")
    pd.DataFrame({"name": ["cardiology", "oncology", "surgery"], "floor": [1, 2, 2]}).to_parquet(
        folder / "specialties.parquet"
    )
    metadata = folder / "visits.yaml"
    metadata.write_text(METADATA.format(epsilon=epsilon, analysts=analysts))
    return metadata


@dataclass
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def tree(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.tree["error"]["code"])


@dataclass
class Started:
    """A server process, and requests to it."""

    process: subprocess.Popen[str]
    port: int
    metadata: Path
    tokens: dict[str, str] = field(default_factory=dict)
    postgres: int = 0

    def request(self, method: str, path: str, body: object = None, *, who: str | None = "ana", **headers: str) -> Reply:
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent.setdefault("authorization", f"Bearer {self.tokens.get(who, who)}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            return Reply(answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()})

    def query(self, sql: str, *, who: str = "ana", path: str = "/v1/query", **more: object) -> Reply:
        return self.request("POST", path, {"sql": sql, **more}, who=who)

    def workers(self) -> list[int]:
        """The process ids of workers: grandchildren, through the process that forks them."""
        return [child for forker in _children(self.process.pid) for child in _children(forker)]

    def log(self) -> str:
        return (self.metadata.parent / "server.log").read_text()

    def audit(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.metadata.parent / "audit.jsonl").read_text().splitlines()]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def _children(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(c) for task in tasks for c in (task / "children").read_text().split()]
    return []


@contextlib.contextmanager
def started(metadata: Path, *options: str, names: tuple[str, ...] = ("ana", "ben", "olga")) -> Iterator[Started]:
    """`dpsql serve` with accounts of these names; olga is an owner."""
    accounts = Accounts(metadata.with_name(metadata.name + ".ledger.users"))
    for name in names:
        if name not in accounts.all():
            accounts.add(name, "owner" if name == "olga" else "analyst")
    tokens = {name: accounts.new_token(name, 3600)[0] for name in names}
    audit = str(metadata.parent / "audit.jsonl")
    arguments = ["serve", str(metadata), "--port", "0", "--audit", audit, *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (metadata.parent / "server.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        port = re.search(r"https?://[^:]+:(\d+)", said)
        postgres = re.search(r"postgres port (\d+)", said)
        assert port is not None, (metadata.parent / "server.log").read_text()
        yield Started(process, int(port[1]), metadata, tokens, int(postgres[1]) if postgres else 0)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def wait_until(true: Any, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)
