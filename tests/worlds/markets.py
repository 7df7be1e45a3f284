"""Public tables, a private one beside them, and tables of the user's: for what is passed on to DuckDB as text."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import duckdb
import pandas as pd

from tests.worlds import ASKED, bounded, dataset, keys, private, public

TABLES: dict[str, dict[str, str]] = {
    "towns": {"id": "integer", "name": "text", "kind": "text", "people": "integer", "born": "date"},
    "roads": {"src": "integer", "dest": "integer"},
    "sales": {"day": "date", "town": "integer", "kind": "text", "amount": "decimal(9, 2)", "n": "integer"},
    "wide": {"id": "integer", "jan": "integer", "feb": "integer"},
    "prices": {"seen": "timestamp", "sym": "text", "price": "real"},
    "trades": {"seen": "timestamp", "sym": "text"},
}
VIEWS = {"big_towns": "SELECT id, name FROM towns WHERE people > 100", "private_view": "SELECT * FROM visits"}
MADE = (
    "CREATE TABLE nested AS SELECT [i, i + 1] AS l, {'a': i, 'b': 'x' || i} AS s, MAP {'k': i} AS m, i AS id"
    " FROM range(3) t(i)",
)


def catalog(**more: object) -> dict[str, Any]:
    visits = private(
        {"ward": keys("a", "b", "c"), "age": bounded("integer", 0, 100), "day": "date", "note": "text"},
        max_groups=3,
        max_rows=3,
    )
    tables = {name: public(columns) for name, columns in TABLES.items()}
    return dataset({**tables, "visits": visits}, views=VIEWS, per_query=ASKED, **more)


def source() -> dict[str, pd.DataFrame]:
    days = [date(2024, 1, d) for d in (1, 2, 3, 5)]
    at = [datetime(2024, 1, 1, h) for h in range(6)]
    return {
        "towns": pd.DataFrame(
            {
                "id": [1, 2, 3, 4],
                "name": ["Aa", "Bb", "Cc", None],
                "kind": ["a", "b", "a", "b"],
                "people": pd.array([50, 150, 250, None], dtype="Int64"),
                "born": [date(1900, 1, 1), date(1950, 6, 15), date(2000, 12, 31), None],
            }
        ),
        "roads": pd.DataFrame({"src": [1, 2, 2, 3], "dest": [2, 3, 1, 4]}),
        "sales": pd.DataFrame(
            {
                "day": days * 2,
                "town": [1, 1, 2, 3, 2, 2, 3, 1],
                "kind": list("abababab"),
                "amount": ["1.50", "2.25", "30.00", "4.75", "5.00", "6.10", "70.20", "8.80"],
                "n": [1, 2, 3, 4, 5, 6, 7, 8],
            }
        ),
        "wide": pd.DataFrame({"id": [1, 2], "jan": pd.array([10, None], dtype="Int64"), "feb": [30, 40]}),
        "prices": pd.DataFrame({"seen": at[::2], "sym": ["x", "y", "x"], "price": [1.0, 2.5, 3.25]}),
        "trades": pd.DataFrame({"seen": at[1::2], "sym": ["x", "y", "x"]}),
        "visits": pd.DataFrame(
            {
                "u": [n // 2 for n in range(400)],
                "ward": ["a", "b", "c", "a"] * 100,
                "age": [n % 90 for n in range(400)],
                "day": [date(2024, 1, 1 + n % 5) for n in range(400)],
                "note": [f"secret {n}" for n in range(400)],
            }
        ),
    }


VISITS = {"u": "integer", "ward": "text", "age": "integer", "day": "date", "note": "text"}


def oracle() -> duckdb.DuckDBPyConnection:
    """Plain DuckDB with the same tables, of the types that dpsql's have; the private one, too."""
    types = {"integer": "BIGINT", "text": "VARCHAR", "real": "DOUBLE", "decimal(9, 2)": "DECIMAL(9,2)"}
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    for name, frame in source().items():
        connection.register("given", frame)
        items = ", ".join(
            f"CAST({c} AS {types.get(t, t)}) AS {c}" for c, t in {**TABLES, "visits": VISITS}[name].items()
        )
        connection.execute(f"CREATE TABLE {name} AS SELECT {items} FROM given")
    for view, text in VIEWS.items():
        connection.execute(f"CREATE VIEW {view} AS {text}")
    for statement in MADE:
        connection.execute(statement)
    return connection
