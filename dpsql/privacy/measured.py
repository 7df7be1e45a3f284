"""What is behind a stage's columns that carry noise, and how wide the intervals of their numbers are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from dpsql.domain.types import Kind
from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.answers import Answer, Term, answers
from dpsql.plan.stages import Noised, NoisyStage
from dpsql.privacy.noise_grid import half_width
from dpsql.privacy.running import width_of_total


@dataclass(frozen=True, slots=True)
class Measured:
    """An answer with additive noise. slack: by how much more it may be off, in the user's units, where levels were made
    consistent. along: the total that is measured for its cumulative sums. ratio: of its variance to that of its terms'
    draws (plan.stages.After)."""

    answer: Answer
    slack: int = 0
    along: Noised | None = None
    ratio: Fraction = Fraction(1)

    def noise(self, confidence: Fraction) -> Fraction:
        """Half its interval, in the user's units."""
        if self.along is not None:
            return width_of_total(self.along, confidence) * self.answer.terms[0].factor
        return noise_width(self.answer, confidence, self.ratio)

    def width(self, confidence: Fraction, id_: int | None = None) -> Fraction:
        """The same; half a unit more where the column id_ is rounded to whole units."""
        rounded = self.answer.whole is not None and id_ in (None, self.answer.whole.id)
        return self.noise(confidence) + self.slack + (rounding(self.answer) if rounded else Fraction(0))


def measured_columns(stage: NoisyStage) -> dict[int, Measured]:
    """Of each of the stage's columns that carries additive noise what is behind it."""
    measured: dict[int, Measured] = {}
    slacks = {one.count.id: one.slack for one in stage.nonnegative}
    for noised in stage.noised:
        if noised.draw.mechanism not in ("laplace", "gaussian", "none", "summed"):
            continue
        drawn = noised if noised.after is None else dataclasses.replace(noised, draws=noised.after.draws)
        ratio = Fraction(1) if noised.after is None else noised.after.ratio
        for answer in answers(drawn):
            along = None if noised.running is None else noised
            measured[answer.real.id] = Measured(answer, along=along, ratio=ratio)
            if answer.whole is not None:
                slack = slacks.get(answer.whole.id, 0)
                measured[answer.whole.id] = Measured(answer, slack, along, ratio)
    return measured


def noise_width(answer: Answer, confidence: Fraction, ratio: Fraction = Fraction(1)) -> Fraction:
    """r with P[|noise| ≥ r] ≤ 1 − confidence: of one total exactly; of several, of Laplace noise by the tail of their sum,
    of Gaussian noise by their joint σ.

    ratio ≠ 1: of a level that was made consistent, whose noise is a mixture of many with that ratio's variance. A
    mixture of Gaussians is one; a mixture of Laplace variables has tails between those of one and of a Gaussian of its
    variance (tests/statistics/test_levels.py), so the wider of both.
    """
    width = width_of(answer.terms, confidence)
    if ratio == 1 or width == 0:
        return width
    parts = [float(term.factor * term.draw.steps) for term in answer.terms]
    deviation = math.hypot(*parts) * (math.sqrt(2) if answer.terms[0].draw.mechanism == "laplace" else 1)
    normal = Fraction(deviation * NormalDist().inv_cdf((1 + float(confidence)) / 2))
    return max(width, normal) * Fraction(math.sqrt(ratio))


def width_of(terms: Sequence[Term], confidence: Fraction) -> Fraction:
    """The same of Σ factor·noise."""
    used = [(abs(term.factor), term.draw) for term in terms if term.factor and term.draw.scale]
    if not used:
        return Fraction(0)
    if len(used) == 1:
        ((factor, draw),) = used
        return half_width(draw, float(confidence)) * factor
    unit = max(factor for factor, _ in used)
    scales = [float(factor / unit * draw.steps) for factor, draw in used]
    if used[0][1].mechanism == "laplace":
        return Fraction(laplace.half_width_of_sum(scales, float(confidence))) * unit
    return Fraction(gaussian.half_width(math.ceil(math.hypot(*scales)), float(confidence))) * unit


def rounding(answer: Answer) -> Fraction:
    assert answer.whole is not None
    type_ = answer.whole.type
    unit = {Kind.INTEGER: Fraction(1), Kind.DECIMAL: Fraction(1, 10**type_.scale)}.get(type_.kind, Fraction(0))
    if unit == 0 or all(term.draw.mechanism == "none" for term in answer.terms):
        return Fraction(0)
    return Fraction(0) if all(term.factor % unit == 0 for term in answer.terms) else unit / 2
