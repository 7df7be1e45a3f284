"""Every YAML under tests/cases/catalog gives exactly the problems that its comments say, on the lines where they stand.

A case begins at `# title:`. A comment `# ! what => fix` expects one problem on that line whose texts have both parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsql.errors import CatalogError, Problem
from dpsql.metadata.load import load, loads

FOLDER = Path(__file__).parents[2] / "cases" / "catalog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    text: str

    def expected(self) -> list[tuple[int, str, str]]:
        found = []
        for number, line in enumerate(self.text.splitlines(), start=1):
            for comment in re.split(r"# ! ", line)[1:]:
                what, _, fix = comment.strip().partition(" => ")
                found.append((number, what, fix))
        return found


def cases() -> list[Case]:
    found = []
    for path in sorted(FOLDER.glob("*_fail.yaml")):
        for part in re.split(r"^# title: ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, text = part.partition("\n")
            found.append(Case(name=f"{path.stem}: {title}", text=text))
    return found


def matches(problem: Problem, line: int, what: str, fix: str) -> bool:
    place = problem.where in (f"case.yaml:{line}", "case.yaml")
    return place and what in problem.what and fix in problem.fix


def test_there_are_many() -> None:
    assert len(cases()) >= 60
    assert sum(len(case.expected()) for case in cases()) >= 150


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_exactly_these_problems(case: Case, tmp_path: Path) -> None:
    expected = case.expected()
    assert expected
    path = tmp_path / "case.yaml"
    path.write_text(case.text, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load(path)
    problems = list(caught.value.problems)
    for line, what, fix in expected:
        found = next((problem for problem in problems if matches(problem, line, what, fix)), None)
        assert found is not None, f"expected on line {line}: {what} => {fix}\n{caught.value}"
        problems.remove(found)
    assert not problems, f"not expected: {problems}"
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_problem_says_where(case: Case) -> None:
    with pytest.raises(CatalogError) as caught:
        loads(case.text, name="x.yaml")
    for problem in caught.value.problems:
        assert re.fullmatch(r"x\.yaml(:\d+)?", problem.where)
        assert problem.what
