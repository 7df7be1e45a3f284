"""NOT IN over public rows becomes anti-joins on equality, with the NULL checks that the columns need."""

from __future__ import annotations

import pytest

from dpsql import testing
from dpsql.ir.expr import Call, walk
from dpsql.ir.nodes import SemiJoin
from dpsql.ir.nodes import walk as nodes
from tests.worlds import dataset, private, public

CATALOG = dataset(
    {
        "people": private(
            {"a": {"type": "integer", "nullable": False}, "b": "integer"}, unit="id", max_groups=1, max_rows=1
        ),
        "known": public({"c": {"type": "integer", "nullable": False}, "d": "integer"}),
    },
    budget={"epsilon": 1, "delta": 0},
    per_query={"epsilon": 1},
)


@pytest.mark.parametrize(
    ("condition", "joins"),
    [
        ("a NOT IN (SELECT c FROM known)", 1),
        ("b NOT IN (SELECT c FROM known)", 2),
        ("a NOT IN (SELECT d FROM known)", 2),
        ("b NOT IN (SELECT d FROM known)", 3),
        ("b NOT IN (SELECT d FROM known WHERE d > 4)", 2),
        ("b NOT IN (SELECT d FROM known WHERE c < people.a)", 3),
        ("b IS NOT NULL AND b NOT IN (SELECT d FROM known)", 2),
    ],
)
def test_one_join_for_each_way_not_to_be_false(condition: str, joins: int) -> None:
    with testing.Replayer(CATALOG, {"people": [], "known": []}) as replayer:
        (stage,) = replayer.plan(f"SELECT COUNT(*) FROM people WHERE {condition}").stages
    semi_joins = [node for node in nodes(stage.source.node) if isinstance(node, SemiJoin)]
    assert len(semi_joins) == joins
    calls = {part.function for node in semi_joins for part in walk(node.on) if isinstance(part, Call)}
    assert "equal" in calls and "is_not_false" not in calls
