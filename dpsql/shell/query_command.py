"""`dpsql [METADATA]` (or `dpsql query`): a prompt, or statements from -c, -f and standard input; and `dpsql explain`."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, is_terminal, say, usage

F = TypeVar("F", bound=Callable[..., Any])

MODE_NAMES = ("table", "line", "csv", "json", "jsonl", "markdown", "html", "parquet", "plot")

CONNECTING = (
    click.option(
        "--metadata", "metadata_option", metavar="FILE", help="The metadata, if it is not the first argument."
    ),
    click.option("--source", multiple=True, metavar="[TABLE=]PATH", help="The data, if the metadata does not name it."),
    click.option("--analyst", metavar="NAME", help="The analyst's name, if the metadata lists analysts."),
    click.option("--epsilon", metavar="NUMBER", help="ε of each query that sets none."),
    click.option("--delta", metavar="NUMBER", help="δ of each query that sets none."),
    click.option("--budget", metavar="NUMBER", help="The total ε, for metadata that has no budget (SmartNoise's)."),
    click.option("--ledger", metavar="FILE", hidden=True, help="The ledger; the metadata decides where it is."),
    click.option("--temp-folder", metavar="FOLDER", help="The folder for rows that do not fit into memory."),
    click.option("--restricted", is_flag=True, help="No files, no editor, no scripts; see `dpsql help owners`."),
    click.option("--memory-limit", metavar="SIZE", help="Memory the engine may use, such as 4GB."),
    click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads the engine may use."),
)
SHOWING = (
    click.option(
        "-m", "--mode", type=click.Choice(MODE_NAMES), help="Output form: table on a terminal, otherwise csv."
    ),
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write results to a file."),
    click.option("-q", "--quiet", is_flag=True, help="Do not print what results cost."),
)
RUNNING = (
    click.option("-c", "--command", multiple=True, metavar="SQL", help="Run these statements; may be repeated."),
    click.option("-f", "--file", "files", multiple=True, metavar="FILE", help="Run a file's statements; - is stdin."),
    click.option(
        "-v", "--set", "--variable", "variables", multiple=True, metavar="NAME=VALUE", help="A variable: :NAME in SQL."
    ),
    click.option("--dry-run", is_flag=True, help="Explain each query instead of running it; nothing is charged."),
    click.option("--confirm-above", metavar="EPSILON", help="Ask before a query that costs more than this."),
    click.option("--yes", is_flag=True, help="Answer yes when --confirm-above asks."),
    click.option("--timing", is_flag=True, help="Print how long each statement took."),
    click.option("--print-head", is_flag=True, help="Print the ledger's head at the end, to keep it elsewhere."),
)


def options(*groups: tuple[Any, ...]) -> Callable[[F], F]:
    """All options of these groups, in order."""

    def decorate(function: F) -> F:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return decorate


@click.command(context_settings=CONTEXT)
@click.argument("metadata", required=False)
@click.argument("sql", required=False)
@options(RUNNING, SHOWING, CONNECTING)
def query(metadata: str | None, sql: str | None, **given: Any) -> int:
    """Run queries at a prompt, or from SQL, -c, -f or standard input. You can leave out `query`.

    METADATA is the YAML file that describes the tables. Data goes to stdout, everything else to stderr.
    """
    from dpsql.shell.opening import connection_of

    path = given["metadata_option"] or metadata
    if given["metadata_option"] and metadata:
        if sql is not None or Path(metadata).exists():
            return usage(f"{metadata!r} is one argument too many: --metadata already names the file")
        sql = metadata
    if sql is not None:
        given["command"] = (*given["command"], sql)
    if path is None:
        return usage("no metadata is given: name its YAML file, or try `dpsql demo`")
    with connection_of(path, given) as connection:
        return converse(connection, given)


def converse(connection: Any, given: dict[str, Any]) -> int:
    """The conversation of one connection: a script's, or a person's at a prompt."""
    from dpsql.shell.output import BY_NAME
    from dpsql.shell.prompt import ask_on_terminal, loop, terminal_reader, welcome
    from dpsql.shell.results import Results
    from dpsql.shell.shell import Shell
    from dpsql.shell.variables import pairs

    shell = Shell(
        connection=connection,
        variables=pairs(given.get("variables") or ()),
        results=Results(mode=BY_NAME.get(given["mode"] or ""), path=given["output"], restricted=connection.restricted),
        quiet=given["quiet"],
        timing=given["timing"],
        dry_run=given["dry_run"],
    )
    at_terminal = is_terminal(sys.stdin)
    if given["yes"]:
        shell.ask = lambda question: True
    elif at_terminal:
        shell.ask = ask_on_terminal
    try:
        with _staying(connection.restricted):
            if given["command"] or given["files"] or not at_terminal:
                _script(shell, given)
            else:
                welcome(shell)
                loop(shell, terminal_reader(shell))
    finally:
        shell.results.close()
        if given.get("print_head"):
            say(f"head {connection.ledger_head}")
    if shell.dry_run:
        shell.say_dry_run()
    return Exit.OK


def _script(shell: Any, given: dict[str, Any]) -> None:
    from dpsql.shell.batch import read_file, run_text
    from dpsql.shell.prompt_commands import Quit

    texts = [(text, "") for text in given["command"]]
    texts += [(read_file(Path(file), restricted=shell.restricted), _named(file)) for file in given["files"]]
    try:
        for text, name in texts or [(sys.stdin.read(), "")]:
            run_text(shell, text, name=name)
    except Quit:
        return


@contextmanager
def _staying(restricted: bool) -> Iterator[None]:
    """Ctrl-Z must not lead from a restricted shell to the shell that started it."""
    if not restricted or not hasattr(signal, "SIGTSTP") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)


def _named(file: str) -> str:
    """Whoever sees the messages has typed what comes from stdin, so it may be quoted."""
    return "" if file == "-" else file


@click.command(context_settings=CONTEXT)
@click.argument("metadata")
@click.argument("sql")
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON.")
@options(CONNECTING)
def explain(metadata: str, sql: str, as_json: bool, **given: Any) -> int:
    """Show what a query would cost and how noisy it would be. Free; nothing private is read."""
    from dpsql.shell.opening import connection_of

    with connection_of(metadata, given) as connection:
        explanation = connection.explain(sql.strip().rstrip(";"))
        print(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False) if as_json else explanation)
    return Exit.OK
