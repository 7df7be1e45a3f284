"""Limits that the data choose ('auto'): how many rows, groups or how large values of one unit count.

A part of ε is spent on the choice, before anything is measured; what is measured then costs the rest, whatever was chosen.

    N_i      how many units are above candidate T_i (T_0 < T_1 < …, each twice the one before)
    score    −max(0, N_i − tolerated) − step·i
    choice   one of the candidates, by permute-and-flip with coins exp(−ε₁·(best − score)), under zcdp exponentially with
             these weights

Lemma: the choice is ε₁-DP. Proof: a unit that is added raises N_0 … N_i by one and leaves the others, so each score falls by
0 or 1, all in one direction; mechanisms/order_statistics.choose_most proves the rest with sensitivity 1, and ρ = ε₁²/8
of the exponential mechanism.

Lemma: choosing and then measuring with ε₂ is (ε₁ + ε₂)-DP, whatever is chosen. Proof: given the choice, the measurements are
ε₂-DP: their weights are made of the rows that are measured, and their noise of the chosen limit, a public number now. The
densities multiply.

Why it is near the best limit: with noise of mean size κ·T in each of G groups, raising T by one costs G·κ and saves one row
of each of N units; so the best T is where N is about G·κ, which is `tolerated`. A candidate i steps past the smallest of
those wins with probability at most e^(−c·i) by `step`, c = Price.calm: so the expected square of the limit is at most
1 + Σ (4e^(−c))^i times as large (1.49 for c = 5/2). No choice that is so calm does without c·log2(T/T_0)/ε₁ units above
T/2, by group privacy: below n·ε ≈ 100 a declared limit is better.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Mapping, Sequence
from fractions import Fraction

from dpsql.ir.expr import Column
from dpsql.mechanisms.choice import Chooser, rho_of
from dpsql.plan.limit_choice import dependents
from dpsql.plan.measurements import Choice, Measurement, RowMoments, shares
from dpsql.plan.noised import limited_in
from dpsql.plan.stages import Chosen, Draw, Limit, LimitChoice, Noised, Stage
from dpsql.privacy.parts import Accounting, Part

SMALLEST = 1
DOUBLINGS = 20  # the largest candidate is 2^20 times the smallest: more would cost nothing, and reach nothing
FLAT = 64  # means hardly change with the limit: so many times more units may be above it
FLAT_BESIDE_COUNTS = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Price:
    """share: of the ε of all that depends on the choice. calm: a candidate i steps too large wins with probability at most
    e^(−calm·i). Found by `python -m benchmarks limits`, which prints how far from the best limit each makes answers."""

    share: Fraction
    calm: Fraction


KEYLESS = Price(Fraction(1, 4), Fraction(5, 2))
KEYED = Price(Fraction(3, 20), Fraction(3))
MEANS = Price(Fraction(1, 20), Fraction(4))
SQUARE_ROOT_OF_2_OVER_PI = Fraction(7979, 10000)  # the mean size of Gaussian noise, in σ


def doublings(smallest: int, most: int | None = None, count: int = DOUBLINGS) -> tuple[int, ...]:
    """The candidates; the last is the first that nobody can be above."""
    rungs, most = [smallest], smallest << count if most is None else most
    while len(rungs) <= count and rungs[-1] < most:
        rungs.append(min(2 * rungs[-1], most))
    return tuple(rungs)


def to_choose(
    limit: Limit,
    measurements: Sequence[Measurement],
    values: Mapping[int, tuple[int, ...]],
    *,
    combinations: int | None,
) -> tuple[LimitChoice, ...]:
    """What is left to the data and limits something. values: the candidates of measurements with a radius of their own."""
    choices = [
        LimitChoice(of="rows", candidates=doublings(SMALLEST)),
        LimitChoice(of="groups", candidates=doublings(SMALLEST, combinations or 2**DOUBLINGS)),
    ]
    kept = [one for one in choices if one.of in limit.auto and dependents(one.of, measurements)]
    return (*kept, *(LimitChoice(of=j, candidates=each) for j, each in values.items()))


def chosen_once(stages: Sequence[Stage], drawn: Container[Part]) -> tuple[Stage, ...]:
    """Grouping sets have one limit. The first of them in which it limits anything that is drawn chooses it, later ones take
    it over: that may not be the first set there is, whose total of all rows has one group, or whose key is always 0. What
    limits nothing that is drawn is no choice."""
    chooser: dict[tuple[int, Chosen], int] = {}
    return tuple(_chosen_once(i, stage, drawn, chooser) for i, stage in enumerate(stages))


def _chosen_once(i: int, stage: Stage, drawn: Container[Part], chooser: dict[tuple[int, Chosen], int]) -> Stage:
    family = stage.number if stage.level is None else stage.level.family
    choices: list[LimitChoice] = []
    for choice in stage.choices:
        if any(Part(i, j) in drawn for j in dependents(choice.of, stage.measurements)):
            first = chooser.setdefault((family, choice.of), stage.number)
            choices.append(dataclasses.replace(choice, as_in=None if first == stage.number else first))
    return dataclasses.replace(stage, choices=tuple(choices))


def with_shares(
    stages: Sequence[Stage], weights: Mapping[Part, Fraction]
) -> tuple[dict[Part, Fraction], dict[tuple[int, int], Fraction]]:
    """What measurements keep of their shares of ε, and each choice's, by stage and position: a part of what all of those
    have that depend on it. All together they are what they were."""
    kept, choosing = dict(weights), dict[tuple[int, int], Fraction]()
    for i, stage in enumerate(stages):
        for n, choice in enumerate(stage.choices):
            if choice.as_in is not None:
                continue
            parts = [part for part in _parts(stages, i, choice) if part in kept]
            part_of = price(stage, choice).share
            choosing[i, n] = part_of * sum((weights[part] for part in parts), Fraction(0))
            for part in parts:
                kept[part] = weights[part] * (1 - part_of)
    return kept, choosing


def _parts(stages: Sequence[Stage], i: int, choice: LimitChoice) -> list[Part]:
    """Everything that is limited by a choice of stage i, in the stages that take it over too."""
    places = [(i, stages[i])]
    number = stages[i].number
    for k, other in enumerate(stages):
        if any(one.as_in == number and one.of == choice.of for one in other.choices):
            places.append((k, other))
    return [Part(k, j) for k, stage in places for j in dependents(choice.of, stage.measurements)]


def price(stage: Stage, choice: LimitChoice) -> Price:
    if _means_alone(stage, choice):
        return MEANS
    return KEYED if stage.keys else KEYLESS


def _means_alone(stage: Stage, choice: LimitChoice) -> bool:
    """Whether only means, variances and quantiles are asked, which a smaller limit hardly biases."""
    dependent = [stage.measurements[j] for j in dependents(choice.of, stage.measurements)]
    if not all(isinstance(one, RowMoments | Choice) for one in dependent):
        return False
    return not _is_counted(stage, dependent)


def _is_counted(stage: Stage, measured: Sequence[Measurement]) -> bool:
    """Whether a count or a sum is shown as it is."""
    numbers = [one for m in measured if isinstance(m, RowMoments) for one in (m.count, m.total)]
    shown = {number.whole.id for number in numbers} | {number.real.id for number in numbers}
    return any(isinstance(expr, Column) and expr.id in shown for _, expr in stage.outputs)


def priced(
    stage: Stage, choice: LimitChoice, epsilon: Fraction, noised: Sequence[Noised], accounting: Accounting
) -> LimitChoice:
    """The choice with what it costs, and with how many units may be above the limit. Under zcdp it is made by the
    exponential mechanism, whose loss has a bounded range. Cumulative sums, where there are any, decide: they lose most."""
    every = [noised[j] for j in dependents(choice.of, stage.measurements)]
    along = [one for one in every if one.running is not None]
    sizes = [_noise_of_one(one) for one in along or every]
    drawn = [size for size in sizes if size]
    tolerated = sum(drawn, Fraction(0)) / len(drawn) if drawn else Fraction(0)
    if _means_alone(stage, choice):
        tolerated *= FLAT
    elif stage.keys and not along and any(isinstance(one.measurement, RowMoments) for one in every):
        tolerated *= FLAT_BESIDE_COUNTS
    by: Chooser = "exponential" if accounting == "zcdp" else "permute-and-flip"
    draw = Draw(mechanism=by, reach=1, epsilon=epsilon, rho=rho_of(by, epsilon))
    return dataclasses.replace(
        choice,
        draw=draw,
        step=math.ceil(price(stage, choice).calm / epsilon),
        tolerated=tolerated,
        norm=limited_in(every),
    )


def _noise_of_one(noised: Noised) -> Fraction:
    """The mean size of a number's noise, in what one unit may change it by. For cumulative sums, where a row that does not
    count is missing in every later sum, the noise is averaged over the groups of one order."""
    draw = noised.draw
    match draw.mechanism:
        case "laplace" | "gaussian" if noised.running is not None:
            strategy = noised.running.strategy
            size = Fraction(strategy.growth) * SQUARE_ROOT_OF_2_OVER_PI / strategy.count
            return Fraction(draw.scale, draw.reach) * size
        case "laplace":
            return draw.steps / draw.reach
        case "gaussian":
            return draw.steps / draw.reach * SQUARE_ROOT_OF_2_OVER_PI
        case "permute-and-flip" | "exponential":
            return shares(noised.measurement) / draw.epsilon
        case _:
            return Fraction(0)


def scores(choice: LimitChoice, above: Sequence[int], groups: int) -> list[int]:
    """Of each candidate, from how many units are above it. groups: a public number, by now."""
    utilities: list[int] = []
    for i, n in enumerate(above):
        smaller = Fraction(choice.candidates[0], choice.candidates[i]) if choice.fading else 1
        utilities.append(-max(0, n - max(1, round(choice.tolerated * groups * smaller))) - choice.step * i)
    return utilities


def ladder_scores(above: Sequence[int], epsilon: Fraction) -> list[int]:
    """The same for bounds of a column: above, how many units have a value beyond each candidate. A few are let be."""
    tolerated, step = max(1, round(1 / epsilon)), math.ceil(2 / epsilon)
    return [-max(0, n - tolerated) - step * i for i, n in enumerate(above)]
