"""The types of the public API, as a user's type checker sees them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("mypy", reason="pip install 'dpsql[test]'")
HERE = Path(__file__).parent


def test_mypy_infers_what_is_promised() -> None:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(HERE / "mypy.ini"),
        str(HERE / "public_api.py"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    import dpsql

    assert (Path(dpsql.__file__).parent / "py.typed").exists()
