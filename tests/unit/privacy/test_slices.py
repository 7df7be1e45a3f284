"""Disjoint parts of the rows are one measurement (privacy/slices.py): what they cost, what is no part, and that conditions
that are taken for disjoint are so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.execution.planning import plan_of, read
from dpsql.ir.expr import Column, Expr, rewrite
from dpsql.ir.nodes import Filter, inputs
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import ReleasePlan
from dpsql.privacy.disjoint import Numbers, condition, disjoint
from dpsql.privacy.noise_grid import cells
from dpsql.testing import Replayer
from tests.worlds import asking, clinic

BY_KEY = "specialty, COUNT(*) AS n FROM visits GROUP BY specialty"
PARTS = ", ".join(f"COUNT(*) FILTER (WHERE specialty = '{name}') AS {name}" for name in clinic.SPECIALTIES)


@pytest.fixture(scope="module")
def replayer() -> Iterator[Replayer]:
    with clinic.replayer() as one:
        yield one


def scales(plan: ReleasePlan) -> list[float]:
    return [float(one.draw.steps * one.draw.grid) for stage in plan.stages for one in stage.noised]


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_parts_have_the_noise_of_groups(replayer: Replayer, mechanism: str) -> None:
    options = {"max_rows_contributed": 3, "mechanism": mechanism}
    parts = scales(replayer.plan(asking(f"{PARTS} FROM visits", **options)))
    groups = scales(replayer.plan(asking(BY_KEY, **options)))
    assert len(parts) == 3 and parts == pytest.approx(groups * 3, rel=1e-3)


def test_a_part_beside_something_else_takes_a_share_with_it(replayer: Replayer) -> None:
    alone, beside = (replayer.plan(f"SELECT {calls} FROM visits") for calls in (PARTS, f"{PARTS}, SUM(cost)"))
    assert [2 * scale for scale in scales(alone)] == scales(beside)[:3]
    assert alone.cost.epsilon == beside.cost.epsilon == 1


@pytest.mark.parametrize(
    "calls",
    [
        "COUNT(*) FILTER (WHERE score > 2), COUNT(*) FILTER (WHERE score > 3)",
        "COUNT(*) FILTER (WHERE score <= 3), COUNT(*) FILTER (WHERE score >= 3)",
        "COUNT(*) FILTER (WHERE specialty = 'surgery'), COUNT(*) FILTER (WHERE referrer = 'Dr A')",
        "COUNT(*) FILTER (WHERE specialty = 'surgery'), SUM(cost) FILTER (WHERE specialty = 'oncology')",
        "COUNT(*) FILTER (WHERE specialty <> 'surgery'), COUNT(*) FILTER (WHERE specialty <> 'oncology')",
        "COUNT(DISTINCT patient_id) FILTER (WHERE score > 2), COUNT(DISTINCT patient_id) FILTER (WHERE score <= 2)",
    ],
)
def test_what_is_no_part(replayer: Replayer, calls: str) -> None:
    (stage,) = replayer.plan(f"SELECT {calls} FROM visits").stages
    assert not any(slice_of(one) for one in stage.measurements)


@pytest.mark.parametrize("otherwise", ["", " ELSE 0", " ELSE NULL"])
@pytest.mark.parametrize("value", ["cost", "duration", "age + floor", "1"])
def test_pivots_are_parts(replayer: Replayer, value: str, otherwise: str) -> None:
    """Whatever the type of what is summed, and of the CASE around it."""
    rows = "visits JOIN patients USING (patient_id) JOIN specialties ON name = specialty"
    parts = (f"SUM(CASE WHEN specialty = '{name}' THEN {value}{otherwise} END)" for name in clinic.SPECIALTIES)
    (stage,) = replayer.plan(f"SELECT {', '.join(parts)} FROM {rows}").stages
    assert len(stage.measurements) == 3 and all(slice_of(one) for one in stage.measurements)


@pytest.mark.parametrize("otherwise", ["", " ELSE 0"])
def test_pivots_keep_the_bounds_of_their_conditions(replayer: Replayer, otherwise: str) -> None:
    """score alone has no bounds."""
    parts = (f"SUM(CASE WHEN score BETWEEN {n} AND {n + 2} THEN score{otherwise} END)" for n in (0, 3))
    (stage,) = replayer.plan(f"SELECT {', '.join(parts)} FROM visits").stages
    assert not any(slice_of(one) for one in stage.measurements) and not stage.choices


def unions(*queries: str) -> str:
    return " UNION ALL ".join(f"SELECT {query}" for query in queries)


BY_QUERY = unions(*(f"COUNT(*) AS n FROM visits WHERE specialty = '{name}'" for name in clinic.SPECIALTIES))


@pytest.mark.parametrize(
    "query",
    [
        BY_QUERY,
        f"SELECT max(n) FROM ({BY_QUERY})",
        "SELECT (SELECT COUNT(*) FROM visits WHERE score < 3), (SELECT COUNT(*) FROM visits WHERE score >= 3),"
        " (SELECT COUNT(*) FROM visits WHERE score IS NULL)",
    ],
)
def test_queries_of_parts_have_the_noise_of_one(replayer: Replayer, query: str) -> None:
    (whole,) = scales(replayer.plan("SELECT COUNT(*) AS n FROM visits"))
    plan = replayer.plan(query)
    assert scales(plan) == [whole] * 3 and plan.cost.epsilon == 1
    assert [note for note in plan.stages[0].notes if note.startswith("disjoint parts are one measurement")]


@pytest.mark.parametrize(
    "queries",
    [
        ("COUNT(*) AS n FROM visits WHERE score <= 3", "COUNT(*) FROM visits WHERE score >= 3"),
        ("COUNT(*) AS n FROM visits WHERE score < 3", "COUNT(*) FROM patients WHERE age >= 3"),
        ("COUNT(*) AS n FROM visits WHERE score < 3", "SUM(cost) FROM visits WHERE score >= 3"),
        ("SUM(cost) AS n FROM visits WHERE cost < 3", "SUM(cost) FROM visits WHERE cost >= 3"),
        ("COUNT(*) AS n FROM visits WHERE score < 3", "COUNT(*) FROM long_visits WHERE score >= 3"),
        (
            "COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE a.score < 3",
            "COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE b.score >= 3",
        ),
        ("COUNT(*) AS n FROM visits", "COUNT(*) FROM visits WHERE score >= 3"),
    ],
)
def test_queries_of_no_parts_cost_each(replayer: Replayer, queries: tuple[str, str]) -> None:
    plan = replayer.plan(unions(*queries))
    assert len(plan.stages) == 2 and not any(slice_of(one) for stage in plan.stages for one in stage.measurements)
    assert all(2 * alone == beside for (alone,), beside in zip(
        (scales(replayer.plan(f"SELECT {query}")) for query in queries), scales(plan), strict=True,
    ))  # fmt: skip


def test_a_query_that_is_read_twice_is_one_part(replayer: Replayer) -> None:
    few, many = (f"SELECT COUNT(*) AS n FROM visits WHERE score {sign} 3" for sign in "<>")
    (stage,) = replayer.plan(
        f"WITH a AS ({few}), b AS ({many}) SELECT a.n, b.n FROM a, b, a AS c WHERE c.n > b.n"
    ).stages
    assert len(stage.measurements) == 2


def test_every_part_is_rounded(replayer: Replayer) -> None:
    (stage,) = replayer.plan(f"SELECT {PARTS} FROM visits").stages
    assert [cells(one, stage) for one in stage.measurements] == [3, 3, 3]


def test_explain_says_so(replayer: Replayer) -> None:
    plan = replayer.plan(f"SELECT {PARTS} FROM visits")
    assert [note for note in plan.stages[0].notes if note.startswith("disjoint parts are one measurement")]


CONDITIONS = [
    *(f"n {sign} {value}" for sign in ("=", "<", "<=", ">", ">=", "<>") for value in (1, 2, "2.5")),
    *(
        "n IN (1, 2)",
        "n IN (3)",
        "n BETWEEN 1 AND 2",
        "n BETWEEN 2 AND 3",
        "2 < n",
        "2 >= n",
        "n IS NULL",
        "n IS NOT NULL",
    ),
    *(
        "n > 1 AND n < 3",
        "NOT n > 1",
        "(n > 1) IS TRUE",
        "(n > 1) IS FALSE",
        "n % 2 = 0",
        "n % 2 = 1",
        "n = 1 OR n = 2",
    ),
]
ROWS = [None, *range(5)]


def test_what_is_taken_for_disjoint_is() -> None:
    with clinic.replayer() as replayer, duckdb.connect() as connection:
        predicates: dict[str, Expr] = {}
        for text in CONDITIONS:
            node = plan_of(replayer.session, read(f"SELECT n FROM numbers WHERE {text}")).final
            while not isinstance(node, Filter):
                (node,) = inputs(node)
            predicates[text] = node.predicate
        parted = 0
        for one, other in itertools.combinations(CONDITIONS, 2):
            rows = ", ".join(f"({'NULL' if n is None else n})" for n in ROWS)
            both = connection.execute(
                f"SELECT COUNT(*) FROM (VALUES {rows}) AS t(n) WHERE ({one}) AND ({other})"
            ).fetchone()
            assert both is not None
            numbers: Numbers = {}
            sides = (condition(_same(predicates[k]), numbers) for k in (one, other))
            if disjoint(*sides):
                parted += 1
                assert both == (0,), (one, other)
        assert parted > 100


def _same(predicate: Expr) -> Expr:
    """Over one column, whichever scan it came from."""
    return rewrite(predicate, lambda part: Column(1, part.type) if isinstance(part, Column) else None)
