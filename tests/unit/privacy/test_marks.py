"""Marks (ir/nodes.SemiJoin): what the kernel wants of them."""

from __future__ import annotations

import dataclasses

import pytest

from dpsql.domain.types import BIGINT
from dpsql.errors import Refused
from dpsql.ir.nodes import Field, Node, Project, SemiJoin, transform, walk
from dpsql.privacy.kernel import certify
from tests.worlds import clinic

MARKED = (
    "SELECT COUNT(*) FROM patients p WHERE age > 5 OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)"
)


@pytest.mark.parametrize("what", ["as it is", "anti", "of another type", "without the unit"])
def test_a_mark_is_a_boolean_and_drops_nothing(what: str) -> None:
    with clinic.replayer() as replayer:
        (stage,) = replayer.plan(MARKED).stages
        catalog = replayer.session.catalog
    assert any(isinstance(node, SemiJoin) and node.mark is not None for node in walk(stage.source.node))

    def changed(node: Node) -> Node | None:
        if not isinstance(node, SemiJoin) or node.mark is None:
            return None
        match what:
            case "anti":
                return dataclasses.replace(node, anti=True)
            case "of another type":
                return dataclasses.replace(node, mark=Field(node.mark.id, "", BIGINT))
            case "without the unit":
                return dataclasses.replace(node, on=node.on.args[-1] if hasattr(node.on, "args") else node.on)
        return node

    node = transform(stage.source.node, changed)
    assert isinstance(node, Project)
    if what == "as it is":
        assert certify(node, catalog).proof == stage.source.proof
        return
    with pytest.raises(Refused) as refused:
        certify(node, catalog)
    assert refused.value.code == "DPSQL-137"
