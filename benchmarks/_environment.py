"""Virtual environments for other people's libraries, `.venv-NAME` beside this folder, made when missing: dpsql neither needs
nor imports what is in them."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def python_with(requirements: Path, name: str) -> Path:
    """The interpreter of `.venv-NAME`. The requirements that are installed are noted, so a change installs again.

    Raises CalledProcessError, with what pip said in `stderr`.
    """
    environment = ROOT / f".venv-{name}"
    python, note = environment / "bin" / "python", environment / "installed.txt"
    if not note.exists() or note.read_text() != requirements.read_text():
        print(f"making {environment.name} with {', '.join(requirements.read_text().split())}", file=sys.stderr)
        venv.create(environment, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", str(requirements)], check=True, stderr=subprocess.PIPE, text=True)
        note.write_text(requirements.read_text())
    return python
