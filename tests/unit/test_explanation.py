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
        "12 rows of a patient count, over all groups together; of more, each counts less (declared for visits)",
        "6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty)",
        "which one patient moves together by at most 2880; values are held within 0 to 240 (declared for visits.duration)",
        "laplace noise of scale 2880, 95 % within ±5925",
        "visits.patient_id: own column",
    ],
    "SELECT referrer, COUNT(*) FROM visits GROUP BY referrer": [
        "referrer: private keys, rare ones are withheld",
        "Keys are released from about",
        "A patient with more than 4 groups does not vote.",
        "That one unit's own keys show has a probability of at most 1e-09",
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
    keys, total = stage["measurements"]
    assert (keys["name"], keys["between"], total["between"]) == ("keys", None, "0 to 240")
    assert (total["bounds"], total["epsilon"]) == ("declared for visits.duration", 0.5)
    assert hospital.budget.spent.epsilon == 0
