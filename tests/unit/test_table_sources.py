"""A source that is given by hand is read as carefully as a declared one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.engine.sources import Files
from dpsql.metadata.load import load
from dpsql.sources.table_sources import sources_of
from tests.worlds import people

COLUMNS = {"name": "text", "n": "integer"}
CATALOG = people(COLUMNS, unit="name", rows_per_unit=1, budget={"epsilon": 1, "delta": 0})


@pytest.mark.parametrize("given", ["t.parquet", Path("t.parquet"), {"t": "t.parquet"}, {"T": Path("t.parquet")}])
def test_two_people_s_names_are_never_read_as_one(given: object) -> None:
    """Bytes that are no UTF-8 are read as "?": in the unit's column such a text is nobody."""
    (sources,) = sources_of(load(CATALOG), given).values()
    assert isinstance(sources, Files) and sources.exact_text == {"name"}
