"""`make release`: is this commit a release? Then build it. Nothing is uploaded.

The version is the same in pyproject.toml, dpsql/version.py and the first section of CHANGELOG.md, which has a date and is
not empty; the commit has the tag v<version>; nothing is changed or untracked beside it.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.project.wheel import ROOT, version

_SECTION = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]*)\)\n(?P<body>.*?)(?=^## |\Z)", re.M | re.S)


def git(*arguments: str, root: Path = ROOT) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def problems_of_text(wanted: str, package: str, changelog: str) -> Iterator[str]:
    """wanted: pyproject's version; package: the text of dpsql/version.py."""
    if f'VERSION = "{wanted}"\n' not in package:
        yield f"dpsql/version.py is not at {wanted}"
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        yield f"{wanted} is not major.minor.patch"
    sections = list(_SECTION.finditer(changelog))
    if not sections or sections[0]["version"] != wanted:
        yield f"the first section of CHANGELOG.md is not {wanted}"
        return
    if not _is_date(sections[0]["date"]):
        yield f"CHANGELOG.md: {wanted} has no date, but ({sections[0]['date']})"
    if not sections[0]["body"].strip():
        yield f"CHANGELOG.md says nothing about {wanted}"
    if len({section["version"] for section in sections}) < len(sections):
        yield "CHANGELOG.md has a version twice"


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text) <= datetime.date.today()
    except ValueError:
        return False


def problems_of_commit(wanted: str, root: Path = ROOT) -> Iterator[str]:
    if f"v{wanted}" not in git("tag", "--points-at", "HEAD", root=root).split():
        yield f"this commit is not tagged: git tag -a v{wanted}"
    if git("status", "--porcelain", root=root):
        yield "there are changes that are not committed"


def problems() -> list[str]:
    wanted = version()
    package = (ROOT / "dpsql" / "version.py").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return [*problems_of_text(wanted, package, changelog), *problems_of_commit(wanted)]


if __name__ == "__main__":
    wrong = problems()
    print("\n".join(wrong) or f"{version()} is ready to be built")
    sys.exit(1 if wrong else 0)
