"""Whose rows are: what the rules of isolation say of a relation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Field
from dpsql.plan.proof import Proof, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The scan a column comes from, unchanged, as part of one of its rows: which of the relation's scans it is, its table
    and the column there, both folded. (Scans are counted: what a query names twice has its ids twice.)"""

    instance: int
    table: str
    column: str


Origins = Mapping[int, Origin]
ROW = "__row"  # the hidden column of a scan: the row's number in its source


@dataclass(frozen=True, slots=True)
class Public:
    """Rows that depend on nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unowned:
    """Rows of a table with a path, before it is walked: they may stand only where the next two rules want them."""

    spec: TableSpec
    instance: int
    columns: Mapping[int, str]  # the table's columns, folded, by id


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Rows that are one unit's each. space: what kind of unit: the dataset's, or the row numbers of one table. units: the
    columns that hold it, never NULL. origins: see Origin."""

    space: str
    units: frozenset[int]
    proof: Proof
    single: bool = False
    origins: Origins = field(default_factory=lambda: MappingProxyType({}))


Found = Public | Unowned | Owned
PEOPLE = ""  # the space of the dataset's own unit; a table's name is never empty


@dataclass(frozen=True, slots=True)
class World:
    """The catalog, and a number for each scan."""

    catalog: Catalog
    scans: Iterator[int] = field(default_factory=itertools.count)


def proved(below: Owned, rule: Rule, about: str = "") -> Owned:
    return replace(below, proof=Proof(rule=rule, about=about, below=(below.proof,)))


def both(left: Owned, right: Owned, rule: Rule, units: frozenset[int]) -> Owned:
    proof = Proof(rule=rule, below=(left.proof, right.proof))
    return Owned(space=left.space, units=units, proof=proof, origins={**left.origins, **right.origins})


def origins_of(columns: Mapping[int, str], spec: TableSpec, instance: int) -> Origins:
    return {id_: Origin(instance=instance, table=fold(spec.name), column=c) for id_, c in columns.items()}


def kept_origins(fields: Sequence[Field], exprs: Sequence[Expr], below: Owned) -> Origins:
    """Of columns that pass unchanged."""
    pairs = zip(fields, exprs, strict=True)
    return {f.id: below.origins[e.id] for f, e in pairs if isinstance(e, Column) and e.id in below.origins}
