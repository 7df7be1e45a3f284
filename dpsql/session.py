"""What one connection holds: the catalog, the ledger, the settings, the tables of the user's own, and the engines.

A session decides nothing about privacy: query.py runs the steps, the planner makes the plan, the ledger says yes or no.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_open import Changes
from dpsql.accounting.releases import chosen_limits
from dpsql.catalog.fingerprint import fingerprint
from dpsql.catalog.model import Catalog, fold
from dpsql.domain.facts import Values
from dpsql.domain.types import Atom, Type
from dpsql.engine.apart.run import Apart
from dpsql.engine.hardening import limits_asked
from dpsql.engine.scratch import Scratch
from dpsql.engine.sealed import Sealed
from dpsql.engine.vault import Vault
from dpsql.errors import InterfaceError
from dpsql.functions.sets import KeyQuestion
from dpsql.ir.nodes import Filter, Project, Scan, walk
from dpsql.metadata.budget import with_budget
from dpsql.metadata.delta import check_delta
from dpsql.metadata.load import load
from dpsql.plan.stages import Stage
from dpsql.privacy.contribution_limit import tables_read
from dpsql.privacy.settings import AskedLimit, Defaults, Released
from dpsql.report.work import Progress, Work
from dpsql.sources.catalog_ledger import open_ledger
from dpsql.sources.engines import Engines
from dpsql.sources.file_access import restricted_error
from dpsql.sources.given import by_hand, of_metadata
from dpsql.sources.identity import check_identity
from dpsql.sources.table_sources import overrides
from dpsql.sources.user_tables import UserTables
from dpsql.sql.limits import SIZE_LIMIT


@dataclass(slots=True, repr=False, kw_only=True)
class Session(Sealed):
    """metadata: what the data is compared by: the catalog's fingerprint, and what was given by hand.

    restricted: no interface reads or writes a file for whoever asks. process: a forked child makes engines of its own.
    connected: the settings as they were in the beginning.
    work: what runs now; tell: who is told of it.
    copied: all private rows are the session's own copies, which stay what they are as long as it lasts.
    unfinished: by plan, released rows whose post-processing failed. key_values: key sets that were computed.
    """

    catalog: Catalog
    ledger: Ledger | None  # None in exact mode only
    analyst: str | None
    defaults: Defaults
    engines: Engines
    metadata: str
    source_given: bool
    restricted: bool
    exact: bool = False
    copied: bool = False
    unfinished: dict[str, bytes] = field(default_factory=dict)
    key_values: dict[KeyQuestion, Values | None] = field(default_factory=dict)
    size_limit: int = SIZE_LIMIT
    process: int = field(default_factory=os.getpid)
    closed: bool = False
    connected: Defaults = field(init=False)
    work: Work = field(default_factory=Work)
    tell: Callable[[Progress], object] | None = None
    _user: UserTables | None = None
    _counter: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.connected = replace(self.defaults)

    @property
    def scratch(self) -> Scratch:
        self._check_open()
        scratch = self.engines.scratch()
        scratch.time_limit = float(self.defaults.time_limit)
        return scratch

    @property
    def apart(self) -> Apart:
        """Where texts of the analyst's run."""
        self._check_open()
        return self.engines.apart()

    @property
    def user(self) -> UserTables:
        """The tables of the user's own, as this session's connection to them sees them."""
        scratch = self.scratch  # each time: it is told the time limit as it is now
        self._user = self._user or UserTables(scratch, self.catalog)
        return self._user

    @property
    def user_tables(self) -> Mapping[str, tuple[tuple[str, Type], ...]]:
        return self.user.known

    def vault(self) -> Vault:
        """The private data: opened, and found to have its declared columns, without reading a cell."""
        self._check_open()
        vault = self.engines.vault()
        if self.ledger is not None:
            private = [t for t in self.catalog.tables if not t.public and fold(t.name) not in self.engines.given]
            check_identity(vault, private, self.ledger)
        return vault

    @property
    def engine(self) -> str:
        """The name of the engine that private tables are on, by what is said of their sources: nothing is opened."""
        return self.engines.name

    def load_public(self, name: str) -> str:
        """The scratch table with a public table's cleaned rows; read once per session."""
        self._check_open()
        return self.engines.load_public(name)

    def read_keys(self, table: str, column: str) -> None:
        """The distinct values of a public column, NULL among them if it occurs, into `keys`."""
        self._check_open()
        self.engines.read_keys(table, column)

    @property
    def keys(self) -> Mapping[tuple[str, str], tuple[Atom, ...]]:
        return self.engines.keys

    def next_number(self) -> int:
        return next(self._counter)

    def released_limits(self) -> Released:
        """The limits that the data chose, the newest of each, from the ledger."""
        limits: dict[tuple[str, ...], dict[str, Fraction]] = {}
        for tables, of, chosen in () if self.ledger is None else chosen_limits(self.ledger.rows()):
            limits.setdefault(tables_read(tables), {})[of] = chosen
        return limits

    @staticmethod
    def keeps_rows(stage: Stage) -> bool:
        """Whether the vault stores a stage's rows to read them twice, rather than making them twice: where that is dear.
        Both times they are the same: what the kernel certifies is a function of the sources' rows as a multiset, and a
        statement's sources are one snapshot (engine/vault.py)."""
        return not all(isinstance(node, Scan | Filter | Project) for node in walk(stage.source.node))

    @property
    def repeats_are_free(self) -> bool:
        """Whether it is known which data it is: the owner says so by a version in the catalog and its own sources, or all of
        it was copied into this session. The data is never asked: that an answer is new would tell that a row came or
        went."""
        return self.copied or (self.catalog.version is not None and not self.source_given)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the owner should be told about the budget's account."""
        if self.ledger is None:
            return ()
        before = self.ledger.last_metadata()
        changed = before is not None and of_metadata(before) != of_metadata(self.metadata)
        said = "the metadata changed since the last charge; what was spent stays spent"
        return (*self.ledger.notices, said) if changed else self.ledger.notices

    def with_sub_budget(self, epsilon: Fraction | None, delta: Fraction | None) -> Session:
        """The same catalog, sources, analyst and defaults, for someone who may spend at most this much of the budget.
        Its engines and tables are its own."""
        self._check_open()
        if self.ledger is None:
            raise InterfaceError("in exact mode there is no budget to divide", code=404)
        return Session(
            catalog=self.catalog,
            ledger=self.ledger.sub(epsilon, delta),
            analyst=self.analyst,
            defaults=replace(self.defaults),
            engines=self.engines.another(),
            metadata=self.metadata,
            source_given=self.source_given,
            restricted=self.restricted,
        )

    def beside(self) -> Session:
        """Another session on the same engines and ledger, with transactions and settings of its own; the last one closes."""
        self._check_open()
        self.engines.sessions += 1
        return replace(self, defaults=replace(self.defaults), unfinished=dict(self.unfinished), work=Work(), _user=None)

    def interrupt(self) -> None:
        """Stop whatever runs now; callable from any thread."""
        self.engines.interrupt()

    def _check_open(self) -> None:
        if self.closed:
            raise InterfaceError("the connection is closed", code=601, fix="Open a new one with dpsql.connect().")
        if self.process != os.getpid():
            self._begin_in_child()

    def _begin_in_child(self) -> None:
        """After a fork: tables of the user's own were in the parent's scratch."""
        self.process = os.getpid()
        self.engines.begin_in_child()
        self._user = None

    def close(self) -> None:
        """Idempotent. What was spent stays spent."""
        if self.closed:
            return
        if self.process != os.getpid():
            self._begin_in_child()
        self.closed = True
        if self._user is not None:
            self._user.close()
        if not self.engines.close():
            return
        if self.ledger is not None:
            self.ledger.close()


def open_session(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Fraction | None = None,
    delta: Fraction | None = None,
    rows: AskedLimit | None = None,
    groups: AskedLimit | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    new_epoch: bool = False,
    exact: bool = False,
    charged: bool = True,
    strict_caps: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    disk: int | None = None,
) -> Session:
    described = catalog if isinstance(catalog, Catalog) else load(catalog)
    limits = replace(limits_asked(memory_limit, threads), disk=disk)
    _check_callers(described, restricted, source=source, ledger=ledger, temp_folder=temp_folder)
    changes = _changes(described, strict_caps)
    described = described if budget is None else with_budget(described, budget)
    check_delta(described, delta)
    given = overrides(described, source)
    book = None if exact or not charged else open_ledger(described, ledger, new_epoch=new_epoch, changes=changes)
    return Session(
        catalog=described,
        ledger=book,
        analyst=analyst,
        defaults=Defaults(epsilon=epsilon, delta=delta, rows=rows, groups=groups),
        engines=Engines.of(described, given, limits, temp_folder, None if book is None else book.path),
        metadata=by_hand(fingerprint(described), given),
        source_given=source is not None,
        restricted=restricted or described.restricted,
        exact=exact,
    )


def _changes(catalog: Catalog, strict_caps: bool) -> Changes:
    """Of a budget, by the metadata as they are written: where they have none, the caller's may only get tighter."""
    return "none" if strict_caps else "any" if catalog.budget.capped else "tighter"


def _check_callers(catalog: Catalog, restricted: bool, **given: object) -> None:
    """What is the owner's to say, and not the caller's."""
    for option in [name for name, value in given.items() if value is not None and (restricted or catalog.restricted)]:
        raise restricted_error(f"{option}= is set by the owner, in the metadata")
    if given["temp_folder"] is not None and catalog.temp_folder is not None:
        raise InterfaceError(
            "the metadata sets the place of temporary files",
            code=610,
            why="They may hold private rows.",
            fix="Leave temp_folder= out.",
        )
