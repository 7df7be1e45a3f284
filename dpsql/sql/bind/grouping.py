"""GROUP BY: columns, aliases, ordinals, expressions, ALL, and grouping sets."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from sqlglot import exp

from dpsql.errors import SqlError
from dpsql.ir.expr import AggregateCall, Expr, walk
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.sorting import ordinal

MAX_SETS = 64


@dataclass(frozen=True, slots=True)
class Grouping:
    """keys: the distinct key expressions. sets: grouping sets as positions in keys, None for one plain set."""

    keys: tuple[Expr, ...]
    sets: tuple[tuple[int, ...], ...] | None


def read_grouping(select: exp.Select, items: list[Expr], block: Block) -> Grouping | None:
    group = select.args.get("group")
    if group is None:
        return None
    if group.args.get("all"):
        keys = [i for i in items if not any(isinstance(p, AggregateCall) for p in walk(i))]
        return Grouping(tuple(dict.fromkeys(keys)), None)
    keys_seen: dict[Expr, int] = {}

    def position(node: exp.Expr) -> int:
        while isinstance(node, exp.Paren):
            node = node.this
        at = ordinal(node, len(items), "GROUP BY", block.context)
        expr = items[at] if at is not None else block.expr(node)
        return keys_seen.setdefault(expr, len(keys_seen))

    plain: list[int] = []
    factors: list[list[tuple[int, ...]]] = []
    for element in [*group.expressions, *_clauses(group)]:
        match element:
            case exp.Rollup():
                parts = [_members(e, position) for e in element.expressions]
                factors.append([tuple(itertools.chain(*parts[:n])) for n in range(len(parts), -1, -1)])
            case exp.Cube():
                factors.append(_cube(element, position, block))
            case exp.GroupingSets():
                factors.append([s for e in element.expressions for s in _sets(e, position, block)])
            case exp.Tuple():
                plain += [position(e) for e in element.expressions]
            case _:
                plain.append(position(element))
    if not factors:
        return Grouping(tuple(keys_seen), None)
    _check_count(math.prod(len(factor) for factor in factors), group, block)
    sets = [tuple(dict.fromkeys((*plain, *itertools.chain(*combo)))) for combo in itertools.product(*factors)]
    return Grouping(tuple(keys_seen), tuple(sets))


def _clauses(group: exp.Group) -> list[exp.Expr]:
    return [
        e for name in ("grouping_sets", "rollup", "cube") for e in group.args.get(name) or () if isinstance(e, exp.Expr)
    ]


def _members(node: exp.Expr, position: object) -> tuple[int, ...]:
    members = node.expressions if isinstance(node, exp.Tuple) else [node]
    return tuple(position(e) for e in members)  # type: ignore[operator]  # the closure of read_grouping


def _cube(cube: exp.Cube, position: object, block: Block) -> list[tuple[int, ...]]:
    parts = [_members(e, position) for e in cube.expressions]
    _check_count(2 ** len(parts), cube, block)
    return [tuple(itertools.chain(*c)) for n in range(len(parts), -1, -1) for c in itertools.combinations(parts, n)]


def _check_count(sets: int, node: exp.Expr, block: Block) -> None:
    """Before they are written out: a CUBE of n columns has 2^n."""
    if sets > MAX_SETS:
        raise SqlError(
            f"{sets:,} grouping sets are too many" if sets < 10**9 else "there are too many grouping sets",
            code=111,
            at=block.context.at(node),
            fix=f"Use at most {MAX_SETS}: each takes its share of ε.",
        )


def _sets(node: exp.Expr, position: object, block: Block) -> list[tuple[int, ...]]:
    """One element of GROUPING SETS; a ROLLUP or CUBE inside stands for all of its sets."""
    match node:
        case exp.Rollup():
            parts = [_members(e, position) for e in node.expressions]
            return [tuple(itertools.chain(*parts[:n])) for n in range(len(parts), -1, -1)]
        case exp.Cube():
            return _cube(node, position, block)
        case _:
            return [_members(node, position)]
