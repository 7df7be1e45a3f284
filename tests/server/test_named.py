"""PREPARE and EXECUTE as texts."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import Error
from dpsql.server.wire import types
from dpsql.server.wire.named import execute_of, prepare_of
from dpsql.server.wire.texts import tokens


def prepared(sql: str) -> tuple[str, str, tuple[int, ...]]:
    name, one = prepare_of(sql, tokens(sql))
    return name, one.sql, one.oids


def test_what_is_prepared() -> None:
    assert prepared("PREPARE P AS SELECT $1") == ("p", "SELECT $1", ())
    said = "int, pg_catalog.text, varchar(10), numeric(3, 1), double precision, unknown"
    sql = f'prepare "A b"({said}) as\n with x as (select 1) select 2 '
    oids = (types.INT4, types.TEXT, types.VARCHAR, types.NUMERIC, types.FLOAT8, 0)
    assert prepared(sql) == ("A b", "with x as (select 1) select 2", oids)


@pytest.mark.parametrize(
    "sql",
    [
        "PREPARE",
        "PREPARE p",
        "PREPARE p AS",
        "PREPARE p AS DROP TABLE x",
        "PREPARE p AS EXECUTE p",
        "PREPARE p () AS SELECT 1",
    ]
    + ["PREPARE p (geometry) AS SELECT 1", "PREPARE p (int AS SELECT 1", "PREPARE TRANSACTION 'x'"],
)
def test_what_is_not(sql: str) -> None:
    with pytest.raises(Error):
        prepared(sql)


def test_constants() -> None:
    sql = "EXECUTE p (1, -2.5e-3, 'it''s', $$a'b$$, $x$c$x$, DATE '2020-01-01', 'x'::varchar(3), NULL, true, .5)"
    said = [b"1", b"-2.5e-3", b"it's", b"a'b", b"c", b"2020-01-01", b"x", None, b"true", b".5"]
    assert execute_of(tokens(sql)) == ("p", said)
    assert execute_of(tokens("execute p")) == ("p", [])


@pytest.mark.parametrize("given", ["1 + 1", "a", "", "$1", "'a' || 'b'", "(SELECT 1)", "E'a'", "1), (2", "- - 1"])
def test_what_is_no_constant_is_refused(given: str) -> None:
    with pytest.raises(Error):
        execute_of(tokens(f"EXECUTE p ({given})"))


@given(st.text("pP(),'$12 aAsSELECT:.-\"", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (lambda parts: prepare_of(text, parts), execute_of):
        with contextlib.suppress(Error):
            read(tokens(f"PREPARE {text}"))
