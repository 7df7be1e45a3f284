"""Statements that run apart: their tables go there in a file, and their rows come back in one.

The database there is locked before it sees the text: it has the tables that were handed over, no other file, no network,
no settings, no extension; and time, memory, threads and disk of its own. Its own files have lost their names by then, since
DuckDB lets a text read what is attached.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

from dpsql.engine.apart.courier import Courier
from dpsql.engine.apart.process import WORKERS, Running
from dpsql.engine.failures import said
from dpsql.engine.hardening import PINS, Limits, memory_here, size_of
from dpsql.engine.quoting import quote_identifier, quote_text
from dpsql.engine.scratch import Scratch
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.sources import Column
from dpsql.errors import InterfaceError

Parameters = Mapping[str, object] | tuple[object, ...]
MOST_MEMORY, MOST_DISK, MOST_THREADS = 4 * 10**9, 8 * 10**9, 4
ROOM = 2 * 2**30  # of addresses, beside DuckDB's memory: Python, libraries, the stacks of threads
SECONDS = 60.0
_IN, _OUT, _ROWS = "given", "made", "rows"
_SPILLED = "spilled"  # in a folder of its own, which DuckDB lets a text read
_KEEPS_NAMES = os.name == "nt"  # what is open has a name there until it is closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A statement: its text and parameters; the tables that it reads, each by a query over scratch; and views of them.
    lasting: tables whose query has the same rows as long as the session lasts."""

    text: str
    parameters: Parameters = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    lasting: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)


class Apart(Sealed, Closing):
    """A session's way to the processes apart. folder: of exchange. limits: of each statement; those of the courier's."""

    def __init__(self, scratch: Scratch, folder: Path, limits: Limits, courier: Limits | None = None) -> None:
        self._folder, self._limits = folder, limits
        self._courier = Courier(scratch, folder, courier or Limits())
        self._now: dict[int, Running] = {}
        self._kept: dict[str, Path] = {}  # files of lasting tables, by their queries
        self._guard, self._keeping = threading.Lock(), threading.Lock()
        self._number = 0
        self._closed = False

    def describe(self, question: Question, seconds: float) -> tuple[Column, ...]:
        """The columns of its rows. SqlError 105 with DuckDB's message where it cannot be bound."""
        with self._files() as (given, _):
            return _columns(self._ask(question, "describe", given, None, seconds))

    def rows(self, question: Question, seconds: float) -> ScratchResult:
        """Its rows, as a result in scratch."""
        with self._files() as (given, made):
            columns = _columns(self._ask(question, "rows", given, made, seconds))
            return self._courier.read(made, "r", columns)

    def _ask(self, question: Question, kind: str, given: Path, made: Path | None, seconds: float) -> dict[str, Any]:
        if question.tables:
            self._courier.write(given, question.tables)
        files = {name: self._linked(given.parent, self._lasting(sql)) for name, sql in question.lasting.items()}
        new = made if made is None or _KEEPS_NAMES else made.with_name("new.duckdb")
        before = [*self._settings(given.parent), *_attached(question, files, given, new), *_LOCKS]
        opened = [*([given] if question.tables else ()), *files.values()]
        asked = {
            "kind": kind,
            "text": question.text,
            "parameters": _sent(question.parameters),
            "before": before,
            "removed": [] if _KEEPS_NAMES else list(map(str, opened)),
            "renamed": {} if new == made else {str(new): str(made)},
            "into": f"{_OUT}.r",
            "space": self._memory() + ROOM,
            "file_size": self._disk(),
        }
        number = self._next()
        try:
            answer = WORKERS.run(asked, seconds, lambda running: self._begun(number, running))
        finally:
            self._now.pop(number, None)
        if "failed" in answer:
            raise said(answer["failed"], answer["message"], bound=kind == "describe")
        return answer

    def _linked(self, folder: Path, file: Path) -> Path:
        """Another name of a lasting file, for one statement."""
        link = folder / f"{self._next()}.duckdb"
        try:
            os.link(file, link)
        except OSError:  # a file system without links
            shutil.copyfile(file, link)
        return link

    def _lasting(self, sql: str) -> Path:
        """The file with the rows of a lasting table, which is written once."""
        with self._keeping:
            if sql not in self._kept:
                file = self._folder / f"{self._next()}.duckdb"
                self._courier.write(file, {_ROWS: sql})
                self._kept[sql] = file
            return self._kept[sql]

    def _settings(self, folder: Path) -> Iterator[str]:
        for name, value in PINS:
            yield f"SET GLOBAL {name} = {value}"
        yield f"SET GLOBAL memory_limit = '{self._memory() // 10**6}MB'"
        yield f"SET GLOBAL threads = {self._threads()}"
        yield f"SET GLOBAL temp_directory = {quote_text(str(folder / _SPILLED))}"
        yield f"SET GLOBAL max_temp_directory_size = '{self._disk() // 10**6}MB'"

    def _memory(self) -> int:
        asked = self._limits.memory
        return min(memory_here() // 4, MOST_MEMORY) if asked is None else size_of(asked)

    def _threads(self) -> int:
        return self._limits.threads or max(1, min(MOST_THREADS, (os.cpu_count() or 1) - 1))

    def _disk(self) -> int:
        """At most half of what is left: nobody else's disk is filled."""
        asked = MOST_DISK if self._limits.disk is None else self._limits.disk
        return min(MOST_DISK, asked, shutil.disk_usage(self._folder).free // 2)

    @contextmanager
    def _files(self) -> Iterator[tuple[Path, Path]]:
        """In a folder that goes with the statement, what a process that was ended has spilled there, too."""
        folder = self._folder / str(self._next())
        (folder / _SPILLED).mkdir(mode=0o700, parents=True)
        try:
            yield folder / "given.duckdb", folder / "made.duckdb"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _next(self) -> int:
        with self._guard:
            if self._closed:
                raise InterfaceError("the connection is closed", code=601)
            self._number += 1
            return self._number

    def _begun(self, number: int, running: Running) -> None:
        self._now[number] = running

    def interrupt(self) -> None:
        """Stop what runs now; callable from any thread."""
        self._courier.interrupt()
        for running in list(self._now.values()):
            running.stop()

    def close(self) -> None:
        self._closed = True
        self.interrupt()
        self._courier.close()


_LOCKS = ("SET GLOBAL enable_external_access = false", "SET GLOBAL lock_configuration = true")


def _attached(question: Question, files: Mapping[str, Path], given: Path, new: Path | None) -> Iterator[str]:
    """Before the lock. The statement names views, so that its tables are in no database that it could write to."""
    if question.tables:
        yield f"ATTACH {quote_text(str(given))} AS {_IN} (READ_ONLY)"
    if new is not None:
        yield f"ATTACH {quote_text(str(new))} AS {_OUT}"
    for name in question.tables:
        yield f"CREATE VIEW {quote_identifier(name)} AS FROM {_IN}.main.{quote_identifier(name)}"
    for number, (name, file) in enumerate(files.items()):
        yield f"ATTACH {quote_text(str(file))} AS {_IN}_{number} (READ_ONLY)"
        yield from _view(name, f"FROM {_IN}_{number}.main.{_ROWS}")
    for name, text in question.views.items():
        yield from _view(name, text)


def _view(name: str, text: str) -> Iterator[str]:
    """Under its name; of one with a dot, in its schema, too."""
    yield f"CREATE VIEW {quote_identifier(name)} AS {text}"
    schema, _, last = name.rpartition(".")
    if schema:
        schema = quote_identifier(schema.rpartition(".")[2])
        yield f"CREATE SCHEMA IF NOT EXISTS {schema}"
        yield f"CREATE VIEW {schema}.{quote_identifier(last)} AS FROM {quote_identifier(name)}"


def _columns(answer: dict[str, Any]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=type_) for name, type_ in answer["columns"])


def _sent(parameters: Parameters) -> object:
    if isinstance(parameters, Mapping):
        return {name: _value(value) for name, value in parameters.items()}
    return [_value(value) for value in parameters]


def _value(value: object) -> tuple[str, object]:
    """As the process apart reads it (worker._value)."""
    match value:
        case None | bool() | int() | float() | str():
            return "plain", value
        case Fraction():
            return "plain", float(value)
        case Decimal() | UUID():
            return type(value).__name__.lower(), str(value)
        case bytes():
            return "bytes", value.hex()
        case datetime() | date() | time():
            return type(value).__name__, value.isoformat()
        case timedelta():
            return "timedelta", (value.days, value.seconds, value.microseconds)
        case list():
            return "list", [_value(one) for one in value]
        case dict():
            return "dict", {name: _value(one) for name, one in value.items()}
    raise InterfaceError(f"a parameter cannot be a {type(value).__name__}", code=601)


__all__ = ["SECONDS", "Apart", "Parameters", "Question"]
