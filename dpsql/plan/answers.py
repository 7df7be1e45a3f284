"""Released numbers as linear combinations of noisy totals: printed by render/finish.py, and what intervals are made of."""

from __future__ import annotations

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
from dpsql.plan.stages import Noised


@dataclass(frozen=True, slots=True)
class Answer:
    """real = Σ factors[i]·total first + i, in the user's units; whole: the same rounded to its type's own unit, if there is
    one."""

    real: Field
    factors: tuple[Fraction, ...]
    whole: Field | None = None
    first: int = 0


def answers(noised: Noised) -> tuple[Answer, ...]:
    """What a measurement's totals say; nothing of what is chosen."""
    grids = [Fraction(draw.grid, FULL) if noised.running is None else Fraction(1) for draw in noised.draws]
    match noised.measurement:
        case RowTotal() as one:
            return (Answer(one.answer.real, (step_of(one.piece) * grids[0],), one.answer.whole),)
        case UnitTotal() as one:
            return (Answer(one.answer.real, (step_of(one.piece) * grids[0],), one.answer.whole),)
        case DistinctCount() as one:
            return (Answer(one.answer.real, (grids[0],), one.answer.whole),)
        case Histogram() as one:
            return tuple(Answer(f, (grids[0],), f, first=i) for i, f in enumerate(one.answers))
        case RowMoments() as one:
            return _moments(one, noised, grids)
        case Choice() | TopGroups():
            return ()
        case _:
            assert_never(noised.measurement)


def _moments(one: RowMoments, noised: Noised, grids: list[Fraction]) -> tuple[Answer, ...]:
    """Count n, Σz and Σ(2z² − H²) from the totals; then Σx = (Σz + (low + high)·n)·step/2.

    By two ends A = Σ(H−z), B = Σ(H+z): n = (A+B)/2H, Σz = (B−A)/2. By three, B₀ … B₂: n = ΣB/4H², Σz = (B₂−B₀)/4H and
    Σz² = (B₀+B₂−B₁)/4.
    """
    half, middle, step = one.axis.half, one.axis.low + one.axis.high, one.axis.step
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
    rows = [tuple(a * grid for a, grid in zip(part, grids, strict=True)) for part in parts]
    total = tuple((z + middle * n) * step / 2 for n, z in zip(rows[0], rows[1], strict=True))
    answers = [
        Answer(one.count.real, rows[0], one.count.whole),
        Answer(one.total.real, total, one.total.whole),
        Answer(one.first, tuple(a * step / 2 for a in rows[1])),
    ]
    if one.second is not None:
        answers.append(Answer(one.second, tuple(a * step**2 / 8 for a in rows[2])))
    return tuple(answers)
