"""`dpsql check` warns about what is allowed and yet probably not meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.metadata.lint import lint
from dpsql.metadata.load import load, loads

METADATA = Path(__file__).parents[3] / "metadata"
GOOD = """
version: 1
budget: {epsilon: 5, delta: 1e-6}
tables: {t: {unit: u, rows_per_unit: 12, columns: {u: integer, x: {type: real, lower: 0, upper: 9}}}}
"""
UNIT = "unit: u, rows_per_unit: 12, columns: {u:"


def test_nothing_stands_out() -> None:
    assert lint(loads(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        ("epsilon: 5", "epsilon: 50", "protects hardly anybody"),
        ("delta: 1e-6", "delta: 1e-3", "one unit in 1,000"),
        ("version: 1", "version: 1\nunits: 100000", "1 in 10"),
        ("version: 1", "version: 1\nunits: 2000000", "for somebody with a probability of up to 1"),
        (
            "version: 1",
            "version: 1\nmax_delta: 1e-9\nmax_per_query: {delta: 1e-8}",
            "max_per_query's delta is above max_delta (1e-09)",
        ),
        ("version: 1", "", "no version"),
        ("version: 1", "version: TODO", "version is still TODO"),
        ("version: 1", "version: 1\nunit: TODO", "unit is still TODO"),
        ("unit: u", "description: TODO, unit: u", "description is still TODO"),
        ("version: 1", "version: 1\nper_query: {epsilon: 6}", "per_query's epsilon is above"),
        ("version: 1", "version: 1\nmax_per_query: {epsilon: 6}", "max_per_query's epsilon is above the budget's"),
        ("upper: 9", "upper: 1e12", "noise grows"),
        (", upper: 9", "", "only one bound"),
        ("upper: 9", "upper: 0", "one possible value"),
        ("type: real, lower: 0, upper: 9", "type: text, keys: [a]", "do not list null"),
        ("type: real, lower: 0, upper: 9", "type: integer, lower: 0, upper: 500000", "500,002 public keys"),
        ("rows_per_unit: 12", "rows_per_unit: 30000", "hides everything"),
        (
            "rows_per_unit: 12",
            "max_groups: 4, max_rows: 3",
            "max_groups: 4, max_rows: 3 means rows_per_unit: 12, groups_per_unit: 4",
        ),
        (
            UNIT,
            "row_is_unit: true, columns: {patient_id:",
            "person's id",
        ),
        (UNIT, "row_is_unit: true, columns: {email:", "person's id"),
    ],
)
def test_warnings(old: str, new: str, warning: str) -> None:
    assert old in GOOD
    warnings = lint(loads(GOOD.replace(old, new)))
    assert len(warnings) == 1
    assert warning in warnings[0]


@pytest.mark.parametrize("name", ["student", "hospital", "browser_logs", "exam"])
def test_samples_are_clean(name: str) -> None:
    assert lint(load(METADATA / f"{name}.yaml")) == []


def test_smartnoise_warnings() -> None:
    (warning,) = lint(load(METADATA / "student_smartnoise.yaml"))
    assert "no budget" in warning
