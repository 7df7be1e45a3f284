"""A statement for Spark, as text: what two places read is stored, and what one place reads stands there."""

from __future__ import annotations

import pytest

from dpsql.engine.spark.script import Stored, steps_of
from dpsql.plan.dialects.spark.steps import script
from dpsql.plan.vault_query import Step

ROWS = Step("rows", "SELECT u FROM t")


def test_a_chain_is_one_statement() -> None:
    steps = [ROWS, Step("pairs", "SELECT u FROM rows"), Step("sums", "SELECT u FROM pairs")]
    said = "SELECT 1 FROM (SELECT u FROM (SELECT u FROM (SELECT u FROM t) AS rows) AS pairs) AS sums"
    assert script(steps, "SELECT 1 FROM sums") == said and steps_of(said) == ([], said)


def test_what_is_read_twice_is_stored_with_what_it_reads() -> None:
    """So one evaluation serves both, and what comes after reads the stored relation alone."""
    steps = [ROWS, Step("pairs", "SELECT u FROM rows"), Step("sums", "SELECT u FROM pairs")]
    text = script(steps, "SELECT 1 FROM sums JOIN pairs ON sums.u = pairs.u")
    stored = [Stored("pairs", "SELECT u FROM (SELECT u FROM t) AS rows")]
    last = "SELECT 1 FROM (SELECT u FROM pairs) AS sums JOIN pairs ON sums.u = pairs.u"
    assert steps_of(text) == (stored, last)


def test_a_part_waits_for_what_reads_it() -> None:
    """It is not lost where a step that is stored stands between."""
    steps = [ROWS, Step("other", "SELECT u FROM s"), Step("both", "SELECT o.u FROM other AS o, other AS p")]
    stored, last = steps_of(script(steps, "SELECT 1 FROM rows, both")) or ([], "")
    assert [step.name for step in stored] == ["other"]
    assert last == "SELECT 1 FROM (SELECT u FROM t) AS rows, (SELECT o.u FROM other AS o, other AS p) AS both"


def test_a_part_keeps_the_alias_that_its_place_gives_it() -> None:
    assert script([ROWS], "SELECT r.u FROM rows AS r, s AS rows") == "SELECT r.u FROM (SELECT u FROM t) AS r, s AS rows"


def test_a_kept_step_has_a_line_of_its_own() -> None:
    """Also where one place reads it: the next statement may be another."""
    steps = [ROWS, Step("pairs", "SELECT u FROM rows", kept=True)]
    stored, last = steps_of(script(steps, "SELECT 1 FROM pairs")) or ([], "")
    assert stored == [Stored("pairs", "SELECT u FROM (SELECT u FROM t) AS rows", kept=True)]
    assert last == "SELECT 1 FROM pairs"


@pytest.mark.parametrize(
    "select", ["SELECT * FROM here", "SELECT * FROM `here`", "SELECT * FROM s JOIN a ON a.here = 1"]
)
def test_what_names_a_table_of_its_statement_is_not_kept(select: str) -> None:
    """Another statement may call another table so."""
    line = f"KEPT k AS {select}\nSELECT 1"
    for text, loads, kept in (
        (line, ["there"], True),
        (line, ["here"], False),
        (f"STORED here AS SELECT 1\n{line}", [], False),
    ):
        assert [step.kept for step in (steps_of(text, loads) or ([], ""))[0]][-1] is kept


@pytest.mark.parametrize(
    "text", ["", "DROP TABLE t", "VIEW a AS SELECT 1\nSELECT 1", "STORED a AS DELETE FROM t\nSELECT 1"]
)
def test_what_is_no_such_statement(text: str) -> None:
    assert steps_of(text) is None
