"""Bugs planted one at a time: the check that is named beside each must fail. Without a bug every check passes."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import dpsql
from dpsql.ir.nodes import Filter
from dpsql.plan.render.pieces import on_axis
from dpsql.plan.stages import Axis, Noise, Stage
from dpsql.privacy.axes import Axes
from dpsql.testing import Replayer, exact
from tests.properties import test_tiny_worlds as tiny

NAN, INF = float("nan"), float("inf")
CAPS = (2, 2)
KEYS = ["a", "b", "c", "d"]


def catalog(**more: Any) -> dict[str, Any]:
    columns = {
        "u": "integer",
        "k": {"type": "text", "keys": KEYS},
        "n": "text",
        "x": {"type": "real", "lower": -3, "upper": 7},
        "i": {"type": "integer", "lower": 90, "upper": 100},
        "y": "real",
        **more,
    }
    table = {"unit": "u", "max_groups": CAPS[0], "max_rows": CAPS[1], "columns": columns}
    budget = {"budget": {"epsilon": 10_000, "delta": 0.5}, "per_query": {"epsilon": 1, "delta": 1e-5}}
    return {"dataset": "planted", "unit": "person", **budget, "tables": {"t": table}}


def rows() -> dict[str, Any]:
    """Each of three units has five rows in each of four groups and more; every cell at or beyond its bounds."""
    found = [(u, k, k * u, x, 100, x) for u in (1, 2, 3) for k in KEYS for x in (1e9, -1e9, INF, 7.0, 6.5)]
    found += [(1, "z", "z", 1.0, 1, 1.0), (4, "a", "a", NAN, None, NAN), (None, "a", "a", 1.0, 95, 1.0)]
    names = ("u", "k", "n", "x", "i", "y")
    return {"t": pa.table({name: list(column) for name, column in zip(names, zip(*found, strict=True), strict=True)})}


REPLAYED = (
    "SELECT k, COUNT(*), COUNT(DISTINCT u), SUM(x), SUM(i) FROM t GROUP BY k",
    "SELECT n, COUNT(*), AVG(x), SUM(i) FROM t GROUP BY n",
    "SELECT k, SUM(x) FILTER (WHERE i > 90), SUM(LEAST(GREATEST(y, -3), 7)) FROM t WHERE i < 200 GROUP BY k",
    "SELECT k, COUNT(DISTINCT u) FILTER (WHERE i > 90) FROM t GROUP BY k",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.00001, mechanism='laplace') SUM(x), SUM(i) FROM t",
)


def by_replay() -> None:
    with Replayer(catalog(), rows()) as replayer:
        for sql in REPLAYED:
            for line in replayer.replay(sql):
                assert line.holds, (sql, line)


def by_tiny_worlds() -> None:
    tiny.check("integer", tiny.VALUES[0], (1, 1), tiny.PUBLIC, "")


def by_tiny_worlds_with_foreign_keys() -> None:
    tiny.check("integer", tiny.VALUES[0], (1, 1), tiny.FIRST, "")


def by_tiny_worlds_with_a_filter() -> None:
    tiny.check("integer", tiny.VALUES[0], (1, 1), tiny.PUBLIC, " WHERE v > 0")


CALIBRATED = tuple(
    f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{mechanism}', max_groups_contributed={groups}) {select}"
    for mechanism in ("laplace", "gaussian")
    for groups in (1, 3)
    for select in ("n, COUNT(*), SUM(i) FROM t GROUP BY n", "k, SUM(i), SUM(x), COUNT(*) FROM t GROUP BY k")
)


def by_formulas() -> None:
    """Noise and thresholds of plans against privacy-rules.md, computed here from nothing but caps and bounds."""
    with Replayer(catalog(), rows()) as replayer:
        for sql in CALIBRATED:
            plan = replayer.plan(sql)
            (stage,) = plan.stages
            groups = 3 if "=3" in sql else 1
            assert stage.bounding.max_groups == groups
            changes = {"units": 1, "count(*)": CAPS[1], "sum(i)": CAPS[1] * 100, "sum(x)": CAPS[1] * 7}
            relative = [_relative(stage, j, changes) for j in range(len(stage.measures))]
            delta = Fraction(1, 100_000)
            keys = stage.threshold is not None
            if "laplace" in sql:
                assert sum(groups * one for one in relative) <= 1 + 1e-12
            else:
                noise_delta = delta / 2 if keys else delta
                mu = math.sqrt(sum(groups * one**2 for one in relative))
                assert curve(1.0, mu) <= float(noise_delta) * (1 + 1e-6)
            if stage.threshold is not None:
                assert stage.measures[stage.threshold.measure].kind == "units"
                keys_delta = delta if "laplace" in sql else delta / 2
                p = -math.expm1(math.log1p(-float(keys_delta)) / groups)
                above = stage.threshold.at_least - math.ceil(1 / stage.noises[stage.threshold.measure].grid)
                assert tail(stage.noises[stage.threshold.measure], above) <= p * (1 + 1e-9)


def _relative(stage: Stage, j: int, changes: dict[str, int]) -> float:
    """What one unit changes in one group, in noise scales."""
    measure, noise = stage.measures[j], stage.noises[j]
    return float(changes[measure.name] / (noise.scale * noise.grid * measure.step))


def curve(epsilon: float, mu: float) -> float:
    def upper(x: float) -> float:
        return 0.5 * math.erfc(x / math.sqrt(2))

    return upper(epsilon / mu - mu / 2) - math.exp(epsilon) * upper(epsilon / mu + mu / 2)


def tail(noise: Noise, m: int) -> float:
    """P[X ≥ m] (for the Gaussian its upper bound)."""
    if noise.mechanism == "laplace":
        return math.exp(-m / noise.scale) / (1 + math.exp(-1 / noise.scale))
    return 0.5 * math.erfc((m - 1) / noise.scale / math.sqrt(2))


def by_answers() -> None:
    """What the cleaned table holds, counted by hand."""
    with exact(catalog(), source=rows()) as connection:
        wide = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_per_group=1000, max_groups_contributed=1000)"
        counts = connection.execute(f"{wide} COUNT(*), COUNT(x), COUNT(DISTINCT u), SUM(i) FROM t").fetchall()
        assert counts == [(62, 61, 4, 60 * 100 + 90)]
        entering = connection.execute(f"{wide} COUNT(DISTINCT u) FILTER (WHERE i > 90) FROM t").fetchall()
        assert entering == [(3,)]
        sums = connection.execute(f"{wide} SUM(x) FROM t WHERE k = 'a'").fetchall()
        assert sums == [(3 * (7 - 3 + 7 + 7 + 6.5),)]
        assert connection.execute("SELECT COUNT(*) FROM t WHERE x > 7 OR i < 90").fetchall() == [(0,)]
        assert connection.execute(f"{wide} COUNT(*) FROM t WHERE x >= 7").fetchall() == [(3 * 4 * 3,)]


def by_distribution() -> None:
    """4,000 noisy zeros at ε = 1: their mean size is the claimed scale, within five deviations, and no two runs agree."""
    described = catalog(j={"type": "integer", "lower": 0, "upper": 3999, "nullable": False})
    source = {"t": rows()["t"].append_column("j", pa.array([None] * len(rows()["t"]), pa.int64()))}
    select = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace', fresh=true) j, SUM(x) FROM t GROUP BY j"
    with dpsql.connect(described, source=source) as connection:
        runs = [[row[1] for row in connection.execute(select).fetchall()] for _ in range(2)]
        scale = CAPS[0] * CAPS[1] * 7
        for run in runs:
            size = sum(map(abs, run)) / len(run)
            assert abs(size - scale) < 5 * scale / math.sqrt(len(run)), size
            assert all(float(value * 2**20).is_integer() for value in run)
        assert runs[0] != runs[1]


def by_repetition() -> None:
    """Which group of a unit is kept is drawn anew in each run: 40 groups, 8 runs."""
    table = pa.table({"u": [1] * 40, "n": [str(n) for n in range(40)]})
    columns = {"u": "integer", "n": "text"}
    described = catalog()
    described["tables"]["t"] |= {"columns": columns, "max_groups": 1}
    with exact(described, source={"t": table}) as connection:
        kept = {connection.execute("SELECT n, COUNT(*) FROM t GROUP BY n").fetchall()[0] for _ in range(8)}
    assert len(kept) > 1


CHECKS = (
    by_replay,
    by_tiny_worlds,
    by_tiny_worlds_with_foreign_keys,
    by_tiny_worlds_with_a_filter,
    by_formulas,
    by_answers,
    by_distribution,
    by_repetition,
)
Check = Callable[[], None]
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def text(old: str, new: str) -> Wrap:
    """The function's SQL with a piece replaced; the piece must be there at least once in a check."""
    return lambda real: lambda *a, **k: real(*a, **k).replace(old, new)


def larger(position: int) -> Wrap:
    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *a, **k: real(*(v + 1 if at == position else v for at, v in enumerate(a)), **k)

    return wrap


def half(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *a, **k: real(*a, **k) // 2


def changed(**fields: Any) -> Wrap:
    return lambda real: lambda *a, **k: dataclasses.replace(real(*a, **k), **fields)


def constant(value: Any) -> Wrap:
    return lambda real: lambda *a, **k: value


def first_counts(real: Callable[..., Any]) -> Callable[..., Any]:
    """c counts the group's rows at large."""

    def counts(stage: Stage, base: Any) -> dict[int, str]:
        return {j: f"n{min(base)}" for j in base}

    return counts


def rows_count_as_units(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda j, m, n, r: f"CAST({n} AS BIGINT)" if m.kind == "units" else real(j, m, n, r)


def any_units(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda stage, j: stage.measures[j].kind == "units"


def floors(real: Callable[..., Any]) -> Callable[..., Any]:
    def share(j: int, m: Any, n: str, r: int) -> str:
        if m.kind in ("units", "rows"):
            return str(real(j, m, n, r))
        return f"CASE WHEN {n} <= {r} THEN s{j} ELSE CAST(floor(coalesce(s{j}, 0) * {r} / {n}::DOUBLE) AS BIGINT) END"

    return share


def filter_last(real: Callable[..., Any]) -> Callable[..., Any]:
    """Groups of a unit are kept, or not, before WHERE is looked at."""

    def bounding(stage: Stage, *a: Any, **k: Any) -> Any:
        if isinstance(stage.input, Filter):
            where = stage.input.predicate
            assert all(measure.where is None for measure in stage.measures)
            measures = tuple(dataclasses.replace(measure, where=where) for measure in stage.measures)
            stage = dataclasses.replace(stage, input=stage.input.input, measures=measures)
        return real(stage, *a, **k)

    return bounding


def one_group(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda delta, groups: real(delta, 1)


def rounds_down(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda sensitivity, shift: sensitivity >> shift if shift > 0 else real(sensitivity, shift)


def skipping_a(real: Callable[..., Any]) -> Callable[..., Any]:
    """Every row its own unit and group, the cap as if A had run."""

    def bounding(*a: Any) -> Any:
        return dataclasses.replace(real(*a), skip_a=True)

    return bounding


BUGS: tuple[tuple[str, str, Wrap, Check], ...] = (
    ("one group more than max_groups", "plan.render.rows.cuts", larger(0), by_replay),
    ("one row more than max_rows", "plan.render.bounding._share", larger(3), by_replay),
    ("half the sensitivity of a sum", "privacy.sensitivity.total", half, by_replay),
    ("half the sensitivity of a centred sum", "privacy.sensitivity.centred", half, by_replay),
    ("half the sensitivity of a count", "privacy.sensitivity.rows", half, by_replay),
    ("the sensitivity rounded down", "privacy.calibrate.on_noise_grid", rounds_down, by_replay),
    ("stage B left out", "privacy.bound._bounding", changed(skip_b=True), by_replay),
    ("stage A left out", "privacy.bound._bounding", skipping_a, by_replay),
    ("noise for one group, two kept", "privacy.bound._bounding", changed(max_groups=1), by_replay),
    (
        "the upper clamp dropped at the scan",
        "plan.render.clean._kept_real",
        text("WHEN NOT isnan", "WHEN FALSE AND isnan"),
        by_answers,
    ),
    ("no clamp at the scan", "plan.render.clean.kept", lambda real: lambda value, declared: value, by_answers),
    ("NULL is the lower bound", "plan.render.pieces.on_axis", text(" END", " ELSE -4 END"), by_tiny_worlds),
    ("c counts rows that do not enter", "plan.render.bounding._counts", first_counts, by_tiny_worlds),
    ("rows counted as units", "plan.render.bounding._share", rows_count_as_units, by_replay),
    ("units counted that do not enter", "plan.render.bounding._is_here", any_units, by_answers),
    ("truncated before the filter", "query.bounding", filter_last, by_tiny_worlds_with_a_filter),
    ("shares rounded down, not towards zero", "plan.render.bounding._share", floors, by_tiny_worlds),
    (
        "rows of undeclared keys counted in",
        "plan.render.rows.position",
        constant("0"),
        by_tiny_worlds_with_foreign_keys,
    ),
    (
        "rows without a unit kept",
        "plan.render.clean._unit",
        lambda real: lambda c, *a: f"coalesce({c}, 99)",
        by_answers,
    ),
    ("δ not split over the groups", "privacy.measure.key_probability", one_group, by_formulas),
    ("> charged, ≥ released", "mechanisms.laplace.threshold", lambda real: lambda **k: real(**k) - 1, by_formulas),
    ("noise of half the scale", "release.discrete_laplace", lambda real: lambda t, n: real(t // 2, n), by_distribution),
    ("no noise", "release.discrete_laplace", lambda real: lambda t, n: real(t, n) * 0, by_distribution),
    ("a fixed salt", "mechanisms.entropy.salt", constant(7), by_repetition),
)


def narrowed(real: Callable[..., Any]) -> Callable[..., Any]:
    """Bounds inferred by a wrong rule: a third of the axis above the middle is missing, and as much below."""

    def axis(*a: Any) -> Any:
        found = real(*a)
        third = found.width // 3
        return dataclasses.replace(found, low=found.low + third, high=found.high - third)

    return axis


def widened(x: str, axis: Axis) -> str:
    return on_axis(x, dataclasses.replace(axis, low=axis.low - axis.width, high=axis.high + axis.width))


def test_a_wrong_rule_does_not_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing inferred is believed: with values beyond what is inferred replay holds; without the clamp it does not."""
    monkeypatch.setattr("dpsql.privacy.axes.Axes.axis", narrowed(Axes.axis))
    with pytest.raises(AssertionError):
        by_answers()  # the answers are biased …
    by_replay()  # … and no more
    monkeypatch.setattr("dpsql.plan.render.pieces.on_axis", widened)
    with pytest.raises(AssertionError):
        by_replay()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_without_a_bug(check: Check) -> None:
    check()


@pytest.mark.parametrize(("what", "where", "wrap", "check"), BUGS, ids=[bug[0] for bug in BUGS])
def test_is_caught(what: str, where: str, wrap: Wrap, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name = f"dpsql.{where}".rsplit(".", 1)
    target = importlib.import_module(module)
    monkeypatch.setattr(target, name, wrap(getattr(target, name)))
    with pytest.raises(AssertionError):
        check()
