"""OPTIONS(nonnegative = true): the nearest whole counts from 0 on with the same total, for nothing, and only where asked."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.errors import Refused
from dpsql.release.nonnegative import nearest
from dpsql.report.release_record import release_record
from dpsql.testing import Replayer
from tests.unit.test_consistent import CATALOG, rows

TABLES: dict[str, Any] = CATALOG["tables"]  # type: ignore[assignment]
HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS("


def connect(tmp_path: Path, **changes: object) -> dpsql.Connection:
    return dpsql.connect({**CATALOG, **changes}, source={"t": rows()}, ledger=tmp_path / "l.ledger")


def frozen(tmp_path: Path) -> dpsql.Connection:
    """Data with a version: repeats are free."""
    import pandas as pd

    pd.DataFrame(rows()).to_csv(tmp_path / "t.csv", index=False)
    table = {**TABLES["t"], "source": str(tmp_path / "t.csv")}
    return dpsql.connect({**CATALOG, "version": "1", "tables": {"t": table}}, ledger=tmp_path / "l.ledger")


@pytest.mark.parametrize("unit", [1, 2, 3, 8])
def test_nothing_whole_is_nearer(unit: int) -> None:
    """Against every vector of whole numbers of that total."""
    draw = np.random.default_rng(5)
    for _ in range(150):
        values = draw.integers(-3 * unit, 4 * unit, size=int(draw.integers(1, 5))).tolist()
        total = int(draw.integers(0, 6))
        whole = nearest(values, unit, total)
        assert sum(whole) == total and min(whole) >= 0

        def far(cells: tuple[int, ...], values: list[int] = values) -> Fraction:
            return sum(((c - Fraction(v, unit)) ** 2 for c, v in zip(cells, values, strict=True)), Fraction(0))

        every = (c for c in itertools.product(range(total + 1), repeat=len(values)) if sum(c) == total)
        assert far(tuple(whole)) == min(map(far, every))


def test_what_is_whole_and_adds_up_stays() -> None:
    assert nearest([5, 0, 7, 2], 1, 14) == [5, 0, 7, 2]
    assert nearest([-5, 3], 1, 0) == [0, 0]
    assert nearest([], 1, 0) == []
    assert nearest([1, 1, 1], 2, 1) == [1, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("counted", ["COUNT(*)", "COUNT(x)", "COUNT(DISTINCT who)", "COUNT(DISTINCT n)"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_either_is_a_free_repeat_of_the_other(counted: str, mechanism: str, tmp_path: Path) -> None:
    asked = (
        f"epsilon=0.02, mechanism='{mechanism}') a, b, {counted} AS n, AVG(x) AS m FROM t GROUP BY a, b ORDER BY a, b"
    )
    with frozen(tmp_path) as connection:
        noisy = connection.execute(f"{HEAD}{asked}").fetchall()
        cursor = connection.execute(f"{HEAD}nonnegative=true, {asked}")
        assert cursor.privacy is not None and cursor.privacy.repeated
        rows = cursor.fetchall()
        assert connection.execute(f"{HEAD}{asked}").fetchall() == noisy
        assert connection.budget.spent.epsilon == pytest.approx(0.02)
    before, after = [row[2] for row in noisy], [row[2] for row in rows]
    assert min(after) >= 0 and all(isinstance(n, int) for n in after)
    assert abs(sum(after) - max(0, sum(before))) <= len(before) / 2 + 1  # the noisy ones are shown rounded one by one
    assert [row[3] for row in rows] == [row[3] for row in noisy]  # means keep the noisy count
    low = max((n for n, m in zip(before, after, strict=True) if m == 0), default=-math.inf)
    assert all(n >= low - 1 for n, m in zip(before, after, strict=True) if m > 0)  # the smallest become 0


def test_it_is_said(tmp_path: Path) -> None:
    asked = f"{HEAD}nonnegative=true, epsilon=1) b, COUNT(*) AS n FROM t GROUP BY b"
    with connect(tmp_path) as connection:
        assert "count(*) is shown as the nearest non-negative whole numbers" in str(connection.explain(asked))
        assert "nonnegative" not in str(connection.explain(asked.replace("nonnegative=true, ", "")))
        assert not connection.explain(asked.replace("nonnegative=true, ", "")).privacy.notes
        cursor = connection.execute(asked)
        assert cursor.privacy is not None and any("non-negative" in note for note in cursor.privacy.notes)
        connection.execute("SET nonnegative = true")
        assert "non-negative" in str(connection.explain(asked.replace("nonnegative=true, ", "")))
    with Replayer(CATALOG, {"t": rows()}) as replayer:
        for option, names in (("", []), ("nonnegative=true, ", ["count(*)"])):
            plan = replayer.plan(asked.replace("nonnegative=true, ", option))
            (stage,) = release_record(plan, version=None)["stages"]  # type: ignore[misc]  # a list of dicts
            assert stage["nonnegative"] == names


def test_a_later_release_reads_what_is_shown(tmp_path: Path) -> None:
    """There it is part of what is released, so the two are different queries; elsewhere they are one."""
    from dpsql.plan.fingerprint import plan_fingerprint

    reads = (
        "epsilon=1) COUNT(*) AS n FROM t JOIN "
        "(SELECT b AS k, COUNT(*) AS c FROM t GROUP BY b) AS g ON t.b = g.k WHERE g.c > 0"
    )
    alone = "epsilon=1) b, COUNT(*) AS n FROM t GROUP BY b"
    with Replayer(CATALOG, {"t": rows()}) as replayer:
        for asked, same in ((reads, False), (alone, True)):
            one, other = (replayer.plan(f"{HEAD}{option}{asked}") for option in ("", "nonnegative=true, "))
            assert (plan_fingerprint(one) == plan_fingerprint(other)) is same
        lines = replayer.replay(f"{HEAD}nonnegative=true, {reads}", units=lambda given: given[:3])
        assert lines and all(line.holds for line in lines), [line for line in lines if not line.holds]


@pytest.mark.parametrize("sets", ["ROLLUP (a, b)", "ROLLUP (b, a)", "GROUPING SETS ((), (b), (b, a))"])
def test_levels_stay_the_sums_of_their_parts(sets: str, tmp_path: Path) -> None:
    asked = f"{HEAD}nonnegative=true, fresh=true, epsilon=0.3) a, b, COUNT(*) AS n FROM t WHERE a <> '' GROUP BY {sets}"
    with connect(tmp_path) as connection:
        for _ in range(4):
            by_key = {row[:2]: row[2] for row in connection.execute(asked).fetchall()}
            assert min(by_key.values()) >= 0
            for (a, b), n in by_key.items():
                for i in range(2):
                    if (a, b)[i] is not None:
                        continue
                    children = [m for key, m in by_key.items() if key[i] is not None and key[1 - i] == (a, b)[1 - i]]
                    if children:
                        assert sum(children) == n


def test_levels_that_are_not_nested_are_refused(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        for sets in ("CUBE (a, b)", "GROUPING SETS ((a), (b))"):
            with pytest.raises(Refused, match="nested") as refused:
                connection.execute(f"{HEAD}nonnegative=true, epsilon=1) a, b, COUNT(*) FROM t GROUP BY {sets}")
            assert refused.value.code == "DPSQL-119"
        asked = f"{HEAD}nonnegative=true, epsilon=1) a, b, COUNT(DISTINCT who) AS n FROM t GROUP BY CUBE (a, b)"
        assert min(row[2] for row in connection.execute(asked).fetchall()) >= 0  # units do not add up: each level alone
        assert connection.budget.spent.epsilon == 1


@pytest.mark.slow
@pytest.mark.parametrize("sets", ["b", "ROLLUP (a, b)"])
def test_intervals_hold_the_count(sets: str, tmp_path: Path) -> None:
    """Around what is shown, and as columns: at ε = 0.3 most counts are raised or lowered."""
    from dpsql import testing

    keys = "a, b" if "a" in sets else "b"
    asked = f"{keys}, COUNT(*) AS n FROM t WHERE a IS NOT NULL GROUP BY {sets}"
    with testing.exact(CATALOG, source={"t": rows()}) as connection:
        truth = {row[:-1]: row[-1] for row in connection.execute(f"SELECT {asked}").fetchall()}
    shown = ends = cells = 0
    with connect(tmp_path) as connection:
        for _ in range(40):
            cursor = connection.execute(f"{HEAD}nonnegative=true, fresh=true, epsilon=0.3) {asked}")
            assert cursor.privacy is not None
            for row in cursor.fetchall():
                half = cursor.privacy.intervals.of_row(row)["n"]
                shown += abs(row[-1] - truth[row[:-1]]) <= half
                cells += 1
            if "a" in sets:
                continue
            rows_ = connection.execute(f"{HEAD}nonnegative=true, intervals=0.95, fresh=true, epsilon=0.3) {asked}")
            for *key, _, low, high in rows_.fetchall():
                assert low >= 0
                ends += low <= truth[tuple(key)] <= high
    spread = 3 * math.sqrt(0.05 * 0.95 / 40)
    assert shown / cells >= 0.95 - spread
    assert "a" in sets or 0.95 - spread <= ends / cells <= 0.995


def test_accuracy_is_of_the_noisy_count(tmp_path: Path) -> None:
    """Its interval is what is asked for, with half a row for rounding: about the ε that it takes without the option."""
    asked = f"{HEAD}accuracy=(n => 40), epsilon=1) b, COUNT(*) AS n FROM t GROUP BY b"
    with connect(tmp_path) as connection:
        plain = connection.explain(asked).privacy.cost.epsilon
        epsilon = connection.explain(asked.replace("accuracy", "nonnegative=true, accuracy")).privacy.cost.epsilon
        assert plain is not None and epsilon is not None and plain <= epsilon <= plain * 1.03
