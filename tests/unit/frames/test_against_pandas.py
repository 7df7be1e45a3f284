"""Exact frames, with caps too large to bite, answer as pandas does on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame
from dpsql.testing import exact_frame

DATA = pd.DataFrame(
    {
        "person": np.arange(300) % 60,
        "kind": [("a", "b", "c")[i * i % 3] for i in range(300)],
        "age": [i * 37 % 100 for i in range(300)],
        "income": [(i * 53 % 400) / 4 for i in range(300)],
        "member": [i % 7 < 3 for i in range(300)],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta([i * 31 % 366 for i in range(300)], unit="D"),
    }
)
FLOORS = pd.DataFrame({"kind": ["a", "b"], "floor": [1, 2]})
SMOKERS = pd.DataFrame({"person": np.arange(0, 60, 2), "smoker": [i % 4 == 0 for i in range(30)]})
KEYWORDS: dict[str, Any] = {"unit": "person", "max_groups": 1000, "max_rows": 1000}


@pytest.fixture(scope="module")
def frame() -> PrivateFrame:
    bounds = {"age": (0, 100), "income": (0, 100), "day": ("2020-01-01", "2020-12-31")}
    return exact_frame(DATA, bounds=bounds, keys={"kind": ["a", "b", "c"]}, **KEYWORDS)


Question = Callable[[Any], Any]
SCALARS: dict[str, tuple[Question, Question]] = {
    "count": (lambda f: f.count(), len),
    "size": (lambda f: f.size(), len),
    "units": (lambda f: f.units(), lambda d: d["person"].nunique()),
    "column mean": (lambda f: f["income"].mean(), lambda d: d["income"].mean()),
    "column sum": (lambda f: f["age"].sum(), lambda d: d["age"].sum()),
    "column count": (lambda f: f["age"].count(), lambda d: d["age"].count()),
    "nunique of the unit": (lambda f: f["person"].nunique(), lambda d: d["person"].nunique()),
    "calculated": (lambda f: (f["income"] / 2 + 1).mean(), lambda d: (d["income"] / 2 + 1).mean()),
    "turned": (lambda f: (200 - f["age"]).sum(), lambda d: (200 - d["age"]).sum()),
    "clipped": (lambda f: f["age"].clip(20, 30).sum(), lambda d: d["age"].clip(20, 30).sum()),
    "negative": (lambda f: (-f["age"]).abs().sum(), lambda d: d["age"].sum()),
    "filtered by text": (
        lambda f: f.filter("age > 50 OR age < 3").count(),
        lambda d: ((d.age > 50) | (d.age < 3)).sum(),
    ),
    "a comment": (
        lambda f: f.filter("age > 50 -- old").filter("member").count(),
        lambda d: ((d.age > 50) & d.member).sum(),
    ),
    "filtered by columns": (
        lambda f: f[(f["age"] > 50) & ~f["member"]]["income"].mean(),
        lambda d: d[(d["age"] > 50) & ~d["member"]]["income"].mean(),
    ),
    "filtered twice, the column from before": (
        lambda f: f.filter("age > 50")[f["kind"].isin(["a", "b"])].count(),
        lambda d: ((d["age"] > 50) & d["kind"].isin(["a", "b"])).sum(),
    ),
    "between": (lambda f: f[f["age"].between(10, 20)].count(), lambda d: d["age"].between(10, 20).sum()),
    "a date": (lambda f: f[f["day"] < pd.Timestamp("2020-07-01")].count(), lambda d: (d["day"] < "2020-07-01").sum()),
    "missing": (lambda f: f[f["age"].notna()].count() - f[f["age"].isna()].count(), len),
    "assigned": (
        lambda f: f.assign(half=f["age"] / 2, old=lambda d: d["age"] > 90).filter("old")["half"].sum(),
        lambda d: (d["age"] / 2)[d["age"] > 90].sum(),
    ),
    "redefined": (
        lambda f: f.assign(age="age + 1").filter("age > 50")["age"].sum(),
        lambda d: (d.age + 1)[d.age > 49].sum(),
    ),
    "selected": (lambda f: f[["person", "age"]]["age"].sum(), lambda d: d["age"].sum()),
    "a cast": (lambda f: f["member"].astype("INTEGER").sum(), lambda d: d["member"].sum()),
    "filled": (lambda f: f["age"].fillna(0).sum(), lambda d: d["age"].sum()),
    "over a merge": (
        lambda f: f.merge(FLOORS, on="kind").filter("floor = 2")["age"].sum(),
        lambda d: d[d["kind"] == "b"]["age"].sum(),
    ),
    "over a left merge": (
        lambda f: f.filter("age < 30").merge(FLOORS, on="kind", how="left").count(),
        lambda d: (d.age < 30).sum(),
    ),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numbers(frame: PrivateFrame, name: str) -> None:
    ours, theirs = SCALARS[name]
    assert ours(frame) == pytest.approx(theirs(DATA), abs=1e-6)


GROUPED: dict[str, tuple[Question, Question]] = {
    "size": (lambda f: f.groupby("kind").size(), lambda d: d.groupby("kind", as_index=False).size()),
    "agg by name": (
        lambda f: f.groupby("kind").agg(n="count", m=("income", "mean"), s=("age", "sum"), who="units"),
        lambda d: d.groupby("kind", as_index=False).agg(
            n=("age", "size"), m=("income", "mean"), s=("age", "sum"), who=("person", "nunique")
        ),
    ),
    "agg by column": (
        lambda f: f.groupby("kind").agg({"age": ["mean", "sum"], "income": "mean"}),
        lambda d: d.groupby("kind", as_index=False).agg(
            age_mean=("age", "mean"), age_sum=("age", "sum"), income=("income", "mean")
        ),
    ),
    "mean of all": (
        lambda f: f.groupby("kind").mean(),
        lambda d: d.groupby("kind", as_index=False)[["age", "income"]].mean(),
    ),
    "narrowed": (
        lambda f: f.groupby("kind")["age"].sum(),
        lambda d: d.groupby("kind", as_index=False)["age"].sum(),
    ),
    "two keys": (
        lambda f: f.groupby(["kind", "member"]).size(),
        lambda d: d.groupby(["kind", "member"], as_index=False).size(),
    ),
    "an expression": (
        lambda f: f.groupby(decade="CAST(FLOOR(age / 10) AS INTEGER)").size(),
        lambda d: d.assign(decade=d["age"] // 10).groupby("decade", as_index=False).size(),
    ),
    "value_counts": (
        lambda f: f["kind"].value_counts(),
        lambda d: d["kind"].value_counts().reset_index(),
    ),
    "hist": (
        lambda f: f["income"].hist(4),
        lambda d: pd.DataFrame(
            {"lower": [0, 25, 50, 75], "upper": [25, 50, 75, 100], "count": np.histogram(d["income"], 4, (0, 100))[0]}
        ),
    ),
    "hist of given ends": (
        lambda f: f["income"].hist([0, 10, 50, 100]),
        lambda d: pd.DataFrame(
            {"lower": [0, 10, 50], "upper": [10, 50, 100], "count": np.histogram(d["income"], [0, 10, 50, 100])[0]}
        ),
    ),
    "hist of a range": (
        lambda f: f["age"].hist(2, range=(10, 30)),
        lambda d: pd.DataFrame({"lower": [10, 20], "upper": [20, 30], "count": np.histogram(d["age"], 2, (10, 30))[0]}),
    ),
    "SQL over what was filtered": (
        lambda f: f.filter("age >= 50").sql("/* old */ SELECT kind, COUNT(*) AS size FROM df GROUP BY kind"),
        lambda d: d[d["age"] >= 50].groupby("kind", as_index=False).size(),
    ),
    "SQL that begins with WITH": (
        lambda f: f.filter("age >= 50").sql(
            "WITH x AS (SELECT kind, COUNT(*) AS size FROM df GROUP BY kind) SELECT * FROM x"
        ),
        lambda d: d[d["age"] >= 50].groupby("kind", as_index=False).size(),
    ),
    "merged": (
        lambda f: f.merge(FLOORS, on="kind", how="inner").groupby("floor").size(),
        lambda d: d.merge(FLOORS, on="kind").groupby("floor", as_index=False).size(),
    ),
}


def same(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """The same rows: without noise a group without rows is absent; order where pandas has one."""
    assert list(ours.columns) == list(theirs.columns)
    order = list(ours.columns)
    ours, theirs = (f.sort_values(order, ignore_index=True) for f in (ours, theirs))
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, atol=1e-6)


@pytest.mark.parametrize("name", GROUPED)
def test_groups(frame: PrivateFrame, name: str) -> None:
    ours, theirs = GROUPED[name]
    same(ours(frame).df(), theirs(DATA))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_merge_with_a_frame_of_the_same_people(frame: PrivateFrame, how: str) -> None:
    other = exact_frame(SMOKERS, **KEYWORDS)
    merged = frame.filter("age > 20").merge(other.filter("person < 40"), on="person", how=how)
    expected = DATA[DATA["age"] > 20].merge(SMOKERS[SMOKERS["person"] < 40], on="person", how=how)  # type: ignore[call-overload]
    assert merged.count() == len(expected)
    counts = expected.groupby("kind", as_index=False).size()
    same(merged.groupby("kind").size().df(), counts)
    # and a public frame on top, in the session that both now share
    on_floors = merged.merge(FLOORS, on="kind")
    assert on_floors.count() == len(expected.merge(FLOORS, on="kind"))


def test_merge_renames_what_both_have(frame: PrivateFrame) -> None:
    merged = frame.merge(pd.DataFrame({"kind": ["a"], "age": [7]}), on="kind", suffixes=("", "_other"))
    assert merged.columns == [*DATA.columns[[1, 0]], *DATA.columns[2:], "age_other"]
    assert merged.filter("age_other = 7").count() == (DATA["kind"] == "a").sum()


def test_other_frames() -> None:
    import pyarrow as pa

    for data in (pa.Table.from_pandas(DATA), {name: DATA[name].to_numpy() for name in DATA.columns}):
        frame = exact_frame(data, **KEYWORDS)
        assert frame.count() == len(DATA)
        assert frame.dtypes["person"] == "integer" and frame.dtypes["income"] == "real"


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    for data in (pl.DataFrame(DATA.to_dict("list")), pl.DataFrame(DATA.to_dict("list")).lazy()):
        frame = exact_frame(data, **KEYWORDS)
        assert frame.count() == len(DATA) and frame.dtypes["kind"] == "text"


def test_what_is_clipped_keeps_its_missing_values() -> None:
    """Half of the people have no pulse on record: they are not taken for people with one at a bound."""
    data = pd.DataFrame({"person": range(100), "pulse": [np.nan if i % 2 else 100.0 for i in range(100)]})
    actual = exact_frame(data, unit="person", rows_per_unit=1)["pulse"]
    for clipped, expected in (
        (actual.clip(40, 180), data["pulse"].clip(40, 180)),
        (actual.clip(40).clip(upper=90), data["pulse"].clip(40, 90)),
    ):
        assert (clipped.mean(), clipped.count()) == (expected.mean(), expected.count())


def test_a_text_is_no_list_of_its_letters(frame: PrivateFrame) -> None:
    with pytest.raises(dpsql.InterfaceError, match=r"isin\(\['ab'\]\)"):
        frame["kind"].isin("ab")
