"""Every relation that the rules accept is certified: the cases, TPC-H, random statements over random tables."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import testing
from dpsql.plan.proof import Proof, Rule, described, summary, totality
from dpsql.privacy.kernel import certify
from dpsql.session import Session
from tests.cases.test_sql_cases import ACCEPTED
from tests.conformance.tpch_data import catalog, create, query
from tests.properties import test_hostile_expressions as hostile
from tests.properties.closing import closed
from tests.properties.generator.statements import Statements
from tests.properties.generator.tables import tables
from tests.properties.test_replay_relational import opened
from tests.worlds import clinic, dataset, private, public

STATEMENTS = 1500
EXPRESSIONS = 600


def certified(session: Session, sql: str) -> Iterator[Proof]:
    for node in closed(session, sql):
        yield certify(node, session.catalog).proof


def rules(proof: Proof) -> Iterator[Rule]:
    yield proof.rule
    for below in proof.below:
        yield from rules(below)


def test_accepted_cases() -> None:
    seen: Counter[Rule] = Counter()
    with clinic.replayer() as replayer:
        for case in ACCEPTED:
            for proof in certified(replayer.session, case.text):
                seen.update(rules(proof))
                assert 0 < len(described(proof)) <= len(list(rules(proof)))  # projections of projections are one
    assert {rule for rule in Rule if not seen[rule]} == {Rule.ROW_IS_UNIT}


def test_tpch(tmp_path: Path) -> None:
    with duckdb.connect() as oracle, testing.Replayer(catalog(), create(oracle, tmp_path)) as replayer:
        for number in range(1, 23):
            try:
                proofs = list(certified(replayer.session, query(number)))
            except dpsql.Error as refused:
                assert refused.code == "DPSQL-112"
                continue
            assert proofs or number in (2, 11, 16)


def test_random_statements(tmp_path: Path) -> None:
    draw = random.Random(7)
    count = 0
    while count < STATEMENTS:
        one = tables(draw)
        statements = Statements(draw)
        with opened(one, one.rows, tmp_path) as replayer:
            for _ in range(100):
                sql = statements.statement()
                try:
                    count += len(list(certified(replayer.session, sql)))
                except dpsql.Error as refused:
                    assert refused.code != "DPSQL-137", (sql, refused)


def test_random_expressions() -> None:
    """Many of whose calls need their checked form, and many of which do not."""
    draw = random.Random(5)
    expressions = hostile.Expressions(draw, hostile.EVERYTHING)
    calls = checked = 0
    with testing.Replayer(hostile.CATALOG, hostile.source(draw)) as replayer:
        for _ in range(EXPRESSIONS):
            sql = expressions.statement()
            try:
                nodes = closed(replayer.session, sql)
            except dpsql.Error:
                continue
            for node in nodes:
                source = certify(node, replayer.session.catalog)
                calls, checked = calls + source.calls, checked + len(source.checked)
                assert totality(source).startswith("No stored value can make it fail: ")
                assert ("NULL where" in totality(source)) == bool(source.checked)
    assert EXPRESSIONS < 20 * checked < 10 * calls


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM visits WHERE cost > 3", "visits.patient_id: own column"),
        (
            "SELECT COUNT(*) FROM items i JOIN visits v ON i.visit_id = v.visit_id",
            "visits.patient_id: own column · items.visit_id = visits.visit_id: path",
        ),
        (
            "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
            "visits.patient_id: own column · patient_id: per unit",
        ),
    ],
)
def test_a_proof_in_words(sql: str, expected: str) -> None:
    with clinic.replayer() as replayer:
        (proof,) = certified(replayer.session, sql)
    assert summary(proof) == expected


def test_one_row_of_a_unit_is_seen_by_the_form() -> None:
    described = dataset(
        {"t": private({"x": "integer"}, unit=None), "p": public({"x": "integer"})}, budget={"epsilon": 1, "delta": 0}
    )
    expected = {
        "SELECT COUNT(*) FROM t": True,
        "SELECT SUM(LEAST(y, 3)) FROM (SELECT ABS(x) AS y FROM t WHERE x > 0) WHERE y > 1": True,
        "SELECT COUNT(*) FROM t WHERE x IN (SELECT x FROM p)": True,
        "SELECT COUNT(*) FROM t JOIN p USING (x)": False,
        "SELECT COUNT(*) FROM t LEFT JOIN p USING (x)": False,
        "SELECT COUNT(*) FROM (SELECT * FROM t UNION ALL SELECT * FROM t)": False,
    }
    with testing.Replayer(described) as replayer:
        for sql, single in expected.items():
            (node,) = closed(replayer.session, sql)
            assert certify(node, replayer.session.catalog).single is single, sql
    with clinic.replayer() as replayer:
        for keys, single in {
            "patient_id": True,
            "patient_id, specialty": False,
            "ROLLUP (patient_id), patient_id": False,
        }.items():
            (node,) = closed(replayer.session, f"SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY {keys})")
            assert certify(node, replayer.session.catalog).single is single, keys
