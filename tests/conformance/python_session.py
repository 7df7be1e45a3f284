"""Recorded Python sessions: what stands behind >>> and ... is run, everything else is what it printed.

An error is shown as Python shows it, without the frames of the stack.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from unittest import mock

import sqlalchemy

# what the entry point says; a checkout may have been installed before there was one
sqlalchemy.dialects.registry.register("dpsql", "dpsql.integrations.sqlalchemy", "DpsqlDialect")


def play(body: str, names: dict[str, object]) -> str:
    """The session's statements with what they print now. names: what the file's sessions have defined so far."""
    return "".join(f"{line.rstrip()}\n" for entry in entries(body) for line in [*entry, *_run(entry, names)])


def entries(body: str) -> Iterator[list[str]]:
    """The lines of each statement, prompts included."""
    entry: list[str] = []
    for line in body.splitlines():
        if line.startswith(">>> "):
            if entry:
                yield entry
            entry = [line]
        elif entry and (line == "..." or line.startswith("... ")):
            entry.append(line)
    if entry:
        yield entry


def _run(entry: list[str], names: dict[str, object]) -> list[str]:
    source = "\n".join(line[4:] for line in entry) + "\n"
    with _screen() as screen:
        try:
            exec(compile(source, "<session>", "single"), names)
        except Exception as error:
            print(f"Traceback (most recent call last):\n  ...\n{_name(type(error))}: {error}")
    return screen.getvalue().splitlines()


@contextlib.contextmanager
def _screen() -> Iterator[io.StringIO]:
    screen = io.StringIO()

    def show(value: object) -> None:
        if value is not None:
            print(repr(value))

    with (
        mock.patch.dict(os.environ, {"COLUMNS": "100", "LINES": "40"}),
        mock.patch.object(sys, "displayhook", show),
        contextlib.redirect_stdout(screen),
    ):
        yield screen


def _name(kind: type[BaseException]) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
