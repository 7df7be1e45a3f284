"""The engines of one session, each opened when it is first needed: the vault, the reader of public tables, scratch.

What they spill goes into the session's own folder. Opening is one at a time; what is open may be used from any thread.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpsql.catalog.model import Catalog
from dpsql.domain.types import Atom
from dpsql.engine.apart.run import Apart
from dpsql.engine.hardening import Limits, memory_here
from dpsql.engine.public import PublicReader
from dpsql.engine.scratch import Scratch
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import Source
from dpsql.engine.temporary import TemporaryFolder, place_from
from dpsql.engine.vault import Vault
from dpsql.sources.belongings import Belongings, Folder, of_catalog
from dpsql.sources.private_data import open_private
from dpsql.sources.public_tables import PublicTables
from dpsql.sources.table_sources import engine_of_private, source_of


@dataclass(slots=True, repr=False)
class Engines(Sealed):
    """given: what connect() was given in place of what the catalog declares. ledger: its file; None where it has none."""

    catalog: Catalog
    given: Mapping[str, Source]
    limits: Limits
    temporary: TemporaryFolder
    belongings: Belongings
    ledger: Path | None
    sessions: int = 1  # how many use them
    _vault: Vault | None = None
    _scratch: Scratch | None = None
    _apart: Apart | None = None
    _public: PublicTables = field(init=False)
    _opening: threading.RLock = field(default_factory=threading.RLock)
    _process: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        self._public = PublicTables(self.catalog, self._open_public)

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        given: Mapping[str, Source],
        limits: Limits,
        temp_folder: str | Path | None,
        ledger: Path | None,
    ) -> Engines:
        """temp_folder: where the caller wants folders for what is spilled, if the metadata leaves that open."""
        place = place_from(catalog.temp_folder, temp_folder)
        belongings = Belongings(of_catalog(catalog, given.values(), ledger))
        return cls(catalog, given, limits, TemporaryFolder(place), belongings, ledger)

    def another(self) -> Engines:
        """The same sources and limits for another session, whose engines are its own."""
        temporary = TemporaryFolder(self.temporary.place)
        return Engines(self.catalog, self.given, self.limits, temporary, self.belongings.copy(), self.ledger)

    @property
    def name(self) -> str:
        """Of the engine that private tables are on."""
        return engine_of_private(self.catalog, self.given)

    def vault(self) -> Vault:
        with self._opening:
            if self._vault is None:
                self._vault = open_private(self.catalog, self.given, self._limits("vault"), self._tell_owner)
            return self._vault

    def scratch(self) -> Scratch:
        with self._opening:
            if self._scratch is None:
                limits = self._shared(self._limits("scratch"))
                self._scratch = Scratch(limits)
            return self._scratch

    def apart(self) -> Apart:
        with self._opening:
            if self._apart is None:
                folder, courier = self.temporary.inner("exchange"), self._limits("courier")
                self._apart = Apart(self.scratch(), folder, self.limits, courier)
            return self._apart

    @property
    def keys(self) -> Mapping[tuple[str, str], tuple[Atom, ...]]:
        """The values of public columns that were read so far."""
        return self._public.keys

    def load_public(self, table: str) -> str:
        """The scratch table with a public table's cleaned rows."""
        with self._opening:
            return self._public.load(table, self.scratch())

    def read_keys(self, table: str, column: str) -> None:
        """The distinct values of a public column, into `keys`."""
        with self._opening:
            self._public.read_keys(table, column, self.scratch())

    def _open_public(self) -> PublicReader:
        public = {t.name: source_of(t, self.given) for t in self.catalog.tables if t.public}
        return PublicReader(public, self._limits("public"))

    def _limits(self, engine: str) -> Limits:
        """An engine writes down what does not fit into memory in the session's own folder, and nobody else's."""
        folder = self.temporary.inner(engine)
        self.belongings.add(Folder(folder.parent))
        return replace(self.limits, temp_directory=folder)

    @staticmethod
    def _shared(limits: Limits) -> Limits:
        """Where the analyst's words run, half of the machine is left to others, unless the caller says how much."""
        folder = limits.temp_directory
        half = None if folder is None else shutil.disk_usage(folder).free // 2
        disk = min((size for size in (half, limits.disk) if size is not None), default=None)
        memory = f"{memory_here() // 2 // 10**6}MB" if limits.memory is None else limits.memory
        return replace(limits, memory=memory, disk=disk)

    def _tell_owner(self, message: str) -> None:
        """The engine's own words, for the owner alone: a 0600 file beside the ledger; nowhere without one."""
        if self.ledger is None:
            return
        path = self.ledger.with_name(self.ledger.name + ".owner.log")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {message}\n")

    def interrupt(self) -> None:
        """Stop whatever runs now; callable from any thread."""
        for engine in (self._vault, self._apart, self._scratch):
            if engine is not None:
                engine.interrupt()

    def begin_in_child(self) -> None:
        """After a fork: the parent's databases, and the folder they spill to, stay the parent's. Sessions that share these
        engines all come here; the first begins."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self._opening = threading.RLock()
        self._vault, self._scratch, self._apart = None, None, None
        self._public.forget()
        self.temporary = TemporaryFolder(self.temporary.place)

    def close(self) -> bool:
        """What is still open, with the last session that uses it: whether this was the last."""
        self.sessions -= 1
        if self.sessions > 0:
            return False
        for part in (self._vault, self._public, self._apart, self._scratch, self.temporary, self.belongings):
            if part is not None:
                part.close()
        return True
