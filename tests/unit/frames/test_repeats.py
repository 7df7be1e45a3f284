"""Re-running a cell of a notebook is free: the same question of the same frame, and of every frame of one version."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame

numbers = itertools.count(1)


def data(rows: int = 200) -> pd.DataFrame:
    return pd.DataFrame({"person": np.arange(rows) % 50, "age": np.arange(rows) % 90})


def made(dataset: str, frame: pd.DataFrame | None = None, **changed: Any) -> PrivateFrame:
    given: dict[str, Any] = {
        "unit": "person",
        "bounds": {"age": (0, 100)},
        "rows_per_unit": 4,
        "budget": 50,
        "epsilon": 1,
    }
    return PrivateFrame(data() if frame is None else frame, dataset=dataset, **{**given, **changed})


def test_the_same_question_of_one_frame_is_free() -> None:
    frame = made(f"repeats {next(numbers)}")
    first = [frame["age"].mean(), frame.count(), frame[frame["age"] > 30].count()]
    again = [frame["age"].mean(), frame.copy().count(), frame[frame["age"] > 30].count()]
    assert first == again and frame.budget.spent.epsilon == 3
    assert frame.count().privacy.repeated
    assert frame[frame["age"] > 31].count() is not None and frame.budget.spent.epsilon == 4


def test_new_noise_is_charged() -> None:
    frame = made(f"repeats {next(numbers)}").options(fresh=True)
    answers = {frame.count() for _ in range(10)}
    assert len(answers) > 1 and frame.budget.spent.epsilon == 10


def test_another_epsilon_is_another_question() -> None:
    frame = made(f"repeats {next(numbers)}")
    frame.count(), frame.options(epsilon=2).count()
    assert frame.budget.spent.epsilon == 3


def test_another_frame_without_a_version_may_be_other_data() -> None:
    name = f"repeats {next(numbers)}"
    made(name).count()
    other = made(name, data(100))
    other.count()
    assert other.budget.spent.epsilon == 2


def test_a_frame_of_the_same_version_repeats() -> None:
    name = f"repeats {next(numbers)}"
    first = made(name, version="May").count()
    again = made(name, version="May")
    assert again.count() == first and again.budget.spent.epsilon == 1
    later = made(name, version="June")
    later.count()
    assert later.budget.spent.epsilon == 2


def test_metadata_says_its_own_version() -> None:
    with pytest.raises(dpsql.InterfaceError, match="version= is set by the metadata"):
        PrivateFrame(data(), {"dataset": "x"}, version="1")


def test_a_sample_given_in_the_place_of_a_versioned_table_is_not_that_version() -> None:
    catalog = {
        "dataset": f"repeats {next(numbers)}",
        "unit": "person",
        "version": "May",
        "budget": {"epsilon": 50},
        "tables": {
            "t": {
                "unit": "person",
                "rows_per_unit": 4,
                "columns": {"person": "integer", "age": {"type": "integer", "lower": 0, "upper": 100}},
            }
        },
    }
    sample, whole = (PrivateFrame(data(rows), catalog, epsilon=5) for rows in (50, 200))
    assert sample.count() < 100 < whole.count()
    assert sample.count() < 100 and whole.budget.spent.epsilon == 10
