"""OPTIONS(split = …): each part's share of ε, by the columns of the outermost SELECT that are made of it.

A column's weight is divided over what it is made of (measurements, the selection of private keys) as an equal split would,
and what several columns are made of has the sum. A column that is not named has weight 1, over what no named one is made
of; what no column is made of (HAVING, ORDER BY, a subquery in WHERE) has weight 1, too. Without names the weights are for
the columns that take a share, in the SELECT's order.

It decides how accurate answers are, never what they cost: the shares add up to 1 by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from dpsql.catalog.model import fold
from dpsql.errors import Refused
from dpsql.ir.expr import Expr, columns_of
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Loaded,
    Node,
    Noisy,
    OneRow,
    Project,
    PublicText,
    Scan,
    SemiJoin,
    SetOp,
    Sort,
    UserTable,
    Window,
)
from dpsql.plan.measurements import answers, shares
from dpsql.plan.slices import first_of
from dpsql.plan.stages import Share, Stage
from dpsql.privacy.parts import Part
from dpsql.sql.statement import Weights

Made = frozenset[Part]
NOTHING: Made = frozenset()


def split(
    stages: tuple[Stage, ...], final: Node, drawn: Iterable[Part], given: Weights
) -> tuple[dict[Part, Fraction], tuple[Share, ...]]:
    """Each part's share of ε, and the same for EXPLAIN."""
    parts = list(drawn)
    made = _Lineage(stages, parts).of(final)
    columns = [(f.name, made[f.id]) for f in final.fields]
    part_shares = {part: Fraction(_shares(stages, part)) for part in parts}
    weights = dict.fromkeys(parts, Fraction(0))
    named: dict[Part, list[str]] = {part: [] for part in parts}
    asked = list(_asked(given, columns))
    said, claimed = {name for name, _, _ in asked}, frozenset[Part]().union(*(of for _, of, _ in asked))
    others = ((name, of - claimed, Fraction(1)) for name, of in columns if name not in said)
    for name, of, weight in (*asked, *others):
        whole = sum((part_shares[part] for part in of), Fraction(0))
        for part in of:
            weights[part] += weight * part_shares[part] / whole
            named[part].append(name)
    weights = {part: weights[part] if named[part] else Fraction(1) for part in parts}
    total = sum(weights.values(), Fraction(0))
    shares = {part: weight / total for part, weight in weights.items()}
    return shares, tuple(Share(name=part.name(stages), columns=tuple(named[part]), part=shares[part]) for part in parts)


def lineage(stages: Sequence[Stage], parts: Iterable[Part], node: Node) -> Mapping[int, Made]:
    """Of which of these parts each column of a relation over releases is made."""
    return _Lineage(tuple(stages), parts).of(node)


def equal(stages: tuple[Stage, ...], drawn: Iterable[Part]) -> dict[Part, Fraction]:
    """One share each, or one for each choice that is made after the other."""
    part_shares = {part: _shares(stages, part) for part in drawn}
    return {part: Fraction(share, sum(part_shares.values())) for part, share in part_shares.items()}


def _shares(stages: tuple[Stage, ...], part: Part) -> int:
    one = part.measured(stages)
    return 1 if one is None else shares(one)


def _asked(given: Weights, columns: list[tuple[str, Made]]) -> Iterator[tuple[str, Made, Fraction]]:
    """(column, what it is made of, its weight)."""
    taking = [(name, made) for name, made in columns if made]
    weights = [item for item in given if isinstance(item, Fraction)]
    if weights:
        if len(weights) != len(taking):
            raise _refused(f"split has {len(weights)} weights for {len(taking)} columns", taking)
        yield from ((name, made, weight) for (name, made), weight in zip(taking, weights, strict=True))
        return
    often = Counter(fold(name) for name, _ in columns)
    by_name = {fold(name): (name, made) for name, made in columns}
    for item in given:
        assert isinstance(item, tuple)
        asked, weight = item
        if often[fold(asked)] != 1:
            what = "two columns are" if often[fold(asked)] else "no column of the SELECT is"
            raise _refused(f'split: {what} called "{asked}"', taking)
        name, made = by_name[fold(asked)]
        if not made:
            raise _refused(f'split: column "{name}" takes no share of ε', taking)
        yield name, made, weight


def _refused(what: str, taking: list[tuple[str, Made]]) -> Refused:
    names = ", ".join(name for name, _ in taking) or "none"
    return Refused(
        what,
        code=119,
        why=f"The columns that take a share are, in order: {names}.",
        fix="Name columns of the outermost SELECT: split = (n => 2, total => 1); EXPLAIN shows the shares.",
    )


class _Lineage:
    """Of what the columns of a relation over releases are made."""

    def __init__(self, stages: tuple[Stage, ...], drawn: Iterable[Part]) -> None:
        self._stages = stages
        self._drawn = {(part.stage, part.position): part for part in drawn}

    def of(self, node: Node) -> dict[int, Made]:
        match node:
            case Noisy():
                return self._released(self._stages[node.stage])
            case Scan() | UserTable() | Loaded() | OneRow():
                return {f.id: NOTHING for f in node.fields}
            case Project():
                below = self.of(node.input)
                return {f.id: _made(e, below) for f, e in zip(node.fields, node.exprs, strict=True)}
            case Filter() | Sort() | Limit():
                return self.of(node.input)
            case Join():
                return self.of(node.left) | self.of(node.right)
            case SemiJoin():
                marked = (
                    {}
                    if node.mark is None
                    else {node.mark.id: _made(node.on, self.of(node.left) | self.of(node.right))}
                )
                return self.of(node.left) | marked
            case PublicText():
                return {id_: made for part in node.parts for id_, made in self.of(part).items()}
            case Aggregate():
                below = self.of(node.input)
                return {f.id: _made(e, below) for f, e in zip(node.fields, (*node.keys, *node.calls), strict=True)}
            case Window():
                below = self.of(node.input)
                return below | {f.id: _made(e, below) for f, e in zip(node.call_fields, node.calls, strict=True)}
            case SetOp():
                sides = [(side.fields, self.of(side)) for side in (node.left, node.right)]
                return {
                    f.id: frozenset().union(*(made[fields[i].id] for fields, made in sides))
                    for i, f in enumerate(node.fields)
                }
            case _:
                assert_never(node)

    def _released(self, stage: Stage) -> dict[int, Made]:
        """A private key is made of the selection, an answer of its measurement, and of neither what takes no noise."""
        known = {key.field.id: self._part(stage, None) for key in stage.keys if key.values is None}
        for one in stage.measurements:
            vector = stage.measurements.index(first_of(one, stage.measurements))
            known |= {f.id: self._part(stage, vector) for f in answers(one)}
        for level in stage.steps:
            known |= {f.id: _made(expr, known) for f, expr in level}
        return {f.id: _made(expr, known) for f, expr in stage.outputs}

    def _part(self, stage: Stage, position: int | None) -> Made:
        part = self._drawn.get((stage.number, position))
        return NOTHING if part is None else frozenset({part})


def _made(expr: Expr, below: Mapping[int, Made]) -> Made:
    return frozenset().union(*(below.get(id_, NOTHING) for id_ in columns_of(expr)))
