"""The part of release that answers candidates: from their exact weights to chosen values, or to exact ones without noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InternalError
from dpsql.mechanisms import order_statistics
from dpsql.plan.candidates import WEIGHT, WORD, Bins, Candidates, Extreme, MostFrequent, Quantiles, Rule, TopGroups
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.plan.transport import transported

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
BLOCK = 2**18  # cells handled at once: the arrays stay in the cache


def matrices(answer: Mapping[str, Array], groups: Integers, candidates: Candidates) -> Iterator[Integers]:
    """The weights of `groups` (their places in the vault's answer), a block of rows after the other; absent ones are 0."""
    place, at, weight = (np.asarray(answer[name], dtype=np.int64) for name in ("i", "v", "m"))
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


def choose_all(
    answer: Mapping[str, Array], groups: Integers, measure: Measure, noise: Noise, stage: Stage
) -> list[Array]:
    """For each answer of the measure one column, a value for each group."""
    candidates = measure.candidates
    assert candidates is not None
    epsilon = noise.epsilon / candidates.question.levels / stage.bounding.max_groups
    parts = [_choose(w, candidates, noise, epsilon) for w in matrices(answer, groups, candidates)]
    chosen = np.concatenate(parts) if parts else np.zeros((0, measure.answers), dtype=np.int64)
    return [_values(chosen[:, n], measure, candidates) for n in range(measure.answers)]


def _choose(weights: Integers, candidates: Candidates, noise: Noise, epsilon: Fraction) -> Integers:
    question = candidates.question
    match question:
        case Quantiles(spread=spread, fractions=fractions):
            # a candidate's rows are spread over its cells, a cell's weight counted in spread-ths of the unit
            cells = np.repeat(weights, spread, axis=1) if spread > 1 else weights
            sensitivity = noise.sensitivity * spread
            return (
                order_statistics.choose_quantiles(cells, fractions, epsilon=epsilon, sensitivity=sensitivity) // spread
            )
        case Extreme():
            return order_statistics.choose_end(
                weights, noise.rank, greatest=question.greatest, epsilon=epsilon, sensitivity=noise.sensitivity
            )[:, np.newaxis]
        case MostFrequent():
            return order_statistics.choose_most(weights, question.count, epsilon=epsilon, sensitivity=noise.sensitivity)
        case Bins() | TopGroups():
            raise InternalError("bins are counted, and groups chosen, elsewhere")


def _values(ordinals: Integers, measure: Measure, candidates: Candidates) -> Array:
    """Candidates as they are released: grid integers, or values in the form keys travel in."""
    if candidates.values is not None:
        return transported(candidates.values, measure.parts[0].type, ordinals)
    assert measure.axis is not None
    low, cell = measure.axis.low, candidates.cell
    if abs(low) + cell * candidates.count < WORD:
        return np.minimum(low + cell * ordinals, measure.axis.high)
    return np.array([min(low + cell * k, measure.axis.high) for k in ordinals.tolist()], dtype=np.int64)


def bins_of(answer: Mapping[str, Array], groups: Integers, measure: Measure) -> Integers:
    """Groups x bins, as the vault counted them."""
    assert measure.candidates is not None
    parts = list(matrices(answer, groups, measure.candidates))
    return np.concatenate(parts) if parts else np.zeros((0, measure.answers), dtype=np.int64)


def answer_exactly(answer: Mapping[str, Array], groups: Integers, measure: Measure) -> list[Array]:
    """Without noise, as text; None where a group has no rows."""
    candidates = measure.candidates
    assert candidates is not None
    rows: list[list[str | None]] = []
    for weights in matrices(answer, groups, candidates):
        rows += [_exactly(row, measure, candidates) for row in weights]
    return [np.array([row[n] for row in rows] or [None], dtype=object)[: len(rows)] for n in range(measure.answers)]


def _exactly(weights: Integers, measure: Measure, candidates: Candidates) -> list[str | None]:
    question = candidates.question
    match question:
        case Bins():
            return [str(int(w)) for w in weights]
        case TopGroups():
            return []
        case MostFrequent():
            order = np.argsort(-weights, kind="stable")[: question.count]
            return [_text(int(k), measure, candidates) if weights[k] > 0 else None for k in order]
        case _:
            present = np.flatnonzero(weights)
    if not len(present):
        return [None] * measure.answers
    if isinstance(question, Extreme):
        return [_text(int(present[-1] if question.greatest else present[0]), measure, candidates)]
    total = int(weights.sum()) // WEIGHT
    ends = np.cumsum(weights)
    return [
        _quantile(ends, max(total, 1), f, i, measure, candidates)
        for f, i in zip(question.fractions, question.rules, strict=True)
    ]


def _quantile(
    ends: Integers, rows: int, fraction: Fraction, rule: Rule, measure: Measure, candidates: Candidates
) -> str | None:
    """DuckDB's: between the rows around fraction·(n−1), or the ⌈fraction·n⌉-th row (from above: the ⌊fraction·n⌋+1-th)."""

    def at(row: int) -> int:
        return int(np.searchsorted(ends, (row + 1) * WEIGHT))

    if rule == "lower":
        return _text(at(max(0, -(-fraction.numerator * rows // fraction.denominator) - 1)), measure, candidates)
    if rule == "upper":
        return _text(at(min(rows - 1, fraction.numerator * rows // fraction.denominator)), measure, candidates)
    spot = fraction * (rows - 1)
    first = spot.numerator // spot.denominator
    low, high = at(first), at(min(first + 1, rows - 1))
    assert measure.axis is not None
    between = measure.axis.low + candidates.cell * (low + (spot - first) * (high - low))
    return str(min(round(between), measure.axis.high))


def _text(ordinal: int, measure: Measure, candidates: Candidates) -> str | None:
    value = _values(np.array([ordinal], dtype=np.int64), measure, candidates).tolist()[0]
    return None if value is None else str(value)
