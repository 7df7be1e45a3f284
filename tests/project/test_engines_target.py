"""`make engines` installs what is missing, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THERE = tuple(f"{name}=/x" for name in ("INITDB", "JAVA", "JDBC", "PSQL", "CHROMIUM", "SYSTEMD", "ODBC", "ISQL"))


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A path with a shell, make, and an apt-get that notes what it is asked; nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "bash", "make"):
        path = shutil.which(name)
        assert path is not None
        (folder / name).symlink_to(path)
    apt = folder / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$DEBIAN_FRONTEND $@" >> {tmp_path}/asked\n')
    apt.chmod(0o755)
    return folder


def made(tools: Path, *words: str) -> tuple[int, str, list[str]]:
    """The exit code of `make engines`, what it printed, and what apt-get was asked."""
    command = [str(tools / "make"), "-s", "engines", *words]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tools)}, capture_output=True, text=True, timeout=60)
    asked = tools.parent / "asked"
    return done.returncode, done.stdout + done.stderr, asked.read_text().splitlines() if asked.exists() else []


def test_what_is_there_is_left_alone(tools: Path) -> None:
    assert made(tools, *THERE) == (0, "", [])


@pytest.mark.parametrize(
    ("words", "packages"),
    [
        (("INITDB=",), "postgresql"),
        (("JAVA=",), "default-jdk-headless"),
        (("JDBC=",), "libpostgresql-jdbc-java"),
        (("PSQL=",), "postgresql-client"),
        (("CHROMIUM=",), "chromium"),
        (("SYSTEMD=",), "systemd"),
        (("ODBC=",), "odbc-postgresql"),
        (("ISQL=",), "unixodbc"),
        (("INITDB=", "JAVA=", "CHROMIUM="), "postgresql default-jdk-headless chromium"),
    ],
)
def test_what_is_missing_is_installed(tools: Path, words: tuple[str, ...], packages: str) -> None:
    assert made(tools, *THERE, *words) == (0, "", [" update -qq", f"noninteractive install -y -qq {packages}"])


def test_without_debian_it_says_what_to_install(tools: Path) -> None:
    (tools / "apt-get").unlink()
    code, said, asked = made(tools, *THERE, "INITDB=")
    assert code != 0 and "install what is called postgresql on Debian" in said and asked == []


def test_a_failure_of_apt_is_one_of_make(tools: Path) -> None:
    (tools / "apt-get").write_text("#!/bin/sh\nexit 100\n")
    assert made(tools, *THERE, "INITDB=")[0] != 0
