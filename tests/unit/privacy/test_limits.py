"""The owner's limits through joins, unions and projections; which of the query's and the connection's stand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dpsql
from dpsql.plan.tracked import GroupLimit, Limits
from dpsql.privacy.limits import added, largest, renamed
from tests.worlds import people


def rows(rows: int, groups: int | None = None, **more: Any) -> Limits:
    return Limits(rows=rows, groups=groups, rows_in_group=None, **more)


def pair(groups: int, rows_in_group: int, **more: Any) -> Limits:
    return Limits(rows=None, groups=groups, rows_in_group=rows_in_group, **more)


def said(limits: Limits) -> tuple[int | None, int | None, int | None]:
    return limits.rows, limits.groups, limits.rows_in_group


@pytest.mark.parametrize(
    ("one", "other", "joined", "united"),
    [
        (rows(12, 4), rows(5, 6), (12, 6, None), (17, 10, None)),
        (rows(12), rows(5), (12, None, None), (17, None, None)),
        (rows(1), rows(12, 4), (12, 4, None), (13, 5, None)),
        (rows(12), rows(5, 2), (12, 12, None), (17, 14, None)),
        (pair(4, 3), pair(2, 5), (None, 4, 5), (None, 4, 8)),
        (pair(4, 3), rows(5), (12, 5, None), (17, 9, None)),
        (pair(4, 3), rows(20, 2), (20, 4, None), (32, 6, None)),
    ],
)
def test_joins_take_the_largest_and_unions_add(
    one: Limits, other: Limits, joined: tuple[int | None, ...], united: tuple[int | None, ...]
) -> None:
    assert said(largest(one, other)) == said(largest(other, one)) == joined
    assert said(added(one, other)) == said(added(other, one)) == united


def test_lines_for_keys_are_no_smaller_than_the_other_side() -> None:
    month = GroupLimit(by=frozenset({1}), groups=2, rows_in_group=1)
    assert largest(pair(4, 3, by_keys=(month,)), pair(3, 2)).by_keys == (
        GroupLimit(by=frozenset({1}), groups=3, rows_in_group=2),
    )
    assert largest(pair(4, 3, by_keys=(month,)), rows(9, 5)).by_keys == (
        GroupLimit(by=frozenset({1}), groups=5, rows_in_group=None),
    )
    only_rows = GroupLimit(by=frozenset({1}), groups=None, rows_in_group=1)
    assert largest(pair(4, 3, by_keys=(only_rows,)), rows(9)).by_keys == ()
    assert added(rows(4, by_keys=(month,)), rows(4)).by_keys == ()


def test_lines_for_keys_follow_their_columns() -> None:
    line = GroupLimit(by=frozenset({1, 2}), groups=2, rows_in_group=1)
    assert renamed(pair(4, 3, by_keys=(line,)), {1: 7, 2: 8}).by_keys == (
        GroupLimit(by=frozenset({7, 8}), groups=2, rows_in_group=1),
    )
    assert renamed(pair(4, 3, by_keys=(line,)), {1: 7}).by_keys == (
        GroupLimit(by=frozenset({7}), groups=2, rows_in_group=None),
    )


@pytest.mark.parametrize("wrong", [(None, None, 3), (12, None, 3), (12, 4, 3)])
def test_limits_are_said_in_one_way(wrong: tuple[int | None, int | None, int | None]) -> None:
    rows, groups, rows_in_group = wrong
    with pytest.raises(dpsql.InternalError):
        Limits(rows=rows, groups=groups, rows_in_group=rows_in_group)


def connected(**limits: Any) -> dpsql.Connection[Any]:
    catalog = people({"k": "text"}, rows_per_unit=12, groups_per_unit=4, budget={"epsilon": 9, "delta": 1e-6})
    data = pd.DataFrame({"u": [1, 2, 3], "k": ["a", "b", "c"]})
    return dpsql.connect(catalog, source=data, epsilon=1, **limits)


def asked(connection: dpsql.Connection[Any], options: str = "") -> tuple[object, ...]:
    clause = f"WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) " if options else ""
    settings = connection.explain(f"SELECT {clause}COUNT(*) FROM t").to_dict()["settings"]
    return settings["rows"], settings["groups"], settings["rows_in_group"]


def test_options_come_before_set_and_set_before_connect() -> None:
    with connected(max_rows_contributed=7, max_groups_contributed=2) as connection:
        assert asked(connection) == (7, 2, None)
        assert asked(connection, "max_rows_contributed = 3") == (3, 2, None)
        assert asked(connection, "max_rows_per_group = 3") == (None, 2, 3)
        connection.execute("SET max_rows_per_group = 5")
        assert asked(connection) == (None, 2, 5)
        assert asked(connection, "max_rows_contributed = 3") == (3, 2, None)
        connection.execute("SET max_rows_contributed = 6")
        connection.execute("SET max_groups_contributed = 1")
        assert asked(connection) == (6, 1, None)


def test_two_ways_to_limit_rows_in_one_query() -> None:
    with connected() as connection, pytest.raises(dpsql.Error, match="two limits on the same thing"):
        asked(connection, "max_rows_contributed = 3, max_rows_per_group = 3")


def test_rows_in_a_group_need_groups() -> None:
    with connected() as connection:
        assert asked(connection, "max_rows_per_group = 3") == (None, None, 3)  # the owner declared 4 groups
    catalog = people({}, rows_per_unit=12, budget={"epsilon": 9})
    with (
        dpsql.connect(catalog, source=pd.DataFrame({"u": [1]}), epsilon=1) as connection,
        pytest.raises(dpsql.Error, match="needs max_groups_contributed"),
    ):
        asked(connection, "max_rows_per_group = 3")


@pytest.mark.parametrize("bad", [0, -1, 1.5, "most", "", True, 10**10, float("nan")])
def test_bad_limits_of_a_connection(bad: Any) -> None:
    for name in ("max_rows_contributed", "max_groups_contributed"):
        with pytest.raises(dpsql.Error):
            connected(**{name: bad})
