"""Of public rows the vault is handed only the columns that a release reads."""

from __future__ import annotations

import dataclasses

from dpsql.ir.expr import columns_of
from dpsql.ir.nodes import Field, Loaded, Node, Project, transform, walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.stages import FanOut


def with_read_columns(
    relation: Project, loads: tuple[Node, ...], fan_outs: tuple[FanOut, ...]
) -> tuple[Project, tuple[Node, ...]]:
    """The relation and its public inputs, narrowed to what is read, before it is certified; one column stays if none
    is."""
    nodes = list(walk(relation))
    read = {id_ for node in nodes for expr in exprs_of(node) for id_ in columns_of(expr)}
    read |= {id_ for fan_out in fan_outs for key in fan_out.keys for id_ in columns_of(key)}

    def kept(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(f for f in fields if f.id in read) or fields[:1]

    def narrowed(node: Node) -> Node | None:
        return dataclasses.replace(node, fields=kept(node.fields)) if isinstance(node, Loaded) else None

    node = transform(relation, narrowed)
    assert isinstance(node, Project)
    return node, tuple(_only(load, kept(load.fields)) for load in loads)


def _only(load: Node, fields: tuple[Field, ...]) -> Node:
    if fields == load.fields:
        return load
    return Project(load, fields, tuple(f.column() for f in fields))
