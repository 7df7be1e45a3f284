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
        squares = (f"{dialect.sum(f'n_{name} * n_{name}')} AS q_{name}" for name in counts)
    else:
        spread = source
        squares = (f"{dialect.wide(count)} AS q_{name}" for name, count in counts.items())
    inner = f"SELECT u, {', '.join(squares)} FROM {spread} GROUP BY u"
    proposed = ", ".join(f"q_{name}, {_proposal(ball, f'q_{name}', dialect)} AS r_{name}" for name in counts)
    columns = (f"{_norm_2(ball, f'q_{name}', f'r_{name}', dialect)} AS {name}" for name in counts)
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
    few, many = (
        word.join(f"n_{name} {sign} {most}" for name in counts) for word, sign in ((" AND ", "<="), (" OR ", ">"))
    )
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
    n_g², which is only added up where n > ⌊√R⌋: else it is not asked for.
    """
    names = [*counts]
    whole = ", ".join(f"{dialect.narrow(f'sum({n}) OVER (PARTITION BY u)')} AS t_{name}" for name, n in counts.items())
    counted = Step("counted", f"SELECT *, {whole} FROM pairs")
    if ball.norm == 1:
        shown = ", ".join(f"{unit_weight(ball, f't_{name}', dialect)} AS {name}" for name in names)
        return counted, Step("weighed", f"SELECT *, {shown} FROM counted")
    most = dialect.integer(math.isqrt(ball.squared))
    squares = []
    for name, n in counts.items():
        square = f"{dialect.wide(n)} * {dialect.wide(n)}"
        summed = f"sum(CASE WHEN t_{name} > {most} THEN {square} END) OVER (PARTITION BY u)"
        squares.append(f"{dialect.wide(summed)} AS q_{name}")
    proposed = ", ".join(f"{_proposal(ball, f'q_{name}', dialect)} AS r_{name}" for name in names)
    shown = ", ".join(
        f"CASE WHEN t_{name} <= {most} THEN {dialect.integer(FULL)} ELSE {_norm_2(ball, f'q_{name}', f'r_{name}', dialect)} "
        f"END AS {name}"
        for name in names
    )
    return (
        counted,
        Step("squares", f"SELECT *, {', '.join(squares)} FROM counted"),
        Step("proposed", f"SELECT *, {proposed} FROM squares"),
        Step("weighed", f"SELECT *, {shown} FROM proposed"),
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
