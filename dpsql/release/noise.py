"""Step 11, release: the one door out. Exact totals go in; what comes out has noise, and rare keys withheld.

Exact tells nobody anything: it has no repr of its contents, no iteration, no pickling. Only this module and
dpsql.testing read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dpsql.errors import InternalError
from dpsql.mechanisms.lattice import discrete_gaussian, discrete_laplace
from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.measurements import Choice, Counted, Histogram, TopGroups, shares
from dpsql.plan.ready import AllRows, Listed, Ready
from dpsql.plan.render.finish import column_names
from dpsql.plan.stages import Chosen, Draw, NoisyStage, Selection
from dpsql.plan.transport import transported
from dpsql.plan.vault_query import CANDIDATE, GROUP, VOTES, WEIGHT, Question, VaultColumn, total
from dpsql.privacy.auto import scores
from dpsql.privacy.noise_grid import SELECTED_LIMIT
from dpsql.release.along_order import released_along
from dpsql.release.choices import answer_exactly, choose_all, chooser, matrices

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


class Exact:
    """The exact answers of a stage's vault statements. Opaque on purpose."""

    __slots__ = ("_answers",)

    def __init__(self, answers: Sequence[tuple[Question, Mapping[str, Array]]]) -> None:
        self._answers = tuple(answers)

    def __repr__(self) -> str:
        return "<exact totals, not shown>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact totals are not pickled")

    def __iter__(self) -> NoReturn:
        raise TypeError("exact totals are not iterated")


def answers_of(exact: Exact) -> tuple[tuple[Question, Mapping[str, Array]], ...]:
    """The totals themselves, statement by statement; for release and dpsql.testing alone."""
    return exact._answers


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedRows:
    """Released rows: `k<i>` keys (int64, or text as objects; masked where NULL may be) and `m<j>_<i>` noisy integers.

    chosen: the limits that the data chose, one for each choice of the stage: released numbers like the others. over: how
    many units are not over a limit and how many are, for each that was asked about."""

    stage: int
    columns: Mapping[str, Array]
    rows: int
    chosen: tuple[int, ...] = ()
    over: tuple[tuple[int, int], ...] = ()


# --- keys -------------------------------------------------------------------------------------------------------------


def released_round(exact: Exact, stage: NoisyStage, round_: int) -> Mapping[str, Array]:
    """The private keys whose noisy votes reach the round's threshold; at most 2^20, those with the most noisy votes."""
    ((_, columns),) = answers_of(exact)
    kept = _kept(columns, stage.selections[round_])
    return {name: column[kept] for name, column in columns.items() if name != VOTES.name}


def ready_with_keys(rounds: Sequence[Mapping[str, Array]], stage: NoisyStage) -> Ready:
    """The stage with the keys of all rounds, in key order; at most 2^20, of the earlier rounds first. Its groups are public
    from here on."""
    keys = rounds[0] if len(rounds) == 1 else _merged(rounds, stage)
    return _listed(keys, stage, np.arange(len(next(iter(keys.values()))), dtype=np.int64))


def _merged(rounds: Sequence[Mapping[str, Array]], stage: NoisyStage) -> Mapping[str, Array]:
    names = list(rounds[0])
    rows = [row for keys in rounds for row in zip(*(np.ma.asarray(keys[n]).tolist() for n in names), strict=True)]
    rows = sorted(rows[:SELECTED_LIMIT], key=lambda row: _key_order(dict(zip(names, row, strict=True)), stage))
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: _column(values, rounds[0][name]) for name, values in zip(names, columns, strict=True)}


def _key_order(row: Mapping[str, Any], stage: NoisyStage) -> tuple[object, ...]:
    """As render.keys.key_order: public keys in their order, others ascending, NULL last."""
    order: list[object] = []
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            value = row[f"k{i}"]
            order.append((value is None, value))
        else:
            stride //= len(key.values)
            order.append((row[GROUP.name] // stride) % len(key.values))
    return tuple(order)


def _column(values: Sequence[Any], like: Array) -> Array:
    if like.dtype == object:
        return np.array([*values, None], dtype=object)[:-1]
    numbers = np.array([0 if value is None else value for value in values], dtype=np.int64)
    missing = [value is None for value in values]
    return np.ma.MaskedArray(numbers, mask=missing) if any(missing) else numbers


def released_together(exact: Exact, stage: NoisyStage) -> tuple[Ready, Exact]:
    """The same, where totals were asked for beside the votes: and the totals of the keys that are released."""
    ((question, columns),) = answers_of(exact)
    (selection,) = stage.selections
    kept = _kept(columns, selection)
    totals = tuple(
        c for j in question.answers for i in range(len(stage.noised[j].draws)) for c in [total(j, i, exact=False)]
    )
    columns_kept = {GROUP.name: np.arange(len(kept), dtype=np.int64), **{c.name: columns[c.name][kept] for c in totals}}
    asked = Question(sql=question.sql, columns=(GROUP, *totals), answers=question.answers)
    return _listed(columns, stage, kept), Exact(((asked, columns_kept),))


def _kept(columns: Mapping[str, Array], selection: Selection) -> Integers:
    votes = add_noise(_integers(columns[VOTES.name]), selection.draw)
    kept = np.flatnonzero(votes >= selection.at_least)
    if len(kept) > SELECTED_LIMIT:
        kept = np.sort(kept[np.argsort(-votes[kept], kind="stable")[:SELECTED_LIMIT]])
    return kept


def all_keys_of(exact: Exact, stage: NoisyStage) -> Ready:
    """Without noise: every key that occurs."""
    ((_, columns),) = answers_of(exact)
    count = len(next(iter(columns.values())))
    return _listed(columns, stage, np.arange(count, dtype=np.int64))


def _listed(columns: Mapping[str, Array], stage: NoisyStage, kept: Integers) -> Ready:
    ordinals = _integers(columns[GROUP.name])[kept] if GROUP.name in columns else np.zeros(len(kept), dtype=np.int64)
    public = _public_keys(stage, ordinals)
    listed = {
        f"k{i}": public[f"k{i}"] if key.values is not None else columns[f"k{i}"][kept]
        for i, key in enumerate(stage.keys)
    }
    return Ready(stage=stage, groups=Listed(listed, len(kept)))


# --- limits -----------------------------------------------------------------------------------------------------------


def released_limits(exact: Exact, ready: Ready, earlier: Mapping[Chosen, int]) -> tuple[int, ...]:
    """For each choice of the stage the limit that is chosen; earlier: those of the stage that it takes them over from."""
    limits: list[int] = []
    answered = iter(answers_of(exact))
    for choice in ready.stage.choices:
        if choice.as_in is not None:
            limits.append(earlier[choice.of])
            continue
        _, columns = next(answered)
        above = _above(_integers(columns[CANDIDATE.name]), _integers(columns[WEIGHT.name]), len(choice.candidates))
        scored = np.array([scores(choice, above, ready.count)], dtype=np.int64)
        at = choose_most(scored, 1, by=chooser(choice.draw), epsilon=choice.draw.epsilon, sensitivity=choice.draw.reach)
        limits.append(choice.candidates[int(at[0, 0])])
    return tuple(limits)


def released_over(exact: Exact, stage: NoisyStage) -> tuple[tuple[int, int], ...]:
    """How many units are not over each limit that is asked about, and how many are, with noise on both."""
    pairs: list[tuple[int, int]] = []
    for over, (_, columns) in zip(stage.over, answers_of(exact), strict=True):
        counts = np.zeros(2, dtype=np.int64)
        counts[_integers(columns[CANDIDATE.name])] = _integers(columns[WEIGHT.name])
        below, above = add_noise(counts, over.draw).tolist()
        pairs.append((below, above))
    return tuple(pairs)


def _above(first: Integers, units: Integers, candidates: int) -> list[int]:
    """How many units are above each candidate."""
    counts = [0] * (candidates + 1)
    for i, n in zip(first.tolist(), units.tolist(), strict=True):
        counts[i] += n
    return [sum(counts[i + 1 :]) for i in range(candidates)]


# --- measurements -----------------------------------------------------------------------------------------------------


def release(exact: Exact, ready: Ready, *, noiseless: bool = False) -> ReleasedRows:
    """Add the plan's noise to the totals of every group, those without rows among them (zero before the noise).

    noiseless: the plan is one of dpsql.testing.exact, which shows the groups that occur.
    """
    if ready.stage.is_empty:
        return all_keys(ready.stage)
    if noiseless:
        return _without_noise(exact, ready)
    stage, every = ready.stage, np.arange(ready.count, dtype=np.int64)
    columns: dict[str, Array] = {}
    for question, weights in answers_of(exact):
        for j in question.answers:
            one = stage.noised[j].measurement
            if isinstance(one, TopGroups):
                every = _top(_dense(weights, total(j, 0, exact=False), ready.count), one, stage.noised[j].draw)
    for j, noised in enumerate(stage.noised):
        one, answer = noised.measurement, _answer_to(exact, j)
        if isinstance(one, TopGroups):
            continue
        if answer is None:  # nothing moves it, or there is no group
            columns |= {name: np.zeros(len(every), dtype=np.int64) for name in column_names(j, noised)}
        elif isinstance(one, Choice):
            chosen = choose_all(cells(answer), every, one, noised.draw)
            columns |= dict(zip(noised.columns(j, len(one.answers)), chosen, strict=True))
        elif isinstance(one, Histogram):
            bins = _bins(answer, every, one)
            noisy = add_noise(bins.ravel(), noised.draw).reshape(bins.shape)
            columns |= {name: noisy[:, n] for n, name in enumerate(noised.columns(j, len(one.answers)))}
        elif noised.running is not None:
            totals = _dense(answer, total(j, 0, exact=False), ready.count)
            columns[f"m{j}_0"] = released_along(totals, noised, add_noise)
        else:
            for i, draw in enumerate(noised.draws):
                totals = _dense(answer, total(j, i, exact=False), ready.count)[every]
                columns[f"m{j}_{i}"] = add_noise(totals, draw)
    return ReleasedRows(stage=stage.number, columns={**_keys(ready, every), **columns}, rows=len(every))


def all_keys(stage: NoisyStage) -> ReleasedRows:
    """A stage with public keys and nothing to draw: its keys, and zero for what cannot change, without the vault."""
    count = stage.combinations
    columns: dict[str, Array] = dict(_public_keys(stage, np.arange(count, dtype=np.int64)))
    for j, noised in enumerate(stage.noised):
        columns |= {name: np.zeros(count, dtype=np.int64) for name in column_names(j, noised)}
    return ReleasedRows(stage=stage.number, columns=columns, rows=count)


def _answer_to(exact: Exact, j: int) -> Mapping[str, Array] | None:
    return next((answer for question, answer in answers_of(exact) if j in question.answers), None)


def _top(scores: Integers, one: TopGroups, draw: Draw) -> Integers:
    """The groups that are released, in key order: chosen by their exact counts."""
    epsilon, row = draw.epsilon / shares(one), scores[np.newaxis, :]
    return np.sort(choose_most(row, one.count, by=chooser(draw), epsilon=epsilon, sensitivity=draw.reach)[0])


def _dense(answer: Mapping[str, Array], column: VaultColumn, count: int) -> Integers:
    """A total for every group; 0 where the vault has none."""
    at = _ordinals(answer, count)
    totals = np.zeros(count, dtype=np.int64)
    totals[at] = _integers(answer[column.name])
    return totals


def _ordinals(answer: Mapping[str, Array], count: int) -> Integers:
    """Where the vault's groups stand among all of them; anything but a set of known groups is a bug, and stops here."""
    at = _integers(answer[GROUP.name])
    inside = bool(((at >= 0) & (at < count)).all()) if len(at) else True
    seen = np.zeros(count, dtype=bool)
    if inside:
        seen[at] = True
    if not inside or np.count_nonzero(seen) != len(at):
        raise InternalError("the vault answered for groups that are not the plan's")
    return at


def cells(answer: Mapping[str, Array]) -> tuple[Integers, Integers, Integers]:
    """Groups, candidates and weights."""
    group, candidate, weight = (_integers(answer[c.name]) for c in (GROUP, CANDIDATE, WEIGHT))
    return group, candidate, weight


def _bins(answer: Mapping[str, Array], groups: Integers, one: Counted) -> Integers:
    """Groups x bins, as the vault counted them."""
    return np.concatenate(list(matrices(cells(answer), groups, one.candidates)) or [_no_rows(one)])


def _no_rows(one: Counted) -> Integers:
    return np.zeros((0, one.candidates.count), dtype=np.int64)


def _without_noise(exact: Exact, ready: Ready) -> ReleasedRows:
    """Exact mode: the groups that occur (without keys, the one group), totals as text."""
    stage = ready.stage
    (_, occurring), *_ = answers_of(exact)
    places = np.sort(_integers(occurring[GROUP.name]))
    if isinstance(ready.groups, AllRows):
        places = np.zeros(1, dtype=np.int64)
    released = _keys(ready, places)
    for j, noised in enumerate(stage.noised):
        one, answer = noised.measurement, _answer_to(exact, j)
        if isinstance(one, TopGroups):
            continue  # every group is shown, and the statement's own LIMIT is exact
        assert answer is not None
        if isinstance(one, Choice | Histogram):
            answers = answer_exactly(cells(answer), places, one)
            released |= dict(zip(noised.columns(j, len(one.answers)), answers, strict=True))
            continue
        by_group = {int(g): row for row, g in enumerate(_integers(answer[GROUP.name]))}
        for i in range(len(noised.draws)):
            column = answer[total(j, i, exact=True).name]
            texts = [column[by_group[g]] if g in by_group else "0" for g in places.tolist()]
            released[f"m{j}_{i}"] = np.array([*texts, None], dtype=object)[:-1]
    return ReleasedRows(stage=stage.number, columns=released, rows=len(places))


def add_noise(totals: Integers, draw: Draw) -> Integers:
    """Totals plus one draw each. Totals are within 2^62 and noise within 2^40, so int64 holds the sum."""
    match draw.mechanism:
        case "laplace":
            return totals + discrete_laplace(draw.scale, len(totals), draw.parts)
        case "gaussian":
            return totals + discrete_gaussian(draw.scale, len(totals), draw.parts)
        case "none":
            return np.zeros(len(totals), dtype=np.int64)
        case _:
            raise InternalError("exact totals are never noisy ones")


def _integers(values: Array) -> Integers:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise InternalError("a total is NULL")
    return np.asarray(values, dtype=np.int64)


def _keys(ready: Ready, places: Integers) -> dict[str, Array]:
    """The key columns of groups by their places."""
    if isinstance(ready.groups, Listed):
        return {name: column[places] for name, column in ready.groups.columns.items()}
    return _public_keys(ready.stage, places)


def _public_keys(stage: NoisyStage, ordinals: Integers) -> dict[str, Array]:
    """The values of the public keys at combined ordinals; the last key varies fastest."""
    if stage.is_empty:
        nothing = np.zeros(0, dtype=np.int64)
        return {f"k{i}": transported((), key.field.type, nothing) for i, key in enumerate(stage.keys)}
    columns: dict[str, Array] = {}
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            continue
        stride //= len(key.values)
        columns[f"k{i}"] = transported(key.values, key.field.type, (ordinals // stride) % len(key.values))
    return columns
