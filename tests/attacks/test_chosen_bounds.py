"""Bounds that the data choose are enforced by the scan that was certified with them, and decide no one's rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpsql
from tests.worlds import people, private, through

LEFT = {"type": "integer", "bounds": "auto", "like": 1}


def catalog(**columns: Any) -> dict[str, Any]:
    return people(columns, unit="person", rows_per_unit=1, budget={"epsilon": 1000}, per_query={"epsilon": 20})


@pytest.mark.parametrize("far", [5, 10**15])
def test_one_value_beyond_chosen_bounds_stops_nothing(far: int) -> None:
    """The product's range is believed to fit an INTEGER, so it is cast plainly: of 10^15 that would fail."""
    data = pa.table({"person": list(range(1001)), "x": [n % 8 for n in range(1000)] + [far]})
    with dpsql.connect(catalog(x=LEFT), source={"t": data}) as connection:
        answer = connection.execute("SELECT MEDIAN(x), COUNT(*) FROM t WHERE CAST(x * 1000 AS INTEGER) >= 0")
        ((_, count),) = answer.fetchall()
        assert 950 < count < 1050


def test_bounds_of_one_table_hold_in_every_scan_of_it() -> None:
    data = pa.table({"person": list(range(1001)), "x": [n % 8 for n in range(1000)] + [10**15]})
    inside = "SELECT 1 FROM t b WHERE b.person = a.person AND CAST(b.x * 1000 AS INTEGER) >= 0"
    with dpsql.connect(catalog(x=LEFT), source={"t": data}) as connection:
        ((_, count),) = connection.execute(f"SELECT MEDIAN(x), COUNT(*) FROM t a WHERE EXISTS ({inside})").fetchall()
        assert 950 < count < 1050


def test_later_queries_and_repeats_keep_to_them(tmp_path: Path) -> None:
    described = {**catalog(x=LEFT), "version": "1"}
    described["tables"]["t"]["source"] = "t.csv"
    rows = [f"{n},{n % 8}" for n in range(1000)] + [f"1000,{10**15}"]
    (tmp_path / "t.csv").write_text("\n".join(["person,x", *rows]))
    (tmp_path / "t.yaml").write_text(json.dumps(described))
    sql = "SELECT MEDIAN(x), COUNT(*) FROM t WHERE CAST(x * 1000 AS INTEGER) >= 0"
    for _ in range(2):
        with dpsql.connect(tmp_path / "t.yaml") as connection:
            assert connection.execute(sql).fetchall()
            assert connection.execute(sql.replace(">= 0", "> 0")).fetchall()


@pytest.mark.parametrize("which", ["unit", "through", "own"])
def test_whose_rows_are_is_not_left_to_the_data(which: str) -> None:
    """A chosen bound of 0 would let every visit meet every item, whosever it is."""
    plain: dict[str, Any] = {"unit": "integer", "through": "integer", "own": "integer"}
    plain[which] = {"type": "integer", "bounds": "auto"}
    described = catalog(v=plain["through"])
    described["tables"]["t"]["columns"]["person"] = plain["unit"]
    described["tables"]["items"] = private({"v": plain["own"]}, unit=through("t", v="v"))
    with pytest.raises(dpsql.Error, match="has bounds or keys" if which == "unit" else "left to the data"):
        dpsql.connect(described, source={"t": pa.table({"person": [1], "v": [1]}), "items": pa.table({"v": [1]})})
