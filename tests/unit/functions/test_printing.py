"""Constants survive printing to the bit; public aggregates and windows print as DuckDB reads them; SQL stays small."""

from __future__ import annotations

import datetime as dt
import decimal as pydecimal
import functools
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.domain.types import ANY, BIGINT, DATE, INTEGER, REAL, TEXT, TIMESTAMP, Type, decimal
from dpsql.errors import InterfaceError, InternalError, Refused, SqlError
from dpsql.functions import FUNCTIONS, SCRATCH_FUNCTIONS, infer, literal_of, make, number_literal, totalise
from dpsql.ir.expr import AggregateCall, Column, Expr, Frame, Literal, SortKey, WindowCall
from dpsql.plan.dialects import scratch
from dpsql.plan.dialects.duckdb import functions as vault
from dpsql.plan.dialects.literals import identifier, literal
from tests.unit.functions.world import as_atom, atom, connection

X, Y = Column(1, BIGINT, "x"), Column(2, TEXT, "y")


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    return connection()


def read_back(constant: Literal) -> tuple[object, str]:
    shown = literal(constant)
    row = con().execute(f"SELECT {as_atom(shown, constant.type)}, typeof({shown})").fetchall()[0]
    return atom(row[0], constant.type), row[1]


@given(
    st.text(st.characters(exclude_categories=["Cs"])).map(literal_of)
    | st.floats(allow_nan=False, allow_infinity=False).map(literal_of)
    | st.integers(-(2**127), 2**127 - 1).map(literal_of)
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4).map(literal_of)
    | st.booleans().map(literal_of)
    | st.dates().map(literal_of)
    | st.datetimes().map(literal_of)
)
def test_constants_read_back_as_they_are(constant: Literal) -> None:
    value, type_ = read_back(constant)
    assert repr(value) == repr(constant.value)
    assert type_ == constant.type.sql


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))
def test_identifiers_read_back(name: str) -> None:
    assert con().execute(f"SELECT 1 AS {identifier(name)}").description[0][0] == name


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "2147483647",
        "2147483648",
        "9223372036854775808",
        "1.5",
        "1.50",
        "0.05",
        ".5",
        "1.",
        "00012.50",
        "1e5",
        "1E-3",
    ],
)
def test_number_tokens_have_duckdbs_types(text: str) -> None:
    literal = number_literal(text)
    value, type_ = con().execute(f"SELECT CAST({text} AS VARCHAR), typeof({text})").fetchall()[0]
    assert type_ == literal.type.sql
    exact = literal.value if isinstance(literal.value, int | Fraction) else str(literal.value)
    assert Fraction(value) == Fraction(exact)


def test_parameters() -> None:
    assert literal_of(np.int64(5)).type == INTEGER
    assert literal_of(np.float64(0.5)) == Literal(0.5, REAL)
    assert literal_of(pydecimal.Decimal("1.50")).type == decimal(3, 2)
    assert literal_of(dt.date(1970, 1, 2)) == Literal(1, DATE)
    assert literal_of(dt.datetime(1970, 1, 1, 0, 0, 1)) == Literal(1_000_000, TIMESTAMP)
    for bad in (float("nan"), [1], object(), b"x", 2**200, dt.datetime.now(dt.UTC), pydecimal.Decimal("NaN"), "\ud800"):
        with pytest.raises(InterfaceError) as caught:
            literal_of(bad)
        assert caught.value.code == "DPSQL-601"
    with pytest.raises(InterfaceError, match="more than 128 bits"):
        literal_of(2**127)


def test_minus_and_casts_of_constants_fold() -> None:
    def cast(text: str, to: Type) -> Expr:
        return make("cast", (literal_of(text),), at=None, to=to)

    assert make("negate", (number_literal("2147483648"),), at=None) == Literal(-(2**31), INTEGER)
    assert cast("2020-01-31", DATE) == Literal(18292, DATE)
    assert cast("1.25", decimal(9, 2)) == Literal(Fraction(5, 4), decimal(9, 2))
    with pytest.raises(SqlError):
        make("equal", (Column(1, DATE, "d"), literal_of("31.1.2020")), at=None)


@pytest.mark.parametrize(
    ("expr", "sql"),
    [
        (AggregateCall("count", (), BIGINT), "count(*)"),
        (AggregateCall("count", (X,), BIGINT, distinct=True, where=make("less", (X, X), at=None)),
         "count(DISTINCT x) FILTER (WHERE (x < x))"),
        (AggregateCall("string_agg", (Y, literal_of(",")), TEXT, order=(SortKey(X, descending=True),)),
         "string_agg(y, ',' ORDER BY x DESC NULLS LAST)"),
        (AggregateCall("percentile_cont", (literal_of(0.5),), REAL, order=(SortKey(X),)),
         "percentile_cont(5e-1) WITHIN GROUP (ORDER BY x ASC NULLS LAST)"),
        (WindowCall("lag", (X, literal_of(1)), BIGINT, partition=(Y,), order=(SortKey(X, nulls_first=True),),
                    ignore_nulls=True),
         "lag(x, 1 IGNORE NULLS) OVER (PARTITION BY y ORDER BY x ASC NULLS FIRST)"),
        (WindowCall("sum", (X,), BIGINT, order=(SortKey(X),),
                    frame=Frame("ROWS", ("PRECEDING", literal_of(2)), ("CURRENT ROW", None), "TIES")),
         "sum(x) OVER (ORDER BY x ASC NULLS LAST ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES)"),
    ],
)  # fmt: skip
def test_scratch_prints_aggregates_and_windows(expr: Expr, sql: str) -> None:
    shown = scratch.render(expr, lambda c: c.name)
    con().execute(f"DESCRIBE SELECT {shown} FROM (SELECT 1::BIGINT x, 'a' y)")
    assert shown.replace("0.5e0", "5e-1") == sql


def test_scratch_functions_have_no_form_in_the_vault() -> None:
    call = make("md5", (Y,), at=None)
    assert call.type == ANY
    assert scratch.render(call, lambda c: c.name) == "md5(y)"
    assert infer(call, {})[1].type == ANY
    with pytest.raises(Refused, match="MD5 works on released results"):
        totalise(call, {})
    with pytest.raises(InternalError):
        vault.render(call, lambda c: c.name)
    assert "random" not in SCRATCH_FUNCTIONS


def test_every_row_says_what_it_does() -> None:
    for name, function in FUNCTIONS.items():
        assert name == function.name
        assert function.doc.endswith(".") and function.signature


@pytest.mark.parametrize("name", ["add", "multiply", "case", "coalesce", "cast"])
def test_nested_calls_stay_linear_and_are_decided_once(name: str) -> None:
    """Sixty levels: neither the SQL nor the time may double at each."""
    sizes = []
    for depth in (30, 60):
        expr: Expr = X
        for _ in range(depth):
            expr = nested(name, expr)
        total, made_total = totalise(expr, {})
        sizes.append(len(vault.render(total, lambda c: c.name)))
        assert totalise(total, {}) == (total, made_total)
        assert infer(total, {})[0] == total
    assert sizes[1] < 3 * sizes[0]


def nested(name: str, inner: Expr) -> Expr:
    if name == "case":
        return make("case", (make("less", (X, literal_of(5)), at=None), inner, X), at=None)
    if name == "cast":
        return make(
            "cast", (make("cast", (inner,), at=None, to=TEXT),), at=None, to=DATE if inner.type == DATE else BIGINT
        )
    return make(name, (inner, X), at=None)
