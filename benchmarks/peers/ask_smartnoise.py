"""smartnoise-sql over a pandas frame, which it copies into SQLite. Its ε is each measured column's: it is given a share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

import pandas as pd
from snsql import Privacy, from_connection

from benchmarks.peers.child import LEVEL, Answer, Task, serve

SCALARS = {"count": "COUNT(*)", "sum": "SUM(amount)", "average": "AVG(amount)", "variance": "VAR(amount)"}
BY_KEY = "SELECT category, COUNT(*) AS n FROM s.orders GROUP BY category"
KEYS = "SELECT category FROM s.orders GROUP BY category"


def metadata(task: Task, *, public: bool) -> dict[str, object]:
    """Public keys: all that occur are shown, which is no secret where all are public (and here all occur)."""
    columns = {
        "person": {"type": "int", "private_id": True},
        "category": {"type": "int"},
        "amount": {"type": "float", "lower": 0.0, "upper": task.high, "nullable": False},
    }
    table = {"max_ids": task.cap, "censor_dims": not public, "clamp_counts": False, **columns}
    return {"": {"s": {"orders": table}}}


def reader(task: Task, frame: pd.DataFrame, sql: str, *, public: bool) -> Any:
    """One whose ε adds up to the task's over the columns that the query measures."""
    rows = metadata(task, public=public)
    columns = from_connection(frame.head(0), privacy=Privacy(epsilon=1.0, delta=task.delta), metadata=rows)
    measured = sum(cost is not None for cost in columns._get_mechanism_costs(sql))
    privacy = Privacy(epsilon=task.epsilon / measured, delta=task.delta)
    return from_connection(frame, privacy=privacy, metadata=rows)


def accuracy(task: Task) -> Mapping[str, Callable[[], Answer] | str]:
    frame = pd.read_parquet(task.file)

    def scalar(what: str) -> Callable[[], Answer]:
        sql = f"SELECT {what} AS n FROM s.orders"
        asked = reader(task, frame, sql, public=True)
        within = asked.get_simple_accuracy(sql, 1 - LEVEL)[0]
        return lambda: Answer(float(asked.execute(sql)[1][0]), within)

    def by_key(public: bool) -> Callable[[], Answer]:
        asked = reader(task, frame, BY_KEY, public=public)
        within = asked.get_simple_accuracy(BY_KEY, 1 - LEVEL)[1]
        return lambda: Answer({int(key): float(count) for key, count in asked.execute(BY_KEY)[1:]}, within)

    def keys() -> Callable[[], Answer]:
        asked = reader(task, frame, KEYS, public=False)
        return lambda: Answer({int(row[0]): 0.0 for row in asked.execute(KEYS)[1:]})

    return {
        **{question: scalar(what) for question, what in SCALARS.items()},
        "median": "its SQL has no median",
        "public keys": by_key(True),
        "private keys": by_key(False),
        "keys alone": keys(),
    }


def speed(task: Task) -> Generator[str, None, int]:
    sql = "SELECT category, COUNT(*) AS n, SUM(amount) AS s FROM s.orders GROUP BY category"
    asked = reader(task, pd.read_parquet(task.file), sql, public=False)
    yield "open"
    asked.get_privacy_cost(sql)
    yield "plan"
    rows = asked.execute(sql)
    yield "run"
    return len(rows) - 1  # the first one has the names


if __name__ == "__main__":
    serve(accuracy, speed)
