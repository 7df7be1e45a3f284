"""The texts that inference foresees are DuckDB's own."""

from __future__ import annotations

import duckdb
import pytest

from dpsql.domain.facts import Domain, key_set
from dpsql.domain.interval import interval
from dpsql.domain.types import DATE, TEXT
from dpsql.functions import infer, make
from dpsql.ir.expr import Column, Literal


@pytest.mark.parametrize("first", ["0999-12-31", "1000-01-01", "1999-12-25", "9999-10-01"])
def test_strftime_of_few_days(first: str) -> None:
    format_ = "%Y|%m|%d|%H|%M|%S|%y|%j|%a|%A|%b|%B|%p|%%"
    with duckdb.connect() as connection:
        days = f"SELECT DATE '{first}' + CAST(i AS INTEGER) AS d FROM range(90) AS r(i)"
        rows = connection.execute(f"SELECT d - DATE '1970-01-01', strftime(d, '{format_}') FROM ({days})").fetchall()
    column = Column(1, DATE, "d")
    domain = Domain(type=DATE, interval=interval(rows[0][0], rows[-1][0]), nullable=False)
    call = make("strftime", (column, Literal(format_, TEXT)), at=None)
    keys = key_set(infer(call, {1: domain})[1])
    assert set(keys or ()) == {text for _, text in rows}
