"""What is refused says what to write instead."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.errors import Error
from tests.unit.aggregates.world import cases, catalog, table


@pytest.mark.parametrize("case", cases("refused.sql"))
def test_refused(case: str) -> None:
    code, rest = case.split(" ", 1)
    items, way_out = rest.split(" | ")
    with dpsql.connect(catalog(), source={"t": table()}, epsilon=1) as conn:
        before = conn.budget.spent.epsilon
        with pytest.raises(Error) as refused:
            conn.execute(f"SELECT {items} FROM t")
        assert f"DPSQL-{code}" in str(refused.value) and way_out in str(refused.value)
        assert conn.budget.spent.epsilon == before
