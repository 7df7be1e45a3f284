"""DuckDB's own answers over tables that are cleaned here, in Python, from the words of design section 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb

from tests.properties.generator.worlds import DAY

EPOCH = date(1970, 1, 1).toordinal()
FIRST, LAST = date(1, 1, 1).toordinal() - EPOCH, date(9999, 12, 31).toordinal() - EPOCH
INFINITE = {"D": 2**31 - 1, "S": 2**63 - 1}
Answer = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]


def cleaned_cell(letter: str, declared: dict[str, Any], cell: Any) -> Any:
    """Declared bounds, no NaN, no infinite moment, no negative zero; dates are days, timestamps microseconds."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if letter in INFINITE:
        if abs(cell) == INFINITE[letter]:
            return None
        unit = 1 if letter == "D" else DAY
        low, high = FIRST * unit, (LAST + 1) * unit - 1
        if "lower" in declared:
            low, high = (date.fromisoformat(declared[end]).toordinal() - EPOCH for end in ("lower", "upper"))
        return min(max(cell, low), high)
    if "lower" in declared:
        return min(max(cell, type(cell)(declared["lower"])), type(cell)(declared["upper"])) + type(cell)(0)
    return cell + 0.0 if isinstance(cell, float) else cell


def duckdb_answer(
    oracle: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] | None = None
) -> Answer | None:
    """DuckDB's answer; None where it has none, or where it turns on NaN, which is NULL for us: then its own answer is
    another one without IEEE arithmetic."""
    answers: list[Answer] = []
    for ieee in (True, False):
        oracle.execute(f"SET ieee_floating_point_ops = {ieee}")
        try:
            answer = oracle.execute(sql, parameters)
            rows = answer.fetchall()
        except duckdb.Error:
            return None
        answers.append(([(c[0], str(c[1])) for c in answer.description or ()], rows))
    return answers[0] if alike(answers[0][1], answers[1][1]) else None


def alike(mine: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> bool:
    """The same rows, in any order; reals to nine digits."""
    return len(mine) == len(theirs) and all(
        all(_same(a, b) for a, b in zip(one, other, strict=True))
        for one, other in zip(sorted(mine, key=_order), sorted(theirs, key=_order), strict=True)
    )


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and math.isnan(theirs):
        return mine is None or (isinstance(mine, float) and math.isnan(mine))
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=1e-5)
    return bool(mine == theirs)


def _order(row: tuple[Any, ...]) -> list[str]:
    return ["None" if v != v else f"{float(v) + 0.0:.5e}" if isinstance(v, float | Decimal) else repr(v) for v in row]
