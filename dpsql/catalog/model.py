"""The catalog: what the owner says about the data. Frozen and validated; load.py makes one from YAML, nothing else.

All numbers are exact: a float in the YAML means the decimal it prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import Atom, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a CSV is written; never sniffed. Moments without a format of their own are ISO 8601.

    thousands: '' where digits are not grouped. true_words, false_words: the words for true and false, both or neither.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    date_format: str | None = None
    timestamp_format: str | None = None
    decimal: str = "."
    thousands: str = ""
    true_words: tuple[str, ...] = ()
    false_words: tuple[str, ...] = ()
    header: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSpec:
    """interval: the declared bounds. keys: the public key list (None where keys are private).

    keys_from: (table, column) of a public table that lists the keys; the session reads it and the planner gets values.
    """

    name: str
    type: Type
    description: str = ""
    interval: Interval = EVERYTHING
    keys: tuple[Atom, ...] | None = None
    keys_from: tuple[str, str] | None = None
    bounds_auto: bool = False
    like: Fraction | None = None
    nullable: bool = True
    unique: bool = False
    format: Format | None = None  # of a CSV's column, where it is not the file's


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What one unit may do to one query, for private tables.

    rows: its rows that count, over all groups; None where the older pair max_groups x max_rows says it, or the data choose.
    groups: groups in which it counts as one (max_groups in the pair); None: not declared, or (groups_auto) left to the data.
    rows_in_group: max_rows, with `groups`; None where `rows` is set.
    """

    rows: int | None = None
    groups: int | None = None
    rows_in_group: int | None = None
    groups_auto: bool = False

    @property
    def rows_of_a_unit(self) -> int | None:
        """Over all groups, by either way of saying it; None where the data choose."""
        if self.rows is None and self.rows_in_group is None:
            return None
        return self.rows if self.rows is not None else (self.groups or 1) * (self.rows_in_group or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCaps:
    """Caps for one key set: `caps: [{by: [month], groups_per_unit: 12}]`. None keeps the table's."""

    by: frozenset[str]
    groups: int | None = None
    rows_in_group: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPath:
    """unit: {through: visits, on: {visit_id: visit_id}} — this table's column → the other table's column."""

    through: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """Files of one table: a path or a glob, as the owner wrote it, absolute after loading. kind: "parquet" or "csv"."""

    paths: tuple[Path, ...]
    kind: str
    format: Format = Format()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSource:
    """A table of a .duckdb file: table is (schema, name)."""

    database: Path
    table: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A PostgreSQL database, without a password. database: None where a service file names it. parameters: the other ones of
    libpq, by name. timeout: seconds a statement may take."""

    database: str | None
    parameters: tuple[tuple[str, str], ...] = ()
    password_file: Path | None = None
    timeout: int = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSource:
    """A table of a database server: table is (schema, name). system: the identifier that the server must have; None where
    the ledger remembers the first one."""

    address: ServerAddress
    table: tuple[str, str]
    system: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSource:
    """A table of Spark's catalog by the parts of its name, or Parquet files by the addresses Spark reads them at. cluster:
    the way to Spark, without a token."""

    cluster: str
    table: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    timeout: int = 3600


Source = FileSource | DatabaseSource | ServerSource | SparkSource


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """One table. Public: unit, caps are None. Private: exactly one of unit_column, unit_path, row_is_unit is set."""

    name: str
    columns: tuple[ColumnSpec, ...]
    description: str = ""
    source: Source | None = None  # None: given at connect()
    public: bool = False
    unit_column: str | None = None
    unit_path: UnitPath | None = None
    row_is_unit: bool = False
    caps: Caps | None = None
    key_caps: tuple[KeyCaps, ...] = ()
    max_sum: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=lambda: MappingProxyType({}))
    min_units: int = 0
    where: str = ""  # "hospital.yaml:12", for messages
    qualifiers: tuple[str, ...] = ()  # ("database", "school"): what the table may be called by besides its name

    def column(self, name: str) -> ColumnSpec | None:
        """The column of that name, folded as SQL folds names."""
        folded = fold(name)
        return next((column for column in self.columns if fold(column.name) == folded), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount of privacy: exact ε and δ. None where a cap or default does not say."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None


LARGEST_DELTA = Fraction(1, 1000)
"""Of one query, unless the owner says another by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpec:
    """budget: the dataset's cap; per: "month" makes it a monthly one. capped=False only for SmartNoise files."""

    total: Amount
    per: str | None = None
    capped: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    dataset: str
    version: str | None
    unit: str  # in words
    unit_type: Type | None  # the type every unit column is cast to: BIGINT or TEXT; None without a private table
    budget: BudgetSpec
    per_query: Amount
    accounting: str  # "approx" or "zcdp"
    analysts: Mapping[str, Amount] | None
    tables: tuple[TableSpec, ...]
    views: Mapping[str, str]
    max_per_query: Amount = Amount()  # no single query may cost more
    max_delta: Fraction = LARGEST_DELTA  # nor ask for a larger δ
    units: int | None = None  # there are at least so many: a public promise, never looked up
    delta_keys: Fraction | None = None
    ledger: Path | None = None
    temp_folder: Path | None = None  # where rows that do not fit into memory are written down
    restricted: bool = False  # no interface reads or writes files for an analyst
    path: Path | None = None  # the YAML file; None for a dict
    folder: Path | None = None  # what relative sources are relative to
    format: str = "dpsql"  # or "smartnoise"

    def table(self, name: str) -> TableSpec | None:
        """The table of that name, folded; "school.student" finds a table that has such qualifiers, "main.visits" and
        "public.visits" one that has none."""
        folded = fold(name)
        return next(
            (table for names in (spellings, in_schemas) for table in self.tables if folded in names(table)), None
        )

    def view(self, name: str) -> str | None:
        """The name in the metadata of the view that is called so."""
        folded = fold(name)
        return next((view for view in self.views if folded in (fold(view), *_in_schemas(view))), None)

    def has(self, name: str) -> bool:
        """Whether a table or a view of the metadata is called so."""
        return self.table(name) is not None or self.view(name) is not None


def format_of(table: TableSpec, column: ColumnSpec) -> Format | None:
    """How the cells of the column are written, if the table is a CSV."""
    if not isinstance(table.source, FileSource) or table.source.kind != "csv":
        return None
    return table.source.format if column.format is None else column.format


def spellings(table: TableSpec) -> frozenset[str]:
    """Every folded name the table goes by: its own, and its own behind the last, the last two, … of its qualifiers."""
    parts = (*table.qualifiers, table.name)
    return frozenset(fold(".".join(parts[start:])) for start in range(len(parts)))


def in_schemas(table: TableSpec) -> frozenset[str]:
    """The folded names of a table without qualifiers, where clients of DuckDB and of PostgreSQL take it to be."""
    return frozenset() if table.qualifiers else _in_schemas(table.name)


def _in_schemas(name: str) -> frozenset[str]:
    return frozenset(fold(f"{schema}.{name}") for schema in ("main", "public"))


def fold(name: str) -> str:
    """Names are compared without case, in ASCII only: KELVIN SIGN is not k."""
    return "".join(c.lower() if c.isascii() else c for c in name)
