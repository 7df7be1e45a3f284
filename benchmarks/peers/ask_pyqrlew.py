"""pyqrlew: it rewrites SQL for PostgreSQL, and DuckDB runs what it wrote (as it runs dpsql's own)."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping

import duckdb
import sqlalchemy
from pyqrlew import Dataset, Dialect

from benchmarks.peers.child import Answer, Task, serve

SCALARS = {"count": "COUNT(*)", "sum": "SUM(amount)", "average": "AVG(amount)", "variance": "VARIANCE(amount)"}
KEYS = "SELECT category FROM orders GROUP BY category"
MOST_KEYS = 127  # of 128 public texts it makes an interval, and of them private keys
BY_KEY = "SELECT category, COUNT(*) AS n FROM orders GROUP BY category"


def dataset(task: Task, *, public: bool) -> Dataset:
    """What it reads from a database, here from an empty table, with the number of rows: it takes that for public."""
    empty = sqlalchemy.create_engine("sqlite://")
    with empty.begin() as connection:
        category = "TEXT" if public else "INTEGER"  # it takes public values of texts alone
        connection.execute(sqlalchemy.text(f"CREATE TABLE orders (person INTEGER, category {category}, amount FLOAT)"))
    read = Dataset.from_database("peers", empty)
    size = json.loads(read.size or "{}")
    size["statistics"]["union"]["fields"][0]["statistics"]["struct"]["size"] = str(task.rows)
    about = {"uuid": json.loads(read.schema)["dataset"], "name": "peers", "properties": {}}
    transformed = {"spec": {"transformed": {"transform": "none"}}}
    known = Dataset.from_str(json.dumps({**about, **transformed}), read.schema, json.dumps(size))
    bounded = known.with_range(None, "orders", "amount", 0.0, task.high)
    if not public:
        return bounded
    return bounded.with_possible_values(None, "orders", "category", [str(key) for key in range(1, task.keys + 1)])


def rewritten(task: Task, known: Dataset, sql: str) -> str:
    private = known.relation(sql).rewrite_with_differential_privacy(
        known,
        [("orders", [], "person")],
        {"epsilon": task.epsilon, "delta": task.delta},
        max_multiplicity=float(task.cap or 1),
        max_multiplicity_share=1.0,
        max_privacy_unit_groups=task.cap,
    )
    return private.relation().to_query(Dialect.PostgreSql)


def connect(task: Task, *, public: bool) -> duckdb.DuckDBPyConnection:
    category = "CAST(category AS VARCHAR)" if public else "category"
    connection = duckdb.connect()
    view = f"SELECT person, {category} AS category, amount FROM '{task.file}'"
    connection.execute(f"CREATE VIEW orders AS {view}")
    return connection


def accuracy(task: Task) -> Mapping[str, Callable[[], Answer] | str]:
    """Each run asks the rewritten SQL again: its noise is the database's RANDOM()."""
    private, public = connect(task, public=False), connect(task, public=True)
    secret, known = dataset(task, public=False), dataset(task, public=True)
    too_many = f"it turns more than {MOST_KEYS} public values into private keys"

    def scalar(what: str) -> Callable[[], Answer]:
        sql = rewritten(task, secret, f"SELECT {what} AS n FROM orders")
        return lambda: Answer(float(private.execute(sql).fetchall()[0][0]))

    def by_key(connection: duckdb.DuckDBPyConnection, about: Dataset) -> Callable[[], Answer]:
        sql = rewritten(task, about, BY_KEY)
        return lambda: Answer({int(key): float(count) for key, count in connection.execute(sql).fetchall()})

    def keys() -> Callable[[], Answer]:
        sql = rewritten(task, secret, KEYS)
        return lambda: Answer({int(key): 0.0 for (key,) in private.execute(sql).fetchall()})

    return {
        **{question: scalar(what) for question, what in SCALARS.items()},
        "median": "not among the functions that it rewrites",
        "public keys": by_key(public, known) if task.keys <= MOST_KEYS else too_many,
        "private keys": by_key(private, secret),
        "keys alone": keys(),
    }


def speed(task: Task) -> Generator[str, None, int]:
    known, connection = dataset(task, public=False), connect(task, public=False)
    yield "open"
    sql = "SELECT category, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY category"
    written = rewritten(task, known, sql)
    yield "plan"
    rows = connection.execute(written).fetchall()
    yield "run"
    return len(rows)


if __name__ == "__main__":
    serve(accuracy, speed)
