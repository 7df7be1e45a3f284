"""What a command of the prompt is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsql.errors import InterfaceError
from dpsql.shell.shell import Shell


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """names: all spellings, the best known first. takes: what follows, for the help."""

    names: tuple[str, ...]
    doc: str
    run: Callable[[Shell, str], None]
    takes: str = ""


def switch(argument: str, now: bool) -> bool:
    """on, off, or the other of the two."""
    if not argument:
        return not now
    if argument.lower() not in ("on", "off"):
        raise InterfaceError(f'"{argument[:40]}" is neither on nor off', code=620, fix="Write on, off, or nothing.")
    return argument.lower() == "on"


def unquoted(argument: str) -> str:
    return argument[1:-1] if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\"" else argument
