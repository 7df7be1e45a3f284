"""Window calls: f(…) OVER (…), the windows that have a name, and frames."""

from __future__ import annotations

from sqlglot import exp

from dpsql.catalog.model import fold
from dpsql.domain.types import BIGINT, REAL, Type
from dpsql.errors import Refused, Span, SqlError
from dpsql.ir.expr import Expr, Frame, WindowCall
from dpsql.sql.aggregate_nodes import WINDOWS
from dpsql.sql.arguments import given
from dpsql.sql.bind.aggregates import AggregateRead, as_numbers, read_aggregate, result_type
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.sorting import sort_key

TYPES: dict[str, Type] = {
    **dict.fromkeys(("row_number", "rank", "dense_rank", "ntile"), BIGINT),
    **dict.fromkeys(("percent_rank", "cume_dist"), REAL),
}
VALUES_OF = ("lag", "lead", "first_value", "last_value", "nth_value")  # have the type of what they are given
EDGES = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")

Edge = tuple[str, Expr | None]


def bind_window(node: exp.Window, block: Block) -> WindowCall:
    """f(…) OVER (…) or OVER name, with the named window written out."""
    at, inner, ignore_nulls = block.context.at(node), node.this, False
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls) and not isinstance(inner.this, exp.AnyValue):
        ignore_nulls = isinstance(inner, exp.IgnoreNulls)
        inner = inner.this
    read = _read_call(inner, at, block)
    if ignore_nulls and read.name not in VALUES_OF:
        raise SqlError(
            f"IGNORE NULLS has no meaning for {read.name.upper()}",
            code=105,
            at=at,
            fix="Leave it out; LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE have it.",
        )
    args = as_numbers(read.name, tuple(map(block.expr, read.arguments)))
    partition, order, spec = _specification(node, block)
    frame = None if spec is None else _frame(spec, block)
    return WindowCall(
        read.name,
        args,
        _type(read.name, args, at, block),
        tuple(map(block.expr, partition)),
        tuple(sort_key(item, block.expr(item.this)) for item in order),
        frame,
        read.distinct,
        ignore_nulls,
        None if read.where is None else block.expr(read.where),
        at,
    )


def _read_call(node: exp.Expr, at: Span | None, block: Block) -> AggregateRead:
    if type(node) in WINDOWS:
        name, arguments = WINDOWS[type(node)]
        return AggregateRead(name=name, arguments=given(node, arguments), core=node)
    read = read_aggregate(node, block.context)
    if read is None:
        fix = "Use an aggregate, or ROW_NUMBER, RANK, LAG …"
        raise Refused("this is not a window function", code=107, at=at, fix=fix)
    return read


def _type(name: str, args: tuple[Expr, ...], at: Span | None, block: Block) -> Type:
    if name in VALUES_OF and args:
        return args[0].type
    return TYPES[name] if name in TYPES else result_type(name, args, block.context, at)


def _specification(
    node: exp.Window, block: Block, within: tuple[str, ...] = ()
) -> tuple[list[exp.Expr], list[exp.Expr], exp.WindowSpec | None]:
    """within: the named windows it stands in."""
    partition = list(node.args.get("partition_by") or ())
    order = list(node.args["order"].expressions) if node.args.get("order") is not None else []
    spec, alias = node.args.get("spec"), node.args.get("alias")
    if alias is None:
        return partition, order, spec
    name = fold(alias.name)
    if name not in block.windows or name in within:
        what = (
            f'the window "{alias.name}" is defined by itself'
            if name in within
            else f'there is no window "{alias.name}"'
        )
        fix = "Define it: WINDOW w AS (PARTITION BY … ORDER BY …)."
        raise SqlError(what, code=102, at=block.context.at(alias), fix=fix)
    base_partition, base_order, base_spec = _specification(block.windows[name], block, (*within, name))
    return base_partition or partition, base_order or order, base_spec if spec is None else spec


def _frame(spec: exp.WindowSpec, block: Block) -> Frame:
    def edge(name: str) -> Edge:
        value, side = spec.args.get(name), spec.args.get(f"{name}_side")
        if isinstance(value, exp.Expr):
            return str(side).upper(), block.expr(value)
        return (f"{value} {side}" if side else str(value or "CURRENT ROW")).upper(), None

    start, end = edge("start"), edge("end")
    _check_edges(start, end, block.context.at(spec))
    exclude = spec.args.get("exclude")
    return Frame(
        str(spec.args.get("kind") or "ROWS").upper(),
        start,
        end,
        None if exclude is None else str(exclude.name if isinstance(exclude, exp.Expr) else exclude).upper(),
    )


def _check_edges(start: Edge, end: Edge, at: Span | None) -> None:
    """The parser takes any words for the ends of a frame; SQL has five, and the end does not come before the start."""
    known = start[0] in EDGES and end[0] in EDGES
    if known and EDGES.index(start[0]) <= EDGES.index(end[0]) and start[0] != EDGES[-1] and end[0] != EDGES[0]:
        return
    raise SqlError(
        f"this is not a valid frame: {start[0]} to {end[0]}",
        code=105,
        at=at,
        fix="Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, or ROWS UNBOUNDED PRECEDING.",
    )
