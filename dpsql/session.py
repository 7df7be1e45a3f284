"""What one connection holds: the catalog, the sources, the ledger, the vault and scratch, each opened when first needed.

A session decides nothing about privacy: query.py runs the steps, the planner makes the plan, the ledger says yes or no.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_open import Changes
from dpsql.accounting.releases import chosen_limits
from dpsql.catalog.fingerprint import fingerprint
from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.domain.types import Atom, Type
from dpsql.engine import sources
from dpsql.engine.hardening import check_limits
from dpsql.engine.public import PublicReader
from dpsql.engine.scratch import Scratch
from dpsql.engine.sealed import Sealed
from dpsql.engine.temporary import TemporaryFolder, place_from
from dpsql.engine.vault import Vault
from dpsql.errors import InterfaceError, SourceError, SqlError
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Filter, Project, Scan, walk
from dpsql.metadata.budget import with_budget
from dpsql.metadata.delta import check_delta
from dpsql.metadata.load import load
from dpsql.plan.render.clean import cleaned
from dpsql.plan.render.keys import travelled
from dpsql.plan.stages import Stage
from dpsql.plan.transport import is_text
from dpsql.privacy.bound import tables_read
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit, MechanismChoice, QuerySettings, Released
from dpsql.sources.belongings import Belongings, Folder, of_catalog
from dpsql.sources.catalog_ledger import open_ledger
from dpsql.sources.file_access import restricted_error
from dpsql.sources.given import by_hand, of_metadata
from dpsql.sources.table_sources import declared_source, overrides
from dpsql.sql.limits import SIZE_LIMIT
from dpsql.sql.statement import Accuracy, Option, Relative, Statement, Weights

USER, PUBLIC = "u_", "p_"  # prefixes of scratch tables: no user's table can meet one of ours


@dataclass(slots=True)
class Defaults:
    """Settings of each query, by SET and by connect(); None where nothing was said."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    mechanism: MechanismChoice = "auto"
    rows: AskedLimit | None = None
    groups: AskedLimit | None = None
    rows_in_group: int | None = None
    intervals: Fraction | None = None
    top_k: bool = False
    nonnegative: bool = False
    confirm_above: Fraction | None = None
    fresh: bool = False


@dataclass(slots=True, repr=False)
class Session(Sealed):
    """metadata: what the data is compared by: the catalog's fingerprint, and what was given by hand.

    restricted: no interface reads or writes a file for whoever asks. process: a forked child makes engines of its own.
    """

    catalog: Catalog
    ledger: Ledger | None  # None in exact mode only
    analyst: str | None
    defaults: Defaults
    overrides: Mapping[str, sources.Source] = field(default_factory=dict)
    source_given: bool = False
    exact: bool = False
    user_tables: dict[str, tuple[tuple[str, Type], ...]] = field(default_factory=dict)
    unfinished: dict[str, bytes] = field(default_factory=dict)  # by plan: released rows whose post-processing failed
    metadata: str = ""
    memory_limit: str | None = None
    threads: int | None = None
    restricted: bool = False
    size_limit: int = SIZE_LIMIT
    temporary: TemporaryFolder = field(default_factory=TemporaryFolder)
    belongings: Belongings = field(default_factory=lambda: Belongings(()))
    process: int = field(default_factory=os.getpid)
    _vault: Vault | None = None
    _public: PublicReader | None = None
    _scratch: Scratch | None = None
    _loaded: set[str] = field(default_factory=set)
    keys: dict[tuple[str, str], tuple[Atom, ...]] = field(default_factory=dict)
    _counter: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _opening: threading.RLock = field(default_factory=threading.RLock)
    closed: bool = False

    def settings(self, statement: Statement) -> QuerySettings:
        """OPTIONS, then SET and connect(), then the catalog's per_query."""
        chosen, said = self.defaults, statement.options
        epsilon = _fraction(said.get("epsilon"), chosen.epsilon or self.catalog.per_query.epsilon)
        delta = chosen.delta if chosen.delta is not None else self.catalog.per_query.delta
        delta = _fraction(said.get("delta"), delta)
        check_delta(self.catalog, delta, at=None if (option := said.get("delta")) is None else option.at)
        mechanism, split = said.get("mechanism"), said.get("split")
        rows, rows_in_group = self._rows(statement)
        groups = as_limit(said.get("max_groups_contributed"), chosen.groups)
        weights: Weights | None = split.value if split is not None and isinstance(split.value, tuple) else None  # type: ignore[assignment]  # validated by sql/options
        return QuerySettings(
            epsilon=epsilon,
            delta=Fraction(0) if delta is None else delta,
            mechanism=chosen.mechanism if mechanism is None else str(mechanism.value),  # type: ignore[arg-type]  # validated by sql/options
            rows=rows,
            groups=groups,
            rows_in_group=rows_in_group,
            released=self.released_limits() if RELEASED in (rows, groups) else {},
            split=weights,
            error=None if (goal := said.get("error")) is None else str(goal.value),  # type: ignore[arg-type]  # validated
            accuracy=_accuracy(said.get("accuracy")),
            confidence=_fraction(said.get("confidence"), Fraction(95, 100)) or Fraction(95, 100),
            assumed_rows=_integer(said.get("assumed_rows"), None),
            best=(short := said.get("if_not_enough")) is not None and short.value == "best",
            over_limit=(over := said.get("over_limit")) is not None and bool(over.value),
            top_k=chosen.top_k if (top := said.get("top_k")) is None else bool(top.value),
            nonnegative=chosen.nonnegative if (whole := said.get("nonnegative")) is None else bool(whole.value),
            intervals=_fraction(said.get("intervals"), chosen.intervals),
            proof=(shown := said.get("proof")) is not None and bool(shown.value),
            exact=self.exact,
        )

    def released_limits(self) -> Released:
        """The limits that the data chose, the newest of each, from the ledger."""
        limits: dict[tuple[str, ...], dict[str, Fraction]] = {}
        for tables, of, chosen in () if self.ledger is None else chosen_limits(self.ledger.rows()):
            limits.setdefault(tables_read(tables), {})[of] = chosen
        return limits

    def _rows(self, statement: Statement) -> tuple[AskedLimit | None, int | None]:
        """A unit's rows over all groups, or in each: one of the two at most, and what OPTIONS say before any default."""
        said = statement.options
        rows, in_group = said.get("max_rows_contributed"), said.get("max_rows_per_group")
        if rows is not None and in_group is not None:
            raise SqlError(
                "max_rows_contributed and max_rows_per_group are two limits of one thing",
                code=119,
                at=in_group.at,
                why="The one counts a unit's rows in the whole query, the other in each of its groups.",
                fix="Leave one of them out.",
            )
        if rows is None and in_group is None:
            return self.defaults.rows, self.defaults.rows_in_group
        return as_limit(rows, None), _integer(in_group, None)

    def fresh(self, statement: Statement) -> bool:
        """Whether new noise is asked, and paid, for what was answered before."""
        said = statement.options.get("fresh")
        return self.defaults.fresh if said is None else bool(said.value)

    @staticmethod
    def keeps_rows(stage: Stage) -> bool:
        """Whether the vault stores a stage's rows to read them twice, rather than making them twice: where that is dear.
        Both times they are the same: what the kernel certifies is a function of the sources' rows as a multiset, and a
        statement's sources are one snapshot (engine/vault.py)."""
        return not all(isinstance(node, Scan | Filter | Project) for node in walk(stage.source.node))

    @property
    def repeats_are_free(self) -> bool:
        """Whether the owner says which data it is: by a version in the catalog, and its own sources. The data is never
        asked: that an answer is new would tell that a row came or went."""
        return self.catalog.version is not None and not self.source_given

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
        Its vault, scratch and tables are its own."""
        self._check_open()
        if self.ledger is None:
            raise InterfaceError("in exact mode there is no budget to divide", code=404)
        return Session(
            catalog=self.catalog,
            ledger=self.ledger.sub(epsilon, delta),
            analyst=self.analyst,
            defaults=replace(self.defaults),
            overrides=self.overrides,
            source_given=self.source_given,
            metadata=self.metadata,
            memory_limit=self.memory_limit,
            threads=self.threads,
            restricted=self.restricted,
            temporary=TemporaryFolder(self.temporary.place),
            belongings=self.belongings.copy(),
        )

    @property
    def scratch(self) -> Scratch:
        self._check_open()
        with self._opening:
            if self._scratch is None:
                self._scratch = Scratch(
                    memory_limit=self.memory_limit, threads=self.threads, temp_directory=self._spills("scratch")
                )
            return self._scratch

    def vault(self) -> Vault:
        """Open the private sources and check that each has its declared columns: free, and without reading a cell."""
        self._check_open()
        with self._opening:
            if self._vault is None:
                private = [table for table in self.catalog.tables if not table.public]
                vault = Vault.open(
                    {table.name: self.source_of(table) for table in private},
                    memory_limit=self.memory_limit,
                    threads=self.threads,
                    temp_directory=self._spills("vault"),
                    owner_log=self._owner_log,
                )
                try:
                    for table in private:
                        if table.row_is_unit and not vault.has_row_numbers(table.name):
                            raise _view_of_units(table)
                        types = {c.name: c.type for c in vault.columns(table.name)}
                        cleaned(_scan_of(table), table, "source", types)
                except BaseException:
                    vault.close()
                    raise
                self._vault = vault
            return self._vault

    def source_of(self, table: TableSpec) -> sources.Source:
        given = self.overrides.get(fold(table.name))
        return given if given is not None else declared_source(table)

    def load_public(self, name: str) -> str:
        """The scratch table with a public table's cleaned rows; read once per session."""
        spec = self.catalog.table(name)
        assert spec is not None
        table = PUBLIC + fold(spec.name)
        with self._opening:
            if table not in self._loaded:
                reader = self._public_reader()
                types = {c.name: c.type for c in reader.columns(spec.name)}
                scan = _scan_of(spec)
                rows = cleaned(scan, spec, reader.relation(spec.name), types)
                named = ", ".join(f'c{f.id} AS "{i}"' for i, f in enumerate(scan.fields))
                self.scratch.load_stream(table, reader.stream(f"SELECT {named} FROM ({rows}) AS t"))
                self._loaded.add(table)
        return table

    def read_keys(self, table: str, column: str) -> None:
        """The distinct values of a public column, NULL among them if it occurs, into `keys`."""
        with self._opening:
            if (table, column) not in self.keys:
                self.keys[table, column] = self._read_values(table, column)

    def _read_values(self, table: str, column: str) -> tuple[Atom, ...]:
        spec = self.catalog.table(table)
        assert spec is not None
        declared = spec.column(column)
        assert declared is not None
        position = [c.name for c in spec.columns].index(declared.name)
        loaded = self.load_public(table)
        value = f'"{position}"'
        if not is_text(declared.type):
            value = travelled(value, declared.type)
        with closing(self.scratch.query(f'SELECT DISTINCT {value} FROM "{loaded}"')) as result:
            return tuple(row[0] for row in result.fetchall())

    def _public_reader(self) -> PublicReader:
        if self._public is None:
            public = {t.name: self.source_of(t) for t in self.catalog.tables if t.public}
            self._public = PublicReader.open(
                public, memory_limit=self.memory_limit, threads=self.threads, temp_directory=self._spills("public")
            )
        return self._public

    def _spills(self, engine: str) -> Path:
        """Where an engine writes down what does not fit into memory: in the session's own folder, and nobody else's."""
        folder = self.temporary.inner(engine)
        self.belongings.add(Folder(folder.parent))
        return folder

    def next_number(self) -> int:
        return next(self._counter)

    def interrupt(self) -> None:
        """Stop whatever runs now; callable from any thread."""
        if self._vault is not None:
            self._vault.interrupt()
        if self._scratch is not None:
            self._scratch.interrupt()

    def _check_open(self) -> None:
        if self.closed:
            raise InterfaceError("the connection is closed", code=601, fix="Open a new one with dpsql.connect().")
        if self.process != os.getpid():
            self._begin_in_child()

    def _begin_in_child(self) -> None:
        """After a fork: the parent's databases, and the folder they spill to, stay the parent's. Tables of the user's own
        and public rows were in them."""
        self.process, self._opening = os.getpid(), threading.RLock()
        self._vault, self._public, self._scratch = None, None, None
        self.temporary = TemporaryFolder(self.temporary.place)
        self.user_tables.clear()
        self._loaded.clear()

    def _owner_log(self, message: str) -> None:
        """The engine's own words, for the owner alone: a 0600 file beside the ledger; nowhere without one."""
        if self.ledger is None or self.ledger.path is None:
            return
        path = self.ledger.path.with_name(self.ledger.path.name + ".owner.log")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {message}\n")

    def close(self) -> None:
        """Idempotent. What was spent stays spent."""
        if self.closed:
            return
        if self.process != os.getpid():
            self._begin_in_child()
        self.closed = True
        for part in (self._vault, self._public, self._scratch, self.ledger, self.temporary):
            if part is not None:
                part.close()
        self.belongings.close()


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
) -> Session:
    described = catalog if isinstance(catalog, Catalog) else load(catalog)
    check_limits(memory_limit, threads)
    restricted = restricted or described.restricted
    _check_callers(described, restricted, source=source, ledger=ledger, temp_folder=temp_folder)
    by_owner = described.budget.capped
    if budget is not None:
        described = with_budget(described, budget)
    check_delta(described, delta)
    given = overrides(described, source)
    changes: Changes = "none" if strict_caps else "any" if by_owner else "tighter"
    book = None if exact or not charged else open_ledger(described, ledger, new_epoch=new_epoch, changes=changes)
    return Session(
        catalog=described,
        ledger=book,
        analyst=analyst,
        defaults=Defaults(epsilon=epsilon, delta=delta, rows=rows, groups=groups),
        overrides=given,
        source_given=source is not None,
        exact=exact,
        metadata=by_hand(fingerprint(described), given),
        memory_limit=memory_limit,
        threads=threads,
        restricted=restricted,
        temporary=TemporaryFolder(place_from(described.temp_folder, temp_folder)),
        belongings=Belongings(of_catalog(described, given.values(), None if book is None else book.path)),
    )


def _check_callers(catalog: Catalog, restricted: bool, **given: object) -> None:
    """What is the owner's to say, and not the caller's."""
    for option in [name for name, value in given.items() if value is not None and restricted]:
        raise restricted_error(f"{option}= is set by the owner, in the metadata")
    if given["temp_folder"] is not None and catalog.temp_folder is not None:
        raise InterfaceError(
            "the metadata sets the place of temporary files",
            code=610,
            why="They may hold private rows.",
            fix="Leave temp_folder= out.",
        )


def _scan_of(spec: TableSpec) -> Scan:
    ids = Ids()
    fields = tuple(ids.field(c.name, c.type) for c in spec.columns)
    return Scan(spec.name, fields, tuple(c.name for c in spec.columns))


def _view_of_units(table: TableSpec) -> SourceError:
    return SourceError(
        f"table {table.name}: each row is a unit, and its source is a view",
        code=313,
        why="A view may give its rows in another order each time it is read, so nothing would tell which row is which.",
        fix="Make a table of it: CREATE TABLE … AS FROM the view; or declare a unit column.",
    )


def _fraction(option: Option | None, default: Fraction | None) -> Fraction | None:
    if option is None:
        return default
    assert isinstance(option.value, Fraction | int)
    return Fraction(option.value)


def as_limit(option: Option | None, default: AskedLimit | None) -> AskedLimit | None:
    """A number, 'auto' or 'released'."""
    if option is None or not isinstance(option.value, str):
        return default if option is None else _integer(option, None)
    return RELEASED if option.value == RELEASED else AUTO


def _accuracy(option: Option | None) -> Accuracy | None:
    match option.value if option is not None else None:
        case Fraction() | Relative() as one:
            return one
        case tuple() as pairs:
            return tuple(pair for pair in pairs if isinstance(pair, tuple))
        case _:
            return None


def _integer(option: Option | None, default: int | None) -> int | None:
    if option is None:
        return default
    assert isinstance(option.value, Fraction | int)
    return int(option.value)
