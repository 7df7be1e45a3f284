"""EXPLAIN tells what is protected, where bounds, keys and caps came from, what noise costs; without touching data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql
from dpsql.samples.prepare import prepare


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    folder = tmp_path_factory.mktemp("hospital")
    connection = dpsql.connect(prepare("hospital", folder))
    (folder / "data" / "hospital" / "visits.parquet").unlink()  # EXPLAIN works without it
    yield connection
    connection.close()


STORIES = {
    "SELECT specialty, AVG(duration) FROM visits GROUP BY specialty": [
        "Protects each patient",
        "the data with and without all rows of one patient",
        "Costs ε = 1, δ = 0",
        "left now: ε = 10, δ = 1e-06",
        "at most 3 rows in a group and reaches at most 4 groups (caps declared for visits)",
        "6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty)",
        "one unit changes a group by at most 360; values are held within 0 to 240 (declared for visits.duration)",
        "laplace noise of scale 2880, 95 % within ±86",
    ],
    "SELECT referrer, COUNT(*) FROM visits GROUP BY referrer": [
        "referrer: private keys, rare ones are withheld",
        "keys of fewer than about 172 units will usually be missing",
        "That one unit's own key shows has a probability of at most 1e-09",
    ],
    "SELECT specialty, EXTRACT(month FROM visited_on) AS m, COUNT(*) FROM visits GROUP BY specialty, m": [
        "m: 12 public keys (declared for visits.visited_on)",
        "72 combinations of keys are released",
    ],
    "SELECT SUM(duration) FROM visits WHERE duration BETWEEN 10 AND 60": ["held within 10 to 60"],
    "SELECT COUNT(*) > 3 FROM visits GROUP BY duration > 10": ["3 public keys: False, True, NULL"],
    "SELECT name FROM specialties": ["Nothing private is read: this query is free."],
}


@pytest.mark.parametrize("sql", STORIES)
def test_the_story(hospital: dpsql.Connection, sql: str) -> None:
    story = str(hospital.explain(sql))
    assert [part for part in STORIES[sql] if part not in story] == []


def test_the_same_as_data(hospital: dpsql.Connection) -> None:
    told = hospital.explain("SELECT referrer, SUM(duration) AS s FROM visits GROUP BY referrer").to_dict()
    (stage,) = told["stages"]
    assert told["neighbours"] == "the data with and without all rows of one patient"
    assert told["settings"]["epsilon"] == 1.0
    assert stage["combinations"] is None
    assert stage["threshold_delta"] == pytest.approx(1e-9)
    units, total = stage["measurements"]
    assert (units["between"], total["between"]) == (None, "0 to 240")
    assert (total["bounds"], total["epsilon"]) == ("declared for visits.duration", 0.5)
    assert hospital.budget.spent.epsilon == 0
