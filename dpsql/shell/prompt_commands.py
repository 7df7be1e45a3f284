"""The shell's own commands, under the names that psql (\\d) and duckdb (.tables) have taught people."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.shell import describe
from dpsql.shell.output import BY_NAME, mode_named
from dpsql.shell.shell import Shell
from dpsql.shell.stderr import did_you_mean, say
from dpsql.sources.file_access import restricted_error


class Quit(Exception):
    """The user has had enough."""


class Edit(Exception):
    """This text is to stand at the next prompt."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """names: all spellings, the best known first. takes: what follows, for the help."""

    names: tuple[str, ...]
    doc: str
    run: Callable[[Shell, str], None]
    takes: str = ""


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
    """.q is .quit, as in sqlite3 and duckdb: a beginning that only one command has."""
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
        say(f"mode {shell.results.chosen.name}; there are {', '.join(BY_NAME)}")


def _expanded(shell: Shell, argument: str) -> None:
    on = _switch(argument, shell.results.mode is BY_NAME["line"])
    shell.results.mode = BY_NAME["line"] if on else None
    say(f"one value a line is {'on' if on else 'off'}")


def _timing(shell: Shell, argument: str) -> None:
    shell.timing = _switch(argument, shell.timing)
    say(f"timing is {'on' if shell.timing else 'off'}")


def _switch(argument: str, now: bool) -> bool:
    if not argument:
        return not now
    if argument.lower() not in ("on", "off"):
        raise InterfaceError(f'"{argument[:40]}" is neither on nor off', code=620, fix="Write on, off, or nothing.")
    return argument.lower() == "on"


def _output(shell: Shell, argument: str) -> None:
    shell.results.to(expanded(argument) if argument and argument != "stdout" else None)
    say("results go to " + (str(shell.results.path) if shell.results.path else "the terminal"))


def expanded(argument: str) -> Path:
    """A path as it is typed: in quotes or not, ~ for one's own folder."""
    try:
        return Path(_unquoted(argument)).expanduser()
    except RuntimeError:  # of a user that there is not
        raise InterfaceError(f"{argument[:40]!r} is nobody's folder", code=622, fix="Name a file.") from None


def _read(shell: Shell, argument: str) -> None:
    from dpsql.shell.batch import read_file, run_text

    if not argument:
        raise InterfaceError("which file?", code=620, fix="Write .read FILE.")
    path = expanded(argument)
    run_text(shell, read_file(path, restricted=shell.restricted), name=str(path))


def _edit(shell: Shell, argument: str) -> None:
    if shell.restricted:
        raise restricted_error("no editor is started here")
    if shell.depth:
        raise InterfaceError("a file starts no editor", code=620, fix="Type \\e at a prompt.")
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


def _unquoted(argument: str) -> str:
    return argument[1:-1] if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\"" else argument


PROMPT_COMMANDS: tuple[PromptCommand, ...] = (
    PromptCommand(names=(".tables", "\\dt"), doc="the tables of the metadata, and your own", run=_tables),
    PromptCommand(names=("\\d",), takes="[TABLE]", doc="a table's columns, with bounds and keys", run=_describe),
    PromptCommand(
        names=(".schema",), takes="[TABLE]", doc="the tables as SQL, with what the metadata declares", run=_schema
    ),
    PromptCommand(names=(".functions", "\\df"), takes="[WORD]", doc="functions and aggregates", run=_functions),
    PromptCommand(names=(".budget", "\\b"), doc="what is spent and what is left", run=_budget),
    PromptCommand(
        names=(".explain", "\\explain"), takes="[SQL]", doc="what a query would cost and do; free", run=_explain
    ),
    PromptCommand(names=(".privacy", "\\p"), doc="the privacy report of the last result", run=_privacy),
    PromptCommand(names=(".mode", "\\m"), takes="[MODE]", doc=f"how results look: {', '.join(BY_NAME)}", run=_mode),
    PromptCommand(names=("\\x", ".expanded"), takes="[on|off]", doc="one value a line", run=_expanded),
    PromptCommand(
        names=(".output", "\\o"), takes="[FILE]", doc="results into a file; without one, back here", run=_output
    ),
    PromptCommand(names=(".read", "\\i"), takes="FILE", doc="run the statements of a file", run=_read),
    PromptCommand(
        names=("\\e", ".edit"), takes="[SQL]", doc="the last statement in your editor, then at the prompt", run=_edit
    ),
    PromptCommand(
        names=("\\timing", ".timer"), takes="[on|off]", doc="print how long each statement took", run=_timing
    ),
    PromptCommand(
        names=(".help", "\\?", "\\h", "help"), takes="[TOPIC]", doc="this list, or a topic of `dpsql help`", run=_help
    ),
    PromptCommand(names=(".quit", "\\q", ".exit", "exit", "quit"), doc="leave (also Ctrl-D)", run=_quit),
)
BY_SPELLING: Mapping[str, PromptCommand] = {name: command for command in PROMPT_COMMANDS for name in command.names}


def overview() -> str:
    """What .help says."""
    heads = [" ".join(filter(None, (", ".join(command.names), command.takes))) for command in PROMPT_COMMANDS]
    width = max(map(len, heads))
    lines = [f"  {head.ljust(width)}  {command.doc}" for head, command in zip(heads, PROMPT_COMMANDS, strict=True)]
    return "\n".join(["A statement ends with a semicolon and may take several lines.", *lines])
