"""Windows that look at single rows: numbers, ranks, LAG and LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE.

Where the order among peers decides, rows are in a total order: the analyst's, then every column of the input. That makes
rows peers only of their equals, so frames that end at a peer (every default frame with an ORDER BY does) are written
another way: the peers of a row are the rows of its partition with the same order keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval, hull
from dpsql.domain.types import BIGINT, NULL, REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.functions.sets import union
from dpsql.ir.expr import Column, Expr, Frame, Literal, SortKey, WindowCall, place
from dpsql.privacy.refused_aggregates import OF_ONE_PERSON
from dpsql.privacy.rules.per_unit import MAKERS
from dpsql.privacy.rules.unit_calls import Made, domain_of

FARTHEST = 10**9  # rows or peer groups a frame may reach

# What the order among peers decides; the frame says nothing to the first four.
NUMBERED = ("row_number", "ntile", "lag", "lead")
OF_FRAME = ("first_value", "last_value", "nth_value")
# What it does not: ranks of the analyst's own order.
RANKS = ("rank", "dense_rank", "percent_rank", "cume_dist")
# Aggregates of one person's rows that have a window form.
AGGREGATES = frozenset(MAKERS) - set("first last arg_min arg_max median quantile_cont quantile_disc mode".split())

BEGIN, HERE, END = "UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"
WHOLE = Frame("ROWS", (BEGIN, None), (END, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Over which rows, in which order, a primitive runs."""

    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]
    frame: Frame | None


class AskWindow(Protocol):
    """The column of a primitive window call."""

    def __call__(
        self, function: str, args: tuple[Expr, ...], type_: Type, domain: Domain, *, over: Rows = ...
    ) -> Column: ...


def navigation(
    call: WindowCall, rows: Rows, total: tuple[SortKey, ...], domains: Mapping[int, Domain], ask: AskWindow
) -> Made:
    """rows: as the analyst wrote them. total: every column of the input."""
    from_one = Domain(type=BIGINT, interval=Interval(Fraction(1), None), nullable=False)
    numbered = Rows(partition=rows.partition, order=(*rows.order, *total), frame=None)
    match call.function, call.args:
        case "row_number", ():
            return Made(expr=ask(call.function, (), BIGINT, from_one, over=numbered))
        case (("rank" | "dense_rank"), ()):
            return Made(expr=ask(call.function, (), BIGINT, from_one))
        case (("percent_rank" | "cume_dist"), ()):
            share = Domain(type=REAL, interval=Interval(Fraction(0), Fraction(1)), nullable=False)
            return Made(expr=ask(call.function, (), REAL, share))
        case "ntile", (parts,):
            most = _constant(call, parts, 1)
            tile = Domain(type=BIGINT, interval=Interval(Fraction(1), Fraction(most)), nullable=False)
            return Made(expr=ask("ntile", call.args, BIGINT, tile, over=numbered))
        case (("lag" | "lead"), (value, *rest)):
            args, domain = _shifted(call, value, rest, domains)
            return Made(expr=ask(call.function, args, value.type, domain, over=numbered))
        case (("first_value" | "last_value"), (value,)):
            return _end(call, rows, total, domain_of(value, domains).or_null(), ask)
        case "nth_value", (value, position):
            return _nth(call, rows, total, _constant(call, position, 1), domain_of(value, domains).or_null(), ask)
    why, fix = OF_ONE_PERSON.get(call.function, ("", "Use FIRST_VALUE and LAST_VALUE, or a GROUP BY with the unit."))
    names = ", ".join(sorted(name.upper() for name in (*NUMBERED, *OF_FRAME, *RANKS, *AGGREGATES)))
    raise Refused(
        f"{call.function.upper()}() OVER (…) is not answered over rows of people",
        code=129,
        at=call.at,
        why=why or "Its result may depend on more than the person's rows as a set.",
        fix=f"{fix} These are possible here: {names}.",
    )


def _edges(call: WindowCall, rows: Rows) -> tuple[str, str]:
    """Where the frame begins and ends: among all rows, or at the peers of this one."""
    if rows.frame is None:
        return BEGIN, HERE if rows.order else END
    if rows.frame.start[1] is not None or rows.frame.end[1] is not None:
        raise bad_frame(call, f"{call.function.upper()} needs a total order, which such a frame does not allow.")
    if rows.frame.exclude is not None:
        raise bad_frame(call, "What it leaves out depends on which rows tie.")
    return rows.frame.start[0], rows.frame.end[0]


def _end(call: WindowCall, rows: Rows, total: tuple[SortKey, ...], domain: Domain, ask: AskWindow) -> Made:
    """The first or last row of the frame, in total order.

    Lemma: it is that of the analyst's frame. Proof: a frame of ROWS is over the total order as it stands. One of RANGE or
    GROUPS holds whole peer groups. Where the end that is asked for is unbounded, it is the partition's; else it is the
    current peer group's, whose rows are those of the partition with the same order keys. With IGNORE NULLS the search
    goes on from the peer group towards the other end if that is unbounded, and finds nothing beyond it if it is not.
    """
    (value,) = call.args
    order = (*rows.order, *total)

    def over(partition: tuple[Expr, ...], frame: Frame) -> Column:
        where = Rows(partition=partition, order=order, frame=frame)
        return ask(call.function, call.args, value.type, domain, over=where)

    if rows.frame is not None and rows.frame.unit == "ROWS":
        return Made(expr=over(rows.partition, by_rows(call, rows.frame)))
    start, end = _edges(call, rows)
    near, far = (start, end) if call.function == "first_value" else (end, start)
    if near != HERE:
        column = over(rows.partition, WHOLE)
        return _if_reached(column, 1, rows, value, ask) if call.ignore_nulls and far == HERE else Made(expr=column)
    of_peers = over((*rows.partition, *(key.expr for key in rows.order)), WHOLE)
    if not call.ignore_nulls or far == HERE:
        return Made(expr=of_peers)
    on = over(rows.partition, Frame("ROWS", (start, None), (end, None)))
    return Made(expr=functions.call("coalesce", of_peers, on))


def _if_reached(column: Column, position: int, rows: Rows, value: Expr | None, ask: AskWindow) -> Made:
    """What was found in the whole partition, if the frame holds so many rows (so many values, where one is given)."""
    count = Domain(type=BIGINT, interval=Interval(Fraction(0), None), nullable=False)
    there = ask("count", () if value is None else (value,), BIGINT, count, over=rows)
    enough = functions.call("greater_equal", there, Literal(position, BIGINT))
    return Made(expr=functions.call("case", enough, column, Literal(None, NULL)))


def _nth(
    call: WindowCall, rows: Rows, total: tuple[SortKey, ...], position: int, domain: Domain, ask: AskWindow
) -> Made:
    """The n-th row of the frame. Of RANGE and GROUPS frames that begin with the partition it is the partition's n-th, if
    the frame reaches it; of those that are one peer group the group's."""
    value = call.args[0]
    order = (*rows.order, *total)
    if rows.frame is not None and rows.frame.unit == "ROWS":
        over = Rows(partition=rows.partition, order=order, frame=by_rows(call, rows.frame))
        return Made(expr=ask("nth_value", call.args, value.type, domain, over=over))
    start, end = _edges(call, rows)
    if start == HERE and end == END:
        raise bad_frame(call, "It would count the n-th row from the row's peers on.")
    peers = tuple(key.expr for key in rows.order) if start == HERE else ()
    column = ask(
        "nth_value",
        call.args,
        value.type,
        domain,
        over=Rows(partition=(*rows.partition, *peers), order=order, frame=WHOLE),
    )
    if (start, end) != (BEGIN, HERE):
        return Made(expr=column)
    return _if_reached(column, position, rows, value if call.ignore_nulls else None, ask)


def is_by_place(call: WindowCall) -> bool:
    """Its result may differ between equal rows of a partition, as an engine happens to sort them."""
    return call.function in NUMBERED or (call.frame is not None and call.frame.unit == "ROWS" and call.frame != WHOLE)


def by_rows(call: WindowCall, frame: Frame) -> Frame:
    """A ROWS frame over rows in total order, where only equal rows are peers."""
    if frame.exclude is not None and frame.exclude != "CURRENT ROW":
        raise bad_frame(call, "What it leaves out depends on which rows tie.")
    return frame


def bad_frame(call: WindowCall, why: str) -> Refused:
    return Refused(
        f"this frame of {call.function.upper()}() OVER (…) is not answered over rows of people",
        code=129,
        at=call.at,
        why=why,
        fix="Write ROWS BETWEEN n PRECEDING AND CURRENT ROW, or leave the frame out.",
    )


def _shifted(
    call: WindowCall, value: Expr, rest: list[Expr], domains: Mapping[int, Domain]
) -> tuple[tuple[Expr, ...], Domain]:
    """LAG, LEAD: a value of the column, or the default, or NULL. A constant default takes the column's type."""
    known = domain_of(value, domains).or_null()
    if rest:
        _constant(call, rest[0], -FARTHEST)
    if len(rest) < 2:
        return call.args, known
    default = _as_type(rest[1], value.type)
    other = domain_of(default, domains)
    if other.type != known.type and other.type.kind is not Kind.NULL:
        raise Refused(
            f"the default of {call.function.upper()} is {other.type.sql}, its value {known.type.sql}",
            code=105,
            at=place(rest[1]) or call.at,
            fix="CAST it to the same type.",
        )
    keys = union((known.keys, other.keys))
    interval = known.interval if other.type.kind is Kind.NULL else hull(known.interval, other.interval)
    return (value, rest[0], default), known.but(interval=interval, keys=keys)


def _as_type(default: Expr, type_: Type) -> Expr:
    """A number, written out, in another number's type if it surely fits: LAG(cost, 1, 0)."""
    if not isinstance(default, Literal) or default.type == type_:
        return default
    value = default.value
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > FARTHEST:
        return default
    match type_.kind:
        case Kind.INTEGER if abs(value) < 2 ** (type_.bits - 1):
            return Literal(value, type_, default.at)
        case Kind.REAL:
            return Literal(float(value), type_, default.at)
        case Kind.DECIMAL if abs(value) < 10 ** (type_.precision - type_.scale):
            return Literal(Fraction(value), type_, default.at)
    return default


def _constant(call: WindowCall, expr: Expr, least: int) -> int:
    value = expr.value if isinstance(expr, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= FARTHEST:
        raise Refused(
            f"{call.function.upper()} needs a whole number here, written out",
            code=105,
            at=place(expr) or call.at,
            fix=f"Write a number from {least} to {FARTHEST:,}.",
        )
    return value
