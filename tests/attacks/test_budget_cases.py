"""Accepted statements of tests/cases/sql: a retry gives the same rows, charged once, from the record alone."""

from __future__ import annotations

import dpsql
from dpsql.execution.planning import plan_of, read
from dpsql.query import in_text
from tests.cases.test_sql_cases import ACCEPTED
from tests.profile import drawn
from tests.worlds import again, clinic


def test_every_answer_can_be_given_again() -> None:
    catalog = again(clinic.CATALOG)
    answered = 0
    with dpsql.connect(catalog, source=clinic.source(clinic.dirty())) as conn:
        for number, case in enumerate(ACCEPTED[:: drawn(2, deep=1)]):
            with in_text(case.text):
                plan = plan_of(conn._session, read(case.text))
            if plan.cost.epsilon == 0:
                continue
            first = conn.execute(case.text, query_id=f"{number}")
            before = conn.budget.spent
            repeat = conn.execute(case.text, query_id=f"{number}")
            assert repeat.privacy is not None and repeat.privacy.repeated, case
            assert conn.budget.spent == before, case
            assert sorted(map(repr, repeat.fetchall())) == sorted(map(repr, first.fetchall())), case
            answered += 1
    assert answered > 50
