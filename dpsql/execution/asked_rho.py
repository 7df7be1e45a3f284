"""OPTIONS(rho = …): the query costs at most this ρ, and the plan has the largest ε that does.

What a plan costs is a function of the SQL, the metadata and ε, so the search reads nothing private.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction

from dpsql.errors import Refused
from dpsql.plan.stages import ReleasePlan
from dpsql.privacy.settings import QuerySettings
from dpsql.sql.options import EPSILON_RANGE
from dpsql.sql.statement import Statement

STEPS = 24  # the last ones are less than a ten-thousandth of ε


def check(statement: Statement, accounting: str) -> None:
    """rho stands alone, and under zcdp."""
    rho = statement.options.get("rho")
    if rho is None:
        return
    if accounting != "zcdp":
        raise Refused(
            "rho is for budgets that are kept in ρ",
            code=119,
            at=rho.at,
            why=f"This dataset has `accounting: {accounting}`, which adds up ε and δ.",
            fix="Write epsilon = …, or have the owner choose `accounting: zcdp`.",
        )
    other = next((name for name in ("epsilon", "accuracy") if name in statement.options), None)
    if other is not None:
        raise Refused(
            f"rho and {other} both say what the query may cost",
            code=119,
            at=rho.at,
            fix=f"Leave rho or {other} out.",
        )


def with_mechanism(settings: QuerySettings) -> QuerySettings:
    """For one ρ Gaussian noise has half the variance of Laplace noise, or less."""
    gaussian = settings.mechanism == "auto" and settings.delta > 0
    return dataclasses.replace(settings, rho=None, mechanism="gaussian" if gaussian else settings.mechanism)


def within(rho: Fraction, planned: Callable[[Fraction], ReleasePlan]) -> ReleasePlan:
    """The plan of the largest ε, to four digits, that costs no more than rho, what comes before it included."""
    least, most = EPSILON_RANGE
    low = max(least, min(most, Fraction(math.sqrt(2 * rho))))
    best = planned(low)
    while _cost(best) > rho and low > least:
        low = max(least, low / 2)
        best = planned(low)
    if _cost(best) > rho:
        raise Refused("this ρ is too small", code=134, why="No ε costs so little.", fix="Ask with a larger rho.")
    high = low
    while high < most and _cost(best) < rho:
        low, high = high, min(most, high * 2)
        made = planned(high)
        if _cost(made) > rho or not made.stages:
            break
        best, low = made, high
    for _ in range(STEPS):
        if high - low < low / 10_000:
            break
        middle = Fraction(math.sqrt(low * high)).limit_denominator(10**12)
        made = planned(middle)
        if _cost(made) <= rho:
            best, low = made, middle
        else:
            high = middle
    return best


def _cost(plan: ReleasePlan) -> Fraction:
    return plan.cost.rho + sum((first.plan.cost.rho for first in plan.before), Fraction(0))
