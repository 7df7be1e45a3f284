"""dpsql in a pseudo-terminal, as a person uses it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|[\r\x07\x08]")


class Terminal:
    """A running shell. type() answers what it put on the screen until it is quiet again."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process, self._screen = process, screen
        self.seen = ""

    def type(self, *lines: str) -> str:
        """Type each line and Enter, and wait for the next prompt."""
        before = len(self.seen)
        for line in lines:
            shown = len(self.seen)
            os.write(self._screen, line.encode() + b"\r")
            self.wait(after=shown)
        return self.seen[before:]

    def press(self, keys: bytes) -> None:
        os.write(self._screen, keys)

    def wait(self, seconds: float = 30.0, after: int = 0) -> str:
        """Read until a prompt stands there and nothing more comes, or the shell has ended. after: what was seen before this
        does not count, so that a slow machine is waited for."""
        end, quiet, before = time.monotonic() + seconds, 0, len(self.seen)
        while quiet < 3 and time.monotonic() < end and self.read(0.15) is not None:
            prompt = re.search(r"(left|budget)\)> *$", self.seen[after:].rstrip("\n"))
            quiet = quiet + 1 if self.last == "" and prompt else 0
        return self.seen[before:]

    def read(self, seconds: float) -> str | None:
        """What comes within this time; None at the end."""
        self.last = ""
        if select.select([self._screen], [], [], seconds)[0]:
            try:
                some = os.read(self._screen, 65536)
            except OSError:  # the shell has closed its side
                some = b""
            if not some:
                return None
            self.last = _ESCAPES.sub("", some.decode("utf-8", "replace"))
            self.seen += self.last
        return self.last

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end and self.read(0.2) is not None, self.seen

    def ended(self, seconds: float = 30.0) -> int:
        """Its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        return self.process.wait(1)


@contextmanager
def terminal(*words: str, folder: Path, **environment: str) -> Iterator[Terminal]:
    """`dpsql words…` in a terminal of its own, in the folder."""
    screen, inside = pty.openpty()
    said = {"TERM": "xterm", "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_STATE_HOME": str(folder / "state")}
    process = subprocess.Popen(
        [sys.executable, "-m", "dpsql.shell.main", *words],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=folder,
        env={**os.environ, **said, "PYTHONPATH": str(ROOT), **environment},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C and hanging up are its signals
    )
    os.close(inside)
    made = Terminal(process, screen)
    try:
        yield made
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(screen)
