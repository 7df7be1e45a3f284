"""Tables of the catalog, cleaned, with their tracked unit."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from dpsql import functions
from dpsql.catalog.cleaning import clean_range
from dpsql.catalog.model import TableSpec, UnitPath, fold
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range, Ranges, together
from dpsql.domain.types import BIGINT
from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Aggregate, Field, Join, Project, Scan
from dpsql.plan.tracked import GroupLimit, Limits, Origin, Private, Tracked
from dpsql.privacy.rules.context import TrackContext

ROW = "__row"  # the hidden column of a row_is_unit table: the row's number in its source


def rule(node: Scan, context: TrackContext) -> Tracked:
    """Lemma: a cleaned private table is a disjoint union over units of functions of their own rows. Proof: cleaning is
    a deterministic function of one row; rows without a unit are dropped; each row that is left has exactly one unit
    (its unit column, or its own number). A unit path is the join rule's case: a row joined on SELECT DISTINCT key, unit
    appears once for each unit it reaches, and the part of u is determined by u's rows of the table at the path's end
    and by this table's rows, which count as u's only through them."""
    spec = context.catalog.table(node.table)
    assert spec is not None
    domains = {f.id: _domain(spec, column, context) for f, column in zip(node.fields, node.columns, strict=True)}
    ranges = _ranges(node, spec)
    if spec.public:
        return Tracked(node=node, domains=domains, origins=_origins(node, spec, context))
    if spec.row_is_unit:
        return _by_row(node, spec, domains, ranges, context)
    if spec.unit_path is not None:
        return _by_path(node, spec, spec.unit_path, domains, ranges, context)
    unit = next(f for f, c in zip(node.fields, node.columns, strict=True) if fold(c) == fold(str(spec.unit_column)))
    domains[unit.id] = domains[unit.id].but(nullable=False)
    private = Private(
        unit=unit.column(), same=frozenset({unit.id}), limits=_limits(spec, node), tables=(spec.name,), unique=None
    )
    return Tracked(node=node, domains=domains, ranges=ranges, private=private, origins=_origins(node, spec, context))


def _origins(node: Scan, spec: TableSpec, context: TrackContext) -> dict[int, Origin]:
    # not an id of the scan's: a subquery that is named twice is scanned twice
    instance = context.ids.new()
    return {f.id: Origin(instance, spec.name, column) for f, column in zip(node.fields, node.columns, strict=True)}


def _ranges(node: Scan, spec: TableSpec) -> dict[int, Range]:
    ranges: dict[int, Range] = {}
    for f, column in zip(node.fields, node.columns, strict=True):
        declared = spec.column(column)
        range_ = None if declared is None else clean_range(declared)
        if range_ is not None:
            ranges[f.id] = range_
    return ranges


def _domain(spec: TableSpec, column: str, context: TrackContext) -> Domain:
    declared = spec.column(column)
    assert declared is not None
    how = "chosen by the data" if declared.bounds_auto else "declared"
    keys, because = declared.keys, f"{how} for {spec.name}.{declared.name}"
    if declared.keys_from is not None:
        keys = tuple(key for key in context.values_of(*_spelled(declared.keys_from, context)) if key is not None)
        because = f"the values of {'.'.join(declared.keys_from)}"
    return Domain(
        type=declared.type,
        interval=declared.interval,
        nullable=declared.nullable,
        keys=keys,
        because=because if keys is not None or declared.interval.is_finite else "",
    )


def _spelled(column: tuple[str, str], context: TrackContext) -> tuple[str, str]:
    """(table, column) as the catalog spells them."""
    spec = context.catalog.table(column[0])
    column_spec = None if spec is None else spec.column(column[1])
    return column if spec is None or column_spec is None else (spec.name, column_spec.name)


def _limits(spec: TableSpec, node: Scan) -> Limits:
    assert spec.caps is not None
    ids = {fold(c): f.id for f, c in zip(node.fields, node.columns, strict=True)}
    by_keys = tuple(
        GroupLimit(
            by=frozenset(ids.get(fold(c), fold(c)) for c in cap.by), groups=cap.groups, rows_in_group=cap.rows_in_group
        )
        for cap in spec.key_caps
    )
    sums: dict[int, tuple[Fraction, Fraction]] = {ids[fold(c)]: bounds for c, bounds in spec.max_sum.items()}
    return Limits(
        rows=spec.caps.rows,
        groups=spec.caps.groups,
        rows_in_group=spec.caps.rows_in_group,
        groups_auto=spec.caps.groups_auto,
        by_keys=by_keys,
        min_units=spec.min_units,
        max_sum=sums,
        likes={ids[fold(c.name)]: c.like for c in spec.columns if c.like is not None and fold(c.name) in ids},
        because=f"declared for {spec.name}",
    )


def _by_row(node: Scan, spec: TableSpec, domains: dict[int, Domain], ranges: Ranges, context: TrackContext) -> Tracked:
    """Each row is its own unit; the number is the same in every scan of a statement and is never shown."""
    row = context.ids.field(ROW, BIGINT)
    scan = Scan(node.table, (*node.fields, row), (*node.columns, ROW))
    domains[row.id] = Domain(type=BIGINT, nullable=False)
    private = Private(
        unit=row.column(),
        same=frozenset({row.id}),
        limits=_limits(spec, node),
        tables=(spec.name,),
        unique=frozenset(),  # the numbering is ours: one row per unit, by construction
    )
    origins = _origins(node, spec, context)
    return Tracked(node=scan, domains=domains, ranges=ranges, private=private, origins=origins)


def _by_path(
    node: Scan, spec: TableSpec, path: UnitPath, domains: dict[int, Domain], ranges: Ranges, context: TrackContext
) -> Tracked:
    """scan ⋈ (SELECT DISTINCT key, unit FROM the next table of the path)."""
    through = context.catalog.table(path.through)
    assert through is not None
    keyed = path_keys(through, tuple(other for _, other in path.on), context)
    assert keyed.private is not None
    ids = {fold(c): f for f, c in zip(node.fields, node.columns, strict=True)}
    on: Expr | None = None
    for (mine, _), key in zip(path.on, keyed.node.fields[: len(path.on)], strict=True):
        equal = functions.call("equal", ids[fold(mine)].column(), key.column())
        on = equal if on is None else functions.call("and", on, equal)
    own_rows = Tracked(
        node=node, domains=domains, ranges=ranges, private=keyed.private
    )  # private by way of the join just below
    unit = keyed.private.unit
    join = Tracked(
        node=Join(node, keyed.node, "inner", on),
        inputs=(own_rows, keyed),
        domains={**domains, **keyed.domains},
        ranges=together(ranges, keyed.ranges),
        private=Private(unit=unit, same=frozenset({unit.id}), limits=_limits(spec, node), tables=(spec.name,)),
    )
    whole = _drop_keys(join, node.fields, context)
    return dataclasses.replace(whole, origins=_origins(node, spec, context), bare=own_rows)


def path_keys(through: TableSpec, columns: tuple[str, ...], context: TrackContext) -> Tracked:
    """SELECT DISTINCT key columns, unit FROM the table: (key…, unit), one row per pair. `unique` keys need no DISTINCT."""
    fields = tuple(context.ids.field(c.name, c.type) for c in through.columns)
    scan = rule(Scan(through.name, fields, tuple(c.name for c in through.columns)), context)
    assert scan.private is not None
    by_name = {fold(c.name): f for c, f in zip(through.columns, fields, strict=True)}
    sources = [by_name[fold(c)] for c in columns]
    keys = [context.ids.field(f.name, f.type) for f in sources]
    unit = context.ids.field("", scan.private.unit.type)
    exprs = (*(f.column() for f in sources), scan.private.unit)
    domains = {k.id: scan.domains[f.id] for k, f in zip(keys, sources, strict=True)}
    domains[unit.id] = Domain(type=unit.type, nullable=False)
    ranges = {k.id: scan.ranges[f.id] for k, f in zip(keys, sources, strict=True) if f.id in scan.ranges}
    private = dataclasses.replace(
        scan.private, unit=unit.column(), same=frozenset({unit.id}), unique=frozenset(k.id for k in keys)
    )
    specs = [through.column(c) for c in columns]
    if any(s is not None and s.unique for s in specs):
        node: Project | Aggregate = Project(scan.node, (*keys, unit), exprs)
        private = dataclasses.replace(private, unique=None)
    else:
        node = Aggregate(scan.node, (*keys, unit), exprs, (), ())
    return Tracked(node=node, inputs=(scan,), domains=domains, ranges=ranges, private=private)


def _drop_keys(join: Tracked, kept_fields: tuple[Field, ...], context: TrackContext) -> Tracked:
    """The table's own columns under their own ids, and the unit."""
    assert join.private is not None
    unit = context.ids.field("", join.private.unit.type)
    fields = (*kept_fields, unit)
    domains = {f.id: join.domains[f.id] for f in kept_fields}
    domains[unit.id] = Domain(type=unit.type, nullable=False)
    private = dataclasses.replace(join.private, unit=unit.column(), same=frozenset({unit.id}))
    return Tracked(
        node=Project(join.node, fields, (*(f.column() for f in kept_fields), join.private.unit)),
        inputs=(join,),
        domains=domains,
        ranges=join.ranges,
        private=private,
    )
