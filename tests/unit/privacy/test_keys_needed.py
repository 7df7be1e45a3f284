"""The planner is a function of values: what it lacks it asks for."""

from __future__ import annotations

import pytest

from dpsql.engine.printing import printed
from dpsql.execution.planning import plan_of, read
from dpsql.planner import PlannerInput, plan
from dpsql.privacy.rules.context import KeysNeeded
from dpsql.privacy.settings import QuerySettings
from dpsql.session import Session, open_session
from tests.cases import clinic

SQL = "SELECT s.head, COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name GROUP BY s.head"
COLUMN = ("specialties", "head")


def session() -> Session:
    return open_session(clinic.CATALOG, source=clinic.source(clinic.clean()), exact=True)


def test_a_planner_without_values_says_which_it_needs() -> None:
    opened = session()
    settings = QuerySettings(epsilon=None, delta=None, exact=True)
    with pytest.raises(KeysNeeded) as needed:
        plan(read(SQL), PlannerInput(catalog=opened.catalog, printed=printed), settings)
    assert needed.value.column == COLUMN
    (stage,) = plan(
        read(SQL), PlannerInput(catalog=opened.catalog, printed=printed, keys_of={COLUMN: ("x", "y")}), settings
    ).stages
    assert [key.values for key in stage.keys] == [("x", "y")]
    opened.close()


def test_a_session_reads_each_column_once_and_only_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = session()
    asked: list[tuple[str, str]] = []
    read_values = Session._read_values

    def counted(self: Session, table: str, column: str) -> object:
        asked.append((table, column))
        return read_values(self, table, column)

    monkeypatch.setattr(Session, "_read_values", counted)
    plan_of(opened, read("SELECT COUNT(*) FROM visits"))
    assert asked == []
    for _ in range(2):
        (stage,) = plan_of(opened, read(SQL)).stages
        assert [key.values for key in stage.keys] == [("Ada", "Bo")]
    assert asked == [COLUMN]
    opened.close()
