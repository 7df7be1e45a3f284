"""Whether two relations are the same rows, written twice: then they differ in the ids of their columns at most."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Column, Expr, rewrite
from dpsql.ir.nodes import Filter, Join, Node, Project, Scan, inputs, with_inputs


def below_filters(node: Node) -> tuple[Node, tuple[Expr, ...]]:
    """What the filters on top of a relation are over, and all that they ask."""
    parts = list[Expr]()
    while isinstance(node, Filter):
        parts += conjuncts(node.predicate)
        node = node.input
    return node, tuple(parts)


def each(tree: Node) -> Iterator[Node]:
    """Every node once, though several may read it."""
    seen, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed(inputs(node)))


def put(tree: Node, instead: Mapping[int, Node]) -> Node:
    """The relation with other nodes for some, by their identity; what was one node is one node again."""
    made: dict[int, Node] = {}

    def new(node: Node) -> Node:
        if id(node) not in made:
            stands = instead.get(id(node))
            if stands is None:
                below = tuple(map(new, inputs(node)))
                kept = all(one is other for one, other in zip(below, inputs(node), strict=True))
                stands = node if kept else with_inputs(node, below)
            made[id(node)] = stands
        return made[id(node)]

    return new(tree)


def is_same(one: Node, other: Node, ids: dict[int, int]) -> bool:
    """Whether two relations differ in the ids of their columns at most; ids: the one's by the other's."""
    match one, other:
        case Scan(), Scan() if one.table == other.table and one.columns == other.columns:
            pass
        case Project(), Project() if is_same(one.input, other.input, ids):
            if one.exprs != tuple(moved(expr, ids) for expr in other.exprs):
                return False
        case Filter(), Filter() if is_same(one.input, other.input, ids):
            return one.predicate == moved(other.predicate, ids)
        case Join(), Join() if one.kind == other.kind and not (one.correlated or other.correlated):
            if not is_same(one.left, other.left, ids) or not is_same(one.right, other.right, ids):
                return False
            on = None if other.on is None else moved(other.on, ids)
            return one.on == on and one.of_rows == other.of_rows
        case _:
            return False
    ids.update({theirs.id: ours.id for ours, theirs in zip(one.fields, other.fields, strict=True)})
    return True


def moved(expr: Expr, ids: Mapping[int, int]) -> Expr:
    def column(part: Expr) -> Expr | None:
        return dataclasses.replace(part, id=ids.get(part.id, part.id)) if isinstance(part, Column) else None

    return rewrite(expr, column)
