"""A relation with its `Private` facts and `Domain`s: the output of track, the input of
cut. Data only; the rules are in privacy/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Ranges
from dpsql.errors import InternalError, Span
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Aggregate, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimit:
    """Limits for one key set. Rows in a group of a key set hold for finer ones, a number of groups for coarser ones."""

    by: frozenset[int | str]  # ids of the table's columns; names for what a query calls its keys
    groups: int | None
    rows_in_group: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The owner's limits, as they reach this relation: defaults of what the release enforces, never believed.

    rows: rows of a unit that count, over all groups; None where the pair `groups` x `rows_in_group` says it, or where
    nothing does and the data choose (auto).
    likes: typical sizes of columns without bounds, by id.
    groups: groups in which a unit counts as one; None: not declared; as many as rows, or chosen where these are, or where
    the owner leaves them to the data (groups_auto).
    rows_in_group: max_rows, the older limit beside max_groups; then `groups` is set and `rows` is None.
    """

    rows: int | None
    groups: int | None
    rows_in_group: int | None
    groups_auto: bool = False
    by_keys: tuple[GroupLimit, ...] = ()
    min_units: int = 0
    max_sum: Mapping[int, tuple[Fraction, Fraction]] = field(default_factory=lambda: MappingProxyType({}))
    likes: Mapping[int, Fraction] = field(default_factory=lambda: MappingProxyType({}))
    because: str = ""

    def __post_init__(self) -> None:
        pair = self.rows is None and self.groups is not None and self.rows_in_group is not None
        if self.rows_in_group is not None and not pair:
            raise InternalError("limits are rows over all groups, or groups and rows in each")

    @property
    def auto(self) -> bool:
        """Whether nothing says how many rows of a unit count."""
        return self.rows is None and self.rows_in_group is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """Facts of a private relation.

    unit: the tracked unit, a column that is never NULL.
    same: ids of the columns proven equal to it on every row; only these are "the unit" in GROUP BY and joins.
    unique: columns that, with the unit, tell every row apart (proved by the node's form); None if there are none.
    tables: the private tables below, for messages.
    """

    unit: Column
    same: frozenset[int]
    limits: Limits
    tables: tuple[str, ...]
    unique: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Meets:
    """The columns (expressions) of public rows that a private row must equal to meet them, and where the join stands."""

    keys: tuple[Expr, ...]
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """A table's own column, as the catalog spells it. instance: a number of the scan it comes from: two scans
    of one table are told apart, also those of a subquery that is named twice."""

    instance: int
    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """node: rewritten (checked expressions, hidden unit columns). inputs: the tracked inputs of that node, in order.

    private: None for a public relation. domains: what is expected of each output column. ranges: what those of exact
    types can hold by definition, where that is less than their type; of public relations nothing is said.
    origins: for columns that are a private table's column unchanged, which one; joins along unit paths look for them.
    meets: for public rows that a join hands to private ones, how a private row finds them.
    bare: for a table that finds its unit through a path, the same rows before that join, when it is a scan and filters.
    """

    node: Node
    inputs: tuple[Tracked, ...] = ()
    domains: Mapping[int, Domain]
    ranges: Ranges = field(default_factory=lambda: MappingProxyType({}))
    private: Private | None = None
    origins: Mapping[int, Origin] = field(default_factory=lambda: MappingProxyType({}))
    bare: Tracked | None = None
    meets: Meets | None = None

    @property
    def is_release(self) -> bool:
        """An aggregate of private rows whose output is public: the one place where noise is added."""
        return (
            isinstance(self.node, Aggregate)
            and self.private is None
            and any(child.private is not None for child in self.inputs)
        )


@dataclass(frozen=True, slots=True)
class Tie:
    """What the outer query equates a key of a correlated subquery with: an expression over one of its relations."""

    other: Expr
    outer: Tracked
