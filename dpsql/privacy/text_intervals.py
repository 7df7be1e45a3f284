"""Intervals under a text that is passed on: it reads the ends beside the numbers, as columns of its parts."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Node, PublicText
from dpsql.plan.stages import NoisyStage
from dpsql.privacy.intervals import Widened, widened, without_intervals


def with_intervals_of_parts(
    stages: tuple[NoisyStage, ...], final: PublicText, confidence: Fraction, ids: Ids
) -> Widened:
    parts: list[Node] = []
    ends: frozenset[int] = frozenset()
    for part in final.parts:
        wide = widened(stages, part, confidence, ids)
        stages, ends = (stages, ends) if wide is None else (wide.stages, ends | wide.ends)
        parts.append(part if wide is None else wide.final)
    if not ends:
        raise without_intervals()
    return Widened(stages=stages, final=dataclasses.replace(final, parts=tuple(parts)), shown=(), ends=ends)
