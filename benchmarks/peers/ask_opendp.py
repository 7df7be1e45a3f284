"""OpenDP with Polars: rows of a person are truncated to the cap, bounds are given, and how many rows and groups there may
be at most, which sums of floats need. What a query becomes is searched for once and asked again in each run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

import opendp.prelude as dp
import polars as pl

from benchmarks.peers.child import LEVEL, Answer, Task, serve

NO_VARIANCE = "its Polars has no variance, and no powers to build one from"


def query(task: Task, *, delta: float | None = None) -> Any:
    context = dp.Context.compositor(
        data=pl.scan_parquet(task.file),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=task.epsilon, delta=delta),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=(), max_length=2 * task.rows),
            dp.polars.Margin(by=("category",), max_groups=task.keys),
        ],
    )
    return context.query().truncate_per_group(task.cap)


def amount(task: Task) -> Any:
    return pl.col("amount").fill_nan(0.0).fill_null(0.0).dp


def intervals(asked: Any) -> float | None:
    """Of answers that are made of several measurements it says nothing."""
    widths = asked.summarize(alpha=1 - LEVEL)["accuracy"]
    return widths[0] if len(widths) == 1 else None


def accuracy(task: Task) -> Mapping[str, Callable[[], Answer] | str]:
    bounds = (0.0, task.high)
    candidates = [step * task.high / 5000 for step in range(5001)]
    keys = pl.LazyFrame({"category": range(1, task.keys + 1)}, schema_overrides={"category": pl.Int64})
    count = dp.len(signed=True)

    def scalar(what: Any) -> Callable[[], Answer]:
        asked = query(task).select(what.alias("n"))
        within, ask = intervals(asked), asked.resolve()
        return lambda: Answer(float(ask(pl.scan_parquet(task.file)).collect()["n"][0]), within)

    def by_key(asked: Any) -> Callable[[], Answer]:
        within, ask = intervals(asked), asked.resolve()

        def once() -> Answer:
            released = ask(pl.scan_parquet(task.file)).collect()
            return Answer(dict(released.select("category", "n").iter_rows()), within)

        return once

    def counts(delta: float | None = None) -> Any:
        return query(task, delta=delta).group_by("category").agg(count.alias("n"))

    return {
        "count": scalar(count),
        "sum": scalar(amount(task).sum(bounds)),
        "average": scalar(amount(task).mean(bounds)),
        "variance": NO_VARIANCE,
        "median": scalar(amount(task).median(candidates)),
        "public keys": by_key(counts().with_keys(keys)),
        "private keys": by_key(counts(task.delta)),
        "keys alone": "it releases private keys only together with a count: see the table before this one",
    }


def speed(task: Task) -> Generator[str, None, int]:
    measures = dp.len(signed=True), amount(task).sum((0.0, task.high))
    yield "open"
    released = query(task, delta=task.delta).group_by("category").agg(*measures).release()
    yield "plan"
    rows = released.collect()
    yield "run"
    return len(rows)


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(accuracy, speed)
