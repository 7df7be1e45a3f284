"""Isolation: whose each row of a relation is, by pattern matching on the relation and the catalog alone.

One case a rule; each rule's lemma stands beside its name (plan/proof.py). What fits none is refused.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.catalog.model import fold
from dpsql.ir.expr import Column
from dpsql.ir.nodes import Aggregate, Filter, Join, Loaded, Node, Project, Scan, SemiJoin, SetOp, Window
from dpsql.plan.proof import Proof, Rule
from dpsql.privacy.kernel import joins
from dpsql.privacy.kernel.owned import (
    PEOPLE,
    ROW,
    Found,
    Owned,
    Public,
    Unowned,
    World,
    both,
    kept_origins,
    origins_of,
    proved,
)
from dpsql.privacy.kernel.unproved import unproved


def isolate(node: Node, world: World) -> Found:
    match node:
        case Scan():
            return _scan(node, world)
        case Loaded():
            return Public()
        case Filter():
            below = isolate(node.input, world)
            return below if not isinstance(below, Owned) else proved(below, Rule.FILTER)
        case Project(input=Join(kind="full") as join):
            return joins.full(node, join, isolate(join.left, world), isolate(join.right, world))
        case Project():
            return _project(node, isolate(node.input, world))
        case Join():
            return joins.join(node, isolate(node.left, world), isolate(node.right, world), world)
        case SemiJoin():
            return joins.semi_join(node, isolate(node.left, world), isolate(node.right, world), world)
        case Aggregate():
            return _per_unit(node, isolate(node.input, world))
        case Window():
            return _window(node, isolate(node.input, world))
        case SetOp():
            return _union_all(node, isolate(node.left, world), isolate(node.right, world))
    raise unproved(node, "rows of different people may decide which stay")


def _scan(node: Scan, world: World) -> Found:
    spec = world.catalog.table(node.table)
    if spec is None or len(node.fields) != len(node.columns) or not node.fields:
        raise unproved(node, "the table is unknown")
    columns = {f.id: fold(c) for f, c in zip(node.fields, node.columns, strict=True)}
    for f, column in zip(node.fields, node.columns, strict=True):
        declared = spec.column(column)
        numbers = column == ROW and spec.row_is_unit
        if not numbers and (declared is None or declared.type != f.type):
            raise unproved(node, f"{column} is not declared so")
    if spec.public:
        return Public()
    instance = next(world.scans)
    if spec.unit_path is not None:
        return Unowned(spec=spec, instance=instance, columns=columns)
    name, rule, space = (ROW, Rule.ROW_IS_UNIT, spec.name) if spec.row_is_unit else (
        fold(spec.unit_column or ""), Rule.OWN_COLUMN, PEOPLE
    )  # fmt: skip
    units = frozenset(id_ for id_, column in columns.items() if column == name)
    if not units:
        raise unproved(node, "its unit is not read")
    about = spec.name if spec.row_is_unit else f"{spec.name}.{spec.unit_column}"
    return Owned(
        space=space,
        units=units,
        proof=Proof(rule=rule, about=about),
        single=spec.row_is_unit,
        origins=origins_of(columns, spec, instance),
    )


def _project(node: Project, below: Found) -> Found:
    if isinstance(below, Public):
        return below
    if isinstance(below, Unowned):
        raise unproved(node, "its rows have no unit yet")
    pairs = zip(node.fields, node.exprs, strict=True)
    units = frozenset(f.id for f, e in pairs if isinstance(e, Column) and e.id in below.units)
    if not units:
        raise unproved(node, "the unit is left out")
    return replace(proved(below, Rule.PROJECT), units=units, origins=kept_origins(node.fields, node.exprs, below))


def _per_unit(node: Aggregate, below: Found) -> Owned:
    if not isinstance(below, Owned):
        raise unproved(node, "its rows have no unit")
    every = tuple(range(len(node.keys)))
    sets = (every,) if node.sets is None else node.sets
    unit_keys = {i for i, key in enumerate(node.keys) if isinstance(key, Column) and key.id in below.units}
    common = unit_keys.intersection(*map(set, sets)) if sets else set()
    if not common:
        raise unproved(node, "the unit is not among the keys of every grouping set")
    return replace(
        proved(below, Rule.PER_UNIT, ", ".join(f.name for f in node.fields if f.name)),
        units=frozenset(node.key_fields[i].id for i in common),
        single=node.sets is None and unit_keys == set(every),
        origins=kept_origins(node.key_fields, node.keys, below) if node.sets is None else {},
    )


def _window(node: Window, below: Found) -> Owned:
    if not isinstance(below, Owned):
        raise unproved(node, "its rows have no unit")
    for call in node.calls:
        if not any(isinstance(part, Column) and part.id in below.units for part in call.partition):
            raise unproved(node, f"{call.function} runs over rows of different people")
    return proved(below, Rule.WINDOW, ", ".join(dict.fromkeys(call.function for call in node.calls)))


def _union_all(node: SetOp, left: Found, right: Found) -> Owned:
    if not isinstance(left, Owned) or not isinstance(right, Owned) or node.kind != "union" or not node.all:
        raise unproved(node, "it compares rows of different people, or mixes them with public ones")
    sides = node.left.fields, node.right.fields
    if left.space != right.space or {len(side) for side in sides} != {len(node.fields)}:
        raise unproved(node, "its sides have different units, or different columns")
    units = frozenset(
        f.id
        for f, a, b in zip(node.fields, *sides, strict=True)
        if a.id in left.units and b.id in right.units and a.type == b.type == f.type
    )
    if not units:
        raise unproved(node, "no column is the unit on both sides")
    return replace(both(left, right, Rule.UNION_ALL, units), origins={})
