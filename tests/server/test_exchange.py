"""What crosses processes comes out as it went in."""

from __future__ import annotations

import datetime as dt
import json
import math
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from dpsql.dbapi.exchange import error_of, error_tree, of_tree, read_json, to_tree
from dpsql.errors import BudgetError, CatalogError, Error, InterfaceError, Problem, Span, SqlError

VALUES: list[Any] = [
    *(None, True, 0, 2**127, -5, 1.5, 0.1, -0.0, 1e300, "", "é\x00", {"a": [1, None]}, [1, [2.5, "x"]], b"\x00\xff"),
    *(math.inf, -math.inf, Decimal("1.50"), Decimal("-0"), Fraction(1, 3), dt.date(2026, 1, 2), dt.time(1, 2, 3, 4)),
    *(dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.timedelta(days=-1, microseconds=5), uuid.UUID(int=5), (1, "a"), {1: 2}),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values(value: Any) -> None:
    again = of_tree(json.loads(json.dumps(to_tree(value))))
    assert again == value and type(again) is type(value) and repr(again) == repr(value)


def test_nan() -> None:
    assert math.isnan(of_tree(to_tree(math.nan)))


@pytest.mark.parametrize(
    "tree",
    [
        *(
            {},
            {"a": 1, "b": 2},
            {"date": "soon"},
            {"date": 5},
            {"exec": "x"},
            {"interval": [1]},
            {"interval": ["a", 0, 0]},
        ),
        *({"map": [1]}, {"bytes": "é"}, {"decimal": "x" * (2 << 20)}, {"fraction": "1/0"}, {"uuid": "1"}, {"tuple": 5}),
        *({"map": [[[1], 2]]}, {"interval": [10**30, 0, 0]}),
    ],
    ids=lambda tree: repr(tree)[:40],
)
def test_what_is_not_a_value_is_refused(tree: Any) -> None:
    with pytest.raises(InterfaceError) as raised:
        of_tree(tree)
    assert raised.value.code == "DPSQL-703"


def test_depth() -> None:
    tree: Any = 1
    for _ in range(100):
        tree = [tree]
    with pytest.raises(InterfaceError, match="deeply"):
        of_tree(tree)
    for text in (b"[" * 100_000, b"", b"\xff", b"NaN", b'{"a": Infinity}', b"1" * 10_000):
        with pytest.raises(InterfaceError):
            read_json(text)


@pytest.mark.parametrize(
    "error",
    [
        SqlError("what", code=102, at=Span(1, 3), why="why", fix="fix").in_text("SELECT"),
        BudgetError("too much", code=400),
        CatalogError([Problem("a.yaml:1", "wrong", "fix it")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors(error: Error) -> None:
    again = error_of(json.loads(json.dumps(error_tree(error))))
    assert again.code == error.code
    assert str(again) == str(error)


@pytest.mark.parametrize("tree", [{}, {"kind": "Exception", "code": "DPSQL-1"}, {"kind": "annotations", "code": "x"}])
def test_what_is_no_error_of_ours(tree: Any) -> None:
    assert error_of(tree).code == "DPSQL-703"
