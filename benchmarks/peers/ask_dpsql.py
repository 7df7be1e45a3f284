"""dpsql: with the cap of the task, or with nothing declared but the bounds of amounts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

import dpsql
from benchmarks.peers.child import Answer, Task, serve

SCALARS = {
    "count": "COUNT(*)",
    "sum": "SUM(amount)",
    "average": "AVG(amount)",
    "variance": "VAR_POP(amount)",
    "median": "MEDIAN(amount)",
}
BY_KEY = "SELECT category, COUNT(*) AS n FROM orders GROUP BY category"
KEYS = "SELECT category FROM orders GROUP BY category"


def connect(task: Task, *, public: bool) -> dpsql.Connection:
    keys = {"type": "integer", "lower": 1, "upper": task.keys, "nullable": False} if public else "integer"
    amount = {"type": "real", "lower": 0, "upper": task.high, "nullable": False}
    table = {"unit": "person", "columns": {"person": "integer", "category": keys, "amount": amount}}
    catalog = {
        "dataset": "peers",
        "unit": "person",
        "budget": {"epsilon": 1_000_000, "delta": 0.5},
        "tables": {"orders": table if task.cap is None else {**table, "rows_per_unit": task.cap}},
    }
    connection = dpsql.connect(catalog, source={"orders": task.file}, epsilon=task.epsilon, delta=task.delta)
    connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
    return connection


def accuracy(task: Task) -> Mapping[str, Callable[[], Answer] | str]:
    public, private = connect(task, public=True), connect(task, public=False)

    def scalar(what: str) -> Answer:
        cursor = public.execute(f"SELECT {what} AS n FROM orders")
        row = cursor.fetchone()
        assert row is not None and cursor.privacy is not None
        return Answer(float(row[0]), cursor.privacy.intervals.get("n"))

    def by_key(connection: dpsql.Connection) -> Answer:
        cursor = connection.execute(BY_KEY)
        counts = {int(key): float(count) for key, count in cursor.fetchall()}
        assert cursor.privacy is not None
        return Answer(counts, cursor.privacy.intervals.get("n"))

    def keys() -> Answer:
        return Answer(dict.fromkeys((int(key) for (key,) in private.execute(KEYS).fetchall()), 0.0))

    scalars = {question: (lambda what=what: scalar(what)) for question, what in SCALARS.items()}
    by = {"public keys": lambda: by_key(public), "private keys": lambda: by_key(private)}
    return {**scalars, **by, "keys alone": keys}


def speed(task: Task) -> Generator[str, None, int]:
    connection = connect(task, public=False)
    sql = "SELECT category, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY category"
    yield "open"
    connection.explain(sql)
    yield "plan"
    rows = connection.execute(sql).fetchall()
    yield "run"
    return len(rows)


if __name__ == "__main__":
    serve(accuracy, speed)
