"""The one database that opens the files of exchange: rows go through it between scratch and the processes apart.

It runs statements of ours alone. So scratch, where text of an analyst's runs, needs no file but what it spills itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.loading import carried, load_typed
from dpsql.engine.quoting import quote_identifier, quote_text
from dpsql.engine.scratch import Scratch
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.sources import Column


class Courier(Sealed, Closing):
    """folder: of exchange. Its statements run inside of scratch's, one at a time."""

    def __init__(self, scratch: Scratch, folder: Path, limits: Limits) -> None:
        self._scratch = scratch
        self._database = Hardened(limits)
        self._database.allow_folder(folder)
        self._database.lock()
        self._numbers = itertools.count(1)

    def write(self, file: Path, tables: Mapping[str, str]) -> None:
        """A new database with the rows of these queries of our own over scratch as tables."""

        def bring() -> None:
            with self._attached(file) as there:
                for name, sql in tables.items():
                    stream, columns = self._scratch.carried(sql)
                    load_typed(self._database.connection, f"TABLE {there}.{quote_identifier(name)}", stream, columns)

        self._scratch.run(bring)

    def read(self, file: Path, table: str, columns: tuple[Column, ...]) -> ScratchResult:
        """The rows of a table of that database, as a result in scratch. columns: with their names there."""

        def fetch() -> ScratchResult:
            with self._attached(file, " (READ_ONLY)") as there:
                rows = self._database.connection.sql(f"FROM {there}.{quote_identifier(table)}")
                return self._scratch.keep(carried(rows), columns)

        return self._scratch.run(fetch)

    @contextmanager
    def _attached(self, file: Path, how: str = "") -> Iterator[str]:
        name = f"x{next(self._numbers)}"
        self._execute(f"ATTACH {quote_text(str(file))} AS {name}{how}")
        try:
            yield name
        finally:
            self._execute(f"DETACH {name}")

    def _execute(self, sql: str) -> None:
        self._database.connection.execute(sql).fetchall()

    def interrupt(self) -> None:
        self._database.connection.interrupt()

    def close(self) -> None:
        self._database.close()
