"""What a PrivateFrame shows, refuses and charges."""

from __future__ import annotations

import copy
import datetime
import itertools
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsql
from dpsql.frames import NoisyFloat, NoisyInt, PrivateFrame, Result
from dpsql.report.explanation import Explanation
from tests.worlds import bounded, dataset, keys, private

numbers = itertools.count(1)
SENTINEL = "Zaphod-Beeblebrox"
KEYWORDS: dict[str, Any] = {
    "unit": "person",
    "bounds": {"age": (0, 100)},
    "keys": {"kind": ["a", "b"]},
    "max_groups": 2,
    "max_rows": 3,
    "budget": 100,
    "epsilon": 1,
    "delta": 1e-9,
}


def data() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "person": np.arange(400) % 100,
            "kind": ["a", "b"] * 200,
            "age": np.arange(400) % 90,
            "name": [SENTINEL] * 400,
            "when": pd.Timestamp("2020-01-01"),
        }
    )


def made(**changed: Any) -> PrivateFrame:
    """A frame with an account of its own."""
    frame = changed.pop("data", None)
    return PrivateFrame(data() if frame is None else frame, **{**KEYWORDS, "dataset": f"f{next(numbers)}", **changed})


def test_answers_know_their_interval_and_their_cost() -> None:
    frame = made()
    n, mean = frame.count(), frame["age"].mean()
    assert isinstance(n, NoisyInt) and isinstance(n, int) and n.half_width is not None and n.half_width > 0
    assert isinstance(mean, NoisyFloat) and isinstance(mean, float)
    assert n.privacy is not None and n.privacy.cost.epsilon == 1
    assert "±" in repr(n) and str(n) == str(int(n))
    assert type(pickle.loads(pickle.dumps(n))) is int and type(pickle.loads(pickle.dumps(mean))) is float
    answer = frame.groupby("kind").agg(n="count")
    assert isinstance(answer, Result) and answer.columns == ["kind", "n"] and len(answer) == 2
    assert answer.privacy is not None and "n" in answer.privacy.intervals
    assert "±" in repr(answer) and "±" in str(answer._repr_html_())
    assert [row[0] for row in answer] == list(answer["kind"]) == ["a", "b"]
    assert answer.fetchall() == answer.fetchall()


def test_describe_is_one_query_within_the_stated_epsilon() -> None:
    frame = made().options(epsilon=0.5)
    try:
        answer = frame.describe()
    except dpsql.Refused as refused:  # until every aggregate of it is there
        assert refused.number in (120, 132)
        assert frame.budget.spent.epsilon == 0
    else:
        assert answer.cost is not None and answer.cost.epsilon == frame.budget.spent.epsilon == 0.5
        assert answer.columns == ["statistic", "age"]
        assert [row[0] for row in answer] == ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]


@pytest.mark.slow
def test_every_statistic_is_answered_or_refuses_by_itself_for_free() -> None:
    for what in ("mean", "sum", "count", "median", "quantile", "var", "std", "nunique", "min", "max", "mode"):
        frame = made()
        try:
            answer = frame["age"].agg(what) if what == "mean" else getattr(frame["age"], what)()
        except dpsql.Refused:
            assert frame.budget.spent.epsilon == 0
        else:
            assert float(answer) == float(answer) and frame.budget.spent.epsilon == 1


def test_copies_and_derived_frames_share_the_budget() -> None:
    frame = made()
    others = [copy.copy(frame), copy.deepcopy(frame), frame.copy(), frame.filter("age > 10"), frame.assign(x="age + 1")]
    others += [
        frame[["person", "age"]],
        frame.options(epsilon=1),
        frame.merge(pd.DataFrame({"kind": ["a"]}), on="kind"),
    ]
    for spent, other in enumerate(others, start=1):
        other.filter(f"age <> {spent}").count()
        assert frame.budget.spent.epsilon == other.budget.spent.epsilon == spent
    again = PrivateFrame(data(), **{**KEYWORDS, "dataset": frame._root.dataset})
    assert again.budget.spent == frame.budget.spent
    with pytest.raises(dpsql.InterfaceError):
        pickle.dumps(frame)


def test_another_budget_for_the_same_account_is_refused() -> None:
    frame = made()
    with pytest.raises(dpsql.LedgerError) as refused:
        PrivateFrame(data(), **{**KEYWORDS, "dataset": frame._root.dataset, "budget": 1000})
    assert refused.value.code == "DPSQL-411"


def test_the_budget_ends() -> None:
    frame = made(budget=2)
    frame.count()
    frame["age"].sum()
    with pytest.raises(dpsql.BudgetError):
        frame.filter("age > 1").count()
    assert frame.budget.left.epsilon == 0


@pytest.mark.parametrize("left_out", ["unit", "max_groups", "max_rows", "budget"])
def test_there_is_no_silent_default(left_out: str) -> None:
    with pytest.raises(dpsql.Error) as refused:
        made(**{left_out: None})
    assert left_out in str(refused.value)


def test_rows_per_unit_or_the_older_pair() -> None:
    rows = {"max_groups": None, "max_rows": None}
    assert made(**rows, rows_per_unit=6, groups_per_unit=2).groupby("kind").size() is not None
    with pytest.raises(dpsql.Error, match="both max_groups and rows_per_unit"):
        made(rows_per_unit=6)


@pytest.mark.parametrize("limits", [{}, {"groups_per_unit": 2}, {"rows_per_unit": "auto"}])
def test_limits_that_nobody_declares_are_chosen(limits: dict[str, object]) -> None:
    frame = made(**{"max_groups": None, "max_rows": None, **limits})
    assert [limit.of for limit in frame.count().privacy.limits] == ["rows"]


def test_no_bounds_no_sum_and_no_epsilon_no_answer() -> None:
    with pytest.raises(dpsql.Error, match="bounds"):
        made(bounds={})["age"].mean()
    with pytest.raises(dpsql.Error, match="epsilon"):
        made(epsilon=None).count()
    assert made(epsilon=None).options(epsilon=1).count() is not None


BAD_NUMBERS = [float("nan"), float("inf"), 0, -1, 1e-320, "1", "x", True, False, None, Decimal("NaN"), [1], object()]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=range(len(BAD_NUMBERS)))
def test_bad_budgets_and_epsilons(bad: Any) -> None:
    if bad != "1":
        with pytest.raises(dpsql.Error):
            made(budget=bad, dataset="bad")
    if bad is not None and bad != "1":
        with pytest.raises(dpsql.Error):
            made(epsilon=bad)
        with pytest.raises(dpsql.Error):
            made().options(epsilon=bad).count()


@pytest.mark.parametrize(
    "bounds", [(1, 0), (float("nan"), 1), (0, float("inf")), ("a", "b"), (0,), "01", (True, 2)], ids=repr
)
def test_bad_bounds(bounds: Any) -> None:
    with pytest.raises(dpsql.Error):
        made(bounds={"age": bounds})


@pytest.mark.parametrize("keyword", ["bounds", "keys", "types", "not_null"])
def test_a_keyword_about_a_column_that_is_not_there(keyword: str) -> None:
    given: Any = ["salary"] if keyword == "not_null" else {"salary": "real" if keyword == "types" else (0, 1)}
    with pytest.raises(dpsql.InterfaceError, match="salary"):
        made(**{keyword: given})


LOOKS: dict[str, Callable[[PrivateFrame], object]] = {
    "len": len,
    "list": lambda f: list(f),  # type: ignore[call-overload]  # that is the point
    "shape": lambda f: f.shape,
    "bool": bool,
    "column bool": lambda f: bool(f["age"] > 1),
    "column list": lambda f: list(f["age"]),  # type: ignore[call-overload]
    "column len": lambda f: len(f["age"]),
    "group len": lambda f: len(f.groupby("kind")),
    "hash": lambda f: hash(f["age"]),
    "rows": lambda f: f.sql("SELECT * FROM df"),
    "a key": lambda f: f.groupby("kind").agg(kind="count"),
    "no column": lambda f: f["salary"],
    "no statistic": lambda f: f.groupby("kind").agg(x=("age", "average")),
    "of no column": lambda f: f.agg(x="mean"),
    "nothing": lambda f: f.agg(),
    "no bins": lambda f: f["age"].hist(0),
    "bins of no number": lambda f: f["age"].hist(2.5),
    "bins in words": lambda f: f["age"].hist("auto"),
    "ends that fall": lambda f: f["age"].hist([5, 3]),
    "one end": lambda f: f["age"].hist([5]),
    "an end that is nothing": lambda f: f["age"].hist([0, float("nan"), 5]),
    "no ends": lambda f: f["person"].hist(),
    "another frame": lambda f: f.filter(made()["age"] > 1),
    "another account": lambda f: f.merge(made(), on="person"),
    "how": lambda f: f.merge(pd.DataFrame({"kind": ["a"]}), on="kind", how="cross"),
    "on": lambda f: f.merge(pd.DataFrame({"kind": ["a"]})),
    "an expression": lambda f: f.filter(3),  # type: ignore[arg-type]
    "a constant": lambda f: f.filter(f["age"] > object()),
    "no option": lambda f: f.options(colour="red"),
    "explain nothing": lambda f: f.explain(lambda df: 3),
    "not the unit": lambda f: f.merge(f, left_on="age", right_on="person").count(),
    "outer with public": lambda f: f.merge(pd.DataFrame({"kind": ["a"]}), on="kind", how="outer").count(),
}


@pytest.mark.parametrize("name", LOOKS)
def test_refusals_are_free_and_show_nothing(name: str) -> None:
    frame = made()
    with pytest.raises((dpsql.Error, TypeError)) as refused:
        LOOKS[name](frame)
    assert SENTINEL not in str(refused.value) and "400" not in str(refused.value)
    assert frame.budget.spent.epsilon == 0


def test_habits_of_pandas_are_told_what_to_write() -> None:
    frame: Any = made()
    with pytest.raises(AttributeError, match="did you mean 'age'"):
        frame.aeg  # noqa: B018 - the looking is the test
    with pytest.raises(AttributeError, match=r"a column has it. Instead: frame\['x'\].isna"):
        frame.isna()
    with pytest.raises(AttributeError, match="no 'to_period' of private rows. There are date, day"):
        frame["age"].dt.to_period("M")
    for wrong in ({"as_index": True}, {"observed": True}, {"sort": False}):
        with pytest.raises(dpsql.InterfaceError, match="Leave out"):
            frame.groupby("kind", **wrong)
    for array in (
        lambda: np.asarray(frame["age"]),
        lambda: pd.cut(frame["age"], [0, 9]),
        lambda: np.cumsum(frame["age"]),
    ):
        with pytest.raises(dpsql.InterfaceError, match="not an array"):
            array()
    for ufunc in (lambda: np.sinh(frame["age"]), lambda: np.add.reduce(frame["age"])):
        with pytest.raises(dpsql.InterfaceError, match="numpy has no rows"):
            ufunc()
    with pytest.raises(AttributeError, match="an answer has no 'reset_index'"):
        frame.groupby("kind").size().reset_index()
    with pytest.raises(dpsql.InterfaceError, match="cannot be changed") as caught:
        frame["months"] = frame["age"] * 12
    assert "frame.assign(" in str(caught.value)


def test_columns_are_attributes_where_no_verb_has_their_name() -> None:
    frame: Any = made()
    assert frame.age._sql == '"age"' and "age" in dir(frame) and "age" in dir(frame.groupby("kind"))
    assert frame.groupby("kind").age._columns == ("age",)
    assert frame.rename(columns={"age": "size"}).size is not None and callable(
        frame.rename(columns={"age": "size"}).size
    )
    assert not hasattr(frame["kind"], "age") and not hasattr(frame.groupby("kind")["age"], "kind")
    assert not hasattr(frame.rename(columns={"age": "_repr_html_"}), "_repr_html_")
    asked = frame.groupby("kind", as_index=False, observed=False).age.mean()
    assert asked.columns == ["kind", "age"] and asked.sort_values(ascending=False).columns == asked.columns


@pytest.mark.parametrize(
    ("made_of", "sql"),
    [
        (lambda x: np.log(x), 'LN("age")'),
        (lambda x: abs(x), 'ABS("age")'),
        (lambda x: 2**x, 'POWER(2, "age")'),
        (lambda x: np.float64(2) * x, '((2.0) * "age")'),
        (lambda x: np.int64(2) - x, '(2 - "age")'),
        (lambda x: np.float64(2) < x, '("age" > (2.0))'),
        (lambda x: np.int64(7) // x, 'FLOOR(7 / "age")'),
    ],
)
def test_numpy_asks_columns(made_of: Callable[[Any], Any], sql: str) -> None:
    assert made_of(made()["age"])._sql == sql


@pytest.mark.parametrize("name", ["head", "loc", "iloc", "values", "to_numpy", "iterrows", "index", SENTINEL])
def test_what_pandas_would_show_is_not_there(name: str) -> None:
    frame = made()
    for unseen in (frame, frame["age"], frame.groupby("kind")):
        assert not hasattr(unseen, name)
        with pytest.raises(AttributeError, match="never shown"):
            getattr(unseen, name)


@pytest.mark.slow
def test_nothing_that_is_shown_depends_on_the_rows() -> None:
    def seen(frame: PrivateFrame, name: str) -> list[object]:
        plans = [
            frame.explain("SELECT kind, COUNT(*) FROM df GROUP BY kind"),
            frame.explain(lambda df: df.groupby("kind").mean("age")),
            frame.explain(lambda df: df["age"].hist(3)),
        ]
        looks = (repr(frame), repr(frame["age"]), repr(frame.groupby("kind")), frame.columns, frame.dtypes)
        return [
            *(str(look).replace(name, "…") for look in looks),
            *map(str, plans),
            *(p.to_dict()["stages"] for p in plans),
        ]

    rows = data()
    for other in (rows.iloc[:0], rows.iloc[:1], rows.assign(age=77, name="x"), rows.sample(frac=1, random_state=1)):
        one, two = made(data=rows), made(data=other)
        assert seen(one, one._root.dataset) == seen(two, two._root.dataset)
    assert SENTINEL not in "".join(map(str, seen(made(), "")))


def test_explaining_reads_and_charges_nothing() -> None:
    frame = made()
    explained = frame.explain(lambda df: df.filter("age > 3").groupby("kind").agg(n="count"))
    assert isinstance(explained, Explanation) and explained.privacy.cost.epsilon == 1
    assert frame.budget.spent.epsilon == 0
    assert repr(explained) == str(explained)


PAIRS: dict[str, tuple[Callable[[PrivateFrame], Any], str]] = {
    "count": (lambda f: f.count(), "SELECT COUNT(*) AS count FROM df"),
    "mean": (lambda f: f["age"].mean(), "SELECT AVG(age) AS mean FROM df"),
    "groups": (
        lambda f: f.groupby("kind").agg(n="count", mean=("age", "mean")),
        "SELECT kind, COUNT(*) AS n, AVG(age) AS mean FROM df GROUP BY kind",
    ),
    "units": (lambda f: f.units(), "SELECT COUNT(DISTINCT person) AS units FROM df"),
    "options": (
        lambda f: f.options(epsilon=0.25, max_groups=1, mechanism="laplace").groupby("kind").size(),
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.25, max_groups_contributed=1, mechanism='laplace')"
        " kind, COUNT(*) AS size FROM df GROUP BY kind",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_the_plan_that_sql_makes(name: str) -> None:
    """The same stages, noise and cost; and the plan of connect() over the same catalog."""
    question, sql = PAIRS[name]
    frame = made()
    plan = frame.explain(question).plan
    assert plan == frame.explain(sql).plan
    with dpsql.connect(frame._root.metadata, source={"df": data()}, epsilon=1, delta=1e-9) as connection:
        assert connection.explain(sql).plan == plan


def test_the_rows_are_those_of_the_moment_it_was_made() -> None:
    rows = data()
    frame = made(data=rows, epsilon=1000, budget=10_000)
    rows["age"] = 0
    assert frame["age"].mean() > 30


def test_objects_are_what_their_bounds_are() -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 5, 1), None]
    moments = [datetime.datetime(2020, 1, 1, 12), None, None]
    data = pd.DataFrame({"u": [1, 2, 3], "d": days, "m": pd.Series(moments, dtype=object), "t": days})
    bounds = {"d": (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)), "m": (moments[0], moments[0])}
    caps: dict[str, Any] = {"unit": "u", "max_groups": 1, "max_rows": 1, "budget": 1.0}
    shown = repr(dpsql.PrivateFrame(data, bounds=bounds, dataset="objects", **caps))
    assert "(u integer, d date, m timestamp, t text)" in shown


def test_bad_cells_are_null_and_odd_dtypes_are_text() -> None:
    rows = data().astype({"age": object})
    rows.loc[7, "age"] = "ninety"
    rows.loc[8, "age"] = np.nan
    frame = made(data=rows, types={"age": "integer"}, epsilon=1000, budget=10_000)
    assert frame["age"].mean() == pytest.approx(44, abs=5)
    gaps = data().assign(person=lambda d: d["person"].where(d["person"] > 3))
    assert made(data=gaps).dtypes["person"] == "integer"
    # what no type of the catalog holds is text
    times = pa.table({"person": [1], "at": pa.array([datetime.time(1)], pa.time64("us"))})
    assert made(data=times, bounds={}, keys={}).dtypes == {"person": "integer", "at": "text"}


def test_from_metadata() -> None:
    visits = {"kind": keys("a", "b"), "age": bounded("integer", 0, 100)}
    catalog = dataset(
        {
            "visits": private(visits, unit="person", max_groups=2, max_rows=3),
            "people": private({"tall": "boolean"}, unit="person", max_groups=1, max_rows=1),
        },
        budget={"epsilon": 5, "delta": 1e-6},
        per_query={"epsilon": 1},
    )
    people = pd.DataFrame({"person": np.arange(100), "tall": True})
    both = {"visits": data(), "people": people}
    with pytest.raises(dpsql.InterfaceError, match="table="):
        PrivateFrame(data(), catalog)
    with pytest.raises(dpsql.InterfaceError, match="bounds="):
        PrivateFrame(data(), catalog, table="visits", bounds={"age": (0, 1)})
    for more in ({"row_is_unit": True}, {"not_null": ["age"]}, {"dataset": "another"}):
        with pytest.raises(dpsql.InterfaceError, match=f"{next(iter(more))}= is set by the metadata"):
            PrivateFrame(data(), catalog, table="visits", **more)
    frame = PrivateFrame(both["visits"], catalog, table="visits")
    assert frame.sql("SELECT kind, COUNT(*) FROM df GROUP BY kind").columns[0] == "kind"
    tall = PrivateFrame(people, catalog, table="people").filter("tall")
    assert frame.merge(tall, on="person").groupby("kind").size().columns == ["kind", "size"]
    assert frame.budget.spent.epsilon == 2


def test_row_is_unit() -> None:
    frame = PrivateFrame(data(), row_is_unit=True, budget=5, epsilon=1, dataset=f"r{next(numbers)}")
    assert frame.count().privacy.unit == "row"
    with pytest.raises(dpsql.InterfaceError):
        frame.units()


def test_several_quantiles_at_once() -> None:
    frame = made()
    assert len(frame["age"].quantile([0.25, 0.75])) == 2
    assert frame.budget.spent.epsilon == 1
    with pytest.raises(dpsql.Error, match="list of fractions is empty"):
        frame["age"].quantile([])
    assert frame.budget.spent.epsilon == 1


@pytest.mark.slow
def test_what_describe_shows_is_ascending() -> None:
    """Each of the five is a choice of its own, with noise of its own: at a small ε they often cross."""
    data = pd.DataFrame({"person": range(40), "x": [float(n) for n in range(40)]})
    frame = PrivateFrame(data, unit="person", bounds={"x": (0, 40)}, rows_per_unit=1, budget=100, dataset="ascending")
    for _ in range(5):
        shown = dict(frame.describe(epsilon=0.1).fetchall())
        five = [shown[what] for what in ("min", "25%", "50%", "75%", "max")]
        assert five == sorted(five)


def test_options_count_for_sql_that_is_written_by_hand() -> None:
    """Where the text has its own, these win."""
    frame = made().options(epsilon=0.25)
    assert frame.explain("SELECT COUNT(*) FROM df").privacy.cost.epsilon == 0.25
    assert frame[frame["age"] > 30].explain("SELECT COUNT(*) FROM df").privacy.cost.epsilon == 0.25
    before = frame.budget.spent.epsilon
    frame.sql("SELECT COUNT(*) AS n FROM df")
    assert frame.budget.spent.epsilon == before + 0.25
    by_hand = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.125) COUNT(*) AS n FROM df"
    assert frame.explain(by_hand).privacy.cost.epsilon == 0.125
