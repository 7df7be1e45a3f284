"""A source that is given by hand is read as carefully as a declared one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.engine.sources import Files
from dpsql.metadata.load import load
from dpsql.sources.table_sources import sources_of

COLUMNS = {"name": "text", "n": "integer"}
CATALOG = {
    "dataset": "given",
    "unit": "person",
    "budget": {"epsilon": 1, "delta": 0},
    "tables": {"t": {"unit": "name", "rows_per_unit": 1, "columns": COLUMNS}},
}


@pytest.mark.parametrize("given", ["t.parquet", Path("t.parquet"), {"t": "t.parquet"}, {"T": Path("t.parquet")}])
def test_two_people_s_names_are_never_read_as_one(given: object) -> None:
    """Bytes that are no UTF-8 are read as "?": in the unit's column such a text is nobody."""
    (found,) = sources_of(load(CATALOG), given).values()
    assert isinstance(found, Files) and found.exact_text == {"name"}
