"""When a condition says that two private rows belong to the same unit."""

from __future__ import annotations

from collections.abc import Callable

from dpsql import functions
from dpsql.catalog.model import Catalog, fold
from dpsql.domain.facts import Domain
from dpsql.errors import Refused, Span
from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Column, Expr
from dpsql.plan.tracked import Origin, Private, Tracked


def column_pairs(on: Expr | None, left: Tracked, right: Tracked) -> list[tuple[int, int]]:
    """(left id, right id) of every plain `column = column` the condition requires, or a NOT IN is about: it writes
    (a = b) IS NOT FALSE, which is a = b where neither is NULL. This says what a condition means, and proves nothing."""
    left_ids = {f.id for f in left.node.fields}
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
            if a.id in left_ids and b.id not in left_ids:
                pairs.append((a.id, b.id))
            elif b.id in left_ids and a.id not in left_ids:
                pairs.append((b.id, a.id))
    return pairs


def _never_null(arg: Expr, left: Tracked, right: Tracked) -> bool:
    domain: Domain | None = None
    if isinstance(arg, Column):
        domain = left.domains.get(arg.id) or right.domains.get(arg.id)
    return domain is not None and not domain.nullable


def same_unit(on: Expr | None, left: Tracked, right: Tracked) -> bool:
    """The condition is about both units being equal."""
    assert left.private is not None and right.private is not None
    return any(a in left.private.same and b in right.private.same for a, b in column_pairs(on, left, right))


def along_path(on: Expr | None, left: Tracked, right: Tracked, catalog: Catalog) -> bool:
    """The condition equates all columns of a declared unit path: from either side to the other, or of both sides' paths
    to the same columns of a third table. Then the units are meant to be equal, though nothing says so."""
    equal = _equal_origins(on, left, right)
    return _walks(equal, catalog) or _walks({(b, a) for a, b in equal}, catalog) or _meets(equal, catalog)


def serves_as_path(on: Expr | None, left: Tracked, right: Tracked, catalog: Catalog) -> bool:
    """The condition finds the rows of the right side's table by its own unit path, from the rows of one scan in the left
    side; and the right side is that table, with no more than filters.

    Lemma: then a right row that meets a left row has its unit among its own, and removing another unit removes neither.
    Proof: in a row of a private relation that has unit u, the part that one scan of the path's table gave it is u's row r
    (by induction over the rules); the right row b equals r in all columns of the path, so r finds b, and it does
    whatever rows other units have. Columns of two scans would be of two rows of u, neither of which need find b.
    """
    if right.bare is None:
        return False
    right_ids = {f.id for f in right.bare.node.fields}
    exact = {(a, b) for a, b in _plain_pairs(on, left) if b in right_ids}
    return _walks({(left.origins[a], right.origins[b]) for a, b in exact if _known(a, b, left, right)}, catalog)


def _plain_pairs(on: Expr | None, left: Tracked) -> set[tuple[int, int]]:
    """(left id, right id) of every `column = column` that stands in the condition as it is."""
    left_ids = {f.id for f in left.node.fields}
    pairs: set[tuple[int, int]] = set()
    for part in conjuncts(on):
        if isinstance(part, Call) and part.function == "equal":
            a, b = part.args
            if isinstance(a, Column) and isinstance(b, Column):
                pairs.add((a.id, b.id) if a.id in left_ids else (b.id, a.id))
    return pairs


Equal = set[tuple[Origin, Origin]]  # (of the left side, of the right side)
Column2 = tuple[str, str]
Links = frozenset[tuple[Column2, Column2]]


def _known(a: int, b: int, left: Tracked, right: Tracked) -> bool:
    return a in left.origins and b in right.origins


def _equal_origins(on: Expr | None, left: Tracked, right: Tracked) -> Equal:
    pairs = column_pairs(on, left, right)
    return {(left.origins[a], right.origins[b]) for a, b in pairs if _known(a, b, left, right)}


def _walks(equal: Equal, catalog: Catalog) -> bool:
    """Some scan on the right is found by its whole path from one scan on the left."""
    return _linked({(b, a) for a, b in equal}, lambda mine, through: _steps(mine, catalog).get(through))


def _meets(equal: Equal, catalog: Catalog) -> bool:
    """The paths of two scans go to the same columns of one table, and their own columns are equal, pair by pair."""
    return _linked(equal, lambda one, other: _meeting(_steps(one, catalog), _steps(other, catalog)))


def _linked(equal: Equal, links_of: Callable[[str, str], Links | None]) -> bool:
    """Of some two scans all columns are equal that must be, by the names of their tables."""
    for one, other, first, second in {(a.instance, b.instance, a.table, b.table) for a, b in equal}:
        links = links_of(fold(first), fold(second))
        here = {
            ((fold(a.table), fold(a.column)), (fold(b.table), fold(b.column)))
            for a, b in equal
            if (a.instance, b.instance) == (one, other)
        }
        if links is not None and links <= here:
            return True
    return False


def _steps(table: str, catalog: Catalog) -> dict[str, Links]:
    """The step of a table's unit path: the next table → the pairs of columns that must be equal."""
    spec = catalog.table(table)
    path = None if spec is None else spec.unit_path
    if path is None:
        return {}
    through = catalog.table(path.through)
    name = fold(path.through if through is None else through.name)
    return {name: frozenset(((table, fold(mine)), (name, fold(other))) for mine, other in path.on)}


def _meeting(one: dict[str, Links], other: dict[str, Links]) -> Links | None:
    """Both paths go to the same columns of the same table: then their own columns are to be equal, pair by pair."""
    for name, links in one.items():
        theirs = {end: mine for mine, end in other.get(name, ())}
        if {end for _, end in links} == set(theirs):
            return frozenset((mine, theirs[end]) for mine, end in links)
    return None


def with_units_equal(on: Expr | None, left: Private, right: Private) -> Expr:
    """The condition, with the equality of two columns that are the units as a conjunct of its own."""
    for part in conjuncts(on):
        if isinstance(part, Call) and part.function == "equal":
            ids = {arg.id for arg in part.args if isinstance(arg, Column)}
            if ids & left.same and ids & right.same and on is not None:
                return on
    equal = functions.call("equal", left.unit, right.unit)
    return equal if on is None else functions.call("and", on, equal)


def refuse_mixing(left: Tracked, right: Tracked, at: Span | None, catalog: Catalog) -> Refused:
    assert left.private is not None and right.private is not None
    tables = f"{' and '.join(left.private.tables)} with {' and '.join(right.private.tables)}"
    return Refused(
        f"this joins rows of different people ({tables})",
        code=114,
        at=at,
        why="Both sides are private, and nothing in the condition says that the two rows belong to the same unit: "
        "one person's row could meet everybody else's.",
        fix=f"Add to the condition: AND {_missing(left.private.tables, right.private.tables, catalog)}.",
    )


def _missing(left: tuple[str, ...], right: tuple[str, ...], catalog: Catalog) -> str:
    """The equality that would make it a join of one person's rows: along a path where there is one, else of the units."""
    for one in left:
        for other in right:
            steps, back = _steps(fold(one), catalog), _steps(fold(other), catalog)
            links = steps.get(fold(other)) or back.get(fold(one)) or _meeting(steps, back)
            if links:
                return " AND ".join(sorted(f"{a}.{b} = {c}.{d}" for (a, b), (c, d) in links))
    if left[0] == right[0]:
        column = _unit_of(left[0], catalog).removeprefix(f"{left[0]}.")
        return f"a.{column} = b.{column}, where a and b are the two names of {left[0]}"
    return f"{_unit_of(left[0], catalog)} = {_unit_of(right[0], catalog)}"


def _unit_of(table: str, catalog: Catalog) -> str:
    spec = catalog.table(table)
    column = None if spec is None else spec.unit_column
    return f"{table}.{column}" if column is not None else f"<the unit of {table}>"
