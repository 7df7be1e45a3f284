"""IR relations as nested SELECTs. A column is always called c<id>, so no name of a user can be confused with another."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from dpsql.ir.expr import Expr, SortKey
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Loaded,
    Node,
    Noisy,
    OneRow,
    Project,
    PublicText,
    Scan,
    SemiJoin,
    SetOp,
    Sort,
    UserTable,
    Window,
    constant_rows,
)
from dpsql.plan.dialects.dialect import Dialect

Leaf = Callable[[Scan | UserTable | Noisy | Loaded], str]


def name(id_: int) -> str:
    return f"c{id_}"


class Relations:
    """leaf prints a SELECT whose columns are c<id> for the leaf's fields; dialect prints expressions."""

    def __init__(self, leaf: Leaf, dialect: Dialect) -> None:
        self._leaf = leaf
        self.dialect = dialect

    def expr(self, expr: Expr) -> str:
        return self.dialect.render(expr, lambda column: name(column.id))

    def render(self, node: Node) -> str:
        """A SELECT."""
        match node:
            case Scan() | UserTable() | Noisy() | Loaded():
                return self._leaf(node)
            case OneRow():
                return "SELECT 1 AS one"
            case PublicText():
                raise AssertionError("a text runs apart")
            case Filter():
                return self._filter(node)
            case Project():
                source = self._from(node.input)
                with self.dialect.levels() as levels:
                    items = [f"{self.expr(e)} AS {name(f.id)}" for f, e in zip(node.fields, node.exprs, strict=True)]
                return f"SELECT {', '.join(items)} FROM {levels.over(source)}"
            case Join():
                return self._join(node)
            case SemiJoin():
                return self._semi_join(node)
            case Aggregate():
                return self._aggregate(node)
            case Window():
                items = [
                    "*",
                    *(f"{self.expr(c)} AS {name(f.id)}" for f, c in zip(node.call_fields, node.calls, strict=True)),
                ]
                return f"SELECT {', '.join(items)} FROM {self._from(node.input)}"
            case Sort():
                return f"SELECT * FROM {self._from(node.input)} ORDER BY {self._sort_keys(node.keys)}"
            case Limit():
                return self._limit(node)
            case SetOp():
                return self._set_operation(node)
            case _:
                assert_never(node)

    def _from(self, node: Node) -> str:
        return f"({self.render(node)}) AS t"

    def _filter(self, node: Filter) -> str:
        return f"SELECT * FROM {self._from(node.input)} WHERE {self.expr(node.predicate)}"

    def _join(self, node: Join) -> str:
        left, right = f"({self.render(node.left)}) AS a", f"({self.render(node.right)}) AS b"
        if node.kind == "cross" or (node.kind == "inner" and node.on is None):
            return f"SELECT * FROM {left} CROSS JOIN {right}"
        on = "TRUE" if node.on is None else self.expr(node.on)
        return f"SELECT * FROM {left} {node.kind.upper()} JOIN {right} ON {on}"

    def _semi_join(self, node: SemiJoin) -> str:
        left, right = f"({self.render(node.left)}) AS a", f"({self.render(node.right)}) AS b"
        if node.mark is not None:
            test = f"EXISTS (SELECT 1 FROM {right} WHERE {self.expr(node.on)})"
            return f"SELECT *, {test} AS {name(node.mark.id)} FROM {left}"
        if not node.anti:
            return f"SELECT * FROM {self.dialect.semi_join(left, right, self.expr(node.on))}"
        clause, test = self.dialect.anti_join(right, self.expr(node.on))
        return f"SELECT * FROM {left} {clause or f'WHERE {test}'}"

    def _aggregate(self, node: Aggregate) -> str:
        node = self.dialect.aggregated(node)
        keys = [f"{self.expr(k)} AS {name(f.id)}" for f, k in zip(node.key_fields, node.keys, strict=True)]
        calls = [f"{self.expr(c)} AS {name(f.id)}" for f, c in zip(node.call_fields, node.calls, strict=True)]
        positions = [str(i + 1) for i in range(len(keys))]
        text = f"SELECT {', '.join([*keys, *calls])} FROM {self._from(node.input)}"
        if node.sets is not None:
            # expressions, not positions: GROUPING SETS takes no ordinals
            sets = ["(" + ", ".join(self.expr(node.keys[i]) for i in kept) + ")" for kept in node.sets]
            return f"{text} GROUP BY GROUPING SETS ({', '.join(sets)})"
        return f"{text} GROUP BY {', '.join(positions)}" if positions else text

    def _sort_keys(self, keys: tuple[SortKey, ...]) -> str:
        return ", ".join(
            f"{self.expr(k.expr)} {'DESC' if k.descending else 'ASC'} NULLS {'FIRST' if k.nulls_first else 'LAST'}"
            for k in keys
        )

    def _limit(self, node: Limit) -> str:
        # the LIMIT must stand in the SELECT that has the ORDER BY, or the order would not be its own
        inner = self.render(node.input) if isinstance(node.input, Sort) else f"SELECT * FROM {self._from(node.input)}"
        limit = "" if node.limit is None else f" LIMIT {node.limit}"
        return f"{inner}{limit}{f' OFFSET {node.offset}' if node.offset else ''}"

    def _set_operation(self, node: SetOp) -> str:
        rows = constant_rows(node)
        if rows is not None:
            lines = ", ".join(f"({', '.join(self.expr(cell) for cell in row)})" for row in rows)
            return f"SELECT * FROM (VALUES {lines}) AS t({', '.join(name(f.id) for f in node.fields)})"

        def side(input_: Node) -> str:
            columns = [f"{name(old.id)} AS {name(new.id)}" for old, new in zip(input_.fields, node.fields, strict=True)]
            return f"(SELECT {', '.join(columns)} FROM {self._from(input_)})"

        word = f"{node.kind.upper()}{' ALL' if node.all else ''}"
        return f"SELECT * FROM ({side(node.left)} {word} {side(node.right)}) AS t"


def output(text: str, node: Node, identifier: Callable[[str], str]) -> str:
    """The relation's columns under the names the analyst gave them."""
    items = [f"{name(f.id)} AS {identifier(f.name)}" for f in node.fields]
    return f"SELECT {', '.join(items)} FROM ({text}) AS result"
