"""Writing limits and bounds into a metadata file as it stands: its lines, its comments and its order are kept.

Only plain forms are written into: a table as a block, a column on one line. The caller loads the result and looks whether it
says what was meant (`says`); if not, nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.catalog.model import Catalog

LIMIT = re.compile(r"^(\s*)rows_per_unit\s*:\s*(auto|TODO)?\s*(#.*)?$")
SHORT = re.compile(r"^(\s*)([^\s:#][^:#]*)\s*:\s*([a-z]+(?:\s*\([^)]*\))?)\s*(#.*)?$")
FLOW = re.compile(r"^(\s*)([^\s:#][^:#]*)\s*:\s*\{(.*)\}\s*(#.*)?$")


@dataclass(frozen=True, slots=True)
class Change:
    """rows: rows_per_unit of the table; else lower and upper of a column. note: where it comes from."""

    table: str
    column: str | None
    words: str
    note: str


def rewritten(text: str, changes: Sequence[Change]) -> tuple[str, tuple[Change, ...]]:
    """The text with as many of the changes as could be made, and those that could not."""
    lines, left = text.split("\n"), []
    for change in changes:
        if not _made(lines, change):
            left.append(change)
    return "\n".join(lines), tuple(left)


def _made(lines: list[str], change: Change) -> bool:
    block = _block(lines, ("tables", change.table))
    if block is None:
        return False
    if change.column is None:
        return _limited(lines, *block, change)
    columns = _block(lines, ("tables", change.table, "columns"))
    return columns is not None and _bounded(lines, *columns, change)


def _limited(lines: list[str], start: int, end: int, change: Change) -> bool:
    indent = _indent(next((line for line in lines[start:end] if line.strip()), ""))
    for i in range(start, end):
        if LIMIT.match(lines[i]):
            lines[i] = f"{_indent(lines[i])}{change.words}   # {change.note}"
            return True
    if any(line.strip().startswith("rows_per_unit") for line in lines[start:end]):
        return False
    lines.insert(start, f"{indent}{change.words}   # {change.note}")
    return True


def _bounded(lines: list[str], start: int, end: int, change: Change) -> bool:
    for i in range(start, end):
        for form in (SHORT, FLOW):
            match = form.match(lines[i])
            if match is None or _name(match[2]) != change.column:
                continue
            inside = f"type: {match[3]}" if form is SHORT else _without_auto(match[3])
            lines[i] = f"{match[1]}{match[2]}: {{{inside}, {change.words}}}   # {change.note}"
            return True
    return False


def _without_auto(inside: str) -> str:
    parts = [part.strip() for part in inside.split(",")]
    return ", ".join(part for part in parts if not re.match(r"(bounds|like)\s*:", part))


def _block(lines: list[str], path: Sequence[str]) -> tuple[int, int] | None:
    """The lines below a key of nested blocks, without the key's own."""
    start, end = 0, len(lines)
    for key in path:
        depth = min((len(_indent(line)) for line in lines[start:end] if _says(line)), default=0)
        at = next((i for i in range(start, end) if _is_key(lines[i], key, depth)), None)
        if at is None:
            return None
        start = at + 1
        end = next((i for i in range(start, end) if _says(lines[i]) and len(_indent(lines[i])) <= depth), end)
    return start, end


def _is_key(line: str, key: str, depth: int) -> bool:
    name, colon, rest = line.strip().partition(":")
    return (
        len(_indent(line)) == depth
        and bool(colon)
        and _name(name) == key
        and (not rest.strip() or rest.strip()[0] == "#")
    )


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _name(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def says(before: Catalog, after: Catalog, changes: Sequence[Change]) -> bool:
    """Whether the new metadata is the old one with these changes, and nothing else."""
    changed = {(change.table, change.column) for change in changes}
    for old, new in zip(before.tables, after.tables, strict=True):
        if old.name != new.name or [c.name for c in old.columns] != [c.name for c in new.columns]:
            return False
        if old.caps != new.caps and (old.name, None) not in changed:
            return False
        for one, other in zip(old.columns, new.columns, strict=True):
            if one != other and (old.name, one.name) not in changed:
                return False
            if one.type != other.type or one.keys != other.keys or one.nullable != other.nullable:
                return False
    return (before.dataset, before.budget, before.unit) == (after.dataset, after.budget, after.unit)
