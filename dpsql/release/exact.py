"""Exact totals, on their way to the noise. They tell nobody anything: there is no repr of their contents, no iteration, no
pickling. Only this package and dpsql.testing read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dpsql.errors import InternalError
from dpsql.plan.vault_query import CANDIDATE, GROUP, WEIGHT, Question

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


class Exact:
    """The exact answers of a stage's vault statements. Opaque on purpose."""

    __slots__ = ("_answers",)

    def __init__(self, answers: Sequence[tuple[Question, Mapping[str, Array]]]) -> None:
        self._answers = tuple(answers)

    def __repr__(self) -> str:
        return "<exact totals, not shown>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact totals are not pickled")

    def __iter__(self) -> NoReturn:
        raise TypeError("exact totals are not iterated")


def answers_of(exact: Exact) -> tuple[tuple[Question, Mapping[str, Array]], ...]:
    """The totals themselves, statement by statement; for release and dpsql.testing alone."""
    return exact._answers


def answer_to(exact: Exact, j: int) -> Mapping[str, Array] | None:
    return next((answer for question, answer in answers_of(exact) if j in question.answers), None)


def cells(answer: Mapping[str, Array]) -> tuple[Integers, Integers, Integers]:
    """Groups, candidates and weights."""
    group, candidate, weight = (integers(answer[c.name]) for c in (GROUP, CANDIDATE, WEIGHT))
    return group, candidate, weight


def integers(values: Array) -> Integers:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise InternalError("a total is NULL")
    return np.asarray(values, dtype=np.int64)
