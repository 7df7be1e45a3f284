"""corr() and cov() of a whole frame: every pair of columns, in one query."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.frames import sql_literals as words


def matrix(function: str, columns: Sequence[str], relation: str) -> str:
    """SQL of one line and one column for each column. One wide release, turned by post-processing; a pair is measured
    once, and a column's correlation with itself is 1 and asks nothing."""
    names = [words.name(column) for column in columns]
    pairs = [(i, j) for i in range(len(names)) for j in range(i, len(names)) if i < j or function != "CORR"]
    cells = ", ".join(f"{function}({names[i]}, {names[j]}) AS c{i}_{j}" for i, j in pairs)
    if not cells:
        cells = "COUNT(*) AS c"  # of one column alone
    lines = [
        f'SELECT {i} AS line, {words.value(column)} AS "column", '
        + ", ".join(f"{_cell(function, i, j)} AS {name}" for j, name in enumerate(names))
        + " FROM wide"
        for i, column in enumerate(columns)
    ]
    listed = ", ".join(['"column"', *names])
    tall = f"WITH wide AS (SELECT {cells} FROM {relation}) {' UNION ALL '.join(lines)}"
    return f"SELECT {listed} FROM ({tall}) AS tall ORDER BY line"


def _cell(function: str, i: int, j: int) -> str:
    if i == j and function == "CORR":
        return "1.0"
    return f"c{min(i, j)}_{max(i, j)}"
