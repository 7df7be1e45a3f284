"""What the oracles say, asked in an environment of their own, `.venv-oracles`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._environment import python_with

HERE = Path(__file__).parent


def opendp_draws(mechanism: str, t: int, count: int) -> tuple[npt.NDArray[np.int64], float]:
    """`count` values of OpenDP's discrete Laplace or Gaussian, and the seconds that drawing them took."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawn"
        answer = _run("draw_opendp.py", mechanism, str(t), str(count), str(file))
        return np.fromfile(file, dtype=np.int64), float(answer["seconds"])


def accounting_numbers() -> list[dict[str, Any]]:
    """What dp-accounting says about the same guarantees."""
    numbers: list[dict[str, Any]] = _run("account.py")["numbers"]
    return numbers


def _run(script: str, *arguments: str) -> dict[str, Any]:
    python = python_with(HERE / "requirements.txt", "oracles")
    command = [str(python), str(HERE / script), *arguments]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answer
