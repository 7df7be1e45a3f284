"""Released rows, which may be shown, and the keys of their groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpsql.plan.ready import Listed, Ready
from dpsql.plan.render.finish import column_names
from dpsql.plan.stages import NoisyStage
from dpsql.plan.transport import transported
from dpsql.plan.vault_query import key_name
from dpsql.release.exact import Array, Integers


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


def all_keys(stage: NoisyStage) -> ReleasedRows:
    """A stage with public keys and nothing to draw: its keys, and zero for what cannot change, without the vault."""
    count = stage.combinations
    columns: dict[str, Array] = dict(public_keys(stage, np.arange(count, dtype=np.int64)))
    for j, noised in enumerate(stage.noised):
        columns |= {name: np.zeros(count, dtype=np.int64) for name in column_names(j, noised)}
    return ReleasedRows(stage=stage.number, columns=columns, rows=count)


def keys_at(ready: Ready, places: Integers) -> dict[str, Array]:
    """The key columns of groups by their places."""
    if isinstance(ready.groups, Listed):
        return {name: column[places] for name, column in ready.groups.columns.items()}
    return public_keys(ready.stage, places)


def public_keys(stage: NoisyStage, ordinals: Integers) -> dict[str, Array]:
    """The values of the public keys at combined ordinals; the last key varies fastest."""
    if stage.is_empty:
        nothing = np.zeros(0, dtype=np.int64)
        return {key_name(i): transported((), key.field.type, nothing) for i, key in enumerate(stage.keys)}
    columns: dict[str, Array] = {}
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            continue
        stride //= len(key.values)
        columns[key_name(i)] = transported(key.values, key.field.type, (ordinals // stride) % len(key.values))
    return columns
