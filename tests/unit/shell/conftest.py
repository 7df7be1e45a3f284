"""A folder with the samples, and the command run inside this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsql.samples.prepare import prepare
from dpsql.shell.main import main


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the samples, made once; read only."""
    folder = tmp_path_factory.mktemp("samples")
    for name in ("hospital", "exam"):
        prepare(name, folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, samples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the samples' metadata (and so a full budget), the working directory."""
    (tmp_path / "data").symlink_to(samples / "data")
    (tmp_path / "metadata").mkdir()
    for file in (samples / "metadata").glob("*.yaml"):
        (tmp_path / "metadata" / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture
def run(here: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """dpsql with these words; stdout is a pipe, as in a script."""

    def invoke(*words: str) -> Outcome:
        capfd.readouterr()
        code = main(words)
        captured = capfd.readouterr()
        return Outcome(int(code), captured.out, captured.err)

    return invoke
