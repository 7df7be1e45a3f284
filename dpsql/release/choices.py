"""Release of choices: from the exact weights of candidates to the chosen values, or to the exact ones without noise."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

import numpy as np

from dpsql.errors import InternalError
from dpsql.mechanisms import order_statistics
from dpsql.mechanisms.choice import Chooser
from dpsql.plan.balls import FULL
from dpsql.plan.candidates import WORD, Candidates, Ends, Extreme, MostFrequent, Quantiles, Rule
from dpsql.plan.measurements import Choice, Counted, Histogram
from dpsql.plan.stages import Draw
from dpsql.plan.transport import transported
from dpsql.privacy.auto import ladder_scores
from dpsql.release.exact import Array, Integers

Cells = tuple[Integers, Integers, Integers]  # groups, candidates, weights
BLOCK = 2**18  # cells handled at once: the arrays stay in the cache


def matrices(cells: Cells, groups: Integers, candidates: Candidates) -> Iterator[Integers]:
    """The weights of `groups`, a block of rows after the other; absent ones are 0."""
    place, at, weight = cells
    if len(at) and not bool(((at >= 0) & (at < candidates.count)).all()):
        raise InternalError("the vault answered for candidates that are not the plan's")
    order = np.argsort(place, kind="stable")
    place, at, weight = place[order], at[order], weight[order]
    rows = max(1, BLOCK // candidates.count)
    for start in range(0, len(groups), rows):
        block = groups[start : start + rows]
        dense = np.zeros((len(block), candidates.count), dtype=np.int64)
        first, last = np.searchsorted(place, block), np.searchsorted(place, block, side="right")
        sizes = last - first
        to = np.repeat(np.arange(len(block)), sizes)
        source = np.repeat(first - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes) + np.arange(sizes.sum())
        dense[to, at[source]] = weight[source]
        yield dense


def choose_all(cells: Cells, groups: Integers, one: Choice, draw: Draw) -> list[Array]:
    """For each answer of the measurement one column, a value for each group. Each choice has the whole of its ε: a unit's
    weights over all groups together are within the reach."""
    epsilon = draw.epsilon / one.question.rounds
    parts = [_choose(weights, one, draw, epsilon) for weights in matrices(cells, groups, one.candidates)]
    chosen = np.concatenate(parts) if parts else np.zeros((0, len(one.answers)), dtype=np.int64)
    if isinstance(one.question, Ends):
        return [chosen[:, n] for n in range(len(one.answers))]
    return [_values(chosen[:, n], one) for n in range(len(one.answers))]


def _choose(weights: Integers, one: Choice, draw: Draw, epsilon: Fraction) -> Integers:
    by = chooser(draw)
    match one.question:
        case Quantiles(spread=spread, fractions=fractions):
            # a candidate's rows are spread over its cells, a cell's weight counted in spread-ths of the unit
            cells = np.repeat(weights, spread, axis=1) if spread > 1 else weights
            reach = draw.reach * spread
            return (
                order_statistics.choose_quantiles(cells, fractions, by=by, epsilon=epsilon, sensitivity=reach) // spread
            )
        case Extreme(greatest=greatest):
            return order_statistics.choose_end(
                weights, draw.rank, greatest=greatest, by=by, epsilon=epsilon, sensitivity=draw.reach
            )[:, np.newaxis]
        case Ends() as ends:
            return np.array([_ends(row, ends, draw, by, epsilon) for row in weights], dtype=np.int64)
        case MostFrequent(count=count):
            return order_statistics.choose_most(weights, count, by=by, epsilon=epsilon, sensitivity=draw.reach)
        case _:
            assert_never(one.question)


def _ends(votes: Integers, ends: Ends, draw: Draw, by: Chooser, epsilon: Fraction) -> tuple[int, int]:
    """The bounds, on the axis. Each side is a choice with all of ε.

    Lemma: both together are ε-DP. Proof: a unit votes on one side only, so the other side's choice does not see it; on its
    own side it raises some first numbers of units above the limits by one (privacy/auto.scores, whose lemma is the rest).
    """
    chosen: list[int] = []
    places = len(ends.limits) + 1
    for side in (votes[places:], votes[:places]):
        above = [int(side[i + 1 :].sum()) // draw.reach for i in range(places - 1)]
        scored = np.array([ladder_scores(above, epsilon)], dtype=np.int64)
        at = order_statistics.choose_most(scored, 1, by=by, epsilon=epsilon, sensitivity=1)
        chosen.append(ends.limits[int(at[0, 0])])
    return -chosen[0], chosen[1]


def chooser(draw: Draw) -> Chooser:
    """The mechanism that the draw was calibrated and charged for, and no other."""
    if draw.mechanism not in ("permute-and-flip", "exponential"):
        raise InternalError("a choice is made by a mechanism that chooses")
    return draw.mechanism


def _values(ordinals: Integers, one: Counted) -> Array:
    """Candidates as they are released: grid integers, or values in the form keys travel in."""
    candidates = one.candidates
    if candidates.values is not None:
        assert one.part is not None
        return transported(candidates.values, one.part.type, ordinals)
    assert one.axis is not None
    low, cell = one.axis.low, candidates.cell
    if abs(low) + cell * candidates.count < WORD:
        return np.minimum(low + cell * ordinals, one.axis.high)
    return np.array([min(low + cell * k, one.axis.high) for k in ordinals.tolist()], dtype=np.int64)


def answer_exactly(cells: Cells, groups: Integers, one: Counted) -> list[Array]:
    """Without noise, as text; None where a group has no rows."""
    rows: list[list[str | None]] = []
    for weights in matrices(cells, groups, one.candidates):
        rows += [_exactly(row, one) for row in weights]
    return [np.array([row[n] for row in rows] or [None], dtype=object)[: len(rows)] for n in range(len(one.answers))]


def _exactly(weights: Integers, one: Counted) -> list[str | None]:
    if isinstance(one, Histogram):
        return [str(int(w)) for w in weights]
    question = one.question
    if isinstance(question, Ends):
        places = len(question.limits) + 1
        far = [max(np.flatnonzero(side), default=0) for side in (weights[places:], weights[:places])]
        down, up = (question.limits[min(int(i), places - 2)] for i in far)
        return [str(-down), str(up)]
    if isinstance(question, MostFrequent):
        order = np.argsort(-weights, kind="stable")[: question.count]
        return [_text(int(k), one) if weights[k] > 0 else None for k in order]
    present = np.flatnonzero(weights)
    if not len(present):
        return [None] * len(one.answers)
    if isinstance(question, Extreme):
        return [_text(int(present[-1] if question.greatest else present[0]), one)]
    total = int(weights.sum()) // FULL
    ends = np.cumsum(weights)
    return [_quantile(ends, max(total, 1), f, i, one) for f, i in zip(question.fractions, question.rules, strict=True)]


def _quantile(ends: Integers, rows: int, fraction: Fraction, rule: Rule, one: Choice) -> str | None:
    """DuckDB's: between the rows around fraction·(n−1), or the ⌈fraction·n⌉-th row (from above: the ⌊fraction·n⌋+1-th)."""

    def at(row: int) -> int:
        return min(int(np.searchsorted(ends, (row + 1) * FULL)), len(ends) - 1)

    if rule == "lower":
        return _text(at(max(0, -(-fraction.numerator * rows // fraction.denominator) - 1)), one)
    if rule == "upper":
        return _text(at(min(rows - 1, fraction.numerator * rows // fraction.denominator)), one)
    spot = fraction * (rows - 1)
    first = spot.numerator // spot.denominator
    low, high = at(first), at(min(first + 1, rows - 1))
    assert one.axis is not None
    between = one.axis.low + one.candidates.cell * (low + (spot - first) * (high - low))
    return str(min(round(between), one.axis.high))


def _text(ordinal: int, one: Counted) -> str | None:
    value = _values(np.array([ordinal], dtype=np.int64), one).tolist()[0]
    return None if value is None else str(value)
