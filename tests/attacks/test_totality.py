"""Every function × argument types × hostile values, through DuckDB in the vault's form: total, small, typed, the same.

attacks.md, "an error that happens only if a person is there". The plain form is compared where it does not raise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest

from dpsql.domain.types import Kind
from dpsql.functions import FUNCTIONS, infer, totalise
from dpsql.ir.expr import Call, Column, walk
from dpsql.plan.dialects import scratch
from dpsql.plan.dialects.duckdb import functions as vault
from tests.unit.functions.world import (
    HOSTILE,
    TYPES,
    WIDE,
    as_atom,
    atom,
    connection,
    every_call,
    fill,
    holds,
    in_range,
)

SEMANTIC_CUTS = frozenset((Kind.DATE, Kind.TIMESTAMP))  # beyond year 9999 the vault says NULL


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    connection_ = connection()
    for number, type_ in enumerate(TYPES):
        fill(connection_, f"hostile_{number}", type_, HOSTILE[type_])
    yield connection_
    connection_.close()


def source(call: Call) -> str:
    """The hostile values of every column of the call, all combinations."""
    columns = {part.id: part for part in walk(call) if isinstance(part, Column)}
    if not columns:
        return "(SELECT 1)"
    tables = [f"hostile_{TYPES.index(c.type)} AS t{i}" for i, c in columns.items()]
    shown = ", ".join(f"t{i}.v AS c{i}" for i in columns)
    return f"(SELECT {shown} FROM {' CROSS JOIN '.join(tables)})"


def name(column: Column) -> str:
    return column.name


def expressions(call: Call) -> tuple[str, str]:
    """The total form; and the plain one, over what is made of the arguments where these are calls: casts that the binder
    writes out, which are tried as functions of their own."""
    total, _ = totalise(call, {})
    if call.function == "round":  # of a NULL decimal DuckDB's is 0 where it rounds all digits away
        plain = scratch.render(call, name)
        return vault.render(total, name), f"CASE WHEN {scratch.render(call.args[0], name)} IS NOT NULL THEN {plain} END"
    if not any(isinstance(arg, Call) for arg in call.args):
        return vault.render(total, name), scratch.render(call, name)
    args = tuple(totalise(arg, {})[0] for arg in call.args)
    return vault.render(total, name), vault.render(dataclasses.replace(call, args=args), name)


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_total_typed_small_and_the_same(con: duckdb.DuckDBPyConnection, function: str) -> None:
    tried = every_call(function)
    assert tried, "no argument types were found for this function"
    for call in tried:
        total, plain = expressions(call)
        described = con.execute(f"DESCRIBE SELECT {total} AS total, {plain} AS plain FROM {source(call)}").fetchall()
        expected = call.type.sql if call.type.kind is not Kind.NULL else '"NULL"'
        assert [row[1] for row in described] == [expected, expected], (total, plain)
        check_rows(con, call, total, plain)


def check_rows(con: duckdb.DuckDBPyConnection, call: Call, total: str, plain: str) -> None:
    """One query: growth, domain, and equality with the plain form wherever that has an answer."""
    total_call, range_ = totalise(call, {})
    _, domain = infer(total_call, {})
    sizes = " + ".join(size(arg) for arg in call.args if isinstance(arg, Column)) or "0"
    tried = f"(SELECT {total} AS total, TRY({plain}) AS plain, {sizes} AS size FROM {source(call)})"
    rows = con.execute(
        f"SELECT {as_atom('total', call.type)}, {as_atom('plain', call.type)}, size,"
        f" octet_length(encode(CAST(total AS VARCHAR))) FROM {tried}"
    ).fetchall()
    for answered, wanted, taken, given in rows:
        assert given is None or given <= 4 * taken + 64 or call.type.kind is not Kind.TEXT, (total, taken, given)
        value, plainly = atom(answered, call.type), atom(wanted, call.type)
        assert holds(domain, value), (total, value, domain)
        assert in_range(range_, value, call.type), (total, value, range_)
        if plainly is not None:
            assert same(value, plainly, call), (total, plain, value, plainly)


def size(column: Column) -> str:
    return f"coalesce(octet_length(encode(CAST(c{column.id} AS VARCHAR))), 0)"


def same(value: object, plain: object, call: Call) -> bool:
    if value is None:
        return cut_off(plain, call)
    return value == plain or (value != value and plain != plain)


def cut_off(plain: object, call: Call) -> bool:
    """Where the vault's NULL is documented: years beyond 9999, decimals of 38 digits that use the last one."""
    if call.function in ("strptime", "try_strptime"):
        return plain in (0, -2_208_988_800_000_000)  # the words "epoch" and "infinity"
    if call.type.kind is Kind.DECIMAL and call.type.precision == 38 and isinstance(plain, Fraction):
        if all(arg.type == WIDE for arg in call.args) and call.function in ("add", "subtract"):
            return True  # two large operands may nearly cancel
        return abs(plain) >= Fraction(10 ** (38 - call.type.scale), 3)
    if call.type.kind in SEMANTIC_CUTS and isinstance(plain, int):
        unit = 1 if call.type.kind is Kind.DATE else 86_400_000_000
        return not -719_162 * unit <= plain < 2_932_897 * unit
    return False
