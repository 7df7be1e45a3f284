"""Earlier answers to the same question, from the ledger: how many rows there are, and how large a number is. Free, and a
function of released numbers.

It is always the oldest release that says enough. So what a query finds does not change when it has run itself: asked
again, it finds the same ε, and its repeat is free.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.plan.answers import Term, answers
from dpsql.plan.measurements import Measurement
from dpsql.plan.questions import Questions, questions
from dpsql.plan.stages import Draw, Noised, NoisyStage
from dpsql.plan.vault_query import total_name
from dpsql.privacy.error_estimate import Estimating, answered
from dpsql.privacy.measured import width_of
from dpsql.release.codec import decode
from dpsql.release.released_rows import ReleasedRows
from dpsql.report.estimates import Made, Rows, RowsOf
from dpsql.report.half_widths import CONFIDENCE
from dpsql.session import Session

Reals = npt.NDArray[np.float64]
OUTSIDE = 1 - CONFIDENCE


@dataclass(frozen=True, slots=True)
class Released:
    """One release of a stage: the charge's number, its rows, and what it says of each measurement."""

    charge: int
    rows: ReleasedRows
    measured: Sequence[Mapping[str, Any]]

    def total(self, one: Mapping[str, Any], terms: Sequence[Term]) -> Reals:
        """Σ factor·total of every group."""
        columns, position = self.rows.columns, one["position"]
        parts = [float(t.factor) * np.asarray(columns[total_name(position, t.total)], dtype=np.float64) for t in terms]
        summed: Reals = np.sum(parts, axis=0)
        return summed


def _draws(one: Mapping[str, Any]) -> tuple[Draw, ...]:
    return tuple(Draw(mechanism=by, shift=shift, scale=scale, parts=parts) for by, shift, scale, parts in one["draws"])


def released_before(session: Session, asked: Questions | None) -> Iterator[Released]:
    """Releases to the same analyst of a stage's rows, by its keys and with its limits, oldest first."""
    if session.ledger is None or asked is None:
        return
    for before in session.ledger.answering(asked.of, analyst=session.analyst, metadata=session.metadata):
        rows = {noisy.stage: noisy for noisy in decode(before.rows)}
        for said in json.loads(before.detail)["answers"]:
            if said["question"] == asked.of and rows[said["stage"]].rows:
                yield Released(before.charge, rows[said["stage"]], said["measured"])


# --- how many rows ----------------------------------------------------------------------------------------------------


def rows_assumed(assumed: int | None) -> RowsOf:
    """As the query assumes."""
    return lambda stage, made_of: None if assumed is None else Rows(float(assumed), "assumed_rows")


def rows_counted(session: Session, assumed: int | None, *, promised: bool) -> RowsOf:
    """How many rows there are in a group: as the query assumes, else as a release counted them, else (promised) as many as
    the catalog promises units."""

    known: dict[tuple[int, tuple[Measurement, ...]], Rows | None] = {}
    earlier: dict[int, tuple[Questions | None, tuple[Released, ...]]] = {}  # by stage, computed once

    def of(stage: NoisyStage, made_of: tuple[Measurement, ...]) -> Rows | None:
        if assumed is not None:
            return rows_assumed(assumed)(stage, made_of)
        if (stage.number, made_of) not in known:
            if stage.number not in earlier:
                asked = questions(stage)
                earlier[stage.number] = (asked, tuple(released_before(session, asked)))
            counted = _counted(stage, made_of, *earlier[stage.number])
            known[stage.number, made_of] = counted or (_promised(session, stage) if promised else None)
        return known[stage.number, made_of]

    return of


def _promised(session: Session, stage: NoisyStage) -> Rows | None:
    units, unit = session.catalog.units, session.catalog.unit
    if units is None or not stage.public_keys or stage.is_empty:
        return None
    share = f", {stage.combinations:,} groups" if stage.keys else ""
    return Rows(units / stage.combinations, f"one of each {unit}, units: {units:,}{share}")


def _counted(
    stage: NoisyStage, made_of: Sequence[Measurement], asked: Questions | None, earlier: Sequence[Released]
) -> Rows | None:
    """The oldest release that counted them to within less than their number: on average over its groups, less the half-width
    of that average."""
    if asked is None:
        return None
    positions = [j for j, one in enumerate(stage.measurements) if one in made_of]
    whole = [j for j in positions if getattr(stage.measurements[j], "where", None) is None]
    wanted = {asked.rows[j] for j in whole or positions} | ({asked.every} if whole else set())
    for before in earlier:
        for one in before.measured:
            if one["rows"] is None or one["rows"]["question"] not in wanted:
                continue
            stored = zip(one["rows"]["factors"], _draws(one), strict=True)
            terms = [Term(i, Fraction(factor), draw) for i, (factor, draw) in enumerate(stored)]
            width = float(width_of(terms, CONFIDENCE)) / math.sqrt(before.rows.rows)
            count = float(np.mean(before.total(one, terms))) - width
            if count > width:
                average = " on average" if stage.keys else ""
                return Rows(count, f"at least so many{average}, by release {before.charge}")
    return None


# --- how large --------------------------------------------------------------------------------------------------------


def smallest_value(session: Session, sides: Sequence[Made]) -> float | None:
    """The smallest |value| of a column over the groups in which it stands out of its noise, in the oldest release of all its
    measurements where one does; of several sides (grouping sets) the smallest of theirs.

    It stands out where it is larger than its noise in all groups at once, at 95 % (Boole): so a group without anything in
    it is not taken for a small one.
    """
    smallest = [_smallest(session, side) for side in sides]
    known = [value for value in smallest if value is not None]
    return min(known) if known and len(known) == len(smallest) else None


def _smallest(session: Session, side: Made) -> float | None:
    asked = questions(side.stage)
    if asked is None:
        return None
    for before in released_before(session, asked):
        said = {j: _saying(before, asked.measured[j]) for j in side.noised}
        known = {j: one for j, one in said.items() if one is not None}
        if len(known) == len(said):
            sizes = [size for size in _sizes(before, side, known) if size is not None]
            if sizes:
                return min(sizes)
    return None


def _saying(before: Released, question: str) -> Mapping[str, Any] | None:
    return next((one for one in before.measured if one["question"] == question), None)


def _sizes(before: Released, side: Made, said: Mapping[int, Mapping[str, Any]]) -> Iterator[float | None]:
    """|value| in each group where it stands out."""
    confidence = float(1 - OUTSIDE / before.rows.rows)
    noised = {
        j: Noised(measurement=each.measurement, form=said[j]["form"], draws=_draws(said[j]))
        for j, each in side.noised.items()
    }
    values = {j: [before.total(said[j], answer.terms) for answer in answers(each)] for j, each in noised.items()}
    for group in range(before.rows.rows):
        known = {j: [float(value[group]) for value in each] for j, each in values.items()}
        estimate = Estimating(answered(noised, known), confidence).of(side.expr)
        yield abs(estimate.value) if estimate is not None and abs(estimate.value) > estimate.width(confidence) else None
