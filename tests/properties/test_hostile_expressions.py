"""Random expressions of every type over hostile cells, with constants at the ends of every type: answered, or refused
before anything is read. No value stops a query, and no constant stops the planner."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql.testing import exact
from tests.engines.postgres import Server
from tests.engines.postgres_data import stored
from tests.profile import drawn
from tests.worlds import ASKED, bounded, keys, people

STATEMENTS = drawn(1_600, deep=20_000)
ON_A_SERVER = drawn(300, deep=10_000)  # its refusals are many: of these a sixth is answered
ROWS, UNITS = 40, 9
NAN, INF = float("nan"), float("inf")
COLUMNS: dict[str, Any] = {
    "i": "integer",
    "j": bounded("integer", -5, 120),
    "c": "decimal(9, 2)",
    "w": "decimal(38, 0)",
    "f": "decimal(38, 30)",
    "g": "decimal(18, 3)",
    "x": "real",
    "y": bounded("real", 0, 1),
    "d": "date",
    "m": "timestamp",
    "s": "text",
    "b": "boolean",
    "k": keys("a", "b"),
}
CELLS: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "i": (pa.int64(), (0, 1, -1, 2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 127, -128, 128, 32768)),
    "j": (pa.int64(), (0, -5, 120, 7, 99)),
    "c": (pa.decimal128(9, 2), (D(0), D("9999999.99"), D("-9999999.99"), D("0.01"))),
    "w": (pa.decimal128(38, 0), (D(0), D(10**38 - 1), D(1 - 10**38), D(2**63), D(1))),
    "f": (pa.decimal128(38, 30), (D(0), D("99999999.999"), D("-99999999"), D("1e-30"), D("0.5"))),
    "g": (pa.decimal128(18, 3), (D(0), D("999999999999999.999"), D("-999999999999999.999"), D("1.5"))),
    "x": (pa.float64(), (0.0, -0.0, INF, -INF, NAN, 1e308, -1e308, 5e-324, 1.5)),
    "y": (pa.float64(), (0.0, 0.5, 1.0, 7.0, NAN)),
    "d": (pa.date32(), (dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2020, 2, 29), dt.date(1970, 1, 1))),
    "m": (pa.timestamp("us"), (dt.datetime.min, dt.datetime.max, dt.datetime(2020, 2, 29, 12))),
    "s": (pa.string(), ("", "a", "1", "-1e400", "nan", "2020-01-01", "é" * 30, "9" * 50, "inf", str(-(2**127)))),
    "b": (pa.bool_(), (True, False)),
    "k": (pa.string(), ("a", "b", "c")),
}
CONSTANTS = ["0", "1", "-1", "127", "-128", "32767", "2147483647", "-2147483648", "9223372036854775807", "1.5", "1e300"]
CONSTANTS += [
    "-9223372036854775807",
    str(2**64),
    str(2**127 - 1),
    str(-(2**127)),
    "9" * 38,
    "0." + "0" * 36 + "1",
    "1e-300",
    "NULL",
]
INTEGERS = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"]
NUMBERS = [*INTEGERS, "DECIMAL(9,2)", "DECIMAL(38,0)", "DECIMAL(38,37)", "DECIMAL(4,1)", "DECIMAL(38,19)", "DOUBLE"]
PARTS = ["day", "month", "year", "second", "microsecond", "week"]
ONE = ["abs", "sign", "-", "floor", "ceil", "round", "sqrt", "trunc", "degrees"]
TWO = ["greatest", "least", "coalesce", "nullif"]
TEXTS = ["s", "k", "(s || k)", "substring(s, 2, 3)", "replace(s, 'a', 'bb')", "split_part(s, 'e', 2)"]


@dataclass(frozen=True)
class Given:
    """What expressions are made of. of_texts: whether numbers and moments are read from texts."""

    one: tuple[str, ...] = (*ONE, "exp", "ln", "sin", "log10", "cbrt")
    two: tuple[str, ...] = (*TWO, "power", "mod", "log", "atan2")
    types: tuple[str, ...] = tuple(NUMBERS)
    spans: tuple[str, ...] = ("1 DAY", "9999 YEAR", "3 MONTH", "1 SECOND")
    texts: tuple[str, ...] = (*TEXTS, "upper(s)")
    truncated: tuple[str, ...] = ("month", "year", "day", "hour", "century")
    of_texts: bool = True


EVERYTHING = Given()
# What PostgreSQL refuses is left out but where it depends on types: DECIMAL and HUGEINT of reals, texts of reals.
PORTABLE = Given(
    one=tuple(ONE),
    two=tuple(TWO),
    types=("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DOUBLE", "DECIMAL(38,19)"),
    spans=("1 DAY", "4000 YEAR", "-3999 YEAR", "3 MONTH", "1 SECOND"),
    texts=tuple(TEXTS),
    truncated=("month", "year", "day", "hour", "decade"),
    of_texts=False,
)


class Expressions:
    """Text of a given depth for each type."""

    def __init__(self, draw: random.Random, given: Given) -> None:
        self.draw, self.given = draw, given

    def number(self, depth: int) -> str:
        one = self.draw.choice
        if depth <= 0:
            return one([*"ijcwfgxy", *CONSTANTS])

        def a() -> str:
            return self.number(depth - 1 - self.draw.randrange(2))

        forms: list[Callable[[], str]] = [
            lambda: f"({a()} {one(['+', '-', '*', '/', '//', '%'])} {a()})",
            lambda: f"({a()} {one(['+', '-', '*', '/', '//', '%'])} {a()})",
            lambda: f"CAST({a()} AS {one(self.given.types)})",
            lambda: f"{one(self.given.one)}({a()})",
            lambda: f"{one(self.given.two)}({a()}, {a()})",
            lambda: f"round({a()}, {one([-38, -30, -2, 0, 2, 10])})",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {a()} ELSE {a()} END",
            lambda: f"date_diff('{one(PARTS)}', {self.moment(depth - 1)}, {self.moment(depth - 1)})",
            lambda: f"date_part('{one(['year', 'dow', 'epoch', 'week', 'decade'])}', {self.moment(depth - 1)})",
            lambda: f"length({self.text(depth - 1)})",
            lambda: f"CAST({self.condition(depth - 1)} AS {one(INTEGERS)})",
        ]
        if self.given.of_texts:
            forms.append(lambda: f"TRY_CAST(s AS {one([*NUMBERS, 'HUGEINT', 'HUGEINT'])})")
        return one(forms)()

    def condition(self, depth: int) -> str:
        one = self.draw.choice
        if depth <= 0:
            return one(["b", "TRUE", "b IS NULL", "j > 3"])

        def n() -> str:
            return self.number(depth - 1)

        forms: list[Callable[[], str]] = [
            lambda: f"({n()} {one(['=', '<>', '<', '>=', 'IS DISTINCT FROM'])} {n()})",
            lambda: f"({n()} {one(['=', '<>', '<', '>=', 'IS DISTINCT FROM'])} {n()})",
            lambda: f"({n()} BETWEEN {n()} AND {n()})",
            lambda: f"({n()} IN ({self.number(0)}, {self.number(0)}))",
            lambda: f"({self.moment(depth - 1)} {one(['<', '=', '>'])} {self.moment(depth - 1)})",
            lambda: f"({self.condition(depth - 1)} {one(['AND', 'OR'])} NOT {self.condition(depth - 1)})",
        ]
        return one(forms)()

    def moment(self, depth: int) -> str:
        one = self.draw.choice
        if depth <= 0:
            return one(["d", "m", "DATE '2020-01-01'", "DATE '9999-12-31'", "TIMESTAMP '0001-01-01 00:00:00'"])
        before = self.moment(depth - 1)
        forms = [
            f"({before} {one('+-')} INTERVAL {one(self.given.spans)})",
            f"(d + {one(['j', 'CAST(i AS INTEGER)', '7'])})",
            f"date_trunc('{one(self.given.truncated)}', {before})",
            f"last_day({before})",
        ]
        if self.given.of_texts:
            forms.append(f"TRY_CAST(s AS {one(['DATE', 'TIMESTAMP'])})")
        return one(forms)

    def text(self, depth: int) -> str:
        forms = [*self.given.texts]
        if depth > 0:
            forms += [f"CAST({self.number(depth - 1)} AS VARCHAR)", f"CAST({self.moment(depth - 1)} AS VARCHAR)"]
        return self.draw.choice(forms)

    def statement(self) -> str:
        one, depth = self.draw.choice, self.draw.randrange(1, 5)
        n, n0 = self.number(depth), self.number(0)
        narrow = f"CAST(j AS {one(INTEGERS)})"
        key = one([n, narrow, f"SIGN({n})", self.condition(depth), self.moment(depth), self.text(depth)])
        low, high = one(["-5", "0", "-4611686018427387904", "-0.5"]), one(["10", "99", "4611686018427387904", "1.5"])
        measure = one(["SUM", "AVG", "VAR_POP", "MEDIAN", "MIN", "MAX", "MODE"])
        summary = f"SELECT u, {one(['MAX', 'SUM', 'MIN', 'AVG', 'COUNT'])}({n}) AS v FROM t GROUP BY u"
        step = one(["LAG", "LEAD", "FIRST_VALUE"])
        window = f"SELECT u, {step}({n}) OVER (PARTITION BY u ORDER BY j) AS v FROM t"
        return one(
            [
                f"SELECT COUNT(*) FROM t WHERE {self.condition(depth)}",
                f"SELECT COUNT(*) FROM t WHERE {self.condition(depth)}",
                f"SELECT {key} AS q, COUNT(*) FROM t GROUP BY 1",
                f"SELECT {key} AS q, j, COUNT(*) FROM t GROUP BY 1, 2",
                f"SELECT COUNT(DISTINCT {n}), COUNT({n0}) FROM t",
                f"SELECT {measure}(LEAST(GREATEST({n}, {low}), {high})) FROM t",
                f"SELECT COUNT(*) FROM ({summary}) AS z WHERE v > {n0}",
                f"SELECT COUNT(*) FROM ({window}) AS z WHERE v > {n0}",
                f"SELECT COUNT(*) FROM (SELECT {n} AS v FROM t UNION ALL SELECT {n0} FROM t) AS z WHERE v > 3",
                f"SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.u = b.u AND a.{one('cwfgij')} {one('=<')} b.{one('cwfgij')}",
            ]
        )


def source(draw: random.Random) -> dict[str, pa.Table]:
    columns = {name: pa.array(draw.choices((*cells, None), k=ROWS), type_) for name, (type_, cells) in CELLS.items()}
    return {"t": pa.table({"u": [row % UNITS for row in range(ROWS)], **columns})}


CATALOG: dict[str, Any] = people(
    COLUMNS, max_groups=9, max_rows=9, budget={"epsilon": 10, "delta": 1e-5}, per_query=ASKED
)


@pytest.mark.parametrize("seed", range(2))
def test_no_value_stops_a_query(seed: int, tmp_path: Path) -> None:
    """Seed by seed from a frame, and from a file, of whose statistics an engine concludes things."""
    draw = random.Random(seed)
    private: dict[str, Any] = source(draw)
    if seed % 2:
        pq.write_table(private["t"], tmp_path / "t.parquet")
        private = {"t": tmp_path / "t.parquet"}
    outcomes = asked(draw, private, STATEMENTS // 2)
    assert outcomes["answered"] > STATEMENTS // 4, outcomes


def test_no_value_stops_a_query_on_postgresql(postgres: Server) -> None:
    """Nor does it tell the engines apart: exact answers are the same rows, to the bit."""
    draw = random.Random(15)
    frames = source(draw)
    outcomes = asked(draw, stored(postgres, CATALOG, frames), ON_A_SERVER, PORTABLE, beside=frames)
    assert outcomes["answered"] > ON_A_SERVER * 2 // 3, outcomes


def asked(
    draw: random.Random,
    private: dict[str, Any],
    statements: int,
    given: Given = EVERYTHING,
    *,
    beside: dict[str, Any] | None = None,
) -> Counter[str]:
    """How many statements were answered, and why the others were refused; any other error is a failure. beside: the same
    rows, which give the same answers."""
    expressions = Expressions(draw, given)
    outcomes: Counter[str] = Counter()
    with exact(CATALOG, source=private) as connection, exact(CATALOG, source=beside or private) as other:
        for _ in range(statements):
            sql = expressions.statement()
            try:
                rows = connection.execute(sql).fetchall()
            except dpsql.Error as refused:
                assert "DPSQL-1" < refused.code < "DPSQL-2", f"{sql}\n{refused}"
                outcomes[refused.code] += 1
            else:
                outcomes["answered"] += 1
                assert beside is None or as_bits(rows) == as_bits(other.execute(sql).fetchall()), sql
    return outcomes


def as_bits(rows: list[tuple[Any, ...]]) -> Counter[str]:
    """Rows in any order: GROUP BY promises none."""
    return Counter(map(repr, rows))
