"""Weights: what limits a unit, printed as constants and integer arithmetic. The lemmas are in plan/balls.py."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsql.plan.balls import FULL, Ball
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.vault_query import Step

Counts = Mapping[str, str]  # a weight's name → how many of the unit's rows (or groups) it is shared by


def weights(ball: Ball, counts: Counts, source: str, dialect: Dialect, *, by_group: bool, group: str = "g") -> str:
    """SELECT u and a weight for each count, one row a unit. by_group: rows of `source` lie in groups (`group`: the columns
    that tell them apart), and norm 2 weighs by how they are spread over them; else every row is one group."""
    if ball.norm == 1:
        columns = (f"{unit_weight(ball, count, dialect)} AS {name}" for name, count in counts.items())
        return f"SELECT u, {', '.join(columns)} FROM {source} GROUP BY u"
    if by_group:
        parts = (f"{dialect.wide(count)} AS n_{name}" for name, count in counts.items())
        spread = f"(SELECT u, {', '.join(parts)} FROM {source} GROUP BY u, {group}) AS spread"
        return _of_spread(ball, list(counts), spread, dialect)
    squares = {name: dialect.wide(count) for name, count in counts.items()}
    return _of_squares(ball, squares, source, dialect)


def _of_spread(ball: Ball, names: list[str], spread: str, dialect: Dialect) -> str:
    """Norm 2, of a relation with n_<name>, wide: how many rows a unit has in a group."""
    return _of_squares(ball, {name: dialect.sum(f"n_{name} * n_{name}") for name in names}, spread, dialect)


def _of_squares(ball: Ball, squares: Counts, source: str, dialect: Dialect) -> str:
    """squares: aggregates of a unit's rows of `source`, the q of each weight."""
    inner = f"SELECT u, {', '.join(f'{q} AS q_{name}' for name, q in squares.items())} FROM {source} GROUP BY u"
    proposed = ", ".join(f"q_{name}, {_proposal(ball, f'q_{name}', dialect)} AS r_{name}" for name in squares)
    columns = (f"{_norm_2(ball, f'q_{name}', f'r_{name}', dialect)} AS {name}" for name in squares)
    return f"SELECT u, {', '.join(columns)} FROM (SELECT u, {proposed} FROM ({inner}) AS squares) AS proposed"


def weights_of_rows(ball: Ball, counts: Counts, dialect: Dialect) -> tuple[Step, ...]:
    """Steps that end in `weights`, as `weights` has them of the step `rows`, which lie in groups g.

    In norm 2 few units have so many rows that it matters how they are spread over groups, and only theirs are grouped.
    Lemma: the weights are the same. Proof: n, a unit's rows, are the sum of its n_g ≥ 0 over groups, so q = Σ n_g² ≤ n², and
    q ≤ R where n ≤ ⌊√R⌋: its weight is 2^20. All rows of a unit with a larger n are in the other branch. INNER: a unit that
    is in neither has no weight.
    """
    if ball.norm == 1:
        return (Step("weights", weights(ball, counts, "rows", dialect, by_group=True)),)
    most = dialect.integer(math.isqrt(ball.squared))
    counted = ", ".join(f"{count} AS n_{name}" for name, count in counts.items())
    few, many = _at_most(counts, most), " OR ".join(f"n_{name} > {most}" for name in counts)
    full = ", ".join(f"{dialect.integer(FULL)} AS {name}" for name in counts)
    above = dialect.semi_join("rows", f"(SELECT u FROM counted WHERE {many}) AS above", "rows.u = above.u")
    spread = weights(ball, counts, above, dialect, by_group=True)
    return (
        Step("counted", f"SELECT u, {counted} FROM rows GROUP BY u", stored=True),
        Step("weights", f"SELECT u, {full} FROM counted WHERE {few} UNION ALL {spread}"),
    )


def weighed_pairs(ball: Ball, counts: Counts, dialect: Dialect) -> tuple[Step, ...]:
    """Steps that end in `weighed`: the columns of the step `pairs` (u, g, and columns that `counts` names: how many rows a
    unit has in each group) with the weights that `weights_of_rows` gives. Each step is read once, so nothing need be stored
    to be the same in two places.

    Lemma: the weights are the same. Proof: as there. n is the sum of n_g over all of the unit's pairs, by a window, and q of
    n_g² (`_square_parts`).
    """
    names = [*counts]
    whole = {f"t_{name}": n for name, n in counts.items()}
    if ball.norm == 2:
        whole |= {
            f"s{i}_{name}": part for name, n in counts.items() for i, part in enumerate(_square_parts(n, dialect))
        }
    sums = ", ".join(f"{dialect.narrow(f'sum({n}) OVER (PARTITION BY u)')} AS {name}" for name, n in whole.items())
    counted = Step("counted", f"SELECT *, {sums} FROM pairs")
    if ball.norm == 1:
        shown = ", ".join(f"{unit_weight(ball, f't_{name}', dialect)} AS {name}" for name in names)
        return counted, Step("weighed", f"SELECT *, {shown} FROM counted")
    most = dialect.integer(math.isqrt(ball.squared))
    above = {name: f"CASE WHEN t_{name} > {most} THEN" for name in names}
    squares = ", ".join(f"{above[name]} {_square_sum(name, dialect)} END AS q_{name}" for name in names)
    proposed = ", ".join(f"{above[name]} {_proposal(ball, f'q_{name}', dialect)} END AS r_{name}" for name in names)
    shown = ", ".join(
        f"CASE WHEN t_{name} <= {most} THEN {dialect.integer(FULL)} ELSE {_norm_2(ball, f'q_{name}', f'r_{name}', dialect)} "
        f"END AS {name}"
        for name in names
    )
    return (
        counted,
        Step("squares", f"SELECT *, {squares} FROM counted"),
        Step("proposed", f"SELECT *, {proposed} FROM squares"),
        Step("weighed", f"SELECT *, {shown} FROM proposed"),
    )


def _square_parts(n: str, dialect: Dialect) -> tuple[str, str]:
    """n·b and n·a of a count n = a·2^20 + b, 0 ≤ b < 2^20, whose sums over a unit's pairs a BIGINT holds.

    Lemma: each sum is at most 2^60, and Σ n² = Σ nb + 2^20·Σ na. Proof: the second is n² = nb + 2^20·na, added up. A
    relation has at most 2^40 rows, so Σ n ≤ 2^40. Then Σ nb ≤ 2^20·Σ n ≤ 2^60, and Σ na ≤ Σ n²/2^20 ≤ (Σ n)²/2^20 ≤ 2^60."""
    half = dialect.integer(2**20)
    return f"{n} * ({dialect.remainder(n, half)})", f"{n} * ({dialect.quotient(n, half)})"


def _square_sum(name: str, dialect: Dialect) -> str:
    factor = dialect.wide(dialect.integer(2**20))
    return dialect.wide(f"{dialect.wide(f's0_{name}')} + {dialect.wide(f's1_{name}')} * {factor}")


def _at_most(counts: Counts, most: str) -> str:
    return " AND ".join(f"n_{name} <= {most}" for name in counts)


def shares(ball: Ball, counts: Counts, added: Mapping[str, str], dialect: Dialect) -> tuple[Step, ...]:
    """Steps that end in `shares`: of the step `rows`, which lie in groups g, what is `added` up in a group by units of full
    weight, all in one row, and by each other unit, with the weights (norm 2) beside it.

    In norm 2 few units have so many rows that it matters how they are spread over groups (`weights_of_rows`); here theirs
    are weighed once for each group, and the rows are read as often as in norm 1.
    Lemma: Σ weight·added is Σ w·p with the weights w of `weights`. Proof: of a unit with n ≤ ⌊√R⌋ rows w is 2^20
    (`weights_of_rows`), and the sum of what such units add is weighed by it; h is NULL in their rows alone, since no row's u
    is NULL. Of another unit each row of `spread` with its h is one group, with all its rows of that group: what weights are
    made of, and are multiplied with. INNER: what was not counted is not added.
    """
    few = _at_most(counts, dialect.integer(math.isqrt(ball.squared)))
    counted = ", ".join(f"{count} AS n_{name}" for name, count in counts.items())
    apart = (
        f"SELECT rows.*, CASE WHEN {few} THEN NULL ELSE rows.u END AS h FROM rows JOIN counted ON rows.u = counted.u"
    )
    sums = ", ".join([counted, *(f"{text} AS {name}" for text, name in added.items())])
    wide = ", ".join(f"{dialect.wide(f'n_{name}')} AS n_{name}" for name in counts)
    heavy = f"(SELECT h AS u, {wide} FROM spread WHERE h IS NOT NULL) AS heavy"
    full = [f"{dialect.integer(FULL)} AS {name}" for name in counts]
    each = [", ".join(["g", *weights_, *added.values()]) for weights_ in (full, list(counts))]
    return (
        Step("counted", f"SELECT u, {counted} FROM rows GROUP BY u"),
        Step("spread", f"SELECT g, h, {sums} FROM ({apart}) AS apart GROUP BY g, h", stored=True),
        Step("weights", _of_spread(ball, list(counts), heavy, dialect)),
        Step(
            "shares",
            f"SELECT {each[0]} FROM spread WHERE h IS NULL "
            f"UNION ALL SELECT {each[1]} FROM spread JOIN weights ON spread.h = weights.u",
        ),
    )


def unit_weight(ball: Ball, count: str, dialect: Dialect) -> str:
    """The weight in norm 1 of a unit whose rows (or values) are `count`: at most 2^20, so a BIGINT holds it."""
    most, full = ball.reach(1), dialect.integer(FULL)  # T·2^20
    shared_by = count if count == "count(*)" else f"greatest({count}, {dialect.integer(1)})"
    if ball.per != "values":
        return f"least({full}, {dialect.quotient(dialect.integer(most), shared_by)})"
    shared = dialect.quotient(dialect.wide(dialect.integer(most)), dialect.wide(shared_by), wide=True)
    return dialect.narrow(f"least({dialect.wide(full)}, {shared})")


def _proposal(ball: Ball, q: str, dialect: Dialect) -> str:
    """A double near 2^20·√(R/q), a little below: it only proposes, the integers of `_norm_2` decide."""
    one, full = dialect.real(1.0), dialect.real(float(FULL))
    root = f"sqrt({dialect.real(float(ball.squared))} / greatest({dialect.double(q)}, {one}))"
    return dialect.wide_of_double(f"greatest(floor({full} * {root}) - {one}, {dialect.real(0.0)})")


def _norm_2(ball: Ball, q: str, r: str, dialect: Dialect) -> str:
    squared, limit = dialect.integer(ball.squared), dialect.integer(ball.squared * FULL**2)
    return (
        f"CASE WHEN {q} <= {squared} THEN {dialect.integer(FULL)} "
        f"WHEN {r} * {r} * {q} <= {limit} THEN {dialect.narrow(r)} ELSE {dialect.integer(0)} END"
    )


def weighted(piece: str, weight: str, most: int, dialect: Dialect) -> str:
    """piece·weight in a type that holds it, |piece| ≤ most."""
    return f"{piece} * {weight}" if is_narrow(most) else f"{dialect.wide(piece)} * {weight}"


def is_narrow(most: int) -> bool:
    """Whether a piece, |piece| ≤ most, times a weight is a BIGINT."""
    return most * FULL < 2**62
