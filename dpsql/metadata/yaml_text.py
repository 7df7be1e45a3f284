"""YAML text → tree: what YAML 1.2 says, less everything that surprises.

Only true and false are booleans (yes, no, on, off are text), numbers keep the decimal they print, a key given twice is
an error, tags and merge keys are not read, aliases are few and cannot be made into a bomb. PyYAML gives the events; the
tree is built here, so no constructor of PyYAML ever runs.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from dpsql.errors import CatalogError, Problem
from dpsql.metadata.tree import (
    DEPTH_LIMIT,
    NODE_LIMIT,
    Fields,
    Items,
    Scalar,
    Tree,
    Unreadable,
    Value,
    number_of,
    printable,
)

SIZE_LIMIT = 32 * 1024 * 1024
ALIAS_LIMIT = 100

INTEGER = re.compile(r"[-+]?[0-9]+")
REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")


def read(path: Path) -> tuple[Tree, list[Problem]]:
    """The tree of a file and what was wrong already in its text; a file that is no YAML raises CatalogError."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise CatalogError([Problem(path.name, "the file is too large for metadata", "is it the data itself?")])
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "the path is not valid"
        fix = "give the path of the YAML file"
        raise CatalogError([Problem(printable(str(path), 300), f"cannot be read: {reason}", fix)], code=201) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CatalogError([Problem(f"{path.name}:{line}", "is not UTF-8 text", "save it as UTF-8")]) from None
    return parse(text, path.name)


def parse(text: str, name: str) -> tuple[Tree, list[Problem]]:
    """The tree of YAML text; places are "name:line"."""
    builder = _Builder(name)
    try:
        return builder.document(text), builder.problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark is not None else name
        what = printable(": ".join(part for part in (error.context, error.problem) if part), 200)
        raise CatalogError([*builder.problems, Problem(where, f"is not YAML ({what})", "correct the syntax")]) from None
    except yaml.YAMLError as error:  # ReaderError: a character that YAML forbids
        where = f"{name}:{text.count(chr(10), 0, getattr(error, 'position', 0) or 0) + 1}"
        raise CatalogError([Problem(where, "has a character that YAML forbids", "remove it")]) from None


def scalar_value(text: str) -> Value:
    """What a plain (unquoted) scalar stands for."""
    if text in ("null", "~", "", "Null", "NULL"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if INTEGER.fullmatch(text) or REAL.fullmatch(text):
        return number_of(text)
    if NOT_FINITE.fullmatch(text):
        return Unreadable("NaN or infinite")
    return moment(text) or text


def moment(text: str) -> datetime.date | datetime.datetime | None:
    """The date or timestamp that text denotes, if it is one."""
    try:
        if DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
        if TIMESTAMP.fullmatch(text):
            return datetime.datetime.fromisoformat(_padded(text))
    except ValueError:  # 2020-02-30 is text
        return None
    return None


def _padded(text: str) -> str:
    """Fractions of a second with six digits: Python 3.11 reads any number of them, others only three or six."""
    whole, dot, fraction = text.partition(".")
    return f"{whole}{dot}{fraction:0<6}" if dot else text


class _Builder:
    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.anchors: dict[str, tuple[Tree, int]] = {}
        self.aliases = 0
        self.nodes = 0
        self.events: Iterator[yaml.Event] = iter(())

    def place(self, event: yaml.Event) -> str:
        return f"{self.name}:{event.start_mark.line + 1}" if event.start_mark is not None else self.name

    def document(self, text: str) -> Tree:
        # libyaml's parser where it was built: the same events, ten times faster.
        self.events = iter(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        tree: Tree | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if tree is not None:
                    self.stop(event, "a second document begins here", "one file describes one dataset: remove '---'")
                tree = self.node(next(self.events), 0)
        if tree is None:
            raise CatalogError(
                [Problem(self.name, "is empty", "describe the dataset; `dpsql init` writes a first version")]
            )
        return tree

    def stop(self, event: yaml.Event, what: str, fix: str) -> None:
        raise CatalogError([*self.problems, Problem(self.place(event), what, fix)])

    def node(self, event: yaml.Event, depth: int) -> Tree:
        self.count(event, depth)
        before = self.nodes
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if getattr(event, "tag", None) not in (None, "!"):
            self.problems.append(Problem(self.place(event), "has a YAML tag", "remove it: tags are not read"))
        tree: Tree
        match event:
            case yaml.ScalarEvent():
                value = scalar_value(event.value) if _is_plain(event) else event.value
                tree = Scalar(where=self.place(event), value=value, text=event.value)
            case yaml.SequenceStartEvent():
                tree = Items(where=self.place(event), items=tuple(self.items(depth)))
            case _:
                tree = self.mapping(event, depth)
        if event.anchor:  # type: ignore[attr-defined]  # every node event has one; the stubs say so only of some
            self.anchors[event.anchor] = (tree, self.nodes - before + 1)  # type: ignore[attr-defined]  # as above
        return tree

    def count(self, event: yaml.Event, depth: int, by: int = 1) -> None:
        self.nodes += by
        if depth > DEPTH_LIMIT:
            self.stop(event, "the metadata is nested too deeply", f"no metadata needs more than {DEPTH_LIMIT} levels")
        if self.nodes > NODE_LIMIT:
            self.stop(event, "the metadata is too long", "make the key lists shorter, or use {from: table.column}")

    def alias(self, event: yaml.AliasEvent) -> Tree:
        self.aliases += 1
        if self.aliases > ALIAS_LIMIT:
            self.stop(event, "has too many aliases", "write the values out")
        anchor = event.anchor or ""
        if anchor not in self.anchors:
            self.stop(event, f"*{printable(anchor)} refers to nothing above it", "write the value out")
        tree, size = self.anchors[anchor]
        self.count(event, 0, size)
        return tree

    def items(self, depth: int) -> Iterator[Tree]:
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            yield self.node(event, depth + 1)

    def mapping(self, start: yaml.Event, depth: int) -> Fields:
        entries: dict[str, tuple[str, Tree]] = {}
        last = ""
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            value = self.node(next(self.events), depth + 1)
            if isinstance(key, Scalar) and key.text == "<<" and _is_plain(event):
                self.problems.append(Problem(key.where, "merge keys are not read", "write the values out"))
            elif last and (joined := _split_decimal(entries[last][1], key, value)) is not None:
                entries[last] = (entries[last][0], joined)
            elif (name := self.name_of(key, entries)) is not None:
                entries[name] = (key.where, value)
                last = name
        return Fields(where=self.place(start), entries=entries)

    def name_of(self, key: Tree, entries: dict[str, tuple[str, Tree]]) -> str | None:
        if not isinstance(key, Scalar) or not isinstance(key.value, str):
            fix = f'write it in quotes: "{printable(key.text)}"' if isinstance(key, Scalar) else "names are text"
            self.problems.append(Problem(key.where, "a name that is not text", fix))
            return None
        if key.value in entries:
            first = entries[key.value][0]
            fix = f"it is at {first} already: remove one of them"
            self.problems.append(Problem(key.where, f"{printable(key.value)} is given twice", fix))
            return None
        return key.value


def _is_plain(event: yaml.Event) -> bool:
    """A scalar that is not quoted, nor a block of text."""
    return isinstance(event, yaml.ScalarEvent) and bool(event.implicit[0]) and event.style in (None, "")  # libyaml: ""


def _split_decimal(before: Tree, key: Tree, value: Tree) -> Scalar | None:
    """Inside {…} YAML cuts `decimal(9, 2)` at its comma, into "decimal(9" and a key "2)": the two are put together."""
    if not (isinstance(before, Scalar) and isinstance(key, Scalar) and isinstance(value, Scalar)):
        return None
    if value.text or not isinstance(before.value, str) or not re.fullmatch(r"[a-zA-Z]+ ?\( ?[0-9]+ ?", before.text):
        return None
    if not re.fullmatch(r" ?[0-9]+ ?\)", key.text):
        return None
    text = f"{before.text}, {key.text}"
    return Scalar(where=before.where, value=text, text=text)
