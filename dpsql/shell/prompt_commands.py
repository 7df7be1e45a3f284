"""The shell's own commands, under the names that psql (\\d) and duckdb (.tables) have taught people."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.shell import describe
from dpsql.shell.output import BY_NAME, mode_named
from dpsql.shell.prompt_command import PromptCommand, switch, unquoted
from dpsql.shell.psql_commands import PSQL_COMMANDS
from dpsql.shell.shell import Shell
from dpsql.shell.stderr import did_you_mean, say
from dpsql.sources.file_access import restricted_error


class Quit(Exception):
    """The user leaves the shell."""


class Edit(Exception):
    """The next prompt shall show this text, for the user to change."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def run_prompt_command(shell: Shell, line: str) -> None:
    """One line that begins with \\ or a dot (or is exit, quit or help)."""
    name, _, rest = line.strip().rstrip(";").partition(" ")
    command = BY_SPELLING.get(name) or BY_SPELLING.get(name.lower()) or _begun(name.lower())
    if command is None:
        raise InterfaceError(
            f"there is no command {name[:40]}",
            code=620,
            why=did_you_mean(name, tuple(BY_SPELLING)).strip(),
            fix="`.help` lists the shell's commands.",
        )
    command.run(shell, rest.strip())


def _begun(name: str) -> PromptCommand | None:
    """.q is .quit, as in sqlite3 and duckdb: a prefix that only one command has."""
    commands = [command for command in PROMPT_COMMANDS if any(spelling.startswith(name) for spelling in command.names)]
    return commands[0] if name.startswith(".") and len(name) > 1 and len(commands) == 1 else None


def _tables(shell: Shell, argument: str) -> None:
    shell.run("SHOW TABLES")


def _describe(shell: Shell, argument: str) -> None:
    if not argument:
        _tables(shell, argument)
        return
    shell.run(f'DESCRIBE "{argument.strip(chr(34)).replace(chr(34), chr(34) * 2)}"')


def _schema(shell: Shell, argument: str) -> None:
    shell.results.line(describe.schema(shell.connection.catalog, argument.strip('"') or None))


def _functions(shell: Shell, argument: str) -> None:
    shell.results.line(describe.functions(argument))


def _budget(shell: Shell, argument: str) -> None:
    shell.run("SHOW BUDGET")


def _privacy(shell: Shell, argument: str) -> None:
    if shell.last_privacy is None:
        raise InterfaceError("nothing was released yet", code=602, fix="Run a query first.")
    shell.results.line(str(shell.last_privacy))


def _explain(shell: Shell, argument: str) -> None:
    sql = argument or shell.last_sql
    if not sql:
        raise InterfaceError("there is no query to explain", code=602, fix="Write .explain SELECT …")
    shell.results.line(str(shell.connection.explain(sql)))


def _mode(shell: Shell, argument: str) -> None:
    if argument:
        shell.results.mode = mode_named(argument)
    else:
        say(f"the mode is {shell.results.chosen.name}; the modes are {', '.join(BY_NAME)}")


def _expanded(shell: Shell, argument: str) -> None:
    results = shell.results
    if argument.lower() == "auto":
        results.expanded = "auto"
        say("one value per line where a row is wider than the terminal")
        return
    on = switch(argument, results.expanded == "on")
    results.expanded = "on" if on else "off"
    say(f"one value per line is {'on' if on else 'off'}")


def _timing(shell: Shell, argument: str) -> None:
    shell.timing = switch(argument, shell.timing)
    say(f"timing is {'on' if shell.timing else 'off'}")


def _output(shell: Shell, argument: str) -> None:
    if argument.startswith("|"):
        shell.results.to_program(argument[1:].strip())
    else:
        shell.results.to(expanded(argument) if argument and argument != "stdout" else None)
    say("results go to " + (str(shell.results.path) if shell.results.path else "the terminal"))


def expanded(argument: str) -> Path:
    """A path as it is typed: in quotes or not, ~ for one's own folder."""
    try:
        return Path(unquoted(argument)).expanduser()
    except RuntimeError:  # there is no such user
        raise InterfaceError(f"{argument[:40]!r} is the home folder of no user", code=622, fix="Name a file.") from None


def _read(shell: Shell, argument: str) -> None:
    from dpsql.shell.batch import read_file, run_text

    if not argument:
        raise InterfaceError("no file is given", code=620, fix="Write .read FILE.")
    path = expanded(argument)
    run_text(shell, read_file(path, restricted=shell.restricted), name=str(path))


def _edit(shell: Shell, argument: str) -> None:
    if shell.restricted:
        raise restricted_error("a restricted shell starts no editor")
    if shell.depth:
        raise InterfaceError("a script cannot start the editor", code=620, fix="Type \\e at a prompt.")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="dpsql-") as folder:
        path = Path(folder) / "query.sql"
        path.write_text(argument or shell.last_sql, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, subprocess.CalledProcessError, ValueError):
            raise InterfaceError(
                f"the editor {editor!r} did not work", code=622, fix="Set EDITOR to one that does."
            ) from None
        text = path.read_text(encoding="utf-8").rstrip()
    raise Edit(text)


def _help(shell: Shell, argument: str) -> None:
    from dpsql.help.topics import topic_text

    shell.results.line(topic_text(argument) if argument else overview())


def _quit(shell: Shell, argument: str) -> None:
    raise Quit


PROMPT_COMMANDS: tuple[PromptCommand, ...] = (
    PromptCommand(names=(".tables", "\\dt", "\\dt+"), doc="list the tables of the metadata and your own", run=_tables),
    PromptCommand(
        names=("\\d", "\\d+", ".describe"),
        takes="[TABLE]",
        doc="show a table's columns, with bounds and keys",
        run=_describe,
    ),
    PromptCommand(
        names=(".schema",), takes="[TABLE]", doc="show the tables as SQL, with what the metadata declares", run=_schema
    ),
    PromptCommand(names=(".functions", "\\df"), takes="[WORD]", doc="list functions and aggregates", run=_functions),
    PromptCommand(names=(".budget", "\\b"), doc="show what is spent and what is left", run=_budget),
    PromptCommand(
        names=(".explain", "\\explain"), takes="[SQL]", doc="show what a query would do and cost; free", run=_explain
    ),
    PromptCommand(names=(".privacy", "\\p"), doc="show the privacy report of the last result", run=_privacy),
    PromptCommand(
        names=(".mode", "\\m"), takes="[MODE]", doc=f"set the form of results: {', '.join(BY_NAME)}", run=_mode
    ),
    PromptCommand(names=("\\x", ".expanded"), takes="[on|off|auto]", doc="show one value per line", run=_expanded),
    PromptCommand(
        names=(".output", "\\o"),
        takes="[FILE]",
        doc="write results to a file, or into a program (|less); without FILE, to the terminal",
        run=_output,
    ),
    PromptCommand(names=(".read", "\\i"), takes="FILE", doc="run the statements of a file", run=_read),
    PromptCommand(
        names=("\\e", ".edit"),
        takes="[SQL]",
        doc="edit the last statement in your editor, then at the prompt",
        run=_edit,
    ),
    PromptCommand(
        names=("\\timing", ".timer"), takes="[on|off]", doc="print how long each statement took", run=_timing
    ),
    PromptCommand(
        names=(".help", "\\?", "\\h", "help"),
        takes="[TOPIC]",
        doc="show this list, or a topic of `dpsql help`",
        run=_help,
    ),
    *PSQL_COMMANDS,
    PromptCommand(names=(".quit", "\\q", ".exit", "exit", "quit"), doc="leave (also Ctrl-D)", run=_quit),
)
BY_SPELLING: Mapping[str, PromptCommand] = {name: command for command in PROMPT_COMMANDS for name in command.names}


def overview() -> str:
    """The text of .help."""
    heads = [" ".join(filter(None, (", ".join(command.names), command.takes))) for command in PROMPT_COMMANDS]
    width = max(map(len, heads))
    lines = [f"  {head.ljust(width)}  {command.doc}" for head, command in zip(heads, PROMPT_COMMANDS, strict=True)]
    return "\n".join(["A statement ends with a semicolon and may take several lines.", *lines])
