"""Statements that do not come from a prompt: -c, -f, .read and standard input. The first error ends them."""

from __future__ import annotations

from pathlib import Path

from dpsql.errors import Error, InterfaceError
from dpsql.shell.own import run_own
from dpsql.shell.script import Item, items_of
from dpsql.shell.shell import Shell
from dpsql.shell.voice import say


def read_file(path: Path) -> str:
    """A file's text; - is standard input."""
    try:
        if str(path) == "-":
            import sys

            return sys.stdin.read()
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InterfaceError(
            f"{path} cannot be read: {error.strerror}", code=622, fix="Check the path of the file."
        ) from None
    except UnicodeDecodeError:
        raise InterfaceError(f"{path} is not UTF-8 text", code=622, fix="Save it as UTF-8.") from None


def run_text(shell: Shell, text: str, *, name: str = "") -> None:
    """All statements of a text, in order. name: of the file they are from, for messages."""
    items = items_of(text)
    if not items:
        say(f"{name or 'the input'} has no statement in it")
    for item in items:
        try:
            run_item(shell, item)
        except (Error, KeyboardInterrupt):
            if name:
                say(f"in {name}, in the statement of line {item.line}:")
            raise


def run_item(shell: Shell, item: Item) -> None:
    if item.own:
        run_own(shell, item.text)
    else:
        shell.run(item.text)
