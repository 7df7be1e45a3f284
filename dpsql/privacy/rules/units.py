"""When a condition says that two private rows belong to the same unit."""

from __future__ import annotations

from dpsql.catalog.model import Catalog, fold
from dpsql.domain.facts import Domain
from dpsql.errors import Refused, Span
from dpsql.ir.expr import Call, Column, Expr
from dpsql.plan.tracked import Private, Tracked
from dpsql.sql import functions
from dpsql.sql.bind.gather import conjuncts


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
    """The condition equates all columns of a declared unit path: from either side to the other, or of both sides' paths
    to the same columns of a third table."""
    return reaches(on, left, right, catalog) or reaches(on, right, left, catalog)


def reaches(on: Expr | None, left: Tracked, right: Tracked, catalog: Catalog) -> bool:
    """The condition equates all columns of the right side's unit path with those that it goes to in the left one, or with
    those of the left one's own path to the same columns.

    Lemma: a row of the right side's table that satisfies it has the left row's unit among its own. Proof: with the columns
    of u's own row (or what u's row finds its unit by) equal to the path's, the path finds u for the right row, too.
    """
    pairs = column_pairs(on, left, right)
    origins = [(left.origins.get(a), right.origins.get(b)) for a, b in pairs]
    known = {(_folded(a), _folded(b)) for a, b in origins if a is not None and b is not None}
    ends = {(a[0], b[0]) for a, b in known}
    wanted = [
        links
        for one, other in ends
        for links in (
            _reversed(_steps(other, catalog).get(one)),
            _meeting(_steps(one, catalog), _steps(other, catalog)),
        )
    ]
    return any(links is not None and links <= known for links in wanted)


Column2 = tuple[str, str]
Links = frozenset[tuple[Column2, Column2]]


def _steps(table: str, catalog: Catalog) -> dict[str, Links]:
    """The step of a table's unit path: the next table → the pairs of columns that must be equal."""
    spec = catalog.table(table)
    path = None if spec is None else spec.unit_path
    if path is None:
        return {}
    through = catalog.table(path.through)
    name = fold(path.through if through is None else through.name)
    return {name: frozenset(((table, fold(own)), (name, fold(other))) for own, other in path.on)}


def _reversed(links: Links | None) -> Links | None:
    return None if links is None else frozenset((b, a) for a, b in links)


def _meeting(one: dict[str, Links], other: dict[str, Links]) -> Links | None:
    """Both paths go to the same columns of the same table: then their own columns are to be equal, pair by pair."""
    for name, links in one.items():
        theirs = {end: own for own, end in other.get(name, ())}
        if {end for _, end in links} == set(theirs):
            return frozenset((own, theirs[end]) for own, end in links)
    return None


def _folded(origin: tuple[str, str]) -> Column2:
    return fold(origin[0]), fold(origin[1])


def with_units_equal(on: Expr | None, left: Private, right: Private) -> Expr:
    """The condition and the equality of both tracked units."""
    equal = functions.make("equal", (left.unit, right.unit), at=None)
    return equal if on is None else functions.make("and", (on, equal), at=None)


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
