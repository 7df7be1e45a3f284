"""Every function of the table over hostile values, on two engines: the same rows and expressions, answers by bits."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql import functions
from dpsql.domain.ranges import Range, Ranges
from dpsql.domain.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    INTERVAL,
    NULL,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TINYINT,
    Kind,
    Type,
    decimal,
)
from dpsql.errors import Error
from dpsql.functions.date_parts import SPELLINGS
from dpsql.functions.function import CHECKED
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import Call, Column, Expr, Literal
from dpsql.plan.dialects.dialect import Dialect

REALS: list[float | None] = [
    None, float("nan"), 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 3.7, -3.7, 1e308,
    -1e308,
    1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324, 1e-320, 2.2250738585072014e-308, 1e-160,
    -1e-170, 1e150,
    1e-150, 1e155, 1e16, 2.0**52 + 0.5, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 9.3e18, float("inf"), float("-inf"),
    127.5,
    128.4, -128.5, 32767.5, 2147483647.5, 2147483647.4, -2147483648.5, 1e37, 1e38, 1.7e38, 123456.785, 0.1, 1e-300,
    1e300,
]  # fmt: skip
INTEGERS: list[int | None] = [
    None, 0, 1, -1, 2, -2, 3, 7, 10, -10, 99, 127, 128, -128, 255, 32767, -32769, 2**31 - 1, 2**31, -(2**31),
    2**53 + 1,
    10**18, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 4_000_000, -4_000_000, 719162, 365,
]  # fmt: skip
HUGE: list[int | None] = [
    None, 0, 1, -1, 2**63, -(2**63) - 1, 2**64, -(2**64), 2**64 + 1, 2**100 + 12345, -(2**100) - 1, 2**126 - 1,
    -(2**126) + 1,
    2**126, 2**127 - 1, -(2**127), 10**38, 10**19 + 7, 2**53 + 1, 123456789012345678901234567,
]  # fmt: skip
DAYS: list[date | None] = [
    None, date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31), date(2020, 2, 29), date(1900, 2,
    28),
    date(1582, 10, 10), date(2000, 1, 1), date(2024, 12, 30), date(2021, 1, 3), date(999, 5, 6), date(9, 9, 9),
    date(1000, 1, 31), date(10, 3, 31), date(2023, 3, 31),
]  # fmt: skip
TIMES: list[datetime | None] = [
    None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1), datetime(1969, 12,
    31, 23, 59, 59, 999999),
    datetime(1969, 12, 31, 23, 59, 59, 999500), datetime(1969, 12, 31, 23, 30), datetime(2026, 3, 29, 2, 30),
    datetime(2020, 2, 29, 12, 34, 56, 789012),
    datetime(1582, 10, 10, 1, 2, 3), datetime(2000, 1, 1, 0, 0, 0, 500), datetime(2000, 1, 1, 0, 0, 0, 1500),
    datetime(2024, 12, 30, 13, 0, 0, 100000),
    datetime(999, 5, 6, 7, 8, 9), datetime(5, 5, 5, 5, 5, 5, 5), datetime(2023, 3, 31, 23, 59, 59), datetime(2262,
    4, 12),
]  # fmt: skip
TEXTS: list[str | None] = [
    None, "", " ", "a", "A", "a ", " a", "  ab  ", "ab", "abc", "b", "Äpfel", "A\u0308pfel", "straße", "STRASSE",
    "İi", "Σας",
    "привет", "日本語", "😀x", "👨‍👩‍👧", "a\u00a0", "\u3000a\u3000", "\u200ba", "a\tb", "a\nb", "%", "_", "a%b", "a_b",
    "\\", "a\\b", "'",
    "''", '"', "1", "-1", " 12 ", "1e3", "nan", "true", "2020-01-31", "NULL", "x" * 40, "a,b,c", ",,", "aXbXc",
    "Å", "\u212b", "e\u0301",
]  # fmt: skip

TYPES: dict[str, Type] = {
    "b": BOOLEAN, "i": BIGINT, "j": BIGINT, "k": BIGINT, "n": BIGINT, "h": HUGEINT, "g": HUGEINT,
    "d": decimal(4, 2), "e": decimal(18, 4), "f": decimal(38, 10), "w": decimal(38, 0), "z": decimal(38, 38),
    "o": decimal(3, 3),
    "x": REAL, "y": REAL, "t": TEXT, "s": TEXT, "dt": DATE, "du": DATE, "ts": TIMESTAMP, "tu": TIMESTAMP,
}  # fmt: skip
COLUMNS = {name: Column(position, type_, name) for position, (name, type_) in enumerate(TYPES.items())}
RANGES: Ranges = {
    COLUMNS["k"].id: Range(-100, 100),
    COLUMNS["n"].id: Range(1, 9),
}  # so that plain forms are printed, too


def _decimals(rng: random.Random, type_: Type) -> list[Decimal | None]:
    most = 10**type_.precision - 1
    wholes = [
        0,
        1,
        -1,
        most,
        -most,
        most // 2,
        5 * 10 ** max(type_.scale - 1, 0),
        -(5 * 10 ** max(type_.scale - 1, 0)),
        most - 4,
    ]
    wholes += [10**type_.scale * 3 + 5, 2**53 + 1, -(2**53) - 1, 2**63 + 5]
    wholes += [rng.randrange(-most, most) for _ in range(20)] + [rng.randrange(-(10**6), 10**6) for _ in range(8)]
    return [None, *(Decimal(f"{w}E-{type_.scale}") for w in wholes if abs(w) <= most)]


def rows(count: int = 700, seed: int = 7) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    pools: dict[str, list[Any]] = {name: _pool(rng, name, type_) for name, type_ in TYPES.items()}
    picked = [[rng.choice(pool) for _ in range(count)] for pool in pools.values()]
    at = list(TYPES)
    made = [list(row) for row in zip(*picked, strict=True)]
    edge = list(itertools.product(REALS, REALS))  # all pairs of doubles
    made += [[rng.choice(pool) for pool in pools.values()] for _ in edge]
    for row, (x, y) in zip(made[count:], edge, strict=True):
        row[at.index("x")], row[at.index("y")] = x, y
    return [tuple(row) for row in made]


def _pool(rng: random.Random, name: str, type_: Type) -> list[Any]:
    match type_.kind:
        case Kind.BOOLEAN:
            return [None, True, False]
        case Kind.INTEGER if name == "k":
            return [None, *range(-100, 101)]
        case Kind.INTEGER if name == "n":
            return [None, *range(1, 10)]
        case Kind.INTEGER if type_.bits > 64:
            return [*HUGE, *(rng.randrange(-(2**k), 2**k) for k in range(60, 128))]
        case Kind.INTEGER:
            return [*INTEGERS, *(rng.randrange(-(2**k), 2**k) for k in range(1, 64, 3))]
        case Kind.DECIMAL:
            return _decimals(rng, type_)
        case Kind.REAL:
            near = [2.0 ** rng.randrange(-1074, 1023) * (1 + rng.random()) * rng.choice((1, -1)) for _ in range(60)]
            return [*REALS, *near, *(rng.uniform(-1000, 1000) for _ in range(20)), *(2.0**-k for k in range(530, 546))]
        case Kind.TEXT:
            return TEXTS
        case Kind.DATE:
            return [*DAYS, *(date(1, 1, 1) + timedelta(days=rng.randrange(3_652_059)) for _ in range(40))]
        case _:
            far = 3_652_059 * 86_400_000_000
            return [*TIMES, *(datetime(1, 1, 1) + timedelta(microseconds=rng.randrange(far)) for _ in range(40))]


# --- expressions ------------------------------------------------------------------------------------------------------


def lit(value: Any, type_: Type) -> Literal:
    return Literal(value, type_)


NUMBERS: list[Expr] = [
    *(COLUMNS[name] for name in "ijknhgdefwzoxy"),
    lit(0, INTEGER), lit(-3, INTEGER), lit(10**12, BIGINT), lit(Fraction(5, 2), decimal(2, 1)), lit(0.0, REAL),
    lit(0.1, REAL),
    lit(5e-324, REAL), lit(1e308, REAL), lit(float("inf"), REAL), lit(None, NULL),
]  # fmt: skip
OTHERS: list[Expr] = [
    *(COLUMNS[name] for name in ("b", "t", "s", "dt", "du", "ts", "tu")),
    lit("a", TEXT), lit("", TEXT), lit("Äp\n'", TEXT), lit(True, BOOLEAN), lit(18262, DATE), lit(-1, TIMESTAMP),
]  # fmt: skip
DIGITS = [lit(n, INTEGER) for n in (-40, -38, -19, -3, -2, -1, 0, 1, 2, 5, 20)]
INTERVALS = [
    lit(text, INTERVAL) for text in ("1 0 0", "-13 0 0", "0 40 0", "2 -3 4000000", "0 0 -1", "48000 0 0", "-48000 0 0")
]
PATTERNS = [lit(text, TEXT) for text in ("a%", "%b%", "_", "a\\%b", "", "%", "Ä%", "%\\_%", "a_b", "%'%")]
CASTS = [BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, REAL, TEXT, DATE, TIMESTAMP]
CASTS += [
    decimal(3, 1),
    decimal(18, 2),
    decimal(38, 0),
    decimal(38, 10),
    decimal(4, 4),
    decimal(10, 0),
    decimal(20, 15),
]


def _calls() -> Iterator[Expr]:
    for function in FUNCTIONS.values():
        if function.name in ("cast", "try_cast"):
            for arg, to in itertools.product([*NUMBERS, *OTHERS], CASTS):
                yield from _made(function.name, arg, to=to)
            continue
        for args in _arguments(function.name, function.least, function.most):
            yield from _made(function.name, *args)


def _made(name: str, *args: Expr, to: Type | None = None) -> Iterator[Expr]:
    try:
        expr = functions.make(name, args, at=None, to=to)
    except Error:
        return
    # DuckDB finds no function where all that it is given is NULL, or a text and a NULL
    untyped = any(arg.type == NULL for arg in args) and all(isinstance(arg, Literal) for arg in args)
    if isinstance(expr, Call) and not untyped:
        yield functions.totalise(expr, RANGES)[0]


def _arguments(name: str, least: int, most: int | None) -> Iterator[Sequence[Expr]]:
    every = [*NUMBERS, *OTHERS]
    texts = [arg for arg in OTHERS if arg.type.kind is Kind.TEXT]
    moments = [arg for arg in OTHERS if arg.type.kind in (Kind.DATE, Kind.TIMESTAMP)]
    constant = [lit(text, TEXT) for text in ("a", "b", "", " a", "Ä", "X", "ab")]
    places = [lit(n, INTEGER) for n in (0, 1, 2, 3, 40, -1, -2)]
    match name:
        case "round" | "trunc":
            yield from ((arg,) for arg in NUMBERS)
            yield from itertools.product(NUMBERS, DIGITS)
        case "add" | "subtract":
            yield from itertools.product(every, every)
            yield from itertools.product(moments, INTERVALS)
            yield from itertools.product(INTERVALS, moments)
        case "left" | "right":
            yield from itertools.product(texts, places)
        case "substring":
            yield from itertools.product(texts, places)
            yield from itertools.product(texts[:3], places, places)
        case "like" | "not_like" | "ilike" | "not_ilike" | "regexp_matches" | "regexp_full_match":
            yield from itertools.product(texts[:3], PATTERNS)
            yield from itertools.product(texts[:3], PATTERNS, [lit("\\", TEXT), lit("a", TEXT), lit("", TEXT)])
        case "trim" | "ltrim" | "rtrim":
            yield from ((arg,) for arg in texts)
            yield from itertools.product(texts, constant)
        case "replace" | "translate":
            yield from itertools.product(texts[:3], constant, constant)
            yield texts[0], lit("ABCab", TEXT), lit("abc", TEXT)
        case "split_part":
            yield from itertools.product(texts[:3], [lit(",", TEXT), lit("X", TEXT), lit("", TEXT)], places)
        case "date_part" | "date_trunc":
            yield from itertools.product([lit(part, TEXT) for part in SPELLINGS], moments)
        case "date_diff" | "date_sub":
            yield from itertools.product([lit(part, TEXT) for part in SPELLINGS], moments, moments)
        case "strftime" | "strptime" | "try_strptime":
            formats = ["%Y-%m-%d", "%d.%m.%y %H:%M:%S", "%j %a %A %b %B %p %%", "q%Y'MM\"x"]
            yield from itertools.product([*moments, *texts], [lit(format_, TEXT) for format_ in formats])
        case "case":
            yield from ((COLUMNS["b"], arg, other) for arg, other in itertools.product(every, every))
            yield from ((COLUMNS["b"], arg) for arg in every)
        case "between":
            few = every[::3]
            yield from itertools.product(few, few, few)
        case "in":
            yield from ((a, b, c) for a, b, c in itertools.product(every[::2], every[::3], (every[0], lit(None, NULL))))
        case _:
            counts = range(least, min(3, least + 2 if most is None else most) + 1)
            for count in counts:
                pool = every if count < 3 else every[::4]
                yield from itertools.product(pool, repeat=count)


def nested() -> Iterator[Expr]:
    """Calls of calls: what a form makes of what is no column."""
    x, y, i, j = (COLUMNS[name] for name in "xyij")
    call = functions.call
    product = call("multiply", x, y)
    for expr in (
        call("multiply", product, call("divide", x, y)),
        call("add", product, call("subtract", call("multiply", x, x), product)),
        call("divide", call("round", call("multiply", x, lit(0.1, REAL)), lit(2, INTEGER)), call("sqrt", y)),
        call("floor", call("divide", call("add", x, y), call("abs", y))),
        call("cast", call("multiply", x, lit(1000.0, REAL)), to=BIGINT),
        call("add", call("multiply", i, j), call("subtract", i, j)),
        call("nullif", call("modulo", call("add", i, j), j), call("integer_divide", i, j)),
        call("canonical", call("divide", product, call("multiply", y, product))),
        call("round", call("round", call("add", product, x), lit(3, INTEGER)), lit(-2, INTEGER)),
        call(
            "cast", call("divide", call("cast", COLUMNS["f"], to=REAL), call("cast", COLUMNS["h"], to=REAL)), to=BIGINT
        ),
        call("ends_with", call("concat", COLUMNS["t"], COLUMNS["s"]), call("left", COLUMNS["s"], lit(2, INTEGER))),
    ):
        yield functions.totalise(expr, RANGES)[0]


def expressions() -> list[Expr]:
    return list(dict.fromkeys([*_calls(), *nested()]))


def name_of(expr: Expr) -> str:
    assert isinstance(expr, Call)
    return expr.function.removeprefix(CHECKED)


def refused(dialect: Dialect, expr: Expr) -> str | None:
    """The reason of any part."""
    mine = dialect.refusal(expr)
    if mine is not None or not isinstance(expr, Call):
        return mine
    return next((reason for arg in expr.args if (reason := refused(dialect, arg)) is not None), None)


# --- evaluation -------------------------------------------------------------------------------------------------------


def as_bits(value: Any) -> Any:
    """What two engines are compared by: doubles by their bits (but for NaNs, which are all one)."""
    match value:
        case float():
            return "nan" if value != value else struct.pack(">d", value)
        case Decimal():
            whole = value.to_integral_value()
            return int(value) if whole == value else Fraction(value)
        case bool() | None | str():
            return value
        case _:
            return value


def for_duckdb(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value


def sample(exprs: Sequence[Expr], most: int) -> list[Expr]:
    """Of each function at most so many calls, the same ones every time."""
    by_name: dict[str, list[Expr]] = {}
    for expr in exprs:
        by_name.setdefault(name_of(expr), []).append(expr)
    rng = random.Random(11)
    return [expr for calls in by_name.values() for expr in (calls if len(calls) <= most else rng.sample(calls, most))]
