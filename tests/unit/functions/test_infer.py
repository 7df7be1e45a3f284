"""What inference is expected to find: the examples of the design, and what a wider domain would cost."""

from __future__ import annotations

import sqlglot

from dpsql.domain.facts import Domain, key_set
from dpsql.domain.interval import interval
from dpsql.domain.types import BIGINT, DATE, REAL, TEXT, decimal
from dpsql.ir.expr import Call, Column
from dpsql.sql.functions import infer, literal_of, make, narrow
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


def test_proofs_spare_the_checks() -> None:
    """A bounded column needs no checked form; an unbounded one does."""
    node = sqlglot.parse_one("SELECT (i + 1) * i - i // 3 + MONTH(t)", dialect="duckdb").expressions[0]
    assert "checked" not in repr(infer(bound(node), DOMAINS)[0])
    total, domain = infer(bound(sqlglot.parse_one("SELECT i + 1", dialect="duckdb").expressions[0]), {})
    assert isinstance(total, Call) and total.function == "checked_add" and domain.nullable
    assert infer(Column(1, BIGINT), DOMAINS)[1] == DOMAINS[1]


def test_filters_and_declared_keys_prove_nothing_about_raising() -> None:
    """An engine may evaluate x + 1 before WHERE x < 10, and declared keys are enforced at the release only."""
    x = Column(1, BIGINT, "x")
    passed = narrow(make("less", (x, literal_of(10)), at=None), {1: Domain(type=BIGINT)})
    total, domain = infer(make("subtract", (x, literal_of(10)), at=None), passed)
    assert isinstance(total, Call) and total.function == "checked_subtract"
    assert domain.interval.upper == -1
    later, _ = infer(make("subtract", (Column(2, BIGINT), literal_of(2**62)), at=None), {2: domain})
    assert isinstance(later, Call) and later.function == "checked_subtract"
    again = narrow(make("greater", (x, literal_of(0)), at=None), passed)
    total, domain = infer(make("add", (x, literal_of(1)), at=None), again)
    assert isinstance(total, Call) and total.function == "checked_add"
    assert domain.interval == interval(2, 10)

    keyed = {1: Domain(type=BIGINT, keys=(1, 2, 3))}
    twice = make("add", (make("add", (x, literal_of(1)), at=None), literal_of(2**62)), at=None)
    assert repr(infer(twice, keyed)[0]).count("checked_add") == 2
