"""What the vault is asked for one stage, and the columns it answers: the only place with their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    of: OneOf["group", "candidate", "weight", "votes", "key", "total"]
    type: OneOf["BIGINT", "VARCHAR"] = "BIGINT"
    nullable: bool = False


GROUP = VaultColumn("g", "group")  # a group's ordinal; without keys 0
CANDIDATE = VaultColumn("v", "candidate")  # a candidate's ordinal
WEIGHT = VaultColumn("w", "weight")  # of a group's candidate
VOTES = VaultColumn("votes", "votes")  # of a key


def total_name(j: int, i: int) -> str:
    """Of total (or answer) i of the stage's measurement j, in the vault's answers and in the noisy table."""
    return f"m{j}_{i}"


def key_name(i: int) -> str:
    """Of the stage's key i, there and there."""
    return f"k{i}"


def total(j: int, i: int, *, exact: bool) -> VaultColumn:
    """Total i of the stage's measurement j; without noise as text, NULL where there is nothing to add."""
    return VaultColumn(total_name(j, i), "total", "VARCHAR" if exact else "BIGINT", nullable=exact)


def key_part(i: int, type_: Type) -> VaultColumn:
    """A key in the form it travels in."""
    return VaultColumn(key_name(i), "key", "VARCHAR" if is_text(type_) else "BIGINT", nullable=True)


@dataclass(frozen=True, slots=True)
class Step:
    """A named SELECT that later ones read. stored: evaluated once, and kept; False: evaluated where it is read; None: as the
    engine likes. kept: stored, for later statements of the same run, too, where they say the same step."""

    name: str
    select: str
    stored: bool | None = None
    kept: bool = False


def with_steps(steps: Sequence[Step], select: str) -> str:
    """One statement, as DuckDB and PostgreSQL write it."""
    words = {True: "MATERIALIZED ", False: "NOT MATERIALIZED ", None: ""}
    named = ", ".join(f"{step.name} AS {words[step.stored]}({step.select})" for step in steps)
    return f"WITH {named} {select}" if steps else select


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Steps and one SELECT, its columns in order, and the positions of the measurements it answers; or `limit`, over which
    units are counted: of rows, groups, or a measurement's values."""

    steps: tuple[Step, ...] = ()
    select: str
    columns: tuple[VaultColumn, ...]
    answers: tuple[int, ...] = ()
    limit: OneOf["rows", "groups"] | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultQuery:
    """Questions, and the public tables they join, by name."""

    questions: tuple[Question, ...]
    tables: Mapping[str, Columns]


def key_table(values: tuple[Atom, ...], type_: Type) -> Columns:
    """Public values with their ordinals, in the form keys travel in."""
    ordinals = np.arange(len(values), dtype=np.int64)
    return {"ordinal": ordinals, "value": transported(values, type_, ordinals)}
