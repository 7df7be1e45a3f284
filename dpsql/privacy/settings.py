"""What one query asks for, after OPTIONS, SET, connect() and the catalog have had their say."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.sql.statement import Weights

MechanismChoice = OneOf["auto", "laplace", "gaussian"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings:
    """rows, groups, rows_in_group: limits asked for, with the meaning of plan.tracked.Limits; never both kinds of rows.
    proof: EXPLAIN shows the whole proof of isolation.
    exact: no noise and no threshold; only dpsql.testing sets it."""

    epsilon: Fraction | None
    delta: Fraction
    mechanism: MechanismChoice = "auto"
    rows: int | None = None
    groups: int | None = None
    rows_in_group: int | None = None
    split: Weights | None = None
    top_k: bool = False
    intervals: Fraction | None = None
    proof: bool = False
    exact: bool = False
