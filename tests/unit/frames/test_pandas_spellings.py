"""The spellings people bring from pandas, on exact frames against pandas itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame
from dpsql.testing import exact_frame
from tests.unit.frames.test_against_pandas import same

N = 300
DATA = pd.DataFrame(
    {
        "person": np.arange(N) % 60,
        "kind": [("a", "b", "c")[i * i % 3] for i in range(N)],
        "sex": [("f", "m")[i % 7 % 2] for i in range(N)],
        "age": [i * 37 % 100 for i in range(N)],
        "income": [(i * 53 % 400) / 4 for i in range(N)],
        "delta": [i % 17 - 8 for i in range(N)],
        "code": [f"{'xyz'[i % 3]}-{i % 5}" if i % 11 else None for i in range(N)],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta([i * 31 % 366 * 24 + i % 24 for i in range(N)], unit="h"),
    }
)
KEYS = {"kind": ["a", "b", "c"], "sex": ["f", "m"]}
BOUNDS = {"age": (0, 100), "income": (0, 100), "delta": (-8, 8), "day": ("2020-01-01", "2020-12-31 23:59:59")}


@pytest.fixture(scope="module")
def frame() -> PrivateFrame:
    return exact_frame(DATA, unit="person", bounds=BOUNDS, keys=KEYS, max_groups=1000, max_rows=1000)


Question = Callable[[Any], Any]
NUMBERS: dict[str, Question] = {
    "corr": lambda f: f["age"].corr(f["income"]),
    "cov": lambda f: f["age"].cov(f["income"]),
    "agg by name": lambda f: f["age"].agg("mean"),
    "agg by numpy": lambda f: f["age"].agg(np.mean),
    "agg by a builtin": lambda f: f["age"].agg(sum),
    "remainder": lambda f: (f["delta"] % 5).sum(),
    "whole quotient": lambda f: (f["delta"] // 3).sum(),
    "power": lambda f: (f["delta"] ** 2).sum(),
    "turned remainder": lambda f: (100 % (f["age"] + 1)).sum(),
    "between without ends": lambda f: f[f["age"].between(10, 20, inclusive="neither")]["income"].mean(),
    "between with the left": lambda f: f[f["age"].between(10, 20, inclusive="left")]["income"].mean(),
    "where": lambda f: f["age"].where(f["age"] > 50, 0).sum(),
    "mask": lambda f: f["age"].mask(f["age"] > 50, 0).sum(),
    "map": lambda f: f["sex"].map({"f": 1, "m": 5}).sum(),
    "replace": lambda f: f["delta"].replace({-8: 8, -7: 0}).sum(),
    "replace one": lambda f: f["delta"].replace(-8, 0).sum(),
    "isnull": lambda f: f["code"].isnull().sum(),
    "notnull": lambda f: f["code"].notnull().mean(),
    "astype of pandas": lambda f: f["age"].astype("float64").sum(),
    "year": lambda f: (f["day"].dt.year - 2000).mean(),
    "quarter": lambda f: f["day"].dt.quarter.mean(),
    "hour": lambda f: f["day"].dt.hour.mean(),
    "day of week": lambda f: f["day"].dt.day_of_week.mean(),
    "day of year": lambda f: f["day"].dt.day_of_year.mean(),
    "days in month": lambda f: f["day"].dt.days_in_month.mean(),
    "strftime": lambda f: (f["day"].dt.strftime("%m") == "03").sum(),
    "day name": lambda f: (f["day"].dt.day_name() == "Monday").sum(),
    "month name": lambda f: (f["day"].dt.month_name() == "May").sum(),
    "floor": lambda f: (f["day"].dt.floor("D") == pd.Timestamp("2020-02-01").to_pydatetime()).sum(),
    "normalize": lambda f: (f["day"].dt.normalize() == pd.Timestamp("2020-02-01").to_pydatetime()).sum(),
    "contains": lambda f: f["code"].str.contains("x").sum(),
    "contains a pattern": lambda f: f["code"].str.contains("^[xy]-[0-2]$").sum(),
    "contains any case": lambda f: f["code"].str.contains("X", case=False).sum(),
    "contains no pattern": lambda f: f["code"].str.contains(".", regex=False).sum(),
    "match": lambda f: f["code"].str.match("x|y").sum(),
    "fullmatch": lambda f: f["code"].str.fullmatch(".-1").sum(),
    "startswith": lambda f: f["code"].str.startswith("x").sum(),
    "endswith": lambda f: f["code"].str.endswith(("1", "2")).sum(),
    "upper": lambda f: (f["code"].str.upper() == "X-0").sum(),
    "len": lambda f: f["kind"].str.len().clip(0, 9).sum(),
    "slice": lambda f: (f["code"].str[:1] == "y").sum(),
    "slice in the middle": lambda f: (f["code"].str[1:3] == "-4").sum(),
    "slice from the end": lambda f: (f["code"].str[-2:] == "-4").sum(),
    "one character": lambda f: (f["code"].str[0] == "y").sum(),
    "the last character": lambda f: (f["code"].str.get(-1) == "3").sum(),
    "split": lambda f: (f["code"].str.split("-").str[1] == "3").sum(),
    "no such part": lambda f: f["code"].str.split("-").str[2].isna().sum(),
    "find": lambda f: f["code"].str.find("-").clip(-1, 5).sum(),
    "text replace": lambda f: (f["code"].str.replace("-", "") == "x0").sum(),
    "strip": lambda f: (f["code"].str.strip("x") == "-0").sum(),
    "renamed": lambda f: f.rename(columns={"age": "years"})["years"].mean(),
    "dropped": lambda f: f.drop(columns=["age"])["income"].mean(),
    "without missing": lambda f: f.dropna(subset=["code"])["age"].mean(),
    "filled": lambda f: (f.fillna({"code": "none"})["code"] == "none").sum(),
    "piped": lambda f: f.pipe(lambda g, least: g[g["age"] > least], 50)["age"].mean(),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(frame: PrivateFrame, name: str) -> None:
    ask = NUMBERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # pandas 2 on functions given to agg
        theirs = float(ask(DATA))
    assert ask(frame) == pytest.approx(theirs, abs=1e-6)


_BY: dict[str, Any] = {"as_index": False}
GROUPS: dict[str, tuple[Question, Question]] = {
    "a list of one column": (
        lambda f: f.groupby("kind")["age"].agg(["mean", "std", "count"]),
        lambda d: d.groupby("kind")["age"].agg(["mean", "std", "count"]).reset_index(),
    ),
    "one by a function": (
        lambda f: f.groupby("kind")["age"].agg(np.mean),
        lambda d: d.groupby("kind", **_BY)["age"].agg("mean"),
    ),
    "named of one column": (
        lambda f: f.groupby("kind")["age"].agg(m="mean", s="sum"),
        lambda d: d.groupby("kind")["age"].agg(m="mean", s="sum").reset_index(),
    ),
    "NamedAgg": (
        lambda f: f.groupby("kind").agg(m=pd.NamedAgg("age", "mean"), s=("income", "sum")),
        lambda d: d.groupby("kind", **_BY).agg(m=pd.NamedAgg("age", "mean"), s=("income", "sum")),
    ),
    "a mapping of functions": (
        lambda f: f.groupby("kind").agg({"age": np.mean, "income": sum}),
        lambda d: d.groupby("kind", **_BY).agg({"age": "mean", "income": "sum"}),
    ),
    "count of a column": (
        lambda f: f.groupby("kind")["code"].count(),
        lambda d: d.groupby("kind", **_BY)["code"].count(),
    ),
    "parts of a date": (
        lambda f: f.groupby([f["day"].dt.quarter, "sex"]).size(),
        lambda d: d.groupby([d["day"].dt.quarter, "sex"]).size().reset_index(name="size"),
    ),
    "a calculation": (
        lambda f: f.groupby(f["age"] // 10)["income"].mean(),
        lambda d: d.groupby(d["age"] // 10)["income"].mean().reset_index(),
    ),
    "shares": (
        lambda f: f["kind"].value_counts(normalize=True),
        lambda d: d["kind"].value_counts(normalize=True).reset_index(),
    ),
    "counts of pairs": (
        lambda f: f.value_counts(["kind", "sex"]),
        lambda d: d.value_counts(["kind", "sex"]).reset_index(),
    ),
    "counts in groups": (
        lambda f: f.groupby("kind")["sex"].value_counts(),
        lambda d: d.groupby("kind")["sex"].value_counts().reset_index(),
    ),
    "missing keys are left out": (
        lambda f: f.groupby("code").size(),
        lambda d: d.groupby("code", **_BY).size(),
    ),
    "missing keys are kept": (
        lambda f: f["code"].value_counts(dropna=False),
        lambda d: d["code"].value_counts(dropna=False).reset_index(),
    ),
}
for _freq in ("D", "W", "ME", "MS", "QE", "QS", "YE", "YS"):
    GROUPS[f"resample {_freq}"] = (
        lambda f, q=_freq: f.resample(q, on="day").size(),
        lambda d, q=_freq: d.resample(q, on="day").size().reset_index(name="size").query("size > 0"),
    )
    GROUPS[f"Grouper {_freq}"] = (
        lambda f, q=_freq: f.groupby([pd.Grouper(key="day", freq=q), "sex"])["age"].sum(),
        lambda d, q=_freq: (
            d.groupby([pd.Grouper(key="day", freq=q), "sex"])["age"]
            .agg(["sum", "size"])
            .query("size > 0")
            .reset_index()
        )[["day", "sex", "sum"]].rename(columns={"sum": "age"}),
    )


@pytest.mark.parametrize("name", GROUPS)
def test_groups(frame: PrivateFrame, name: str) -> None:
    ours, theirs = GROUPS[name]
    expected = theirs(DATA)
    answered = ours(frame).df()
    if "day" in expected.columns and "day" in answered.columns and expected["day"].dtype.kind == "M":
        answered["day"], expected["day"] = pd.to_datetime(answered["day"]), pd.to_datetime(expected["day"])
        expected["day"] = expected["day"].astype(answered["day"].dtype)
    same(answered, expected)


def test_quantiles_by_a_lambda_are_one_query() -> None:
    frame = noisy()
    answer = frame.groupby("kind")["age"].agg(low=lambda x: x.quantile(0.1), high=lambda x: x.quantile(0.9))
    assert answer.columns == ["kind", "low", "high"] and frame.budget.spent.epsilon == 10
    assert all(low <= high for _, low, high in answer)  # sorted, but noise may make them one
    assert any(low < high for _, low, high in answer)


WRONG: dict[str, tuple[Question, str]] = {
    "a lambda that is no statistic": (lambda f: f.agg(x=("age", lambda x: x + 1)), "one statistic"),
    "a lambda without a name": (lambda f: f["age"].agg([lambda x: x.mean()]), "needs one"),
    "no statistic": (lambda f: f.groupby("kind")["age"].agg("mood"), "no statistic 'mood'"),
    "a Grouper of nothing": (lambda f: f.groupby(pd.Grouper(freq="ME")), "names no column"),
    "a frequency": (lambda f: f.resample("2W", on="day"), "no frequency '2W'"),
    "sort=False": (lambda f: f.groupby("kind", sort=False), "order of their keys"),
    "a slice with a step": (lambda f: f["code"].str[::2], "no step"),
    "a pattern to replace": (lambda f: f["code"].str.replace("x", "y", regex=True), "regular expression"),
    "a function to map": (lambda f: f["kind"].map(str.upper), "runs no Python"),
    "a value for all": (lambda f: f.fillna(0), "takes a dict"),
    "one name twice": (lambda f: f.rename(columns={"age": "income"}), "two columns"),
    "both ways": (lambda f: f.pivot_table("age", index="kind", columns="kind"), "both index and columns"),
    "a share of what": (lambda f: f.crosstab("kind", "sex", normalize="rows"), "normalize='rows'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(frame: PrivateFrame, name: str) -> None:
    ask, said = WRONG[name]
    with pytest.raises(dpsql.InterfaceError) as caught:
        ask(frame)
    assert said in str(caught.value)


def noisy(**changed: Any) -> PrivateFrame:
    given: dict[str, Any] = {
        "unit": "person", "bounds": BOUNDS, "keys": KEYS, "rows_per_unit": 5, "budget": 1000, "epsilon": 10,
    }  # fmt: skip
    return PrivateFrame(DATA, **{**given, "dataset": f"spelled {next(numbers)}", **changed})


numbers = iter(range(10**6))


def test_tables_of_two_directions(frame: PrivateFrame) -> None:
    ours = frame.pivot_table("age", index="kind", columns="sex", aggfunc="sum").df()
    theirs = DATA.pivot_table("age", index="kind", columns="sex", aggfunc="sum")
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    ours = frame.pivot_table(["age", "income"], index="kind", columns="sex", aggfunc=np.mean).df()
    theirs = DATA.pivot_table(["age", "income"], index="kind", columns="sex")
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    for normalize in (False, True, "index", "columns"):
        ours = frame.crosstab("kind", "sex", normalize=normalize).df()
        theirs = pd.crosstab(DATA["kind"], DATA["sex"], normalize=normalize)  # type: ignore[call-overload]
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)


def test_a_table_of_two_directions_shows_its_intervals() -> None:
    table = noisy().crosstab("kind", "sex")
    assert "±" in repr(table) and "±" in table._repr_html_()
    halves = table.half_widths()
    assert list(halves.columns) == ["f", "m"] and (halves > 0).all(axis=None)
    assert table.privacy is not None and table.df().attrs["privacy"]["cost"]["epsilon"] == 10


@pytest.mark.slow
def test_matrices(frame: PrivateFrame) -> None:
    columns = ["age", "income", "delta"]
    for ours, theirs in ((frame.corr, DATA[columns].corr()), (frame.cov, DATA[columns].cov())):
        made = ours(*columns).df().set_index("column")
        pd.testing.assert_frame_equal(made, theirs, check_names=False, check_dtype=False, atol=1e-6)


def test_describe_by_groups() -> None:
    frame = noisy()
    made = frame.groupby("kind")["age"].describe()
    assert made.columns == ["kind", "count", "mean", "std", "min", "25%", "50%", "75%", "max"]
    assert frame.budget.spent.epsilon == 10


def test_an_empty_period_has_a_row_and_a_missing_one_has_none() -> None:
    sparse = DATA[DATA["day"].dt.month != 5].assign(day=lambda d: d["day"].where(d["age"] != 3))
    frame = PrivateFrame(
        sparse, unit="person", bounds=BOUNDS, rows_per_unit=5, budget=1, epsilon=1, dataset=f"sparse {next(numbers)}"
    )
    months = [month for month, _ in frame.resample("MS", on="day").size()]
    assert len(months) == 12 and None not in months
