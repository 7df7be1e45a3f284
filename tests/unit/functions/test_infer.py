"""What inference is expected to find: the examples of the design, and what a wider domain would cost."""

from __future__ import annotations

import pytest
import sqlglot

from dpsql.domain.facts import Domain, key_set
from dpsql.domain.interval import interval
from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, DATE, REAL, TEXT, decimal
from dpsql.functions import infer, literal_of, make, narrow, totalise
from dpsql.ir.expr import Call, Column
from tests.unit.functions.test_reading import bound

DOMAINS = {
    0: Domain(type=REAL),
    1: Domain(type=BIGINT, interval=interval(0, 99), nullable=False),  # i
    2: Domain(type=decimal(9, 2), interval=interval(0, 500), nullable=False),  # d
    3: Domain(type=REAL, interval=interval(0, 240)),  # r
    4: Domain(type=DATE, interval=interval(18262, 18627), nullable=False),  # t: 2020
    6: Domain(type=TEXT, keys=("cardiology", "oncology"), nullable=False),  # s
}


def found(text: str) -> Domain:
    node = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]
    return infer(bound(node), DOMAINS)[1]


def test_intervals() -> None:
    assert found("d * (1 - d / 1000)").interval == interval(0, 500) or found("d * (1 - 0.5)").interval == interval(
        0, 250
    )
    assert found("LEAST(r, 100)").interval == interval(0, 100)
    assert found("LEAST(GREATEST(r, 10), 200)").interval == interval(10, 200)
    assert found("CASE WHEN i < 50 THEN i ELSE 0 END").interval == interval(0, 49)
    assert found("COALESCE(r, -1)").interval == interval(-1, 240)
    assert found("i - 100").interval == interval(-100, -1)
    assert found("ABS(i - 50)").interval == interval(0, 50)
    assert found("t - DATE '2020-01-01'").interval == interval(0, 365)
    assert found("CAST(r AS BIGINT)").interval == interval(0, 240)
    assert found("i // 10").interval == interval(0, 9)
    assert found("i % 7").interval == interval(0, 6)
    assert found("EXTRACT(year FROM t)").interval == interval(2020, 2020)
    assert found("r * 2").interval == interval(0, 480)
    assert found("TRY_CAST(s AS BIGINT)").interval == interval(-(2**63), 2**63 - 1)
    assert found("LN(i + 1)").interval.lower is not None
    assert found("EXP(r)").interval.is_finite
    assert found("EXP(r * 1000)").interval.upper is None


def test_key_sets() -> None:
    assert found("CASE WHEN i < 18 THEN 'minor' ELSE 'adult' END").keys == ("minor", "adult")
    assert found("CASE WHEN i < 18 THEN 'minor' END").keys == ("minor", None)
    assert key_set(found("FLOOR(i / 10)")) == tuple(map(float, range(10)))
    assert key_set(found("i // 10 * 10")) == tuple(range(0, 100, 10))
    assert len(key_set(found("date_trunc('month', t)")) or ()) == 12
    assert key_set(found("EXTRACT(quarter FROM t)")) == (1, 2, 3, 4)
    assert key_set(found("MONTH(t)")) == tuple(range(1, 13))
    assert len(key_set(found("date_trunc('week', t)")) or ()) == 53
    assert key_set(found("LEFT(s, 1)")) == ("c", "o")
    assert key_set(found("UPPER(s)")) == ("CARDIOLOGY", "ONCOLOGY")
    assert key_set(found("ROUND(i, -1)")) == tuple(range(0, 101, 10))
    assert key_set(found("COALESCE(NULL, s, 'none')")) == ("cardiology", "oncology")
    assert key_set(found("i > 5")) == (False, True)
    assert key_set(found("r > 5")) == (False, True, None)
    assert key_set(found("LEFT(s, 3) || '.'")) == ("car.", "onc.")
    assert key_set(found("CAST(i // 50 AS VARCHAR)")) == ("0", "1")
    assert key_set(found("r")) is None
    assert key_set(found("FLOOR(r / 60)")) == (0.0, 1.0, 2.0, 3.0, 4.0, None)
    assert set(key_set(found("DAYNAME(t)")) or ()) >= {"Sunday", "Saturday"}
    assert key_set(found("CASE WHEN i < 50 THEN i // 25 ELSE -1 END")) is not None


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
    assert set(infer(total, keyed)[1].keys or ()) == {2**62 + 2, 2**62 + 3, 2**62 + 4, None}
