"""Groups of disjoint parts of the same rows are one query by part and group, wherever a statement has them.

    SELECT k, COUNT(*) FROM t WHERE y = 1 GROUP BY k UNION ALL SELECT k, COUNT(*) FROM t WHERE y = 2 GROUP BY k
    ->  both read SELECT CASE WHEN y = 1 THEN 0 ELSE 1 END AS part, k, COUNT(*) FROM t WHERE y = 1 OR y = 2 GROUP BY part, k,
        each the rows of its part

So they are one measurement with one share of ε, as GROUP BY y, k is. Privacy rests on nothing here: what comes out is a
query that an analyst could have written, and it is tracked, certified and measured like any other. A unit is in one part as
in all: what one unit adds is limited over all groups of all parts.

Lemma: the answers are of the same rows. Proof: let no row satisfy two of c, d, …. Of the rows where one of them is TRUE the
CASE is 0 exactly where c is, and so on: the group (i, k) has the rows of part i with the key k, and there is such a group
if and only if there are such rows. Private keys are selected for each part by the units that it has there.

Which groups are shown must not change either. So what tells the parts apart says nothing of the keys: a key's public values
could be fewer in one part. And it says nothing of what is summed, whose bounds could be narrower there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsql import functions
from dpsql.domain.types import INTEGER
from dpsql.functions.conjunctions import conjunction
from dpsql.ir.expr import GROUPING, AggregateCall, Expr, Literal, columns_of
from dpsql.ir.nodes import Aggregate, Field, Filter, Node, Project
from dpsql.privacy.disjoint import Numbers, condition, disjoint
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.same_rows import below_filters, each, is_same, moved, put
from dpsql.privacy.slices import MOST


@dataclass(slots=True)
class _Groups:
    """An aggregate with keys over the rows of `base` where all of `parts` are TRUE; in the columns of its set's first."""

    node: Aggregate
    base: Node
    parts: tuple[Expr, ...]
    keys: tuple[Expr, ...]
    calls: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class ByPart:
    """tree: the statement with one query for each set of parts. parts: their conditions, by the id of the key that
    says which."""

    tree: Node
    parts: dict[int, tuple[Expr, ...]]


@dataclass(slots=True)
class _Joined:
    context: TrackContext
    sets: list[list[_Groups]] = field(default_factory=list)
    instead: dict[int, Node] = field(default_factory=dict)
    parts: dict[int, tuple[Expr, ...]] = field(default_factory=dict)

    def add(self, node: Aggregate) -> None:
        base, parts = below_filters(node.input)
        if not parts or not self._can(node):
            return
        new = _Groups(node, base, parts, node.keys, node.calls)
        for alike in self.sets:
            fitting = _in_columns_of(alike[0], new) if len(alike) < MOST else None
            if fitting is not None and all(_is_apart(fitting, other) for other in alike):
                alike.append(fitting)
                return
        self.sets.append([new])

    def _can(self, node: Aggregate) -> bool:
        """Whether it is a release of its own with keys, and no limit is declared for these keys."""
        release = self.context.releases.get(id(node))
        if release is None or not node.keys or node.sets is not None or node.of_rows:
            return False
        if any(f.id in self.context.ties for f in node.key_fields) or not node.calls:
            return False
        private = release.inputs[0].private
        return private is not None and not private.limits.by_keys and GROUPING not in {c.function for c in node.calls}

    def join(self, alike: Sequence[_Groups]) -> None:
        """One aggregate for a set; what each of it was reads its part there."""
        common = [part for part in alike[0].parts if all(part in other.parts for other in alike)]
        wheres = [conjunction([part for part in one.parts if part not in common]) for one in alike]
        conditions = tuple(where for where in wheres if where is not None)
        if len(conditions) < len(alike):
            return
        ids, first = self.context.ids, alike[0].node
        part = ids.field("part", INTEGER)
        keys = tuple(ids.field(f.name, f.type) for f in first.key_fields)
        calls: dict[AggregateCall, Field] = {}
        for one in alike:
            for call, old in zip(one.calls, one.node.call_fields, strict=True):
                calls.setdefault(call, ids.field(old.name, old.type))
        rows = alike[0].base if not common else Filter(alike[0].base, _all(common))
        whole = Aggregate(
            Filter(rows, functions.make("or", conditions, at=None)),
            (part, *keys),
            (_number(conditions), *alike[0].keys),
            tuple(calls.values()),
            tuple(calls),
        )
        for i, one in enumerate(alike):
            mine = Filter(whole, functions.call("equal", part.column(), Literal(i, INTEGER)))
            shown = (*keys, *(calls[call] for call in one.calls))
            self.instead[id(one.node)] = Project(mine, one.node.fields, tuple(f.column() for f in shown))
        self.parts[part.id] = conditions


def by_part(tree: Node, context: TrackContext) -> ByPart | None:
    """None where there is nothing to join. context: of the same statement, tracked as it is."""
    joined = _Joined(context)
    for node in each(tree):
        if isinstance(node, Aggregate):
            joined.add(node)
    for alike in joined.sets:
        if len(alike) > 1:
            joined.join(alike)
    return ByPart(put(tree, joined.instead), joined.parts) if joined.instead else None


def _number(conditions: Sequence[Expr]) -> Expr:
    args: list[Expr] = []
    for i, one in enumerate(conditions[:-1]):
        args += [one, Literal(i, INTEGER)]
    return functions.make("case", (*args, Literal(len(conditions) - 1, INTEGER)), at=None)


def _all(parts: Sequence[Expr]) -> Expr:
    whole = conjunction(list(parts))
    assert whole is not None
    return whole


def _is_apart(one: _Groups, other: _Groups) -> bool:
    """Whether no row is of both, and what tells them apart is about neither keys nor what is summed."""
    if one.keys != other.keys or not {*one.calls} & {*other.calls}:
        return False
    numbers: Numbers = {}
    said = {id_ for part in {*one.parts} ^ {*other.parts} for id_ in columns_of(part)}
    shown = {id_ for key in one.keys for id_ in columns_of(key)}
    for call in (*one.calls, *other.calls):
        if call.function != "count" or call.distinct:
            shown |= columns_of(dataclasses.replace(call, where=None))
    apart = (condition(_all(groups.parts), numbers) for groups in (one, other))
    return said.isdisjoint(shown) and disjoint(*apart)


def _in_columns_of(first: _Groups, other: _Groups) -> _Groups | None:
    """The other in the columns of the first, if both read the same rows."""
    ids: dict[int, int] = {}
    if not is_same(first.base, other.base, ids):
        return None
    calls = tuple(moved(call, ids) for call in other.calls)
    return _Groups(
        other.node,
        first.base,
        tuple(moved(part, ids) for part in other.parts),
        tuple(moved(key, ids) for key in other.keys),
        tuple(call for call in calls if isinstance(call, AggregateCall)),
    )


__all__ = ["ByPart", "by_part"]
