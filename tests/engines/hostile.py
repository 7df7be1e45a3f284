"""A table of hostile values of every type, and questions about them."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from tests.engines import battery
from tests.worlds import ASKED, bounded, private, public

DECLARED = {
    "b": "boolean",
    "i": "integer",
    "j": bounded("integer", -(2**52), 2**52),
    "k": {"type": "integer", "keys": {"from": -3, "to": 12}},
    "n": bounded("integer", 1, 9),
    "d": bounded("decimal(4, 2)", -50, 50),
    "e": bounded("decimal(18, 4)", -(10**12), 10**12),
    "f": bounded("decimal(38, 10)", -(10**7), 10**7),
    "w": bounded("decimal(38, 0)", -(10**15), 10**15),
    "o": {"type": "decimal(3, 3)", "keys": [0.499, -0.499, 0, 0.999]},
    "x": bounded("real", -1e6, 1e6),
    "y": "real",
    "t": "text",
    "s": {
        "type": "text",
        "keys": ["a", "A", "a ", " a", "", "Äpfel", "A\u0308pfel", "日本語", "'", "\u212b", "Å", None],
    },
    "dt": bounded("date", "1900-01-01", "2100-12-31"),
    "du": "date",
    "ts": bounded("timestamp", "1969-01-01", "2030-01-01"),
    "tu": "timestamp",
}
NAMES = {"m": public({"word": "text", "number": "integer"})}
WORDS = pa.table({"word": ["a", "A", "日本語", "é", "a\tb", "\\"], "number": [1, 2, 3, 4, 5, 6]})


def table(rows: int = 900) -> pa.Table:
    """The battery's rows under 40 units; of one there are many rows, of some there is none."""
    made = battery.rows(count=rows)
    with duckdb.connect() as connection:
        columns = ", ".join(f"{name} {type_.sql}" for name, type_ in battery.TYPES.items())
        connection.execute(f"CREATE TABLE v (u BIGINT, {columns})")
        marks = ", ".join("?" * (len(battery.TYPES) + 1))
        units = [None if n % 50 == 0 else 7 if n % 3 == 0 else n * n % 41 for n in range(len(made))]
        numbered = [(unit, *map(battery.for_duckdb, row)) for unit, row in zip(units, made, strict=True)]
        connection.executemany(f"INSERT INTO v VALUES ({marks})", numbered)
        return connection.sql(f"SELECT u, {', '.join(DECLARED)} FROM v").to_arrow_table()


def tables(**limits: object) -> dict[str, Any]:
    return {"v": private(DECLARED, **limits), **NAMES}


OPTIONS = {"budget": {"epsilon": 10**9, "delta": 0.5}, "per_query": ASKED}
MEASURED = (
    "COUNT(*), COUNT(y), COUNT(DISTINCT u), COUNT(DISTINCT t), COUNT(DISTINCT y), COUNT(DISTINCT du)",
    "SUM(n), SUM(j), SUM(d), SUM(e), SUM(f), SUM(w), SUM(x)",
    "AVG(x), AVG(f), VAR_SAMP(n), STDDEV_POP(d), COVAR_POP(x, n)",
    "MEDIAN(x), MIN(e), MAX(dt), QUANTILE_DISC(ts, 0.3), MEDIAN(j)",
    "MODE(s), SUM(CASE WHEN y > x THEN n END), COUNT_IF(t < 'b' AND t > 'A')",
    "SUM(GREATEST(LEAST(x * y, 100), -100)), SUM(GREATEST(LEAST(y / x, 100), -100)), SUM(GREATEST(LEAST(y - x, 9), 0))",
    "SUM(LEAST(GREATEST(i % j, -99), 99)), SUM(LEAST(GREATEST(i // n, -99), 99)), COUNT(i * j), COUNT(CAST(y AS BIGINT))",
    "COUNT(dt + INTERVAL 40 DAY), COUNT(tu - INTERVAL 13 MONTH), SUM(LEAST(GREATEST(date_diff('hour', ts, tu), 0), 9))",
)
KEYS = (
    "",
    "k",
    "s",
    "o",
    "t",
    "b",
    "d",
    "n",
    "dt",
    "du",
    "f",
    "date_trunc('month', ts)",
    "k, t",
    "CAST(y AS BIGINT)",
    "round(x, -5)",
)


def questions() -> list[str]:
    asked = [f"SELECT {measured} FROM v" for measured in MEASURED]
    for n, key in enumerate(KEYS[1:]):
        names = ", ".join(f"{part} AS k{i}" for i, part in enumerate(key.split(", ") if key == "k, t" else [key]))
        by = ", ".join(f"k{i}" for i in range(names.count(" AS k")))
        for measured in {MEASURED[0], MEASURED[n % len(MEASURED)], MEASURED[(n + 3) % len(MEASURED)]}:
            asked.append(f"SELECT {names}, {measured} FROM v GROUP BY {by}")
    asked += [
        "SELECT word, COUNT(*), SUM(number) FROM v JOIN m ON v.t = m.word GROUP BY word",
        "SELECT COUNT(*) FROM v WHERE t LIKE 'a%' OR t || s IN ('ab', 'aA', 'Äpfela')",
        "SELECT AVG(LEAST(c, 9)) FROM (SELECT u, COUNT(*) AS c, MAX(y) AS top, FIRST(t ORDER BY tu) AS f FROM v GROUP BY u)",
        "SELECT f, l, COUNT(*) FROM (SELECT u, FIRST(b ORDER BY y, t) FILTER (WHERE n > 0) AS f, LAST(b ORDER BY t, s)"
        " AS l FROM v GROUP BY u) GROUP BY f, l",
        "SELECT SUM(GREATEST(LEAST(f, 9), 0)), COUNT(l) FROM (SELECT u, t, FIRST(x ORDER BY dt) AS f,"
        " LAST(x ORDER BY n) FILTER (WHERE y > x) AS l FROM v GROUP BY u, t)",
        "SELECT SUM(GREATEST(LEAST(m, 9), 0)) FROM (SELECT u, AVG(n) AS m, SUM(w) AS s FROM v GROUP BY u) WHERE s > 0",
        "SELECT COUNT(*) FROM (SELECT row_number() OVER (PARTITION BY u ORDER BY y, t) AS r, y FROM v) WHERE r <= 3",
    ]
    return asked
