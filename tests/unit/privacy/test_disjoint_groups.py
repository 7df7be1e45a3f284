"""Groups of disjoint parts are groups of one measurement (privacy/disjoint_groups.py): what they cost, and what is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.plan.stages import ReleasePlan
from dpsql.testing import Replayer
from tests.worlds import clinic


@pytest.fixture(scope="module")
def replayer() -> Iterator[Replayer]:
    with clinic.replayer() as one:
        yield one


def scales(plan: ReleasePlan) -> list[float]:
    return [float(one.draw.steps * one.draw.grid) for stage in plan.stages for one in stage.noised]


def by(query: str, *wheres: str) -> str:
    """The query for each condition."""
    return " UNION ALL ".join(query.replace("…", where) for where in wheres)


COUNTS = "SELECT specialty, COUNT(*) AS n FROM visits WHERE … GROUP BY specialty"
BY_SCORE = ("score < 3", "score >= 3", "score IS NULL")


@pytest.mark.parametrize(
    "query",
    [
        by(COUNTS, *BY_SCORE),
        by("SELECT specialty, AVG(cost) AS n FROM visits WHERE … GROUP BY specialty", *BY_SCORE),
        by("SELECT specialty, MEDIAN(cost) AS n FROM visits WHERE … GROUP BY specialty", *BY_SCORE),
        by("SELECT specialty, COUNT(DISTINCT patient_id) AS n FROM visits WHERE … GROUP BY specialty", *BY_SCORE),
        by("SELECT referrer, COUNT(*) AS n FROM visits WHERE … GROUP BY referrer", *BY_SCORE),
        by("SELECT specialty, COUNT(*) AS n FROM visits WHERE cost > 9 AND … GROUP BY specialty", *BY_SCORE),
        by("SELECT specialty, COUNT(*) AS n FROM long_visits WHERE … GROUP BY specialty HAVING n > 3", *BY_SCORE),
        "SELECT * FROM (SELECT specialty, COUNT(*) AS a FROM visits WHERE score < 3 GROUP BY specialty) FULL JOIN "
        "(SELECT specialty, COUNT(*) AS b FROM visits WHERE score >= 3 GROUP BY specialty) USING (specialty)",
        "WITH a AS (SELECT specialty, COUNT(*) AS n FROM visits WHERE score < 3 GROUP BY specialty), b AS (SELECT "
        "specialty, COUNT(*) AS n FROM visits WHERE score >= 3 GROUP BY specialty) SELECT * FROM a, b, a AS c",
    ],
)
def test_groups_of_parts_are_one_measurement(replayer: Replayer, query: str) -> None:
    plan = replayer.plan(query)
    (stage,) = plan.stages
    assert len(stage.measurements) == 1 and plan.cost.epsilon == 1
    assert [note for note in stage.notes if note.startswith("disjoint parts are groups of one measurement")]


def test_they_have_the_noise_of_groups(replayer: Replayer) -> None:
    parts = scales(replayer.plan(by(COUNTS, "score < 3", "score >= 3")))
    assert parts == scales(replayer.plan("SELECT score < 3 AS low, specialty, COUNT(*) FROM visits GROUP BY ALL"))
    (one,) = scales(replayer.plan(COUNTS.replace("…", "score < 3")))
    assert parts[0] < 2 * one


@pytest.mark.parametrize(
    "query",
    [
        by(COUNTS, "score <= 3", "score >= 3"),
        by(COUNTS, "score < 3", "referrer = 'Dr A'"),
        by(COUNTS, "specialty = 'surgery'", "specialty = 'oncology'"),  # each shows its own groups
        by(
            "SELECT month(visited_on) AS m, COUNT(*) FROM visits WHERE … GROUP BY m",
            "visited_on < DATE '2020-03-01'",
            "visited_on >= DATE '2020-03-01'",
        ),
        by("SELECT specialty, SUM(cost) FROM visits WHERE … GROUP BY specialty", "cost < 9", "cost >= 9"),
        by("SELECT specialty, MAX(cost) FROM visits WHERE … GROUP BY specialty", "cost < 9", "cost >= 9"),
        by("SELECT specialty, COUNT(*) FROM visits WHERE … GROUP BY ROLLUP (specialty)", "score < 3", "score >= 3"),
        "SELECT specialty, COUNT(*) FROM visits WHERE score < 3 GROUP BY specialty UNION ALL "
        "SELECT specialty, SUM(cost) FROM visits WHERE score >= 3 GROUP BY specialty",
        "SELECT specialty, COUNT(*) FROM visits WHERE score < 3 GROUP BY specialty UNION ALL "
        "SELECT referrer, COUNT(*) FROM visits WHERE score >= 3 GROUP BY referrer",
        "SELECT name, (SELECT COUNT(*) FROM visits WHERE specialty = name AND score < 3), "
        "(SELECT COUNT(*) FROM visits WHERE specialty = name AND score >= 3) FROM specialties",
        by(
            "SELECT specialty, SUM(COUNT(*)) OVER (ORDER BY specialty) FROM visits WHERE … GROUP BY specialty",
            "score < 3",
            "score >= 3",
        ),
    ],
)
def test_what_is_no_part_costs_each(replayer: Replayer, query: str) -> None:
    plan = replayer.plan(query)
    assert len(plan.stages) > 1
    assert not any("disjoint" in note for stage in plan.stages for note in stage.notes)


def test_what_cannot_be_planned_together_is_planned_as_it_is(replayer: Replayer) -> None:
    """There may be 10^6 public groups: each part has fewer, three together have more."""
    keys = "CAST(duration AS INTEGER) AS d, visited_on, score IS NULL AS s, referrer IS NULL AS r"
    days = f"SELECT {keys}, COUNT(*) FROM visits WHERE … GROUP BY ALL"
    costs = ("cost < 3", "cost >= 3 AND cost < 5", "cost >= 5")
    assert len(replayer.plan(by(days, *costs[:2])).stages) == 1
    assert len(replayer.plan(by(days, *costs)).stages) == 3


def test_per_unit_summaries_are_no_release(replayer: Replayer) -> None:
    inner = by("SELECT patient_id, COUNT(*) AS n FROM visits WHERE … GROUP BY patient_id", "score < 3", "score >= 3")
    (stage,) = replayer.plan(f"SELECT AVG(LEAST(n, 4)) FROM ({inner})").stages
    assert not any("disjoint" in note for note in stage.notes)


def test_shares_may_be_split(replayer: Replayer) -> None:
    both = "SELECT specialty, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE … GROUP BY specialty"
    counts, sums = scales(replayer.plan(by(both, "score < 3", "score >= 3")))
    query = by(both, "score < 3", "score >= 3").replace(
        "SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(split = (n => 3, s => 1))", 1
    )
    assert scales(replayer.plan(query)) == pytest.approx([counts * 2 / 3, sums * 2], rel=0.01)
