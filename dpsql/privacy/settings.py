"""What one query asks for, after OPTIONS, SET, connect() and the catalog have had their say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.sql.statement import Accuracy, Weights

MechanismChoice = OneOf["auto", "laplace", "gaussian"]
AUTO: OneOf["auto"] = "auto"
RELEASED: OneOf["released"] = "released"
AskedLimit = int | OneOf["auto", "released"]
Released = Mapping[tuple[str, ...], Mapping[str, Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings:
    """rows, groups, rows_in_group: limits asked for, with the meaning of plan.tracked.Limits; never both kinds of rows;
    "auto": the data choose, whatever is declared; "released": what they chose for an earlier query.
    released: the limits that were chosen, by the tables that were read: of rows, of groups, and of
    sums by name, in their units. Public numbers.
    rho: what it may cost in zCDP; epsilon is then the largest that costs no more.
    nonnegative: counts are shown as the nearest whole numbers from 0 on with the same total.
    proof: EXPLAIN shows the whole proof of isolation.
    error: which mean error the levels of grouping sets make small; None: the least without a loss at any level.
    accuracy: how near numbers shall be, with this confidence; epsilon is then the most that may be spent on it. best: all of
    it is spent where it is not enough; else that is refused.
    assumed_rows: how many rows count in each group, where it is asked beforehand how near an average is.
    over_limit: how many units are over the limits is asked, too.
    exact: no noise and no threshold; only dpsql.testing sets it."""

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None = None
    mechanism: MechanismChoice = "auto"
    rows: AskedLimit | None = None
    groups: AskedLimit | None = None
    rows_in_group: int | None = None
    released: Released = field(default_factory=lambda: MappingProxyType({}))
    split: Weights | None = None
    error: OneOf["per cell", "per level"] | None = None
    accuracy: Accuracy | None = None
    confidence: Fraction = Fraction(95, 100)
    assumed_rows: int | None = None
    best: bool = False
    over_limit: bool = False
    top_k: bool = False
    nonnegative: bool = False
    intervals: Fraction | None = None
    proof: bool = False
    exact: bool = False


@dataclass(slots=True)
class Defaults:
    """Settings of each query, by SET and by connect(); None where nothing was said."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    mechanism: MechanismChoice = "auto"
    rows: AskedLimit | None = None
    groups: AskedLimit | None = None
    rows_in_group: int | None = None
    intervals: Fraction | None = None
    top_k: bool = False
    nonnegative: bool = False
    confirm_above: Fraction | None = None
    fresh: bool = False
    time_limit: Fraction = Fraction(60)  # seconds of what runs apart
