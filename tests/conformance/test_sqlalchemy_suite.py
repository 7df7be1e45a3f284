"""SQLAlchemy's own suite for dialects runs over dpsql's, in processes of its own (sqlalchemy_suite/). What fails is named,
with the reason, in deviations.toml; a deviation that passes fails the run, and so does one of no test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
ROOT = Path(__file__).parents[2]
SUITE = Path(__file__).with_name("sqlalchemy_suite")
# How many pass at least: a requirement that is closed by mistake skips tests.
PARTS = {"rest": 960, "reflection": 500}
WORLD = """
dataset: suite
unit: person
budget: {epsilon: 10}
tables:
  nothing: {public: true, source: nothing.csv, columns: {x: integer}}
"""


def suite(folder: Path, *options: str, deviations: Path | None = None) -> subprocess.CompletedProcess[str]:
    (folder / "world.yaml").write_text(WORLD, encoding="utf-8")
    (folder / "nothing.csv").write_text("x\n1\n", encoding="utf-8")
    named = {} if deviations is None else {"DEVIATIONS": str(deviations)}
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", str(SUITE / "setup.cfg"), f"--rootdir={SUITE}"),
            *(f"--confcutdir={SUITE}", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("-p", "tests.conformance.sqlalchemy_suite.plugin", str(SUITE / "dialect_suite.py")),
            *("--dburi", f"dpsql:///{folder / 'world.yaml'}", *options),
        ],
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}, "PYTHONPATH": str(ROOT), **named},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", PARTS)
def test_the_suite(part: str, tmp_path: Path) -> None:
    said = suite(tmp_path, "--part", part)
    last = said.stdout.strip().rpartition("\n")[2]
    assert said.returncode == 0, f"{said.stdout[-8000:]}\n{said.stderr[-2000:]}"
    passed = re.search(r"(\d+) passed", last)
    assert passed is not None and int(passed[1]) >= PARTS[part], last


@pytest.mark.slow
def test_a_deviation_is_a_test_that_fails(tmp_path: Path) -> None:
    """One that passes fails the run, one of no test ends it, and a failure without a name fails it."""
    file = tmp_path / "deviations.toml"
    file.write_text('[some]\nwhy = "to try it"\n[some.tests]\n"NoSuchTest.test_it" = []\n', encoding="utf-8")
    said = suite(tmp_path, "--collect-only", deviations=file)
    assert said.returncode != 0 and "deviations of no test: ['NoSuchTest.test_it']" in said.stdout + said.stderr
    file.write_text('[some]\nwhy = "it passes"\n[some.tests]\n"RowFetchTest.test_via_int" = []\n', encoding="utf-8")
    said = suite(tmp_path, "-k", "RowFetchTest", deviations=file)
    assert said.returncode == 1 and "[XPASS(strict)] it passes" in said.stdout
    file.write_text("", encoding="utf-8")
    said = suite(tmp_path, "-k", "WindowFunctionTest and test_window_range_numeric", deviations=file)
    assert said.returncode == 1 and "1 failed" in said.stdout
