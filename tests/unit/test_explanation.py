"""EXPLAIN tells what is protected, where bounds, keys and caps came from, what noise costs; without touching data."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import dpsql
from dpsql.report.release_record import release_record
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
        "Privacy unit: patient",
        "the data with and without all rows of one patient",
        "Costs ε = 1, δ = 0",
        "left now: ε = 10, δ = 1e-06",
        "9 rows of a patient count, over all groups together (declared "
        "for visits); if there are more, each counts less (half, with 18 rows)",
        "6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty)",
        "measured as the distances of values to both bounds; one patient changes them in all groups together by at most"
        " 2160; clipping bounds 0 to 240 (declared for visits.duration)",
        "laplace noise of scale 2160, 95 % confidence interval ±4444",
        "Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).",
    ],
    "SELECT referrer, COUNT(*) FROM visits GROUP BY referrer": [
        "referrer: private keys; rare ones are withheld",
        "Partition selection: the threshold is about 78 units that have no other key, or 246 that have ten each",
        "A key that only one patient has is released with a probability of at most 5e-10",
    ],
    "SELECT specialty, EXTRACT(month FROM visited_on) AS m, COUNT(*) FROM visits GROUP BY specialty, m": [
        "m: 12 public keys (declared for visits.visited_on)",
        "72 combinations of keys are released",
    ],
    "SELECT SUM(duration) FROM visits WHERE duration BETWEEN 10 AND 60": ["clipping bounds 10 to 60"],
    "SELECT COUNT(*) > 3 FROM visits GROUP BY duration > 10": ["3 public keys: False, True, NULL"],
    "SELECT COUNT(DISTINCT patient_id) FROM visits GROUP BY specialty": [
        "a patient counts as one in 4 groups (declared for visits); in more groups, it counts less in each (half, in 8)",
        "one patient changes all groups together by at most 4",
    ],
    "SELECT COUNT(DISTINCT referrer) FROM visits": [
        "9 different values of a patient count (declared for visits); if there are more, some are drawn",
    ],
    "SELECT AVG(LEAST(n, 10)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)": [
        "From visits. Each patient has one row.",
        "one patient changes them together by at most 9;",
    ],
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 1e-6, mechanism = 'gaussian', max_groups_contributed = 4,"
    " max_rows_per_group = 3) SUM(duration) FROM visits GROUP BY specialty": [
        "12 rows of a patient count, over all groups together (asked for in the query: 4 groups with 3 rows);"
        " if there are more, each counts less.",
        "one patient changes all groups together by at most 1440",
        "(Euclidean norm)",
    ],
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 1e-6, max_groups_contributed = 1) referrer, COUNT(*) FROM visits"
    " GROUP BY referrer": [
        "A patient with more than 1 key does not vote.",
    ],
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(proof = true) COUNT(*) FROM visits JOIN specialties ON name = specialty": [
        "Proof that each row is about one patient and depends on no other patient's rows:\n"
        "    project\n"
        "      public join\n"
        "        own column: visits.patient_id\n"
        "  No stored value can make it fail: 1 function call checked.",
    ],
    "SELECT name FROM specialties": ["Nothing private is read: this query is free."],
}


@pytest.mark.parametrize("sql", STORIES)
def test_the_story(hospital: dpsql.Connection, sql: str) -> None:
    story = str(hospital.explain(sql))
    assert [part for part in STORIES[sql] if part not in story] == []


SAID_TWICE = {
    "stages": ("tables", "rows", "groups", "limits", "because", "keys"),
    "measurements": ("name", "sensitivity", "norm", "mechanism", "scale", "bounds", "cumulative_along"),
}


@pytest.mark.parametrize("sql", STORIES)
def test_the_record_says_the_same(hospital: dpsql.Connection, sql: str) -> None:
    explained = hospital.explain(sql)
    told, record = explained.to_dict(), json.loads(json.dumps(release_record(explained.plan, version=None)))
    in_story = {
        "stages": told["stages"],
        "measurements": [m for stage in told["stages"] for m in stage["measurements"]],
    }
    for part, names in SAID_TWICE.items():
        assert [[one[n] for n in names] for one in in_story[part]] == [[one[n] for n in names] for one in record[part]]
    assert [m.name for m in explained.privacy.measurements] == [m["name"] for m in record["measurements"]]


def test_the_same_as_data(hospital: dpsql.Connection) -> None:
    told = hospital.explain("SELECT referrer, SUM(duration) AS s FROM visits GROUP BY referrer").to_dict()
    (stage,) = told["stages"]
    assert told["neighbours"] == "the data with and without all rows of one patient"
    assert told["settings"]["epsilon"] == 1.0
    assert stage["combinations"] is None
    assert stage["threshold_delta"] == pytest.approx(5e-10)  # the other half is the votes' own
    keys, total = stage["measurements"]
    assert (keys["name"], keys["between"], total["between"]) == ("keys", None, "0 to 240")
    assert (total["bounds"], total["epsilon"]) == ("declared for visits.duration", 0.5)
    assert hospital.budget.spent.epsilon == 0
