"""What the vault is asked for one stage, and the columns it answers: the only place with their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt

from dpsql.domain.types import Atom, Type
from dpsql.plan.transport import is_text, transported

Array = npt.NDArray[Any]
Columns = dict[str, Array]


@dataclass(frozen=True, slots=True)
class VaultColumn:
    name: str
    type: OneOf["BIGINT", "VARCHAR"] = "BIGINT"
    nullable: bool = False


GROUP = VaultColumn("g")  # a group's ordinal; without keys 0
CANDIDATE = VaultColumn("v")  # a candidate's ordinal
WEIGHT = VaultColumn("w")  # of a group's candidate
VOTES = VaultColumn("votes")  # of a key


def total(j: int, i: int, *, exact: bool) -> VaultColumn:
    """Total i of the stage's measurement j; without noise as text, NULL where there is nothing to add."""
    return VaultColumn(f"m{j}_{i}", "VARCHAR", nullable=True) if exact else VaultColumn(f"m{j}_{i}")


def key_part(i: int, type_: Type) -> VaultColumn:
    """A private key in the form it travels in."""
    return VaultColumn(f"k{i}", "VARCHAR" if is_text(type_) else "BIGINT", nullable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One SELECT, its columns in order, and the positions of the measurements it answers."""

    sql: str
    columns: tuple[VaultColumn, ...]
    answers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultQuery:
    """Questions, and the public tables they join, by name."""

    questions: tuple[Question, ...]
    tables: Mapping[str, Columns]


def key_table(values: tuple[Atom, ...], type_: Type) -> Columns:
    """Public values with their ordinals, in the form keys travel in."""
    ordinals = np.arange(len(values), dtype=np.int64)
    return {"ordinal": ordinals, "value": transported(values, type_, ordinals)}
