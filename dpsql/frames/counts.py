"""value_counts as SQL: the rows of each value, or each one's share of those that are shown."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.frames import sql_literals as words
from dpsql.frames.expressions import END


def grouped_counts(keys: Sequence[tuple[str, str]], relation: str, *, dropna: bool) -> str:
    """keys: (SQL, name)."""
    listed = ", ".join(f"({sql}{END}) AS {words.name(name)}" for sql, name in keys)
    positions = ", ".join(str(position) for position in range(1, len(keys) + 1))
    return f'SELECT {listed}, COUNT(*) AS "count" FROM {relation}{without_null(keys, dropna)} GROUP BY {positions}'


def without_null(keys: Sequence[tuple[str, str]], dropna: bool) -> str:
    """pandas leaves out rows without a key, unless it is told not to."""
    conditions = " AND ".join(f"({sql}{END}) IS NOT NULL" for sql, _ in keys)
    return f" WHERE {conditions}" if dropna and keys else ""


def shown_counts(counted: str, names: Sequence[str], normalize: bool, sort: bool, ascending: bool) -> str:
    """In order. A share is post-processing: its parts are the released counts."""
    keys = ", ".join(words.name(name) for name in names)
    positions = [str(position) for position in range(1, len(names) + 1)]
    order = [f"{len(names) + 1} {'ASC' if ascending else 'DESC'}", *positions] if sort else positions
    if not normalize:
        return f"{counted} ORDER BY {', '.join(order)}"
    share = '"count" / NULLIF(SUM("count") OVER (), 0) AS "proportion"'
    return f"SELECT {keys}, {share} FROM ({counted}) AS counted ORDER BY {', '.join(order)}"
