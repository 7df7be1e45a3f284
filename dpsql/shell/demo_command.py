"""`dpsql demo`: made-up data and its metadata, written in a second, and a shell over them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.query_command import RUNNING, SHOWING, converse, options
from dpsql.shell.stderr import hint, say

SAMPLES = ("hospital", "student", "browser_logs", "exam")
TRY = {
    "hospital": "SELECT specialty, COUNT(*) AS n, AVG(duration) AS minutes FROM visits GROUP BY specialty;",
    "student": "SELECT famsize, AVG(G3) AS grade FROM student GROUP BY famsize;",
    "browser_logs": "SELECT domain, COUNT(DISTINCT person_id) AS people FROM browser_logs GROUP BY domain;",
    "exam": "SELECT AVG(score) AS mean FROM exam;",
}


@click.command(context_settings=CONTEXT)
@click.argument("sample", type=click.Choice(SAMPLES), default="hospital")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="Keep the files, in this folder.")
@options(RUNNING, SHOWING)
def demo(sample: str, into: Path | None, **given: Any) -> int:
    """Open a shell over made-up data. Choose hospital, student, browser_logs or exam.

    Without --into the data and its budget are gone when you leave.
    """
    if into is not None:
        return _over(sample, into, given)
    with tempfile.TemporaryDirectory(prefix="dpsql-demo-") as folder:
        return _over(sample, Path(folder), given)


def _over(sample: str, folder: Path, given: dict[str, Any]) -> int:
    from dpsql.samples.prepare import prepare
    from dpsql.shell.opening import connection_of

    metadata = prepare(sample, folder)
    if not given["command"] and not given["files"]:
        say(f"The metadata is {metadata}; the data is made up.")
        hint(f"Try: {TRY[sample]}")
    with connection_of(str(metadata), given) as connection:
        return converse(connection, given)
