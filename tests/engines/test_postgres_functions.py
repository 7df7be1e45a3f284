"""Every function on PostgreSQL over hostile values: it never fails, and answers what DuckDB's vault answers, to the bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import inf, nan, nextafter
from typing import Any

import duckdb
import psycopg
import pytest

from dpsql.domain.types import BIGINT, REAL, TEXT, TIMESTAMP, decimal
from dpsql.errors import InternalError
from dpsql.functions.function import CHECKED
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import Call, Column, Expr, Literal
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.dialects.postgres import POSTGRES, binding
from dpsql.plan.dialects.postgres.binding import Levels
from dpsql.plan.dialects.postgres.functions import FORMS
from dpsql.plan.dialects.postgres.refusals import REASONS
from tests.engines import battery
from tests.engines.battery import COLUMNS, TYPES
from tests.engines.postgres import OWNER, PLAIN, Server

TOGETHER = 20  # expressions in one SELECT


class Engines:
    """The battery's rows on both engines."""

    def __init__(self, server: Server) -> None:
        self.rows = battery.rows()
        numbered = [(n, *row) for n, row in enumerate(self.rows)]
        self._duckdb = duckdb.connect(config={"threads": 1})
        self._postgres = psycopg.connect(host=str(server.folder), dbname=PLAIN, user=OWNER, autocommit=True)
        self._postgres.execute("SET jit = off; SET max_parallel_workers_per_gather = 0; SET TimeZone = 'UTC'")
        columns = ", ".join(f"{name} {type_.sql}" for name, type_ in TYPES.items())
        self._duckdb.execute(f"CREATE TABLE v (r INTEGER, {columns})")
        marks = ", ".join("?" * (len(TYPES) + 1))
        converted = [tuple(map(battery.for_duckdb, row)) for row in numbered]
        self._duckdb.executemany(f"INSERT INTO v VALUES ({marks})", converted)
        columns = ", ".join(f"{name} {POSTGRES.type(type_)}" for name, type_ in TYPES.items())
        self._postgres.execute(f"CREATE TEMPORARY TABLE v (r integer, {columns})")
        with self._postgres.cursor() as cursor:
            cursor.executemany(f"INSERT INTO v VALUES ({marks.replace('?', '%s')})", numbered)

    def on_duckdb(self, exprs: Sequence[Expr]) -> list[Any]:
        source = ", ".join(
            f'{name} COLLATE "binary" AS {name}' if type_ == TEXT else name for name, type_ in TYPES.items()
        )
        shown = _shown(DUCKDB, exprs)
        answers = self._duckdb.execute(f"SELECT {shown} FROM (SELECT r, {source} FROM v) ORDER BY r").fetchall()
        return list(zip(*answers, strict=True))

    def on_postgres(self, exprs: Sequence[Expr], *, in_levels: bool) -> list[Any]:
        """in_levels: as items of a SELECT are printed, else as conditions are (postgres/binding.py)."""
        source = ", ".join(f'{name} COLLATE "C" AS {name}' if type_ == TEXT else name for name, type_ in TYPES.items())
        source = f"(SELECT r, {source} FROM v) AS t"
        if in_levels:
            with POSTGRES.levels() as levels:
                shown = _shown(POSTGRES, exprs)
            source = levels.over(source)
        else:
            shown = _shown(POSTGRES, exprs)
        select = f"SELECT {shown} FROM {source} ORDER BY r"
        answers = self._postgres.cursor(binary=True).execute(select.replace("%", "%%"), ())
        return list(zip(*answers.fetchall(), strict=True))

    def compare(self, exprs: Sequence[Expr], *, in_levels: bool) -> None:
        for start in range(0, len(exprs), TOGETHER):
            part = exprs[start : start + TOGETHER]
            answers = self.on_duckdb(part), self.on_postgres(part, in_levels=in_levels)
            for expr, one, other in zip(part, *answers, strict=True):
                for row, a, b in zip(self.rows, one, other, strict=True):
                    assert battery.as_bits(a) == battery.as_bits(b), (_shown(DUCKDB, [expr]), row, a, b)

    def close(self) -> None:
        self._duckdb.close()
        self._postgres.close()


def _shown(dialect: Dialect, exprs: Sequence[Expr]) -> str:
    return ", ".join(f"{dialect.render(expr, _name)} AS e{n}" for n, expr in enumerate(exprs))


def _name(column: Column) -> str:
    return column.name


@pytest.fixture(scope="module")
def engines(postgres: Server) -> Iterator[Engines]:
    made = Engines(postgres)
    yield made
    made.close()


def _possible(exprs: Sequence[Expr]) -> list[Expr]:
    return [expr for expr in exprs if battery.refused(POSTGRES, expr) is None]


def test_each_function_has_a_form_or_is_refused_by_name() -> None:
    missing = [name for name in FUNCTIONS if name not in FORMS and not isinstance(REASONS.get(name), str)]
    assert missing == []
    tried = {expr.function for expr in battery.expressions() if isinstance(expr, Call)}
    possible = {expr.function for expr in _possible(battery.expressions()) if isinstance(expr, Call)}
    assert set(FORMS) == possible, "every form is compared"
    assert {name for name in FUNCTIONS if name not in tried and CHECKED + name not in tried} == set()


@pytest.mark.slow
@pytest.mark.parametrize("in_levels", [True, False])
def test_functions_answer_as_on_duckdb(engines: Engines, in_levels: bool) -> None:
    engines.compare(_possible(battery.sample(battery.expressions(), 60)), in_levels=in_levels)


@pytest.mark.deep
@pytest.mark.parametrize("in_levels", [True, False])
def test_all_calls_answer_as_on_duckdb(engines: Engines, in_levels: bool) -> None:
    engines.compare(_possible(battery.expressions()), in_levels=in_levels)


@pytest.mark.parametrize("in_levels", [True, False])
def test_calls_of_calls_answer_as_on_duckdb(engines: Engines, in_levels: bool) -> None:
    engines.compare(_possible(list(battery.nested())), in_levels=in_levels)


def test_what_is_said_twice_is_evaluated_once() -> None:
    root = Call("sqrt", (COLUMNS["x"],), REAL)
    twice = [Call("divide", (root, COLUMNS["x"]), REAL), Call("divide", (root, COLUMNS["y"]), REAL)]
    with POSTGRES.levels() as levels:
        shown = _shown(POSTGRES, twice)
    over = levels.over("v AS t")
    assert over.count(" AS q") == 1 and "SELECT" not in shown
    assert POSTGRES.dear(over) and not POSTGRES.dear("SELECT c1 AS u FROM t")
    assert _shown(POSTGRES, twice).count(" AS q1 ") == 2, "outside of it, nothing is left over"


def _near(*ends: float) -> list[float]:
    return [sign * x for end in ends for x in (end, nextafter(end, 0.0), nextafter(end, inf)) for sign in (1, -1)]


@pytest.mark.slow
def test_doubles_of_medium_size_are_computed_as_others_are(engines: Engines) -> None:
    """Operands at and beside the ends of each box, and the extremes."""
    sizes = [None, nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, 1e308, -1e308]
    sizes += _near(2.0**-60, 2.0**-20, 2.0**20, 2.0**60, 2.0**300)
    x, y, one, tiny = COLUMNS["x"], COLUMNS["y"], Literal(1, BIGINT), Literal(2.0**-900, REAL)

    def call(function: str, *args: Expr) -> Expr:
        return Call(function, args, REAL)

    product, total = call("multiply", x, y), call("add", x, y)
    exprs = [
        call("canonical", call("add", total, x)),
        call("canonical", product),
        call("divide", call("multiply", x, x), call("add", y, one)),
        call("divide", product, total),
        call("multiply", call("multiply", product, product), call("multiply", product, product)),
        call("divide", call("multiply", tiny, x), y),
        call("greatest", call("least", call("divide", call("abs", x), y), one), call("negate", total)),
        call("multiply", call("divide", one, x), call("divide", one, call("multiply", y, y))),
    ]
    boxed = [POSTGRES.render(expr, _name) for expr in exprs]
    assert [text.startswith("CASE WHEN") and " BETWEEN " in text[:80] for text in boxed] == [True] * len(exprs)
    rows = list(itertools.product(range(len(sizes)), range(len(sizes))))
    engines._duckdb.execute("CREATE OR REPLACE TEMPORARY TABLE s (i INTEGER, x DOUBLE)")
    engines._duckdb.executemany("INSERT INTO s VALUES (?, ?)", list(enumerate(sizes)))
    engines._postgres.execute("CREATE TEMPORARY TABLE s (i integer, x float8)")
    with engines._postgres.cursor() as cursor:
        cursor.executemany("INSERT INTO s VALUES (%s, %s)", list(enumerate(sizes)))
    pairs = "FROM (SELECT a.i AS i, b.i AS j, a.x AS x, b.x AS y FROM s AS a CROSS JOIN s AS b) AS t ORDER BY i, j"
    expected = engines._duckdb.execute(f"SELECT {_shown(DUCKDB, exprs)} {pairs}").fetchall()
    shown = engines._postgres.cursor(binary=True).execute(f"SELECT {_shown(POSTGRES, exprs)} {pairs}".encode())
    for (i, j), one_row, other in zip(rows, expected, shown.fetchall(), strict=True):
        assert [*map(battery.as_bits, one_row)] == [*map(battery.as_bits, other)], (sizes[i], sizes[j])


def test_blanks_are_the_same_characters(engines: Engines) -> None:
    """All characters that either engine might take for a blank."""
    by_code = [chr(code) for code in range(1, 0x3100) if not 0xD800 <= code < 0xE000] + ["\ufeff", "\U000e0020"]
    trim = [Call("trim", (Literal(f"{c}x{c}", TEXT),), TEXT) for c in by_code]
    for start in range(0, len(trim), 400):
        part = trim[start : start + 400]
        one, other = (_first(engines, dialect, part) for dialect in (DUCKDB, POSTGRES))
        assert one == other


def _first(engines: Engines, dialect: Dialect, exprs: Sequence[Expr]) -> list[Any]:
    if dialect is DUCKDB:
        (row,) = engines._duckdb.execute(f"SELECT {_shown(DUCKDB, exprs)}").fetchall()
    else:
        (row,) = engines._postgres.execute(f"SELECT {_shown(POSTGRES, exprs)}".replace("%", "%%"), ()).fetchall()
    return list(row)


def test_what_is_refused_is_never_printed() -> None:
    for expr in (
        Call("lower", (COLUMNS["t"],), TEXT),
        Call("checked_cast", (COLUMNS["t"],), BIGINT),
        Call("cast", (COLUMNS["x"],), TEXT),
        Call("checked_cast", (COLUMNS["x"],), decimal(10, 2)),
        Call("exp", (COLUMNS["x"],), REAL),
        Call("checked_strptime", (COLUMNS["t"], Literal("%Y", TEXT)), TIMESTAMP),
        Literal("a\0b", TEXT),
    ):
        assert POSTGRES.refusal(expr)
        with pytest.raises(InternalError):
            POSTGRES.render(expr, _name)


def test_however_many_arguments_there_are_the_relation_below_has_room(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what is bound as columns the rest is bound by subselects, whose arguments may be columns of either kind."""
    x = COLUMNS["x"]
    number = [Literal(float(n), REAL) for n in range(30)]
    monkeypatch.setattr(binding, "MOST_COLUMNS", 25)
    sums = [Call("multiply", (Call("sqrt", (Call("multiply", (x, n), REAL),), REAL), n), REAL) for n in number]
    with POSTGRES.levels() as levels:
        shown = [POSTGRES.render(expr, _name) for expr in sums]
    over = levels.over("(SELECT * FROM v) AS t")
    assert (
        isinstance(levels, Levels)
        and len(levels.names) == 25
        and " AS bound)" in shown[-1]
        and " AS bound)" not in shown[0]
    )
    counted = " + ".join(f"count({each})" for each in shown)
    in_levels, alone = (
        engines._postgres.execute(f"SELECT {counted} FROM {source} WHERE r < 20".replace("%", "%%"), ()).fetchall()
        for counted, source in (
            (counted, over),
            (" + ".join(f"count({POSTGRES.render(expr, _name)})" for expr in sums), "v"),
        )
    )
    assert in_levels == alone != [(0,)]


def test_nested_forms_grow_with_the_number_of_calls() -> None:
    """Each argument is printed a bounded number of times, and once where it is a call itself."""
    expr: Expr = COLUMNS["x"]
    sizes = []
    for _ in range(12):
        expr = Call("multiply", (expr, Call("divide", (COLUMNS["y"], COLUMNS["x"]), REAL)), REAL)
        sizes.append(len(POSTGRES.render(expr, _name)))
    assert sizes[-1] - sizes[-2] <= 1.2 * (sizes[1] - sizes[0])
