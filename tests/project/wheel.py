"""`make build`: the sdist and the wheel in dist/, looked into, installed into a clean environment, and run there.

The wheel is built from the sdist, so the sdist is complete; what runs is the wheel, away from the checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUERY = "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty"


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def expected_in_wheel() -> set[str]:
    """Every file of the package that git knows, and the sample catalogs."""
    package = {path.relative_to(ROOT).as_posix() for path in tracked("dpsql")}
    catalogs = {f"dpsql/samples/metadata/{path.name}" for path in tracked("metadata") if path.suffix == ".yaml"}
    assert {"dpsql/py.typed", "dpsql/help/sql.md", "dpsql/samples/metadata/hospital.yaml"} <= package | catalogs
    return package | catalogs


def tracked(folder: str) -> list[Path]:
    """What git knows of a folder; in an unpacked sdist, which has no git, all of it."""
    if not (ROOT / ".git").exists():
        return [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    command = ["git", "ls-files", "-z", folder]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def problems_of_wheel(names: Iterable[str]) -> list[str]:
    there = set(names)
    missing = [f"the wheel lacks {name}" for name in sorted(expected_in_wheel() - there)]
    foreign = {name.split("/")[0] for name in there} - {"dpsql", f"dpsql-{version()}.dist-info"}
    return [*missing, *(f"the wheel has {name}/" for name in sorted(foreign))]


def build(into: Path) -> tuple[Path, Path]:
    shutil.rmtree(into, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (sdist,), (wheel,) = into.glob("*.tar.gz"), into.glob("*.whl")
    return sdist, wheel


def run_installed(wheel: Path, folder: Path) -> None:
    """In a folder of its own, with nothing of this environment on the path."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment |= {"HOME": str(folder), "NO_COLOR": "1"}

    def run(*command: str | Path) -> str:
        text = [str(part) for part in command]
        done = subprocess.run(text, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(text[-3:])} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    run(sys.executable, "-m", "venv", folder / "venv")
    python, command = folder / "venv" / "bin" / "python", folder / "venv" / "bin" / "dpsql"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    place = run(python, "-c", "import dpsql; print(dpsql.__file__)").strip()
    checks = {
        "it is the installed one that runs": Path(place).is_relative_to(folder / "venv"),
        "dpsql --version": run(command, "--version") == f"dpsql {version()}\n",
        "dpsql help": "metadata" in run(command, "help") and "# Error codes" in run(command, "help", "errors"),
        "the three questions of the demo": "budget left: " in run(python, "-m", "dpsql.samples.demo"),
        "a question in the demo's shell": "cardiology" in run(command, "demo", "-c", QUERY),
    }
    wrong = [name for name, holds in checks.items() if not holds]
    if wrong:
        raise SystemExit("; ".join(f"not so: {name}" for name in wrong))


def main() -> None:
    sdist, wheel = build(ROOT / "dist")
    with tarfile.open(sdist) as archive:
        within = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        path.relative_to(ROOT).as_posix() for folder in ("dpsql", "tests", "metadata") for path in tracked(folder)
    }
    wrong = [f"the sdist lacks {name}" for name in sorted(wanted - within)]
    wrong += problems_of_wheel(zipfile.ZipFile(wheel).namelist())
    if wrong:
        raise SystemExit("\n".join(wrong))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)], check=True)
    with tempfile.TemporaryDirectory(prefix="dpsql-wheel-") as folder:
        run_installed(wheel, Path(folder).resolve())
    print(f"{sdist.name} and {wheel.name}: complete, installed into a clean environment, run")


if __name__ == "__main__":
    main()
