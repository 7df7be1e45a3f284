"""How far off is each aggregate at ε = 1? RMSE on 25,000 orders of 5,000 people, against what its formula predicts;
and counts by 200 categories where a limit on the rows of a person in all is declared that nobody exceeds."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

import dpsql
from dpsql.dbapi import Connection

EPSILON, ROWS, HIGH, CATEGORIES = 1.0, 10, 500.0, 200
UNDECLARED = 17.0
IN_ALL, MOST = 14, 16.0  # no person has more orders; what the mean error of a count may then be
LIMITS = {"max_groups": 10, "max_rows": ROWS}


def catalog(limits: Mapping[str, int]) -> dict[str, object]:
    columns = {
        "person": "integer",
        "category": {"type": "integer", "lower": 1, "upper": CATEGORIES, "nullable": False},
        "amount": {"type": "real", "lower": 0, "upper": HIGH, "nullable": False},
        "free": {"type": "real", "like": 100, "nullable": False},
    }
    return {
        "dataset": "orders",
        "budget": {"epsilon": 1_000_000, "delta": 0.5},
        "unit": "person",
        "tables": {"orders": {"unit": "person", **limits, "columns": columns}},
    }


def orders(seed: int = 1) -> pd.DataFrame:
    """5,000 people, Poisson(4) + 1 orders each; 200 Zipf(1.2) categories; exponential amounts of mean 50 in [0, 500]."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(5_000), rng.poisson(4, 5_000) + 1)
    weights = 1 / np.arange(1, CATEGORIES + 1) ** 1.2
    frame = pd.DataFrame(
        {
            "person": people,
            "category": rng.choice(np.arange(1, CATEGORIES + 1), people.size, p=weights / weights.sum()),
            "amount": rng.exponential(50, people.size).clip(0, HIGH),
        }
    )
    return frame.assign(free=frame["amount"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    sql: str
    truth: float
    predicted: float  # RMSE: the noise's, and the cap's bias


def _noise(shares: int, sensitivity: float) -> float:
    """Standard deviation of Laplace noise with ε split over `shares` measurements."""
    return math.sqrt(2) * sensitivity * shares / EPSILON


def lines(frame: pd.DataFrame) -> list[Line]:
    x = frame["amount"].to_numpy()
    rows, mid = len(x), HIGH / 2
    per_person = frame.groupby("person")["amount"].agg(["size", "sum"])
    kept = np.minimum(per_person["size"], ROWS)
    lost = rows - float(kept.sum())
    lost_sum = float((per_person["sum"] * (1 - kept / per_person["size"])).sum())
    over_900 = float((per_person["sum"] - 900).clip(lower=0).sum())
    z = x - mid
    mean, square = z.mean(), (z**2).mean()
    # Two ends, Σ (H ± z) with H = mid, which one person moves together by 2·H·rows: the mean's error is linear in theirs.
    end = _noise(1, HIGH * ROWS)
    average = end * math.hypot(0.5 - mean / HIGH, 0.5 + mean / HIGH) / rows
    # Σ (H − z)², Σ 2(H² − z²), Σ (H + z)², together 4·H²·rows: count, Σ z and Σ z² are linear in them, the variance nearly.
    bend, slope = (2 * mean**2 - square) / HIGH**2, mean / HIGH
    parts = (0.25 + slope + bend, bend - 0.25, 0.25 - slope + bend)
    variance = _noise(1, HIGH**2 * ROWS) * math.hypot(*parts) / rows
    return [
        Line(sql="COUNT(amount)", truth=rows, predicted=math.hypot(_noise(1, ROWS), lost)),
        Line(sql="SUM(amount)", truth=x.sum(), predicted=math.hypot(_noise(1, ROWS * HIGH), lost_sum)),
        Line(
            sql="SUM(amount, contribution_bounds_per_group => (0, 900))",
            truth=x.sum(),
            predicted=math.hypot(_noise(1, 900), over_900),
        ),
        Line(sql="AVG(amount)", truth=x.mean(), predicted=average),
        Line(sql="VAR_POP(amount)", truth=x.var(), predicted=variance),
        Line(sql="STDDEV_POP(amount)", truth=x.std(), predicted=variance / (2 * math.sqrt(x.var()))),
    ]


def choices(frame: pd.DataFrame) -> list[tuple[str, float]]:
    x = frame["amount"].to_numpy()
    return [
        ("MEDIAN(amount)", float(np.median(x))),
        ("QUANTILE_CONT(amount, 0.95)", float(np.quantile(x, 0.95))),
        ("MAX(amount)", float(x.max())),
        ("COUNT(DISTINCT category)", float(frame["category"].nunique())),
    ]


def undeclared(frame: pd.DataFrame) -> list[tuple[str, float, float]]:
    """What is asked, how large its RMSE may be, and the truth."""
    x = frame["amount"]
    return [
        ("COUNT(*)", 36, len(x)),
        ("SUM(amount)", 2300, x.sum()),
        ("SUM(free)", 2600, x.sum()),
        ("AVG(amount)", 0.6, x.mean()),
        ("VAR_POP(amount)", 260, x.var(ddof=0)),
    ]


def connect(frame: pd.DataFrame, limits: Mapping[str, int] = LIMITS) -> Connection:
    return dpsql.connect(catalog(limits), source={"orders": frame}, epsilon=EPSILON, delta=1e-6)


def rmse(conn: Connection, aggregate: str, truth: float, runs: int) -> float:
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace', fresh=true) {aggregate} FROM orders"
    rows = [conn.execute(sql).fetchone() for _ in range(runs)]
    answers = np.array([row[0] for row in rows if row is not None], dtype=np.float64)
    return float(np.sqrt(np.mean((answers - truth) ** 2)))


def by_category(conn: Connection, frame: pd.DataFrame, runs: int) -> float:
    """The mean distance of a category's count from the truth, over all categories and runs."""
    truth = frame["category"].value_counts().to_dict()
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh=true) category, COUNT(*) FROM orders GROUP BY category"
    far: list[float] = []
    for _ in range(runs):
        rows = conn.execute(sql).fetchall()
        assert len(rows) == CATEGORIES  # public: each comes out
        far += [abs(float(count) - truth.get(category, 0)) for category, count in rows]
    return sum(far) / len(far)


def main(argv: list[str], write: Callable[[str], object] = sys.stdout.write) -> None:
    """`accuracy RUNS`: how often each query runs (default 200)."""
    runs = int(argv[0]) if argv else 200
    frame = orders()
    conn = connect(frame)
    write(f"{'25,000 orders, ε = 1, each alone':56} {'RMSE':>10} {'formula':>10}   {runs} runs\n")
    for line in lines(frame):
        write(f"{line.sql:56} {rmse(conn, line.sql, line.truth, runs):>10.4g} {line.predicted:>10.4g}\n")
    for sql, truth in choices(frame):
        write(f"{sql:56} {rmse(conn, sql, truth, runs):>10.4g} {'':>10}   truth {truth:.6g}\n")
    write(f"\n{'the same, no limit declared: the data choose':56} {'RMSE':>10} {'most':>10}\n")
    with connect(frame, {}) as free:
        for sql, allowed, truth in undeclared(frame):
            write(f"{sql:56} {rmse(free, sql, truth, runs):>10.4g} {allowed:>10.4g}\n")
    runs = min(runs, 20)
    write(f"\n{f'COUNT(*) by {CATEGORIES} public categories':56} {'mean error':>10} {'most':>10}   {runs} runs\n")
    largest = int(frame["person"].value_counts().max())
    for limits, most in ((LIMITS, ""), ({"rows_per_unit": IN_ALL}, f"{MOST:g}"), ({}, f"{UNDECLARED:g}")):
        with connect(frame, limits) as other:
            declared = ", ".join(f"{name}: {limit}" for name, limit in limits.items()) or "nothing declared"
            write(
                f"{f'{declared} (a person has at most {largest})':56} {by_category(other, frame, runs):>10.4g} {most:>10}\n"
            )
