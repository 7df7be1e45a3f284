"""What release asks of the samplers and where it draws the line are the plan's own integers: no statistic would show one
step of 2^20."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpsql
from dpsql.execution.planning import plan_of, read
from dpsql.plan.stages import NoisyStage
from tests.worlds import ASKED, bounded, keys, people

CATALOG: dict[str, Any] = people(
    {"n": "text", "k": keys("a", "b", "c", "d", "e"), "x": bounded("real", -3, 7)},
    max_groups=1,
    max_rows=2,
    per_query=ASKED,
)
KEYS = ["a", "b", "c"]  # each held by one person
SOURCE = {"t": pa.table({"u": [1, 2, 3], "n": KEYS, "k": KEYS, "x": [1.0, 2.0, 3.0]})}
Draws = list[tuple[str, int, int]]


def run(
    monkeypatch: pytest.MonkeyPatch, sql: str, mechanism: str, noise: list[int] | None = None
) -> tuple[list[Any], NoisyStage, Draws]:
    """The answer, its stage, and (mechanism, scale, number) of every draw. noise: of the first draw; others are 0."""
    drawn: Draws = []

    def sampler(name: str) -> Any:
        def sample(t: int, n: int, per: int) -> np.ndarray:
            drawn.append((name, t, n))
            first = noise is not None and len(drawn) == 1
            return np.array(noise if first else [0] * n, dtype=np.int64)

        return sample

    for name in ("laplace", "gaussian"):
        monkeypatch.setattr(f"dpsql.release.noise.discrete_{name}", sampler(name))
    asked = sql.replace("SELECT", f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{mechanism}')", 1)
    with dpsql.connect(CATALOG, source=SOURCE) as connection:
        (stage,) = plan_of(connection._session, read(asked)).stages
        return connection.execute(asked).fetchall(), stage, drawn


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_every_public_key_is_drawn_at_the_plan_s_scale(monkeypatch: pytest.MonkeyPatch, mechanism: str) -> None:
    rows, stage, drawn = run(monkeypatch, "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k", mechanism)
    assert len(rows) == stage.combinations == 5
    assert drawn == [(mechanism, draw.scale, 5) for noised in stage.noised for draw in noised.draws]


def test_keys_of_both_rounds_come_in_key_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a person may have several keys: the second is found in the first round; then the others are voted for, and the
    first of them is found."""
    far = 2**40
    noise = iter([[-far, far, -far], [far, -far]])
    asked: list[tuple[int, int]] = []

    def drawn(t: int, n: int, per: int) -> np.ndarray:
        asked.append((t, n))
        return np.array(next(noise) if len(asked) <= 2 else [0] * n, dtype=np.int64)

    monkeypatch.setattr("dpsql.release.noise.discrete_gaussian", drawn)
    several = {**CATALOG, "tables": {"t": {**CATALOG["tables"]["t"], "max_groups": 4}}}
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian') n FROM t GROUP BY n"
    with dpsql.connect(several, source=SOURCE) as connection:
        (stage,) = plan_of(connection._session, read(sql)).stages
        rows = connection.execute(sql).fetchall()
    first, last = stage.selections
    assert asked[:2] == [(first.draw.scale, 3), (last.draw.scale, 2)]
    assert [row[0] for row in rows] == ["a", "b"]


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_private_keys_stand_at_the_threshold(monkeypatch: pytest.MonkeyPatch, mechanism: str) -> None:
    """At T the key is there, one step below it is not. All keys draw votes, those released draw the rest."""
    sql = "SELECT n, COUNT(DISTINCT u), SUM(x) FROM t GROUP BY n ORDER BY n"
    with monkeypatch.context() as patched:
        _, stage, _ = run(patched, sql, mechanism)
    assert stage.selection is not None
    at = stage.selection.at_least - stage.selection.votes[0]
    for noise in ([at, at - 1, at], [at - 1, at, at - 1], [at - 1] * 3):
        with monkeypatch.context() as patched:
            rows, _, drawn = run(patched, sql, mechanism, noise)
        kept = sum(cell == at for cell in noise)
        rest = [(mechanism, draw.scale, kept) for noised in stage.noised for draw in noised.draws if kept]
        assert drawn[0] == (mechanism, stage.selection.draw.scale, len(KEYS))
        assert drawn[1:] == rest
        assert len(rows) == kept


@pytest.mark.parametrize(
    "aggregate",
    [
        "COUNT(*)",
        "AVG(x), VAR_POP(x)",
        "MEDIAN(x), QUANTILE_CONT(x, 0.25), QUANTILE_CONT(x, 0.75)",
        "MODE(k), MAX(x)",
        "HISTOGRAM(k)",
        "APPROX_TOP_K(k, 3)",
        "COUNT(DISTINCT k)",
    ],
)
def test_no_key_is_an_answer_too(monkeypatch: pytest.MonkeyPatch, aggregate: str) -> None:
    """Whatever is asked of them: an error would tell of the data."""
    rows, _, drawn = run(monkeypatch, f"SELECT n, {aggregate} FROM t GROUP BY n", "laplace", [-(2**40)] * 3)
    assert rows == []
    assert len(drawn) == 1
