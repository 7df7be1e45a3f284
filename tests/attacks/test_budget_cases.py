"""Every accepted statement of tests/cases/sql: a retry gives the same rows, charged once, from the record alone."""

from __future__ import annotations

import dpsql
from dpsql.execution.planning import plan_of, read
from dpsql.query import in_text
from tests.cases import clinic
from tests.cases.test_sql_cases import ACCEPTED


def test_every_answer_can_be_given_again() -> None:
    catalog = {**clinic.CATALOG, "dataset": "given again"}
    answered = 0
    with dpsql.connect(catalog, source=clinic.source(clinic.dirty())) as conn:
        for number, case in enumerate(ACCEPTED):
            with in_text(case.sql):
                plan = plan_of(conn._session, read(case.sql))
            if plan.cost.epsilon == 0:
                continue
            first = conn.execute(case.sql, query_id=f"{number}")
            before = conn.budget.spent
            again = conn.execute(case.sql, query_id=f"{number}")
            assert again.privacy is not None and again.privacy.repeated, case
            assert conn.budget.spent == before, case
            assert sorted(map(repr, again.fetchall())) == sorted(map(repr, first.fetchall())), case
            answered += 1
    assert answered > 50
