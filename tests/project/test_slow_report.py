"""What a run says at its end about slow tests, played in a folder with tests of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import time
import pytest

@pytest.fixture
def slow_to_make():
    time.sleep(0.2)

def test_long(): time.sleep(0.2)
def test_waits_for_its_fixture(slow_to_make): pass
def test_short(): pass
@pytest.mark.slow
def test_known(): time.sleep(0.2)
"""
MARKERS = "[pytest]\nmarkers =\n    slow\n    deep\n"


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["-pno:xdist", "-n2"])
def test_unmarked_tests_over_the_limit_are_named(workers: str, tmp_path: Path) -> None:
    for name, text in {"conftest.py": CONFTEST.read_text("utf-8"), "test_it.py": TESTS, "pytest.ini": MARKERS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--slow-after=0.1", workers]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 tests took over 0.1 s and are not marked slow" in ran.stdout
    named = [line.split("::")[-1] for line in ran.stdout.splitlines() if "test_it.py::" in line]
    assert sorted(named) == ["test_long", "test_waits_for_its_fixture"]
