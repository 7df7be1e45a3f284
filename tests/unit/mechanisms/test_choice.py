"""What a choice by either mechanism accepts, refuses and always gets right; tests/statistics has its distribution."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms import exponential, permute_and_flip

Choose = Callable[..., np.ndarray]


@pytest.fixture(params=[permute_and_flip.choose, exponential.choose], ids=["permute-and-flip", "exponential"])
def choose(request: pytest.FixtureRequest) -> Choose:
    chooser: Choose = request.param
    return chooser


def scores(*rows: list[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(rows, dtype=np.int64)


def test_the_best_wins_where_it_is_certain(choose: Choose) -> None:
    far = scores([0, -(10**6), -(10**6)], [-(10**6), 0, -(10**6)], [-(10**6), -(10**6), 0])
    assert choose(far, epsilon=Fraction(1), sensitivity=1).tolist() == [0, 1, 2]


def test_gaps_beyond_63_bits(choose: Choose) -> None:
    extreme = scores([-(2**63), 2**63 - 1], [2**63 - 1, -(2**63)])
    for epsilon in (Fraction(1), Fraction(1, 2**40), Fraction(2**70, 3), Fraction(1, 3**50)):
        assert choose(extreme, epsilon=epsilon, sensitivity=1).tolist() == [1, 0] or epsilon < Fraction(1, 2**60)


def test_equal_scores_at_a_rate_of_many_digits(choose: Choose) -> None:
    """A group without rows, at rates whose numerator or denominator is no word."""
    for epsilon in (Fraction(2**70, 3), Fraction("0.12345678901234567890123456789")):
        assert set(choose(np.zeros((60, 2), dtype=np.int64), epsilon=epsilon, sensitivity=1).tolist()) == {0, 1}


def test_one_candidate_and_no_group(choose: Choose) -> None:
    assert choose(scores([5], [-7]), epsilon=Fraction(1), sensitivity=1).tolist() == [0, 0]
    assert choose(np.empty((0, 3), dtype=np.int64), epsilon=Fraction(1), sensitivity=1).tolist() == []


def test_views_that_are_not_contiguous(choose: Choose) -> None:
    table = np.arange(40, dtype=np.int64).reshape(4, 10) * 10**6
    assert choose(table.T, epsilon=Fraction(1), sensitivity=1).tolist() == [3] * 10
    assert choose(table[:, ::-2], epsilon=Fraction(1), sensitivity=1).tolist() == [0] * 4


def test_blocks_join(monkeypatch: pytest.MonkeyPatch, choose: Choose) -> None:
    monkeypatch.setattr(permute_and_flip, "_BLOCK", 7)
    monkeypatch.setattr(exponential, "_BLOCK", 7)
    best = np.arange(100) % 3
    table = np.where(np.arange(3) == best[:, np.newaxis], 0, -(10**6)).astype(np.int64)
    assert choose(table, epsilon=Fraction(1), sensitivity=1).tolist() == best.tolist()


@pytest.mark.parametrize(
    ("table", "epsilon", "sensitivity"),
    [
        (np.zeros(3, dtype=np.int64), 1, 1),
        (np.zeros((2, 0), dtype=np.int64), 1, 1),
        (np.zeros((2, 2)), 1, 1),
        (np.zeros((2, 2), dtype=np.int64), 0, 1),
        (np.zeros((2, 2), dtype=np.int64), -1, 1),
        (np.zeros((2, 2), dtype=np.int64), 1, 0),
    ],
)
def test_refused(
    choose: Choose, table: np.ndarray[tuple[int, ...], np.dtype[np.int64]], epsilon: int, sensitivity: int
) -> None:
    with pytest.raises(ValueError, match="scores|choice"):
        choose(table, epsilon=Fraction(epsilon), sensitivity=sensitivity)
