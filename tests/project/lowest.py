"""`python -m tests.project.lowest`: pip constraints that hold every dependency at the lowest version pyproject.toml allows.

The tools that test (pytest and so on) stay at their newest: their bounds are not what users install.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from tests.project.wheel import ROOT

# Of the extra `test`, what dpsql itself reads and writes.
PARTNERS = ("pyarrow", "polars", "psycopg", "sqlalchemy", "ipython", "matplotlib")
_BOUND = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)\s*(?:\[[^]]*\])?\s*(?P<how>>=|==)\s*(?P<version>[0-9][0-9A-Za-z.]*)")


def lowest(project: dict[str, Any]) -> Iterator[str]:
    yield from pinned(project["dependencies"])
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    yield from sorted({pin for pin in pinned(extras) if pin.partition("==")[0] in PARTNERS})


def pinned(requirements: Iterable[str]) -> Iterator[str]:
    for text in requirements:
        match = _BOUND.match(text)
        if match:
            yield f"{match['name']}=={match['version']}"


def unbounded(project: dict[str, Any]) -> list[str]:
    return [text for text in project["dependencies"] if not _BOUND.match(text)]


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    missing = unbounded(project)
    if missing:
        sys.exit(f"no lower bound: {', '.join(missing)}")
    print("\n".join(lowest(project)))
