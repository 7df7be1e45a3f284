"""What the owner sets when the server starts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dpsql.errors import InterfaceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """running: statements at the same time; running_of_account: of one account (None: see Places); waiting: more than that
    wait, the rest hear "busy". sessions: open ones, each a
    process; for_account: of one account. seconds: the deadline of a statement; idle: after which a session ends; grace: for
    what runs when the server stops. every: answers leave at multiples of so many seconds after they were asked (0: at
    once). memory and disk of each worker in bytes."""

    metadata: Path
    host: str = "127.0.0.1"
    port: int = 8470
    postgres_port: int | None = None
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False
    audit: Path | None = None
    running: int = 4
    running_of_account: int | None = None
    waiting: int = 100
    sessions: int = 64
    for_account: int = 16
    seconds: float = 300.0
    idle: float = 900.0
    grace: float = 10.0
    every: float = 0.0
    memory: int = 2_000_000_000
    disk: int = 20_000_000_000
    threads: int = 2


_SIZE = re.compile(r"(\d{1,9}) *([KMGT])I?B", re.I)
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def bytes_of(size: str) -> int:
    """What "2GB" is; at least what an engine needs."""
    match = _SIZE.fullmatch(size)
    value = 0 if match is None else int(match[1]) * _UNITS[match[2].upper()]
    if value < 100 * 10**6:
        raise InterfaceError(f"{size[:40]!r} is not a size", code=708, fix="Write 4GB or 500MB; the smallest is 100MB.")
    return value
