"""Released numbers as linear combinations of noisy totals: printed by render/finish.py, and what intervals are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.ir.nodes import Field
from dpsql.plan.balls import FULL
from dpsql.plan.measurements import (
    Choice,
    DistinctCount,
    Histogram,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    step_of,
)
from dpsql.plan.stages import Draw, Noised


@dataclass(frozen=True, slots=True)
class Term:
    """factor times one of the measurement's totals, by its position, and that total's noise."""

    total: int
    factor: Fraction
    draw: Draw


@dataclass(frozen=True, slots=True)
class Answer:
    """real = Σ of its terms, in the user's units; whole: the same rounded to its type's own unit, if there is one."""

    real: Field
    terms: tuple[Term, ...]
    whole: Field | None = None


def answers(noised: Noised) -> tuple[Answer, ...]:
    """What a measurement's totals say; nothing of what is chosen."""
    match noised.measurement:
        case RowTotal() as one:
            return (Answer(one.answer.real, _terms(noised, (step_of(one.piece),)), one.answer.whole),)
        case UnitTotal() as one:
            return (Answer(one.answer.real, _terms(noised, (step_of(one.piece),)), one.answer.whole),)
        case DistinctCount() as one:
            step = Fraction(1) if one.axis is None else one.axis.step
            return (Answer(one.answer.real, _terms(noised, (step,)), one.answer.whole),)
        case Histogram() as one:
            (bin_,) = _terms(noised, (Fraction(1),))
            return tuple(Answer(f, (dataclasses.replace(bin_, total=i),), f) for i, f in enumerate(one.answers))
        case RowMoments() as one:
            return _moments(one, noised)
        case Choice() | TopGroups():
            return ()
        case _:
            assert_never(noised.measurement)


def _terms(noised: Noised, factors: Sequence[Fraction]) -> tuple[Term, ...]:
    """factors: of each of its totals, in pieces."""
    return tuple(
        Term(i, factor if noised.running is not None else factor * Fraction(draw.grid, FULL), draw)
        for i, (factor, draw) in enumerate(zip(factors, noised.draws, strict=True))
    )


def _moments(one: RowMoments, noised: Noised) -> tuple[Answer, ...]:
    """Count n, Σz and Σ(2z² − H²) from the totals; then Σx = (Σz + (low + high)·n)·step/2.

    By two ends A = Σ(H−z), B = Σ(H+z): n = (A+B)/2H, Σz = (B−A)/2. By three, B₀ … B₂: n = ΣB/4H², Σz = (B₂−B₀)/4H and
    Σz² = (B₀+B₂−B₁)/4.
    """
    half, middle, step = one.axis.most_centred, one.axis.low + one.axis.high, one.axis.step
    count = one.degree + 1
    if noised.form == "ends" and one.degree == 1:
        parts = [[Fraction(1, 2 * half)] * 2, [Fraction(-1, 2), Fraction(1, 2)]]
    elif noised.form == "ends":
        n = [Fraction(1, 4 * half * half)] * 3
        square = [Fraction(1, 4), Fraction(-1, 4), Fraction(1, 4)]
        parts = [n, [Fraction(-1, 4 * half), Fraction(0), Fraction(1, 4 * half)]]
        parts.append([2 * q - half * half * each for q, each in zip(square, n, strict=True)])
    else:
        parts = [[Fraction(int(i == k)) for i in range(count)] for k in range(count)]
    total = [(z + middle * n) * step / 2 for n, z in zip(parts[0], parts[1], strict=True)]
    answers = [
        Answer(one.count.real, _terms(noised, parts[0]), one.count.whole),
        Answer(one.total.real, _terms(noised, total), one.total.whole),
        Answer(one.first, _terms(noised, [a * step / 2 for a in parts[1]])),
    ]
    if one.second is not None:
        answers.append(Answer(one.second, _terms(noised, [a * step**2 / 8 for a in parts[2]])))
    return tuple(answers)
