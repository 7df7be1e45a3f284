"""Plans as text: every case of tests/cases/plan is explained as its file says (`pytest --update` writes what is).

A case is `-- title:`, a statement, `----`, and the plan, or for `_fail.sql` the refusal with its code and place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.errors import Error
from dpsql.testing import Replayer

FOLDER = Path(__file__).parent / "plan"
METADATA = Path(__file__).parents[2] / "metadata"
TITLE = "-- title: "


def cases(path: Path) -> dict[str, tuple[str, str]]:
    """title → (statement, what is expected)."""
    found: dict[str, tuple[str, str]] = {}
    for part in path.read_text("utf-8").split(TITLE)[1:]:
        title, _, rest = part.partition("\n")
        statement, _, expected = rest.partition("\n----\n")
        found[title] = statement, expected.strip("\n")
    return found


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


FILES = sorted(FOLDER.glob("*.sql"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_plans(path: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    metadata = METADATA / f"{path.stem.removesuffix('_fail')}.yaml"
    written = cases(path)
    found = {title: (sql, outcome(sql, metadata, tmp_path)) for title, (sql, _) in written.items()}
    if pytestconfig.getoption("--update"):
        text = "\n".join(f"{TITLE}{title}\n{sql}\n----\n{plan}\n" for title, (sql, plan) in found.items())
        path.write_text(text, "utf-8")
    assert found == cases(path)
    for title, (_, plan) in found.items():
        assert plan.startswith("DPSQL-1") == path.stem.endswith("_fail"), (title, plan)
