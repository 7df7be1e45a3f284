"""How much ε a query needs for numbers as near as they are asked to be: from its plan alone, before anything is read.

Noise shrinks as ε grows, so the least ε is found by halving. It is a function of the plan: the same query finds the same ε,
and its repeats are free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dpsql.catalog.model import fold
from dpsql.errors import Refused
from dpsql.interval_width import widths
from dpsql.plan.stages import ReleasePlan
from dpsql.sql.statement import Accuracy

LEAST = Fraction(1, 10**6)
FINE = Fraction(1, 200)  # how near the least ε is found


def least_epsilon(
    planned: Callable[[Fraction], ReleasePlan], accuracy: Accuracy, confidence: Fraction, most: Fraction
) -> Fraction:
    """The least ε, within half a percent, for which each named column's interval (all columns', if one number is asked for)
    is no wider. Refused where `most` is not enough, or where a column's width is not known before the data are asked."""
    found = planned(most)
    if found.before or any(stage.unsettled for stage in found.stages):
        raise Refused(
            "how near this is depends on limits or bounds that the data choose",
            code=119,
            why="The ε for an accuracy is found before anything is read.",
            fix="Say max_rows_contributed = a number or 'released', or ask for an ε.",
        )
    asked = _asked(accuracy, widths(found, confidence))
    far = [name for name in asked if _widths(found, confidence)[name] > asked[name]]
    if far:
        raise Refused(
            f"at ε = {float(most):.6g} {far[0]} is within ±{_widths(found, confidence)[far[0]]:.6g}, "
            f"not ±{float(asked[far[0]]):.6g}",
            code=119,
            why="accuracy asks for the least ε that is enough, up to the query's epsilon.",
            fix="Ask for less, raise epsilon, or group more coarsely.",
        )
    low, high = Fraction(0), most
    while high - low > FINE * high and high > LEAST:
        middle = (low + high) / 2
        enough = _enough(planned, middle, asked, confidence)
        low, high = (low, middle) if enough else (middle, high)
    return _rounded_up(high, most)


def _enough(
    planned: Callable[[Fraction], ReleasePlan], epsilon: Fraction, asked: Mapping[str, Fraction], confidence: Fraction
) -> bool:
    try:
        known = _widths(planned(epsilon), confidence)
    except Refused:  # so little that no noise fits the sampler
        return False
    return all(known[name] <= most for name, most in asked.items())


def _widths(plan: ReleasePlan, confidence: Fraction) -> dict[str, float]:
    return {fold(name): width for name, width in widths(plan, confidence).items()}


def _asked(accuracy: Accuracy, known: Mapping[str, float]) -> dict[str, Fraction]:
    names = {fold(name) for name in known}
    given = dict.fromkeys(names, accuracy) if isinstance(accuracy, Fraction) else {fold(n): a for n, a in accuracy}
    for name in given:
        if name not in names:
            raise _unknown(name, sorted(names))
    if not given:
        raise _unknown("a column", [])
    return given


def _unknown(name: str, names: list[str]) -> Refused:
    return Refused(
        f"how near {name} is cannot be told beforehand",
        code=119,
        why="It is known of counts and sums, not of what is made of several numbers or chosen among values.",
        fix=f"Ask for the accuracy of {', '.join(names)}." if names else "Ask for an ε.",
    )


def _rounded_up(epsilon: Fraction, most: Fraction) -> Fraction:
    """Three digits, so that it can be read and asked for again."""
    digit = Fraction(1)
    while digit > epsilon:
        digit /= 10
    while digit * 10 <= epsilon:
        digit *= 10
    return min(-(-epsilon // (digit / 100)) * digit / 100, most)
