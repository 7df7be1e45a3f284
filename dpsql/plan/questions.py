"""What a release asks, whatever noise it has: so that an earlier answer to the same question is found again, at any ε.

Equal are, within one dataset and its metadata, questions about the same rows (below what each release projects for
itself), by the same keys, with the same limits as they were asked for. Names do not count, nor does what else a release
measures.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.ir.expr import Column, Expr, rewrite
from dpsql.ir.nodes import Loaded, Node, Noisy, Project, UserTable, transform, walk
from dpsql.plan.fingerprint import Canonical
from dpsql.plan.measurements import Measurement, One, RowMoments, RowTotal
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import Stage
from dpsql.plan.what_is_read import entering, rewritten


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """of: the stage's rows, keys and limits. measured: each measurement's own, by its position; rows: how many rows enter
    each; every: how many there are at all."""

    of: str
    measured: Mapping[int, str]
    rows: Mapping[int, str]
    every: str


def questions(stage: Stage) -> Questions | None:
    """None where the rows depend on released numbers, or on a table of the user's own."""
    node = stage.source.node
    if not isinstance(node, Project):
        return None
    if any(isinstance(leaf, Noisy | UserTable) for load in stage.loads for leaf in walk(load)):
        return None
    below = {f.id: expr for f, expr in zip(node.fields, node.exprs, strict=True)}

    def inner(expr: Expr) -> Expr:
        return rewrite(expr, lambda part: below.get(part.id) if isinstance(part, Column) else None)

    canonical = Canonical(read=frozenset())
    keys = tuple((inner(key.expr), key.values) for key in stage.keys)
    public = tuple(map(_whole, stage.loads)), transform(node.input, _bare)
    group = canonical.of((*public, node.exprs[0], keys, stage.limit, stage.bounds, stage.min_units))
    of = _digest(group)

    def digest(value: object) -> str:
        copy = dataclasses.replace(canonical, numbers=dict(canonical.numbers))
        return _digest([of, copy.of(value)])

    ones = {j: rewritten(one, inner) for j, one in enumerate(stage.measurements)}
    return Questions(
        of=of,
        measured={j: digest(one) for j, one in ones.items()},
        rows={j: digest(("rows", entering(one), slice_of(one))) for j, one in ones.items()},
        every=digest(("rows", (frozenset(), None), None)),
    )


def _whole(load: Node) -> Node:
    """A public relation with all its columns: which of them the vault is handed depends on what is measured."""
    plain = isinstance(load, Project) and load.exprs == tuple(f.column() for f in load.fields)
    return load.input if plain and isinstance(load, Project) else load


def _bare(node: Node) -> Node | None:
    """Its columns are known by the relation it is loaded from."""
    return dataclasses.replace(node, fields=()) if isinstance(node, Loaded) else None


def counts_rows(one: Measurement) -> bool:
    """Whether its first answer is how many rows enter."""
    return isinstance(one, RowMoments) or (isinstance(one, RowTotal) and isinstance(one.piece, One))


def _digest(form: object) -> str:
    return hashlib.sha256(json.dumps(form, ensure_ascii=True).encode("ascii")).hexdigest()[:32]
