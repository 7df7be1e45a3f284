"""The planner is a function of values: what it lacks it asks for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.domain.facts import Values
from dpsql.engine.printing import printed
from dpsql.engine.scratch import Scratch
from dpsql.errors import PostProcessingError
from dpsql.execution.planning import plan_of, read
from dpsql.functions.sets import KeyQuestion, no_answer
from dpsql.planner import PlannerInput, plan
from dpsql.privacy.rules.context import KeysNeeded
from dpsql.privacy.settings import QuerySettings
from dpsql.session import Session, open_session
from dpsql.sources.public_tables import PublicTables
from tests.worlds import clinic

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
    read_values = PublicTables._values

    def counted(self: PublicTables, table: str, column: str, scratch: Scratch) -> object:
        asked.append((table, column))
        return read_values(self, table, column, scratch)

    monkeypatch.setattr(PublicTables, "_values", counted)
    plan_of(opened, read("SELECT COUNT(*) FROM visits"))
    assert asked == []
    for _ in range(2):
        (stage,) = plan_of(opened, read(SQL)).stages
        assert [key.values for key in stage.keys] == [("Ada", "Bo")]
    assert asked == [COLUMN]
    opened.close()


def test_keys_of_expressions_are_the_answers_that_the_planner_is_given() -> None:
    opened = session()
    asked: list[KeyQuestion] = []
    settings = QuerySettings(epsilon=None, delta=Fraction(0), exact=True)
    statement = read("SELECT UPPER(specialty), COUNT(*) FROM visits GROUP BY 1")

    def answer(question: KeyQuestion) -> Values | None:
        asked.append(question)
        return ("X",)

    for known, expected in ((answer, ("X", None)), (no_answer, None)):
        given = PlannerInput(catalog=opened.catalog, printed=printed, key_values=known)
        (stage,) = plan(statement, given, settings).stages
        assert [key.values for key in stage.keys] == [expected]
    assert len(asked) == 1 and len(asked[0].sets) == 1
    opened.close()


@pytest.mark.parametrize("code", [502, 503, 504])
def test_a_set_that_cannot_be_computed_is_not_public(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """But an interrupt is the user's word."""
    opened = session()

    def fails(self: Scratch, sql: str, parameters: object) -> object:
        raise PostProcessingError("it cannot", code=code)

    monkeypatch.setattr(Scratch, "values", fails)
    statement = read("SELECT UPPER(specialty), COUNT(*) FROM visits GROUP BY 1")
    if code == 503:
        with pytest.raises(PostProcessingError):
            plan_of(opened, statement)
    else:
        assert [key.values for key in plan_of(opened, statement).stages[0].keys] == [None]
    opened.close()
