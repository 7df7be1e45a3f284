"""What the processes of all libraries share: the task, as JSON, and answers, as JSON lines. Needs nothing but Python."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace

from benchmarks._memory import forget_peak, peak

QUESTIONS = ("count", "sum", "average", "variance", "median", "public keys", "private keys", "keys alone")
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A table of person, category and amount in a Parquet file.

    cap: rows of a person that count, in all; None: nothing is declared (dpsql alone can do that). Amounts are in [0, high],
    categories in 1 to `keys`. rows: for those who take their number for public. Where seconds have passed no further run of
    the question begins. warm: a small table that is asked first, where speed is measured, and not counted: what a library
    imports or makes when it is first used is not the query's.
    """

    file: str
    rows: int
    keys: int
    high: float
    epsilon: float
    delta: float
    cap: int | None
    runs: int
    seconds: float
    warm: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A number, or one of each key (of keys alone: 0); and how far off it may be 95 % of the time, if the library says."""

    value: float | Mapping[int, float]
    within: float | None = None


# Accuracy: question → how to ask, or why it cannot be asked. Speed: yields the name of each stage at its end, returns how
# many groups came out.
Accuracy = Callable[[Task], Mapping[str, Callable[[], Answer] | str]]
Speed = Callable[[Task], Generator[str, None, int]]


def serve(accuracy: Accuracy, speed: Speed) -> None:
    task = Task(**json.loads(sys.argv[1]))
    if task.warm is not None:
        for _ in speed(replace(task, file=task.warm)):
            pass
        print(json.dumps(_measured(speed, task)))
        return
    asked = accuracy(task)
    for question in QUESTIONS:
        print(json.dumps({"question": question, **_answers(asked[question], task)}), flush=True)


def _answers(ask: Callable[[], Answer] | str, task: Task) -> dict[str, object]:
    if isinstance(ask, str):
        return {"cannot": ask}
    answers: list[Answer] = []
    began = time.perf_counter()
    while len(answers) < task.runs and (not answers or time.perf_counter() - began < task.seconds):
        answers.append(ask())
    values = [one.value if isinstance(one.value, float) else list(one.value.items()) for one in answers]
    return {"answers": values, "within": [one.within for one in answers]}


def _measured(speed: Speed, task: Task) -> dict[str, object]:
    """Seconds on the wall and of the processors (all threads) of each stage, and the most memory in MB of the process."""
    forget_peak()
    stages, wall, cpu = speed(task), time.perf_counter(), time.process_time()
    spent: dict[str, tuple[float, float]] = {}
    while True:
        try:
            stage = next(stages)
        except StopIteration as end:
            return {"stages": spent, "peak": peak(), "groups": end.value}
        now_wall, now_cpu = time.perf_counter(), time.process_time()
        spent[stage] = (now_wall - wall, now_cpu - cpu)
        wall, cpu = now_wall, now_cpu
