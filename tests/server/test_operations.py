"""What `dpsql help server` tells owners to do: the first ten commands, the systemd unit, backups, the container."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsql.help.topics import topic_text
from dpsql.server.http import Http
from dpsql.shell.commands import root
from dpsql.shell.serve_command import serve
from tests.server.started import COMMAND, started, write_data

ROOT = Path(__file__).parents[2]


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
    if os.environ.get("CI") != "true" and shutil.which("systemd-analyze") is None:
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


# --- from nothing to psql


def block(heading: str) -> list[str]:
    """The lines of the commands under a heading; what ends in a backslash goes on."""
    section = topic_text("server").partition(f"{heading}\n")[2]
    return section.partition("```sh\n")[2].partition("```")[0].replace("\\\n", " ").splitlines()


def dpsql(folder: Path, line: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *shlex.split(line)[1:]],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def in_background(folder: Path, line: str) -> Iterator[None]:
    command = [sys.executable, "-c", COMMAND, *shlex.split(line.removesuffix("&"))[1:], "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert "postgres port" in process.stdout.readline()
        yield
    finally:
        process.terminate()
        assert process.wait(60) == 0
        process.stdout.close()  # type: ignore[union-attr]  # seen above


@pytest.mark.slow
def test_ten_commands(tmp_path: Path) -> None:
    if os.environ.get("CI") != "true" and shutil.which("psql") is None:
        pytest.skip("psql is not installed")
    lines = block("## From nothing to a colleague who asks by psql")
    assert len(lines) == 10 and lines[0] == "pip install 'dpsql[server]'"
    finished = write_data(tmp_path).read_text()
    (tmp_path / "visits.yaml").unlink()
    dpsql(tmp_path, lines[1])
    assert "TODO" in (tmp_path / "visits.yaml").read_text()
    (tmp_path / "visits.yaml").write_text(finished)  # each TODO is filled in
    dpsql(tmp_path, lines[2])
    dpsql(tmp_path, lines[3])
    dpsql(tmp_path, lines[4], "a password of hers\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with in_background(tmp_path, lines[5].replace("5433", port)):
        psql = [*shlex.split(lines[6].replace("5433", port)), "-X"]
        environment = {**os.environ, "PGPASSWORD": "a password of hers", "LC_ALL": "C.UTF-8"}
        script = "\n".join(lines[7:]) + "\n"
        done = subprocess.run(psql, input=script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    assert 'Table "public.visits"' in done.stdout and " oncology " in done.stdout and "(3 rows)" in done.stdout
    assert "999" in done.stdout  # of 1000 is left


@pytest.mark.slow
def test_backup_restore_and_upgrade(tmp_path: Path) -> None:
    """As told: what is copied is all that a restored server needs, and the head shows what is missing."""
    folder, backup, elsewhere = tmp_path / "srv", tmp_path / "backup", tmp_path / "elsewhere"
    for one in (folder, backup, elsewhere):
        one.mkdir()
    visits = write_data(folder)
    sql = "SELECT COUNT(*) AS n FROM visits"
    with started(visits) as server:
        first = server.query(sql).tree
        assert server.stop() == 0
    _, copy, verify, _ = block("### Backup and restore")
    copied = copy.replace("/backup/", str(backup))
    subprocess.run(copied, shell=True, cwd=folder, check=True)
    dpsql(folder, verify.partition(">")[0])
    with started(visits) as server:
        server.query(sql.replace("COUNT(*)", "SUM(cost)"))
        assert server.stop() == 0
    head = dpsql(folder, verify.partition(">")[0]).split()[-1]
    for path in folder.glob("visits.yaml*"):
        path.unlink()
    for path in backup.iterdir():
        shutil.copy2(path, folder)
    with pytest.raises(AssertionError, match="the ledger was changed"):
        dpsql(folder, f"dpsql ledger verify visits.yaml --head {head}")
    for line in block("### Upgrade")[2:4]:
        dpsql(folder, line)
    with started(visits) as server:
        again = server.query(sql).tree
        assert again["rows"] == first["rows"] and again["privacy"]["repeated"]


# --- the container


def instructions() -> list[tuple[str, str]]:
    """Of the Containerfile, with their arguments."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def given(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def test_the_container_has_what_it_copies_and_no_more() -> None:
    sources = [source for copied in given("COPY") for source in copied.split()[:-1]]
    assert all((ROOT / source).exists() for source in sources)
    assert {"pyproject.toml", "README.md", "LICENSE", "metadata", "dpsql"} == set(sources)  # what the build reads
    assert given("FROM") == ["${BASE}"] and "/" not in given("ARG")[0]  # no registry is named
    assert given("ENV") == [] and given("ADD") == [] and "'.[server]'" in given("RUN")[0]


def test_the_container_starts_the_command_as_a_user_without_rights() -> None:
    assert 'dpsql = "dpsql.shell.main:main"' in (ROOT / "pyproject.toml").read_text()
    assert [json.loads(one) for one in given("ENTRYPOINT")] == [["dpsql"]]
    name, metadata, *options = json.loads(given("CMD")[0])
    assert root.get_command(None, name) is serve  # type: ignore[arg-type]  # it needs no context
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known and "--insecure" not in options
    order = [word for word, _ in instructions()]
    (user,) = given("USER")
    assert user.isdigit() and int(user) > 0 and f"--uid {user}" in given("RUN")[1]
    assert order.index("USER") > max(i for i, word in enumerate(order) if word in ("RUN", "COPY"))
    assert given("VOLUME") == ["/srv/dpsql"] and metadata.startswith("/srv/dpsql/")
    assert given("EXPOSE") == ["8470 5433"] and options[options.index("--postgres-port") + 1] == "5433"
    (port,) = [parameter.default for parameter in serve.params if parameter.name == "port"]
    assert port == 8470


def certificate(folder: Path) -> tuple[str, str]:
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=data.example.org"]
    made += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(made, check=True, capture_output=True)
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.mark.slow
def test_its_health_check_tells_a_server_from_none(tmp_path: Path) -> None:
    options, _, command = given("HEALTHCHECK")[0].partition("CMD ")
    assert options
    nothing: Any = None
    assert "/health" in [route.path for route in Http(nothing)._routes()]
    chain, key = certificate(tmp_path)
    python, *arguments = json.loads(command)
    assert python == "python"

    def healthy(port: int) -> bool:
        check = [sys.executable, *(one.replace("8470", str(port)) for one in arguments)]
        return subprocess.run(check, capture_output=True).returncode == 0

    with started(write_data(tmp_path), "--tls-cert", chain, "--tls-key", key) as server:
        assert healthy(server.port)
        server.stop()
        assert not healthy(server.port)
