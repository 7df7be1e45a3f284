"""What DuckDB computes always lies in the inferred Domain and Range, for random arguments in random ones; and no plain
form that a Range allows ever fails."""

from __future__ import annotations

import functools
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.domain.facts import Atom, Domain, known
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import Range, hull, type_range
from dpsql.domain.types import BOOLEAN, TEXT, Kind, Type
from dpsql.functions import FUNCTIONS, infer, totalise
from dpsql.functions.infer import UNIONS
from dpsql.ir.expr import Call, Column, Literal, walk
from dpsql.plan.dialects.duckdb import functions as vault
from dpsql.plan.dialects.literals import literal
from tests.unit.functions.world import HOSTILE, as_atom, atom, connection, every_call, holds, in_range, in_units

NAMES = sorted(FUNCTIONS)


@functools.cache
def tried(name: str) -> list[Call]:
    return every_call(name)


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    return connection()


def values(type_: Type) -> st.SearchStrategy[Atom]:
    """Hostile values, and ordinary ones near zero."""
    known = [v for v in HOSTILE[type_] if v is not None and v == v]
    ordinary: dict[Kind, st.SearchStrategy[Atom]] = {
        Kind.INTEGER: st.integers(-200, 200),
        Kind.DECIMAL: st.integers(-2000, 2000).map(lambda n: Fraction(n, 10**type_.scale)),
        Kind.REAL: st.integers(-4000, 4000).map(lambda n: n / 8),
        Kind.DATE: st.integers(18_000, 19_000),
        Kind.TIMESTAMP: st.integers(18_000 * 24, 19_000 * 24).map(lambda n: n * 3_600_000_000 + 1234),
        Kind.TEXT: st.text("ab ,.XY12", max_size=6),
    }
    return st.sampled_from(known) | ordinary.get(type_.kind, st.sampled_from(known))


@st.composite
def worlds(draw: st.DrawFn, type_: Type) -> tuple[Domain, list[Atom]]:
    """A domain that holds a few values, and these."""
    atoms: list[Atom] = draw(st.lists(values(type_), min_size=2, max_size=4))
    null = draw(st.booleans())
    keys = (*dict.fromkeys(atoms), *([None] if null else [])) if draw(st.booleans()) else None
    spread = Interval()
    if type_ not in (TEXT, BOOLEAN):
        numbers = [Fraction(v) for v in atoms if v is not None and not isinstance(v, str) and abs(v) != float("inf")]
        low, high = (min(numbers), max(numbers)) if numbers else (None, None)
        endless = len(numbers) < len(atoms)
        spread = Interval(
            None if endless or draw(st.booleans()) else low, None if endless or draw(st.booleans()) else high
        )
        if any(isinstance(v, float) and abs(v) == float("inf") for v in atoms):
            keys = None
    return Domain(type=type_, interval=spread, nullable=null, keys=keys), [*atoms, *([None] if null else [])]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=max(10, settings().max_examples // 8))  # for each function
@given(data=st.data())
def test_values_lie_in_the_inferred_domain(name: str, data: st.DataObject) -> None:
    for call in data.draw(st.lists(st.sampled_from(tried(name)), min_size=2, max_size=4)):
        check(call, data)


def check(call: Call, data: st.DataObject) -> None:
    columns = {part.id: part for part in walk(call) if isinstance(part, Column)}
    drawn = {i: data.draw(worlds(c.type)) for i, c in columns.items()}
    domains = {i: domain for i, (domain, _) in drawn.items()}
    ranges = {
        i: hull(Range(n, n) for v in rows if (n := in_units(v, columns[i].type)) is not None)
        for i, (_, rows) in drawn.items()
        if type_range(columns[i].type) is not None
    }
    expr, made_total = totalise(call, ranges)
    _, domain = infer(call, domains)
    total = vault.render(expr, lambda c: c.name)
    values = evaluate(total, call, {columns[i]: rows for i, (_, rows) in drawn.items()})
    for value in values:
        assert holds(domain, value), (total, domains, value, domain)
        assert in_range(made_total, value, call.type), (total, ranges, value, made_total)
    keys = known(domain.keys)
    if keys is not None and call.function not in UNIONS and all(one.keys is not None for one in domains.values()):
        assert {k for k in keys if k is not None} == {v for v in values if v is not None and v == v}, (total, domains)


def evaluate(total: str, call: Call, columns: dict[Column, list[Atom]]) -> list[Atom]:
    """The expression on all combinations of the columns' values."""
    tables = [
        f"(SELECT unnest([{', '.join(cell(v, c.type) for v in rows)}]) AS {c.name})" for c, rows in columns.items()
    ]
    source = f" FROM {' CROSS JOIN '.join(tables)}" if tables else ""
    answered = con().execute(f"SELECT {as_atom(f'({total})', call.type)}{source}").fetchall()
    return [atom(value, call.type) for (value,) in answered]


def cell(value: Atom, type_: Type) -> str:
    return f"CAST({literal(Literal(value, type_))} AS {type_.sql})"
