"""`dpsql serve METADATA`: analysts reach the data through HTTP, and never touch it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit


@click.command(context_settings=CONTEXT)
@click.argument("metadata")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen; by default this machine only.")
@click.option("--port", default=8470, type=click.IntRange(0, 65535), help="For HTTP; 0 takes any.")
@click.option("--postgres-port", type=click.IntRange(0, 65535), help="Also speak PostgreSQL's protocol there.")
@click.option("--tls-cert", "certificate", type=click.Path(path_type=Path, exists=True), help="Certificate (PEM).")
@click.option("--tls-key", "key", type=click.Path(path_type=Path, exists=True), help="Its private key (PEM).")
@click.option("--insecure", is_flag=True, help="Listen to other machines without TLS.")
@click.option("--audit", type=click.Path(path_type=Path), help="Append who asked what to this file.")
@click.option("--running", default=4, type=click.IntRange(1, 256), help="Statements at the same time.")
@click.option(
    "--running-of-account", type=click.IntRange(1, 256), help="Of one account; by default as many as stay free."
)
@click.option("--waiting", default=100, type=click.IntRange(0, 10_000), help="Statements that may wait for their turn.")
@click.option("--sessions", default=64, type=click.IntRange(1, 1000), help="Sessions at the same time.")
@click.option("--deadline", default=300.0, type=click.FloatRange(1), metavar="SECONDS", help="For one statement.")
@click.option("--every", default=0.0, type=click.FloatRange(0), metavar="SECONDS", help="Answer at multiples of this.")
@click.option("--memory-limit", default="2GB", metavar="SIZE", help="Of each session.")
@click.option("--disk-limit", default="20GB", metavar="SIZE", help="Of each session's temporary files.")
@click.option("--threads", default=2, type=click.IntRange(1, 256), help="Of each session.")
def serve(metadata: str, **given: Any) -> int:
    """Serve a dataset to analysts with accounts (`dpsql user`). Needs dpsql[server].

    \b
    dpsql user add visits.yaml ana
    dpsql user token visits.yaml ana
    dpsql serve visits.yaml
    """
    from dpsql.errors import InterfaceError
    from dpsql.shell.opening import check_path

    check_path(metadata)
    try:
        from dpsql.server.serve import serve as begin
        from dpsql.server.settings import Settings, bytes_of
    except ModuleNotFoundError as error:
        raise InterfaceError(
            f"a server needs {error.name}", code=708, fix="Install it: pip install 'dpsql[server]'."
        ) from None
    memory, disk = bytes_of(given.pop("memory_limit")), bytes_of(given.pop("disk_limit"))
    deadline = given.pop("deadline")
    begin(Settings(metadata=Path(metadata).absolute(), memory=memory, disk=disk, seconds=deadline, **given))
    return Exit.OK
