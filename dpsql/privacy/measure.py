"""Step 7, measure: the mechanism, the noise of every measurement, the thresholds, and what the query costs.

ε is per query: it is split over all measurements of all stages and the selections of their keys, equally unless the query
says otherwise, so a query asked with ε costs exactly ε. δ goes to the thresholds where all else is pure, half and half
where something is Gaussian and keys are private, to the Gaussian with public keys; a plan that needs no δ costs none.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpsql.accounting.loss import Cost
from dpsql.errors import InternalError, Refused
from dpsql.ir.nodes import Node
from dpsql.plan.balls import Norm
from dpsql.plan.measurements import Measurement, RowMoments, RowTotal, is_chosen
from dpsql.plan.slices import first_of, slice_of
from dpsql.plan.stages import Draw, Form, Noised, NoisyStage, Selection, Share, Stage
from dpsql.privacy.auto import chosen_once, with_shares
from dpsql.privacy.calibrate import Calibrated, calibrated
from dpsql.privacy.levels import divided, level_shares, with_errors
from dpsql.privacy.noise_grid import half_width
from dpsql.privacy.over_limit import SHARE as OVER
from dpsql.privacy.over_limit import limits_to_ask, with_over_limits
from dpsql.privacy.parts import VOTES, Accounting, Additive, Part
from dpsql.privacy.running import Wanted, log_error, strategies, wanted
from dpsql.privacy.selection import selection
from dpsql.privacy.sensitivity import is_constant
from dpsql.privacy.settings import QuerySettings
from dpsql.privacy.settling import with_prices, without_limits
from dpsql.privacy.split import equal, split

EXACT = Draw(mechanism="exact")
NOTHING = Draw(mechanism="none")
SUMMED = Draw(mechanism="summed")
FEW_GROUPS = 2  # up to so many groups of a unit, votes in norm 1 with Laplace noise find more keys


def measure(
    stages: tuple[Stage, ...], final: Node, settings: QuerySettings, accounting: Accounting
) -> tuple[tuple[NoisyStage, ...], Cost, tuple[Share, ...]]:
    """Noise for every measurement, the cost, and how ε is divided where the query says it."""
    if settings.exact:
        free = [without_limits(stage) for stage in stages]
        return tuple(_noisy(s, [_quiet(m, EXACT) for m in s.measurements]) for s in free), Cost(), ()
    drawn = [part for i, stage in enumerate(stages) for part in _parts(i, stage, settings)]
    stages = chosen_once(stages, drawn)
    over = limits_to_ask(stages, drawn) if settings.over_limit else {}
    if not drawn:
        return tuple(_noisy(s, [_quiet(m, NOTHING) for m in s.measurements]) for s in stages), Cost(), ()
    epsilon = _affordable(stages, drawn, settings)
    weights, shown = equal(stages, drawn), tuple[Share, ...]()
    if settings.split is not None:
        weights, shown = split(stages, final, drawn, settings.split)
    if over:
        weights = {part: weight * (1 - OVER) for part, weight in weights.items()}
    along = {part: how for part, how in wanted(stages, final).items() if slice_of(_measured(stages, part)) is None}
    way, given = _choose(stages, weights, epsilon, settings, accounting, along)
    kept, choosing = with_shares(stages, given)
    _check_shares((*kept.values(), *choosing.values(), *([OVER] if over else [])))
    noisy = _noisy_stages(stages, given, way)
    priced = with_prices(noisy, {at: epsilon * share for at, share in choosing.items()}, accounting)
    priced = with_over_limits(priced, over, epsilon * OVER)
    rho = sum((choice.draw.rho for stage in priced for choice in stage.choices), way.cost.rho)
    rho = sum((each.draw.rho for stage in priced for each in stage.over), rho)
    return priced, dataclasses.replace(way.cost, rho=rho), shown or level_shares(stages, weights, given)


def _measured(stages: Sequence[Stage], part: Part) -> Measurement:
    one = part.measured(stages)
    assert one is not None
    return one


def _affordable(stages: Sequence[Stage], drawn: Sequence[Part], settings: QuerySettings) -> Fraction:
    """The query's ε; refused without one, and where keys have no δ."""
    epsilon = settings.epsilon
    if epsilon is None:
        raise Refused(
            "no epsilon is given for this query",
            code=133,
            why="There is no default: ε decides how much the answer may reveal about a person.",
            fix="Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) …, SET epsilon = 1, "
            "or `per_query:` in the metadata.",
        )
    selected = [stages[part.stage] for part in drawn if part.position is None]
    if selected and settings.delta <= 0:
        private = next(key for key in selected[0].keys if key.values is None)
        raise Refused(
            f'the keys of "{private.field.name or "this group"}" are private, and releasing them needs a δ',
            code=116,
            at=private.at,
            why="Which values occur reveals something about people. Partition "
            "selection withholds rare ones, and this can fail with probability δ.",
            fix="Give a delta (OPTIONS(epsilon=1, delta=1e-9)), declare `keys:` in the metadata, or filter with IN (…).",
        )
    return epsilon


def _check_shares(shares: Sequence[Fraction]) -> None:
    """Whoever proposes shares: what is drawn is at most what is charged, since they are parts of one whole."""
    if min(shares) < 0 or sum(shares) > 1:
        raise InternalError("the shares of ε are more than all of it")


def _parts(i: int, stage: Stage, settings: QuerySettings) -> list[Part]:
    """What takes a share of ε: the selection of keys first, then what can change at all."""
    if stage.is_empty:
        return []
    parts: list[Part] = []
    if not stage.public_keys:
        norm = _norm_of_votes(stage, settings)
        parts.append(Part(i, None, norm, 2 if norm == 2 and _in_two_rounds(stage) else 1))
    _check_slices(stage)
    vectors = (j for j, one in enumerate(stage.measurements) if first_of(one, stage.measurements) is one)
    return parts + [Part(i, j) for j in vectors if not is_constant(stage.measurements[j])]


def _check_slices(stage: Stage) -> None:
    """No two of one vector have the same rows."""
    seen: set[tuple[int, int]] = set()
    for one in stage.measurements:
        mine = slice_of(one)
        if mine is None:
            continue
        at = stage.measurements.index(first_of(one, stage.measurements)), mine.which
        if at in seen or not 0 <= mine.which < mine.of or isinstance(one, RowTotal) and one.within is not None:
            raise InternalError("two slices of one number are the same")
        seen.add(at)


def _norm_of_votes(stage: Stage, settings: QuerySettings) -> Norm:
    """Laplace noise where units have one or two groups, or where nothing else is wanted."""
    if settings.mechanism != "auto":
        return 1 if settings.mechanism == "laplace" else 2
    if "groups" in stage.limit.auto:
        return 2
    return 1 if _voting(stage) <= FEW_GROUPS else 2


def _in_two_rounds(stage: Stage) -> bool:
    """Where keys are all that is asked, and units vote for more than a few: a first round that finds the common ones leaves
    the others more of each vote. Beside measurements it would be a statement more, for a fourth more keys."""
    several = _voting(stage) > FEW_GROUPS and (stage.limit.rows.most > 1 or "rows" in stage.limit.auto)
    return several and not stage.measurements


def _voting(stage: Stage) -> int:
    """With how many groups a unit still votes where votes are in norm 1: as many as the owner or the query allows it."""
    if stage.source.single:
        return 1
    return VOTES if "groups" in stage.limit.auto else min(stage.limit.groups.most, VOTES)


def _choose(
    stages: tuple[Stage, ...],
    weights: dict[Part, Fraction],
    epsilon: Fraction,
    settings: QuerySettings,
    accounting: Accounting,
    along: Mapping[Part, Wanted],
) -> tuple[Calibrated, dict[Part, Fraction]]:
    """Laplace or Gaussian, whichever has the smaller 95 % errors (their geometric mean); once for the whole query. With the
    shares: levels of grouping sets divide theirs as is best for the noise, or equally where that noise would not fit.
    along: totals whose cumulative sums are asked for, of which those errors count."""
    if settings.mechanism == "gaussian" and settings.delta <= 0 and _additive(stages, weights):
        raise Refused(
            "Gaussian noise needs a δ",
            code=116,
            why="It never guarantees ε alone.",
            fix="Give a delta, or use mechanism='laplace'.",
        )
    ways: list[Additive] = ["laplace", "gaussian"]
    if settings.mechanism != "auto":
        ways = [settings.mechanism]
    if settings.delta <= 0 or not _additive(stages, weights):
        ways = ["laplace"]
    candidates: list[tuple[Calibrated, dict[Part, Fraction]]] = []
    refusal: Refused | None = None
    for way in ways:
        for given in _divisions(stages, weights, way, settings, accounting):
            drawn = {part: share for part, share in with_shares(stages, given)[0].items() if share}
            try:
                runs = strategies(stages, along, way)
                made = calibrated(
                    stages, drawn, way, epsilon=epsilon, delta=settings.delta, accounting=accounting, runs=runs
                )
            except Refused as refused:
                refusal = refusal or refused
                continue
            candidates.append((made, given))
            break
    if not candidates:
        assert refusal is not None
        raise refusal
    return min(candidates, key=lambda one: _log_error(_noisy_stages(stages, one[1], one[0]), along))


def _divisions(
    stages: tuple[Stage, ...],
    weights: dict[Part, Fraction],
    way: Additive,
    settings: QuerySettings,
    accounting: Accounting,
) -> list[dict[Part, Fraction]]:
    """What the query says (split) or what is best, then as it was. Laplace noise under zcdp stays as it was: shares of ε
    that are not equal would cost more ρ."""
    if settings.split is not None or (way == "laplace" and accounting == "zcdp"):
        return [weights]
    best = divided(stages, weights, 2 if way == "laplace" else 1, settings.error or "default")
    return [weights] if best == weights else [best, weights]


def _additive(stages: tuple[Stage, ...], weights: Mapping[Part, Fraction]) -> bool:
    measured = [part.measured(stages) for part in weights]
    return any(one is not None and not is_chosen(one) for one in measured)


def _log_error(stages: Sequence[NoisyStage], along: Mapping[Part, Wanted]) -> float:
    """Of each measurement, by its first total: for moments that is the one whose error the mean inherits."""
    return math.fsum(
        log_error(one, along[Part(i, j)]) if Part(i, j) in along else _error(one)
        for i, stage in enumerate(stages)
        for j, one in enumerate(stage.noised)
        if one.draw.mechanism in ("laplace", "gaussian", "summed")
    )


def _error(one: Noised) -> float:
    """The logarithm of a 95 % half-width, of moments of their centred sum: of two ends of Laplace noise half their
    difference, which is a tenth wider than one of them, less half."""
    if one.after is not None:
        return _error(dataclasses.replace(one, draws=one.after.draws, after=None)) + math.log(one.after.ratio) / 2
    wide = [math.log(_wide(draw) * float(draw.grid)) for draw in one.draws]
    if not isinstance(one.measurement, RowMoments):
        return wide[0]
    if one.form == "ends":
        return wide[0] + math.log(
            1.25 / 2 if one.measurement.degree == 1 else 1.25 / 4 / one.measurement.axis.most_centred
        )
    return wide[1]


def _wide(draw: Draw) -> float:
    """A 95 % half-width in noise-grid integers; of whole-number noise that of continuous noise of its scale, which has no
    steps to compare by."""
    if draw.parts == 1:
        return half_width(draw)
    return float(draw.steps) * (math.log(20) if draw.mechanism == "laplace" else 1.959964)


def _noisy_stages(
    stages: tuple[Stage, ...], weights: Mapping[Part, Fraction], way: Calibrated
) -> tuple[NoisyStage, ...]:
    selections = sum(part.position is None for part in weights)
    return with_errors([_with_noise(i, stage, way, weights, selections) for i, stage in enumerate(stages)])


def _with_noise(i: int, stage: Stage, way: Calibrated, weights: Mapping[Part, Fraction], selections: int) -> NoisyStage:
    """What has no share at all is the sum of its leaves."""
    noised: list[Noised] = []
    for one in stage.measurements:  # of slices the first stands for all
        part = Part(i, stage.measurements.index(first_of(one, stage.measurements)))
        drawn_noise = way.noised.get(part)
        if drawn_noise is not None:
            noised.append(dataclasses.replace(drawn_noise, measurement=one))
        else:
            noised.append(_summed(one, way) if part in weights else _quiet(one, NOTHING))
    votes = next(((part, drawn) for part, drawn in way.votes.items() if part.stage == i), None)
    if votes is None:
        return _noisy(stage, noised)
    part, drawn = votes
    limit = VOTES if part.norm == 2 else _voting(stage)
    delta = way.delta_keys / selections / part.rounds
    rounds = [selection(draw, draw.reach.bit_length() - 1, limit, delta, stage.min_units) for draw in drawn.draws]
    return _noisy(stage, noised, rounds)


def _noisy(stage: Stage, noised: list[Noised], selected: Sequence[Selection] = ()) -> NoisyStage:
    fields = {f.name: getattr(stage, f.name) for f in dataclasses.fields(stage)}
    return NoisyStage(**fields, noised=tuple(noised), selections=tuple(selected))


def _quiet(one: Measurement, draw: Draw) -> Noised:
    form: Form = "centred" if isinstance(one, RowMoments) else "plain"
    return Noised(measurement=one, form=form, draws=(draw,) * (one.degree + 1 if isinstance(one, RowMoments) else 1))


def _summed(one: Measurement, way: Calibrated) -> Noised:
    """In the form that its leaves have."""
    forms = {each.form for each in way.noised.values() if isinstance(each.measurement, RowMoments)}
    made = _quiet(one, SUMMED)
    return dataclasses.replace(made, form="ends") if isinstance(one, RowMoments) and "ends" in forms else made
