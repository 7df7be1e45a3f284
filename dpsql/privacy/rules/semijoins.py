"""IN, NOT IN, EXISTS, NOT EXISTS, ANY, ALL, SEMI and ANTI JOIN."""

from __future__ import annotations

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import together
from dpsql.errors import Refused
from dpsql.functions.conjunctions import conjunction, conjuncts
from dpsql.ir.expr import TRUE, Call, Expr, columns_of, place
from dpsql.ir.nodes import Filter, Limit, SemiJoin
from dpsql.plan.tracked import Tracked
from dpsql.privacy.rules import filters, order
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical_equalities
from dpsql.privacy.rules.narrowing import narrowed
from dpsql.privacy.rules.units import along_path, refuse_mixing, same_unit, serves_as_path, with_units_equal


def rule(node: SemiJoin, left: Tracked, right: Tracked, context: TrackContext) -> Tracked:
    """Lemma: a semi- or anti-join keeps the invariant if the right side is public, or if both are private and the
    condition equates their units. Proof: whether a row of u is kept depends on public rows, or on u's own rows of the
    right side, alone. From a public relation over private rows it is refused: a public row would stay because somebody
    matches it."""
    if left.private is None and right.private is not None:
        raise Refused(
            "private rows decide which rows of a public table are kept",
            code=126,
            at=place(node.on) or node.at,
            why=f"Whether a row stays would reveal whether somebody in {' and '.join(right.private.tables)} matches it.",
            fix="Join the tables and aggregate the private one, or release its keys first with GROUP BY.",
        )
    if right.private is None and node.anti:
        return _unless(node, left, right)
    return _one(node, left, right, context)


def _one(node: SemiJoin, left: Tracked, right: Tracked, context: TrackContext) -> Tracked:
    """The join as it stands."""
    if left.private is None:
        return _joined(left, right, node.on, node)
    on = _total(node.on, left, right)
    if right.private is not None:
        if not node.of_rows and not same_unit(node.on, left, right):
            if not along_path(node.on, left, right, context.catalog):
                raise refuse_mixing(left, right, place(node.on) or node.at, context.catalog)
            if serves_as_path(on, left, right, context.catalog) and right.bare is not None:
                return _joined(left, right.bare, on, node)  # every row that matches has the unit: no need to find it
        on = with_units_equal(on, left.private, right.private)
    return _joined(left, right, on, node)


def _total(on: Expr, left: Tracked, right: Tracked) -> Expr:
    return functions.totalise(canonical_equalities(on), together(left.ranges, right.ranges))[0]


def _joined(left: Tracked, right: Tracked, on: Expr, node: SemiJoin) -> Tracked:
    domains = dict(left.domains)
    if node.mark is not None:
        domains[node.mark.id] = Domain(type=node.mark.type, nullable=False)
    elif left.private is not None and not node.anti:
        kept = narrowed(node.on, {**left.domains, **right.domains})
        domains = {i: d for i, d in kept.items() if i in left.domains}
    return Tracked(
        node=SemiJoin(left.node, right.node, on, node.anti, node.at, node.mark, node.of_rows),
        inputs=(left, right),
        domains=domains,
        ranges=left.ranges,
        private=left.private,
        origins=left.origins,
    )


def _unless(node: SemiJoin, left: Tracked, right: Tracked) -> Tracked:
    """An anti-join against public rows, without the (x = y) IS NOT FALSE of NOT IN: engines compare all pairs for it.

    Lemma: the same rows stay. Proof: (x = y) IS NOT FALSE holds where x = y does, where x is NULL and where y is; and a
    row has no match for a disjunction iff it has none for any of its parts, which are joins one after the other. A part
    is left out where that side cannot be NULL. What decides whether a row stays is public rows, in each of them.
    """
    parts = list(conjuncts(node.on))
    test = next((part for part in parts if _compared(part) is not None), None)
    equal = None if test is None else _compared(test)
    if test is None or equal is None:
        return _against(left, right, parts, node)
    rest = [part for part in parts if part is not test]
    both = {**left.domains, **right.domains}
    x, y = equal.args if _is_of(equal.args[1], right) else equal.args[::-1]
    if not _is_of(y, right) or _uses(x, right):
        return _against(left, right, parts, node)
    kept = left
    if functions.infer(y, both)[1].nullable:
        unknown = filters.rule(Filter(right.node, functions.call("is_null", y)), right)
        kept = _against(kept, unknown if rest else _any_row(unknown), rest, node)
    if functions.infer(x, both)[1].nullable:
        absent = functions.call("is_null", x)
        kept = _against(kept, right if rest else _any_row(right), [absent, *rest], node)
    return _against(kept, right, [equal, *rest], node)


def _against(left: Tracked, right: Tracked, parts: list[Expr], node: SemiJoin) -> Tracked:
    on = conjunction(parts) or TRUE
    if left.private is not None:
        on = _total(on, left, right)
    return _joined(left, right, on, node)


def _compared(part: Expr) -> Call | None:
    """x = y of (x = y) IS NOT FALSE."""
    if isinstance(part, Call) and part.function == "is_not_false":
        (inner,) = part.args
        if isinstance(inner, Call) and inner.function == "equal":
            return inner
    return None


def _any_row(rows: Tracked) -> Tracked:
    """One row if there is any: enough where only that decides."""
    return order.rule(Limit(rows.node, 1, 0), rows)


def _is_of(expr: Expr, side: Tracked) -> bool:
    """Whether it is made of that side's columns, and of at least one."""
    used = columns_of(expr)
    return bool(used) and used <= {f.id for f in side.node.fields}


def _uses(expr: Expr, side: Tracked) -> bool:
    return bool(columns_of(expr) & {f.id for f in side.node.fields})
