"""The oracles' virtual environment, `.venv-oracles` beside this folder's project, made when it is missing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent.parent / ".venv-oracles"
REQUIREMENTS = HERE / "requirements.txt"


def oracle_python() -> Path:
    """The environment's interpreter. The requirements that are installed are noted, so a change installs again."""
    python, note = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed.txt"
    if not note.exists() or note.read_text() != REQUIREMENTS.read_text():
        print(f"making {ENVIRONMENT.name} with {', '.join(REQUIREMENTS.read_text().split())}", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", str(REQUIREMENTS)], check=True)
        note.write_text(REQUIREMENTS.read_text())
    return python


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
    command = [str(oracle_python()), str(HERE / script), *arguments]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answer
