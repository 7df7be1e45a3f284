"""FIRST_VALUE, LAST_VALUE, NTH_VALUE over one person's rows with ties, against SQL's definition of a frame written out in
Python: whole peer groups of the analyst's order, and among peers the order of all columns."""

from __future__ import annotations

import random
from collections import Counter

import pandas as pd
import pytest

from dpsql import testing
from tests.worlds import people

CATALOG = people({"o": "integer", "x": "integer"}, max_groups=100, max_rows=100, budget={"epsilon": 1, "delta": 0})
Row = tuple[int, int | None, int | None]
EDGES = ["UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"]
FRAMES = ["", *(f"{unit} BETWEEN {a} AND {b}" for unit in ("RANGE", "GROUPS", "ROWS") for a, b in [
    (EDGES[0], EDGES[1]), (EDGES[0], EDGES[2]), (EDGES[1], EDGES[1]), (EDGES[1], EDGES[2])
])]  # fmt: skip
CALLS = ["FIRST_VALUE(x)", "LAST_VALUE(x)", "NTH_VALUE(x, 2)"]
NONE = 10**9  # NULL, last in order


def place(value: int | None) -> int:
    return NONE if value is None else value


def frame_of(rows: list[Row], at: int, order: bool, frame: str) -> list[Row]:
    """The rows, sorted, that the frame of row `at` holds."""
    unit = frame.split(" ")[0] or "RANGE"
    start, end = frame.partition("BETWEEN ")[2].split(" AND ") if frame else (EDGES[0], EDGES[1])
    peers = [i for i, row in enumerate(rows) if not order or row[1] == rows[at][1]] if unit != "ROWS" else [at]
    first = 0 if start == EDGES[0] else min(peers)
    last = len(rows) - 1 if end == EDGES[2] else max(peers)
    return rows[first : last + 1]


def expected(rows: list[Row], call: str, nulls: bool, order: bool, frame: str) -> Counter[int | None]:
    counts: Counter[int | None] = Counter()
    for person in {row[0] for row in rows}:
        keyed = sorted((row for row in rows if row[0] == person), key=lambda row: (place(row[1]), place(row[2])))
        for at in range(len(keyed)):
            values = [row[2] for row in frame_of(keyed, at, order, frame)]
            values = values if nulls else [value for value in values if value is not None]
            position = {"F": 0, "L": len(values) - 1, "N": 1}[call[0]]
            counts[values[position] if 0 <= position < len(values) else None] += 1
    return counts


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("nulls", [True, False], ids=["nulls", "ignore nulls"])
@pytest.mark.parametrize("order", [True, False], ids=["order", "no order"])
def test_frames(call: str, nulls: bool, order: bool) -> None:
    draw = random.Random(f"{call}{nulls}{order}")
    rows: list[Row] = [
        (draw.randrange(5), draw.choice([None, 1, 2, 3]), draw.choice([None, 1, 2, 3, 4])) for _ in range(60)
    ]
    frame = pd.DataFrame(rows, columns=["u", "o", "x"]).astype("Int64")
    asked = call if nulls else f"{call[:-1]} IGNORE NULLS)"
    answered = 0
    with testing.exact(CATALOG, source={"t": frame}) as connection:
        for window in FRAMES:
            if not order and "GROUPS" in window:
                continue
            if call.startswith("NTH") and window.startswith(("RANGE", "GROUPS")) and "CURRENT ROW AND UNB" in window:
                continue  # refused
            over = f"PARTITION BY u {'ORDER BY o' if order else ''} {window}"
            sql = f"SELECT v, COUNT(*) FROM (SELECT {asked} OVER ({over}) AS v FROM t) GROUP BY v"
            assert Counter(dict(connection.execute(sql).fetchall())) == expected(rows, call, nulls, order, window), sql
            answered += 1
    assert answered >= 7
