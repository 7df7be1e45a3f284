"""Cursors over tables of one's own behave as sqlite3's do: any sequence of statements and fetches, side by side."""

from __future__ import annotations

import functools
import itertools
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import dpsql
from tests.worlds import dataset, public

CELLS = st.tuples(st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.text("ab'\"?$%é;- ", max_size=6))
SELECTS = [
    "SELECT a, b FROM t ORDER BY n",
    "SELECT b, n FROM t WHERE a > ? ORDER BY n",
    "SELECT COUNT(*), MIN(a), MAX(a) FROM t",
    "SELECT a FROM t WHERE b = 'a?b' OR b = ? ORDER BY n",
    "SELECT 1 WHERE 1 = 0",
]
FETCHES = st.sampled_from(["one", "next", "many", "all", 1, 2, 3])  # sqlite3 takes fetchmany(0) for all
FIRST_ROWS = [(1, 1, "a"), (2, None, "a?b"), (3, 3, None), (4, 4, "é"), (5, 5, "")]
ERRORS = (dpsql.Error, sqlite3.Error, sqlite3.Warning)


class Cursors(RuleBasedStateMachine):
    def connect(self) -> Any:
        """Ours; over a server in tests/server."""
        return dpsql.connect(dataset({"p": public({"x": "integer"})}))

    @initialize()
    def open(self) -> None:
        self.ours: Any = self.connect()
        self.theirs: Any = sqlite3.connect(":memory:", isolation_level=None)
        self.cursors: list[tuple[Any, Any]] = [(self.ours.cursor(), self.theirs.cursor()) for _ in range(2)]
        self.written = len(FIRST_ROWS)
        for cursor in self.cursors[0]:
            cursor.execute("CREATE TABLE t (n BIGINT, a BIGINT, b VARCHAR(10))")
            cursor.executemany("INSERT INTO t VALUES (?, ?, ?)", FIRST_ROWS)

    def both(self, which: int, call: Any) -> None:
        """The same answer from both, or an error from both."""
        answers = []
        for cursor in self.cursors[which]:
            try:
                answers.append(call(cursor))
            except ERRORS:
                answers.append("error")
        assert answers[0] == answers[1]

    @rule(which=st.integers(0, 1), cells=CELLS)
    def insert(self, which: int, cells: tuple[Any, Any]) -> None:
        self.written += 1
        row = (self.written, *cells)
        self.both(which, lambda c: c.execute("INSERT INTO t VALUES (?, ?, ?)", row).rowcount)

    @rule(which=st.integers(0, 1), many=st.lists(CELLS, max_size=3))
    def insert_many(self, which: int, many: list[tuple[Any, Any]]) -> None:
        rows = [(self.written + i, *cells) for i, cells in enumerate(many, start=1)]
        self.written += len(rows)
        self.both(which, lambda c: c.executemany("INSERT INTO t (n, a, b) VALUES (?, ?, ?)", rows).rowcount)

    @rule(which=st.integers(0, 1))
    def insert_from_itself(self, which: int) -> None:
        self.both(which, lambda c: c.execute("INSERT INTO t SELECT n + 1000, a, b FROM t WHERE n < 3").rowcount)

    @rule(
        which=st.integers(0, 1),
        sql=st.sampled_from(SELECTS),
        value=st.integers(-5, 5),
        size=st.integers(1, 4),
        fetches=st.lists(FETCHES, min_size=2, max_size=6),
    )
    def select(self, which: int, sql: str, value: int, size: int, fetches: list[Any]) -> None:
        self.arraysize(which, size)
        given = () if "?" not in sql.replace("a?b", "") else ("ab" if "b = ?" in sql else value,)
        self.both(which, lambda c: c.execute(sql, given) is c)
        for fetch in fetches:
            self.fetch(which, fetch)

    @rule(which=st.integers(0, 1), fetch=FETCHES)
    def fetch(self, which: int, fetch: Any) -> None:
        match fetch:
            case "one":
                self.both(which, lambda c: self.rows(c, c.fetchone()))
            case "next":
                self.both(which, lambda c: self.rows(c, next(c, None)))
            case "many":
                self.both(which, lambda c: self.rows(c, c.fetchmany()))
            case "all":
                self.both(which, lambda c: self.rows(c, c.fetchall()))
            case size:
                self.both(which, lambda c: self.rows(c, c.fetchmany(size)))

    @rule(
        which=st.integers(0, 1), sql=st.sampled_from(["SELECT nothing FROM t", "SELECT ?", "nonsense", "DROP TABLE u"])
    )
    def fail(self, which: int, sql: str) -> None:
        self.both(which, lambda c: c.execute(sql))

    @rule(which=st.integers(0, 1))
    def select_with_many(self, which: int) -> None:
        self.both(which, lambda c: c.executemany("SELECT a FROM t WHERE a = ?", [(1,)]))

    @rule(which=st.integers(0, 1), size=st.integers(1, 4))
    def arraysize(self, which: int, size: int) -> None:
        for cursor in self.cursors[which]:
            cursor.arraysize = size

    @rule(which=st.integers(0, 1))
    def another_cursor(self, which: int) -> None:
        self.cursors[which] = (self.ours.cursor(), self.theirs.cursor())

    @rule(which=st.integers(0, 1))
    def close(self, which: int) -> None:
        for cursor in self.cursors[which]:
            cursor.close()
            cursor.close()

    @rule()
    def commit(self) -> None:
        self.ours.commit()
        self.theirs.commit()

    @rule()
    def rollback(self) -> None:
        """Nothing is taken back; sqlite3 in autocommit takes nothing back either."""
        self.ours.rollback()
        self.theirs.rollback()

    @invariant()
    def descriptions_agree(self) -> None:
        for ours, theirs in getattr(self, "cursors", ()):
            if self.closed(ours):
                continue
            names = [None if c.description is None else [column[0] for column in c.description] for c in (ours, theirs)]
            # sqlite3 names an expression by its text, DuckDB (and so dpsql) in a form of its own
            assert (names[0] is None) == (names[1] is None)
            if names[0] is not None and "(" not in str(names[1]) and names[1] != ["1"]:
                assert names[0] == names[1]

    @staticmethod
    def closed(cursor: Any) -> bool:
        return "closed" in repr(cursor)

    @staticmethod
    def rows(cursor: Any, fetched: Any) -> Any:
        """PEP 249: fetching where there is no result is an error; sqlite3 says that there are no rows."""
        return "error" if cursor.description is None else fetched

    def teardown(self) -> None:
        for connection in (getattr(self, "ours", None), getattr(self, "theirs", None)):
            if connection is not None:
                connection.close()


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Any, Any]]:
    """A cursor of ours and one of sqlite3's, over the same five rows."""
    machine = Cursors()
    machine.open()
    yield machine.cursors[0]
    machine.teardown()


@pytest.mark.slow
@pytest.mark.parametrize("arraysize", [1, 2, 3, 5, 6])
def test_any_two_fetches_and_what_they_leave(both: tuple[Any, Any], arraysize: int) -> None:
    """Every pair of fetches, at the ends of the result too: what chance may miss."""
    calls: dict[str, Callable[[Any], Any]] = {
        "fetchone": lambda c: c.fetchone(),
        "next": lambda c: next(c, None),
        "fetchmany": lambda c: c.fetchmany(),
        "fetchall": lambda c: c.fetchall(),
        **{
            f"fetchmany({size})": functools.partial(lambda size, c: c.fetchmany(size), size) for size in (1, 2, 4, 5, 6)
        },
    }
    for first, second in itertools.product(calls, repeat=2):
        answers = []
        for cursor in both:
            cursor.arraysize = arraysize
            cursor.execute("SELECT n, b FROM t ORDER BY n")
            answers.append([calls[first](cursor), calls[second](cursor), cursor.fetchall(), cursor.fetchone()])
        assert answers[0] == answers[1], (first, second)


TestCursors = pytest.mark.slow(Cursors.TestCase)
TestCursors.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
