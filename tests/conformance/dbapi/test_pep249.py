"""The public dbapi20 compliance suite. Each deviation is a method here, named and justified."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import dpsql

dbapi20 = pytest.importorskip("dbapi20", reason="pip install 'dpsql[test]'")
numbers = itertools.count(1)


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc,name-defined]  # the suite has no types
    driver = dpsql
    lower_func = None

    def setUp(self) -> None:
        # Tables that a user makes live as long as the connection, so every test has a database of its own.
        catalog = {
            "dataset": f"dbapi20-{next(numbers)}",
            "tables": {"nothing": {"public": True, "columns": {"x": "integer"}}},
        }
        self.connect_args = (catalog,)

    def tearDown(self) -> None:
        """Nothing outlives the connection."""

    # Deviations -------------------------------------------------------------------------------------------------

    def test_non_idempotent_close(self) -> None:
        """The suite's own comment: reasonable persons differ. Closing twice is no error, as in every context manager."""
        connection = self._connect()
        connection.close()
        connection.close()

    def test_callproc(self) -> None:
        """dpsql has no stored procedures: PEP 249 lists callproc as optional."""
        with self._connect() as connection, pytest.raises(dpsql.NotSupportedError):
            connection.cursor().callproc("lower", ("FOO",))

    def test_nextset(self) -> None:
        """A statement has one result: optional in PEP 249, and there is never a next one."""
        with self._connect() as connection:
            assert connection.execute("SELECT 1").nextset() is None

    def test_setoutputsize(self) -> None:
        """PEP 249 leaves implementations free to do nothing."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(1, 0)
            assert cursor.execute("SELECT 'long text'").fetchone() == ("long text",)


def test_every_test_of_the_suite_runs_here() -> None:
    deviations = {name for name, value in vars(TestCompliance).items() if name.startswith("test_")}
    assert deviations == {"test_non_idempotent_close", "test_callproc", "test_nextset", "test_setoutputsize"}
    suite: dict[str, Any] = vars(dbapi20.DatabaseAPI20Test)
    assert len([name for name in suite if name.startswith("test_")]) >= 35
