"""Plans as text: every statement of tests/cases/plan is explained as its file says, or refused in `_fail.sql`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsql.errors import Error
from dpsql.testing import Replayer
from tests.cases.reading import FOLDER, Case, read

METADATA = Path(__file__).parents[2] / "metadata"


def outcome(statement: str, metadata: Path, tmp_path: Path) -> str:
    """The plan's text; no ledger and no private file are touched, so nothing in it depends on what was asked before."""
    from dpsql.dbapi import Connection

    copy = tmp_path / metadata.name
    copy.write_bytes(metadata.read_bytes())
    with Replayer(copy) as replayer:
        try:
            return str(Connection(replayer.session).explain(statement))
        except Error as error:
            return str(error)


CASES = [case for path in sorted((FOLDER / "plan").glob("*.sql")) for case in read(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.stem}: {case.title}")
def test_plans(case: Case, tmp_path: Path, golden: Callable[[Case, str], None]) -> None:
    plan = outcome(case.text, METADATA / f"{case.path.stem.removesuffix('_fail')}.yaml", tmp_path)
    golden(case, plan)
    assert plan.startswith("DPSQL-1") == case.path.stem.endswith("_fail")
