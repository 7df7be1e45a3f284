"""What Tab offers: names of the catalog with their descriptions, functions, declared keys, commands. Never data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from dpsql.aggregates import AGGREGATES
from dpsql.catalog.model import ColumnSpec, TableSpec, fold
from dpsql.functions import FUNCTIONS
from dpsql.help.topics import TOPICS
from dpsql.plan.dialects.literals import text
from dpsql.shell.describe import column_notes, plain
from dpsql.shell.output import MODES
from dpsql.shell.prompt_commands import BY_SPELLING, PROMPT_COMMANDS
from dpsql.shell.shell import Shell
from dpsql.sql.options import OPTIONS, SETTINGS

KEYWORDS = tuple(
    """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON USING AS AND OR NOT IN IS NULL BETWEEN LIKE CASE WHEN THEN
    ELSE END DISTINCT WITH UNION ALL EXPLAIN SHOW BUDGET TABLES DESCRIBE SET CREATE TABLE INSERT INTO VALUES DROP ROLLUP
    CUBE FILTER OVER PARTITION DIFFERENTIAL_PRIVACY OPTIONS INTERVAL DATE TIMESTAMP TRUE FALSE
    """.split()
)
_KEY = re.compile(r"(?P<column>\w+)\"?\s*(?:=|<>|!=|\bIN\s*\((?:\s*'[^']*'\s*,)*)\s*'(?P<begun>[^']*)$", re.I)
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|DESCRIBE|DESC|TABLE|\\d|\.schema)\s+(?P<begun>\w*)$", re.I)
_SETTING = re.compile(r"^\s*SET\s+(?P<begun>\w*)$", re.I)
_OPTION = re.compile(r"OPTIONS\s*\((?:[^()]*,)?\s*(?P<begun>\w*)$", re.I)
_MEMBER = re.compile(r"(?P<table>\w+)\.(?P<begun>\w*)$")
_ALIAS = re.compile(r"\b(?:FROM|JOIN|,)\s*(?P<table>\w+)(?:\s+(?:AS\s+)?(?P<alias>\w+))?", re.I)
_COMMAND_LINE = re.compile(r"^\s*(?P<name>[\\.]\S*)(?:\s+(?P<begun>.*))?$", re.S)
_CALL = re.compile(r"\b[A-Za-z]\w*\(")
_WORD = re.compile(r"\w*$")


@dataclass(frozen=True, slots=True)
class Offer:
    """insert: what Tab writes. note: what stands beside it."""

    insert: str
    note: str = ""


class CatalogCompleter(Completer):
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        command = _COMMAND_LINE.match(before)
        if command is not None and "\n" not in before:
            yield from self._command(command["name"], command["begun"], complete_event)
            return
        begun, offers = self._offers(before, document.text)
        yield from completions(begun, offers)

    def _command(self, name: str, begun: str | None, event: CompleteEvent) -> Iterator[Completion]:
        command = BY_SPELLING.get(name)
        if begun is None:
            yield from completions(name, (Offer(spelling, o.doc) for o in PROMPT_COMMANDS for spelling in o.names))
        elif command is not None and "FILE" in command.takes:
            if self._shell.restricted:
                return
            yield from self._paths.get_completions(Document(begun), event)
        elif command is not None:
            offers: dict[str, Iterable[Offer]] = {
                "[MODE]": (Offer(mode.name, mode.doc) for mode in MODES),
                "[TOPIC]": (Offer(name, title) for name, title in TOPICS.items()),
                "[TABLE]": self._tables(),
            }
            yield from completions(begun, offers.get(command.takes, ()))

    def _offers(self, before: str, whole: str) -> tuple[str, Iterable[Offer]]:
        if match := _KEY.search(before):
            return match["begun"], self._keys(match["column"])
        if before.count("'") % 2:
            return "", ()
        if match := _SETTING.search(before):
            return match["begun"], (Offer(s.name, s.takes) for s in SETTINGS.values())
        if match := _OPTION.search(before):
            return match["begun"], (Offer(s.name, s.takes) for s in OPTIONS.values())
        if match := _TABLE.search(before):
            return match["begun"], self._tables()
        if (match := _MEMBER.search(before)) and (table := self._named(match["table"], whole)):
            return match["begun"], _columns(table)
        begun = _WORD.search(before)
        return "" if begun is None else begun[0], self._anything(whole)

    def _tables(self) -> Iterator[Offer]:
        catalog = self._shell.connection.catalog
        for table in catalog.tables:
            yield Offer(plain(table.name), table.description)
        for view in catalog.views:
            yield Offer(plain(view), "view")

    def _named(self, name: str, whole: str) -> TableSpec | None:
        """The table an alias stands for, or the table of that name."""
        aliases = {fold(m["alias"]): m["table"] for m in _ALIAS.finditer(whole) if m["alias"]}
        return self._shell.connection.catalog.table(aliases.get(fold(name), name))

    def _keys(self, column: str) -> Iterator[Offer]:
        for table in self._shell.connection.catalog.tables:
            spec = table.column(column)
            for key in (spec.keys or ()) if spec is not None else ():
                if isinstance(key, str):
                    yield Offer(text(key)[1:], f"{table.name}.{column}")

    def _anything(self, whole: str) -> Iterator[Offer]:
        catalog = self._shell.connection.catalog
        words = {fold(word) for word in re.findall(r"\w+", whole)}
        mentioned = [table for table in catalog.tables if fold(table.name) in words]
        for table in mentioned or catalog.tables:
            yield from _columns(table)
        yield from self._tables()
        yield from (Offer(f"{a.name.upper()}(", a.doc) for a in AGGREGATES)
        yield from (Offer(call, f.doc) for f in FUNCTIONS.values() for call in _CALL.findall(f.signature))
        yield from (Offer(word) for word in KEYWORDS)


def _columns(table: TableSpec) -> Iterator[Offer]:
    for column in table.columns:
        yield Offer(plain(column.name), _column_note(table, column))


def _column_note(table: TableSpec, column: ColumnSpec) -> str:
    return "; ".join([str(column.type), *column_notes(table, column)])


def completions(begun: str, offers: Iterable[Offer]) -> Iterator[Completion]:
    seen: set[str] = set()
    for offer in offers:
        if fold(offer.insert).startswith(fold(begun)) and offer.insert not in seen:
            seen.add(offer.insert)
            yield Completion(offer.insert, start_position=-len(begun), display_meta=offer.note)
