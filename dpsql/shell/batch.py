"""Statements that do not come from a prompt: -c, -f, .read and standard input. The first error ends them."""

from __future__ import annotations

import sys
from pathlib import Path

from dpsql.errors import Error, InterfaceError
from dpsql.shell.prompt_commands import Edit, run_prompt_command
from dpsql.shell.psql_commands import run_then
from dpsql.shell.script import Item, items_of
from dpsql.shell.shell import Shell
from dpsql.shell.stderr import say
from dpsql.sources.file_access import read_text

DEEPEST = 20  # files that read files


def read_file(path: Path, *, restricted: bool = False) -> str:
    """A file's text; - is standard input, which is no file."""
    return sys.stdin.read() if str(path) == "-" else read_text(path, restricted=restricted)


def run_text(shell: Shell, text: str, *, name: str = "") -> None:
    """All statements of a text, in order. name: of the file they are from, for messages; what it holds is not shown."""
    items = items_of(text)
    if not items:
        say(f"{name or 'the input'} contains no statement")
    if name and shell.depth >= DEEPEST:
        raise InterfaceError(f"{DEEPEST} files read each other", code=622, fix="Look for one that reads itself.")
    for item in items:
        try:
            run_item(shell, item, from_file=bool(name))
        except Error as error:
            if not name:
                raise
            say(f"in {name}, in the statement of line {item.line}:")
            raise unquoted(error, name, item) from None
        except Edit:
            raise InterfaceError(
                "there is no prompt to put the edited text at", code=620, fix="Type \\e at a prompt."
            ) from None
        except KeyboardInterrupt:
            if name:
                say(f"in {name}, in the statement of line {item.line}:")
            raise


def run_item(shell: Shell, item: Item, *, from_file: bool = False) -> None:
    """from_file: the statement is not remembered, since the user could then see it."""
    last, depth = shell.last_sql, shell.depth
    try:
        shell.depth += from_file
        if item.command:
            run_prompt_command(shell, item.text)
        elif item.then:
            run_then(shell, item.text, item.then)
        else:
            shell.run(item.text)
    finally:
        shell.depth = depth
        if from_file:
            shell.last_sql = last


UNQUOTED = (*range(300, 450), 500, 503, 504, 601, 602, 623, 624, 627)
"""Codes whose errors speak of data and budget, and never in words of the statement."""


def unquoted(error: Error, name: str, item: Item) -> Error:
    """The error without a word of the file: a user who may name a file need not have the right to read it."""
    if error.of_a_file:
        return error
    if error.number in UNQUOTED:
        error.at = error.text = None
        return error
    from dpsql.help.topics import title

    line = error.line
    place = "" if line is None else f" (line {item.line + line - 1}, column {error.column})"
    made = type(error)(
        f"{title(error.code)}{place}",
        code=error.number,
        why=f"The content of {name} is not shown here.",
        fix=f"`dpsql help {error.code}` explains such errors.",
    )
    made.of_a_file = True
    return made
