"""The owner's audit log: who asked what and what became of it, a line of JSON for each. No token, no password, no result."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from dpsql.dbapi.exchange import Tree

MOST_TEXT = 10_000
MOST_READ = 1 << 20


class Audit:
    """Appends to a file that its user alone can read; None: nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._file: int | None = None
        self.failing = False
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)

    def write(self, event: str, **told: Tree) -> None:
        """One line; texts are cut. What cannot be written (a full disk) is said on standard error, once; `works` is asked
        before anything else is charged."""
        if self._file is None:
            return
        time_text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        cut = {name: value[:MOST_TEXT] if isinstance(value, str) else value for name, value in told.items()}
        line = json.dumps({"time": time_text, "event": event, **cut}, ensure_ascii=True) + "\n"
        with self._guard:
            try:
                rest = (b"\n" if self.failing else b"") + line.encode()  # after a line that was cut
                while rest:
                    rest = rest[os.write(self._file, rest) :]
            except OSError as error:
                if not self.failing:
                    print(f"dpsql: the audit log cannot be written: {error.strerror}", file=sys.stderr)
                self.failing = True
            else:
                self.failing = False

    def works(self) -> bool:
        """Whether lines can be written; after a failure it tries."""
        if self.failing:
            self.write("resumed")
        return not self.failing

    def newest(self, most: int = 200) -> list[Tree]:
        """The newest lines, the last first; none where none are kept."""
        if self._path is None:
            return []
        with self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_READ))
            lines = file.read().split(b"\n")
        told = [_line(line) for line in reversed(lines[-most - 1 :])]
        return [one for one in told if one is not None]

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _line(line: bytes) -> Tree:
    """None for one that is cut: the first that was read may be."""
    try:
        return json.loads(line)
    except ValueError:
        return None
