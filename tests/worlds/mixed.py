"""A small private table with everything that goes wrong in it, and the catalogs that describe it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tests.cases.reading import read
from tests.worlds import bounded, keys, people

ANSWERED, REFUSED = read("aggregates/answered.sql"), read("aggregates/refused.sql")
KEYS = ["a", "b", "c"]


def table(rows: int = 300, units: int = 12, seed: int = 7) -> pd.DataFrame:
    """x with NULL, NaN, infinities and values far outside; text in two cases; a unit with many rows."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 6, rows)
    x[:8] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, 5e-324, -1e9]
    unit = rng.integers(0, units, rows).astype("float64")
    unit[9:60] = 3
    unit[60] = np.nan
    integer = pd.array(rng.integers(0, 8, rows), dtype="Int64")
    integer[10:14] = pd.NA
    return pd.DataFrame(
        {
            "u": pd.array(unit, dtype="Int64"),
            "k": rng.choice([*KEYS, "d"], rows),
            "s": rng.choice(["v", "w", "V", "", None], rows),
            "x": x,
            "i": integer,
            "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 40, rows), unit="D"),
            "p": rng.integers(0, 900, rows) / 100,
            "free": rng.normal(size=rows),
        }
    )


def catalog(*, max_groups: int = 1000, max_rows: int = 1000, public: bool = True, **more: Any) -> dict[str, Any]:
    columns = {
        "k": keys(*KEYS) if public else "text",
        "s": "text",
        "x": bounded("real", 0, 5),
        "i": bounded("integer", 0, 7),
        "d": bounded("date", "2020-01-01", "2020-02-28"),
        "p": bounded("decimal(9, 2)", 0, 9),
        "free": "real",
    }
    return people(columns, max_groups=max_groups, max_rows=max_rows, **more)


CLEANED = """
    SELECT u, k, s, CASE WHEN NOT isnan(x) THEN greatest(least(x, 5.0), 0.0) END AS x, i, CAST(d AS DATE) AS d,
        CAST(p AS DECIMAL(9, 2)) AS p FROM raw WHERE u IS NOT NULL
"""
