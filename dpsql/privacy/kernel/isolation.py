"""Isolation: whose each row of a relation is, by pattern matching on the relation and the catalog alone.

One case a rule; each rule's lemma stands beside its name (plan/proof.py). What fits none is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.ir.expr import Call, Column, Expr
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Loaded,
    Node,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    Window,
)
from dpsql.plan.proof import Proof, Rule
from dpsql.privacy.kernel.unproved import unproved

ROW = "__row"  # the hidden column of a scan: the row's number in its source


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The scan a column comes from, unchanged, as part of one of its rows: which of the relation's scans it is, its table
    and the column there, both folded. (Scans are counted: what a query names twice has its ids twice.)"""

    instance: int
    table: str
    column: str


Origins = Mapping[int, Origin]


@dataclass(frozen=True, slots=True)
class Public:
    """Rows that depend on nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unowned:
    """Rows of a table with a path, before it is walked: they may stand only where the next two rules want them."""

    spec: TableSpec
    instance: int
    columns: Mapping[int, str]  # the table's columns, folded, by id


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Rows that are one unit's each. space: what kind of unit: the dataset's, or the row numbers of one table. units: the
    columns that hold it, never NULL. origins: see Origin."""

    space: str
    units: frozenset[int]
    proof: Proof
    single: bool = False
    origins: Origins = field(default_factory=lambda: MappingProxyType({}))


Found = Public | Unowned | Owned
PEOPLE = ""  # the space of the dataset's own unit; a table's name is never empty


@dataclass(frozen=True, slots=True)
class World:
    """The catalog, and a number for each scan."""

    catalog: Catalog
    scans: Iterator[int] = field(default_factory=itertools.count)


def isolate(node: Node, world: World) -> Found:
    match node:
        case Scan():
            return _scan(node, world)
        case Loaded():
            return Public()
        case Filter():
            below = isolate(node.input, world)
            return below if not isinstance(below, Owned) else _with(below, Rule.FILTER)
        case Project(input=Join(kind="full") as join):
            return _full(node, join, world)
        case Project():
            return _project(node, isolate(node.input, world))
        case Join():
            return _join(node, isolate(node.left, world), isolate(node.right, world), world)
        case SemiJoin():
            return _semi_join(node, isolate(node.left, world), isolate(node.right, world), world)
        case Aggregate():
            return _per_unit(node, isolate(node.input, world))
        case Window():
            return _window(node, isolate(node.input, world))
        case SetOp():
            return _union_all(node, isolate(node.left, world), isolate(node.right, world))
    raise unproved(node, "rows of different people may decide which stay")


def _with(below: Owned, rule: Rule, about: str = "") -> Owned:
    return replace(below, proof=Proof(rule=rule, about=about, below=(below.proof,)))


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
        origins=_origins(columns, spec, instance),
    )


def _origins(columns: Mapping[int, str], spec: TableSpec, instance: int) -> Origins:
    return {id_: Origin(instance=instance, table=fold(spec.name), column=c) for id_, c in columns.items()}


def _project(node: Project, below: Found) -> Found:
    if isinstance(below, Public):
        return below
    if isinstance(below, Unowned):
        raise unproved(node, "its rows have no unit yet")
    passed = {f.id: e.id for f, e in zip(node.fields, node.exprs, strict=True) if isinstance(e, Column)}
    units = frozenset(id_ for id_, old in passed.items() if old in below.units)
    if not units:
        raise unproved(node, "the unit is left out")
    origins = {id_: below.origins[old] for id_, old in passed.items() if old in below.origins}
    return replace(_with(below, Rule.PROJECT), units=units, origins=origins)


# --- joins ----------------------------------------------------------------------------------------------------------


def _join(node: Join, left: Found, right: Found, world: World) -> Found:
    on = None if node.kind == "cross" else node.on  # what a cross join says is not printed
    match left, right:
        case Public(), Public():
            return left
        case Owned(), Public() if node.kind in ("inner", "cross", "left"):
            return replace(_with(left, Rule.PUBLIC_JOIN), single=False)
        case Public(), Owned() if node.kind in ("inner", "cross", "right"):
            return replace(_with(right, Rule.PUBLIC_JOIN), single=False)
        case Owned(), Owned() if node.kind in ("inner", "left", "right"):
            return _unit_join(node, on, left, right)
        case Owned(), Unowned() if node.kind == "inner":
            return _path(node, on, left, right, world)
        case Unowned(), Owned() if node.kind == "inner":
            return _path(node, on, right, left, world)
    raise unproved(node, f"a {node.kind} join may keep or print rows because of other people's")


def _unit_join(node: Join, on: Expr | None, left: Owned, right: Owned) -> Owned:
    if not _units_equal(on, left, right):
        raise unproved(node, "nothing says that the units of both sides are equal")
    units = {"inner": left.units | right.units, "left": left.units, "right": right.units}[node.kind]
    return _both(left, right, Rule.UNIT_JOIN, units)


def _both(left: Owned, right: Owned, rule: Rule, units: frozenset[int]) -> Owned:
    proof = Proof(rule=rule, below=(left.proof, right.proof))
    return Owned(space=left.space, units=units, proof=proof, origins={**left.origins, **right.origins})


def _full(node: Project, join: Join, world: World) -> Found:
    """FULL joins stand under a projection whose unit is COALESCE of both sides' units."""
    left, right = isolate(join.left, world), isolate(join.right, world)
    if isinstance(left, Public) and isinstance(right, Public):
        return left
    if not isinstance(left, Owned) or not isinstance(right, Owned) or not _units_equal(join.on, left, right):
        raise unproved(join, "nothing says that the units of both sides are equal")
    units = frozenset(
        f.id for f, e in zip(node.fields, node.exprs, strict=True) if _is_either(e, left.units, right.units)
    )
    if not units:
        raise unproved(node, "the unit is left out")
    owned = _both(left, right, Rule.UNIT_JOIN, units)
    passed = {f.id: e.id for f, e in zip(node.fields, node.exprs, strict=True) if isinstance(e, Column)}
    return replace(owned, origins={id_: owned.origins[old] for id_, old in passed.items() if old in owned.origins})


def _is_either(expr: Expr, left: frozenset[int], right: frozenset[int]) -> bool:
    match expr:
        case Call(function="coalesce", args=(Column() as a, Column() as b)):
            return a.type == b.type and ((a.id in left and b.id in right) or (b.id in left and a.id in right))
    return False


def _semi_join(node: SemiJoin, left: Found, right: Found, world: World) -> Found:
    match left, right:
        case Owned(), Public():
            return _with(left, Rule.PUBLIC_SEMI)
        case Owned(), Owned() if _units_equal(node.on, left, right):
            return replace(left, proof=Proof(rule=Rule.UNIT_SEMI, below=(left.proof, right.proof)))
        case Owned(), Unowned():
            about = _walked(node.on, left, right, world)
            if about is not None:
                return _with(left, Rule.PATH_EXISTS, about)
    raise unproved(node, "rows of other people may decide which stay")


def _units_equal(on: Expr | None, left: Owned, right: Owned) -> bool:
    """The condition has the equality of a unit of each side as a conjunct."""
    return left.space == right.space and any(
        (a.id in left.units and b.id in right.units) or (b.id in left.units and a.id in right.units)
        for a, b in _equal_columns(on)
        if a.type == b.type
    )


def _equal_columns(on: Expr | None) -> Iterator[tuple[Column, Column]]:
    """Every conjunct of the form column = column."""
    match on:
        case Call(function="and", args=args):
            for arg in args:
                yield from _equal_columns(arg)
        case Call(function="equal", args=(Column() as a, Column() as b)):
            yield a, b


def _path(node: Join, on: Expr | None, owned: Owned, bare: Unowned, world: World) -> Owned:
    about = _walked(on, owned, bare, world)
    if about is None:
        raise unproved(node, f"the path of {bare.spec.name} is not walked from one row")
    origins = {**owned.origins, **_origins(bare.columns, bare.spec, bare.instance)}
    return replace(_with(owned, Rule.PATH, about), single=False, origins=origins)


def _walked(on: Expr | None, owned: Owned, bare: Unowned, world: World) -> str | None:
    """The path as one reads it, if the condition equates each of its columns with the column it leads to of one scan."""
    path = bare.spec.unit_path
    through = None if path is None else world.catalog.table(path.through)
    if path is None or not path.on or through is None or through.public or owned.space != PEOPLE:
        return None
    met: dict[str, set[Origin]] = {}
    for a, b in _equal_columns(on):
        for mine, other in ((a, b), (b, a)):
            if mine.id in bare.columns and other.id in owned.origins:
                met.setdefault(bare.columns[mine.id], set()).add(owned.origins[other.id])
    scans = [
        {o.instance for o in met.get(fold(mine), ()) if (o.table, o.column) == (fold(through.name), fold(other))}
        for mine, other in path.on
    ]
    if not frozenset.intersection(*map(frozenset, scans)):
        return None
    return " and ".join(f"{bare.spec.name}.{mine} = {through.name}.{other}" for mine, other in path.on)


# --- groups, windows, unions ----------------------------------------------------------------------------------------


def _per_unit(node: Aggregate, below: Found) -> Owned:
    if not isinstance(below, Owned):
        raise unproved(node, "its rows have no unit")
    every = tuple(range(len(node.keys)))
    sets = (every,) if node.sets is None else node.sets
    unit_keys = {i for i, key in enumerate(node.keys) if isinstance(key, Column) and key.id in below.units}
    common = unit_keys.intersection(*map(set, sets)) if sets else set()
    if not common:
        raise unproved(node, "the unit is not among the keys of every grouping set")
    origins = {
        f.id: below.origins[key.id]
        for f, key in zip(node.key_fields, node.keys, strict=True)
        if isinstance(key, Column) and key.id in below.origins and node.sets is None
    }
    return replace(
        _with(below, Rule.PER_UNIT, ", ".join(f.name for f in node.fields if f.name)),
        units=frozenset(node.key_fields[i].id for i in common),
        single=node.sets is None and unit_keys == set(every),
        origins=origins,
    )


def _window(node: Window, below: Found) -> Owned:
    if not isinstance(below, Owned):
        raise unproved(node, "its rows have no unit")
    for call in node.calls:
        if not any(isinstance(part, Column) and part.id in below.units for part in call.partition):
            raise unproved(node, f"{call.function} runs over rows of different people")
    return _with(below, Rule.WINDOW, ", ".join(dict.fromkeys(call.function for call in node.calls)))


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
    return replace(_both(left, right, Rule.UNION_ALL, units), origins={})
