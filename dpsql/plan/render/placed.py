"""Real columns that a stage puts on axes and does nothing else with: cleaning need not clamp what is clamped again."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from dpsql.catalog.model import Catalog, ColumnSpec
from dpsql.domain.types import Kind
from dpsql.ir.expr import Column, columns_of
from dpsql.ir.nodes import Filter, Loaded, Node, Project, Scan, SemiJoin, walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.measurements import Axis, axes
from dpsql.plan.stages import NoisyStage
from dpsql.plan.what_is_read import exprs


def only_placed(stage: NoisyStage, catalog: Catalog) -> frozenset[int]:
    """The columns of scans that may be read as they are stored.

    Lemma: the stage's rows are the same. Proof: nothing looks at such a column but `placed_real` on axes within its declared
    bounds, and projections that hand it on. Let r be the rounding of v/h to whole numbers, which keeps order, and low, high
    an axis' ends, r(lower) ≤ low ≤ high ≤ r(upper). Of v between the bounds nothing changes; one above `upper` is put at
    high by either way, since r is at least r(upper) ≥ high; so it is below. NaN and NULL have no place either way.

    No guarantee rests on it: what one row adds is bounded by `placed_real`, whatever it reads, and it answers on every
    double; and a column that is read as it is stored is a function of its row, like the clamped one. Only where units have
    one row: else rows of NaN would share in their unit's weight.
    """
    nodes = list(walk(stage.source.node))
    if not stage.source.single or not all(
        isinstance(one, Scan | Project | Filter | SemiJoin | Loaded) for one in nodes
    ):
        return frozenset()
    on_axes, read = _readers(stage)
    placed = {id_: axes for id_, axes in on_axes.items() if len(axes) == read[id_]}
    above: dict[int, list[int]] = {}  # a column, and those that hand it on
    used = {id_ for node in nodes for expr in exprs_of(node) if not _hands_on(node, expr) for id_ in columns_of(expr)}
    for node in nodes:
        if isinstance(node, Project):
            for f, expr in zip(node.fields, node.exprs, strict=True):
                if isinstance(expr, Column):
                    above.setdefault(expr.id, []).append(f.id)

    def reached(id_: int) -> list[Axis] | None:
        """The axes on which all that is read of the column stands; None where something else is."""
        if id_ in used:
            return None
        axes: list[Axis] = []
        if id_ in top:
            if read[id_] and id_ not in placed:
                return None
            axes += placed.get(id_, [])
        for next_ in above.get(id_, []):
            further = reached(next_)
            if further is None:
                return None
            axes += further
        return axes

    top = {f.id for f in stage.source.node.fields}
    return frozenset(
        f.id
        for node in nodes
        if isinstance(node, Scan)
        for f, name in zip(node.fields, node.columns, strict=True)
        if f.type.kind is Kind.REAL and _within(reached(f.id), _declared(catalog, node, name))
    )


def _readers(stage: NoisyStage) -> tuple[dict[int, list[Axis]], Counter[int]]:
    """Of each column of the source the axes it stands on, and how often anything reads it."""
    on_axes: dict[int, list[Axis]] = {}
    read = Counter(id_ for key in stage.keys for id_ in columns_of(key.expr))
    read[stage.source.unit.id] += 1
    for noised in stage.noised:
        for expr in exprs(noised.measurement):
            read.update(columns_of(expr))
        for axis in axes(noised.measurement):
            if isinstance(axis.arg, Column):
                on_axes.setdefault(axis.arg.id, []).append(axis)
    return on_axes, read


def _hands_on(node: Node, expr: object) -> bool:
    return isinstance(node, Project) and isinstance(expr, Column)


def _declared(catalog: Catalog, scan: Scan, name: str) -> ColumnSpec | None:
    spec = catalog.table(scan.table)
    return None if spec is None else spec.column(name)


def _within(axes: list[Axis] | None, column: ColumnSpec | None) -> bool:
    if not axes or column is None:
        return False
    lower, upper = column.interval.lower, column.interval.upper
    return all(
        (lower is None or round(Fraction(float(lower)) / axis.step) <= axis.low)
        and (upper is None or round(Fraction(float(upper)) / axis.step) >= axis.high)
        for axis in axes
    )
