"""Weights: what limits a unit, printed as constants and integer arithmetic. The lemmas are in plan/balls.py."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.plan.balls import FULL, Ball

Counts = Mapping[str, str]  # a weight's name → how many of the unit's rows (or groups) it is shared by


def weights(ball: Ball, counts: Counts, source: str, *, by_group: bool, group: str = "g") -> str:
    """SELECT u and a weight for each count, one row a unit. by_group: rows of `source` lie in groups (`group`: the columns
    that tell them apart), and norm 2 weighs by how they are spread over them; else every row is one group."""
    if ball.norm == 1:
        columns = (f"{unit_weight(ball, count)} AS {name}" for name, count in counts.items())
        return f"SELECT u, {', '.join(columns)} FROM {source} GROUP BY u"
    if by_group:
        parts = (f"CAST({count} AS HUGEINT) AS n_{name}" for name, count in counts.items())
        spread = f"(SELECT u, {', '.join(parts)} FROM {source} GROUP BY u, {group}) AS spread"
        squares = (f"sum(n_{name} * n_{name}) AS q_{name}" for name in counts)
    else:
        spread = source
        squares = (f"CAST({count} AS HUGEINT) AS q_{name}" for name, count in counts.items())
    inner = f"SELECT u, {', '.join(squares)} FROM {spread} GROUP BY u"
    proposed = ", ".join(f"q_{name}, {_proposal(ball, f'q_{name}')} AS r_{name}" for name in counts)
    columns = (f"{_norm_2(ball, f'q_{name}', f'r_{name}')} AS {name}" for name in counts)
    return f"SELECT u, {', '.join(columns)} FROM (SELECT u, {proposed} FROM ({inner}) AS squares) AS proposed"


def unit_weight(ball: Ball, count: str) -> str:
    """The weight in norm 1 of a unit whose rows (or values) are `count`: at most 2^20, so a BIGINT holds it."""
    most = ball.reach(1)  # T·2^20
    shared = f"{huge(most)} // {count if count == 'count(*)' else f'greatest({count}, 1)'}"
    return f"least({FULL}, {shared})" if ball.per != "values" else f"CAST(least({FULL}, {shared}) AS BIGINT)"


def _proposal(ball: Ball, q: str) -> str:
    """A double near 2^20·√(R/q), a little below: it only proposes, the integers of `_norm_2` decide."""
    root = f"sqrt({ball.squared}e0 / greatest(CAST({q} AS DOUBLE), 1e0))"
    return f"TRY_CAST(greatest(floor({FULL}e0 * {root}) - 1, 0) AS HUGEINT)"


def _norm_2(ball: Ball, q: str, r: str) -> str:
    limit = ball.squared * FULL**2
    return (
        f"CASE WHEN {q} <= {huge(ball.squared)} THEN {FULL} "
        f"WHEN {r} * {r} * {q} <= {huge(limit)} THEN CAST({r} AS BIGINT) ELSE 0 END"
    )


def huge(value: int) -> str:
    """An integer literal of any size."""
    return str(value) if -(2**63) < value < 2**63 else f"CAST('{value}' AS HUGEINT)"


def weighted(piece: str, weight: str, most: int) -> str:
    """piece·weight in a type that holds it, |piece| ≤ most."""
    return f"{piece} * {weight}" if most * FULL < 2**62 else f"CAST({piece} AS HUGEINT) * {weight}"
