"""When a condition says that two private rows belong to the same unit."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.catalog.model import Catalog, UnitPath, fold
from dpsql.domain.facts import Domain
from dpsql.errors import Refused, Span
from dpsql.ir.expr import Call, Column, Expr
from dpsql.plan.tracked import Private, Tracked
from dpsql.sql import functions


def conjuncts(expr: Expr | None) -> Iterator[Expr]:
    """The parts of a condition that are joined by AND."""
    if isinstance(expr, Call) and expr.function == "and":
        for arg in expr.args:
            yield from conjuncts(arg)
    elif expr is not None:
        yield expr


def column_pairs(on: Expr | None, left: Tracked, right: Tracked) -> list[tuple[int, int]]:
    """(left id, right id) of every plain `column = column` the condition requires.

    NOT IN writes (a = b) IS NOT FALSE, which is a = b where neither can be NULL; a unit never is.
    """
    own = {f.id for f in left.node.fields}
    pairs: list[tuple[int, int]] = []
    for part in conjuncts(on):
        if isinstance(part, Call) and part.function == "is_not_false":
            inner = part.args[0]
            if not isinstance(inner, Call) or not all(_never_null(arg, left, right) for arg in inner.args):
                continue
            part = inner
        if not isinstance(part, Call) or part.function != "equal":
            continue
        a, b = part.args
        if isinstance(a, Column) and isinstance(b, Column):
            if a.id in own and b.id not in own:
                pairs.append((a.id, b.id))
            elif b.id in own and a.id not in own:
                pairs.append((b.id, a.id))
    return pairs


def _never_null(arg: Expr, left: Tracked, right: Tracked) -> bool:
    domain: Domain | None = None
    if isinstance(arg, Column):
        domain = left.domains.get(arg.id) or right.domains.get(arg.id)
    return domain is not None and not domain.nullable


def same_unit(on: Expr | None, left: Tracked, right: Tracked) -> bool:
    """The condition equates both units."""
    assert left.private is not None and right.private is not None
    return any(a in left.private.same and b in right.private.same for a, b in column_pairs(on, left, right))


def along_path(on: Expr | None, left: Tracked, right: Tracked, catalog: Catalog) -> bool:
    """The condition equates all columns of a declared unit path, from either side to the other."""
    pairs = column_pairs(on, left, right)
    forward = [(left.origins.get(a), right.origins.get(b)) for a, b in pairs]
    return _covers(forward, catalog) or _covers([(b, a) for a, b in forward], catalog)


def _covers(pairs: list[tuple[tuple[str, str] | None, tuple[str, str] | None]], catalog: Catalog) -> bool:
    known = {(a, b) for a, b in pairs if a is not None and b is not None}
    for table in {a[0] for a, _ in known}:
        spec = catalog.table(table)
        path = None if spec is None else spec.unit_path
        if path is not None and _path_pairs(table, path, catalog) <= {(_folded(a), _folded(b)) for a, b in known}:
            return True
    return False


def _path_pairs(table: str, path: UnitPath, catalog: Catalog) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    through = catalog.table(path.through)
    name = path.through if through is None else through.name
    return {(_folded((table, own)), _folded((name, other))) for own, other in path.on}


def _folded(origin: tuple[str, str]) -> tuple[str, str]:
    return fold(origin[0]), fold(origin[1])


def with_units_equal(on: Expr | None, left: Private, right: Private) -> Expr:
    """The condition and the equality of both tracked units."""
    equal = functions.make("equal", (left.unit, right.unit), at=None)
    return equal if on is None else functions.make("and", (on, equal), at=None)


def refuse_mixing(left: Tracked, right: Tracked, at: Span | None) -> Refused:
    assert left.private is not None and right.private is not None
    one, other = left.private.unit.name or "the unit", right.private.unit.name or "the unit"
    tables = f"{' and '.join(left.private.tables)} with {' and '.join(right.private.tables)}"
    return Refused(
        f"this joins rows of different people ({tables})",
        code=114,
        at=at,
        why="Both sides are private, and nothing in the condition says that the two rows belong to the same unit: "
        "one person's row could meet everybody else's.",
        fix=f"Add to the condition: AND {left.private.tables[0]}.{one} = {right.private.tables[0]}.{other}.",
    )
