"""Totals of disjoint parts of the same rows are one query, wherever a statement has them: UNION ALL, scalar subqueries.

    SELECT COUNT(*) FROM t WHERE k = 'a' UNION ALL SELECT COUNT(*) FROM t WHERE k = 'b'
    ->  both read SELECT COUNT(*) FILTER (WHERE k = 'a'), COUNT(*) FILTER (WHERE k = 'b') FROM t WHERE k = 'a' OR k = 'b'

So what holds of FILTERs holds of them (privacy/slices.py): one measurement, one share of ε. Privacy rests on nothing here.
What comes out is a query that an analyst could have written, and it is tracked, certified and measured like any other.

Lemma: the answers are of the same rows. Proof: an aggregate without keys has one row, whatever it reads. f(x) over the rows
of B where c is f(x) FILTER (WHERE c) over B, and over any rows of B among which are all where c is TRUE, so over B where
c OR d.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsql import functions
from dpsql.catalog.model import Catalog
from dpsql.functions.conjunctions import conjunction
from dpsql.ir.expr import AggregateCall, Column, Expr, columns_of
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Aggregate, Filter, Node, Project, Scan, walk
from dpsql.privacy.disjoint import Numbers, condition, disjoint
from dpsql.privacy.same_rows import below_filters, each, is_same, moved, put
from dpsql.privacy.slices import MOST

_CALLS = ("count", "sum", "avg")


@dataclass(slots=True)
class _Total:
    """An aggregate without keys: calls over the rows of `base` where all of `parts` are TRUE; in the columns of the group's
    first."""

    node: Aggregate
    base: Node
    parts: tuple[Expr, ...]
    calls: tuple[AggregateCall, ...]


@dataclass(slots=True)
class _Joined:
    catalog: Catalog
    ids: Ids
    groups: list[list[_Total]] = field(default_factory=list)
    instead: dict[int, Node] = field(default_factory=dict)

    def add(self, node: Aggregate) -> None:
        total = self._total(node)
        if total is None:
            return
        for group in self.groups:
            fitting = _in_columns_of(group[0], total) if len(group) < MOST else None
            if fitting is not None and all(_is_apart(fitting, other) for other in group):
                group.append(fitting)
                return
        self.groups.append([total])

    def _total(self, node: Aggregate) -> _Total | None:
        if node.keys or node.sets is not None or node.of_rows or not all(map(_is_plain, node.calls)):
            return None
        base, parts = below_filters(node.input)
        private = any(isinstance(leaf, Scan) and self._is_private(leaf) for leaf in walk(base))
        return _Total(node, base, parts, node.calls) if private and parts else None

    def _is_private(self, leaf: Scan) -> bool:
        spec = self.catalog.table(leaf.table)
        return spec is not None and not spec.public

    def join(self) -> None:
        """One aggregate for each group of several; what each of them was reads its columns there."""
        for group in self.groups:
            if len(group) > 1:
                self._one(group)

    def _one(self, group: Sequence[_Total]) -> None:
        wheres = [_all(total.parts) for total in group]
        calls: dict[AggregateCall, Column] = {}
        fields = []
        for total, where in zip(group, wheres, strict=True):
            for call, old in zip(total.calls, total.node.call_fields, strict=True):
                within = _within(call, where)
                if within not in calls:
                    fields.append(self.ids.field(old.name, old.type))
                    calls[within] = fields[-1].column()
        either = wheres[0]
        for where in wheres[1:]:
            either = functions.call("or", either, where)
        whole = Aggregate(Filter(group[0].base, either), (), (), tuple(fields), tuple(calls))
        for total, where in zip(group, wheres, strict=True):
            shown = tuple(calls[_within(call, where)] for call in total.calls)
            self.instead[id(total.node)] = Project(whole, total.node.call_fields, shown)


def with_disjoint_totals(tree: Node, catalog: Catalog, ids: Ids) -> Node:
    """The statement with totals of disjoint parts as one aggregate for each set of rows."""
    joined = _Joined(catalog, ids)
    for node in each(tree):
        if isinstance(node, Aggregate):
            joined.add(node)
    joined.join()
    return put(tree, joined.instead) if joined.instead else tree


def _is_plain(call: AggregateCall) -> bool:
    return call.function in _CALLS and not call.distinct and not call.order and not call.options


def _within(call: AggregateCall, where: Expr) -> AggregateCall:
    return dataclasses.replace(call, where=_all((where,) if call.where is None else (where, call.where)))


def _all(parts: Sequence[Expr]) -> Expr:
    whole = conjunction(list(parts))
    assert whole is not None
    return whole


def _is_apart(one: _Total, other: _Total) -> bool:
    """Whether no row is of both, and a measurement of one is a measurement of the other, too. What only one of them says
    must not be about what is summed: there each WHERE sets bounds."""
    numbers: Numbers = {}
    if not {_kind(call) for call in one.calls} & {_kind(call) for call in other.calls}:
        return False
    said = {id_ for part in {*one.parts} ^ {*other.parts} for id_ in columns_of(part)}
    summed = {id_ for call in (*one.calls, *other.calls) if call.function != "count" for id_ in columns_of(_kind(call))}
    return said.isdisjoint(summed) and disjoint(
        condition(_all(one.parts), numbers), condition(_all(other.parts), numbers)
    )


def _kind(call: AggregateCall) -> AggregateCall:
    return dataclasses.replace(call, where=None)


def _in_columns_of(first: _Total, other: _Total) -> _Total | None:
    """The other in the columns of the first, if both read the same rows."""
    ids: dict[int, int] = {}
    if not is_same(first.base, other.base, ids):
        return None
    calls = tuple(moved(call, ids) for call in other.calls)
    parts = tuple(moved(part, ids) for part in other.parts)
    return _Total(other.node, first.base, parts, tuple(call for call in calls if isinstance(call, AggregateCall)))


__all__ = ["with_disjoint_totals"]
