"""Comma joins: the conditions of WHERE that tie two tables of FROM move into the join of those tables.

`FROM a, b WHERE a.x = b.x` and `FROM a JOIN b ON a.x = b.x` are the same relation; after this pass they are the same IR,
so every rule about joins holds for both. Inner and cross joins are taken apart and put together again in the order
written, except that a table nothing ties to those before it waits for one that does.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.catalog.model import Catalog
from dpsql.errors import Span
from dpsql.functions.conjunctions import branches, conjunction, conjuncts
from dpsql.ir.expr import Expr, columns_of
from dpsql.ir.nodes import Join, Node
from dpsql.sql.bind.implied import with_implied


@dataclass(slots=True)
class Leaf:
    node: Node
    ids: frozenset[int]
    at: Span | None


def gathered(node: Node, conditions: list[Expr], catalog: Catalog) -> tuple[Node, list[Expr]]:
    """(the joins with the conditions that tie their tables, the conditions that are left for a filter). Public tables are
    filtered by what the conditions say of them alone."""
    leaves: list[Leaf] = []
    ties: list[Expr] = []
    _take_apart(node, None, leaves, ties)
    if len(leaves) < 2:
        return node, conditions
    left: list[Expr] = []
    for condition in conditions:
        if _spans(condition, leaves):
            ties.append(condition)
        else:
            left.append(condition)
        ties += [shared for shared in common_factors(condition) if _spans(shared, leaves)]
    leaves = [Leaf(with_implied(leaf.node, conditions, catalog), leaf.ids, leaf.at) for leaf in leaves]
    return _put_together(leaves, list(dict.fromkeys(ties))), left


def _take_apart(node: Node, at: Span | None, leaves: list[Leaf], ties: list[Expr]) -> None:
    if isinstance(node, Join) and node.kind in ("inner", "cross"):
        _take_apart(node.left, at, leaves, ties)
        _take_apart(node.right, node.at, leaves, ties)
        ties += conjuncts(node.on)
    else:
        leaves.append(Leaf(node, frozenset(f.id for f in node.fields), at))


def _spans(condition: Expr, leaves: list[Leaf]) -> bool:
    """Whether the condition is about several tables, and about nothing else."""
    used = columns_of(condition)
    return sum(bool(used & leaf.ids) for leaf in leaves) > 1 and used <= frozenset().union(
        *(leaf.ids for leaf in leaves)
    )


def _put_together(leaves: list[Leaf], ties: list[Expr]) -> Node:
    waiting, open_ = list(leaves), [(tie, columns_of(tie)) for tie in ties]
    first = waiting.pop(0)
    whole, have = first.node, first.ids
    while waiting:
        leaf = next((one for one in waiting if any(_ties(used, one, have) for _, used in open_)), waiting[0])
        waiting.remove(leaf)
        have |= leaf.ids
        on = conjunction([tie for tie, used in open_ if used <= have])
        open_ = [(tie, used) for tie, used in open_ if not used <= have]
        whole = Join(whole, leaf.node, "cross" if on is None else "inner", on, leaf.at)
    return whole


def _ties(used: frozenset[int], leaf: Leaf, have: frozenset[int]) -> bool:
    return bool(used & leaf.ids) and bool(used & have) and used <= leaf.ids | have


def common_factors(expr: Expr) -> list[Expr]:
    """Conditions that stand in every branch of an OR: (a AND b) OR (a AND c) holds only where a does."""
    each = list(branches(expr))
    if len(each) < 2:
        return []
    shared = list(conjuncts(each[0]))
    for branch in each[1:]:
        theirs = set(conjuncts(branch))
        shared = [part for part in shared if part in theirs]
    return shared
