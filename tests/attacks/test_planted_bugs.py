"""Bugs planted one at a time: the check that is named beside each must fail. Without a bug every check passes."""

from __future__ import annotations

import dataclasses
import importlib
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import dpsql
from dpsql.domain.types import REAL
from dpsql.execution.known import check
from dpsql.execution.planning import plan_of
from dpsql.execution.release_stages import released_stages
from dpsql.mechanisms import order_statistics
from dpsql.plan.balls import Norm
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.measurements import (
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
)
from dpsql.plan.render import keys as render_keys
from dpsql.plan.stages import Draw, NoisyStage, Selection
from dpsql.privacy.sensitivity import reaches
from dpsql.testing import Replayer, exact, physical
from dpsql.testing.removal import Copies
from tests.properties import test_tiny_worlds as tiny
from tests.unit.plan import test_balls as balls
from tests.worlds import asking, bounded, keys, people, private, through

NAN, INF = float("nan"), float("inf")
FULL = 2**20
GROUPS, EACH = 2, 2  # the older pair: 4 rows in all, of which √8 in norm 2
KEYS = ["a", "b", "c", "d"]
DELTA = Fraction(1, 100_000)


def catalog(**more: Any) -> dict[str, Any]:
    columns = {
        "k": keys(*KEYS),
        "n": "text",
        "x": bounded("real", -3, 7),
        "i": bounded("integer", 90, 100),
        "y": "real",
        "d": "integer",
        **more,
    }
    budget = {"budget": {"epsilon": 10_000, "delta": 0.5}, "per_query": {"epsilon": 1, "delta": float(DELTA)}}
    return people(columns, max_groups=GROUPS, max_rows=EACH, **budget)


def rows() -> dict[str, Any]:
    """Three people with five rows in each of four groups and more, one with twenty in one group, one with one in each of
    two; every cell at or beyond its bounds. d tells all rows apart."""
    cells = [(u, k, k * u, x, 100, x) for u in (1, 2, 3) for k in KEYS for x in (1e9, -1e9, INF, 7.0, 6.5)]
    cells += [(5, "b", "own", 7.0, 100, -0.0)] * 20 + [(6, "c", "two", 7.0, 100, 0.0), (6, "d", "more", 7.0, 100, 0.0)]
    cells += [(1, "z", "z", 1.0, 1, 1.0), (4, "a", "a", NAN, None, NAN), (None, "a", "a", 1.0, 95, 1.0)]
    told = [(*row, number) for number, row in enumerate(cells)]
    names = ("u", "k", "n", "x", "i", "y", "d")
    return {"t": pa.table({name: list(column) for name, column in zip(names, zip(*told, strict=True), strict=True)})}


LAPLACE, GAUSSIAN = partial(asking, mechanism="laplace"), partial(asking, mechanism="gaussian")
TOTALS = "k, COUNT(*), COUNT(DISTINCT u), SUM(i), SUM(x), AVG(i) FROM t GROUP BY k"
REPLAYED = {
    "totals": (LAPLACE(TOTALS), GAUSSIAN(TOTALS)),
    "moments": tuple(way("k, VAR_POP(i), COVAR_POP(x, i) FROM t GROUP BY k") for way in (LAPLACE, GAUSSIAN)),
    "filters": (
        "SELECT k, SUM(x) FILTER (WHERE i > 90), SUM(LEAST(GREATEST(y, -3), 7)) FROM t WHERE i < 200 GROUP BY k",
        "SELECT k, COUNT(DISTINCT u) FILTER (WHERE i > 90) FROM t GROUP BY k",
    ),
    "keys": (LAPLACE("n, COUNT(*) FROM t GROUP BY n"), GAUSSIAN("n, k, SUM(i) FROM t GROUP BY n, k")),
    "candidates": tuple(
        way("k, MEDIAN(i), HISTOGRAM(i, [95]), MODE(k) FROM t GROUP BY k") for way in (LAPLACE, GAUSSIAN)
    ),
    "distinct": tuple(way("k, COUNT(DISTINCT d) FROM t GROUP BY k") for way in (LAPLACE, GAUSSIAN)),
    "distinct sums": tuple(
        way("k, SUM(DISTINCT LEAST(GREATEST(d + 900, 0), 1000)) FROM t GROUP BY k") for way in (LAPLACE, GAUSSIAN)
    ),
    "top": tuple(
        LAPLACE(f"k, {count} AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 1", top_k=True)
        for count in ("COUNT(*)", "COUNT(DISTINCT u)")
    ),
    "parts": tuple(
        way(f"{calls} FROM {source}")
        for way in (LAPLACE, GAUSSIAN)
        for calls, source in (
            (", ".join(f"COUNT(*) FILTER (WHERE k = '{key}')" for key in KEYS), "t"),
            (
                ", ".join(f"SUM(CASE WHEN k = '{key}' THEN i END), AVG(i) FILTER (WHERE k = '{key}')" for key in KEYS),
                "t",
            ),
            ("k, COUNT(*) FILTER (WHERE y > 0), COUNT(*) FILTER (WHERE y <= 0)", "t GROUP BY k"),
        )
    ),
    "parts of units": (
        "SELECT COUNT(*) FILTER (WHERE n > 5), COUNT(*) FILTER (WHERE n <= 5)"
        " FROM (SELECT u, COUNT(*) AS n FROM t GROUP BY u)",
    ),
    "coarse": (
        LAPLACE("SUM(x), SUM(i) FROM t", epsilon=0.00001),
        GAUSSIAN("k, SUM(x) FROM t GROUP BY k", epsilon=0.01),
    ),
}


def by_replay(*names: str) -> None:
    with Replayer(catalog(), rows()) as replayer:
        for sql in (sql for name in names or REPLAYED for sql in REPLAYED[name]):
            for line in replayer.replay(sql):
                assert line.holds, (sql, line)


def replayed(*names: str) -> Check:
    return partial(by_replay, *names)


LEMMA: tuple[tuple[list[balls.Given], balls.Radii], ...] = (
    (balls.MANY, balls.radii(3)),
    (balls.MANY, balls.radii(4, 13, 2)),
    (balls.SPREAD, balls.radii(6, 5, 2)),
    ([(1, n % 4, -1, True) for n in range(30)] + [(2, 0, -1, True)], balls.radii(3, 9, 2)),
)


def by_lemma() -> None:
    for given, limit in LEMMA:
        balls.check_lemma(given, limit)


def by_weights() -> None:
    """In integers: no weight is too large, and in norm 2 none is much too small."""
    for squared in (1, 3, 1000, 2**33 + 1):
        for sizes in ((2,), (3, 4, 12), (1,) * 7, (50, 2)):
            q = sum(size * size for size in sizes)
            w = balls.weight(balls.radius("rows", 2**40, squared), 2, sizes)
            assert w * w * q <= max(squared * FULL * FULL, q if q <= squared else 0)
    balls.test_weights_in_norm_2()


def by_rows_of_nobody() -> None:
    """What has no unit has no weight."""
    for norm in (1, 2):
        given: list[balls.Given] = [(None, g, 7, True) for g in range(3)] * 5
        for measured in (balls.BY_ROWS, balls.BY_UNITS):
            sql = balls.statement(measured, balls.radii(4), norm)  # type: ignore[arg-type]
            assert not any(balls.totals(given, sql).values())


def by_tiny_worlds(keys: tuple[str, ...] = tiny.PUBLIC, where: str = "") -> None:
    tiny.check("integer", tiny.VALUES[0], (1, 1), keys, where)


# --- formulas ---------------------------------------------------------------------------------------------------------

CALIBRATED = tuple(
    way(select, epsilon=epsilon, **groups)
    for way in (LAPLACE, GAUSSIAN)
    for select, epsilon, groups in (
        ("n, COUNT(*), SUM(i) FROM t GROUP BY n", 1, {}),
        ("n FROM t GROUP BY n", 1, {"max_groups_contributed": 3}),
        ("n, COUNT(*) FROM t GROUP BY n", 0.02, {"max_groups_contributed": 40}),
        ("k, SUM(i), SUM(x), COUNT(*), COUNT(DISTINCT u) FROM t GROUP BY k", 1, {"max_groups_contributed": 3}),
        ("k, AVG(i), VAR_POP(x) FROM t GROUP BY k", 1, {}),
        ("k, HISTOGRAM(i, [95]), COUNT(DISTINCT d) FROM t GROUP BY k", 1, {}),
        ("k, SUM(i), COUNT(*) FROM t GROUP BY k", 0.004, {}),
    )
)


def by_formulas() -> None:
    """The noise of plans, and the probability that one person's own key shows, computed here from limits and bounds."""
    with Replayer(catalog(), rows()) as replayer:
        for sql in CALIBRATED:
            (stage,) = replayer.plan(sql).stages
            groups = next((n for n in (40, 3) if f"max_groups_contributed={n}" in sql), GROUPS)
            epsilon = float(sql.split("epsilon=")[1].split(",")[0].split(")")[0])
            norm = 1 if "laplace" in sql else 2
            used = [
                steps(moved_by(one, form, at, groups, norm), cells(stage, j), draw, norm, weighed(one))
                / float(draw.steps)
                for j, (one, form, draws) in enumerate((n.measurement, n.form, n.draws) for n in stage.noised)
                for at, draw in enumerate(draws[:1] if form == "ends" else draws)
            ]
            used += [2**selection.bits / selection.draw.scale for selection in stage.selections]
            delta = float(DELTA)
            if norm == 1:
                assert sum(used) <= epsilon * (1 + 1e-12)
                assert sum(used) >= epsilon * 0.999
            else:
                noise_delta = delta / 2 if stage.selections else delta
                assert curve(epsilon, math.hypot(*used)) <= noise_delta * (1 + 1e-6)
                assert curve(epsilon, math.hypot(*used)) >= noise_delta * 0.9
            for selection in stage.selections:
                own_keys(selection, groups, norm, (delta if norm == 1 else delta / 2) / len(stage.selections))


def own_keys(selection: Selection, groups: int, norm: int, delta: float) -> None:
    """None of the keys that one person alone holds shows, but with δ, however many there are."""
    limit = groups if norm == 1 else 1024
    assert len(selection.votes) == limit
    worst = 0.0
    for g, vote in enumerate(selection.votes, start=1):
        assert vote == (2**selection.bits // g if norm == 1 else math.isqrt(4**selection.bits // g))
        p = tail(selection.draw, selection.at_least - vote)
        worst = max(worst, -math.expm1(g * math.log1p(-p)))
    assert delta * 0.7 <= worst <= delta * (1 + (1e-9 if norm == 1 else 1e-6))


def moved_by(one: Measurement, form: str, at: int, groups: int, norm: int) -> float:
    """What one person moves it by, in 2^-20 of a piece."""
    per_rows = (groups * EACH if norm == 1 else math.sqrt(groups) * EACH) * FULL
    per_groups = (groups if norm == 1 else math.sqrt(groups)) * FULL
    match one:
        case RowTotal(name="count(*)") | Histogram():
            return per_rows
        case RowTotal(name="sum(i)"):
            return per_rows * 100
        case RowTotal(name="sum(x)"):
            return per_rows * float(7 / one.piece.axis.step)  # type: ignore[union-attr]
        case UnitTotal(name="units"):
            return per_groups
        case RowMoments(axis=axis):
            width = float((10 if "of i" in one.name else Fraction(10)) / axis.step)
            return per_rows * ((2 * width) ** one.degree if form == "ends" else width**at)
        case DistinctCount():
            return per_rows
    raise AssertionError(one)


def cells(stage: NoisyStage, j: int) -> int:
    """Totals that are rounded."""
    noised = stage.noised[j]
    count = (len(KEYS) if stage.public_keys else 2**20) * (2 if isinstance(noised.measurement, Histogram) else 1)
    return count * (len(noised.draws) if noised.form == "ends" else 1)


def weighed(one: Measurement) -> bool:
    """Kept values count 1 each, so their totals are whole before they are rounded."""
    return not isinstance(one, DistinctCount)


def steps(moved: float, cells: int, draw: Draw, norm: int, weighed: bool) -> float:
    """On the noise grid, where every total is rounded."""
    if not draw.shift:
        return moved
    if not weighed and draw.grid == FULL:
        return math.ceil(moved / FULL)
    if norm == 1:
        return float((round(moved) + cells * (draw.grid - 1)) // draw.grid)
    return moved / draw.grid + math.sqrt(cells)


def curve(epsilon: float, mu: float) -> float:
    def upper(x: float) -> float:
        return 0.5 * math.erfc(x / math.sqrt(2))

    return upper(epsilon / mu - mu / 2) - math.exp(epsilon) * upper(epsilon / mu + mu / 2)


def tail(draw: Draw, m: int) -> float:
    """P[X ≥ m] (for the Gaussian its upper bound)."""
    if draw.mechanism == "laplace":
        return math.exp(-m / draw.scale) / (1 + math.exp(-1 / draw.scale))
    return 0.5 * math.erfc((m - 1) / draw.scale / math.sqrt(2))


def by_choices() -> None:
    """Every choice is made with its part of the query's ε, for what one person's rows weigh over all groups, by the
    mechanism that its charge is for."""
    weight = EACH * FULL  # in one group
    expected = {
        "k, MEDIAN(i) FROM t GROUP BY k": [(1, weight * GROUPS)],
        "QUANTILE_CONT(i, 0.25), MEDIAN(i), QUANTILE_CONT(i, 0.75) FROM t": [(Fraction(1, 2), weight * 16)] * 3,
        "MIN(i) FROM t": [(1, weight)],
        "MODE(k) FROM t": [(2, weight)],  # twice, for scores that move in one direction
        "APPROX_TOP_K(k, 2) FROM t": [(1, weight)] * 2,
    }
    for accounting, mechanism, part in (("approx", "permute-and-flip", 2), ("zcdp", "exponential", 8)):
        described = {**catalog(), "accounting": accounting, "dataset": f"chosen under {accounting}"}
        for select, calls in expected.items():
            seen: list[tuple[str, Fraction, int]] = []

            def choose(scores: Any, *, by: Any, epsilon: Fraction, sensitivity: int) -> Any:
                seen.append((by, epsilon, sensitivity))  # noqa: B023 - called within this turn of the loop
                return CHOOSE(scores, by=by, epsilon=epsilon, sensitivity=sensitivity)

            with pytest.MonkeyPatch.context() as patched, dpsql.connect(described, source=rows()) as connection:
                patched.setattr(order_statistics, "choose", choose)
                report = connection.execute(asking(select, epsilon=1)).privacy
            assert report is not None and len(seen) == len(calls)
            for (by, epsilon, sensitivity), (claimed, reach) in zip(seen, calls, strict=True):
                assert (by, epsilon) == (mechanism, claimed)
                assert sensitivity % reach == 0 and sensitivity <= 10_000 * reach
            rounds = len(calls) - (len(calls) == 3)  # three quantiles are found in two rounds
            assert report.cost.rho == pytest.approx(rounds * (1 / rounds) ** 2 / part)


CHOOSE = order_statistics.choose


# --- answers ----------------------------------------------------------------------------------------------------------


def by_answers() -> None:
    """What the cleaned table holds, counted by hand."""
    with exact(catalog(), source=rows()) as connection:
        wide = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=100000)"
        counts = connection.execute(f"{wide} COUNT(*), COUNT(x), COUNT(DISTINCT u), SUM(i) FROM t").fetchall()
        assert counts == [(84, 83, 6, 82 * 100 + 90)]
        entering = connection.execute(f"{wide} COUNT(DISTINCT u) FILTER (WHERE i > 90) FROM t").fetchall()
        assert entering == [(5,)]
        sums = connection.execute(f"{wide} SUM(x) FROM t WHERE k = 'a'").fetchall()
        assert sums == [(3 * (7 - 3 + 7 + 7 + 6.5),)]
        assert connection.execute("SELECT COUNT(*) FROM t WHERE x > 7 OR i < 90").fetchall() == [(0,)]
        assert connection.execute(f"{wide} COUNT(*) FROM t WHERE x >= 7").fetchall() == [(3 * 4 * 3 + 22,)]


def by_distribution() -> None:
    """4,000 noisy zeros at ε = 1: their mean size is the claimed scale, within five deviations, and no two runs agree."""
    described = catalog(j=bounded("integer", 0, 3999, nullable=False))
    source = {"t": rows()["t"].append_column("j", pa.array([None] * len(rows()["t"]), pa.int64()))}
    with dpsql.connect(described, source=source) as connection:
        for mechanism, scale in (("laplace", GROUPS * EACH * 7), ("gaussian", None)):
            select = asking("j, SUM(x) FROM t GROUP BY j", mechanism=mechanism, fresh=True)
            runs = [[row[1] for row in connection.execute(select).fetchall()] for _ in range(2)]
            if scale is None:
                scale = gaussian_size(1.0, float(DELTA)) * math.sqrt(GROUPS) * EACH * 7
            for run in runs:
                size = sum(map(abs, run)) / len(run)
                assert abs(size - scale) < 5 * scale / math.sqrt(len(run)), size
            assert runs[0] != runs[1]


def gaussian_size(epsilon: float, delta: float) -> float:
    """The mean |noise| that (ε, δ) needs for a sensitivity of 1."""
    low, high = 0.01, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(epsilon, middle) <= delta else (low, middle)
    return math.sqrt(2 / math.pi) / low


def by_repetition() -> None:
    """Which of a person's values are kept is drawn anew in each run: one of 40, found by ten others' too, 8 runs."""
    table = pa.table({"u": [1] * 40 + list(range(2, 12)), "d": [*range(40), *range(10)]})
    described = catalog()
    described["tables"]["t"] |= {"columns": {"u": "integer", "d": "integer"}, "max_groups": 1, "max_rows": 1}
    with exact(described, source={"t": table}) as connection:
        counts = {connection.execute("SELECT COUNT(DISTINCT d) FROM t").fetchone() for _ in range(40)}
    assert counts == {(10,), (11,)}  # one of those that others have, or not


# --- values that must stop nothing, and keys --------------------------------------------------------------------------


def by_hostile_values() -> None:
    """No cell stops a statement."""
    cells = [NAN, INF, -INF, 1e308, -1e308, 2.0**63, -(2.0**63), 2.0**62, 0.1, -0.0, None]
    big = [2**63 - 1, -(2**63), 0, 2**62, None, 1, 2, 3, 4, 5, 6]
    table = pa.table({"u": list(range(len(cells))), "y": pa.array(cells, pa.float64()), "d": pa.array(big, pa.int64())})
    described = catalog()
    columns = {"y": bounded("real", -(2**61), 2**63 - 1), "d": bounded("integer", -(2**60), 2**60)}
    described["tables"]["t"] = private(columns, max_groups=GROUPS, max_rows=EACH)
    asked = (
        "MEDIAN(FLOOR(y))",
        "MAX(FLOOR(y))",
        "SUM(y)",
        "AVG(d)",
        "SUM(d)",
        "MIN(d)",
        "VAR_POP(d)",
        "COVAR_POP(y, d)",
    )
    with dpsql.connect(described, source={"t": table}) as connection:
        for select in asked:
            try:
                connection.execute(f"SELECT {select} FROM t")
            except dpsql.Refused as refused:
                assert refused.code == "DPSQL-131", (select, refused)
            except dpsql.Error as stopped:
                raise AssertionError(f"a value stopped {select}: {stopped}") from stopped


def by_lost_keys() -> None:
    """A number that does not fit the form keys travel in is no key at all, and not the NULL key."""
    same = render_keys._same("x", REAL, "other", DUCKDB)
    cases = [
        (1e300, None, False),
        (NAN, None, False),
        (None, None, True),
        (3.0, 3, True),
        (3.0, None, False),
        (None, 3, False),
    ]
    for x, other, expected in cases:
        row = (
            duckdb.connect()
            .execute(f"SELECT {same} FROM (SELECT ?::DOUBLE AS x, ?::BIGINT AS other)", [x, other])
            .fetchone()
        )
        assert row == (expected,), (x, other)


# --- the judge, and the charge ----------------------------------------------------------------------------------------


def path_world() -> tuple[dict[str, Any], dict[str, Any]]:
    described = catalog()
    limits = {"max_groups": 1, "max_rows": 1}
    described["tables"] = {
        "o": private({"id": "integer"}, **limits),
        "i": private({"id": "integer", "v": "integer"}, unit=through("o", id="id"), **limits),
    }
    return described, {
        "o": pa.table({"u": [1, 1, 2], "id": [1, 2, 2]}),
        "i": pa.table({"id": [1, 2, 3], "v": [1, 2, 3]}),
    }


def by_removal() -> None:
    """The judge's copy has no row that only the unit reached, and every other."""
    copies = Copies.read(*path_world())
    assert copies.frames(copies.places(1))["i"].to_pydict() == {"id": [2, 3], "v": [2, 3]}  # type: ignore[attr-defined]
    assert copies.frames(copies.places(2))["o"].to_pydict() == {"u": [1, 1], "id": [1, 2]}  # type: ignore[attr-defined]


def by_a_failing_side() -> None:
    """An error on the copy without a unit is a finding."""
    calls = []

    def failing(session: Any, stage: Any, *a: Any, **k: Any) -> Any:
        calls.append(session)
        if session is not calls[0]:
            raise duckdb.OutOfRangeException("a value stopped it")
        return RUN(session, stage, *a, **k)

    with pytest.MonkeyPatch.context() as patched, Replayer(catalog(), rows()) as replayer:
        patched.setattr(physical, "run", failing)
        lines = replayer.replay("SELECT COUNT(*) FROM t", units=[1])
    assert len(calls) > 1
    assert lines and not any(line.holds for line in lines)


RUN = physical.run


def by_a_failing_vault() -> None:
    """What was charged stays charged, though nothing came of it."""
    with pytest.MonkeyPatch.context() as patched, dpsql.connect(catalog(), source=rows()) as connection:

        def failing(*a: Any, **k: Any) -> Any:
            raise OSError("the disk is gone")

        before = connection.budget.spent.epsilon
        patched.setattr("dpsql.execution.release_stages.vault_run", failing)
        with pytest.raises(dpsql.InternalError):
            connection.execute(asking("COUNT(*) FROM t", fresh=True))
        assert connection.budget.spent.epsilon == before + 1


Check = Callable[[], None]
CHECKS: dict[str, Check] = {
    **{f"by_replay of {name}": replayed(name) for name in REPLAYED},
    "by_lemma": by_lemma,
    "by_weights": by_weights,
    "by_rows_of_nobody": by_rows_of_nobody,
    "by_tiny_worlds": by_tiny_worlds,
    "by_tiny_worlds with foreign keys": partial(by_tiny_worlds, tiny.FIRST),
    "by_formulas": by_formulas,
    "by_choices": by_choices,
    "by_answers": by_answers,
    "by_distribution": by_distribution,
    "by_repetition": by_repetition,
    "by_hostile_values": by_hostile_values,
    "by_lost_keys": by_lost_keys,
    "by_removal": by_removal,
    "by_a_failing_side": by_a_failing_side,
    "by_a_failing_vault": by_a_failing_vault,
}
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def rounded_for_nothing(one: Measurement, stage: NoisyStage, norm: Norm) -> int | None:
    return math.ceil(reaches(one, "plain", stage.limit, norm)[0] / FULL) if isinstance(one, RowTotal) else None


def text(*pairs: tuple[str, str]) -> Wrap:
    """The function's SQL with pieces replaced; each must be there at least once in a check."""

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*a: Any, **k: Any) -> str:
            printed: str = real(*a, **k)
            for old, new in pairs:
                printed = printed.replace(old, new)
            return printed

        return changed

    return wrap


def larger(position: int) -> Wrap:
    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *a, **k: real(*(v + 1 if at == position else v for at, v in enumerate(a)), **k)

    return wrap


def constant(value: Any) -> Wrap:
    return lambda real: lambda *a, **k: value


def changed(**fields: Any) -> Wrap:
    return lambda real: lambda *a, **k: dataclasses.replace(real(*a, **k), **fields)


def halved(kind: type, form: str | None = None) -> Wrap:
    """Half the reach of one kind of measurement."""

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def reaches(one: Any, *a: Any) -> Any:
            whole = real(one, *a)
            if not isinstance(one, kind) or (form is not None and a[0] != form):
                return whole
            return whole // 2 if isinstance(whole, int) else tuple(reach // 2 for reach in whole)

        return reaches

    return wrap


def unweighed(real: Callable[..., Any]) -> Callable[..., Any]:
    """LEFT JOIN, and in full what has no weight."""

    def summed(*a: Any, **k: Any) -> Any:
        weighed = real(*a, **k)
        sql = re.sub(r"\b(sum\(|\* )(e\d)\b", rf"\1coalesce(\2, {FULL})", weighed.select)
        return dataclasses.replace(weighed, select=sql.replace(" JOIN weights ON", " LEFT JOIN weights ON"))

    return summed


def one_norm(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, per_rows, norm: real(self, per_rows, 1)


def other_rows(real: Callable[..., Any]) -> Callable[..., Any]:
    """Weights of fewer rows than are summed."""
    return lambda ball, counts, source, *a, **k: real(
        ball, counts, f"(SELECT * FROM {source} WHERE g > 0) AS other", *a, **k
    )


def not_squared(real: Callable[..., Any]) -> Callable[..., Any]:
    """Weights in norm 2 of the rows that a unit has in each group, not of their squares."""
    return lambda ball, names, spread, dialect: importlib.import_module(f"dpsql.{B}")._of_squares(
        ball, {name: dialect.sum(f"n_{name}") for name in names}, spread, dialect
    )


def twice_the_root(real: Any) -> SimpleNamespace:
    return SimpleNamespace(isqrt=lambda n: 2 * real.isqrt(n))


def unsure(real: Callable[..., Any]) -> Callable[..., Any]:
    """What doubles propose, believed."""
    return lambda ball, q, r, dialect: f"CASE WHEN {q} <= {ball.squared} THEN {FULL} ELSE CAST({r} + 2 AS BIGINT) END"


def of_norm_2(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda bits, norm, limit: real(bits, 2, limit)


def of_norm_1(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda bits, norm, limit: real(bits, 1, limit)


def only_the_first(real: Any) -> Callable[..., Any]:
    """max() of a generator: its first."""
    return lambda *a: next(iter(a[0])) if len(a) == 1 else max(*a)


def forgotten_cells(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda reach, cells, shift, norm: real(reach, 1, shift, norm)


def with_epsilon(factor: Fraction) -> Wrap:
    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda cells, groups, one, draw: real(
            cells, groups, one, dataclasses.replace(draw, epsilon=draw.epsilon * factor)
        )

    return wrap


def whole_delta(real: Callable[..., Any]) -> Callable[..., Any]:
    def calibrated(*a: Any, delta: Fraction, **k: Any) -> Any:
        selection = real(*a, delta=delta, **k)
        return dataclasses.replace(selection, delta_keys=delta)

    return calibrated


def narrowed(real: Callable[..., Any]) -> Callable[..., Any]:
    """Bounds inferred by a wrong rule: a third of the axis above the middle is missing, and as much below."""

    def axis(*a: Any) -> Any:
        wide = real(*a)
        third = wide.width // 3
        return dataclasses.replace(wide, low=wide.low + third, high=wide.high - third)

    return axis


def unclamped(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda dialect, x, z, axis: z


def charged_late(real: Callable[..., Any]) -> Callable[..., Any]:
    """The vault runs first, then the ledger is asked."""

    def run_query(session: Any, statement: Any, **k: Any) -> Any:
        plan = plan_of(session, statement)
        released_stages(session, plan, check(session, plan), session.vault())
        return real(session, statement, **k)

    return run_query


def keeps_path_rows(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, unit, *, orphans=False: real(self, unit, orphans=True)


def swallowed(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda unit, stage, what: real(unit, stage, what)._replace(failure="")


Planted = tuple[tuple[str, Wrap], ...]


def both_noises(wrap: Wrap) -> Planted:
    return tuple((f"privacy.{noise}.reaches", wrap) for noise in ("pure_noise", "gaussian_noise"))


B, P = "plan.render.ball", "plan.render.rows"
ROW_TOTALS, UNIT_TOTALS = "plan.render.row_totals", "plan.render.unit_totals"
CAST = text(("TRY_CAST", "CAST"))
BUGS: tuple[tuple[str, Planted, str], ...] = (
    # what a unit may move
    ("half the reach of totals of rows", both_noises(halved(RowTotal)), "by_replay of totals"),
    ("half the reach of ends", both_noises(halved(RowMoments, "ends")), "by_replay of moments"),
    (
        "half the reach of moments",
        both_noises(halved(RowMoments, "centred")),
        "by_replay of totals",
    ),
    ("half the reach of units", both_noises(halved(UnitTotal)), "by_replay of totals"),
    ("half the reach of bins", both_noises(halved(Histogram)), "by_replay of candidates"),
    (
        "half the reach of distinct values",
        both_noises(halved(DistinctCount)),
        "by_replay of distinct",
    ),
    (
        "half the reach of sums of distinct values",
        both_noises(halved(DistinctCount)),
        "by_replay of distinct sums",
    ),
    ("half the reach of choices", (("privacy.pure_noise.score_reach", halved(Choice)),), "by_replay of candidates"),
    ("half the reach of the top groups", (("privacy.pure_noise.score_reach", halved(TopGroups)),), "by_replay of top"),
    ("the groups forgotten in the rounding", (("privacy.noise_grid.rounded_reach", forgotten_cells),), "by_formulas"),
    (
        "rows weighed in norm 1, noise for norm 2",
        (("plan.render.printer.Printer.ball", one_norm),),
        "by_replay of totals",
    ),
    # weights
    (
        "shared by one row fewer",
        tuple(
            (
                f"{where}.unit_weight",
                text(
                    ("// count(*)", "// greatest(count(*) - 1, 1)"), ("// greatest(count(", "// greatest(-1 + count(")
                ),
            )
            for where in (B, ROW_TOTALS)
        ),
        "by_lemma",
    ),
    (
        "units without a weight count in full",
        ((f"{ROW_TOTALS}.summed", unweighed), (f"{UNIT_TOTALS}.summed", unweighed)),
        "by_rows_of_nobody",
    ),
    ("doubles believed in norm 2", ((f"{B}._norm_2", unsure),), "by_weights"),
    ("doubles believed in norm 2, by what moves", ((f"{B}._norm_2", unsure),), "by_lemma"),
    ("weights of other rows", (("plan.render.row_totals.weights", other_rows),), "by_lemma"),
    ("weights of rows, not of squares", ((f"{B}._of_spread", not_squared),), "by_lemma"),
    ("units over the radius taken for few rows", (("plan.render.ball.math", twice_the_root),), "by_lemma"),
    (
        "weighed pieces shifted, so rounded down",
        (("plan.render.sums.weighted", lambda real: lambda *a: f"(CAST({real(*a)} AS HUGEINT) >> 20) * {FULL}"),),
        "by_lemma",
    ),
    ("one row of a unit, believed", (("privacy.bound.certify", changed(single=True)),), "by_replay of totals"),
    ("parts weighed by the first of them", (("plan.render.sums.slice_of", constant(None)),), "by_replay of parts"),
    ("a row in every part", ((f"{P}.slice_of", constant(None)),), "by_replay of parts of units"),
    (
        "a distinct value is added as if it were one",
        (("plan.measurements.DistinctCount.largest", lambda real: property(lambda self: 1)),),
        "by_replay of distinct sums",
    ),
    ("one value more than the limit", (("plan.render.distinct_values._capped", larger(3)),), "by_replay of distinct"),
    # keys
    ("votes of 1/√g in norm 1", (("privacy.selection.votes", of_norm_2),), "by_formulas"),
    ("votes of 1/g in norm 2", (("privacy.selection.votes", of_norm_1),), "by_formulas"),
    ("a unit with one group too many votes", (("privacy.selection.votes", larger(2)),), "by_formulas"),
    ("the threshold for a single key", (("privacy.selection.max", only_the_first),), "by_formulas"),
    (
        "δ not split over a unit's keys",
        (("privacy.selection.key_probability", lambda real: lambda delta, t: real(delta, 1)),),
        "by_formulas",
    ),
    ("δ not split between curve and keys", (("privacy.measure.calibrated", whole_delta),), "by_formulas"),
    (
        "> charged, ≥ released",
        (("mechanisms.laplace.threshold", lambda real: lambda **k: real(**k) - 1),),
        "by_formulas",
    ),
    ("a lost key is the NULL key", (("plan.render.keys._not_lost", constant("TRUE")),), "by_lost_keys"),
    (
        "rows of undeclared keys counted in",
        (("plan.render.rows.group", constant("0")),),
        "by_tiny_worlds with foreign keys",
    ),
    # noise and choices
    (
        "noise of half the scale",
        (("release.noise.discrete_laplace", lambda real: lambda t, n, per: real(t // 2, n, per)),),
        "by_distribution",
    ),
    (
        "whole noise on totals that are weighed",
        (("privacy.whole_numbers.whole_reach", lambda real: rounded_for_nothing),),
        "by_formulas",
    ),
    (
        "no noise",
        (("release.noise.discrete_laplace", lambda real: lambda t, n, per: real(t, n, per) * 0),),
        "by_distribution",
    ),
    (
        "no Gaussian noise",
        (("release.noise.discrete_gaussian", lambda real: lambda t, n, per: real(t, n, per) * 0),),
        "by_distribution",
    ),
    ("ε of choices divided twice", (("release.totals.choose_all", with_epsilon(Fraction(1, 2))),), "by_choices"),
    ("ε of choices not divided", (("release.totals.choose_all", with_epsilon(Fraction(2))),), "by_choices"),
    (
        "permute-and-flip at the exponential mechanism's price",
        (("release.choices.chooser", constant("permute-and-flip")),),
        "by_choices",
    ),
    ("a fixed salt", (("mechanisms.entropy.salt", constant(7)),), "by_repetition"),
    # values
    (
        "the upper clamp dropped at the scan",
        (("plan.dialects.duckdb.DuckDb.kept_real", text(("WHEN NOT isnan", "WHEN FALSE AND isnan"))),),
        "by_answers",
    ),
    ("no clamp at the scan", (("plan.render.clean.kept", lambda real: lambda value, *a: value),), "by_answers"),
    (
        "no clamp of an end, whose bounds a wrong rule inferred",
        (("plan.dialects.dialect.Dialect.placed", unclamped), ("privacy.axes.Axes.axis", narrowed)),
        "by_replay of totals",
    ),
    (
        "NULL is the lower bound",
        (("plan.dialects.dialect.Dialect.placed", text((" ELSE ", " WHEN TRUE THEN -4 ELSE "))),),
        "by_tiny_worlds",
    ),
    ("units counted that do not enter", ((f"{UNIT_TOTALS}._share", constant("1")),), "by_answers"),
    (
        "rows without a unit kept",
        (("plan.dialects.duckdb.reading._unit", lambda real: lambda c, *a: f"coalesce({c}, 99)"),),
        "by_answers",
    ),
    (
        "an axis past 64 bits, cast as it is",
        (("plan.dialects.duckdb.places.placed_real", CAST), ("privacy.candidates.PLACES", lambda real: 2**63)),
        "by_hostile_values",
    ),
    # the judge, and the charge
    ("a replay that keeps path rows", (("testing.removal.Copies.places", keeps_path_rows),), "by_removal"),
    ("an error swallowed by the judge", (("testing.physical.failure_of", swallowed),), "by_a_failing_side"),
    ("the vault runs before the charge", (("dbapi.statements.run_query", charged_late),), "by_a_failing_vault"),
)


@contextmanager
def planted(bug: Planted) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for where, wrap in bug:
            module, _, name = f"dpsql.{where}".rpartition(".")
            try:
                target: Any = importlib.import_module(module)
            except ModuleNotFoundError:  # of a class
                module, _, class_name = module.rpartition(".")
                target = getattr(importlib.import_module(module), class_name)
            builtin = name == "max"
            patched.setattr(target, name, wrap(max if builtin else getattr(target, name)), raising=not builtin)
        yield


def test_a_wrong_rule_does_not_leak() -> None:
    """Nothing inferred is believed: with values beyond what is inferred replay holds; without the clamp it does not."""
    with planted((("privacy.axes.Axes.axis", narrowed),)):
        with pytest.raises(AssertionError):
            by_answers()  # the answers are biased …
        by_replay("totals")  # … and no more
        with planted((("plan.dialects.dialect.Dialect.placed", unclamped),)), pytest.raises(AssertionError):
            by_replay("totals")


@pytest.mark.parametrize("check", CHECKS)
def test_without_a_bug(check: str) -> None:
    CHECKS[check]()


@pytest.mark.parametrize(("what", "bug", "check"), BUGS, ids=[bug[0] for bug in BUGS])
def test_is_caught(what: str, bug: Planted, check: str) -> None:
    with planted(bug), pytest.raises(AssertionError):
        CHECKS[check]()
