"""Every function on Spark over hostile values: it never fails, and answers what DuckDB's vault answers, to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.domain.types import BIGINT, HUGEINT, REAL, TEXT, TIMESTAMP, Kind, Type, decimal
from dpsql.errors import InternalError
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import Call, Column, Expr, Literal
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.dialects.spark import SPARK
from dpsql.plan.dialects.spark.functions import FORMS
from dpsql.plan.dialects.spark.refusals import REASONS
from tests.engines import battery
from tests.engines.battery import COLUMNS, TYPES
from tests.engines.spark import COMPILED, INTERPRETED

TOGETHER = 60  # expressions in one SELECT


def arrow_type(type_: Type) -> Any:
    import pyarrow as pa

    match type_.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.INTEGER:
            return pa.int64() if type_.bits <= 64 else pa.decimal128(38, 0)
        case Kind.DECIMAL:
            return pa.decimal128(type_.precision, type_.scale)
        case Kind.REAL:
            return pa.float64()
        case Kind.TEXT:
            return pa.string()
        case Kind.DATE:
            return pa.date32()
        case _:
            return pa.timestamp("us")


def storable(value: Any, type_: Type) -> Any:
    """The vault's whole numbers of 128 bits are below 2^126 on Spark."""
    return None if type_ == HUGEINT and value is not None and abs(value) >= 2**126 else value


class Engines:
    """The battery's rows on both engines."""

    def __init__(self, spark: Any, folder: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        from dpsql.engine.spark.settings import fresh

        self.rows = [
            tuple(storable(cell, type_) for cell, type_ in zip(row, TYPES.values(), strict=True))
            for row in battery.rows()
        ]
        self._duckdb = duckdb.connect(config={"threads": 1})
        columns = ", ".join(f"{name} {type_.sql}" for name, type_ in TYPES.items())
        self._duckdb.execute(f"CREATE TABLE v (r INTEGER, {columns})")
        marks = ", ".join("?" * (len(TYPES) + 1))
        converted = [tuple(map(battery.for_duckdb, (n, *row))) for n, row in enumerate(self.rows)]
        self._duckdb.executemany(f"INSERT INTO v VALUES ({marks})", converted)
        arrays = {"r": pa.array(range(len(self.rows)), pa.int64())}
        for (name, type_), cells in zip(TYPES.items(), zip(*self.rows, strict=True), strict=True):
            arrays[name] = pa.array(cells, arrow_type(type_))
        parquet.write_table(pa.table(arrays), folder / "v.parquet")
        self.session = fresh(spark)
        self.session.read.parquet(str(folder / "v.parquet")).createOrReplaceTempView("v")

    def on_duckdb(self, exprs: Sequence[Expr]) -> list[Any]:
        source = ", ".join(
            f'{name} COLLATE "binary" AS {name}' if type_ == TEXT else name for name, type_ in TYPES.items()
        )
        shown = _shown(DUCKDB, exprs)
        answered = self._duckdb.execute(f"SELECT {shown} FROM (SELECT r, {source} FROM v) ORDER BY r").fetchall()
        return list(zip(*answered, strict=True))

    def on_spark(self, exprs: Sequence[Expr], *, below: bool) -> list[Any]:
        source = "v AS t"
        if below:
            with SPARK.levels() as levels:
                shown = _shown(SPARK, exprs)
            source = levels.over(source)
        else:
            shown = _shown(SPARK, exprs)
        table = self.session.sql(f"SELECT r, {shown} FROM {source}").toArrow().sort_by("r")
        return [column.to_pylist() for column in table.columns[1:]]

    def compare(self, exprs: Sequence[Expr], *, below: bool) -> None:
        """below: arguments are bound in subselects, as in a SELECT's items; else by lambdas, as in conditions."""
        assert exprs
        for start in range(0, len(exprs), TOGETHER):
            part = exprs[start : start + TOGETHER]
            for expr, one, other in zip(part, self.on_duckdb(part), self.on_spark(part, below=below), strict=True):
                for row, a, b in zip(self.rows, one, other, strict=True):
                    assert battery.as_bits(a) == battery.as_bits(b), (_shown(SPARK, [expr]), row, a, b)


def _shown(dialect: Dialect, exprs: Sequence[Expr]) -> str:
    return ", ".join(f"{dialect.render(expr, _name)} AS e{n}" for n, expr in enumerate(exprs))


def _name(column: Column) -> str:
    return column.name


@pytest.fixture(scope="module")
def engines(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Engines:
    return Engines(spark, tmp_path_factory.mktemp("battery"))


@pytest.fixture
def compiled(engines: Engines) -> Iterator[Engines]:
    """Java code is made of the expressions; without it they are evaluated as they stand."""
    for name, value in COMPILED.items():
        engines.session.conf.set(name, value)
    yield engines
    for name, value in INTERPRETED.items():
        engines.session.conf.set(name, value)


def _possible(exprs: Sequence[Expr]) -> list[Expr]:
    return [expr for expr in exprs if battery.refused(SPARK, expr) is None]


@pytest.mark.slow
def test_each_function_has_a_form_or_is_refused_by_name() -> None:
    missing = [name for name in FUNCTIONS if name not in FORMS and not isinstance(REASONS.get(name), str)]
    assert missing == []
    possible = {expr.function for expr in _possible(battery.expressions()) if isinstance(expr, Call)}
    assert set(FORMS) == possible, "every form is compared"


@pytest.mark.slow
def test_functions_answer_as_on_duckdb(engines: Engines) -> None:
    engines.compare(_possible(battery.sample(battery.expressions(), 8)), below=True)


@pytest.mark.deep
@pytest.mark.parametrize("below", [True, False])
def test_all_calls_answer_as_on_duckdb(below: bool, engines: Engines) -> None:
    engines.compare(_possible(battery.expressions()), below=below)


@pytest.mark.slow
def test_compiled_functions_answer_as_on_duckdb(compiled: Engines) -> None:
    compiled.compare(_possible(battery.sample(battery.expressions(), 3)), below=True)


@pytest.mark.slow
def test_calls_of_calls_answer_as_on_duckdb(engines: Engines) -> None:
    engines.compare(_possible(list(battery.nested())), below=False)


def test_what_is_refused_is_never_printed() -> None:
    for expr in (
        Call("lower", (COLUMNS["t"],), TEXT),
        Call("checked_cast", (COLUMNS["t"],), BIGINT),
        Call("cast", (COLUMNS["x"],), TEXT),
        Call("checked_cast", (COLUMNS["x"],), decimal(10, 2)),
        Call("checked_add", (COLUMNS["h"], COLUMNS["g"]), HUGEINT),
        Call("exp", (COLUMNS["x"],), REAL),
        Call("checked_strptime", (COLUMNS["t"], Literal("%Y", TEXT)), TIMESTAMP),
    ):
        assert SPARK.refusal(expr)
        with pytest.raises(InternalError):
            SPARK.render(expr, _name)


def test_nested_forms_grow_with_the_number_of_calls() -> None:
    """Each argument is printed a bounded number of times, and once where it is a call itself."""
    expr: Expr = COLUMNS["x"]
    sizes = []
    for _ in range(12):
        expr = Call("multiply", (expr, Call("divide", (COLUMNS["y"], COLUMNS["x"]), REAL)), REAL)
        sizes.append(len(SPARK.render(expr, _name)))
    assert sizes[-1] - sizes[-2] <= 1.2 * (sizes[1] - sizes[0])
