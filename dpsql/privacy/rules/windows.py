"""Window functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.functions.totality import leaves_room
from dpsql.ir.expr import Column, Expr, Frame, Literal, SortKey, WindowCall
from dpsql.ir.nodes import Field, Project, Window
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import projects
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical, refuse_interval
from dpsql.privacy.rules.navigation import AGGREGATES, FARTHEST, Rows, bad_frame, by_rows, navigation
from dpsql.privacy.rules.per_unit import Made, UnitCall, make_call


def rule(node: Window, input: Tracked, context: TrackContext) -> Tracked:  # noqa: A002 - the node's own word
    """Lemma: over public rows a window is post-processing. Over private rows it keeps the invariant if every PARTITION BY
    contains the unit and every result is a function of the partition's rows as a multiset.

    Proof: a partition then holds rows of one unit, so u's part of the output is a function of u's part of the input. The
    result is one of the multiset: ranks, and aggregates over RANGE and GROUPS frames, see the analyst's order and whole
    peer groups alone; where the order among peers matters (numbers, offsets, ends of frames, ROWS frames), all columns
    of the input are appended to the order, so rows that still tie are equal, and exchanging equal rows changes nothing
    (navigation.py: which rows such a frame holds).
    Aggregates are made of primitives that are exact (per_unit.py). Nothing fails: offsets and counts are constants in
    range, and a RANGE offset is taken only from an order column whose range leaves room for it.
    """
    if input.private is None:
        domains = {**input.domains, **{f.id: Domain(type=f.type) for f in node.call_fields}}
        return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=domains)
    primitives: dict[WindowCall, Field] = {}
    domains = dict(input.domains)
    ranges = dict(input.ranges)
    made = [_made(call, input, input.private, primitives, domains, ranges, context) for call in node.calls]
    inner = Tracked(
        node=Window(input.node, tuple(primitives.values()), tuple(primitives)),
        inputs=(input,),
        domains=domains,
        ranges=ranges,
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
    ranges: dict[int, Range],
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
        refuse_interval(expr, "compared by", call.at)
        return functions.totalise(canonical(expr), input.ranges)[0]

    call = dataclasses.replace(call, args=tuple(map(total, call.args)))
    where = None if call.where is None else total(call.where)
    every = tuple(SortKey(f.column()) for f in input.node.fields)
    rows = Rows(
        partition=tuple(map(total, call.partition)),
        order=tuple(dataclasses.replace(key, expr=total(key.expr)) for key in call.order),
        frame=_frame(call, input),
    )

    def ask(
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        over: Rows | None = None,
    ) -> Column:
        at = over or rows
        for key in at.order:
            refuse_interval(key.expr, "sorted by", call.at)
        ignore = call.ignore_nulls and function == call.function
        args = tuple(map(total, args))
        one = WindowCall(function, args, type_, at.partition, at.order, at.frame, distinct, ignore, where)
        if one not in primitives:
            primitives[one] = context.ids.field("", type_)
            domains[primitives[one].id] = domain
            range_ = functions.call_range(one, input.ranges)
            if range_ is not None:
                ranges[primitives[one].id] = range_
        return primitives[one].column()

    if call.function in AGGREGATES:
        return _aggregate(call, _ordered(call, rows, every), input, ask)
    return navigation(call, rows, every, input.domains, ask)


def _ordered(call: WindowCall, rows: Rows, every: tuple[SortKey, ...]) -> Rows:
    """An aggregate over a ROWS frame needs a total order; other frames hold whole peer groups of the analyst's."""
    if rows.frame is None or rows.frame.unit != "ROWS":
        return rows
    return Rows(partition=rows.partition, order=(*rows.order, *every), frame=by_rows(call, rows.frame))


def _aggregate(call: WindowCall, over: Rows, input: Tracked, ask: Callable[..., Column]) -> Made:  # noqa: A002
    def unordered(
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order: tuple[SortKey, ...] = (),
    ) -> Column:
        return ask(function, args, type_, domain, distinct=distinct, over=over)

    described = UnitCall(
        function=call.function,
        args=call.args,
        type=call.type,
        distinct=call.distinct,
        some=False,  # a frame may be empty
        filtered=call.where is not None,
        order=(),
        given=(),
        ranges=input.ranges,
        at=call.at,
    )
    return make_call(described, input.domains, unordered)


def _frame(call: WindowCall, input: Tracked) -> Frame | None:  # noqa: A002 - the node's own word
    frame = call.frame
    if frame is None:
        return None
    if frame.unit == "GROUPS" and not call.order:
        raise bad_frame(call, "Groups of peers need an ORDER BY.")
    for _, offset in (frame.start, frame.end):
        if offset is None:
            continue
        if not isinstance(offset, Literal) or offset.value is None:
            raise bad_frame(call, "How far a frame reaches must be a constant.")
        if frame.unit != "RANGE":
            if isinstance(offset.value, bool) or not isinstance(offset.value, int) or not 0 <= offset.value <= FARTHEST:
                raise bad_frame(call, f"It must be a whole number from 0 to {FARTHEST:,}.")
        elif not _leaves_room(call, offset, input):
            raise bad_frame(call, "A RANGE offset is answered over one date, or one bounded whole number.")
    return frame


def _leaves_room(call: WindowCall, offset: Literal, input: Tracked) -> bool:  # noqa: A002 - the node's own word
    """Adding the offset to the order column cannot leave its type."""
    if len(call.order) != 1:
        return False
    return leaves_room(call.order[0].expr.type, functions.totalise(call.order[0].expr, input.ranges)[1], offset)
