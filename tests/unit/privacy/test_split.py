"""split: shares of ε by the columns of the outermost SELECT, in the plan and in EXPLAIN."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpsql
from dpsql.plan.stages import ReleasePlan
from tests.worlds import clinic


def planned(split: str, sql: str) -> ReleasePlan:
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, split = {split})"
    with clinic.replayer() as replayer:
        return replayer.plan(sql.replace("SELECT!", f"SELECT {options}"))


def shares(split: str, sql: str) -> list[tuple[str, tuple[str, ...], Fraction]]:
    return [(share.name, share.columns, share.part) for share in planned(split, sql).split]


def of(split: str, sql: str) -> dict[str, Fraction]:
    """What each column has in all, under its name; "" is what no column shows."""
    parts: dict[str, Fraction] = {}
    for _, columns, part in shares(split, sql):
        parts["+".join(columns)] = parts.get("+".join(columns), Fraction(0)) + part
    return parts


TWO = "SELECT! SUM(cost) AS s, COUNT(*) AS n FROM visits"


@pytest.mark.parametrize("split", ["(n => 3, s => 1)", "(s => 1, N => 3)", "(1, 3)", "(n => 3)"])
def test_by_name_or_in_the_selects_order(split: str) -> None:
    """SUM is written first, though COUNT is planned first."""
    plan = planned(split, TWO)
    assert {share.columns: share.part for share in plan.split} == {("n",): Fraction(3, 4), ("s",): Fraction(1, 4)}
    noise = {one.measurement.name: one.draw.epsilon for one in plan.stages[0].noised}
    assert noise == {"count(*)": Fraction(3, 4), "sum(cost)": Fraction(1, 4)}
    assert plan.cost.epsilon == 1


CASES = {
    # a name of two measurements
    ("(r => 3, a => 1)", "SELECT! SUM(cost) / COUNT(*) AS r, COUNT(DISTINCT patient_id) AS a FROM visits"): {
        "r": Fraction(3, 4),
        "a": Fraction(1, 4),
    },
    # two names of one measurement
    (
        "(a => 1, n => 1, d => 2)",
        "SELECT! AVG(cost) AS a, COUNT(cost) AS n, COUNT(DISTINCT patient_id) AS d FROM visits",
    ): {
        "a+n": Fraction(1, 2),
        "d": Fraction(1, 2),
    },
    # a private key is a column with a share
    ("(referrer => 1, n => 4)", "SELECT! referrer, COUNT(*) AS n FROM visits GROUP BY referrer"): {
        "referrer": Fraction(1, 5),
        "n": Fraction(4, 5),
    },
    # what is not shown has weight 1; so has what is not named
    ("(n => 2)", "SELECT! specialty, COUNT(*) AS n FROM visits GROUP BY specialty HAVING SUM(cost) > 10"): {
        "n": Fraction(2, 3),
        "": Fraction(1, 3),
    },
    ("(n => 2)", "SELECT! COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"): {
        "n": Fraction(2, 3),
        "": Fraction(1, 3),
    },
    # levels of a ROLLUP share a name's weight
    ("(n => 3)", "SELECT! specialty, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ROLLUP (specialty)"): {
        "n": Fraction(3, 4),
        "s": Fraction(1, 4),
    },
    # through a CTE, an aggregate over results, a scalar subquery
    (
        "(r => 3, m => 1)",
        "WITH c AS (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty) "
        "SELECT! MAX(n) AS r, (SELECT AVG(cost) FROM visits) AS m FROM c",
    ): {"r": Fraction(3, 4), "m": Fraction(1, 4)},
    (
        "(n => 1)",
        "SELECT! COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM patients",
    ): {"n": Fraction(1)},
    (
        "(n => 1, w => 3)",
        "SELECT! COUNT(*) AS n, RANK() OVER (ORDER BY SUM(cost)) AS w FROM visits GROUP BY specialty",
    ): {
        "n": Fraction(1, 4),
        "w": Fraction(3, 4),
    },
}


@pytest.mark.parametrize(("split", "sql"), CASES)
def test_what_columns_are_made_of(split: str, sql: str) -> None:
    assert of(split, sql) == CASES[split, sql]


REFUSED = {
    ("(x => 1)", TWO): 'no column of the SELECT is called "x"',
    ("(1, 2, 3)", TWO): "3 weights for 2 columns",
    ("(n => 1)", "SELECT! COUNT(*) AS n, SUM(cost) AS n FROM visits"): 'two columns are called "n"',
    ("(specialty => 1)", "SELECT! specialty, COUNT(*) AS n FROM visits GROUP BY specialty"): "takes no share",
    ("(2, 1)", "SELECT! specialty, COUNT(*) AS n FROM visits GROUP BY specialty"): "2 weights for 1 columns",
    ('("count(*)" => 1)', TWO): "no column",  # a measurement's name is no column's
}


@pytest.mark.parametrize(("split", "sql"), REFUSED)
def test_refused(split: str, sql: str) -> None:
    with pytest.raises(dpsql.Error) as refused:
        planned(split, sql)
    assert refused.value.code == "DPSQL-119" and REFUSED[split, sql] in refused.value.what
    assert "n" in refused.value.why


def test_explain_shows_the_shares() -> None:
    with dpsql.connect(clinic.CATALOG, source=clinic.source(clinic.clean())) as connection:
        sql = TWO.replace("SELECT!", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, split = (n => 3))")
        explained = connection.explain(sql)
        assert "ε is divided: 0.75 for count(*) (n); 0.25 for sum(cost) (s)." in str(explained)
        assert explained.to_dict()["split"][0] == {"name": "count(*)", "columns": ["n"], "part": 0.75}
