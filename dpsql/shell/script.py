"""Text taken apart into statements and the shell's own commands. Every statement is then parsed strictly by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What may stand before a statement, and the shortest stretches of a statement in which ; means nothing.
_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/|;)+", re.DOTALL)
_PIECE = re.compile(
    r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)|[^'\";/\\-]+|[/\\-]", re.DOTALL
)
# What may end a statement in place of the semicolon, and says what becomes of its result.
_THEN = re.compile(r"\\(?:gx|g|watch)\b[^\n;]*")
# A line of the shell's own: \d, .mode, and the words that need no sign where they are the whole line.
_PROMPT_COMMAND = re.compile(r"\\[^\s]|\.[A-Za-z?]|(?:exit|quit|help)[ \t\r;]*(?:\n|\Z)|help [^\n]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One statement without its semicolon, or one line of the shell's own (`\\d`, `.mode csv`). line: where it starts.
    then: what ends a statement in place of the semicolon (`\\gx`)."""

    text: str
    line: int
    command: bool = False
    then: str = ""


def split(text: str) -> tuple[list[Item], str]:
    """The finished items, and the rest that no semicolon ends yet (blank if there is none)."""
    items: list[Item] = []
    start, line, counted = 0, 1, 0
    while True:
        start = _skip(text, start)
        if start >= len(text):
            return items, ""
        line, counted = line + text.count("\n", counted, start), start
        if _PROMPT_COMMAND.match(text, start):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            items.append(Item(text=text[start:end].strip(), line=line, command=True))
        else:
            end = _end(text, start)
            if end >= len(text):
                return items, text[start:]
            then = _THEN.match(text, end)
            items.append(Item(text=text[start:end].rstrip(), line=line, then="" if then is None else then[0].strip()))
            end = end if then is None else then.end() - 1
        start = end + 1


def items_of(text: str) -> list[Item]:
    """All items of a finished text: the last statement needs no semicolon."""
    items, rest = split(text)
    if rest.strip():
        items.append(Item(text=rest.rstrip(), line=text.count("\n", 0, len(text) - len(rest)) + 1))
    return items


def complete(text: str) -> bool:
    """Whether Enter should run this, or begin another line of it."""
    return not split(text)[1].strip()


def aside(text: str) -> tuple[str, str] | None:
    """The last line, where it is a command of psql's in the middle of a statement, and the statement before it."""
    before, newline, last = text.rpartition("\n")
    said = last.strip()
    if not newline or not said.startswith("\\") or _THEN.match(said) or _PROMPT_COMMAND.match(said) is None:
        return None
    if complete(before) or not complete(before + "\n;"):  # not in a text, not in a comment
        return None
    return said, before + "\n"


def _skip(text: str, start: int) -> int:
    match = _BLANK.match(text, start)
    return start if match is None else match.end()


def _end(text: str, start: int) -> int:
    """The place of the semicolon (or of what stands in its place) that ends the statement, or the end of the text."""
    while start < len(text) and text[start] != ";" and not _THEN.match(text, start):
        match = _PIECE.match(text, start)
        start = len(text) if match is None else match.end()
    return start
