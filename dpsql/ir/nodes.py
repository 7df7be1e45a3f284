"""Relations. Every node lists its output columns as Fields; an id is introduced by exactly one node of the statement.

A node is Public or Private only through its `Private` facts (privacy/track.py); nothing here knows about privacy.
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
    # the right side is made of the left side's rows: where both are private, their units are to be equal
    of_rows: bool = field(default=False, compare=False, repr=False)
    # the right side reads nothing private, and a row of the left may meet one row of it at most: scratch counts them
    single: bool = field(default=False, compare=False, repr=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.left.fields + self.right.fields


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """Rows of `left` for which a row of `right` satisfies `on` exists (or, anti: does not).

    NOT IN's three-valued logic is written out in `on` by the binder. mark: every row stays, and this column says whether
    there is such a row (then `anti` is False).
    """

    left: Node
    right: Node
    on: Expr
    anti: bool
    at: Span | None = field(default=None, compare=False, repr=False)
    mark: Field | None = None
    of_rows: bool = field(default=False, compare=False, repr=False)  # as of a Join

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.left.fields if self.mark is None else (*self.left.fields, self.mark)


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
    # the keys stand for rows of an outer query: where those are private, their unit is one key more
    of_rows: bool = field(default=False, compare=False, repr=False)

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


@dataclass(frozen=True, slots=True)
class PublicText:
    """A text of the analyst's over public relations, run as it is where nothing is private (engine/apart). Only ever on top.

    parts: relations that stand in the text under `names`; printed: as DuckDB prints them. tables: public ones that it names,
    users: the user's. views: names and texts of the catalog's. parameters: by name where they have one, else in order."""

    text: str
    parts: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    views: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str | None, object], ...] = ()
    at: Span | None = field(default=None, compare=False, repr=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the text can read of its parts; of its result nothing is known but what DuckDB says."""
        return tuple(f for part in self.parts for f in part.fields)


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
    | PublicText
)


def inputs(node: Node) -> tuple[Node, ...]:
    match node:
        case Scan() | UserTable() | Noisy() | Loaded() | OneRow():
            return ()
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit():
            return (node.input,)
        case Join() | SemiJoin() | SetOp():
            return (node.left, node.right)
        case PublicText():
            return node.parts
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
        case PublicText():
            return dataclasses.replace(node, parts=new)
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
