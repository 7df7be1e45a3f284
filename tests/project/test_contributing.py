"""CONTRIBUTING.md says what is so: its commands and files exist, and its recipe for an aggregate works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.project.sizes import FUNCTION, MODULE
from tests.project.wheel import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MADE = {"dpsql/aggregates/standard_error.py"}  # by the recipe


def test_commands_and_files_are_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"make ([a-z]+)", TEXT)) - {"them"}
    assert len(named) > 8 and named <= targets
    paths = set(re.findall(r"(?:dpsql|tests|metadata)/[\w/.]+\w", TEXT)) - MADE
    assert len(paths) > 12
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_caps_are_those_of_the_test() -> None:
    assert f"A module has at most {MODULE} lines and a function at most {FUNCTION} " in " ".join(TEXT.split())


def recipe() -> str:
    """The module of step 1."""
    block = TEXT.partition("the most similar aggregate")[2].partition("\n2. ")[0].partition("\n\n")[2]
    return textwrap.dedent(block).strip() + "\n"


TRIED = """
import duckdb, math, pandas as pd
from dpsql import testing
rows = pd.DataFrame({"u": range(40), "x": [float(i % 7) for i in range(40)]})
columns = {"u": "integer", "x": {"type": "real", "lower": 0, "upper": 6}}
table = {"unit": "u", "max_groups": 1, "max_rows": 1, "columns": columns}
catalog = {"dataset": "d", "unit": "person", "budget": {"epsilon": 9}, "tables": {"t": table}}
with testing.exact(catalog, source={"t": rows}) as connection:
    (answer,) = connection.execute("SELECT SEM(x) FROM t").fetchone()
(expected,) = duckdb.sql("SELECT SEM(x) FROM rows").fetchall()[0]
assert math.isclose(answer, expected, rel_tol=1e-6), (answer, expected)
print("answered")
"""


@pytest.mark.slow
def test_the_recipe_gives_an_aggregate(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "dpsql", tmp_path / "dpsql", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "dpsql" / "aggregates"
    (folder / "standard_error.py").write_text(recipe(), encoding="utf-8")
    table = (folder / "__init__.py").read_text(encoding="utf-8")
    table = table.replace("\nAGGREGATES: ", "\nfrom dpsql.aggregates.standard_error import SEM\n\nAGGREGATES: ")
    (folder / "__init__.py").write_text(
        table.replace("    *VARIANCES,\n", "    *VARIANCES,\n    SEM,\n"), encoding="utf-8"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", TRIED]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout == "answered\n", ran.stderr
