"""Several quantiles of one column come out in order, however much noise there is; describe() asks for nothing twice."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql import PrivateFrame
from dpsql.frames.statistics import DESCRIBED, described
from dpsql.mechanisms import order_statistics
from dpsql.mechanisms.choice import Chooser
from dpsql.plan.candidates import Extreme, Quantiles
from dpsql.plan.measurements import Choice, RowMoments, shares
from dpsql.testing import Replayer
from tests.worlds import bounded, dataset, keys, private

CATALOG: dict[str, Any] = dataset(
    {
        "df": private(
            {
                "g": keys("a", "b", "c"),
                "x": bounded("real", 0, 100),
                "n": bounded("integer", 0, 3),
                "d": bounded("date", "2020-01-01", "2020-12-31"),
            },
            rows_per_unit=1,
        )
    }
)
DRAW = np.random.default_rng(9)
ROWS = pd.DataFrame(
    {
        "u": range(90),
        "g": DRAW.choice(["a", "b"], 90),
        "x": DRAW.exponential(10, 90),
        "n": DRAW.integers(0, 3, 90),
        "d": pd.to_datetime("2020-03-01") + pd.to_timedelta(DRAW.integers(0, 9, 90), unit="D"),
    }
)


@pytest.mark.parametrize("by", ["permute-and-flip", "exponential"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(10)])
def test_by_construction(by: Chooser, epsilon: Fraction) -> None:
    """Any list, in any order, of any weights: what is greater among the fractions is nowhere smaller among the answers."""
    draw = np.random.default_rng(10)
    for _ in range(60):
        weights = draw.integers(0, 5, size=(3, int(draw.integers(1, 40)))) * draw.integers(0, 2, size=(3, 1))
        fractions = [Fraction(int(k), 20) for k in draw.integers(0, 21, size=int(draw.integers(2, 12)))]
        places = order_statistics.choose_quantiles(weights, fractions, by=by, epsilon=epsilon, sensitivity=2)
        order = sorted(range(len(fractions)), key=lambda i: fractions[i])
        for row in places:
            chosen = [(fractions[i], int(row[i])) for i in order]
            assert all(low <= high for (_, low), (_, high) in zip(chosen, chosen[1:], strict=False))
            assert len(set(chosen)) == len(set(fractions))  # equal fractions have one answer


@pytest.mark.slow
@pytest.mark.parametrize("column", ["x", "n", "d"])
def test_in_sql(column: str, tmp_path: Path) -> None:
    """As a list, and column by column in any order and by any of their names; in every group, one of them empty."""
    single = [f"QUANTILE_DISC({column}, 0.9)", f"MEDIAN({column})", f"QUANTILE_CONT({column}, 0.1)"]
    single += [f"PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY {column})", f"QUANTILE_CONT({column}, 0.75)"]
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.02, fresh=true)"
    with dpsql.connect(CATALOG, source={"df": ROWS}, ledger=tmp_path / "l.ledger") as connection:
        for _ in range(4):
            for row in connection.execute(f"{head} {', '.join(single)}, g FROM df GROUP BY g").fetchall():
                values = [pd.Timestamp(row[i]) if column == "d" else row[i] for i in (2, 3, 1, 4, 0)]  # ascending
                assert values == sorted(values)
            listed = f"{head} QUANTILE_CONT({column}, [0.9, 0.2, 0.5, 0.2]) AS q FROM df"
            ((q,),) = connection.execute(listed).fetchall()
            assert q[3] == q[1] <= q[2] <= q[0]


def test_describe_asks_for_nothing_twice() -> None:
    """Of each column: count, mean and deviation are one measurement, the quartiles one list of two rounds, and the two ends
    a choice each; ε is divided among these five shares."""
    with Replayer(CATALOG, {"df": ROWS}) as replayer:
        asked = described([("x", '"x"'), ("n", '"n"')], "df")
        plan = replayer.plan(asked.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)", 1))
    (stage,) = plan.stages
    for column in ("x", "n"):
        of_column = [m for m in stage.measurements if column in (m.name[-1], m.name[-2])]
        (moments,) = (m for m in of_column if isinstance(m, RowMoments))
        assert moments.degree == 2
        questions = [m.question for m in of_column if isinstance(m, Choice)]
        (listed,) = (q for q in questions if isinstance(q, Quantiles))
        assert set(listed.fractions) == {Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)}
        assert sorted(q.greatest for q in questions if isinstance(q, Extreme)) == [False, True]
        assert len(of_column) == 4 and sum(map(shares, of_column)) == 5
    assert sum(noised.draw.epsilon for noised in stage.noised) == plan.cost.epsilon == 1
    assert all(noised.draw.epsilon == Fraction(shares(noised.measurement), 10) for noised in stage.noised)


def test_describe_is_in_order_and_adds_up() -> None:
    frame = PrivateFrame(
        ROWS[["u", "x"]], unit="u", bounds={"x": (0, 100)}, rows_per_unit=1, budget=100, dataset="described"
    )
    answer = frame.describe(epsilon=2)
    assert answer.cost is not None and answer.cost.epsilon == 2
    shown = dict(answer.fetchall())
    assert list(shown) == list(DESCRIBED)
    five = [shown[what] for what in ("min", "25%", "50%", "75%", "max")]
    assert five == sorted(five)
