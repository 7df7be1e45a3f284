"""What the tests of the function table share: columns, hostile values, calls of every row over every type, DuckDB."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator
from fractions import Fraction

import duckdb

from dpsql.domain.facts import Atom, Domain, known
from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, BOOLEAN, DATE, INTEGER, REAL, TEXT, TIMESTAMP, Kind, Type, decimal
from dpsql.errors import SqlError
from dpsql.functions import FUNCTIONS, Function, interval_literal, literal_of, make, number_literal
from dpsql.functions.date_parts import SPELLINGS
from dpsql.functions.timestamps import of_date, of_datetime
from dpsql.ir.expr import Call, Column, Expr, Literal

SMALL, MONEY, WIDE = decimal(9, 2), decimal(18, 3), decimal(38, 10)
TYPES = (BOOLEAN, INTEGER, BIGINT, SMALL, MONEY, WIDE, REAL, DATE, TIMESTAMP, TEXT)
FEWER = (BOOLEAN, BIGINT, SMALL, REAL, DATE, TIMESTAMP, TEXT)

INF, NAN = float("inf"), float("nan")
BITS31, BITS63 = 2**31, 2**63


def moments() -> list[Atom]:
    years = [(1, 1, 1), (1, 1, 3), (99, 12, 31), (1582, 10, 15), (1900, 2, 28), (1969, 12, 31), (1970, 1, 1)]
    years += [(2021, 1, 3), (2022, 1, 1)]  # a Sunday and a Saturday, in the last week of the year before
    years += [(1999, 12, 31), (2000, 2, 29), (2020, 2, 29), (2024, 12, 30), (2026, 8, 31), (9998, 1, 1), (9999, 12, 31)]
    return [of_date(dt.date(*year)) for year in years]


def decimals(type_: Type) -> list[Atom]:
    top = 10**type_.precision - 1
    units = [0, 1, -1, 5, -5, 49, 50, 51, 99, 100, 105, -105, 15, 25, 12345, top, -top, top - 1, top // 2, top // 2 + 1]
    return [Fraction(u, 10**type_.scale) for u in units]


HOSTILE: dict[Type, list[Atom]] = {
    BOOLEAN: [None, True, False],
    INTEGER: [
        None,
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        10,
        -10,
        31,
        100,
        65536,
        999_999,
        5_000_000,
        BITS31 - 1,
        -BITS31,
        1 - BITS31,
    ],
    BIGINT: [None, 0, 1, -1, 2, 5, -7, 10, 15, 63, 64, 100, BITS31, -BITS31 - 1, 2**32, 2**53 + 1, 10**18, 3037000500]
    + [BITS63 - 1, BITS63 - 2, -BITS63, 1 - BITS63, BITS63 - 5, -(10**18), BITS63 // 2, BITS63 // 2 + 1],
    SMALL: [None, *decimals(SMALL)],
    MONEY: [None, *decimals(MONEY)],
    WIDE: [None, *decimals(WIDE)],
    REAL: [
        None,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        0.1,
        1 / 3,
        2.0**31,
        -(2.0**31),
        2.0**53,
        2.0**63,
        -(2.0**63),
    ]
    + [1e18, 1e19, 1e38, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 2.2e-308, 709.7, INF, -INF, NAN]
    + [3.141592653589793, 1e22, 123456789.125, 9.995, 0.15, 1e-7, 170.6, 1e15 + 0.5],
    DATE: [None, *moments()],
    TIMESTAMP: [None, of_datetime(dt.datetime.max), *(d * 86_400_000_000 + 3_723_123_456 for d in moments()), 0]
    + [d * 86_400_000_000 for d in moments() if isinstance(d, int)],
    TEXT: [
        None,
        "",
        " ",
        "a",
        "A",
        "abc",
        "  padded  ",
        "'",
        '"',
        "%",
        "_",
        "\\",
        "a%b",
        "NULL",
        "nan",
        "inf",
        "-0",
        "1e400",
    ]
    + ["1", "-1", " 12 ", "1.5", "9223372036854775808"]
    + ["2020-02-30", "2020-01-01", "infinity", "-infinity", "epoch"]
    + [
        "0001-01-01 (BC)",
        "290000-01-01",
        "294247-01-10 04:00:54.775807",
        "true",
        "yes",
        "\x00",
        "a\x00b",
        "ß",
        "İ",
        "ŉ",
    ]
    + [
        "👍🏽",
        "e\u0301",
        "日本",
        "\u202e",
        "x" * 4000,
        "é" * 500,
        "\n\r\t",
        "a,b,c",
        "aaaa",
        "(",
        "[",
        "DPSQL-SENTINEL",
    ],
}


def constants(function: Function) -> dict[int, list[Literal]]:
    """Positions that take constants alone, with some to try."""
    texts, numbers = (
        [literal_of(t) for t in ("", "a", "%a_", "é", "'")],
        [literal_of(n) for n in (0, 1, -1, 3, BITS31 - 1)],
    )
    parts = [literal_of(part) for part in SPELLINGS]
    steps = [literal_of(p) for p in ("year", "quarter", "week", "day", "second", "microsecond", "millennium", "decade")]
    match function.name:
        case "date_part":
            return {0: parts}
        case "date_trunc" | "date_diff" | "date_sub":
            return {0: steps}
        case "left" | "right" | "substring":
            return {1: numbers, 2: numbers}
        case "split_part":
            return {1: texts, 2: numbers}
        case "replace" | "translate":
            return {1: [literal_of(t) for t in ("", "a", "ab", "é")], 2: [literal_of(t) for t in ("", "b", "👍")]}
        case "trim" | "ltrim" | "rtrim":
            return {1: texts}
        case "like" | "not_like" | "ilike" | "not_ilike":
            patterns = ("", "%", "a%", "%a%", "_", "\\", "a!%", "%" * 30 + "b")
            return {1: [literal_of(p) for p in patterns], 2: [literal_of(e) for e in ("", "!")]}
        case "regexp_matches" | "regexp_full_match":
            return {1: [literal_of(p) for p in ("", "a", "^a.*c$", "[a-c]+", r"\d{2,5}", "(a|b)?c", "(?i:ABC)", r"\.")]}
        case "strftime":
            return {1: [literal_of(f) for f in ("-", "%Y-%m-%d", "%H:%M:%S %j %y", "%A %B %%")]}
        case "strptime" | "try_strptime":
            return {1: [literal_of(f) for f in ("%Y", "%Y-%m-%d", "%d/%m/%Y %H:%M:%S")]}
        case "round":
            return {1: [literal_of(n) for n in (0, 1, 2, 30, -1, -3, -18, -19, -38)]}
        case "add" | "subtract":
            days = [((1, "day"),), ((-1, "month"), (5, "second")), ((9999, "year"),), ((-9999, "year"),)]
            return {1: [number_literal("1"), number_literal("1.5"), *(interval_literal(d) for d in days)]}
        case _:
            return {}


ONLY_CONSTANT = frozenset(
    [
        "date_part",
        "date_trunc",
        "left",
        "right",
        "substring",
        "split_part",
        "replace",
        "translate",
        "trim",
        "ltrim",
        "rtrim",
        "like",
        "not_like",
        "ilike",
        "not_ilike",
        "regexp_matches",
        "regexp_full_match",
        "strftime",
        "strptime",
        "try_strptime",
        "round",
        "date_diff",
        "date_sub",
    ]
)


def column(position: int, type_: Type) -> Column:
    return Column(position, type_, f"c{position}")


def calls(function: Function, types: tuple[Type, ...] = TYPES) -> Iterator[Call]:
    """Calls of a function over columns of every type it takes, with constants where it wants them."""
    most = function.least + 1 if function.most is None else function.most
    fixed = constants(function)
    for count in range(function.least, min(most, 4) + 1):
        choices: list[list[Expr]] = []
        for position in range(count):
            kinds = types if count < 3 else FEWER
            columns: list[Expr] = [column(position, t) for t in kinds]
            given: list[Expr] = list(fixed.get(position, []))
            choices.append(given if given and function.name in ONLY_CONSTANT else [*columns, *given])
        rows = _alike(count, function) if count >= 3 and not fixed else itertools.product(*choices)
        yield from filter(None, (made(function.name, tuple(row)) for row in rows))


def _alike(count: int, function: Function) -> Iterator[tuple[Expr, ...]]:
    """Of three and more columns, those of one type, and pairs of types that mix."""
    first = BOOLEAN if function.name == "case" else None
    for one, other in itertools.product(FEWER, (*FEWER, WIDE)):
        types = [other if i % 2 else one for i in range(count)]
        if first is not None:
            types = [first, one, other] if count == 3 else [first, one, first, other]
        yield tuple(column(i, t) for i, t in enumerate(types[:count]))


def made(name: str, args: tuple[Expr, ...], to: Type | None = None) -> Call | None:
    """The call, or None where the types do not fit or it folds to a constant."""
    if name in ("cast", "try_cast") and to is None:
        raise AssertionError("use casts()")
    try:
        expr = make(name, args, at=None, to=to)
    except SqlError:
        return None
    return expr if isinstance(expr, Call) else None


def casts(name: str) -> Iterator[Call]:
    for source, to in itertools.product(TYPES, (*TYPES, decimal(4, 1), decimal(38, 0), decimal(38, 38))):
        call = made(name, (column(0, source),), to)
        if call is not None:
            yield call


def every_call(name: str) -> list[Call]:
    function = FUNCTIONS[name]
    return list(casts(name) if name in ("cast", "try_cast") else calls(function))


def connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("SET TimeZone='UTC'; SET ieee_floating_point_ops=true; SET integer_division=false; SET threads=1")
    return con


def stored(value: Atom, type_: Type) -> object:
    """A parameter that arrives in DuckDB as the value, to be cast to the type."""
    match value, type_.kind:
        case None, _:
            return None
        case int(), Kind.DATE:
            return value
        case Fraction(), _:
            units = int(abs(value) * 10**type_.scale)
            digits = str(units).rjust(type_.scale + 1, "0")
            return (
                ("-" if value < 0 else "")
                + digits[: len(digits) - type_.scale]
                + "."
                + digits[len(digits) - type_.scale :]
            )
        case _:
            return value


def fill(con: duckdb.DuckDBPyConnection, table: str, type_: Type, values: list[Atom]) -> None:
    read = {
        Kind.DATE: "DATE '1970-01-01' + CAST(? AS INTEGER)",
        Kind.TIMESTAMP: "make_timestamp(CAST(? AS BIGINT))",
    }.get(type_.kind, f"CAST(? AS {type_.sql})")
    con.execute(f"CREATE OR REPLACE TABLE {table} (v {type_.sql})")
    con.executemany(f"INSERT INTO {table} SELECT {read}", [[stored(v, type_)] for v in values])


def as_atom(expression: str, type_: Type) -> str:
    """SQL that turns a result into something Python reads exactly."""
    match type_.kind:
        case Kind.DATE:
            return f"CAST(datediff('day', DATE '1970-01-01', {expression}) AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"epoch_us({expression})"
        case Kind.DECIMAL | Kind.INTEGER:
            return f"CAST({expression} AS VARCHAR)"
        case _:
            return expression


def atom(value: object, type_: Type) -> Atom:
    match type_.kind:
        case Kind.DECIMAL:
            return None if value is None else Fraction(str(value))
        case Kind.INTEGER:
            return None if value is None else int(str(value))
        case _:
            assert value is None or isinstance(value, bool | int | float | str)
            return value


def holds(domain: Domain, value: Atom) -> bool:
    """Whether a value is inside a domain; NaN counts as NULL, an infinite real needs an open end."""
    keys = known(domain.keys)
    if value is None or value != value:
        return domain.nullable and (keys is None or None in keys)
    if keys is not None and value not in keys:
        return False
    if isinstance(value, str) or domain.type == BOOLEAN:
        return True
    if isinstance(value, float) and value in (INF, -INF):
        return (domain.interval.upper if value > 0 else domain.interval.lower) is None
    exact = Fraction(value)
    slack = abs(exact) * Fraction(1, 2**48) + Fraction(1, 10**300) if isinstance(value, float) else Fraction(0)
    low, high = domain.interval.lower, domain.interval.upper
    inside = (low is None or low - slack <= exact) and (high is None or exact <= high + slack)
    return inside and not (domain.integral and exact.denominator != 1)


def in_units(value: Atom, type_: Type) -> int | None:
    """A value as its Range counts it."""
    if value is None or isinstance(value, str):
        return None
    return int(Fraction(value) * 10**type_.scale)


def in_range(range_: Range | None, value: Atom, type_: Type) -> bool:
    units = None if range_ is None else in_units(value, type_)
    return units is None or (range_ is not None and units in range_)
