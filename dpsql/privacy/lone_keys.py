"""Group keys of which no value can be released, by the metadata alone: a value that only one unit has is withheld.

Not part of the guarantee: it refuses what would be charged and empty. It believes `unique: true`, as the owner declared it.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.domain.interval import EVERYTHING
from dpsql.errors import Refused
from dpsql.ir.expr import Column
from dpsql.plan.cut import UnboundedStage
from dpsql.plan.stages import Key


def refuse_lone_keys(keys: Iterable[Key], draft: UnboundedStage, catalog: Catalog) -> None:
    """A private key each of whose values (but NULL) is of one unit: the groups of all keys together are finer still."""
    for key in keys:
        origin = draft.origins.get(key.expr.id) if key.values is None and isinstance(key.expr, Column) else None
        spec = None if origin is None else catalog.table(origin.table)
        if origin is not None and spec is not None and _is_of_one_unit(origin.column, spec, catalog):
            raise _refused(key, str(origin), spec, catalog)


def _is_of_one_unit(column: str, spec: TableSpec, catalog: Catalog) -> bool:
    """Lemma: the rows of this table that have one value of the column are one unit's. Proof: the value is in one row, which
    has one unit; or the table's path equates the column with one whose value is in one row of the table it leads to."""
    if spec.public:
        return False
    if _is_unique(column, spec) and _rows_have_one_unit(spec, catalog):
        return True
    path = spec.unit_path
    target = None if path is None else catalog.table(path.through)
    if path is None or target is None or not _rows_have_one_unit(target, catalog):
        return False
    return any(fold(mine) == fold(column) and _is_unique(theirs, target) for mine, theirs in path.on)


def _rows_have_one_unit(spec: TableSpec, catalog: Catalog) -> bool:
    if spec.unit_path is None:
        return True
    target = catalog.table(spec.unit_path.through)
    led = target is not None and any(_is_unique(theirs, target) for _, theirs in spec.unit_path.on)
    return target is not None and led and _rows_have_one_unit(target, catalog)


def _is_unique(column: str, spec: TableSpec) -> bool:
    """Bounds may make one value of several."""
    column_spec = spec.column(column)
    return column_spec is not None and column_spec.unique and column_spec.interval == EVERYTHING


def _refused(key: Key, name: str, spec: TableSpec, catalog: Catalog) -> Refused:
    units = spec
    while units.unit_path is not None and (target := catalog.table(units.unit_path.through)) is not None:
        units = target
    unit = catalog.unit
    fix = "Group by something coarser."
    if units.unit_column is not None:
        fix = (
            f"Group by something coarser. For statistics of such groups, also group by {units.name}.{units.unit_column} in "
            "a subquery: "
            f"SELECT AVG(LEAST(n, 9)) FROM (SELECT COUNT(*) AS n FROM … GROUP BY {units.unit_column}, {key.field.name})."
        )
    return Refused(
        f'no group of "{key.field.name}" can be released',
        code=139,
        at=key.at,
        why=f"Each value of {name} belongs to only one {unit} (it is declared unique, or leads to a column that "
        "is). Groups of "
        f"one {unit} are withheld, so the answer would be charged and empty.",
        fix=fix,
    )
