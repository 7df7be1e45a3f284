"""Window functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.functions.totality import leaves_room
from dpsql.ir.expr import Column, Expr, Frame, Literal, SortKey, WindowCall
from dpsql.ir.nodes import Project, Window
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import projects
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import refuse_interval
from dpsql.privacy.rules.navigation import AGGREGATES, FARTHEST, Rows, bad_frame, by_rows, is_by_place, navigation
from dpsql.privacy.rules.per_unit import make_call
from dpsql.privacy.rules.primitives import Primitives, with_intervals
from dpsql.privacy.rules.unit_calls import Made, UnitCall


def rule(node: Window, input: Tracked, context: TrackContext) -> Tracked:
    """Lemma: over public rows a window is post-processing. Over private rows it keeps the invariant if every PARTITION BY
    contains the unit and every result is a function of the partition's rows as a multiset.

    Proof: a partition then holds rows of one unit, so u's part of the output is a function of u's part of the input. The
    result is one of the multiset: ranks, and aggregates over RANGE and GROUPS frames, see the analyst's order and whole
    peer groups alone; where the order among peers matters (numbers, offsets, ends of frames, ROWS frames), all columns
    of the input are appended to the order, so rows that still tie are equal, and exchanging equal rows changes nothing
    (navigation.py: which rows such a frame holds). Two such orders would number equal rows in two ways at once: the second
    runs over the results of the first (layered).
    Aggregates are made of primitives that are exact (per_unit.py). Nothing fails: offsets and counts are constants in
    range, and a RANGE offset is taken only from an order column whose range leaves room for it.
    """
    if input.private is None:
        domains = {**input.domains, **{f.id: Domain(type=f.type) for f in node.call_fields}}
        return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=domains)
    primitives: Primitives[WindowCall] = Primitives(input, context.ids, dict(input.domains), dict(input.ranges))
    made = [_made(call, input.private, primitives) for call in node.calls]
    inner = layered(input, primitives)
    kept = input.node.fields
    top = Project(inner.node, (*kept, *node.call_fields), (*(f.column() for f in kept), *(one.expr for one in made)))
    finished = with_intervals(projects.rule(top, inner, context), node.call_fields, made)
    return dataclasses.replace(
        finished, private=input.private
    )  # the input's columns have their own ids, so its facts stay


def _made(call: WindowCall, private: Private, primitives: Primitives[WindowCall]) -> Made:
    _refuse_several_units(call, private)
    input = primitives.input

    def total(expr: Expr) -> Expr:
        return primitives.exact(expr, "compared by", call.at)

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
        over: Rows = rows,
    ) -> Column:
        for key in over.order:
            refuse_interval(key.expr, "sorted by", call.at)
        ignore = call.ignore_nulls and function == call.function
        args = tuple(map(total, args))
        one = WindowCall(function, args, type_, over.partition, over.order, over.frame, distinct, ignore, where)
        return primitives.column(one, domain)

    if call.function in AGGREGATES:
        return _aggregate(call, _ordered(call, rows, every), input, ask)
    return navigation(call, rows, every, input.domains, ask)


def layered(input: Tracked, primitives: Primitives[WindowCall]) -> Tracked:
    """Windows of which each numbers rows in one order, one above the other.

    Lemma: rows that tie are then one row. Proof: a window whose result may differ between equal rows (is_by_place) is
    sorted by all columns of its input, among them the results of the windows below, so rows that these told apart do not
    tie; and the windows of one order give rows that tie the results of the same places together.
    """
    orders: dict[tuple[tuple[Expr, ...], tuple[SortKey, ...]], list[WindowCall]] = {}
    rest: list[WindowCall] = []
    for call in primitives.fields:
        (orders.setdefault((call.partition, call.order), []) if is_by_place(call) else rest).append(call)
    first, *others = orders.values() or ([],)
    made = _window(input, [(call, call) for call in (*rest, *first)], primitives)
    for calls in others:
        told = tuple(SortKey(f.column()) for f in made.node.fields)
        for key in told:
            refuse_interval(key.expr, "sorted by", calls[0].at)
        over = [(call, dataclasses.replace(call, order=(*call.order, *told))) for call in calls]
        made = _window(made, over, primitives)
    return made


def _window(
    input: Tracked, calls: Sequence[tuple[WindowCall, WindowCall]], primitives: Primitives[WindowCall]
) -> Tracked:
    """calls: each as it was asked for, and as it is run."""
    fields = tuple(primitives.fields[asked] for asked, _ in calls)
    return Tracked(
        node=Window(input.node, fields, tuple(run for _, run in calls)),
        inputs=(input,),
        domains=primitives.domains,
        ranges=primitives.ranges,
        private=input.private,
        origins=input.origins,
    )


def _refuse_several_units(call: WindowCall, private: Private) -> None:
    if not any(isinstance(part, Column) and part.id in private.same for part in call.partition):
        raise Refused(
            f"{call.function.upper()}() OVER (…) runs over rows of different people",
            code=123,
            at=call.at,
            why="A row's result would depend on other people's rows.",
            fix="Put the unit into PARTITION BY, or use the window over the aggregated result.",
        )


def _ordered(call: WindowCall, rows: Rows, every: tuple[SortKey, ...]) -> Rows:
    """An aggregate over a ROWS frame needs a total order; other frames hold whole peer groups of the analyst's."""
    if rows.frame is None or rows.frame.unit != "ROWS":
        return rows
    return Rows(partition=rows.partition, order=(*rows.order, *every), frame=by_rows(call, rows.frame))


def _aggregate(call: WindowCall, over: Rows, input: Tracked, ask: Callable[..., Column]) -> Made:
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


def _frame(call: WindowCall, input: Tracked) -> Frame | None:
    frame = call.frame
    if frame is None:
        return None
    if frame.unit == "GROUPS" and not call.order:
        raise bad_frame(call, "A GROUPS frame needs an ORDER BY.")
    for _, offset in (frame.start, frame.end):
        if offset is None:
            continue
        if not isinstance(offset, Literal) or offset.value is None:
            raise bad_frame(call, "The offset of a frame must be a constant.")
        if frame.unit != "RANGE":
            if isinstance(offset.value, bool) or not isinstance(offset.value, int) or not 0 <= offset.value <= FARTHEST:
                raise bad_frame(call, f"It must be a whole number from 0 to {FARTHEST:,}.")
        elif not _leaves_room(call, offset, input):
            raise bad_frame(call, "A RANGE offset needs ORDER BY one date, or one bounded whole number.")
    return frame


def _leaves_room(call: WindowCall, offset: Literal, input: Tracked) -> bool:
    """Adding the offset to the order column cannot leave its type."""
    if len(call.order) != 1:
        return False
    return leaves_room(call.order[0].expr.type, functions.totalise(call.order[0].expr, input.ranges)[1], offset)
