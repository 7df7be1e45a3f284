"""Habits of psql, sqlite3 and duckdb: variables, \\gx, \\watch, \\pset and what they set."""

from __future__ import annotations

import time

from dpsql.errors import InterfaceError
from dpsql.shell import variables
from dpsql.shell.output import BY_NAME, mode_named
from dpsql.shell.prompt_command import PromptCommand, switch, unquoted
from dpsql.shell.shell import Shell
from dpsql.shell.stderr import say

SHORTEST_WAIT, LONGEST_WAIT = 0.1, 86_400.0
MOST_TURNS = 10**9
FORMATS = {"aligned": "table", "wrapped": "table", "unaligned": "csv"}


def _set(shell: Shell, argument: str) -> None:
    name, _, value = argument.partition(" ")
    if not name:
        for variable, text in shell.variables.items():
            shell.results.line(f"{variable} = '{text}'")
        return
    shell.variables[variables.checked(name)] = unquoted(value.strip())


def _unset(shell: Shell, argument: str) -> None:
    shell.variables.pop(argument, None)


def _echo(shell: Shell, argument: str) -> None:
    shell.results.line(variables.replaced(unquoted(argument), shell.variables))


def _go(shell: Shell, argument: str) -> None:
    run_then(shell, _last(shell), f"\\g {argument}".strip())


def _go_expanded(shell: Shell, argument: str) -> None:
    run_then(shell, _last(shell), "\\gx")


def _watch(shell: Shell, argument: str) -> None:
    run_then(shell, _last(shell), f"\\watch {argument}".strip())


def _last(shell: Shell) -> str:
    if not shell.last_sql:
        raise InterfaceError("there is no statement to run", code=602, fix="Write one before: SELECT … \\gx")
    return shell.last_sql


def run_then(shell: Shell, sql: str, then: str) -> None:
    """Run a statement as the command at its end says."""
    command, _, argument = then.partition(" ")
    argument = argument.strip()
    match command:
        case "\\gx":
            with shell.results.for_once(expanded="on"):
                shell.run(sql)
        case "\\watch":
            _repeat(shell, sql, argument)
        case _ if argument:
            from dpsql.shell.prompt_commands import expanded

            with shell.results.elsewhere(argument[1:] if argument.startswith("|") else expanded(argument)):
                shell.run(sql)
        case _:
            shell.run(sql)


def _repeat(shell: Shell, sql: str, argument: str) -> None:
    """Again and again until Ctrl-C, as long as it costs nothing: what would be charged again is run once."""
    seconds, turns = _how_often(argument)
    for turn in range(turns):
        if turn:
            shell.refuse_charges(sql)
            time.sleep(seconds)
        shell.run(sql)


def _how_often(argument: str) -> tuple[float, int]:
    """psql's \\watch [i=]SECONDS [c=TIMES]."""
    seconds, turns = 2.0, MOST_TURNS
    for word in argument.split():
        name, equals, value = word.partition("=")
        number = _number(value if equals else name)
        if number is None or (equals and name not in ("i", "c")):
            raise InterfaceError(
                f"{word[:40]!r} says not how often", code=620, fix="Write \\watch 5, or \\watch i=5 c=3."
            )
        if equals and name == "c":
            turns = max(1, int(number))
        else:
            seconds = min(LONGEST_WAIT, max(SHORTEST_WAIT, number))
    return seconds, turns


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _pset(shell: Shell, argument: str) -> None:
    name, _, value = argument.partition(" ")
    value = unquoted(value.strip())
    results = shell.results
    match name.lower():
        case "":
            say(_settings(shell))
        case "format":
            results.mode = mode_named(FORMATS.get(value, value))
        case "null":
            results.null = value
        case "expanded" | "x":
            from dpsql.shell.prompt_commands import run_prompt_command

            run_prompt_command(shell, f"\\x {value}")
        case "tuples_only" | "t":
            _tuples_only(shell, value)
        case _:
            raise InterfaceError(
                f"\\pset has no {name[:40]!r}", code=620, fix="There are format, null, expanded and tuples_only."
            )


def _settings(shell: Shell) -> str:
    results = shell.results
    null = "as the format has it" if results.null is None else f"'{results.null}'"
    lines = {
        "format": results.chosen.name,
        "null": null,
        "expanded": results.expanded,
        "tuples_only": "off" if results.headers else "on",
    }
    return "\n".join(f"{name.ljust(12)} {value}" for name, value in lines.items())


def _null(shell: Shell, argument: str) -> None:
    shell.results.null = unquoted(argument)


def _headers(shell: Shell, argument: str) -> None:
    shell.results.headers = switch(argument, shell.results.headers)


def _tuples_only(shell: Shell, argument: str) -> None:
    shell.results.headers = not switch(argument, not shell.results.headers)
    say(f"only rows are shown: {'off' if shell.results.headers else 'on'}")


def _unaligned(shell: Shell, argument: str) -> None:
    csv = shell.results.chosen.name == "csv"
    shell.results.mode = BY_NAME["table" if csv else "csv"]
    say(f"the mode is {shell.results.chosen.name}")


def _html(shell: Shell, argument: str) -> None:
    shell.results.mode = BY_NAME["table" if shell.results.mode is BY_NAME["html"] else "html"]
    say(f"the mode is {shell.results.chosen.name}")


def _connection(shell: Shell, argument: str) -> None:
    connection = shell.connection
    analyst = "" if connection.analyst is None else f", as the analyst {connection.analyst!r}"
    say(f"connected to the dataset {connection.catalog.dataset!r}{analyst}")


def _show(shell: Shell, argument: str) -> None:
    shell.run("SHOW ALL")


PSQL_COMMANDS: tuple[PromptCommand, ...] = (
    PromptCommand(
        names=("\\g",), takes="[FILE]", doc="in place of the semicolon: run it, its result into FILE", run=_go
    ),
    PromptCommand(names=("\\gx",), doc="in place of the semicolon: run it, one value per line", run=_go_expanded),
    PromptCommand(
        names=("\\watch",),
        takes="[SECONDS] [c=TIMES]",
        doc="in place of the semicolon: run it again and again, while that is free",
        run=_watch,
    ),
    PromptCommand(
        names=("\\set",), takes="[NAME VALUE]", doc="a variable: :NAME, :'NAME' or :\"NAME\" in a statement", run=_set
    ),
    PromptCommand(names=("\\unset",), takes="NAME", doc="forget a variable", run=_unset),
    PromptCommand(names=("\\echo", ".print"), takes="[TEXT]", doc="write a text where results go", run=_echo),
    PromptCommand(
        names=("\\pset",), takes="[format|null|expanded|tuples_only VALUE]", doc="set how results look", run=_pset
    ),
    PromptCommand(names=(".nullvalue",), takes="TEXT", doc="the text for NULL", run=_null),
    PromptCommand(names=(".headers", ".header"), takes="[on|off]", doc="write the columns' names", run=_headers),
    PromptCommand(names=("\\t",), takes="[on|off]", doc="show only rows, without names", run=_tuples_only),
    PromptCommand(names=("\\a",), doc="CSV, or tables again", run=_unaligned),
    PromptCommand(names=("\\H",), doc="HTML, or tables again", run=_html),
    PromptCommand(names=(".settings", "\\dconfig"), doc="show the settings in force, as SHOW ALL", run=_show),
    PromptCommand(names=("\\conninfo", ".databases"), doc="show which dataset this is", run=_connection),
)
