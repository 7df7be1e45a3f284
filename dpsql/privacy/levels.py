"""Levels of GROUPING SETS, ROLLUP and CUBE: what share of ε each gets, and how far off each is once they agree.

Every level says something about every other (release/consistency.py), so the best division is not the equal one: leaves
alone answer everything by their sums where they are few. A level may get nothing; it is then the sum of its leaves.

Shares are a function of public numbers: how many groups each level has. They move ε between the levels' measurements of one
thing and leave its sum as it was, so what is charged does not depend on them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.ir.expr import Column, Expr
from dpsql.plan.balls import FULL, Norm
from dpsql.plan.measurements import Measurement, RowMoments, RowTotal
from dpsql.plan.stages import After, Draw, Form, Noised, NoisyStage, Share, Stage
from dpsql.plan.what_is_read import rewritten
from dpsql.privacy.level_shares import ErrorGoal, Kept, Levels, shares, variances
from dpsql.privacy.parts import Part
from dpsql.privacy.sensitivity import reaches


@dataclass(frozen=True, slots=True)
class Family:
    """The levels with public keys, at these positions among the stages; the leaves (one has all the others' keys) among
    them. kept: of each level which of the leaves' keys it has; shape: how many values each of those has."""

    at: tuple[int, ...]
    leaves: int
    kept: Kept
    shape: tuple[int, ...]


def families(stages: Sequence[Stage]) -> list[Family]:
    by_family: dict[int, list[int]] = {}
    for i, stage in enumerate(stages):
        if stage.level is not None and stage.public_keys and not stage.is_empty:
            by_family.setdefault(stage.level.family, []).append(i)
    made = (_family(stages, at) for at in by_family.values())
    return [one for one in made if one is not None]


def _family(stages: Sequence[Stage], at: Sequence[int]) -> Family | None:
    keys = {i: _keys(stages[i]) for i in at}
    leaves = next((i for i in at if all(set(keys[j]) <= set(keys[i]) for j in at)), None)
    if leaves is None or len(at) < 2:
        return None
    kept = tuple(frozenset(keys[leaves].index(key) for key in keys[i]) for i in at)
    return Family(tuple(at), leaves, kept, tuple(len(key.values or ()) for key in stages[leaves].keys))


def _keys(stage: Stage) -> tuple[int, ...]:
    assert stage.level is not None
    return stage.level.keys


def comparable(stages: Sequence[Stage], family: Family, j: int) -> bool:
    """Whether all levels measure the same pieces of the same rows there. Of rows a parent is the sum of its children."""
    what = [
        what_of(stages[i].measurements[j], stages[i]) if j < len(stages[i].measurements) else None for i in family.at
    ]
    return what[0] is not None and all(each == what[0] for each in what)


def what_of(one: Measurement, stage: Stage) -> object:
    """What is measured, in terms of the relation below the stages' own columns; None of what does not add up."""
    exprs = {f.id: expr for f, expr in zip(stage.source.node.fields, stage.source.node.exprs, strict=True)}

    def below(expr: Expr) -> Expr:
        return exprs.get(expr.id, expr) if isinstance(expr, Column) else expr

    match rewritten(one, below):
        case RowTotal() as total:
            return total.piece, total.needs, total.where
        case RowMoments() as moments:
            return moments.axis, moments.degree, moments.needs, moments.where
        case _:
            return None


# --- how far off levels are ---------------------------------------------------------------------------------------------


def with_errors(stages: Sequence[NoisyStage]) -> tuple[NoisyStage, ...]:
    """The stages, each measurement that is made consistent with what its noise is afterwards."""
    renewed = list(stages)
    for family in families(stages):
        leaves = stages[family.leaves]
        for j, noised in enumerate(leaves.noised):
            if not is_consistent(stages, family, j):
                continue
            draws = [stages[i].noised[j].draw for i in family.at]
            weights = [0.0 if draw.mechanism == "summed" else 1 / _size(draw) for draw in draws]
            weight = weights[family.at.index(family.leaves)]
            for i, variance in zip(family.at, variances(family.kept, family.shape, weights), strict=True):
                ratio = Fraction(math.ceil(variance * weight * 2**24), 2**24)
                each = list(renewed[i].noised)
                each[j] = dataclasses.replace(_on_grid(each[j], noised), after=After(noised.draws, ratio))
                renewed[i] = dataclasses.replace(renewed[i], noised=tuple(each))
    return tuple(renewed)


def _on_grid(one: Noised, leaves: Noised) -> Noised:
    """What nothing is drawn of has its leaves' noise grid, on which they are added up."""
    if one.draw.mechanism != "summed":
        return one
    draws = tuple(dataclasses.replace(draw, shift=of.shift) for draw, of in zip(one.draws, leaves.draws, strict=True))
    return dataclasses.replace(one, draws=draws)


def once_consistent(one: Noised) -> Noised:
    """A measurement with as much noise of its own as is left of it once levels agree: for estimates of errors."""
    if one.after is None:
        return one
    factor = math.sqrt(one.after.ratio)
    draws = tuple(dataclasses.replace(draw, scale=math.ceil(draw.scale * factor)) for draw in one.after.draws)
    return dataclasses.replace(one, draws=draws)


def is_consistent(stages: Sequence[NoisyStage], family: Family, j: int) -> bool:
    """Whether the levels' answers there are made consistent: the leaves have noise, the others too or are their sums."""
    if not comparable(stages, family, j):
        return False
    leaves = stages[family.leaves].noised[j]
    others = [stages[i].noised[j] for i in family.at]
    fitting = {"laplace": ("laplace", "summed"), "gaussian": ("gaussian", "summed")}.get(leaves.draw.mechanism, ())
    return all(one.draw.mechanism in fitting and one.form == leaves.form for one in others)


def _size(draw: Draw) -> float:
    """The variance of its noise, in pieces, but for a factor that all draws of one mechanism have."""
    return float(draw.steps * draw.grid / FULL) ** 2


# --- shares -------------------------------------------------------------------------------------------------------------


def divided(
    stages: Sequence[Stage], weights: Mapping[Part, Fraction], power: OneOf[1, 2], goal: ErrorGoal
) -> dict[Part, Fraction]:
    """The parts' shares of ε (or of μ²), those of levels that measure one thing divided among them anew; some get nothing.

    Lemma: all shares together are what they were. Proof: those of one thing add up to `whole`, and shares of a family to 1.
    """
    shifted = dict(weights)
    for family in families(stages):
        if any(choice.as_in is None for i in family.at if i != family.leaves for choice in stages[i].choices):
            continue  # a limit is chosen by the noise of its own stage, which should be that of most cells
        for j, one in enumerate(stages[family.leaves].measurements):
            parts = [Part(i, j) for i in family.at]
            if not all(part in weights for part in parts) or not comparable(stages, family, j):
                continue
            form: Form = "ends" if power == 2 and isinstance(one, RowMoments) else "centred"
            norm: Norm = 1 if power == 2 else 2
            sizes = tuple(reaches(stages[i].measurements[j], form, stages[i].limit, norm)[0] ** 2 for i in family.at)
            whole = sum((weights[part] for part in parts), Fraction(0))
            best = shares(Levels(family.kept, family.shape, sizes, power), goal)
            for part, share in zip(parts, best, strict=True):
                shifted[part] = whole * share
    return shifted


def level_shares(
    stages: Sequence[Stage], before: Mapping[Part, Fraction], after: Mapping[Part, Fraction]
) -> tuple[Share, ...]:
    """For EXPLAIN: every share, if levels of grouping sets have other ones than an equal division's."""
    if before == after:
        return ()
    shares: list[Share] = []
    for part, share in after.items():
        stage = stages[part.stage]
        keys = ", ".join(key.field.name for key in stage.keys)
        of = () if stage.level is None else (f"by {keys}" if keys else "of all rows",)
        shares.append(Share(name=part.name(stages), columns=of, part=share))
    return tuple(shares)
