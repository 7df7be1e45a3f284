"""A statement for Spark, as text: what two places read is stored, and what one place reads is named before it."""

from __future__ import annotations

import pytest

from dpsql.engine.spark.script import steps_of
from dpsql.plan.dialects.spark.steps import script
from dpsql.plan.vault_query import Step

ROWS = Step("rows", "SELECT u FROM t")


def test_a_chain_is_one_statement() -> None:
    steps = [ROWS, Step("pairs", "SELECT u FROM rows"), Step("sums", "SELECT u FROM pairs")]
    said = "WITH rows AS (SELECT u FROM t), pairs AS (SELECT u FROM rows), sums AS (SELECT u FROM pairs) SELECT 1 FROM sums"
    assert script(steps, "SELECT 1 FROM sums") == said and steps_of(said) == ([], said)


def test_what_is_read_twice_is_stored_with_what_it_reads() -> None:
    """So one evaluation serves both, and what comes after reads the stored relation alone."""
    steps = [ROWS, Step("pairs", "SELECT u FROM rows"), Step("sums", "SELECT u FROM pairs")]
    text = script(steps, "SELECT 1 FROM sums JOIN pairs ON sums.u = pairs.u")
    stored = [("pairs", "WITH rows AS (SELECT u FROM t) SELECT u FROM rows")]
    last = "WITH sums AS (SELECT u FROM pairs) SELECT 1 FROM sums JOIN pairs ON sums.u = pairs.u"
    assert steps_of(text) == (stored, last)


def test_a_part_waits_for_what_reads_it() -> None:
    """It is not lost where a step that is stored stands between."""
    steps = [ROWS, Step("other", "SELECT u FROM s"), Step("both", "SELECT o.u FROM other AS o, other AS p")]
    stored, last = steps_of(script(steps, "SELECT 1 FROM rows, both")) or ([], "")
    assert [name for name, _ in stored] == ["other"]
    assert last.startswith("WITH rows AS (SELECT u FROM t), both AS (") and "other AS (" not in last


@pytest.mark.parametrize(
    "text", ["", "DROP TABLE t", "VIEW a AS SELECT 1\nSELECT 1", "STORED a AS DELETE FROM t\nSELECT 1"]
)
def test_what_is_no_such_statement(text: str) -> None:
    assert steps_of(text) is None
