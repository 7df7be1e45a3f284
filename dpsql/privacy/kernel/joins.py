"""Isolation of joins and semi-joins: each output row is made of rows of one unit, and of public rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpsql.catalog.model import fold
from dpsql.domain.types import BOOLEAN
from dpsql.ir.expr import Call, Column, Expr
from dpsql.ir.nodes import Join, Project, SemiJoin
from dpsql.plan.proof import Proof, Rule
from dpsql.privacy.kernel.owned import (
    PEOPLE,
    Found,
    Origin,
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


def join(node: Join, left: Found, right: Found, world: World) -> Found:
    on = None if node.kind == "cross" else node.on  # what a cross join says is not printed
    match left, right:
        case Public(), Public():
            return left
        case Owned(), Public() if node.kind in ("inner", "cross", "left"):
            return replace(proved(left, Rule.PUBLIC_JOIN), single=False)
        case Public(), Owned() if node.kind in ("inner", "cross", "right"):
            return replace(proved(right, Rule.PUBLIC_JOIN), single=False)
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
    return both(left, right, Rule.UNIT_JOIN, units)


def full(node: Project, join: Join, left: Found, right: Found) -> Found:
    """FULL joins stand under a projection whose unit is COALESCE of both sides' units."""
    if isinstance(left, Public) and isinstance(right, Public):
        return left
    if not isinstance(left, Owned) or not isinstance(right, Owned) or not _units_equal(join.on, left, right):
        raise unproved(join, "nothing says that the units of both sides are equal")
    units = frozenset(
        f.id for f, e in zip(node.fields, node.exprs, strict=True) if _is_either(e, left.units, right.units)
    )
    if not units:
        raise unproved(node, "the unit is left out")
    owned = both(left, right, Rule.UNIT_JOIN, units)
    return replace(owned, origins=kept_origins(node.fields, node.exprs, owned))


def _is_either(expr: Expr, left: frozenset[int], right: frozenset[int]) -> bool:
    match expr:
        case Call(function="coalesce", args=(Column() as a, Column() as b)):
            return a.type == b.type and ((a.id in left and b.id in right) or (b.id in left and a.id in right))
    return False


def semi_join(node: SemiJoin, left: Found, right: Found, world: World) -> Found:
    """A mark is what the semi-join with the same condition would do with the row, as a column of it: all rows stay."""
    if node.mark is not None and (node.anti or node.mark.type != BOOLEAN):
        raise unproved(node, "it both marks rows and drops them, or its mark is not a boolean")
    match left, right:
        case Owned(), Public():
            return proved(left, Rule.PUBLIC_SEMI)
        case Owned(), Owned() if _units_equal(node.on, left, right):
            return replace(left, proof=Proof(rule=Rule.UNIT_SEMI, below=(left.proof, right.proof)))
        case Owned(), Unowned():
            about = _walked(node.on, left, right, world)
            if about is not None:
                return proved(left, Rule.PATH_EXISTS, about)
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
    origins = {**owned.origins, **origins_of(bare.columns, bare.spec, bare.instance)}
    return replace(proved(owned, Rule.PATH, about), single=False, origins=origins)


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
