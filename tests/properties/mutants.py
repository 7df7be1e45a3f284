"""Relations of releases with one thing changed, and what the change breaks: by running them on worlds in which the cells
are hostile, a unit is missing, or the rows come in another order."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import duckdb
import pandas as pd
import pyarrow as pa

from dpsql.catalog.model import Catalog
from dpsql.domain.types import BIGINT, TEXT, TINYINT, Kind
from dpsql.ir.expr import TRUE, AggregateCall, Call, Column, Expr, Frame, Literal, WindowCall, rewrite, walk
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Loaded,
    Node,
    Noisy,
    Project,
    Scan,
    SemiJoin,
    UserTable,
    Window,
    inputs,
    with_inputs,
)
from dpsql.ir.nodes import walk as walk_nodes
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.dialects.scratch import SCRATCH
from dpsql.plan.render.clean import cleaned, loaded_column
from dpsql.plan.render.relation import Relations, name

Frames = dict[str, pd.DataFrame]


# --- running -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Closed:
    """The closed input of a release, and the public relations that it is handed."""

    node: Project
    loads: tuple[Node, ...]

    @property
    def is_plain(self) -> bool:
        """No released rows are read."""
        return not any(isinstance(n, Noisy | UserTable) for load in self.loads for n in walk_nodes(load))


class World:
    """Tables in DuckDB as a vault has them."""

    def __init__(self, catalog: Catalog, frames: Frames, settings: str) -> None:
        self.catalog = catalog
        self.connection = duckdb.connect()
        self.types: dict[str, dict[str, str]] = {}
        for table, frame in frames.items():
            spec = catalog.table(table)
            assert spec is not None
            self.connection.register("frame", _arrow(frame))
            items = ", ".join(f'TRY_CAST("{c.name}" AS {c.type.sql}) AS "{c.name}"' for c in spec.columns)
            self.connection.execute(f'CREATE TABLE "{table}" AS SELECT {items} FROM frame')
            self.connection.unregister("frame")
            self.types[table] = {c.name: c.type.sql for c in spec.columns}
        self.connection.execute(settings)

    def rows(self, closed: Closed, node: Node) -> Counter[tuple[str, ...]]:
        """The rows of a relation, as a multiset."""

        def leaf(part: Scan | UserTable | Noisy | Loaded) -> str:
            match part:
                case Scan():
                    spec = self.catalog.table(part.table)
                    assert spec is not None
                    return cleaned(part, spec, f'"{part.table}"', self.types[part.table])
                case Loaded():
                    public = Relations(leaf, SCRATCH).render(closed.loads[part.index])
                    old = closed.loads[part.index].fields
                    named = ", ".join(f"{name(a.id)} AS l{i}" for i, a in enumerate(old))
                    items = [f"{loaded_column(f, f'l{i}')} AS {name(f.id)}" for i, f in enumerate(part.fields)]
                    return f"SELECT {', '.join(items) or '1 AS one'} FROM (SELECT {named or '1'} FROM ({public}))"
                case _:
                    raise AssertionError(part)

        sql = Relations(leaf, DUCKDB).render(node)
        shown = ", ".join(name(f.id) for f in node.fields)
        answered = self.connection.execute(f"SELECT {shown} FROM ({sql})").fetchall()
        return Counter(tuple(map(repr, row)) for row in answered)


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """Missing cells as NULL, NaN among reals as NaN."""

    def cells(column: str) -> list[object]:
        values = frame[column].tolist()
        real = frame[column].dtype.kind == "f"
        return [
            None if value is None or value is pd.NaT or (not real and pd.isna(value)) else value for value in values
        ]

    return pa.table({column: pa.array(cells(column)) for column in frame})


@dataclass(frozen=True, slots=True)
class Worlds:
    full: World
    shuffled: World
    calm: World  # without hostile cells
    without: list[tuple[str, World]]  # a unit, as it is printed

    def broken(self, closed: Closed, node: Node) -> str:
        """What is wrong with a relation: "" if nothing was found."""
        try:
            self.calm.rows(closed, node)
        except duckdb.Error:
            return ""  # no SQL at all: nobody's rows decide
        try:
            full = self.full.rows(closed, node)
        except duckdb.Error:
            return "a value stops it"
        if self.shuffled.rows(closed, node) != full:
            return "the order of rows decides"
        for unit, world in self.without:
            others = Counter({row: n for row, n in full.items() if row[0] != unit})
            if world.rows(closed, node) != others:
                return f"unit {unit} decides about others"
        return ""


# --- mutants -----------------------------------------------------------------------------------------------------------

Mutation = Callable[[Node], Iterator[Node]]


def mutants(node: Node, change: Mutation) -> Iterator[Node]:
    """Every relation in which one node is changed in one way."""
    yield from change(node)
    below = inputs(node)
    for i, child in enumerate(below):
        for new in mutants(child, change):
            yield with_inputs(node, (*below[:i], new, *below[i + 1 :]))


def one_by_one(change: Callable[[Expr], Expr | None]) -> Mutation:
    """One expression at a time, wherever it stands."""

    def mutate(node: Node) -> Iterator[Node]:
        for count in range(sum(change(part) is not None for expr in exprs_in(node) for part in walk(expr))):
            left = [count]

            def once(part: Expr, left: list[int] = left) -> Expr | None:
                new = change(part)
                if new is None:
                    return None
                left[0] -= 1
                return new if left[0] == -1 else None

            yield with_own(node, once)

    return mutate


def exprs_in(node: Node) -> tuple[Expr, ...]:
    match node:
        case Filter():
            return (node.predicate,)
        case Project():
            return node.exprs
        case Join() | SemiJoin():
            return () if node.on is None else (node.on,)
        case Aggregate():
            return (*node.keys, *node.calls)
        case Window():
            return node.calls
    return ()


def with_own(node: Node, change: Callable[[Expr], Expr | None]) -> Node:
    match node:
        case Filter():
            return dataclasses.replace(node, predicate=rewrite(node.predicate, change))
        case Project():
            return dataclasses.replace(node, exprs=tuple(rewrite(e, change) for e in node.exprs))
        case Join() | SemiJoin():
            return dataclasses.replace(node, on=None if node.on is None else rewrite(node.on, change))
        case Aggregate():
            keys = tuple(rewrite(e, change) for e in node.keys)
            calls = tuple(rewrite(e, change) for e in node.calls)
            return dataclasses.replace(node, keys=keys, calls=calls)
        case Window():
            return dataclasses.replace(node, calls=tuple(rewrite(e, change) for e in node.calls))
    return node


def stripped(expr: Expr) -> Expr | None:
    if isinstance(expr, Call) and expr.function.startswith("checked_"):
        return dataclasses.replace(expr, function=expr.function.removeprefix("checked_"))
    return None


def uncanonical(expr: Expr) -> Expr | None:
    return expr.args[0] if isinstance(expr, Call) and expr.function == "canonical" else None


def trusting(expr: Expr) -> Expr | None:
    """TRY_CAST as CAST."""
    if isinstance(expr, Call) and expr.function == "try_cast":
        return dataclasses.replace(expr, function="cast")
    return None


def narrowed(expr: Expr) -> Expr | None:
    """A number that is read goes through a type that may not hold it."""
    if isinstance(expr, Call) and expr.type.kind is Kind.BOOLEAN and len(expr.args) == 2:
        left = expr.args[0]
        if isinstance(left, Column) and left.type in (BIGINT, TEXT):
            cast = Call("cast", (Call("cast", (left,), TINYINT),), left.type)
            return dataclasses.replace(expr, args=(cast, expr.args[1]))
    return None


def unlike(expr: Expr) -> Expr | None:
    """A pattern that ends in its escape."""
    if isinstance(expr, Call) and expr.function in ("like", "not_like", "ilike") and len(expr.args) == 2:
        return dataclasses.replace(expr, args=(expr.args[0], Literal("%!", TEXT), Literal("!", TEXT)))
    return None


def far(expr: Expr) -> Expr | None:
    """A position beyond 32 bits."""
    if isinstance(expr, Call) and expr.function in ("substring", "left", "right"):
        return dataclasses.replace(expr, args=(expr.args[0], Literal(5_000_000_000, BIGINT), *expr.args[2:]))
    return None


def by_nothing(expr: Expr) -> Expr | None:
    if isinstance(expr, Call) and expr.function in ("integer_divide", "modulo") and isinstance(expr.args[1], Literal):
        return dataclasses.replace(expr, args=(expr.args[0], Literal(-1, expr.args[1].type)))
    return None


def less_than_all(expr: Expr) -> Expr | None:
    """One conjunct is dropped."""
    if isinstance(expr, Call) and expr.function == "and":
        return expr.args[0]
    return None


def other_conjunct(expr: Expr) -> Expr | None:
    if isinstance(expr, Call) and expr.function == "and":
        return expr.args[-1]
    return None


def without_condition(node: Node) -> Iterator[Node]:
    if isinstance(node, Join | SemiJoin) and node.on is not None:
        yield dataclasses.replace(node, on=TRUE)


def other_kinds(node: Node) -> Iterator[Node]:
    if isinstance(node, Join) and node.on is not None:
        for kind in ("left", "right", "full", "inner"):
            if kind != node.kind:
                yield dataclasses.replace(node, kind=kind)


def other_instances(node: Node) -> Iterator[Node]:
    """A join reads another column of the same type: another scan's, for example."""
    if not isinstance(node, Join | SemiJoin) or node.on is None:
        return
    fields = (*node.left.fields, *node.right.fields)
    for part in walk(node.on):
        if not isinstance(part, Column):
            continue
        for f in fields:
            if f.type == part.type and f.id != part.id:
                yield dataclasses.replace(
                    node, on=rewrite(node.on, lambda e, a=part, b=f: b.column() if e == a else None)
                )


def other_partitions(node: Node) -> Iterator[Node]:
    if not isinstance(node, Window):
        return
    for i, call in enumerate(node.calls):
        for f in (*node.input.fields, None):
            new = () if f is None else (f.column(),)
            calls = (*node.calls[:i], dataclasses.replace(call, partition=new), *node.calls[i + 1 :])
            yield dataclasses.replace(node, calls=calls)


def other_keys(node: Node) -> Iterator[Node]:
    """GROUP BY another column of the type, or with a grouping set that lacks a key."""
    if not isinstance(node, Aggregate):
        return
    for i, key in enumerate(node.keys):
        for f in node.input.fields:
            if f.type == key.type and f.column() != key:
                yield dataclasses.replace(node, keys=(*node.keys[:i], f.column(), *node.keys[i + 1 :]))
        every = tuple(range(len(node.keys)))
        yield dataclasses.replace(node, sets=(every, tuple(k for k in every if k != i)))


def other_orders(node: Node) -> Iterator[Node]:
    """Fewer order keys."""
    if isinstance(node, Window | Aggregate):
        for i, call in enumerate(node.calls):
            if call.order:
                for order in (call.order[:-1], call.order[1:], call.order[:1]):
                    new = dataclasses.replace(call, order=order)
                    yield dataclasses.replace(node, calls=(*node.calls[:i], new, *node.calls[i + 1 :]))


def two_orders(node: Node) -> Iterator[Node]:
    """Windows that number rows in several orders, beside each other."""
    if isinstance(node, Window) and isinstance(node.input, Window):
        below = {f.id for f in node.input.call_fields}
        calls = [
            dataclasses.replace(
                call, order=tuple(k for k in call.order if not (isinstance(k.expr, Column) and k.expr.id in below))
            )
            for call in node.calls
        ]
        yield Window(node.input.input, (*node.input.call_fields, *node.call_fields), (*node.input.calls, *calls))


def other_frames(node: Node) -> Iterator[Node]:
    """A RANGE frame over one order key, a ROWS frame over the first of several."""
    if isinstance(node, Window):
        for i, call in enumerate(node.calls):
            if call.order:
                one = Literal(1, BIGINT)
                for unit in ("RANGE", "ROWS"):
                    frame = Frame(unit, ("PRECEDING", one), ("CURRENT ROW", None))
                    new = dataclasses.replace(call, order=call.order[:1], frame=frame)
                    yield dataclasses.replace(node, calls=(*node.calls[:i], new, *node.calls[i + 1 :]))


def other_sums(node: Node) -> Iterator[Node]:
    """MIN and COUNT as SUM, FIRST and row_number as they are, over columns that may be large."""
    if isinstance(node, Window | Aggregate):
        for i, call in enumerate(node.calls):
            for f in node.input.fields:
                wide = Call("cast", (f.column(),), dataclasses.replace(BIGINT, bits=128))
                square = Call("multiply", (wide, wide), wide.type)
                if f.type == BIGINT and call.function in ("sum", "min", "max") and call.type == wide.type:
                    new: AggregateCall | WindowCall = dataclasses.replace(call, args=(square,))
                    yield dataclasses.replace(node, calls=(*node.calls[:i], new, *node.calls[i + 1 :]))


def other_columns(node: Node) -> Iterator[Node]:
    """A projection hands on another column in a column's place."""
    if isinstance(node, Project):
        for i, expr in enumerate(node.exprs):
            for f in node.input.fields:
                if isinstance(expr, Column) and f.type == expr.type and f.id != expr.id:
                    yield dataclasses.replace(node, exprs=(*node.exprs[:i], f.column(), *node.exprs[i + 1 :]))


MUTATIONS: dict[str, Mutation] = {
    "checked forms stripped": one_by_one(stripped),
    "canonical stripped": one_by_one(uncanonical),
    "CAST for TRY_CAST": one_by_one(trusting),
    "a narrow CAST": one_by_one(narrowed),
    "a pattern that ends in its escape": one_by_one(unlike),
    "a far position": one_by_one(far),
    "by -1": one_by_one(by_nothing),
    "a conjunct dropped": one_by_one(less_than_all),
    "the other conjunct dropped": one_by_one(other_conjunct),
    "no condition": without_condition,
    "another kind of join": other_kinds,
    "another instance": other_instances,
    "another partition": other_partitions,
    "another key": other_keys,
    "another order": other_orders,
    "another frame": other_frames,
    "another sum": other_sums,
    "another column": other_columns,
}
