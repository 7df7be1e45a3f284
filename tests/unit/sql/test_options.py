"""The options: every good form, and bad values by the dozen."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import SqlError
from dpsql.privacy.settings import Defaults
from dpsql.sql.options import OPTIONS, SETTINGS, number, option, raw_of
from dpsql.sql.parse import parse


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_shows_an_example_that_works(name: str) -> None:
    for example in OPTIONS[name].example.split(" or "):
        statement = parse(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({example}) 1")
        assert list(statement.options) == [name]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_can_be_set(name: str) -> None:
    example = SETTINGS[name].example
    for text in (f"SET {example}", f"set {example.replace('=', 'TO')};"):
        statement = parse(text)
        assert statement.kind == "set"
        assert statement.name == name
        assert statement.value is not None
        assert statement.value.name == name


BAD = {
    "epsilon": ["0", "-1", "-0.0", "0.0", "1e-320", "1e-10", "1e7", "1e999", "1e99999999999", "'1'", "'nan'",
                "nan",
                "inf", "infinity", "true", "null", "(1, 2)", "()", "9" * 100, "abc"],
    "delta": ["1", "-1e-9", "1.5", "1e-320", "1e-101", "'0'", "nan", "false", "null", "(0)"],
    "max_rows_contributed": ["0", "-1", "1.5", "1e10", "true", "'12'", "'most'", "null", "inf"],
    "over_limit": ["1", "'yes'", "null"],
    "assumed_rows": ["0", "-1", "1.5", "'many'", "true", "null", "1e10"],
    "accuracy": ["0", "-1", "true", "'near'", "null", "(1, 2)", "(n => 0)", "inf"]
    + ["'5'", "'-5%'", "'0%'", "'%'", "'5%%'", "(n => '1e9%')"],
    "rho": ["0", "-1", "1e-13", "1e7", "'0.05'", "true", "null", "nan", "(1, 2)"],
    "confidence": ["0", "1", "95", "-0.5", "true", "'0.95'", "null", "nan"],
    "max_groups_contributed": ["0", "-1", "1.5", "1e-3", "1e10", "true", "'4'", "''", "null", "nan"],
    "error": ["'per row'", "1", "true", "null", "''", "('per cell')"],
    "max_rows_per_group": ["0", "-1", "0.5", "1e10", "false", "'3'", "null"],
    "mechanism": ["'exponential'", "1", "true", "null", "''", "('laplace')"],
    "split": ["1", "()", "(0)", "(-1, 2)", "('a', 1)", "(a => 0)", "(a => 1, 2)", "(a => 1, A => 2)",
              "(true)", "((1, 2))",
              "(a => 1e9)", "null"],
    "if_not_enough": ["1", "true", "''", "'more'", "null"],
    "fresh": ["1", "0", "'true'", "yes", "null"],
    "intervals": ["0", "1", "95", "-0.5", "true", "'0.95'", "null"],
    "top_k": ["5", "'true'", "null"],
    "nonnegative": ["1", "'counts'", "null"],
    "proof": ["1", "'all'", "null"],
    "privacy_unit_column": ["1", "''", "true", "null", "(a)"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_values(name: str, value: str) -> None:
    with pytest.raises(SqlError) as caught:
        parse(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({name} = {value}) 1")
    assert caught.value.code == "DPSQL-119"
    assert caught.value.at is not None


@pytest.mark.parametrize("name", ["max_rows_contributed", "max_groups_contributed"])
def test_limits_may_be_words(name: str) -> None:
    assert option(name, "AUTO").value == "auto"
    assert option(name, "Released").value == "released"
    with pytest.raises(SqlError):
        option("max_rows_per_group", "auto")


def test_every_option_has_bad_values() -> None:
    assert set(BAD) == set(OPTIONS)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("Infinity"), True, "1", None, 5e-324]
)
def test_bad_bound_values(value: object) -> None:
    with pytest.raises(SqlError) as caught:
        parse("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = ?) 1", [value])
    assert caught.value.code == "DPSQL-119"


@pytest.mark.parametrize(
    ("name", "near"),
    [("epsilom", "epsilon"), ("max_groups", "max_groups_contributed"), ("EPSILONS", "epsilon"), ("xyzzy", "")],
)
def test_unknown_options(name: str, near: str) -> None:
    with pytest.raises(SqlError) as caught:
        option(name, 1)
    assert caught.value.code == "DPSQL-119"
    assert (f"Did you mean {near}?" if near else "") == caught.value.why


def test_what_cannot_be_set() -> None:
    for text in ("SET split = (1, 2)", "SET privacy_unit_column = id", "SET threads = 1", "SET epsilon = 1, delta = 0"):
        with pytest.raises(SqlError) as caught:
            parse(text)
        assert caught.value.code == "DPSQL-119"


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("-1e50"), max_value=Decimal("1e50"), places=9)
)
def test_numbers_are_exact(value: Decimal) -> None:
    number_read = number(format(value, "f"))
    assert number_read is None or number_read == Fraction(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_mean_the_decimal_they_print(value: float) -> None:
    raw = raw_of(value)
    assert raw is None or raw == Fraction(repr(value))


def test_set_knows_every_setting() -> None:
    """SET keeps an option in the session's defaults: under its own name, or as one of the limits."""
    limits = {"max_groups_contributed", "max_rows_contributed", "max_rows_per_group"}
    assert set(SETTINGS) - limits <= {field.name for field in dataclasses.fields(Defaults)}
