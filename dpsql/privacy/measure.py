"""Step 7, measure: the mechanism, the noise of every measurement, the thresholds, and what the query costs.

ε is per query: it is split over all measurements of all stages, equally unless the query says otherwise, so a query
asked with ε costs exactly ε. δ goes to the thresholds under Laplace, half and half under Gaussian noise with private
keys, to the Gaussian with public keys; a plan that needs no δ costs none.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

from dpsql.accounting.loss import Cost
from dpsql.errors import Refused
from dpsql.ir.expr import place
from dpsql.mechanisms import gaussian, laplace
from dpsql.mechanisms.threshold import key_probability
from dpsql.plan.stages import Noise, Stage, Threshold
from dpsql.privacy.calibrate import Accounting, Calibrated, half_width, with_gaussian, with_laplace
from dpsql.privacy.settings import QuerySettings

EXACT = Noise(mechanism="exact", shift=0, sensitivity=0, scale=0)
NOTHING = Noise(mechanism="none", shift=0, sensitivity=0, scale=0)


def measure(
    stages: tuple[Stage, ...], settings: QuerySettings, accounting: Accounting
) -> tuple[tuple[Stage, ...], Cost]:
    if settings.exact:
        quiet = tuple(dataclasses.replace(s, noises=tuple(EXACT for _ in s.measures)) for s in stages)
        return quiet, Cost()
    thresholded = [s for s in stages if _is_thresholded(s)]
    drawn = [
        (i, j) for i, s in enumerate(stages) for j, m in enumerate(s.measures) if m.sensitivity > 0 and not s.is_empty
    ]
    if not drawn:
        return _with_noises(stages, Calibrated({}, Cost(), Fraction(0))), Cost()
    epsilon = settings.epsilon
    if epsilon is None:
        raise Refused(
            "no epsilon is given for this query",
            code=133,
            why="There is no default: ε decides how much the answer may say about a person.",
            fix="Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) …, SET epsilon = 1, "
            "or `per_query:` in the metadata.",
        )
    if thresholded and settings.delta <= 0:
        private = next(key for key in thresholded[0].keys if key.values is None)
        raise Refused(
            f'the keys of "{private.field.name or "this group"}" are private, and releasing them needs a δ',
            code=116,
            at=place(private.expr),
            why="Which values occur is about people: rare ones are withheld, which can fail with probability δ.",
            fix="Give a delta (OPTIONS(epsilon=1, delta=1e-9)), declare `keys:` in the metadata, or filter with IN (…).",
        )
    weights = _weights(stages, drawn, settings)
    chosen = _choose(stages, drawn, weights, epsilon, settings, bool(thresholded), accounting)
    return _with_noises(stages, chosen), chosen.cost


def _is_thresholded(stage: Stage) -> bool:
    return not stage.public_keys and not stage.is_empty


def _weights(
    stages: tuple[Stage, ...], drawn: list[tuple[int, int]], settings: QuerySettings
) -> dict[tuple[int, int], Fraction]:
    """Each measurement's part of ε; the parts add up to exactly 1."""
    if settings.split is None:
        shares = {(i, j): stages[i].measures[j].weight for i, j in drawn}
        return {at: Fraction(share, sum(shares.values())) for at, share in shares.items()}
    names = [stages[i].measures[j].name for i, j in drawn]
    given = settings.split
    parts: list[Fraction]
    if given and isinstance(given[0], tuple):
        by_name = {str(pair[0]): pair[1] for pair in given if isinstance(pair, tuple)}
        unknown = [name for name in by_name if name not in names]
        if unknown or len(by_name) != len(names):
            raise _bad_split(names)
        parts = [by_name[name] for name in names]
    else:
        parts = [part for part in given if isinstance(part, Fraction)]
        if len(parts) != len(names):
            raise _bad_split(names)
    whole = sum(parts, Fraction(0))
    return {at: part / whole for at, part in zip(drawn, parts, strict=True)}


def _bad_split(names: list[str]) -> Refused:
    return Refused(
        f"split needs one weight for each of the {len(names)} measurements",
        code=119,
        why=f"They are, in this order: {', '.join(names)}.",
        fix="EXPLAIN shows them.",
    )


def _choose(
    stages: tuple[Stage, ...],
    drawn: list[tuple[int, int]],
    weights: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    settings: QuerySettings,
    keys_need_delta: bool,
    accounting: Accounting,
) -> Calibrated:
    """Laplace or Gaussian, whichever has the smaller 95 % errors (their geometric mean); once for the whole query."""
    delta_keys = settings.delta if keys_need_delta else Fraction(0)
    if all(stages[i].measures[j].chosen for i, j in drawn):
        return with_laplace(stages, drawn, weights, epsilon, delta_keys)
    if settings.mechanism == "gaussian" and settings.delta <= 0:
        raise Refused(
            "Gaussian noise needs a δ",
            code=116,
            why="It is never purely ε-private.",
            fix="Give a delta, or use mechanism='laplace'.",
        )
    if settings.mechanism == "laplace" or settings.delta <= 0:
        return with_laplace(stages, drawn, weights, epsilon, delta_keys)
    half = settings.delta / 2 if keys_need_delta else Fraction(0)
    if settings.mechanism == "gaussian":
        return with_gaussian(stages, drawn, weights, epsilon, settings.delta - half, half, accounting)
    ways: list[Calibrated] = []
    refusal: Refused | None = None
    for way in ("laplace", "gaussian"):
        try:
            if way == "laplace":
                ways.append(with_laplace(stages, drawn, weights, epsilon, delta_keys))
            else:
                ways.append(with_gaussian(stages, drawn, weights, epsilon, settings.delta - half, half, accounting))
        except Refused as refused:
            refusal = refusal or refused
    if not ways:
        assert refusal is not None
        raise refusal
    return min(ways, key=lambda way: _log_error(way, stages))


def _log_error(way: Calibrated, stages: tuple[Stage, ...]) -> float:
    additive = [n for n in way.noises.values() if n.mechanism in ("laplace", "gaussian")]
    return sum(math.log(half_width(n) * float(n.grid)) for n in additive)


def _with_noises(stages: tuple[Stage, ...], way: Calibrated) -> tuple[Stage, ...]:
    thresholded = sum(_is_thresholded(s) for s in stages)
    done: list[Stage] = []
    for i, stage in enumerate(stages):
        noises = tuple(way.noises.get((i, j), NOTHING) for j in range(len(stage.measures)))
        threshold = _threshold(stage, noises, way.delta_keys / thresholded) if _is_thresholded(stage) else None
        done.append(dataclasses.replace(stage, noises=noises, threshold=threshold))
    return tuple(done)


def _threshold(stage: Stage, noises: tuple[Noise, ...], delta: Fraction) -> Threshold:
    """Lemma: a stage whose private keys are released at a noisy unit count of at least T adds at most δ.

    Proof: a key that only the unit in question holds has count 1 on one side and does not exist on the other. It shows
    with probability P[1/g + X ≥ T] ≤ p*, for each of its at most L0 groups independently, so some such key shows with
    probability at most 1 − (1 − p*)^L0 = δ. Keys that others hold too are covered by the noise itself.
    """
    position = next(j for j, m in enumerate(stage.measures) if m.kind == "units" and m.where is None)
    noise = noises[position]
    one_unit = math.ceil(1 / noise.grid)
    p = key_probability(delta, stage.bounding.max_groups)
    family = laplace if noise.mechanism == "laplace" else gaussian
    at_least = family.threshold(t=noise.scale, one_unit=one_unit, p=p)
    at_least = max(at_least, math.ceil(stage.min_units / noise.grid))
    return Threshold(
        measure=position, at_least=at_least, units=at_least * noise.grid, delta=delta, min_units=stage.min_units
    )
