"""A correlated scalar aggregate over private rows: (SELECT agg(…) FROM private WHERE own = outer …) as a value.

The binder makes it a LEFT JOIN with an Aggregate whose keys are the `own` sides. With the unit among them it is a
per-unit summary like any other. Here the rest is decided: a unit path among the equalities adds the unit; otherwise it
is a release, grouped by keys that must be public because the outer query names them.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from dpsql import functions
from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.domain.types import Kind
from dpsql.errors import Refused
from dpsql.functions.conjunctions import conjunction, conjuncts
from dpsql.ir.expr import Call, Column, Expr, columns_of, place
from dpsql.ir.nodes import Aggregate, Filter, Join, Limit, SemiJoin, walk
from dpsql.plan.tracked import Tie, Tracked
from dpsql.privacy.rules import filters, semijoins
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.units import along_path

READ_KINDS = (Kind.TEXT, Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)


def ties(node: Join, left: Tracked) -> dict[int, Tie]:
    """What the keys of the subquery (by the ids of its columns) are equated with."""
    right_ids = {f.id for f in node.right.fields}
    by_column: dict[int, Tie] = {}
    for part in conjuncts(node.on):
        assert isinstance(part, Call) and part.function in ("equal", "is_not_distinct")
        key, other = part.args
        assert isinstance(key, Column) and key.id in right_ids
        by_column[key.id] = Tie(other, left)
    return by_column


def with_unit(node: Aggregate, input: Tracked, context: TrackContext) -> Aggregate | None:
    """The aggregate with the unit as one more key, if the equalities are a unit path: then inner and outer rows belong to
    the same unit. None if they are not.

    Lemma: the value of an outer row is the same, but where a key of the path belongs to several units: there each unit
    sees its own rows alone. Proof: the join that follows is along the path, so it adds the equality of the units.
    """
    tied = [
        (key, context.ties[f.id]) for f, key in zip(node.key_fields, node.keys, strict=True) if f.id in context.ties
    ]
    if not tied or input.private is None or tied[0][1].outer.private is None:
        return None
    on = conjunction([functions.call("equal", tie.other, key) for key, tie in tied])
    if not along_path(on, tied[0][1].outer, input, context.catalog):
        return None
    unit = input.private.unit
    field = context.ids.field("", unit.type)
    return dataclasses.replace(node, key_fields=(*node.key_fields, field), keys=(*node.keys, unit))


def of_rows(node: Aggregate, input: Tracked, context: TrackContext) -> Aggregate:
    """The aggregate with the unit as one more key, if its keys stand for private rows of the outer query: each of those is
    about one unit, and what is made of it, too."""
    if input.private is None or not node.of_rows:
        return node
    if node.calls and not any(isinstance(key, Column) and key.id in context.private_rows for key in node.keys):
        return node
    if not any(isinstance(key, Column) and key.id in input.private.same for key in node.keys):
        unit = input.private.unit
        field = context.ids.field("", unit.type)
        node = dataclasses.replace(node, key_fields=(*node.key_fields, field), keys=(*node.keys, unit))
    context.private_rows.update(f.id for f in node.key_fields)
    return node


def public_keys(node: Aggregate, input: Tracked, context: TrackContext) -> Tracked:
    """The input with the outer query's values as the keys' public values, as far as all combinations stay within
    KEY_LIMIT (beyond, keys are private and thresholded). Keys that have public values of their own keep them."""
    domains = dict(input.domains)
    count = 1
    for key in node.keys:
        count *= max(1, len(key_set(functions.infer(key, domains)[1]) or ()))
    for f, key in zip(node.key_fields, node.keys, strict=True):
        tie = context.ties.get(f.id)
        if tie is None:
            continue
        domain = functions.infer(key, domains)[1]
        values = _values(tie, context)
        if values is None and not (_is_public(tie, context) and key_set(domain) is not None):
            raise _refused(key, tie)
        if key_set(domain) is not None or values is None or not isinstance(key, Column):
            continue
        kept = tuple(value for value in values if possible(value, domain))
        if kept and count * len(kept) <= KEY_LIMIT:
            count *= len(kept)
            domains[key.id] = domain.but(keys=kept, because=_because(tie))
    return dataclasses.replace(input, domains=domains)


def asked(node: Aggregate, input: Tracked, context: TrackContext) -> Tracked:
    """The rows whose keys the outer query can ask for, where public rows say which: others would use up a unit's groups.

    Lemma: a semi-join with public rows (semijoins.py), and no row is lost that an outer row can see. Proof: the public
    relation holds every value of the outer side that a row of the outer relation has: it is what introduced the column
    there, under those of the filters above it that are about nothing else.
    """
    tests: dict[int, tuple[Tracked, list[Expr]]] = {}
    for f, key in zip(node.key_fields, node.keys, strict=True):
        tie = context.ties.get(f.id)
        rows = None if tie is None else _introduced(tie)
        if tie is not None and rows is not None:
            test = functions.call("equal", key, tie.other)
            tests.setdefault(id(rows[0]), (rows[1], []))[1].append(test)
    for rows_asked, equalities in tests.values():
        if not any(isinstance(part, Filter | SemiJoin | Limit) for part in walk(rows_asked.node)):
            continue  # all of a table: its values are the keys
        on = conjunction(equalities)
        assert on is not None
        semi = SemiJoin(input.node, rows_asked.node, on, anti=False)
        input = semijoins.rule(semi, input, rows_asked, context)
    return input


def _introduced(tie: Tie) -> tuple[Tracked, Tracked] | None:
    """The public relation that the outer side's columns come from, bare, and under the filters that are about it alone."""
    wanted, outer = columns_of(tie.other), tie.outer
    conditions: list[Expr] = []
    while outer.private is not None:
        if isinstance(outer.node, Filter):
            conditions.append(outer.node.predicate)
        below = [child for child in outer.inputs if wanted <= _ids(child)]
        if len(below) != 1:
            return None
        outer = below[0]
    rows = outer
    for condition in conditions:
        if columns_of(condition) and columns_of(condition) <= _ids(outer):
            rows = filters.rule(Filter(rows.node, condition), rows)
    return outer, rows


def _ids(tracked: Tracked) -> frozenset[int]:
    return frozenset(f.id for f in tracked.node.fields)


def possible(value: Atom, domain: Domain) -> bool:
    """Whether a row with this value can have passed the filters."""
    if value is None:
        return domain.nullable
    return isinstance(value, str) or Fraction(value) in domain.interval


def _because(tie: Tie) -> str:
    origin = tie.outer.origins.get(tie.other.id) if isinstance(tie.other, Column) else None
    return "the values of the outer query" if origin is None else f"the values of {origin}"


def _values(tie: Tie, context: TrackContext) -> tuple[Atom, ...] | None:
    """The public values of the outer side, NULL left out (it equals nothing); None if they are not known."""
    domains = {id_: _with_values(id_, tie.outer, context) for id_ in columns_of(tie.other)}
    values = key_set(functions.infer(tie.other, domains)[1])
    return None if values is None else tuple(value for value in values if value is not None)


def _with_values(id_: int, outer: Tracked, context: TrackContext) -> Domain:
    domain = outer.domains[id_]
    if key_set(domain) is not None or not _of_public_table(id_, outer, context) or domain.type.kind not in READ_KINDS:
        return domain
    origin = outer.origins[id_]
    read = context.values_of(origin.table, origin.column)
    values = tuple(value for value in read if possible(value, domain))
    return domain.but(keys=values) if values else domain


def _of_public_table(id_: int, outer: Tracked, context: TrackContext) -> bool:
    origin = outer.origins.get(id_)
    spec = None if origin is None else context.catalog.table(origin.table)
    return spec is not None and spec.public


def _is_public(tie: Tie, context: TrackContext) -> bool:
    return tie.outer.private is None or all(_of_public_table(id_, tie.outer, context) for id_ in columns_of(tie.other))


def _refused(key: Expr, tie: Tie) -> Refused:
    key_name, other = (expr.name if isinstance(expr, Column) and expr.name else "k" for expr in (key, tie.other))
    return Refused(
        f'this subquery is connected to "{other}", which has no public set of values',
        code=121,
        at=place(tie.other) or place(key),
        why="It is answered once for every value of that column, and which values occur reveals something about people.",
        fix="Connect it to a public table's column, to one with `keys:`, or to the unit; or write the groups as a join: "
        f"… JOIN (SELECT {key_name}, AVG(x) AS m FROM … GROUP BY {key_name}) AS t ON t.{key_name} = {other}.",
    )
