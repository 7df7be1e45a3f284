"""What is refused says what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dpsql
from dpsql.errors import Error
from tests.cases.reading import Case, refusal
from tests.worlds.mixed import REFUSED, catalog, table


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.text)
def test_refused(case: Case, golden: Callable[[Case, str], None]) -> None:
    (way_out,) = case.more
    with dpsql.connect(catalog(), source={"t": table()}, epsilon=1) as conn:
        before = conn.budget.spent.epsilon
        with pytest.raises(Error) as refused:
            conn.execute(f"SELECT {case.text} FROM t")
        golden(case, f"{refusal(refused.value)}\n{way_out}")
        assert way_out.removeprefix("instead: ") in str(refused.value)
        assert conn.budget.spent.epsilon == before
