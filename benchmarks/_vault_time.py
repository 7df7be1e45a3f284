"""Seconds, on the wall and of the processors, and how many of them a query's statements in the vault take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from dpsql.engine.sources import Array
from dpsql.engine.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(wall=self.wall + other.wall, cpu=self.cpu + other.cpu)


def fastest(times: list[Seconds]) -> Seconds:
    """What other processes add is never negative."""
    return Seconds(wall=min(one.wall for one in times), cpu=min(one.cpu for one in times))


def seconds(work: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)


@contextmanager
def vault_time() -> Iterator[list[Seconds]]:
    """The time of each statement that any vault runs inside, in order; loading its temporary tables included."""
    spent: list[Seconds] = []
    original = Vault.answer

    def answer(vault: Vault, *asked: Any) -> dict[str, Array]:
        answers: list[dict[str, Array]] = []
        spent.append(seconds(lambda: answers.append(original(vault, *asked))))
        return answers[0]

    with patch.object(Vault, "answer", answer):
        yield spent


@contextmanager
def bytes_fetched() -> Iterator[list[int]]:
    """The size of the columns that each statement of any vault brings: numbers of eight bytes, texts in UTF-8."""
    sizes: list[int] = []
    original = Vault.answer

    def answer(vault: Vault, *asked: Any) -> dict[str, Array]:
        columns = original(vault, *asked)
        sizes.append(sum(_size(column) for column in columns.values()))
        return columns

    with patch.object(Vault, "answer", answer):
        yield sizes


def _size(column: Array) -> int:
    return sum(len(str(cell).encode()) for cell in column) if column.dtype == object else int(column.nbytes)


def in_vault(spent: list[Seconds], work: Callable[[], object]) -> tuple[Seconds, Seconds]:
    """What the work took as a whole, and of it all statements in the vault."""
    before = len(spent)
    whole = seconds(work)
    return whole, sum(spent[before:], Seconds())
