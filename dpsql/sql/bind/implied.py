"""What a WHERE says of a public table alone: the table is filtered by it before its rows are handed to the vault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsql import functions
from dpsql.catalog.model import Catalog
from dpsql.functions.conjunctions import branches, conjunction, conjuncts
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of, walk
from dpsql.ir.nodes import Filter, Node, Scan


def with_implied(leaf: Node, conditions: Iterable[Expr], catalog: Catalog) -> Node:
    """A table that is joined (inner or cross) under these conditions, without rows that none of the result has.

    Lemma: the result has the same rows. Proof: of a condition (A₁ ∧ B₁) ∨ (A₂ ∧ B₂) ∨ …, where each Aᵢ reads columns of
    the table alone, A₁ ∨ A₂ ∨ … is TRUE of every row of which the condition is: some branch is TRUE then, and so are its
    conjuncts. A row of the table of which that is FALSE or NULL is part of no row that stays, and joins that add nothing for
    it lose nothing. The condition itself is tested as before. No test is new that could fail: each answers on every value of
    its types. (The kernel knows nothing of all this; it certifies what comes out, like any other relation.)
    """
    spec = catalog.table(leaf.table) if isinstance(leaf, Scan) else None
    if spec is None or not spec.public:
        return leaf
    leaf_ids = frozenset(f.id for f in leaf.fields)
    for implied in dict.fromkeys(part for condition in conditions for part in _implied(condition, leaf_ids)):
        leaf = Filter(leaf, implied)
    return leaf


def _implied(condition: Expr, leaf_ids: frozenset[int]) -> Iterator[Expr]:
    parts = list(branches(condition))
    each = [conjunction([part for part in conjuncts(branch) if _about(part, leaf_ids)]) for branch in parts]
    known = [expr for expr in each if expr is not None]
    if len(parts) < 2 or len(known) < len(parts):
        return
    first, *others = dict.fromkeys(known)
    whole = first
    for expr in others:
        whole = functions.call("or", whole, expr)
    yield whole


def _about(part: Expr, leaf_ids: frozenset[int]) -> bool:
    """Whether it is about these columns alone, and answers whatever they hold."""
    read = columns_of(part)
    if not read or not read <= leaf_ids or not all(isinstance(one, Column | Literal | Call) for one in walk(part)):
        return False
    return functions.totalise(part, {})[0] == part
