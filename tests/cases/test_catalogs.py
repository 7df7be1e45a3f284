"""tests/cases/catalog/*.yaml: metadata that is wrong, each document followed by all of its problems: where, what => fix."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsql.errors import CatalogError
from dpsql.metadata.load import load, loads
from tests.cases.reading import FOLDER, Case, read

CASES = [case for path in sorted((FOLDER / "catalog").glob("*.yaml")) for case in read(path)]


def test_there_are_many() -> None:
    assert len(CASES) >= 60
    assert sum(line.startswith("case.yaml") for case in CASES for line in case.outcome.split("\n")) >= 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.stem}: {case.title}")
def test_exactly_these_problems(case: Case, tmp_path: Path, golden: Callable[[Case, str], None]) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(case.text, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load(path)
    golden(
        case, "\n".join(f"{one.where}: {one.what} => {one.fix}".removesuffix(" => ") for one in caught.value.problems)
    )
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.stem}: {case.title}")
def test_every_problem_says_where(case: Case) -> None:
    with pytest.raises(CatalogError) as caught:
        loads(case.text, name="x.yaml")
    for problem in caught.value.problems:
        assert re.fullmatch(r"x\.yaml(:\d+)?", problem.where)
        assert problem.what


def test_an_empty_document() -> None:
    with pytest.raises(CatalogError) as caught:
        loads("", name="x.yaml")
    assert [str(problem).partition("\n")[0] for problem in caught.value.problems] == ["x.yaml: is empty"]
