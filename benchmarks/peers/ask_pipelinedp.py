"""pipeline-dp on its LocalBackend. Rows are dictionaries' keys in Python: it reads them batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import pipeline_dp
import pyarrow.parquet as pq
from pipeline_dp import Metrics, PartitionSelectionStrategy

from benchmarks.peers.child import Answer, Task, serve

METRICS = {
    "count": Metrics.COUNT,
    "sum": Metrics.SUM,
    "average": Metrics.MEAN,
    "variance": Metrics.VARIANCE,
    "median": Metrics.PERCENTILE(50),
}
SELECTION = PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING  # of its four the one that finds most of these keys
PERSON, CATEGORY, AMOUNT = 0, 1, 2


def rows_of(file: str) -> Iterator[tuple[int, int, float]]:
    with pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(columns=["person", "category", "amount"]):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def aggregate(task: Task, rows: Any, metrics: list[Any], public: list[int] | None, *, by_key: bool) -> Any:
    """Answers that are computed when they are iterated over.

    Its selection of private keys cannot be told a cap on the rows in all (0.3.1: TypeError): there a person has at most
    `cap` keys, of which each has at most `cap` rows.
    """
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=task.epsilon, total_delta=task.delta)
    if by_key and public is not None:
        caps = {"max_contributions": task.cap}
    else:
        caps = {"max_partitions_contributed": task.cap if by_key else 1, "max_contributions_per_partition": task.cap}
    bounds = {"min_value": 0.0, "max_value": task.high, "partition_selection_strategy": SELECTION}
    params = pipeline_dp.AggregateParams(metrics=metrics, **bounds, **caps)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    answers = engine.aggregate(rows, params, extractors(by_key), public_partitions=public)
    budget.compute_budgets()
    return answers


def extractors(by_key: bool) -> Any:
    return pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[PERSON],
        partition_extractor=(lambda row: row[CATEGORY]) if by_key else (lambda row: 0),
        value_extractor=lambda row: row[AMOUNT],
    )


def selected(task: Task, rows: Any) -> Answer:
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=task.epsilon, total_delta=task.delta)
    params = pipeline_dp.SelectPartitionsParams(task.cap, partition_selection_strategy=SELECTION)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    keys = engine.select_partitions(rows, params, extractors(True))
    budget.compute_budgets()
    return Answer(dict.fromkeys(keys, 0.0))


def accuracy(task: Task) -> Mapping[str, Callable[[], Answer] | str]:
    rows = list(rows_of(task.file))

    def scalar(metric: Any) -> Answer:
        ((_, values),) = aggregate(task, rows, [metric], [0], by_key=False)
        return Answer(float(values[0]))

    def counts(public: list[int] | None) -> Answer:
        answers = aggregate(task, rows, [Metrics.COUNT], public, by_key=True)
        return Answer({key: float(values.count) for key, values in answers})

    scalars = {question: (lambda metric=metric: scalar(metric)) for question, metric in METRICS.items()}
    public = list(range(1, task.keys + 1))
    by = {"public keys": lambda: counts(public), "private keys": lambda: counts(None)}
    return {**scalars, **by, "keys alone": lambda: selected(task, rows)}


def speed(task: Task) -> Generator[str, None, int]:
    yield "open"
    answers = aggregate(task, rows_of(task.file), [Metrics.COUNT, Metrics.SUM], None, by_key=True)
    yield "plan"
    groups = sum(1 for _ in answers)
    yield "run"
    return groups


if __name__ == "__main__":
    serve(accuracy, speed)
