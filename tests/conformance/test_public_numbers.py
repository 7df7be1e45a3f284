"""The numbers a differential privacy engine must get right, asked through the public API."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.samples.generate import generate
from tests.worlds import again, bounded, dataset, keys, people, private

SALARIES: dict[str, Any] = people(
    {
        "x": bounded("integer", 0, 10),
        "y": bounded("integer", 90, 100),
        "k": keys(*(f"k{i}" for i in range(64))),
        "w": "text",
    },
    unit="id",
    max_groups=1,
    max_rows=2,
)
FRAME = pd.DataFrame(
    {"id": [1, 1, 2], "x": [1, 2, 3], "y": [95, 96, 97], "k": ["k1", "k2", "k1"], "w": ["a", "b", "a"]}
)


def asked(sql: str, catalog: Mapping[str, Any] = SALARIES, **options: Any) -> Any:
    with dpsql.connect(again(catalog), source={"t": FRAME}, **options) as connection:
        return connection.execute(sql).privacy


def options(**values: object) -> str:
    said = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"WITH DIFFERENTIAL_PRIVACY OPTIONS({said})"


def test_a_sum_over_two_rows_of_at_most_ten_has_sensitivity_20() -> None:
    (measured,) = asked(f"SELECT {options(epsilon=1)} SUM(x) FROM t").measurements
    assert measured.sensitivity == 20
    assert measured.scale == pytest.approx(20, rel=1e-6)


def test_no_group_size_is_ever_assumed_known() -> None:
    (measured,) = asked(f"SELECT {options(epsilon=1, max_rows_per_group=4)} SUM(y) FROM t").measurements
    assert measured.sensitivity == 400


@pytest.mark.parametrize("groups", [1, 2, 8, 64])
def test_counts_by_group_pay_for_every_group_a_unit_reaches(groups: int) -> None:
    laplace = options(epsilon=1, max_groups_contributed=groups, max_rows_per_group=1, mechanism="laplace")
    (measured,) = asked(f"SELECT {laplace} k, COUNT(*) FROM t GROUP BY k").measurements
    assert measured.scale == pytest.approx(groups, rel=1e-6)
    gaussian = options(epsilon=1, delta=1e-6, max_groups_contributed=groups, max_rows_per_group=1, mechanism="gaussian")
    (measured,) = asked(f"SELECT {gaussian} k, COUNT(*) FROM t GROUP BY k").measurements
    assert_close_above(measured.scale, 4.224679 * math.sqrt(groups))


def assert_close_above(scale: float, continuous: float) -> None:
    """Totals are rounded to a noise grid of 2^-18 of a row and finer, which may move each of 64 groups by a step."""
    assert continuous * (1 - 1e-6) <= scale <= continuous * (1 + 5e-5)


@pytest.mark.parametrize(("accounting", "first"), [("approx", 8), ("zcdp", 9)])
def test_the_mechanism_with_the_smaller_interval_is_taken(accounting: str, first: int) -> None:
    catalog = {**SALARIES, "accounting": accounting, "unit": accounting}
    for groups in (first - 1, first):
        asking = options(epsilon=1, delta=1e-6, max_groups_contributed=groups, max_rows_per_group=1)
        (measured,) = asked(f"SELECT {asking} k, COUNT(*) FROM t GROUP BY k", catalog).measurements
        assert measured.mechanism == ("gaussian" if groups == first else "laplace")


@pytest.mark.parametrize(("delta", "sigma"), [(1e-5, 4.045130), (1e-6, 4.530877), (1e-9, 5.778695)])
def test_gaussian_noise_under_zcdp(delta: float, sigma: float) -> None:
    asking = options(epsilon=1, delta=delta, mechanism="gaussian", max_rows_per_group=1)
    (measured,) = asked(f"SELECT {asking} COUNT(*) FROM t", {**SALARIES, "accounting": "zcdp"}).measurements
    assert_close_above(measured.scale, sigma)


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "threshold"),
    [(1, 1e-6, 1, 27.244728), (1, 1e-6, 4, 29.267316), (0.1, 1e-6, 1, 263.447268), (0.5, 1e-5, 3, 48.006883)],
)
def test_thresholds_of_private_keys(epsilon: float, delta: float, groups: int, threshold: float) -> None:
    """max over t of 1/t + ln(1/(2·p_t))·2/ε, p_t = 1 − (1 − δ)^(1/t): half of ε is for the votes, one split over t keys."""
    by_hand = [
        1 / t + math.log(1 / (2 * -math.expm1(math.log1p(-delta) / t))) * 2 / epsilon for t in range(1, groups + 1)
    ]
    assert threshold == pytest.approx(max(by_hand), abs=1e-5)
    asking = options(
        epsilon=epsilon, delta=delta, max_groups_contributed=groups, max_rows_per_group=1, mechanism="laplace"
    )
    privacy = asked(f"SELECT {asking} w, COUNT(*) FROM t GROUP BY w")
    assert privacy.threshold == pytest.approx(threshold, abs=2e-4)
    assert privacy.threshold >= threshold - 1e-5
    assert privacy.cost.epsilon == epsilon
    assert privacy.cost.delta == delta


def test_union_all_adds_rows_up() -> None:
    four = {**SALARIES["tables"]["t"], "max_rows": 4}
    catalog = again(SALARIES, per_query={"epsilon": 1}, tables=dict.fromkeys("abc", four))
    sql = "SELECT COUNT(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM b UNION ALL SELECT x FROM c) AS u"
    with dpsql.connect(catalog, source=dict.fromkeys("abc", FRAME)) as connection:
        (measured,) = connection.execute(sql).privacy.measurements
    assert measured.sensitivity == 12


def test_the_smartnoise_student_file_works_unchanged(tmp_path: Path) -> None:
    generate("student", tmp_path)
    data = next(tmp_path.rglob("student.parquet"))
    written = (Path(__file__).parents[2] / "metadata" / "student_smartnoise.yaml").read_text("utf-8")
    for name in ("one", "other"):
        (tmp_path / f"{name}.yaml").write_text(written, "utf-8")
    with dpsql.connect(tmp_path / "one.yaml", source=str(data), epsilon=1, budget=10) as connection:
        count = connection.execute("SELECT COUNT(*) AS n FROM student")
        assert count.privacy.measurements[0].scale == pytest.approx(1, rel=1e-6)
        assert count.privacy.intervals["n"] == 3  # whole noise: P[|noise| > 3] = 2e^-4/(1 + 1/e) = 0.027
        total = connection.execute("SELECT SUM(absences) AS s FROM school.student")
        assert total.privacy.measurements[0].scale == pytest.approx(50, rel=1e-6)
        assert total.privacy.intervals["s"] == pytest.approx(
            149.787 + 0.5, abs=1e-2
        )  # a whole number is half a unit farther off
        assert connection.budget.spent.epsilon == 2
    with dpsql.connect(tmp_path / "other.yaml", source=str(data), epsilon=1, delta=1e-7, budget=10) as connection:
        connection.execute("SELECT famsize, AVG(G3) FROM student GROUP BY famsize")
        connection.execute("SELECT school, AVG(G3) FROM student GROUP BY school")
        assert connection.budget.spent.epsilon == 2


def test_two_averages_by_group_cost_exactly_two(tmp_path: Path) -> None:
    from dpsql.samples.prepare import prepare

    with dpsql.connect(prepare("student", tmp_path)) as connection:
        before = connection.budget.spent.epsilon or 0
        connection.execute("SELECT famsize, AVG(G3) FROM student GROUP BY famsize")
        connection.execute("SELECT school, AVG(G3) FROM student GROUP BY school")
        assert (connection.budget.spent.epsilon or 0) - before == 2


def test_four_releases_add_up_exactly() -> None:
    with dpsql.connect(again(SALARIES), source={"t": FRAME}, epsilon=1.2, delta=1e-10) as connection:
        for _ in range(4):
            connection.execute(f"SELECT {options(mechanism='gaussian', fresh=True)} COUNT(*) FROM t")
        assert connection.budget.spent.epsilon == 4.8
        assert connection.budget.spent.delta == 4e-10


def test_a_filter_of_one_point_one_admits_one_query() -> None:
    catalog = again(SALARIES, budget={"epsilon": 1.1})
    with dpsql.connect(catalog, source={"t": FRAME}, epsilon=1.0986) as connection:
        connection.execute("SELECT COUNT(*) FROM t")
        with pytest.raises(dpsql.BudgetError) as refused:
            connection.execute("SELECT SUM(x) FROM t")
        assert refused.value.code == "DPSQL-400"
        assert connection.budget.spent.epsilon == 1.0986


def test_exam_scores_in_exact_mode() -> None:
    scores = [85, 84, 85, 89, 92, 95, 100, 83, 70, 67]
    exam = private({"score": bounded("integer", 0, 100)}, unit="id", max_groups=1, max_rows=1)
    catalog = dataset({"exam": exam}, budget={"epsilon": 1})
    for count, mean in ((10, 85.0), (9, 87.0)):
        frame = pd.DataFrame({"id": range(count), "score": scores[:count]})
        with dpsql.testing.exact(catalog, source={"exam": frame}) as connection:
            assert connection.execute("SELECT AVG(score) FROM exam").fetchall() == [(mean,)]


def test_released_integers_have_the_discrete_laplace_distribution() -> None:
    """10^4 empty public groups: each released count is rounded noise; a chi-square against the exact distribution."""
    catalog = people({"g": bounded("integer", 1, 10_000)}, unit="id", max_groups=1, max_rows=1, budget={"epsilon": 10})
    frame = pd.DataFrame({"id": [1], "g": [1]})
    with dpsql.connect(catalog, source={"t": frame}, epsilon=1) as connection:
        counts = np.array(
            [row[0] for row in connection.execute("SELECT COUNT(*) FROM t WHERE g > 1 GROUP BY g").fetchall()]
        )
    assert len(counts) == 9_999
    # Laplace(1) rounded to integers: P[0] = 1 − e^(−1/2), P[±k] = e^(−k)·sinh(1/2)
    expected = {0: 1 - math.exp(-0.5), **{k: math.exp(-abs(k)) * math.sinh(0.5) for k in (-4, -3, -2, -1, 1, 2, 3, 4)}}
    seen = {k: int((counts == k).sum()) for k in expected}
    chi_square = sum((seen[k] - 9_999 * p) ** 2 / (9_999 * p) for k, p in expected.items())
    assert chi_square < 60  # 9 cells: beyond this with probability below 1e-8


@pytest.mark.parametrize("epsilon", [0.4, 1, 2.5])
def test_counts_of_rows_that_are_units_have_the_two_sided_geometric_distribution(epsilon: float) -> None:
    """The same where nothing is weighed: noise on whole numbers, P[k] = (1 − q)/(1 + q)·q^|k|, q = e^−ε."""
    catalog = people({"g": bounded("integer", 1, 10_000)}, unit=None, budget={"epsilon": 10})
    with dpsql.connect(catalog, source={"t": pd.DataFrame({"g": [1]})}, epsilon=epsilon) as connection:
        cursor = connection.execute("SELECT COUNT(*) AS n FROM t WHERE g > 1 GROUP BY g")
        counts = np.array([row[0] for row in cursor.fetchall()])
        assert cursor.privacy is not None
        width = cursor.privacy.intervals["n"]
    q = math.exp(-epsilon)
    expected = {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-3, 4)}
    seen = {k: int((counts == k).sum()) for k in expected}
    rest = 1 - sum(expected.values())
    chi_square = sum((seen[k] - 9_999 * p) ** 2 / (9_999 * p) for k, p in expected.items())
    chi_square += (9_999 - sum(seen.values()) - 9_999 * rest) ** 2 / (9_999 * rest)
    assert chi_square < 60  # 7 degrees of freedom: beyond this with probability below 2e-10
    inside = float((np.abs(counts) <= width).mean())
    assert inside >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / 9_999) and width == int(width)
