"""The ball's lemma on the statements that are printed, over any rows whatever, and the numbers of its definition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpsql.domain.types import BIGINT, REAL
from dpsql.ir.expr import Column
from dpsql.ir.nodes import Field
from dpsql.plan.answers import answers
from dpsql.plan.balls import FULL, Ball, Norm, Radius, radius
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.measurements import Axis, Measurement, Number, OnAxis, One, RowMoments, RowTotal, UnitTotal
from dpsql.plan.ready import Combinations
from dpsql.plan.render import ball as ball_sql
from dpsql.plan.render import row_totals, unit_totals
from dpsql.plan.render.printer import Printer
from dpsql.plan.render.sums import on_noise_grid
from dpsql.plan.stages import Draw, Form, Limit, Noised
from dpsql.plan.vault_query import Question, Step
from dpsql.privacy import sensitivity

FAR = 2**62 - 1
SIDE = 1000
Given = tuple[int | None, int, int | None, bool | None]  # u, g, x and whether y is there
ANSWER = Number(real=Field(90, "", REAL), whole=Field(91, "", BIGINT))
X = Axis(arg=Column(1, BIGINT, "x"), step=Fraction(1), low=-FAR, high=FAR)
Y = Column(2, BIGINT, "y")
BY_ROWS: tuple[Measurement, ...] = (
    RowTotal(name="count(*)", piece=One(), answer=ANSWER),
    RowTotal(name="count(y)", piece=One(), needs=(Y,), answer=ANSWER),
    RowTotal(name="sum(x)", piece=OnAxis(X), answer=ANSWER),
    RowTotal(name="sum(x) beside y", piece=OnAxis(X), needs=(Y,), answer=ANSWER),
)
BY_UNITS: tuple[Measurement, ...] = (
    UnitTotal(name="units", piece=One(), clamp=(0, 1), answer=ANSWER),
    UnitTotal(name="units with y", piece=One(), clamp=(0, 1), needs=(Y,), answer=ANSWER),
    UnitTotal(name="count bounded", piece=One(), clamp=(0, 2), answer=ANSWER),
    UnitTotal(name="sum bounded", piece=OnAxis(X), clamp=(-7, 5), answer=ANSWER),
    UnitTotal(name="sum of any size", piece=OnAxis(X), clamp=(-FAR, FAR), answer=ANSWER),
)


class Printed(Printer):
    """Prints over the table `given` as it is: nothing is said of its units and groups, not even that they are there."""

    def rows(self, parts: Any, *, present: Any = (), extra: Any = ()) -> str:
        x, y = "x", "CASE WHEN y THEN 1 END"
        columns = {"count(y)": y, "units with y": y, "sum(x) beside y": "CASE WHEN y THEN x END"}
        shown = [f"{columns.get(one.name, x)} AS p{j}" for j, one in parts]
        shown += [f"{columns.get(one.name, x)} AS h{j}" for j, one in parts if j in present]
        return f"SELECT {', '.join(['u', 'g', *shown])} FROM given"


@dataclass(frozen=True, slots=True)
class Radii:
    """Of rows and of groups."""

    rows: Radius
    groups: Radius


def printer(measured: Sequence[Measurement], limit: Radii, norm: Norm, *, exact: bool, shift: int = 0) -> Any:
    draw = Draw(mechanism="laplace" if norm == 1 else "gaussian", shift=shift, norm=norm)
    noised = [Noised(measurement=one, form="plain", draws=(draw,)) for one in measured]
    stage: Any = SimpleNamespace(
        source=SimpleNamespace(single=False),
        limit=Limit(rows=limit.rows, groups=limit.groups),
        noised=noised,
        number=0,
    )
    ready: Any = SimpleNamespace(groups=Combinations(), stage=stage, count=100)
    relations: Any = SimpleNamespace(dialect=DUCKDB)
    return Printed(ready=ready, relations=relations, exact=exact, kept=True, salt=0)


def statement(measured: Sequence[Measurement], limit: Radii, norm: Norm, *, exact: bool = True, shift: int = 0) -> str:
    print_ = row_totals.of_rows if isinstance(measured[0], RowTotal) else unit_totals.of_units
    question = print_(printer(measured, limit, norm, exact=exact, shift=shift), list(enumerate(measured)), norm)
    return printed(question)


def printed(question: Question) -> str:
    return DUCKDB.statement(question.steps, question.select)


CONNECTION = duckdb.connect(config={"threads": 1})


def totals(rows: Sequence[Given], sql: str) -> dict[tuple[object, int], int]:
    """By group and measurement; what is not there is 0."""
    CONNECTION.execute("CREATE OR REPLACE TEMP TABLE given (u INTEGER, g INTEGER, x BIGINT, y BOOLEAN)")
    if rows:
        values = ", ".join(f"({', '.join('NULL' if cell is None else str(cell) for cell in row)})" for row in rows)
        CONNECTION.execute(f"INSERT INTO given VALUES {values}")
    answered = CONNECTION.execute(sql).fetchall()
    return {(g, j): int(m) for g, *cells in answered for j, m in enumerate(cells) if m is not None}


def moved(before: dict[Any, int], after: dict[Any, int], j: int) -> list[int]:
    cells = {cell for cell in (*before, *after) if cell[1] == j}
    return [abs(before.get(cell, 0) - after.get(cell, 0)) for cell in cells]


def norm_of(changes: Sequence[int], norm: Norm) -> int:
    """Rounded up: reaches are integers."""
    if norm == 1:
        return sum(changes)
    square = sum(change * change for change in changes)
    root = math.isqrt(square)
    return root + (root * root < square)


def without_each(
    rows: Sequence[Given], measured: Sequence[Measurement], limit: Radii, norm: Norm, *, shift: int = 0
) -> Iterator[tuple[int, int, int]]:
    """For each unit and measurement: its position, how far it moves without the unit, and how far it may.

    All sides are asked at once, each with units and groups of its own; a row without a unit is in all of them."""
    units = sorted({u for u, *_ in rows if u is not None})
    sides = [rows, *([row for row in rows if row[0] != unit] for unit in units)]
    apart = [
        (None if u is None else u + SIDE * n, None if g is None else g + SIDE * n, x, y)
        for n, side in enumerate(sides)
        for u, g, x, y in side
    ]
    apart_totals = totals(apart, statement(measured, limit, norm, exact=not shift, shift=shift))
    by_side = [{(g % SIDE, j): m for (g, j), m in apart_totals.items() if g // SIDE == n} for n in range(len(sides))]
    cells = len({g for _, g, _, _ in rows})
    for after in by_side[1:]:
        for j, one in enumerate(measured):
            (reach,) = sensitivity.reaches(one, "plain", Limit(rows=limit.rows, groups=limit.groups), norm)
            change = norm_of(moved(by_side[0], after, j), norm)
            yield j, change, sensitivity.rounded_reach(reach, cells, shift, norm)


def check_lemma(rows: Sequence[Given], limit: Radii, *, shift: int = 0) -> None:
    for norm in (1, 2):
        for measured in (BY_ROWS, BY_UNITS):
            for j, change, reach in without_each(rows, measured, limit, norm, shift=shift):  # type: ignore[arg-type]
                assert change <= reach, (measured[j].name, norm, change / FULL, reach / FULL, rows)


def radii(most: int, squared: int | None = None, groups: int | None = None) -> Radii:
    groups = most if groups is None else groups
    return Radii(radius("rows", most, squared), radius("groups", groups, groups))


PIECES = st.sampled_from([None, 0, 1, -1, 3, -7, 2**41, FAR, -FAR])
ROWS = st.lists(
    st.tuples(st.sampled_from([None, 1, 1, 2, 3]), st.integers(0, 3), PIECES, st.sampled_from([None, True, False])),
    max_size=14,
)
LIMITS = st.one_of(
    st.builds(radii, st.sampled_from([1, 2, 3, 5, 2**40])),
    st.builds(lambda m, c: radii(m * c, m * c * c, m), st.integers(1, 3), st.integers(1, 3)),
    st.builds(radii, st.integers(2, 6), st.integers(1, 40), st.integers(1, 3)),
)
MANY: list[Given] = [(1, n % 3, FAR, True) for n in range(13)] + [(None, 0, FAR, True)] * 9 + [(2, 3, -FAR, True)] * 5
SPREAD: list[Given] = [(1, n, -FAR, True) for n in range(7)] + [(2, 0, 1, None)]


@pytest.mark.slow
@given(rows=ROWS, limit=LIMITS, shift=st.sampled_from([0, 0, 7, 20, 24]))
@example(rows=MANY, limit=radii(3), shift=0)
@example(rows=MANY, limit=radii(4, 13, 2), shift=0)
@example(rows=SPREAD, limit=radii(3), shift=0)
@example(rows=SPREAD, limit=radii(6, 5, 2), shift=0)
@example(rows=SPREAD, limit=radii(3), shift=20)
def test_no_unit_moves_totals_by_more_than_the_reach(rows: list[Given], limit: Radii, shift: int) -> None:
    """Rows without a unit, of one unit in all groups; NULL beside numbers of 62 bits."""
    check_lemma(rows, limit, shift=shift)


@pytest.mark.parametrize(
    ("rows", "limit", "norm"),
    [
        ([(1, n % 4, -FAR, True) for n in range(8)], radii(8, groups=4), 1),  # all it may give, and no more
        (
            [(1, n % 4, -FAR, True) for n in range(16)],
            radii(4, groups=2),
            1,
        ),  # a quarter of each row, half of each group
        ([(1, n, -FAR, True) for n in range(4)], radii(9, 4, 4), 2),  # the root of 4 groups
        ([(1, n % 4, -FAR, True) for n in range(8)], radii(9, 16, 4), 2),
    ],
)
def test_somewhere_it_is_tight(rows: list[Given], limit: Radii, norm: Norm) -> None:
    """Of every measurement but a bounded count, of which a group here has too few rows where it has one."""
    for measured in (BY_ROWS, BY_UNITS):
        tight = {measured[j].name for j, change, reach in without_each(rows, measured, limit, norm) if change == reach}
        assert tight >= {one.name for one in measured} - {"count bounded"}


def test_one_row_has_its_whole_weight() -> None:
    """Whoever is within the limit counts in full, also in norm 2, where doubles propose the weights of all others."""
    for norm, limit in ((1, radii(3)), (2, radii(3, 3))):
        sql = statement(BY_ROWS, limit, norm)  # type: ignore[arg-type]
        weighed = totals([(1, 0, 5, True), (1, 1, 5, None), (1, 2, 5, False)], sql)
        assert {cell: m for cell, m in weighed.items() if m} == {
            **{(g, 0): FULL for g in range(3)},
            (0, 1): FULL,
            **{(g, 2): 5 * FULL for g in range(3)},
            (0, 3): 5 * FULL,
        }


WEIGHED = {0: "count(*)", 1: "count(CASE WHEN y THEN 1 END)", 2: "count(x)", 3: "count(CASE WHEN y THEN x END)"}
ADDED = {0: "1", 1: "CASE WHEN y THEN 1 END", 2: "x", 3: "CASE WHEN y THEN x END"}


@pytest.mark.slow
@given(rows=ROWS, limit=LIMITS)
@example(rows=MANY, limit=radii(3))
@example(rows=SPREAD, limit=radii(4, 6, 2))
@example(rows=[(1, 0, 5, True)] * 4, limit=radii(3))  # one row too many
@example(rows=[(1, 0, 5, True)] * 5 + [(3, 0, 7, True)] * 4, limit=radii(3))
@example(rows=[(1, 0, 5, True)] * 3 + [(2, 0, 7, False)] * 9 + [(2, 1, 7, None)] * 2, limit=radii(3))
def test_norm_2_adds_up_weighed_rows(rows: list[Given], limit: Radii) -> None:
    """However the statement groups them: Σ w·p, each row with the weight of its unit's rows."""
    rows = [row for row in rows if row[0] is not None]  # the others, `rows` of a stage leave out
    answered = totals(rows, statement(BY_ROWS, limit, 2))
    for j, count in WEIGHED.items():
        entering = f"(SELECT * FROM given WHERE {ADDED[j]} IS NOT NULL)"
        weights = ball_sql.weights(limit.rows.ball(2), {"e": count}, f"{entering} AS rows", DUCKDB, by_group=True)
        sql = (
            f"SELECT g, sum({ADDED[j]}::HUGEINT * e) FROM {entering} AS r JOIN ({weights}) AS w ON r.u = w.u GROUP BY g"
        )
        expected = {g: int(m) for g, m in CONNECTION.execute(sql).fetchall()}
        assert {g: m for (g, i), m in answered.items() if i == j and m} == {g: m for g, m in expected.items() if m}


# --- weights ----------------------------------------------------------------------------------------------------------


def weight(limit: Radius, norm: Norm, sizes: Sequence[int]) -> int:
    """Of a unit with so many rows in each of its groups, by the statement that is printed."""
    rows = ", ".join(f"(1, {g})" for g, size in enumerate(sizes) for _ in range(size))
    source = f"(SELECT * FROM (VALUES {rows}) AS v(u, g)) AS rows"
    sql = ball_sql.weights(limit.ball(norm), {"e0": "count(*)"}, source, DUCKDB, by_group=True)
    ((unit, answered),) = CONNECTION.execute(sql).fetchall()
    assert unit == 1
    return int(answered)


@pytest.mark.parametrize(
    ("most", "rows", "expected"),
    [(10, 3, FULL), (10, 10, FULL), (10, 11, 953250), (10, 30_000, 349), (7, 1000, 7340), (1, 2 * FULL, 0)],
)
def test_weights_of_rows(most: int, rows: int, expected: int) -> None:
    """A5 of the construction."""
    source = f"(SELECT 1 AS u, 0 AS g FROM range({rows})) AS rows"
    sql = ball_sql.weights(radius("rows", most).ball(1), {"e0": "count(*)"}, source, DUCKDB, by_group=True)
    assert CONNECTION.execute(sql).fetchall() == [(1, expected)]
    assert rows * expected <= max(most * FULL, rows if rows <= most else 0)


def test_weights_in_norm_2() -> None:
    """A6: of at most two too few, never too many."""
    assert weight(radius("rows", 5), 2, (3, 4, 12)) == 403297
    assert weight(radius("rows", 2), 2, (2, 3)) == 581644
    assert weight(radius("rows", 5), 2, (3, 4)) == FULL


@given(
    n=st.lists(st.integers(1, 2**36), min_size=1, max_size=4),
    squared=st.one_of(st.integers(1, 2**20), st.integers(1, 2**80)),
    near=st.sampled_from([None, -1, 0, 1]),
)
@example(n=[2**40], squared=2**80, near=-1)
@example(n=[2**36] * 4, squared=1, near=None)
def test_norm_2_is_kept_by_integers(n: list[int], squared: int, near: int | None) -> None:
    """w²·q ≤ R·2^40 whatever the doubles say, and w is at most a few from the largest that is."""
    q = sum(x * x for x in n)
    squared = squared if near is None else max(1, min(2**80, q + near))
    limit = radius("rows", 2**40, squared)
    groups = " UNION ALL ".join(f"SELECT 1 AS u, {g} AS g, {x}::BIGINT AS size" for g, x in enumerate(n))
    sql = ball_sql.weights(limit.ball(2), {"e0": "sum(size)"}, f"({groups}) AS rows", DUCKDB, by_group=True)
    ((_, rows),) = CONNECTION.execute(sql).fetchall()
    assert rows * rows * q <= squared * FULL * FULL
    largest = min(FULL, math.isqrt(squared * FULL * FULL // q))
    assert largest - 3 <= rows <= largest
    assert rows == FULL or q > squared
    pairs = Step("pairs", f"SELECT u, g, size AS n_e0 FROM ({groups}) AS sizes")
    assert weighed(limit.ball(2), pairs) == [(1, g, rows) for g in range(len(n))]


def weighed(ball: Ball, pairs: Step) -> list[tuple[int, int, int]]:
    """u, g, e0, by the statement that is printed for pairs of a unit and a group."""
    steps = [pairs, *ball_sql.weighed_pairs(ball, {"e0": "n_e0"}, DUCKDB)]
    named = ", ".join(f"{step.name} AS ({step.select})" for step in steps)
    return CONNECTION.execute(f"WITH {named} SELECT u, g, e0 FROM weighed ORDER BY u, g").fetchall()


@pytest.mark.parametrize("norm", [1, 2])
def test_pairs_are_weighed_as_rows_are(norm: Norm) -> None:
    """Units over the limit beside those within it, each in one to three groups."""
    rows = "SELECT u, g FROM range(60) AS i(u), range(3) AS j(g), range(20) AS k(n) WHERE n < u * (g + 1) % 7 AND g <= u % 3"
    limit = radius("rows", 4).ball(norm)
    by_rows = ball_sql.weights(limit, {"e0": "count(*)"}, f"({rows}) AS rows", DUCKDB, by_group=True)
    expected = CONNECTION.execute(
        f"SELECT DISTINCT u, g, e0 FROM ({rows}) JOIN ({by_rows}) USING (u) ORDER BY u, g"
    ).fetchall()
    pairs = Step("pairs", f"SELECT u, g, count(*) AS n_e0 FROM ({rows}) AS rows GROUP BY u, g")
    assert weighed(limit, pairs) == expected and len({e for _, _, e in expected}) > 3


# --- reaches and noise grids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "epsilon", "scale"), [(64, "0.8", 83886080), (4, "0.9", 4660338), (16, "0.08", 209715200)]
)
def test_scales(most: int, epsilon: str, scale: int) -> None:
    """A7: Δ = T·2^20."""
    assert math.ceil(radius("rows", most).ball(1).reach(1) / Fraction(epsilon)) == scale


def test_reaches_of_balls() -> None:
    assert radius("rows", 6, 12).ball(2).reach(7) == math.isqrt(12 * (7 * FULL) ** 2) + 1
    assert radius("rows", 6, 9).ball(2).reach(7) == 3 * 7 * FULL
    assert radius("rows", 6, 9).ball(1).reach(7) == 6 * 7 * FULL
    assert radius("rows", 2**50).ball(1).reach(1) == 2**60


@pytest.mark.parametrize(
    ("reach", "cells", "shift", "expected"),
    [(2**20, 200, 4, 65723), (12345678, 20, 7, 96470), (1000, 1, 3, 125), (524287 + 5242, 200, 20, 200), (7, 9, 0, 7)],
)
def test_rounded_reaches(reach: int, cells: int, shift: int, expected: int) -> None:
    """A8, and the case in which 200 groups move by a step each where ⌈Δ/2^k⌉ says one."""
    assert sensitivity.rounded_reach(reach, cells, shift, 1) == expected


def rounded(x: int, shift: int) -> int:
    return (x + 2 ** (shift - 1)) // 2**shift if shift else x


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_rounded_reach_in_norm_1_is_the_largest_there_is(cells: int, shift: int) -> None:
    """Brute force over all totals and all ways to share out a change."""
    step = 2**shift
    worst = [max(abs(rounded(x + a, shift) - rounded(x, shift)) for x in range(-step, step)) for a in range(40)]

    def largest_of(left: int, more: int) -> int:
        return max(worst[a] + largest_of(left - a, more - 1) for a in range(left + 1)) if more else 0

    for reach in range(1, 21):
        largest = largest_of(reach, cells)
        claimed = sensitivity.rounded_reach(reach, cells, shift, 1)
        assert largest <= claimed
        assert largest == claimed or reach < cells


@pytest.mark.parametrize("shift", [0, 1, 2])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_rounded_reach_in_norm_2_is_never_too_small(cells: int, shift: int) -> None:
    step = 2**shift
    worst = [max(abs(rounded(x + a, shift) - rounded(x, shift)) for x in range(-step, step)) for a in range(40)]

    def largest(left: int, more: int) -> int:
        if not more:
            return 0
        return max(worst[a] ** 2 + largest(left - a * a, more - 1) for a in range(math.isqrt(left) + 1))

    for reach in range(1, 13):
        assert largest(reach * reach, cells) <= sensitivity.rounded_reach(reach, cells, shift, 2) ** 2


@pytest.mark.parametrize("shift", [0, 1, 5, 20, 40])
def test_totals_are_rounded_half_up_and_held_within_62_bits(shift: int) -> None:
    values = [
        0,
        1,
        -1,
        2**shift,
        -(2**shift),
        2**shift // 2,
        -(2**shift) // 2,
        2**100,
        -(2**100),
        2**62,
        -(2**62),
        77,
        -77,
    ]
    draw = Draw(mechanism="laplace", shift=shift)
    for value in (*values, None):
        text = "NULL" if value is None else f"CAST('{value}' AS HUGEINT)"
        ((rows,),) = CONNECTION.execute(f"SELECT {on_noise_grid(text, draw, DUCKDB)}").fetchall()
        held = max(min(value or 0, 2 ** (62 + shift)), -(2 ** (62 + shift)))
        assert rows == rounded(held, shift), (value, shift)


# --- ends -------------------------------------------------------------------------------------------------------------


def moments(axis: Axis, degree: int, form: Form, norm: Norm = 1) -> Noised:
    fields = [Field(100 + n, "", REAL) for n in range(6)]
    one = RowMoments(
        name="m",
        axis=axis,
        degree=degree,
        count=Number(real=fields[0], whole=fields[1]),
        total=Number(real=fields[2], whole=fields[3]),
        first=fields[4],
        second=fields[5] if degree == 2 else None,
    )
    return Noised(measurement=one, form=form, draws=(Draw(mechanism="laplace", norm=norm),) * (degree + 1))


def by_definition(weighed: Sequence[tuple[int, int]], half: int, degree: int, form: Form) -> list[int]:
    """The totals of (weight, z): Bernstein's polynomials, or powers, the square less its middle."""
    if form == "centred":
        pieces = [lambda z: 1, lambda z: z, lambda z: 2 * z * z - half * half]
    elif degree == 1:
        pieces = [lambda z: half - z, lambda z: half + z]
    else:
        pieces = [lambda z: (half - z) ** 2, lambda z: 2 * (half**2 - z * z), lambda z: (half + z) ** 2]
    return [sum(w * piece(z) for w, z in weighed) for piece in pieces[: degree + 1]]


AXES = [(0, 1), (-3, 5), (2, 2), (-4, -1)]


@pytest.mark.parametrize("form", ["ends", "centred"])
@pytest.mark.parametrize("degree", [1, 2])
@given(data=st.data())
def test_totals_of_moments_say_what_they_should(form: Form, degree: int, data: st.DataObject) -> None:
    """Count, sum, centred sum and centred squares, back from the totals, as fractions."""
    low, high = data.draw(st.sampled_from([*AXES, (-(2**29), 2**29)]))
    step = data.draw(st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(8)]))
    axis = Axis(arg=X.arg, step=step, low=low, high=high)
    rows = data.draw(st.lists(st.tuples(st.integers(0, FULL), st.integers(low, high)), max_size=6))
    totals = by_definition([(w, 2 * x - low - high) for w, x in rows], axis.most_centred, degree, form)
    actual = [
        sum((term.factor * totals[term.total] for term in answer.terms), Fraction(0)) * FULL
        for answer in answers(moments(axis, degree, form))
    ]
    centred = [(w, (x - Fraction(low + high, 2)) * step) for w, x in rows]
    expected = [sum(w for w, _ in rows), sum(w * x * step for w, x in rows), sum(w * z for w, z in centred)]
    if degree == 2:
        middle = Fraction(axis.most_centred**2, 2) * step**2 / 4
        expected.append(sum(w * (z * z - middle) for w, z in centred))
    assert actual == expected


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("low", "high"), AXES)
def test_ends_pay_once(low: int, high: int, degree: int) -> None:
    """Brute force: every unit of at most three rows, in one group and in as many as it has rows. Also tight."""
    axis = Axis(arg=X.arg, step=Fraction(1), low=low, high=high)
    one = moments(axis, degree, "ends").measurement
    largest = 0
    for most in (1, 2):
        limit = Limit(rows=radius("rows", most), groups=radius("groups", most))
        reach, *others = sensitivity.reaches(one, "ends", limit, 1)
        assert others == [reach] * degree
        for count in (1, 2, 3):
            w = min(FULL, most * FULL // count)
            for rows in _multisets(range(low, high + 1), count):
                weighed = [(w, 2 * x - low - high) for x in rows]
                together = sum(map(abs, by_definition(weighed, axis.most_centred, degree, "ends")))
                apart = sum(sum(map(abs, by_definition([each], axis.most_centred, degree, "ends"))) for each in weighed)
                assert together <= apart <= reach
                largest = max(largest, apart * 2 // most)
        assert largest * most == reach * 2


@pytest.mark.parametrize("norm", [1, 2])
def test_centred_pieces_are_within_their_powers(norm: Norm) -> None:
    axis = Axis(arg=X.arg, step=Fraction(1), low=-3, high=5)
    limit = Limit(rows=radius("rows", 2), groups=radius("groups", 2))
    one = moments(axis, 2, "centred").measurement
    pieces = [by_definition([(FULL, 2 * x - 2)], 8, 2, "centred") for x in range(-3, 6)]
    largest = [max(abs(piece[k]) for piece in pieces) for k in range(3)]
    assert sensitivity.reaches(one, "centred", limit, norm) == tuple(2 * most for most in largest)
    with pytest.raises(ValueError, match="norm 1"):
        sensitivity.reaches(one, "ends", limit, 2)


@pytest.mark.parametrize("form", ["ends", "centred"])
@pytest.mark.parametrize(
    ("low", "high", "degree"), [(-3, 5, 1), (-3, 5, 2), (-(2**61), 2**61 - 1, 1), (-(2**29), 2**29, 2)]
)
def test_the_printed_totals_of_moments(low: int, high: int, degree: int, form: Form) -> None:
    axis = Axis(arg=X.arg, step=Fraction(1), low=low, high=high)
    noised = moments(axis, degree, form)
    middle = low + high
    zs = [2 * x - middle for x in (low, low + 1, high, high, high - 2)]
    rows: list[Given] = [(1, 0, z, True) for z in zs] + [(2, 0, zs[0], True), (2, 0, None, True), (3, 1, None, True)]
    made = printer([noised.measurement], radii(2), 1, exact=True)
    made.stage.noised[:] = [noised]
    shown = totals(rows, printed(row_totals.of_rows(made, [(0, noised.measurement)], 1)))
    weighed = [(2 * FULL // 5, z) for z in zs] + [(FULL, zs[0])]
    assert [shown[0, k] for k in range(degree + 1)] == by_definition(weighed, axis.most_centred, degree, form)
    assert {cell: m for cell, m in shown.items() if cell[0] == 1} == ({} if form == "ends" else {(1, 0): 0})


def _multisets(values: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    if not count:
        yield ()
        return
    for rest in _multisets(values, count - 1):
        yield from ((*rest, value) for value in values if not rest or value >= rest[-1])
