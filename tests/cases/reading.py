"""The format of every .sql and .yaml file below tests/cases, and its one reader.

    -- # a comment; the last one before a statement is its title
    SELECT COUNT(*)
    FROM visits
    -- what becomes of it, on one line
    -- or on several

A line that begins with two dashes after a statement is its outcome; what that means is for the test to say. Where many
statements have one outcome, `-- # each line: ok` says so once, and then every line is a statement. In a .yaml file the
statement is a document, and `#` is written for the two dashes (no line of a document begins with it).

`pytest --update tests/cases tests/unit` writes outcomes into the files (the fixture `golden`); read the diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dpsql

FOLDER = Path(__file__).parent
EACH = "-- # each line: "
COMMENT = {".sql": "--", ".yaml": "#"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """text: a statement, or a YAML document. line: where it begins. at: the lines of its outcome (from 0, the last
    excluded); None where it is shared."""

    path: Path
    line: int
    title: str
    text: str
    outcome: str
    at: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{self.path.stem}:{self.line}"

    @property
    def first(self) -> str:
        """The outcome's first line."""
        return self.outcome.partition("\n")[0]

    @property
    def more(self) -> list[str]:
        return self.outcome.split("\n")[1:]


def read(path: Path | str) -> list[Case]:
    """The cases of a file, named by its place below tests/cases."""
    place = FOLDER / path
    text = place.read_text(encoding="utf-8")
    return list(_each_line(place, text) if EACH in text else _blocks(place, text))


def _each_line(path: Path, text: str) -> Iterator[Case]:
    outcome = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(EACH):
            outcome = line.removeprefix(EACH)
        elif line and not line.startswith("--"):
            assert outcome, f"{path.name}:{number}: a statement before its outcome"
            yield Case(path=path, line=number, title="", text=line, outcome=outcome, at=None)


def _blocks(path: Path, text: str) -> Iterator[Case]:
    comment = COMMENT[path.suffix]
    lines = [*text.splitlines(), ""]
    title, body, start, outcome = "", [], 0, -1
    for at, line in enumerate(lines):
        is_title = line.startswith(f"{comment} #")
        is_outcome = line.startswith(comment) and not is_title
        if outcome >= 0 and not is_outcome:
            said = "\n".join(text.removeprefix(comment).removeprefix(" ") for text in lines[outcome:at])
            yield Case(path=path, line=start + 1, title=title, text="\n".join(body), outcome=said, at=(outcome, at))
            title, body, outcome = "", [], -1
        if is_outcome:
            assert body, f"{path.name}:{at + 1}: an outcome without a statement"
            outcome = at if outcome < 0 else outcome
        elif is_title:
            assert not body, f"{path.name}:{at + 1}: a comment within a statement"
            title = line.removeprefix(f"{comment} #").strip()
        elif body or line.strip():
            start = start if body else at
            body.append(line)
    assert not "".join(body), f"{path.name}: the last statement has no outcome"


def write(outcomes: Mapping[Case, str]) -> None:
    """Write outcomes into the files that their cases are of."""
    for path in {case.path for case in outcomes}:
        lines = path.read_text(encoding="utf-8").splitlines()
        of_file = [(case.at, text) for case, text in outcomes.items() if case.path == path and case.at is not None]
        for (begin, end), text in sorted(of_file, reverse=True):
            lines[begin:end] = [f"{COMMENT[path.suffix]} {line}".rstrip() for line in text.split("\n")]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def refusal(error: dpsql.Error) -> str:
    """A refusal as the files say it: code, place, and what is wrong."""
    at = f"{error.line}:{error.column}" if error.line is not None else "nowhere"
    return f"{error.code} at {at}: {error.what}"
