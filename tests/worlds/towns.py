"""A small dataset with a ledger, for attacks on its budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

YAML = """
dataset: {dataset}
version: {version}
unit: person
budget: {budget}
per_query: {{epsilon: 1, delta: 1.0e-9}}
accounting: {accounting}
{more}
tables:
  visits:
    source: visits.parquet
    unit: id
    max_groups: 2
    max_rows: {max_rows}
    columns:
      id: integer
      kind: {{type: text, keys: [a, b, c]}}
      town: text
      x: {{type: integer, lower: 0, upper: 10}}
"""
COUNT = "SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind"


def write(folder: Path, **changes: object) -> Path:
    """A dataset of 60 people in a folder, and its metadata."""
    said: dict[str, object] = {
        "dataset": "towns",
        "version": "1",
        "budget": "{epsilon: 100, delta: 1.0e-6}",
        "accounting": "approx",
        "more": "",
        "max_rows": 1,
    }
    if not (folder / "visits.parquet").exists():
        save(folder, range(60))
    path = folder / "towns.yaml"
    path.write_text(YAML.format(**(said | changes)))
    return path


def save(folder: Path, people: Any) -> None:
    people = list(people)
    table = pyarrow.table(
        {
            "id": people,
            "kind": ["abc"[i % 3] for i in people],
            "town": [f"town {i % 2}" for i in people],
            "x": [i % 11 for i in people],
        }
    )
    pyarrow.parquet.write_table(table, folder / "visits.parquet")
