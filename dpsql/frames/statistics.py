"""The statistics a frame knows, as SQL over one column. What SQL does not answer yet is refused by SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words

# by pandas' name: the SQL over a column's expression
COLUMN_STATISTICS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "count": lambda x: f"COUNT({x})",
        "sum": lambda x: f"SUM({x})",
        "mean": lambda x: f"AVG({x})",
        "median": lambda x: f"MEDIAN({x})",
        "min": lambda x: f"MIN({x})",
        "max": lambda x: f"MAX({x})",
        "var": lambda x: f"VAR_SAMP({x})",
        "std": lambda x: f"STDDEV_SAMP({x})",
        "nunique": lambda x: f"COUNT(DISTINCT {x})",
        "mode": lambda x: f"MODE({x})",
    }
)
ROW_STATISTICS = ("count", "size")
DESCRIBED = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")
QUARTILES = {"25%": 0.25, "50%": 0.5, "75%": 0.75}


def statistic(column: str, what: str, *arguments: Any) -> str:
    """SQL of a statistic of a column (an SQL expression); quantile takes the fraction, or several."""
    if what in ("quantile", *QUARTILES):
        fraction = QUARTILES[what] if what in QUARTILES else arguments[0] if arguments else 0.5
        if isinstance(fraction, Iterable) and not isinstance(fraction, str):
            written = f"[{', '.join(words.value(one) for one in fraction)}]"
        else:
            written = words.value(fraction)
        return f"QUANTILE_CONT({column}, {written})"
    if what == "size":
        return "COUNT(*)"
    if what not in COLUMN_STATISTICS:
        known = ", ".join((*COLUMN_STATISTICS, "quantile", "size"))
        raise InterfaceError(f"there is no statistic {what!r}", code=608, fix=f"There are {known}.")
    return COLUMN_STATISTICS[what](column)


def described(columns: Sequence[tuple[str, str]], relation: str) -> str:
    """SQL of every statistic in DESCRIBED of (name, SQL) columns: one line a statistic, one column a column.

    One wide release, turned by post-processing. The five ordered ones are chosen one by one; they are shown in ascending
    order, the median as it is.
    """
    cells = ", ".join(
        f"{statistic(sql, what)} AS c{i}_{j}" for i, (_, sql) in enumerate(columns) for j, what in enumerate(DESCRIBED)
    )
    names = [words.name(name) for name, _ in columns]
    lines = [
        f'SELECT {j} AS line, {words.value(what)} AS "statistic", '
        + ", ".join(f"CAST({_ascending(i, j)} AS DOUBLE) AS {name}" for i, name in enumerate(names))
        + " FROM wide"
        for j, what in enumerate(DESCRIBED)
    ]
    tall = f"WITH wide AS (SELECT {cells} FROM {relation}) {' UNION ALL '.join(lines)}"
    listed = ", ".join(['"statistic"', *names])
    return f"SELECT {listed} FROM ({tall}) AS tall ORDER BY line"


def _ascending(column: int, line: int) -> str:
    """Those below the median held at or below what is above them, those above it the other way round."""
    low, middle, high = (DESCRIBED.index(what) for what in ("min", "50%", "max"))
    if low <= line < middle:
        return f"LEAST({', '.join(f'c{column}_{j}' for j in range(line, middle + 1))})"
    if middle < line <= high:
        return f"GREATEST({', '.join(f'c{column}_{j}' for j in range(middle, line + 1))})"
    return f"c{column}_{line}"
