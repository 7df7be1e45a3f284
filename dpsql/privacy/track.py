"""Step 4, track: every node gets its `Private` facts from its inputs' by one rule. A node without a rule does not pass.

Neighbouring databases differ in all rows of one unit, in every table. The invariant each rule keeps, and its docstring
proves: *the multiset of a private relation's rows is a disjoint union over units, and the part of unit u is a function
of u's own rows and of public relations alone.* So on neighbouring databases a private relation differs in one unit's
part, and a release that bounds what one part can do to its totals has finite sensitivity.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.errors import Error, Refused
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Loaded,
    Node,
    Noisy,
    OneRow,
    Project,
    PublicText,
    Scan,
    SemiJoin,
    SetOp,
    Sort,
    UserTable,
    Window,
    inputs,
)
from dpsql.ir.scoping import where
from dpsql.ir.size import RELATION, RESULT, own_size
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import (
    aggregate,
    correlated,
    filters,
    joins,
    leaves,
    order,
    projects,
    scan,
    semijoins,
    setops,
    windows,
)
from dpsql.privacy.rules.context import TrackContext


def track(node: Node, context: TrackContext) -> Tracked:
    if id(node) in context.releases:
        context.size.add(RELATION, node)
        return context.releases[id(node)]
    context.size.add(own_size(node), node)
    below: list[Tracked] = []
    for child in inputs(node):
        if isinstance(node, Join) and node.correlated and below:
            context.ties.update(correlated.ties(node, below[0]))
        below.append(track(child, context))
    tracked = apply(node, tuple(below), context)
    if tracked.is_release:
        context.releases[id(node)] = tracked
    return tracked


def apply(node: Node, below: tuple[Tracked, ...], context: TrackContext) -> Tracked:
    """The node's own rule over its tracked inputs. What it refuses has a place, if only the node's."""
    try:
        return _rule(node, below, context)
    except Error as error:
        if error.at is None:
            error.at = where(node)
        raise


def _rule(node: Node, below: tuple[Tracked, ...], context: TrackContext) -> Tracked:
    match node:
        case Scan():
            return scan.rule(node, context)
        case UserTable() | Noisy() | Loaded() | OneRow():
            return leaves.rule(node)
        case Filter():
            return filters.rule(node, below[0])
        case Project():
            return projects.rule(node, below[0], context)
        case Join():
            return joins.rule(node, below[0], below[1], context)
        case SemiJoin():
            return semijoins.rule(node, below[0], below[1], context)
        case Aggregate():
            return aggregate.rule(node, below[0], context)
        case Window():
            return windows.rule(node, below[0], context)
        case Sort() | Limit():
            return order.rule(node, below[0])
        case SetOp():
            return setops.rule(node, below[0], below[1], context)
        case PublicText():
            return leaves.text_rule(node, below)
        case _:
            assert_never(node)


def track_statement(node: Node, context: TrackContext) -> Tracked:
    """A whole query: its top relation must be public, or rows about people would be printed."""
    if isinstance(node, PublicText):
        return apply(node, tuple(track_statement(part, context) for part in node.parts), context)
    context.size.add(RESULT * len(node.fields), node)
    outer: list[Node] = []
    core: Node = node
    while isinstance(core, Sort | Limit) or (isinstance(core, Project) and isinstance(core.input, Sort | Limit)):
        outer.append(core)
        core = core.input
    tracked = track(core, context)
    if tracked.private is not None:
        raise _rows_of_people(core, tracked.private)
    for above in reversed(outer):
        context.size.add(own_size(above), above)
        tracked = apply(above, (tracked,), context)
    return tracked


def _rows_of_people(node: Node, private: Private) -> Refused:
    tables = " and ".join(private.tables)
    return Refused(
        "this query returns rows of people, not statistics",
        code=112,
        at=where(node),
        why=f"{tables} is private: dpsql answers only aggregates over all units.",
        fix="Aggregate it: SELECT COUNT(*) …, AVG(x) … GROUP BY …, and do not group the outermost query by the unit.",
    )
