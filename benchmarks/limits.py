"""How far from the best limit is one that the data choose? Expected RMSE over the RMSE of the best limit in hindsight, which
has the whole ε, on twelve shapes of data. Scores and constants are the engine's (privacy/auto.py), the noise its formula."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.plan.stages import LimitChoice
from dpsql.privacy.auto import FLAT, KEYED, KEYLESS, MEANS, Price, doublings, scores

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
DRAWS = 20_000
HIGH = 200.0  # the declared upper bound of the values
CUT = 20_000


@dataclass(frozen=True, slots=True)
class Shape:
    """rows of each unit, and the values of all rows, unit by unit."""

    name: str
    rows: Integers
    values: Floats

    @property
    def unit(self) -> Integers:
        return np.repeat(np.arange(len(self.rows)), self.rows)

    @property
    def sums(self) -> Numbers:
        return np.bincount(self.unit, self.values, len(self.rows))


def shapes(seed: int = 7) -> Iterator[Shape]:
    rng = np.random.default_rng(seed)
    many = 5_000
    bimodal = rng.integers(1, 4, 4_000)
    heavy = rng.random(4_000) < 0.05
    bimodal[heavy] = rng.poisson(200, int(heavy.sum())) + 1
    giant = rng.poisson(4, 3_000) + 1
    giant[0] = int(giant.sum() * 3 / 7)
    sizes = {
        "Poisson(4) + 1": rng.poisson(4, many) + 1,
        "Zipf 3": np.minimum(rng.zipf(3, many), CUT),
        "Zipf 2": np.minimum(rng.zipf(2, many), CUT),
        "Zipf 1.5": np.minimum(rng.zipf(1.5, many), CUT),
        "log-normal": np.maximum(1, np.round(rng.lognormal(1, 1, many))).astype(np.int64),
        "bimodal": bimodal,
        "geometric": rng.geometric(1 / 6, many),
        "one unit has 30 %": giant,
        "200 units": np.maximum(1, np.round(rng.lognormal(1, 1, 200))).astype(np.int64),
        "values grow with rows": np.minimum(np.floor(1 + rng.pareto(1.3, 10_000)), CUT).astype(np.int64),
        "Poisson(5) + 1": rng.poisson(5, many) + 1,
        "one row each": np.ones(3_000, dtype=np.int64),
    }
    for name, rows in sizes.items():
        unit = np.repeat(np.arange(len(rows)), rows)
        if name == "values grow with rows":
            values = 20 * np.log1p(rows[unit]) + rng.normal(0, 10, len(unit))
        else:
            values = rng.exponential(50, len(rows))[unit] / 2 + rng.exponential(25, len(unit))
        yield Shape(name, rows.astype(np.int64), np.clip(values, 0, HIGH))


def ratio(
    sizes: Numbers,
    error: Callable[[float, float], float],
    smallest: int,
    epsilon: float,
    price: Price,
    flat: int,
    groups: int,
) -> float:
    """error: of a limit and an ε, the mean square."""
    first = epsilon * float(price.share)
    rest = epsilon - first
    candidates = doublings(smallest)
    choice = LimitChoice(
        of="rows",
        candidates=candidates,
        step=math.ceil(price.calm / Fraction(first)),
        tolerated=Fraction(flat / rest),
    )
    above = [int((sizes > limit).sum()) for limit in candidates]
    won = np.array(scores(choice, above, groups), dtype=float)
    rng = np.random.default_rng(1)
    at = np.argmax(
        won + rng.exponential(1 / first, (DRAWS, len(won))), axis=1
    )  # permute-and-flip has this distribution
    often = np.bincount(at, minlength=len(won)) / DRAWS
    mean = sum(share * error(limit, rest) for share, limit in zip(often.tolist(), candidates, strict=True) if share)
    best = min(error(smallest / 16 * 2 ** (i / 2), epsilon) for i in range(48))
    return math.sqrt(mean / best)


def counts(shape: Shape, epsilon: float, groups: int) -> float:
    def error(limit: float, spent: float) -> float:
        lost = float((shape.rows - np.minimum(shape.rows, limit)).sum()) / groups
        return lost**2 + 2 * (max(limit, 1) / spent) ** 2

    return ratio(shape.rows, error, 1, epsilon, KEYED if groups > 1 else KEYLESS, 1, groups)


def sums(shape: Shape, epsilon: float, groups: int) -> float:
    of_unit = shape.sums

    def error(limit: float, spent: float) -> float:
        lost = float((of_unit - np.minimum(of_unit, limit)).sum()) / groups
        return lost**2 + 2 * (limit / spent) ** 2

    return ratio(of_unit, error, int(HIGH), epsilon, KEYED if groups > 1 else KEYLESS, 1, groups)


def means(shape: Shape, epsilon: float, groups: int) -> float:
    """By two ends: Σ w(H ± z). Nobody believes a mean outside the bounds, so no error counts as more than their distance."""
    half, truth = HIGH / 2, float(shape.values.mean())

    def error(limit: float, spent: float) -> float:
        weight = np.minimum(1, max(limit, 1) / shape.rows)[shape.unit]
        mean = float((weight * shape.values).sum() / weight.sum())
        centre = (mean - half) / HIGH
        noise = (
            math.sqrt(2) * HIGH * max(limit, 1) / spent * math.hypot(0.5 - centre, 0.5 + centre) / weight.sum() * groups
        )
        return (mean - truth) ** 2 + min(float(noise), HIGH) ** 2

    return ratio(shape.rows, error, 1, epsilon, MEANS, FLAT, groups)


def main(argv: list[str], write: Callable[[str], object] = sys.stdout.write) -> None:
    del argv
    questions = [
        (name, of, groups) for groups in (1, 20, 200) for name, of in (("COUNT", counts), ("SUM", sums), ("AVG", means))
    ]
    all_shapes = list(shapes())
    for epsilon in (1.0, 0.1):
        titles = "".join(f"{f'{name} {groups}':>11}" for name, _, groups in questions)
        write(f"{f'ε = {epsilon:g}; groups:':24}{titles}\n")
        table = [[of(shape, epsilon, groups) for _, of, groups in questions] for shape in all_shapes]
        for shape, line in zip(all_shapes, table, strict=True):
            write(f"{shape.name:24}{''.join(f'{value:>11.2f}' for value in line)}\n")
        means_ = [math.exp(float(np.mean(np.log(column)))) for column in zip(*table, strict=True)]
        write(f"{'geometric mean':24}{''.join(f'{value:>11.2f}' for value in means_)}\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
