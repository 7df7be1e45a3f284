"""Results draw themselves, with their intervals, and go out under the names of pandas and DuckDB."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.container import BarContainer, ErrorbarContainer

DATA = pd.DataFrame(
    {
        "person": np.arange(200) % 50,
        "kind": ["a", "b"] * 100,
        "sex": ["f", "f", "m", "m"] * 50,
        "age": np.arange(200) % 90,
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(200), unit="D"),
    }
)


@pytest.fixture(scope="module")
def frame() -> PrivateFrame:
    bounds = {"age": (0, 100), "day": ("2020-01-01", "2020-07-31")}
    keys = {"kind": ["a", "b"], "sex": ["f", "m"]}
    return PrivateFrame(
        DATA, unit="person", bounds=bounds, keys=keys, rows_per_unit=4, budget=1000, epsilon=5, dataset="drawn"
    )


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def ends(axes: Any) -> list[ErrorbarContainer]:
    return [one for one in axes.containers if isinstance(one, ErrorbarContainer)]


def test_bars_of_groups_have_their_intervals(frame: PrivateFrame) -> None:
    answer = frame.groupby("kind").size()
    axes = answer.plot()
    (bars,) = [one for one in axes.containers if isinstance(one, BarContainer)]
    assert [bar.get_height() for bar in bars] == list(answer["size"])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert answer.privacy is not None
    (lines,) = bars.errorbar.lines[2]
    low, high = (point[1] for point in lines.get_segments()[0])
    assert high - low == pytest.approx(2 * answer.privacy.intervals["size"])


def test_dates_are_a_line_and_bins_as_wide_as_they_are(frame: PrivateFrame) -> None:
    (line,) = ends(frame.resample("MS", on="day").size().plot())
    assert len(line.lines[0].get_xdata()) == 7
    axes = frame["age"].hist([0, 10, 50, 100]).plot()
    (bars,) = [one for one in axes.containers if isinstance(one, BarContainer)]
    assert [bar.get_width() for bar in bars] == [10, 40, 50]


def test_what_is_asked_for_is_drawn(frame: PrivateFrame) -> None:
    answer = frame.groupby(["kind", "sex"]).agg(n="size", m=("age", "mean"))
    assert len(answer.plot().containers) > 2  # both columns
    axes = pyplot.subplots()[1]
    assert answer.plot("barh", y="n", ax=axes, title="rows") is axes and axes.get_title() == "rows"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a, f", "a, m", "b, f", "b, m"]
    assert ends(answer.plot("scatter", x="n", y="m"))
    assert frame.crosstab("kind", "sex").plot().get_legend() is not None
    for wrong in ({"kind": "pie"}, {"y": "nothing"}):
        with pytest.raises(dpsql.InterfaceError, match="pie|nothing"):
            answer.plot(**wrong)


def test_without_matplotlib_it_says_how_to_get_it(frame: PrivateFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    before = builtins.__import__

    def importing(name: str, *given: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name="matplotlib")
        return before(name, *given, **named)

    answer = frame.groupby("kind").size()
    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(dpsql.InterfaceError, match="needs matplotlib") as caught:
        answer.plot()
    assert "dpsql[notebook]" in str(caught.value)


def test_answers_go_out_under_many_names(
    frame: PrivateFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = frame.groupby("kind").size()
    whole = answer.df()
    for same in (answer.to_pandas(), answer.fetchdf(), answer.to_polars().to_pandas(), answer.to_arrow().to_pandas()):
        assert same.to_dict("list") == whole.to_dict("list")
    assert answer.to_dict("records") == whole.to_dict("records")
    assert (answer.to_numpy() == whole.to_numpy()).all() and list(answer.fetchnumpy()["kind"]) == ["a", "b"]
    assert answer.head(1).to_dict("list") == whole.head(1).to_dict("list")
    answer.to_csv(tmp_path / "n.csv"), answer.to_json(tmp_path / "n.json"), answer.to_parquet(tmp_path / "n.parquet")
    assert pd.read_csv(tmp_path / "n.csv").to_dict("list") == whole.to_dict("list")
    assert json.loads((tmp_path / "n.json").read_text()) == whole.to_dict("records")
    assert pd.read_parquet(tmp_path / "n.parquet").to_dict("list") == whole.to_dict("list")
    answer.show()
    assert "±" in capsys.readouterr().out


def test_a_pandas_frame_says_what_it_cost_and_can_be_stored(frame: PrivateFrame, tmp_path: Path) -> None:
    table = frame.groupby("kind").size().df()
    said = table.attrs["privacy"]
    assert said["unit"] == "person" and said["intervals"]["size"] > 0
    table.to_parquet(tmp_path / "n.parquet")  # which needs attrs that JSON can hold
    assert table.copy().attrs == table.attrs


def test_rows_in_another_order(frame: PrivateFrame) -> None:
    answer = frame.groupby(["kind", "sex"]).size()
    sizes = [row[2] for row in answer.sort_values("size", ascending=False)]
    assert sizes == sorted(sizes, reverse=True)
    turned = answer.sort_values(["sex", "kind"], ascending=[False, True])
    assert [row[:2] for row in turned] == [("a", "m"), ("b", "m"), ("a", "f"), ("b", "f")]
    assert turned.df().iloc[0]["sex"] == "m" and "±" in repr(turned) and len(turned) == 4
    assert [row[:2] for row in answer] == [("a", "f"), ("a", "m"), ("b", "f"), ("b", "m")]
    with pytest.raises(dpsql.InterfaceError, match="no column 'sixe'"):
        answer.sort_values("sixe")


def test_duckdbs_way_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    catalog: dict[str, Any] = {
        "dataset": "shown",
        "unit": "person",
        "budget": {"epsilon": 5},
        "tables": {"t": {"unit": "person", "rows_per_unit": 4, "columns": {"person": "integer"}}},
    }
    with dpsql.connect(catalog, source=DATA, epsilon=1) as connection:
        connection.sql("SELECT COUNT(*) AS n FROM t").show()
        assert connection.sql("SELECT ? AS x", [3]).fetchdf()["x"].tolist() == [3]
        assert connection.sql("SELECT 1 AS x").fetchnumpy()["x"].tolist() == [1]
    assert "±" in capsys.readouterr().out
