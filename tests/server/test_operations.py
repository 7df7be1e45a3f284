"""The systemd unit of `dpsql help server` is one that systemd takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dpsql.help.topics import topic_text
from dpsql.shell.commands import root
from dpsql.shell.serve_command import serve


def unit() -> str:
    text: str
    (text,) = re.findall(r"```ini\n(.*?)```", topic_text("server"), re.S)
    return text


def test_the_unit_starts_the_command_with_options_that_it_has() -> None:
    (line,) = re.findall(r"^ExecStart=/usr/bin/env dpsql (.*)$", unit(), re.M)
    name, _, *options = line.split()
    assert root.get_command(None, name) is serve  # type: ignore[arg-type]  # it needs no context
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known


def test_systemd_takes_it(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    path = tmp_path / "dpsql.service"
    path.write_text(unit())
    done = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    path.write_text(unit().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))
    assert (
        "NoNewPrivilege"
        in subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True).stderr
    )


def test_every_option_of_the_server_is_described() -> None:
    text = topic_text("server")
    missing = [p.opts[0] for p in serve.params if p.opts[0].startswith("--") and p.opts[0] not in text]
    assert missing == ["--port", "--threads"]  # their help says it all
