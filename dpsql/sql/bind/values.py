"""VALUES: rows of constants, in their order."""

from __future__ import annotations

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import Type, common
from dpsql.errors import SqlError
from dpsql.ir.nodes import Field, Node, OneRow, Project, SetOp
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.context import Context, Env
from dpsql.sql.bind.scope import Scope


def bind_values(values: exp.Values, context: Context, env: Env) -> Node:
    """The rows of VALUES in their order, each column with the type its cells have in common."""
    block = Block(context, env, Scope(()))
    rows = [[block.expr(cell) for cell in row.expressions] for row in values.expressions]
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise SqlError(
            "the rows of VALUES differ in length",
            code=105,
            at=context.at(values),
            fix="Give every row the same number of values.",
        )
    types: list[Type] = []
    for position in range(width):
        type_ = rows[0][position].type
        for row in rows[1:]:
            joint = common(type_, row[position].type)
            if joint is None:
                raise SqlError(
                    f"column {position + 1} of VALUES mixes {type_} and {row[position].type}",
                    code=105,
                    at=context.at(values),
                    fix="CAST one of them.",
                )
            type_ = joint
        types.append(type_)
    lines: list[Node] = []
    for row in rows:
        cells = tuple(
            cell if cell.type == type_ else functions.call("cast", cell, to=type_)
            for cell, type_ in zip(row, types, strict=True)
        )
        lines.append(Project(OneRow(), _numbered(types, context), cells))
    return _stacked(lines, types, context)


def _numbered(types: list[Type], context: Context) -> tuple[Field, ...]:
    """DuckDB's names for the columns of VALUES."""
    return tuple(context.ids.field(f"col{i}", t) for i, t in enumerate(types))


def _stacked(lines: list[Node], types: list[Type], context: Context) -> Node:
    """UNION ALL in order, as a balanced tree: its depth is the logarithm of the number of rows."""
    if len(lines) == 1:
        return lines[0]
    half = len(lines) // 2
    left, right = (_stacked(part, types, context) for part in (lines[:half], lines[half:]))
    return SetOp("union", True, left, right, _numbered(types, context))
