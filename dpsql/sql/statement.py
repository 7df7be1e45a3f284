"""What one piece of analyst text turns out to be: its kind, its tree, its options and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeVar

from sqlglot import exp

from dpsql.domain.types import Type
from dpsql.errors import Span

StatementKind = Literal[
    "query",
    "explain",
    "show_budget",
    "show_tables",
    "show_settings",
    "describe",
    "set",
    "reset",
    "create_table_as",
    "create_table",
    "insert",
    "drop_table",
    "change",
    "transaction",
]


@dataclass(frozen=True, slots=True)
class Relative:
    """A part of a number, as it was released before."""

    part: Fraction


# Numbers are exact. split is a tuple of weights, or of (output name, weight) pairs; accuracy one half-width, or such pairs.
Weights = tuple[Fraction, ...] | tuple[tuple[str, Fraction], ...]
HalfWidths = Fraction | tuple[tuple[str, Fraction], ...]
Accuracy = Fraction | Relative | tuple[tuple[str, Fraction | Relative], ...]
OptionValue = Fraction | int | str | bool | Relative | Weights | tuple[tuple[str, Fraction | Relative], ...]

ParameterValue = bool | int | float | Decimal | Fraction | str | date | datetime | None

K = TypeVar("K")
V = TypeVar("V")


def frozen(mapping: Mapping[K, V]) -> Mapping[K, V]:
    return MappingProxyType(dict(mapping))


@dataclass(frozen=True, slots=True)
class Option:
    """One validated option and where it was written."""

    name: str
    value: OptionValue
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """contribution_bounds_per_group => (low, high) of one aggregate call."""

    low: Fraction
    high: Fraction
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of CREATE TABLE (…); of an INSERT's column list, with type None."""

    name: str
    type: Type | None = None
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A private query within a text that is passed on: the text names its rows by `name`. printed: as DuckDB does. columns:
    their names there, if they are not those of the query."""

    name: str
    tree: exp.Expr
    call_options: Mapping[int, Mapping[str, Bounds]]
    parameters: Mapping[int, ParameterValue]
    printed: str
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A query that is passed on to DuckDB as the text it is, over the rows of its parts and public tables.

    tables: of the catalog, users: of the user, views: of the catalog with their texts. parameters: by name where they are
    named, else in their order. describes: it asks for names and types alone, so that its parts release nothing."""

    text: str
    parts: tuple[Part, ...] = ()
    tables: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    views: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str | None, object], ...] = ()
    describes: bool = False
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, taken apart but with no name resolved.

    text: as the user wrote it; every span points into it.
    tree: of the query (EXPLAIN: the inner one; CREATE TABLE AS and INSERT: the source); None for the other kinds.
    options: from WITH DIFFERENTIAL_PRIVACY OPTIONS(…), validated.
    call_options: by the start offset of an aggregate call's name, which is the node's meta["start"].
    parameters: by the number that a Placeholder node carries (`placeholder_value`); every occurrence has its own.
    name: the table of DESCRIBE, CREATE, INSERT, DROP as written (unquoted); the option of SET, RESET, SHOW ("": all).
    value: SET's option.
    passed: what is run instead of a tree. otherwise: the statement taken another way, if this one cannot be
    planned. flags: "or replace", "if not exists", "if exists".
    """

    text: str
    kind: StatementKind
    tree: exp.Expr | None = None
    options: Mapping[str, Option] = field(default_factory=lambda: frozen({}))
    call_options: Mapping[int, Mapping[str, Bounds]] = field(default_factory=lambda: frozen({}))
    parameters: Mapping[int, ParameterValue] = field(default_factory=lambda: frozen({}))
    name: str = ""
    name_at: Span | None = None
    value: Option | None = None
    columns: tuple[ColumnDefinition, ...] = ()
    flags: frozenset[str] = frozenset()
    passed: Passed | None = None
    otherwise: Callable[[], Statement | None] | None = field(default=None, compare=False, repr=False)

    def placeholder_value(self, node: exp.Placeholder) -> ParameterValue:
        """The value bound to a Placeholder of this statement's tree."""
        return self.parameters[int(node.name)]
