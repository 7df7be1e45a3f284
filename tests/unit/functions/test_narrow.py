"""The rows that pass a predicate lie in the narrowed domains: random predicates over random rows, run by DuckDB."""

from __future__ import annotations

import functools
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import interval
from dpsql.domain.types import BIGINT, BOOLEAN, DATE, INTEGER, NULL, REAL, TEXT, Type, decimal
from dpsql.functions import literal_of, make, narrow, totalise
from dpsql.ir.expr import Column, Expr, Literal
from dpsql.plan.dialects.duckdb import functions as vault
from dpsql.plan.dialects.literals import literal
from tests.unit.functions.world import as_atom, atom, connection, holds

MONEY = decimal(9, 2)
COLUMNS = [Column(i, t, f"c{i}") for i, t in enumerate((BIGINT, REAL, MONEY, DATE, TEXT, BOOLEAN))]
WHOLE = {
    0: Domain(type=BIGINT, interval=interval(-5, 5)),
    1: Domain(type=REAL, interval=interval(-5, 5)),
    2: Domain(type=MONEY, interval=interval(-5, 5)),
    3: Domain(type=DATE, interval=interval(18_000, 18_010)),
    4: Domain(type=TEXT, keys=("a", "b", "c", None)),
    5: Domain(type=BOOLEAN),
}
VALUES: dict[int, list[Atom]] = {
    0: [None, *range(-5, 6)],
    1: [None, *(n / 2 for n in range(-10, 11))],
    2: [None, *(Fraction(n, 4) for n in range(-20, 21))],
    3: [None, *range(18_000, 18_011)],
    4: [None, "a", "b", "c"],
    5: [None, True, False],
}
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_distinct", "is_not_distinct")


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    return connection()


def call(name: str, *args: Expr) -> Expr:
    return make(name, args, at=None)


def constants(type_: Type) -> st.SearchStrategy[Expr]:
    if type_ == TEXT:
        return st.sampled_from([literal_of(t) for t in ("a", "b", "z")])
    if type_ == DATE:
        return st.integers(17_999, 18_011).map(lambda d: Literal(d, DATE))
    if type_ == BOOLEAN:
        return st.sampled_from([literal_of(b) for b in (True, False)])
    halves = st.integers(-12, 12).map(lambda n: Literal(Fraction(n, 2), decimal(3, 1)))
    return st.integers(-6, 6).map(lambda n: Literal(n, INTEGER)) | halves | st.just(Literal(None, NULL))


@st.composite
def atoms(draw: st.DrawFn) -> Expr:
    column = draw(st.sampled_from(COLUMNS))
    given_ = constants(column.type)
    kind = draw(st.sampled_from(("compare", "mirror", "between", "in", "null", "truth", "sum")))
    if kind == "between":
        return call("between", column, draw(given_), draw(given_))
    if kind == "in":
        return call("in", column, *draw(st.lists(given_, min_size=1, max_size=3)))
    if kind == "null":
        return call(draw(st.sampled_from(("is_null", "is_not_null"))), column)
    if kind == "truth":
        return draw(st.sampled_from((COLUMNS[5], call("is_true", COLUMNS[5]), call("is_false", COLUMNS[5]))))
    if kind == "sum":
        return call("less", call("add", COLUMNS[0], COLUMNS[2]), draw(constants(BIGINT)))
    sides = (column, draw(given_))
    return call(draw(st.sampled_from(COMPARISONS)), *(sides if kind == "compare" else sides[::-1]))


def joined(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(st.sampled_from(("and", "or")), parts, parts).map(lambda p: call(p[0], p[1], p[2]))
    tests = st.tuples(st.sampled_from(("not", "is_true", "is_not_true", "is_false")), parts)
    return pairs | tests.map(lambda p: call(p[0], p[1]))


@given(st.recursive(atoms(), joined, max_leaves=5), st.data())
def test_rows_that_pass_lie_in_the_narrowed_domains(predicate: Expr, data: st.DataObject) -> None:
    narrowed = narrow(predicate, WHOLE)
    total = vault.render(totalise(predicate, {})[0], lambda c: c.name)
    rows = [[data.draw(st.sampled_from(VALUES[c.id])) for c in COLUMNS] for _ in range(12)]
    cells = ", ".join(f"({', '.join(map(cell, row, COLUMNS))})" for row in rows)
    shown = ", ".join(as_atom(c.name, c.type) for c in COLUMNS)
    names = ", ".join(c.name for c in COLUMNS)
    for row in con().execute(f"SELECT {shown} FROM (VALUES {cells}) t({names}) WHERE {total}").fetchall():
        for column, value in zip(COLUMNS, row, strict=True):
            if column.id in narrowed:
                assert holds(narrowed[column.id], atom(value, column.type)), (total, value, narrowed[column.id])


def cell(value: Atom, column: Column) -> str:
    return f"CAST({literal(Literal(value, column.type))} AS {column.type.sql})"


def numbers(*bounds: int) -> tuple[Expr, ...]:
    return tuple(literal_of(b) for b in bounds)


def test_what_where_is_expected_to_find() -> None:
    age, _, _, day, name, flag = COLUMNS
    assert narrow(call("between", age, *numbers(-1, 3)), WHOLE)[0].interval == interval(-1, 3)
    assert narrow(call("less", *numbers(0), age), WHOLE)[0].interval == interval(1, 5)
    assert narrow(call("in", name, literal_of("a"), literal_of("z")), WHOLE)[4].keys == ("a",)
    assert narrow(call("in", age, *numbers(1, 4, 9)), WHOLE)[0].keys == (1, 4)
    assert narrow(call("greater", day, literal_of("1970-01-02")), WHOLE)[3].interval == interval(18_000, 18_010)
    assert narrow(flag, WHOLE)[5].keys == (True,)
    assert narrow(call("not", flag), WHOLE)[5].keys == (False,)
    either = call("or", call("less", age, *numbers(-3)), call("equal", age, *numbers(2)))
    assert narrow(either, WHOLE)[0].interval == interval(-5, 2)
    assert narrow(call("or", call("less", age, *numbers(0)), flag), WHOLE) == {}
    assert not narrow(call("is_not_null", age), WHOLE)[0].nullable
    assert narrow(call("is_null", age), WHOLE) == {}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("constant", range(-6, 7))
def test_comparisons_are_exact_on_whole_numbers(name: str, negated: bool, constant: int) -> None:
    """Against all values: nothing that passes is lost, and for = < <= > >= nothing else is kept."""
    predicate = call(name, COLUMNS[0], Literal(constant, INTEGER))
    predicate = call("not", predicate) if negated else predicate
    total = vault.render(predicate, lambda c: c.name)
    answered = con().execute(
        f"SELECT c0 FROM (SELECT unnest([NULL, {', '.join(map(str, range(-5, 6)))}]) c0) WHERE {total}"
    )
    passing = [value for (value,) in answered.fetchall()]
    domain = narrow(predicate, WHOLE).get(0, WHOLE[0])
    assert all(holds(domain, value) for value in passing)
    kept = [value for value in range(-5, 6) if holds(domain, value)]
    apart = {"not_equal", "is_distinct"} if not negated else {"equal", "is_not_distinct"}
    assert name in apart or kept == passing
