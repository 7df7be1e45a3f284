"""Of public rows the vault is handed only the columns that a release reads."""

from __future__ import annotations

import dataclasses

from dpsql.ir.expr import columns_of
from dpsql.ir.nodes import Field, Loaded, Node, Project, transform, walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.proof import Source
from dpsql.plan.stages import FanOut


def with_read_columns(
    source: Source, loads: tuple[Node, ...], fan_outs: tuple[FanOut, ...]
) -> tuple[Source, tuple[Node, ...]]:
    """The certified relation and its public inputs, narrowed to what is read; one column stays where none is.

    The proof holds for the narrower relation: no rule needs a public column that no expression reads.
    """
    nodes = list(walk(source.node))
    read = {id_ for node in nodes for expr in exprs_of(node) for id_ in columns_of(expr)}
    read |= {id_ for fan_out in fan_outs for key in fan_out.keys for id_ in columns_of(key)}

    def kept(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(f for f in fields if f.id in read) or fields[:1]

    def narrowed(node: Node) -> Node | None:
        return dataclasses.replace(node, fields=kept(node.fields)) if isinstance(node, Loaded) else None

    node = transform(source.node, narrowed)
    assert isinstance(node, Project)
    return dataclasses.replace(source, node=node), tuple(_only(load, kept(load.fields)) for load in loads)


def _only(load: Node, fields: tuple[Field, ...]) -> Node:
    if fields == load.fields:
        return load
    return Project(load, fields, tuple(f.column() for f in fields))
