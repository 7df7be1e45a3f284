"""What inference is expected to find: the examples of the design, and what a wider domain would cost."""

from __future__ import annotations

import pytest
import sqlglot

from dpsql.domain.facts import Domain, key_set
from dpsql.domain.interval import interval
from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, DATE, REAL, TEXT, decimal
from dpsql.functions import infer, literal_of, make, narrow, totalise
from dpsql.ir.expr import Call, Column, Literal
from tests.unit.functions.test_reading import bound

DOMAINS = {
    0: Domain(type=REAL),
    1: Domain(type=BIGINT, interval=interval(0, 99), nullable=False),  # i
    2: Domain(type=decimal(9, 2), interval=interval(0, 500), nullable=False),  # d
    3: Domain(type=REAL, interval=interval(0, 240)),  # r
    4: Domain(type=DATE, interval=interval(18262, 18627), nullable=False),  # t: 2020
    6: Domain(type=TEXT, keys=("cardiology", "oncology"), nullable=False),  # s
}


def inferred(text: str) -> Domain:
    node = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]
    return infer(bound(node), DOMAINS)[1]


def test_intervals() -> None:
    assert inferred("d * (1 - d / 1000)").interval == interval(0, 500) or inferred(
        "d * (1 - 0.5)"
    ).interval == interval(0, 250)
    assert inferred("LEAST(r, 100)").interval == interval(0, 100)
    assert inferred("LEAST(GREATEST(r, 10), 200)").interval == interval(10, 200)
    assert inferred("CASE WHEN i < 50 THEN i ELSE 0 END").interval == interval(0, 49)
    assert inferred("COALESCE(r, -1)").interval == interval(-1, 240)
    assert inferred("i - 100").interval == interval(-100, -1)
    assert inferred("ABS(i - 50)").interval == interval(0, 50)
    assert inferred("t - DATE '2020-01-01'").interval == interval(0, 365)
    assert inferred("CAST(r AS BIGINT)").interval == interval(0, 240)
    assert inferred("i // 10").interval == interval(0, 9)
    assert inferred("i % 7").interval == interval(0, 6)
    assert inferred("EXTRACT(year FROM t)").interval == interval(2020, 2020)
    assert inferred("r * 2").interval == interval(0, 480)
    assert inferred("TRY_CAST(s AS BIGINT)").interval == interval(-(2**63), 2**63 - 1)
    assert inferred("LN(i + 1)").interval.lower is not None
    assert inferred("EXP(r)").interval.is_finite
    assert inferred("EXP(r * 1000)").interval.upper is None


def test_key_sets() -> None:
    assert key_set(inferred("CASE WHEN i < 18 THEN 'minor' ELSE 'adult' END")) == ("minor", "adult")
    assert key_set(inferred("CASE WHEN i < 18 THEN 'minor' END")) == ("minor", None)
    assert key_set(inferred("FLOOR(i / 10)")) == tuple(map(float, range(10)))
    assert key_set(inferred("i // 10 * 10")) == tuple(range(0, 100, 10))
    assert len(key_set(inferred("date_trunc('month', t)")) or ()) == 12
    assert key_set(inferred("EXTRACT(quarter FROM t)")) == (1, 2, 3, 4)
    assert key_set(inferred("MONTH(t)")) == tuple(range(1, 13))
    assert len(key_set(inferred("date_trunc('week', t)")) or ()) == 53
    assert key_set(inferred("LEFT(s, 1)")) == ("c", "o")
    assert key_set(inferred("UPPER(s)")) == ("CARDIOLOGY", "ONCOLOGY")
    assert key_set(inferred("ROUND(i, -1)")) == tuple(range(0, 101, 10))
    assert key_set(inferred("COALESCE(NULL, s, 'none')")) == ("cardiology", "oncology")
    assert key_set(inferred("i > 5")) == (False, True)
    assert key_set(inferred("r > 5")) == (False, True, None)
    assert key_set(inferred("LEFT(s, 3) || '.'")) == ("car.", "onc.")
    assert key_set(inferred("CAST(i // 50 AS VARCHAR)")) == ("0", "1")
    assert key_set(inferred("r")) is None
    assert key_set(inferred("FLOOR(r / 60)")) == (0.0, 1.0, 2.0, 3.0, 4.0, None)
    assert set(key_set(inferred("DAYNAME(t)")) or ()) >= {"Sunday", "Saturday"}
    assert key_set(inferred("CASE WHEN i < 50 THEN i // 25 ELSE -1 END")) is not None


RANGES = {1: Range(0, 99), 2: Range(0, 50_000), 4: Range(18262, 18627)}


def form(text: str) -> str:
    return repr(totalise(bound(sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]), RANGES)[0])


@pytest.mark.parametrize(
    "text",
    [
        "(i + 1) * i - i // 3 + MONTH(t)",
        "CAST(i AS TINYINT)",
        "CAST(d AS DECIMAL(5, 2))",
        "d * d * d",
        "LEAST(GREATEST(i * i, 5), 7) * 1000000000",
        "LEAST(COALESCE(LENGTH(s), 0), 5) * 1000000000000",
        "CASE WHEN i > 3 THEN 1 ELSE i END % 7",
        "t + 365 - INTERVAL 1 MONTH",
        "date_diff('day', t, DATE '1970-01-01') * 100000000000000",
        "r / 0 + SQRT(r) % r",
        "i = d OR d < 1.5 OR i IN (1, 2, 3)",
    ],
)
def test_definitions_spare_the_checks(text: str) -> None:
    assert "checked" not in form(text)


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN i < 50 THEN CAST(i * 2 AS TINYINT) END",  # conditions say nothing
        "CAST(LEAST(r, 5) AS INTEGER)",  # nor do reals
        "CAST(LEAST(NULLIF(i, 5) * 100, NULLIF(i, 6)) AS TINYINT)",  # what may be NULL closes no end
        "i // (i - 50)",
        "i % (i - 100)",
        "TRY_CAST(s AS BIGINT) + 1",
        "LENGTH(s) + 1",
        "t + CAST(i * 100000 AS INTEGER)",
        "date_trunc('century', DATE '0050-01-01' + CAST(i AS INTEGER))",
    ],
)
def test_checked_forms_where_definitions_do_not_say_enough(text: str) -> None:
    assert "checked" in form(text)


def test_filters_and_declared_keys_prove_nothing_about_raising() -> None:
    """An engine may evaluate x - 10 before WHERE x < 10, and declared keys are enforced at the release only: what is
    expected then says which values there are, not which form is printed."""
    x = Column(1, BIGINT, "x")
    passed = narrow(make("less", (x, literal_of(10)), at=None), {1: Domain(type=BIGINT)})
    total, _ = totalise(make("subtract", (x, literal_of(10)), at=None), {})
    assert isinstance(total, Call) and total.function == "checked_subtract"
    assert infer(total, passed)[1].interval.upper == -1 and infer(total, passed)[1].nullable
    again = narrow(make("greater", (x, literal_of(0)), at=None), passed)
    total, _ = totalise(make("add", (x, literal_of(1)), at=None), {})
    assert isinstance(total, Call) and total.function == "checked_add"
    assert infer(total, again)[1].interval == interval(2, 10) and not infer(total, again)[1].nullable


def test_expected_keys_survive_checked_forms() -> None:
    x, keyed = Column(1, BIGINT, "x"), {1: Domain(type=BIGINT, keys=(1, 2, 3))}
    twice = make("add", (make("add", (x, literal_of(1)), at=None), literal_of(2**62)), at=None)
    total, _ = totalise(twice, {})
    assert repr(total).count("checked_add") == 2
    assert set(key_set(infer(total, keyed)[1]) or ()) == {2**62 + 2, 2**62 + 3, 2**62 + 4, None}


def test_null_is_a_key_where_no_set_is_computed() -> None:
    """A century of days is not gone through: its years are known by its ends."""
    day, century = Column(1, DATE, "d"), interval(0, 36_500)
    years = make("date_trunc", (Literal("year", TEXT), day), at=None)
    for nullable in (False, True):
        keys = key_set(infer(years, {1: Domain(type=DATE, interval=century, nullable=nullable)})[1])
        assert keys is not None and len(keys) == 100 + nullable and (None in keys) == nullable


def test_a_call_in_a_call_is_computed_for_each_key() -> None:
    """Year and month of one day go together; those of two days are combined, as values of theirs, not of the days."""
    both = {1: Domain(type=DATE, keys=(0, 40, 400), nullable=False), 2: Domain(type=DATE, interval=interval(0, 1999))}
    months = [make("date_part", (Literal("month", TEXT), Column(i, DATE)), at=None) for i in (1, 2)]
    years = make("date_part", (Literal("year", TEXT), Column(1, DATE)), at=None)
    one = make("add", (make("multiply", (years, literal_of(100)), at=None), months[0]), at=None)
    assert set(key_set(infer(one, both)[1]) or ()) == {197001, 197002, 197102}
    two = make("add", (one, make("multiply", (months[1], literal_of(10**6)), at=None)), at=None)
    assert len(key_set(infer(two, both)[1]) or ()) == 3 * 12 + 1


def test_too_many_pairs_are_not_gone_through_where_an_interval_says_as_much() -> None:
    """400 x 400 pairs are more than PAIRS_LIMIT; their sums are 0 to 798."""
    numbers = {i: Domain(type=BIGINT, interval=interval(0, 399), nullable=False) for i in (1, 2)}
    total = make("add", (Column(1, BIGINT), Column(2, BIGINT)), at=None)
    digit = make("cast", (make("modulo", (total, literal_of(10)), at=None),), at=None, to=TEXT)
    assert key_set(infer(digit, numbers)[1]) == tuple("0123456789")
    assert key_set(infer(make("multiply", (total, total), at=None), numbers)[1]) == tuple(n * n for n in range(799))
