"""What a type checker infers of the public API. test_public_api.py runs mypy --strict over it; it is never executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

import pandas as pd

import dpsql
from dpsql.frames import Result
from dpsql.frames.column import PrivateColumn
from dpsql.report.explanation import Explanation
from dpsql.report.privacy import CostReport, Privacy

conn = dpsql.connect("metadata/hospital.yaml", analyst="ana", epsilon=1.0, delta=1e-9)
assert_type(conn, dpsql.Connection[tuple[Any, ...]])
cur = conn.cursor()
assert_type(cur.execute("SELECT 1"), dpsql.Cursor[tuple[Any, ...]])
assert_type(cur.fetchone(), tuple[Any, ...] | None)
assert_type(cur.fetchall(), list[tuple[Any, ...]])
assert_type(cur.fetchmany(3), list[tuple[Any, ...]])
assert_type(cur.privacy, Privacy | None)
assert_type(cur.rowcount, int)
assert_type(conn.cost("SELECT 1"), CostReport)
assert_type(conn.explain("SELECT 1"), Explanation)
assert_type(conn.budget, dpsql.Budget)
assert_type(conn.budget.left.epsilon, float | None)
assert_type(conn.execute("SELECT 1").df(), pd.DataFrame)


@dataclass
class Visit:
    specialty: str
    n: int


assert_type(conn.cursor(row_factory=dpsql.dict_row).fetchall(), list[dict[str, Any]])
assert_type(conn.cursor(row_factory=dpsql.class_row(Visit)).fetchone(), Visit | None)
assert_type(dpsql.connect({}, row_factory=dpsql.class_row(Visit)).execute("SELECT 1").fetchall(), list[Visit])
for visit in conn.cursor(row_factory=dpsql.class_row(Visit)).execute("SELECT 1"):
    assert_type(visit, Visit)


def plain(connection: dpsql.Connection, cursor: dpsql.Cursor) -> list[tuple[Any, ...]]:
    """Without a parameter the rows are tuples."""
    assert_type(connection.execute("SELECT 1").fetchall(), list[tuple[Any, ...]])
    return cursor.fetchall()


frame = dpsql.PrivateFrame(
    pd.DataFrame(), unit="patient_id", bounds={"duration": (0, 240)}, max_groups=4, max_rows=3, budget=5.0, epsilon=1.0
)
assert_type(frame["duration"], PrivateColumn)
assert_type(frame["duration"] > 30, PrivateColumn)
assert_type(frame[frame["duration"] > 30], dpsql.PrivateFrame)
assert_type(frame[["duration"]], dpsql.PrivateFrame)
assert_type(frame.filter("duration > 30").assign(hours=frame["duration"] / 60), dpsql.PrivateFrame)
assert_type(frame.groupby("specialty").agg(n="count", mean=("duration", "mean")), Result)
assert_type(frame.sql("SELECT COUNT(*) FROM df"), Result)
assert_type(frame.explain("SELECT COUNT(*) FROM df"), Explanation)
assert_type(frame.budget, dpsql.Budget)

# Mistakes that a type checker finds: each of these lines must be an error, or mypy reports an unused ignore.
dpsql.connect(3)  # type: ignore[call-overload]
conn.execute(sql=3)  # type: ignore[arg-type]
conn.budget.left = conn.budget.spent  # type: ignore[misc]
frame.groupby(3)  # type: ignore[arg-type]
