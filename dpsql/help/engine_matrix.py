"""The help topic `engines`: what each engine's dialect does with calls of every function. Nothing here is told by hand:
calls are made of columns of every type and of a few constants, and each dialect says which it refuses, and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dpsql import functions
from dpsql.domain.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    INTERVAL,
    REAL,
    TEXT,
    TIMESTAMP,
    Kind,
    decimal,
)
from dpsql.errors import Error
from dpsql.functions.date_parts import SPELLINGS
from dpsql.functions.function import Function
from dpsql.functions.table import FAMILIES
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Frame, Literal, SortKey, WindowCall, walk
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.engines import DIALECTS
from dpsql.privacy.kernel.totality import AGGREGATES, WINDOWS

TYPES = (BOOLEAN, BIGINT, HUGEINT, decimal(9, 2), decimal(38, 10), REAL, TEXT, DATE, TIMESTAMP)
COLUMNS = tuple(Column(n, type_, f"c{n}") for n, type_ in enumerate(TYPES))
CASTS = (BOOLEAN, BIGINT, HUGEINT, decimal(9, 2), REAL, TEXT, DATE, TIMESTAMP)
NUMBERS = tuple(Literal(n, INTEGER) for n in (-1, 0, 2))
TEXTS = tuple(Literal(value, TEXT) for value in ("a", "", "%Y-%m-%d"))
SPANS = tuple(Literal(value, INTERVAL) for value in ("1 0 0", "60000 0 0"))
PARTS = tuple(Literal(part, TEXT) for part in SPELLINGS)
OF_PARTS = ("date_part", "date_trunc", "date_diff", "date_sub")


@dataclass(slots=True)
class Notes:
    """Reasons, each with a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, reason: str) -> str:
        return f"[{self.numbers.setdefault(reason, len(self.numbers) + 1)}]"


def engines() -> Iterator[str]:
    """The lines of the topic, without its first ones."""
    yield "A query runs where its data are: on DuckDB (files, frames, .duckdb), PostgreSQL or Spark. Before the noise each"
    yield "engine's SQL gives the same answer to the bit, and no stored value makes it fail; what an engine has no such form"
    yield "of is refused there (DPSQL-140) before anything is charged. *In part* means: for some types or constants. On"
    yield "results (after the noise) all functions are DuckDB's, wherever the data are."
    notes, dialects = Notes(), list(DIALECTS.values())
    for family in FAMILIES:
        yield from ("", f"## {family.__name__.rpartition('.')[2].replace('_', ' ').capitalize()}", "")
        yield from _head("function", dialects)
        for function in family.FUNCTIONS:
            calls = list(_calls(function))
            yield _line(function.signature, [_cell(calls, dialect, notes) for dialect in dialects])
    yield from ("", "## Aggregates over the rows of one unit", "")
    yield "In subqueries with `GROUP BY` the unit. Aggregates of all rows are additions of integers, on every engine."
    yield ""
    yield from _head("aggregate", dialects)
    for name in AGGREGATES:
        yield _line(name.upper(), [_cell(list(_aggregates(name)), dialect, notes) for dialect in dialects])
    yield from ("", "## Windows over the rows of one unit", "")
    yield from _head("window", dialects)
    for name in WINDOWS:
        yield _line(name.upper(), [_cell(list(_windows(name)), dialect, notes) for dialect in dialects])
    yield from ("", "## Why, and what to write instead", "")
    for reason, number in notes.numbers.items():
        yield f"{number}. {reason}"


def _head(first: str, dialects: Sequence[Dialect]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(dialect.name for dialect in dialects)} |"
    yield "|---" * (len(dialects) + 1) + "|"


def _line(signature: str, cells: list[str]) -> str:
    return "| `" + signature.replace("|", "\\|") + "` | " + " | ".join(cells) + " |"


def _cell(calls: list[Expr], dialect: Dialect, notes: Notes) -> str:
    refused = [_refusal(call, dialect) for call in calls]
    reasons = dict.fromkeys(reason for reason in refused if reason is not None)
    numbers = " ".join(notes.number(reason) for reason in reasons)
    return "yes" if not reasons else f"{'in part' if None in refused else 'no'} {numbers}"


def _refusal(call: Expr, dialect: Dialect) -> str | None:
    return next((reason for part in walk(call) if (reason := dialect.refusal(part)) is not None), None)


# --- calls ------------------------------------------------------------------------------------------------------------


def _calls(function: Function) -> Iterator[Expr]:
    """Calls of a function as the kernel would certify them, over arguments of every type that it takes."""
    for args in _arguments(function):
        for to in CASTS if function.name in ("cast", "try_cast") else (None,):
            try:
                made = functions.make(function.name, args, at=None, to=to)
            except Error:
                continue
            if isinstance(made, Call):
                yield functions.totalise(made, {})[0]


def _arguments(function: Function) -> Iterator[tuple[Expr, ...]]:
    if function.name in OF_PARTS:
        moments = [column for column in COLUMNS if column.type.kind in (Kind.DATE, Kind.TIMESTAMP)]
        yield from itertools.product(PARTS, *[moments] * (function.least - 1))
        return
    most = min(3, function.least + 1 if function.most is None else function.most)
    for count in range(function.least, most + 1):
        further: tuple[Expr, ...] = (*COLUMNS, *NUMBERS, *TEXTS, *SPANS)
        last: tuple[Expr, ...] = (*NUMBERS, *TEXTS, *COLUMNS)
        yield from itertools.product(COLUMNS, *[further] * min(1, count - 1), *[last] * (count - 2))


def _aggregates(name: str) -> Iterator[Expr]:
    fraction: tuple[Expr, ...] = (Literal(0.5, REAL),) if name.startswith("quantile") else ()
    by = tuple(SortKey(column, nulls_first=False) for column in COLUMNS)
    mixed = (SortKey(COLUMNS[5]), SortKey(COLUMNS[6], descending=True))
    for column in COLUMNS:
        for order in ((), (by[1],), mixed) if name in ("first", "last") else ((),):
            yield AggregateCall(name, (column, *fraction), column.type, order=order)


FRAMES: Mapping[str, tuple[Frame | None, ...]] = {
    "sum": (
        Frame("ROWS", ("UNBOUNDED PRECEDING", None), ("CURRENT ROW", None)),
        Frame("GROUPS", ("UNBOUNDED PRECEDING", None), ("CURRENT ROW", None)),
        Frame("RANGE", ("PRECEDING", Literal(1, INTEGER)), ("CURRENT ROW", None)),
    )
}


def _windows(name: str) -> Iterator[Expr]:
    column = COLUMNS[1]
    for frame in FRAMES.get(name, (None,)):
        yield WindowCall(name, (column,), column.type, order=(SortKey(column),), frame=frame)
    if name in ("lag", "lead", "first_value", "last_value", "nth_value"):
        yield WindowCall(name, (column,), column.type, order=(SortKey(column),), ignore_nulls=True)
    if name in ("count", "sum", "min", "max"):
        yield WindowCall(name, (column,), column.type, order=(SortKey(column),), distinct=True)
        yield WindowCall(name, (column,), column.type, order=(SortKey(column),), where=COLUMNS[0])
