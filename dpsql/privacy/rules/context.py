"""What the rules need besides their inputs: the catalog, fresh ids, and values of public tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsql.catalog.model import Catalog
from dpsql.domain.types import Atom
from dpsql.errors import SqlError
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Node
from dpsql.ir.scoping import where
from dpsql.ir.size import AGGREGATE, JOIN, PART, RELATION
from dpsql.plan.tracked import Tie, Tracked
from dpsql.sql.limits import SIZE_LIMIT


class KeysNeeded(Exception):
    """Planning needs the values of a public table's column: whoever plans reads them, and plans again with them."""

    def __init__(self, table: str, column: str) -> None:
        super().__init__(f"{table}.{column}")
        self.column = (table, column)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackContext:
    """keys_of: the values of public columns that have been read: (table, column) → values.

    releases: the releases tracked so far, by the identity of their node: a CTE that is used twice is answered once.
    private_rows: columns of an outer query's private rows that subqueries have beside them.
    ties: for keys of correlated subqueries, by column id, what the outer query equates them with.
    """

    catalog: Catalog
    ids: Ids
    keys_of: Mapping[tuple[str, str], tuple[Atom, ...]] = field(default_factory=dict)
    releases: dict[int, Tracked] = field(default_factory=dict)
    ties: dict[int, Tie] = field(default_factory=dict)
    private_rows: set[int] = field(default_factory=set)
    size: Size = field(default_factory=lambda: Size())

    def values_of(self, table: str, column: str) -> tuple[Atom, ...]:
        """Of a public table's column, both as the catalog spells them: its values, NULL among them if it occurs."""
        if (table, column) not in self.keys_of:
            raise KeysNeeded(table, column)
        return self.keys_of[table, column]


@dataclass(slots=True)
class Size:
    """How many parts (ir/size.py) were tracked, and how many may be."""

    limit: int = SIZE_LIMIT
    parts: int = 0

    def add(self, parts: int, node: Node) -> None:
        self.parts += parts
        if self.parts > self.limit:
            raise SqlError(
                f"the query is larger than {self.limit:,} parts once the names in it are written out",
                code=138,
                at=where(node),
                why="A name of WITH or a view counts every time it is used. A constant is one part, an operator, a "
                f"column or a function {PART}, a table or filter {RELATION}, an aggregate {AGGREGATE}, a join {JOIN}.",
                fix="Split it into several queries: keep smaller results with CREATE TABLE, or INSERT long "
                "lists into a table and join it.",
            )
