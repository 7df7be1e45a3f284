"""A stage that is ready to run: all its groups are public, because it has no private keys or they have been released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import Array


@dataclass(frozen=True, slots=True)
class AllRows:
    """No keys: one group."""


@dataclass(frozen=True, slots=True)
class Combinations:
    """Every combination of the public keys; the last key varies fastest."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The groups that were selected and released, in their order: for each key a column, in the form keys travel in."""

    columns: Mapping[str, Array]
    count: int


@dataclass(frozen=True, slots=True)
class Occurring:
    """Private keys before they are selected: rows have their keys beside the ordinal of the public ones."""


Groups = AllRows | Combinations | Listed | Occurring


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ready:
    """What the renderer and release see of a stage."""

    stage: NoisyStage
    groups: Groups

    @property
    def count(self) -> int:
        return self.groups.count if isinstance(self.groups, Listed) else self.stage.combinations


def with_public_keys(stage: NoisyStage) -> Ready:
    return Ready(stage=stage, groups=Combinations() if stage.keys else AllRows())
