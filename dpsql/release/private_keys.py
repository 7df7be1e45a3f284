"""Private keys: from the votes of units to the keys that are released, with which a stage is ready."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpsql.plan.ready import Listed, Ready
from dpsql.plan.stages import NoisyStage, Selection
from dpsql.plan.vault_query import GROUP, VOTES, key_name
from dpsql.privacy.noise_grid import SELECTED_LIMIT
from dpsql.release.exact import Array, Exact, Integers, answers_of, integers
from dpsql.release.noise import add_noise
from dpsql.release.released_rows import public_keys


def released_round(exact: Exact, stage: NoisyStage, round_: int) -> Mapping[str, Array]:
    """The private keys whose noisy votes reach the round's threshold; at most 2^20, those with the most noisy votes."""
    ((_, columns),) = answers_of(exact)
    kept = _kept(columns, stage.selections[round_])
    return {name: column[kept] for name, column in columns.items() if name != VOTES.name}


def released_together(exact: Exact, stage: NoisyStage) -> tuple[Ready, Exact]:
    """The same, where totals were asked for beside the votes: and the totals of the keys that are released."""
    ((question, columns),) = answers_of(exact)
    (selection,) = stage.selections
    kept = _kept(columns, selection)
    totals = tuple(c for c in question.columns if c.of == "total")
    columns_kept = {GROUP.name: np.arange(len(kept), dtype=np.int64), **{c.name: columns[c.name][kept] for c in totals}}
    asked = dataclasses.replace(question, columns=(GROUP, *totals))
    return _listed(columns, stage, kept), Exact(((asked, columns_kept),))


def _kept(columns: Mapping[str, Array], selection: Selection) -> Integers:
    votes = add_noise(integers(columns[VOTES.name]), selection.draw)
    kept = np.flatnonzero(votes >= selection.at_least)
    if len(kept) > SELECTED_LIMIT:
        kept = np.sort(kept[np.argsort(-votes[kept], kind="stable")[:SELECTED_LIMIT]])
    return kept


def ready_with_keys(rounds: Sequence[Mapping[str, Array]], stage: NoisyStage) -> Ready:
    """The stage with the keys of all rounds, in key order; at most 2^20, of the earlier rounds first. Its groups are public
    from here on."""
    keys = rounds[0] if len(rounds) == 1 else _merged(rounds, stage)
    return _listed(keys, stage, np.arange(len(next(iter(keys.values()))), dtype=np.int64))


def all_keys_of(exact: Exact, stage: NoisyStage) -> Ready:
    """Without noise: every key that occurs."""
    ((_, columns),) = answers_of(exact)
    count = len(next(iter(columns.values())))
    return _listed(columns, stage, np.arange(count, dtype=np.int64))


def _listed(columns: Mapping[str, Array], stage: NoisyStage, kept: Integers) -> Ready:
    ordinals = integers(columns[GROUP.name])[kept] if GROUP.name in columns else np.zeros(len(kept), dtype=np.int64)
    public = public_keys(stage, ordinals)
    listed = {
        name: public[name] if key.values is not None else columns[name][kept]
        for name, key in ((key_name(i), key) for i, key in enumerate(stage.keys))
    }
    return Ready(stage=stage, groups=Listed(listed, len(kept)))


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
            value = row[key_name(i)]
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
