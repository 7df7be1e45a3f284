"""Errors of questions that are not SQL say nothing in SQL; what is declared is declared where the frame was made."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame

numbers = itertools.count(1)
DATA = pd.DataFrame(
    {
        "person": np.arange(200) % 50,
        "kind": ["a", "b"] * 100,
        "age": np.arange(200) % 90,
        "free": np.arange(200) / 4,
        "name": ["somebody"] * 200,
        "day": pd.Timestamp("2020-01-01"),
    }
)
IN_SQL = re.compile(
    r"\b(?:SELECT|FROM|WHERE|GROUP BY|ORDER BY|HAVING|QUALIFY|CASE|CAST|TRY_CAST|GREATEST|LEAST|COUNT|AVG|SUM|MEDIAN"
    r"|MODE|MAX|MIN|QUANTILE_CONT|STDDEV_SAMP|OPTIONS|SET|CREATE)\b|`(?:lower|upper|keys|bounds|per_query|version):|\bc0_"
)


def made(**changed: Any) -> PrivateFrame:
    given: dict[str, Any] = {
        "unit": "person", "bounds": {"age": (0, 100)}, "keys": {"kind": ["a", "b"]}, "rows_per_unit": 4,
        "budget": 2, "epsilon": 1,
    }  # fmt: skip
    return PrivateFrame(DATA, **{**given, "dataset": f"wording {next(numbers)}", **changed})


REFUSED: dict[str, tuple[Callable[[PrivateFrame], Any], str]] = {
    "mean without bounds": (lambda f: f["free"].mean(), "bounds={'free': (low, high)}"),
    "median without bounds": (lambda f: f["free"].median(), "clip(low, high)"),
    "describe without bounds": (lambda f: f["free"].describe(), "bounds={'free'"),
    "describe of a text": (lambda f: f.describe("name"), "Average a number"),
    "mean of a text": (lambda f: f["name"].mean(), "Average a number"),
    "greatest text": (lambda f: f["name"].max(), "value_counts()"),
    "mode of open values": (lambda f: f["name"].mode(), "keys={'name'"),
    "a real as a key": (lambda f: f.groupby("free").size(), '// 10'),
    "a real counted": (lambda f: f["free"].value_counts(), '// 10'),
    "groups by the unit": (lambda f: f.groupby("person").mean("age"), "groupby(…).size()"),
    "counts of the unit": (lambda f: f["person"].value_counts(), "do not group by the unit"),
    "mean of the unit": (lambda f: f["person"].mean(), "units()"),
    "mean of a date": (lambda f: f["day"].mean(), "Average a number"),
    "text and number": (lambda f: (f["name"] + 1).mean(), ".astype(float)"),
    "text against number": (lambda f: f[f["name"] > 3].count(), ".astype("),
    "a number as a condition": (lambda f: f[f["age"]].count(), 'frame["x"] > 0'),
    "a fraction": (lambda f: f["age"].quantile(7), "quantile(0.95)"),
    "open keys without delta": (lambda f: made(budget={"epsilon": 3}).groupby("name").size(), "delta="),
    "without epsilon": (lambda f: made(epsilon=None).count(), "options(epsilon=1)"),
    "too dear": (lambda f: f.options(epsilon=5).count(), "The same question of the same frame is free"),
    "too many keys": (lambda f: f.groupby([f["day"].dt.date, "age", "kind"]).size(), "coarser"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_no_word_of_sql(name: str) -> None:
    ask, fix = REFUSED[name]
    frame = made(bounds={"age": (0, 100), "day": ("2000-01-01", "2030-01-01")})
    with pytest.raises(dpsql.Error) as caught:
        ask(frame)
    said = str(caught.value)
    assert fix in said and not IN_SQL.search(said), said
    assert frame.budget.spent.epsilon == 0


def test_with_metadata_the_metadata_is_what_is_changed() -> None:
    catalog = {
        "dataset": f"wording {next(numbers)}",
        "unit": "person",
        "budget": {"epsilon": 1},
        "tables": {"t": {"unit": "person", "rows_per_unit": 1, "columns": {"person": "integer", "free": "real"}}},
    }
    frame = PrivateFrame(DATA[["person", "free"]], catalog, epsilon=1)
    with pytest.raises(dpsql.Refused) as caught:
        frame["free"].mean()
    assert "Give `lower:` and `upper:` in the metadata" in str(caught.value)


def test_text_of_the_user_is_shown_as_it_is() -> None:
    with pytest.raises(dpsql.SqlError) as caught:
        made().filter("nme = 'x'")
    assert "nme = 'x'" in str(caught.value) and "Did you mean" in str(caught.value)
    with pytest.raises(dpsql.SqlError) as caught:
        made().sql("SELECT AVG(agee) FROM df")
    assert "SELECT AVG(agee) FROM df" in str(caught.value)
