"""What .schema says of how much of one unit counts."""

from __future__ import annotations

import pytest

from dpsql.metadata.load import loads
from dpsql.shell.describe import schema


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        ("unit: u, rows_per_unit: 12", "12 rows of a unit"),
        ("unit: u, rows_per_unit: 1, groups_per_unit: 1", "1 row of a unit, and the unit itself in 1 group"),
        ("unit: u, max_groups: 4, max_rows: 3", "12 rows of a unit, and the unit itself in 4 groups"),
        ("row_is_unit: true", "each row is a unit"),
    ],
)
def test_limits(limits: str, note: str) -> None:
    catalog = loads(f"budget: {{epsilon: 1}}\ntables: {{t: {{{limits}, columns: {{u: integer}}}}}}")
    assert f"CREATE TABLE t (  -- {note}\n" in schema(catalog, "t")
