"""(SELECT price FROM products p WHERE p.product = o.product) as a value: a left join that finds one row at most.

That it does is seen from its form, or, of public tables and of one's own, from their rows, which scratch counts before
anything is charged (`Join.single`, execution/plan_sql.py). Privacy rests on neither: it is a join with public rows.
"""

from __future__ import annotations

import dataclasses

from sqlglot import exp

from dpsql import functions
from dpsql.errors import Refused
from dpsql.ir.expr import Column, Expr, columns_of
from dpsql.ir.nodes import Loaded, Node, Noisy, Project, PublicText, Scan, walk
from dpsql.sql.bind.block import Block, ScalarJoin
from dpsql.sql.bind.equalities import split_equality, with_columns
from dpsql.sql.bind.inner_rows import has_aggregate, simple_select, tangled
from dpsql.sql.bind.one_row import Rows, rows
from dpsql.sql.bind.subquery import all_of, from_and_where, join_scalars


def looked_up(select: exp.Select, block: Block) -> Expr | None:
    """The value of the row that equalities find; None where the subquery has another form or nothing connects it."""
    if len(select.expressions) != 1 or simple_select(select) is None or has_aggregate(select, block):
        return None
    if select.args.get("order") is not None or select.find(exp.Window) is not None:
        return None
    inner = from_and_where(select, block)
    if not inner.tied:
        return None
    pairs = [pair for c in inner.tied if (pair := split_equality(c, inner.node)) is not None]
    if inner.of_rows or len(pairs) < len(inner.tied):
        raise tangled(select, block)
    value = inner.block.expr(select.expressions[0])
    node, pairs = with_columns(join_scalars(inner.node, [value], inner.block), pairs, block.context)
    if not columns_of(value) <= {f.id for f in node.fields}:
        raise tangled(select, block)
    ids, at = block.context.ids, block.context.at(select)
    shown, keys = ids.field("", value.type), [ids.field("", key.type) for key, _ in pairs]
    node = Project(node, (shown, *keys), (value, *(key for key, _ in pairs)))
    single = rows(node, frozenset(key.id for key in keys)) is Rows.SEVERAL
    if single and not is_public(node, block):
        raise several(select, block)
    on = all_of([functions.call("equal", k.column(), other) for k, (_, other) in zip(keys, pairs, strict=True)])
    block.scalars[shown.id] = ScalarJoin(node, on, at, single=single)
    return dataclasses.replace(shown.column(), name=value.name if isinstance(value, Column) else "", at=at)


def is_public(node: Node, block: Block) -> bool:
    """Whether it reads public tables and the user's alone: then how many rows it has is nobody's secret."""
    for leaf in walk(node):
        if isinstance(leaf, Noisy | Loaded | PublicText):
            return False
        spec = block.context.catalog.table(leaf.table) if isinstance(leaf, Scan) else None
        if spec is not None and not spec.public:
            return False
    return True


def several(query: exp.Expr, block: Block) -> Refused:
    return Refused(
        "this subquery may have several rows",
        code=121,
        at=block.context.at(query),
        why="A subquery that is used as a value must have at most one row, and its form must guarantee it: what is stored "
        "about people may not decide that.",
        fix="Aggregate without GROUP BY, such as MAX(x), or end it with ORDER BY … LIMIT 1.",
    )


__all__ = ["is_public", "looked_up", "several"]
