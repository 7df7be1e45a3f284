"""Relations. Every node lists its output columns as Fields; an id is introduced by exactly one node of the statement.

A node is Public or Private only through its Facts (privacy/track.py); nothing here knows about privacy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import assert_never

from dpsql.domain.types import Type
from dpsql.errors import Span
from dpsql.ir.expr import AggregateCall, Column, Expr, SortKey, WindowCall, columns_of


@dataclass(frozen=True, slots=True)
class Field:
    id: int
    name: str
    type: Type

    def column(self) -> Column:
        return Column(self.id, self.type, self.name)


@dataclass(frozen=True, slots=True)
class Scan:
    """A catalog table, cleaned. columns: the catalog's name of each field."""

    table: str
    fields: tuple[Field, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserTable:
    """A table the user made; it lives in scratch and is public."""

    table: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Noisy:
    """The released rows of an earlier stage, seen as ordinary public columns."""

    stage: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Public rows that scratch computed and the vault holds while a stage runs: input number `index` of the stage."""

    index: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class OneRow:
    """FROM nothing: one row without columns."""

    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    input: Node
    predicate: Expr

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.input.fields


@dataclass(frozen=True, slots=True)
class Project:
    input: Node
    fields: tuple[Field, ...]
    exprs: tuple[Expr, ...]  # one for each field


JoinKind = OneOf["inner", "left", "right", "full", "cross"]


@dataclass(frozen=True, slots=True)
class Join:
    left: Node
    right: Node
    kind: JoinKind
    on: Expr | None
    at: Span | None = field(default=None, compare=False, repr=False)  # the joined table's place, for messages
    # the right side is a correlated scalar aggregate: its columns that `on` equates with the left's are its keys
    correlated: bool = field(default=False, compare=False, repr=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.left.fields + self.right.fields


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """Rows of `left` for which a row of `right` satisfies `on` exists (or, anti: does not).

    NOT IN's three-valued logic is written out in `on` by the binder.
    """

    left: Node
    right: Node
    on: Expr
    anti: bool
    at: Span | None = field(default=None, compare=False, repr=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.left.fields


@dataclass(frozen=True, slots=True)
class Aggregate:
    """GROUP BY keys; one field for each key, then one for each call. Without calls: DISTINCT.

    sets: grouping sets as tuples of key positions, None for the plain GROUP BY of all keys.
    """

    input: Node
    key_fields: tuple[Field, ...]
    keys: tuple[Expr, ...]
    call_fields: tuple[Field, ...]
    calls: tuple[AggregateCall, ...]
    sets: tuple[tuple[int, ...], ...] | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.key_fields + self.call_fields


@dataclass(frozen=True, slots=True)
class Window:
    """Adds one field for each window call to the input's."""

    input: Node
    call_fields: tuple[Field, ...]
    calls: tuple[WindowCall, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.input.fields + self.call_fields


@dataclass(frozen=True, slots=True)
class Sort:
    input: Node
    keys: tuple[SortKey, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.input.fields


@dataclass(frozen=True, slots=True)
class Limit:
    input: Node
    limit: int | None
    offset: int
    at: Span | None = field(default=None, compare=False, repr=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.input.fields


@dataclass(frozen=True, slots=True)
class SetOp:
    """UNION, INTERSECT, EXCEPT; columns by position, the fields are new."""

    kind: OneOf["union", "intersect", "except"]
    all: bool
    left: Node
    right: Node
    fields: tuple[Field, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


Node = (
    Scan
    | UserTable
    | Noisy
    | Loaded
    | OneRow
    | Filter
    | Project
    | Join
    | SemiJoin
    | Aggregate
    | Window
    | Sort
    | Limit
    | SetOp
)


def inputs(node: Node) -> tuple[Node, ...]:
    match node:
        case Scan() | UserTable() | Noisy() | Loaded() | OneRow():
            return ()
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit():
            return (node.input,)
        case Join() | SemiJoin() | SetOp():
            return (node.left, node.right)
        case _:
            assert_never(node)


def with_inputs(node: Node, new: tuple[Node, ...]) -> Node:
    match node:
        case Scan() | UserTable() | Noisy() | Loaded() | OneRow():
            return node
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit():
            return dataclasses.replace(node, input=new[0])
        case Join() | SemiJoin() | SetOp():
            return dataclasses.replace(node, left=new[0], right=new[1])
        case _:
            assert_never(node)


def walk(node: Node) -> Iterator[Node]:
    """The relation and all below it, each before its inputs; one that is named twice comes twice."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(inputs(node)))


def transform(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """Top-down: where `change` answers a node it stands in, unvisited; where None, the inputs are transformed."""
    new = change(node)
    if new is not None:
        return new
    return with_inputs(node, tuple(transform(child, change) for child in inputs(node)))


def constant_rows(node: Node) -> list[tuple[Expr, ...]] | None:
    """The rows of a UNION ALL of single rows of constants, as the binder makes them of VALUES; None for all else."""
    match node:
        case SetOp(kind="union", all=True):
            left = constant_rows(node.left)
            right = None if left is None else constant_rows(node.right)
            return None if left is None or right is None else left + right
        case Project(input=OneRow()) if node.exprs and not any(map(columns_of, node.exprs)):
            return [node.exprs]
        case _:
            return None
