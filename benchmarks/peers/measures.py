"""From answers to what the tables say: how far off, how often an interval held, how many keys; medians and spreads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np

STAGES = ("open", "plan", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Of a table for speed."""

    rows: int
    units: int
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """scalars: question → answer. counts: rows of each key."""

    rows: int
    scalars: Mapping[str, float]
    counts: Mapping[int, float]

    @classmethod
    def of(cls, file: Path) -> Truth:
        asked = "count(*), sum(amount), avg(amount), var_pop(amount), median(amount)"
        with duckdb.connect() as connection:
            row = connection.execute(f"SELECT {asked} FROM '{file}'").fetchone()
            counts = connection.execute(f"SELECT category, count(*) FROM '{file}' GROUP BY category").fetchall()
        assert row is not None
        names = ("count", "sum", "average", "variance", "median")
        scalars = dict(zip(names, map(float, row), strict=True))
        return cls(rows=int(row[0]), scalars=scalars, counts={int(key): float(count) for key, count in counts})


def measured(line: Mapping[str, Any], truth: Truth) -> dict[str, Any]:
    """One line of a child that asked for accuracy."""
    if "cannot" in line:
        return dict(line)
    question = str(line["question"])
    runs = [_errors(value, question, truth) for value in line["answers"]]
    keys_found = np.array([sum(true > 0) for _, true in runs], dtype=np.float64)
    keys = {"found": float(keys_found.mean()), "found_error": _standard_error(keys_found), "of": len(truth.counts)}
    if question == "keys alone":
        return {"question": question, "runs": len(runs), **keys}
    squares = np.array([float(np.mean(errors**2)) for errors, _ in runs])
    rmse = float(np.sqrt(squares.mean()))
    relative = np.concatenate([np.abs(errors[true > 0]) / true[true > 0] for errors, true in runs])
    said = {
        "question": question,
        "runs": len(runs),
        "rmse": rmse,
        "rmse_error": _standard_error(squares) / (2 * rmse) if rmse else 0.0,  # of a root: half the relative one
        "relative": float(np.median(relative)),
        "holds": _holds(runs, line["within"]),
    }
    return said | keys if question == "private keys" else said


def _errors(value: float | list[list[float]], question: str, truth: Truth) -> tuple[Any, Any]:
    """How far off, and what is true, of each number of one run. Keys that were not released have none."""
    if not isinstance(value, list):
        true = np.array([truth.scalars[question]])
        return np.array([value]) - true, true
    true = np.array([truth.counts.get(int(key), 0.0) for key, _ in value])
    return np.array([count for _, count in value]) - true, true


def _standard_error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _holds(runs: list[tuple[Any, Any]], within: list[float | None]) -> float | None:
    """The share of numbers that are no farther off than they said; None where nothing was said."""
    held = [np.abs(errors) <= width for (errors, _), width in zip(runs, within, strict=True) if width is not None]
    return float(np.mean(np.concatenate(held))) if held else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Seconds of the stages on the wall and of the processors, MB at most, and how many groups came out."""

    stages: Mapping[str, tuple[float, float]]
    peak: float
    groups: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Speed:
        return cls(stages=line["stages"], peak=line["peak"], groups=line["groups"])

    @property
    def wall(self) -> float:
        return sum(wall for wall, _ in self.stages.values())

    @property
    def cpu(self) -> float:
        return sum(cpu for _, cpu in self.stages.values())


def spent(turns: list[Speed]) -> dict[str, Any]:
    """The medians of the turns; of the whole also the least and the most."""
    walls, cpus = sorted(one.wall for one in turns), sorted(one.cpu for one in turns)
    stages = {stage: median(one.stages[stage][1] for one in turns) for stage in STAGES}
    return {
        "turns": len(turns),
        "wall": median(walls),
        "wall_spread": [walls[0], walls[-1]],
        "cpu": median(cpus),
        "cpu_spread": [cpus[0], cpus[-1]],
        "stages": stages,  # of the processors
        "peak": median(one.peak for one in turns),
        "found": median(one.groups for one in turns),
    }
