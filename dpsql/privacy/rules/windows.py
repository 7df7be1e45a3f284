"""Window functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval, hull
from dpsql.domain.types import BIGINT, REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import Column, Expr, Frame, Literal, SortKey, WindowCall, place
from dpsql.ir.nodes import Field, Project, Window
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import projects
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.per_unit import MAKERS, Made, UnitCall, domain_of, make_call
from dpsql.sql import functions

FARTHEST = 10**9  # rows or peer groups a frame may reach

# What the order among peers decides: a total order is appended.
ORDERED = ("row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value")
# What it does not: ranks of the analyst's own order.
RANKS = ("rank", "dense_rank", "percent_rank", "cume_dist")
AGGREGATES = frozenset(MAKERS) - {"first", "last", "arg_min", "arg_max", "median", "quantile_cont", "quantile_disc"}


def rule(node: Window, input: Tracked, context: TrackContext) -> Tracked:  # noqa: A002 - the node's own word
    """Lemma: over public rows a window is post-processing. Over private rows it keeps the invariant if every PARTITION BY
    contains the unit and every result is a function of the partition's rows as a multiset.

    Proof: a partition then holds rows of one unit, so u's part of the output is a function of u's part of the input. The
    result is one of the multiset: ranks, and aggregates over RANGE and GROUPS frames, see the analyst's order and whole
    peer groups alone; where the order among peers matters (numbers, offsets, ends of frames, ROWS frames), all columns
    of the input are appended to the order, so rows that still tie are equal, and exchanging equal rows changes nothing.
    Aggregates are made of primitives that are exact (per_unit.py). Nothing fails: offsets and counts are constants in
    range, and a RANGE offset is taken only from an order column whose range leaves room for it.
    """
    if input.private is None:
        domains = {**input.domains, **{f.id: Domain(type=f.type) for f in node.call_fields}}
        return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=domains)
    primitives: dict[WindowCall, Field] = {}
    domains = dict(input.domains)
    made = [_made(call, input, input.private, primitives, domains, context) for call in node.calls]
    inner = Tracked(
        node=Window(input.node, tuple(primitives.values()), tuple(primitives)),
        inputs=(input,),
        domains=domains,
        private=input.private,
        origins=input.origins,
    )
    kept = input.node.fields
    top = Project(inner.node, (*kept, *node.call_fields), (*(f.column() for f in kept), *(one.expr for one in made)))
    return _same_columns(top, inner, made, node.call_fields, context)


def _same_columns(
    top: Project, inner: Tracked, made: list[Made], added: tuple[Field, ...], context: TrackContext
) -> Tracked:
    """The input's columns under their own ids, so its facts stay, and the finished calls."""
    assert inner.private is not None
    projected = projects.rule(top, inner, context)
    bounds = {
        f.id: projected.domains[f.id].but(interval=one.interval)
        for f, one in zip(added, made, strict=True)
        if one.interval is not None
    }
    return dataclasses.replace(projected, domains={**projected.domains, **bounds}, private=inner.private)


def _made(
    call: WindowCall,
    input: Tracked,  # noqa: A002 - the node's own word
    private: Private,
    primitives: dict[WindowCall, Field],
    domains: dict[int, Domain],
    context: TrackContext,
) -> Made:
    if not any(isinstance(part, Column) and part.id in private.same for part in call.partition):
        raise Refused(
            f"{call.function.upper()}() OVER (…) runs over rows of different people",
            code=123,
            at=call.at,
            why="A row's result would depend on other people's rows.",
            fix="Put the unit into PARTITION BY, or use the window over the aggregated result.",
        )

    def total(expr: Expr) -> Expr:
        return functions.infer(expr, input.domains)[0]

    call = dataclasses.replace(call, args=tuple(map(total, call.args)))
    partition = tuple(map(total, call.partition))
    where = None if call.where is None else total(call.where)
    order = _order(call, input, total)
    frame = _frame(call, input)

    def ask(
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order_by: tuple[SortKey, ...] = order,
    ) -> Column:
        ignore = call.ignore_nulls and function == call.function
        one = WindowCall(function, tuple(map(total, args)), type_, partition, order_by, frame, distinct, ignore, where)
        if one not in primitives:
            primitives[one] = context.ids.field("", type_)
            domains[primitives[one].id] = domain
        return primitives[one].column()

    if call.function in AGGREGATES:
        return _aggregate(call, input.domains, ask)
    return _navigation(call, input.domains, ask)


def _aggregate(call: WindowCall, domains: Mapping[int, Domain], ask: Callable[..., Column]) -> Made:
    def unordered(
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order: tuple[SortKey, ...] = (),
    ) -> Column:
        return ask(function, args, type_, domain, distinct=distinct)

    described = UnitCall(
        function=call.function,
        args=call.args,
        type=call.type,
        distinct=call.distinct,
        some=False,  # a frame may be empty
        filtered=call.where is not None,
        order=(),
        at=call.at,
    )
    return make_call(described, domains, unordered)


def _order(call: WindowCall, input: Tracked, total: Callable[[Expr], Expr]) -> tuple[SortKey, ...]:  # noqa: A002
    """The analyst's order, in total forms; made total itself where the order among peers matters."""
    order = tuple(dataclasses.replace(key, expr=total(key.expr)) for key in call.order)
    by_rows = call.function in AGGREGATES and call.frame is not None and call.frame.unit == "ROWS"
    if call.function not in ORDERED and not by_rows:
        return order
    if call.frame is not None and call.frame.unit != "ROWS" and _has_offset(call.frame):
        raise _bad_frame(call, f"{call.function.upper()} needs a total order, which such a frame does not allow.")
    return (*order, *(SortKey(f.column()) for f in input.node.fields))


def _has_offset(frame: Frame) -> bool:
    return frame.start[1] is not None or frame.end[1] is not None


def _frame(call: WindowCall, input: Tracked) -> Frame | None:  # noqa: A002 - the node's own word
    frame = call.frame
    if frame is None:
        return None
    if frame.unit == "GROUPS" and not call.order:
        raise _bad_frame(call, "Groups of peers need an ORDER BY.")
    for _, offset in (frame.start, frame.end):
        if offset is None:
            continue
        if not isinstance(offset, Literal) or offset.value is None:
            raise _bad_frame(call, "How far a frame reaches must be a constant.")
        if frame.unit != "RANGE":
            if isinstance(offset.value, bool) or not isinstance(offset.value, int) or not 0 <= offset.value <= FARTHEST:
                raise _bad_frame(call, f"It must be a whole number from 0 to {FARTHEST:,}.")
        elif not _leaves_room(call, offset, input):
            raise _bad_frame(call, "A RANGE offset is answered over one date, or one bounded whole number.")
    return frame


def _leaves_room(call: WindowCall, offset: Literal, input: Tracked) -> bool:  # noqa: A002 - the node's own word
    """Adding the offset to the order column cannot leave its type."""
    if len(call.order) != 1:
        return False
    known = domain_of(call.order[0].expr, input.domains)
    known = known.before or known
    if known.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        if offset.type.kind is not Kind.INTERVAL:
            return False
        months, days, microseconds = (int(part) for part in str(offset.value).split())
        return min(months, days, microseconds) >= 0 and months <= 12_000 and days <= 365_000
    if known.type.kind is not Kind.INTEGER or isinstance(offset.value, bool) or not isinstance(offset.value, int):
        return False
    room = 2 ** (known.type.bits - 2)
    return known.interval.is_finite and 0 <= offset.value < room and max(map(abs, known.interval.ends())) < room


def _bad_frame(call: WindowCall, why: str) -> Refused:
    return Refused(
        f"this frame of {call.function.upper()}() OVER (…) is not answered over rows of people",
        code=129,
        at=call.at,
        why=why,
        fix="Write ROWS BETWEEN n PRECEDING AND CURRENT ROW, or leave the frame out.",
    )


def _navigation(call: WindowCall, domains: Mapping[int, Domain], ask: Callable[..., Column]) -> Made:
    from_one = Domain(type=BIGINT, interval=Interval(Fraction(1), None), nullable=False)
    match call.function, call.args:
        case (("row_number" | "rank" | "dense_rank"), ()):
            return Made(expr=ask(call.function, (), BIGINT, from_one))
        case (("percent_rank" | "cume_dist"), ()):
            share = Domain(type=REAL, interval=Interval(Fraction(0), Fraction(1)), nullable=False)
            return Made(expr=ask(call.function, (), REAL, share))
        case "ntile", (parts,):
            most = _constant(call, parts, 1)
            tile = Domain(type=BIGINT, interval=Interval(Fraction(1), Fraction(most)), nullable=False)
            return Made(expr=ask("ntile", call.args, BIGINT, tile))
        case (("lag" | "lead"), (value, *rest)):
            return Made(expr=ask(call.function, call.args, value.type, _shifted(call, value, rest, domains)))
        case (("first_value" | "last_value"), (value,)):
            return Made(expr=ask(call.function, call.args, value.type, _or_null(domain_of(value, domains))))
        case "nth_value", (value, position):
            _constant(call, position, 1)
            return Made(expr=ask("nth_value", call.args, value.type, _or_null(domain_of(value, domains))))
    raise Refused(
        f"{call.function.upper()}() OVER (…) is not answered over rows of people",
        code=129,
        at=call.at,
        why="Its result may depend on more than the set of the person's rows.",
        fix=f"These can stand here: {', '.join(sorted(name.upper() for name in (*ORDERED, *RANKS, *AGGREGATES)))}.",
    )


def _shifted(call: WindowCall, value: Expr, rest: list[Expr], domains: Mapping[int, Domain]) -> Domain:
    """LAG, LEAD: a value of the column, or the default, or NULL."""
    known = _or_null(domain_of(value, domains))
    if rest:
        _constant(call, rest[0], -FARTHEST)
    if len(rest) < 2:
        return known
    other = domain_of(rest[1], domains)
    if other.type != known.type and other.type.kind is not Kind.NULL:
        raise Refused(
            f"the default of {call.function.upper()} is {other.type}, its value {known.type}",
            code=105,
            at=place(rest[1]) or call.at,
            fix="CAST it to the same type.",
        )
    keys = None if known.keys is None or other.keys is None else tuple(dict.fromkeys((*known.keys, *other.keys)))
    found = known.interval if other.type.kind is Kind.NULL else hull(known.interval, other.interval)
    return known.but(interval=found, keys=keys)


def _or_null(domain: Domain) -> Domain:
    keys = domain.keys
    return domain.but(nullable=True, keys=keys if keys is None or None in keys else (*keys, None))


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
