"""Made-up worlds: a catalog, a table full of hostile values, and queries from the grammar dpsql accepts.

Seeded, not hypothesis: the same 20,000 pairs run every time, and what occurred can be counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

TEXTS = ["a", "b", "", "A", "é", "x\x00y", "'; --", "a" * 40, None]
REALS = [0.0, -0.0, 1.5, -2.25, 7.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), 3.999999, None]
INTEGERS = [0, 1, 2, 3, -4, 9, 2**63 - 1, -(2**63), 2**53 + 1, None]
DAYS = ["2020-01-01", "2020-02-29", "2020-03-31", "1969-12-31", "2262-04-11", None]
BOUNDS = [(-3, 7), (2, 5), (-9, -1), (0, 0), (0, 10), (5, 10)]


@dataclass(frozen=True)
class World:
    catalog: dict[str, Any]
    frame: pd.DataFrame
    name: str


def worlds(count: int, seed: int) -> Iterator[World]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield _world(number, rng)


def _world(number: int, rng: np.random.Generator) -> World:
    units, rows = int(rng.integers(2, 26)), int(rng.integers(0, 160))
    heavy = rng.random(rows) < 0.3
    ids: list[Any] = [1 if h else int(rng.integers(1, units + 1)) for h in heavy]
    text_unit = bool(rng.integers(0, 2))
    unit = [None if rng.random() < 0.03 else (f"u{i}" if text_unit else i) for i in ids]
    low, high = BOUNDS[int(rng.integers(0, len(BOUNDS)))]
    row_is_unit = rng.random() < 0.15

    def pick(values: list[Any]) -> list[Any]:
        return [values[int(i)] for i in rng.integers(0, len(values), rows)]

    frame = pd.DataFrame(
        {
            "id": pd.Series(unit, dtype=object if text_unit else "Int64"),
            "k": pd.Series(pick(TEXTS), dtype=object),
            "w": pd.Series(pick(TEXTS), dtype=object),
            "x": pd.Series(pick(REALS), dtype="float64"),
            "n": pd.Series(pick(INTEGERS), dtype="Int64"),
            "m": pd.Series([round(float(v), 2) for v in rng.normal(0, 40, rows)], dtype="float64"),
            "b": pd.Series(pick([True, False, None]), dtype="boolean"),
            "d": pd.Series(pd.to_datetime(pick(DAYS)).astype("datetime64[us]")),
        }
    )
    nullable = bool(rng.integers(0, 2))
    table: dict[str, Any] = {
        "columns": {
            "id": "text" if text_unit else "integer",
            "k": {"type": "text", "keys": ["a", "b", "é", "zz"][: int(rng.integers(1, 5))]},
            "w": "text",
            "x": {"type": "real", "lower": low, "upper": high, "nullable": nullable},
            "n": {"type": "integer", "lower": low, "upper": high},
            "m": {"type": "decimal(9, 2)", "lower": low, "upper": high},
            "b": "boolean",
            "d": {"type": "date", "lower": "2020-01-01", "upper": "2020-03-31"},
        }
    }
    if row_is_unit:
        table["row_is_unit"] = True
    else:
        table |= {"unit": "id", "max_groups": int(rng.integers(1, 5)), "max_rows": int(rng.integers(1, 5))}
    catalog = {
        "dataset": f"world {number}",
        "unit": "person",
        "budget": {"epsilon": 10**6, "delta": 0.5},
        "per_query": {"epsilon": 1, "delta": 1e-6},
        "tables": {"t": table},
    }
    return World(catalog, frame, f"world {number}")


KEYS = [
    "",
    "k",
    "b",
    "w",
    "k, b",
    "k, w",
    "n",
    "date_trunc('month', d)",
    "CASE WHEN n < 3 THEN 'low' WHEN n < 8 THEN 'mid' END",
    "FLOOR(x / 2)",
    "EXTRACT(month FROM d)",
    "LEFT(k, 1)",
    "n % 3",
    "UPPER(k)",
    "d",
    "COALESCE(b, FALSE)",
    "m",
]
MEASURED = [
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(w)",
    "COUNT(DISTINCT id)",
    "SUM(x)",
    "SUM(n)",
    "SUM(m)",
    "AVG(x)",
    "AVG(n)",
    "AVG(m)",
    "SUM(x * n)",
    "AVG(ABS(n) + 1)",
    "SUM(LEAST(GREATEST(m, -1), 1))",
    "SUM(CASE WHEN b THEN n ELSE 2 END)",
    "COUNT(*) FILTER (WHERE x > 1)",
    "SUM(n) FILTER (WHERE k = 'a')",
    "AVG(x) FILTER (WHERE w IS NOT NULL)",
    "SUM(COALESCE(x, 1))",
    "SUM(NULLIF(n, 3))",
    "SUM(ROUND(x, 1))",
    "SUM(CAST(b AS INTEGER))",
    "AVG(x / 3)",
    "COUNT(NULLIF(k, 'a'))",
]
WHERE = [
    "",
    "x > 1",
    "n BETWEEN 1 AND 4",
    "k IN ('a', 'b')",
    "w LIKE 'a%'",
    "b",
    "d >= DATE '2020-02-01'",
    "NOT (n = 3) OR x IS NULL",
    "LOWER(w) <> 'a'",
    "TRY_CAST(w AS INTEGER) IS NULL AND n > 0",
    "n IS NOT NULL AND m < 2",
    "false",
]


def queries(count: int, rng: np.random.Generator) -> Iterator[str]:
    for _ in range(count):
        yield _query(rng)


def _query(rng: np.random.Generator) -> str:
    keys, where = str(rng.choice(KEYS)), str(rng.choice(WHERE))
    measured = [str(m) for m in rng.choice(MEASURED, int(rng.integers(1, 4)), replace=False)]
    mechanism = str(rng.choice(["laplace", "gaussian", "auto"]))
    caps = (
        ""
        if rng.random() < 0.6
        else f", max_groups_contributed={rng.integers(1, 4)}, max_rows_per_group={rng.integers(1, 4)}"
    )
    head = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{mechanism}'{caps})"
    named = [f"{key} AS g{i}" for i, key in enumerate(_split(keys))]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(named)))}" if named else ""
    filtered = f" WHERE {where}" if where else ""
    return f"{head} {', '.join(named + measured)} FROM t{filtered}{group}"


def _split(keys: str) -> list[str]:
    return [] if not keys else [keys] if "(" in keys or "CASE" in keys else keys.split(", ")


def plain(sql: str) -> str:
    """The query without its privacy clause: what DuckDB itself can run."""
    head, _, rest = sql.partition("OPTIONS(")
    depth, position = 1, 0
    while depth:
        depth += {"(": 1, ")": -1}.get(rest[position], 0)
        position += 1
    return f"SELECT{rest[position:]}"
