"""Step 11, release: the one door out. Exact totals go in; what comes out has noise, and rare keys withheld.

Exact tells nobody anything: it has no repr of its contents, no iteration, no pickling. Only this module and
dpsql.testing read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dpsql.choosing import answer_exactly, bins_of, choose_all
from dpsql.errors import InternalError
from dpsql.mechanisms.lattice import discrete_gaussian, discrete_laplace
from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.candidates import TopGroups
from dpsql.plan.stages import Noise, Stage
from dpsql.plan.transport import transported

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


class Exact:
    """The exact result of a stage's vault query. Opaque on purpose."""

    __slots__ = ("_apart", "_columns")

    def __init__(self, columns: Mapping[str, Array], apart: Mapping[int, Mapping[str, Array]] | None = None) -> None:
        self._columns = columns
        self._apart = apart or {}

    def __repr__(self) -> str:
        return "<exact totals, not shown>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact totals are not pickled")

    def __iter__(self) -> NoReturn:
        raise TypeError("exact totals are not iterated")


def columns_of(exact: Exact) -> Mapping[str, Array]:
    """The totals themselves; for release and dpsql.testing alone."""
    return exact._columns


def apart_of(exact: Exact) -> Mapping[int, Mapping[str, Array]]:
    """The answers of measures with a query of their own, by position; for release and dpsql.testing alone."""
    return exact._apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy:
    """Released rows: `k<i>` keys (int64, or text as objects; masked where NULL may be) and `m<j>` noisy integers."""

    stage: int
    columns: Mapping[str, Array]
    rows: int


def release(exact: Exact, stage: Stage, *, noiseless: bool = False) -> Noisy:
    """Add the plan's noise to every total and withhold rare private keys.

    With public keys all keys are released, those without rows with zero before the noise. With private keys the unit
    count of every key gets its noise first, unrounded; keys below the threshold go; only then is the rest drawn.
    noiseless: the plan is one of dpsql.testing.exact, which shows the groups that occur.
    """
    if stage.is_empty:
        return all_keys(stage)
    if noiseless:
        return _without_noise(exact, stage)
    if stage.public_keys:
        return _public(exact, stage)
    return _private(exact, stage)


def all_keys(stage: Stage) -> Noisy:
    """A stage with public keys and nothing to draw: its keys, and zero for what cannot change, without the vault."""
    count = stage.combinations
    columns: dict[str, Array] = dict(_public_keys(stage, np.arange(count, dtype=np.int64)))
    for j, measure in enumerate(stage.measures):
        columns |= {name: np.zeros(count, dtype=np.int64) for name in measure.columns(j)}
    return Noisy(stage=stage.number, columns=columns, rows=count)


def _public(exact: Exact, stage: Stage) -> Noisy:
    columns = columns_of(exact)
    count = stage.combinations
    at = _ordinals(columns, stage)
    every = np.arange(count, dtype=np.int64) if stage.top is None else _top(columns, at, stage, stage.top)
    released: dict[str, Array] = dict(_public_keys(stage, every))
    for j, (measure, noise) in enumerate(zip(stage.measures, stage.noises, strict=True)):
        if measure.apart:
            released |= _apart(exact, stage, j, every)
        elif measure.summed:
            totals = np.zeros(count, dtype=np.int64)
            totals[at] = _integers(columns[f"m{j}"])
            released[f"m{j}"] = add_noise(totals[every], noise)
    return Noisy(stage=stage.number, columns=released, rows=len(every))


def _top(columns: Mapping[str, Array], at: Integers, stage: Stage, j: int) -> Integers:
    """The groups that are released, in key order: chosen by the exact totals of the count that decides."""
    candidates, noise = stage.measures[j].candidates, stage.noises[j]
    assert candidates is not None and isinstance(candidates.question, TopGroups)
    position, rounds = candidates.question.measure, candidates.question.count
    totals = np.zeros((1, stage.combinations), dtype=np.int64)
    totals[0, at] = _integers(columns[f"m{position}"])
    sensitivity = stage.noises[position].sensitivity
    return np.sort(choose_most(totals, rounds, epsilon=noise.epsilon / rounds, sensitivity=sensitivity)[0])


def _apart(exact: Exact, stage: Stage, j: int, groups: Integers) -> dict[str, Array]:
    """A measure with a query of its own, noisy, for groups by their places in the vault's answer."""
    measure, noise, answer = stage.measures[j], stage.noises[j], apart_of(exact)[j]
    if measure.chosen:
        chosen = choose_all(answer, groups, measure, noise, stage)
        return dict(zip(measure.columns(j), chosen, strict=True))
    if measure.candidates is not None:
        bins = bins_of(answer, groups, measure)
        noisy = add_noise(bins.ravel(), noise).reshape(bins.shape)
        return {name: noisy[:, n] for n, name in enumerate(measure.columns(j))}
    return {f"m{j}": add_noise(_at(answer, groups), noise)}


def _at(answer: Mapping[str, Array], groups: Integers) -> Integers:
    """The answer of each group; 0 where there is none."""
    place, totals = _integers(answer["i"]), _integers(answer["m"])
    order = np.argsort(place)
    place, totals = place[order], totals[order]
    found = np.searchsorted(place, groups)
    hit = np.zeros(len(groups), dtype=bool)
    inside = found < len(place)
    hit[inside] = place[found[inside]] == groups[inside]
    values = np.zeros(len(groups), dtype=np.int64)
    values[hit] = totals[found[hit]]
    return values


def _ordinals(columns: Mapping[str, Array], stage: Stage) -> Integers:
    """Where the vault's groups stand among all public keys; anything but a set of known keys is a bug, and stops here."""
    at = _integers(columns["g"]) if stage.keys else np.zeros(len(columns["here"]), dtype=np.int64)
    inside = bool(((at >= 0) & (at < stage.combinations)).all()) if len(at) else True
    seen = np.zeros(stage.combinations, dtype=bool)
    if inside:
        seen[at] = True
    if not inside or np.count_nonzero(seen) != len(at):
        raise InternalError("the vault answered for keys that are not the plan's")
    return at


def _private(exact: Exact, stage: Stage) -> Noisy:
    columns = columns_of(exact)
    threshold = stage.threshold
    if threshold is None:
        raise InternalError("private keys without a threshold")
    unit_noise = stage.noises[threshold.measure]
    units = add_noise(_integers(columns[f"m{threshold.measure}"]), unit_noise)
    kept = np.flatnonzero(units >= threshold.at_least)
    released: dict[str, Array] = {}
    ordinals = _integers(columns["g"])[kept] if "g" in columns else np.zeros(len(kept), dtype=np.int64)
    public = _public_keys(stage, ordinals)
    for i, key in enumerate(stage.keys):
        released[f"k{i}"] = public[f"k{i}"] if key.values is not None else columns[f"k{i}"][kept]
    for j, (measure, noise) in enumerate(zip(stage.measures, stage.noises, strict=True)):
        if measure.apart:
            released |= _apart(exact, stage, j, kept)
        elif j == threshold.measure:
            released[f"m{j}"] = units[kept]
        else:
            released[f"m{j}"] = add_noise(_integers(columns[f"m{j}"])[kept], noise)
    return Noisy(stage=stage.number, columns=released, rows=len(kept))


def _without_noise(exact: Exact, stage: Stage) -> Noisy:
    """Exact mode: the groups that occur (without keys, the one group), totals as text."""
    columns = columns_of(exact)
    count = len(columns["here"])
    order = np.arange(count)
    if stage.public_keys and stage.keys:
        order = np.argsort(_integers(columns["g"]), kind="stable")
    ordinals = _integers(columns["g"])[order] if "g" in columns else np.zeros(count, dtype=np.int64)
    public = _public_keys(stage, ordinals)
    released: dict[str, Array] = {}
    for i, key in enumerate(stage.keys):
        released[f"k{i}"] = public[f"k{i}"] if key.values is not None else columns[f"k{i}"][order]
    places = ordinals if stage.public_keys else order
    for j, measure in enumerate(stage.measures):
        if measure.kind == "groups":
            continue  # every group is shown, and the statement's own LIMIT is exact
        if measure.candidates is not None:
            answers = answer_exactly(apart_of(exact)[j], places, measure)
            released |= dict(zip(measure.columns(j), answers, strict=True))
        elif measure.apart:
            found = _at(apart_of(exact)[j], places).tolist()
            released[f"m{j}"] = np.array([*map(str, found), None], dtype=object)[:-1]
        else:
            released[f"m{j}"] = columns[f"m{j}"][order]
    return Noisy(stage=stage.number, columns=released, rows=count)


def add_noise(totals: Integers, noise: Noise) -> Integers:
    """Totals plus one draw each. Totals are within 2^62 and noise within 2^40, so int64 holds the sum."""
    match noise.mechanism:
        case "laplace":
            return totals + discrete_laplace(noise.scale, len(totals))
        case "gaussian":
            return totals + discrete_gaussian(noise.scale, len(totals))
        case "none":
            return np.zeros(len(totals), dtype=np.int64)
        case _:
            raise InternalError("exact totals are never noisy ones")


def _integers(values: Array) -> Integers:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise InternalError("a total is NULL")
    return np.asarray(values, dtype=np.int64)


def _public_keys(stage: Stage, ordinals: Integers) -> dict[str, Array]:
    """The values of the public keys at combined ordinals; the last key varies fastest."""
    if stage.is_empty:
        nothing = np.zeros(0, dtype=np.int64)
        return {f"k{i}": transported((), key.field.type, nothing) for i, key in enumerate(stage.keys)}
    found: dict[str, Array] = {}
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            continue
        stride //= len(key.values)
        found[f"k{i}"] = transported(key.values, key.field.type, (ordinals // stride) % len(key.values))
    return found
