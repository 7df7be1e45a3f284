"""A statement's tokens: what begins it, where it ends, its parameters. Nothing is decided about meaning here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
    |(?P<comment>/\*)
    |(?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
    |(?P<string>'(?:[^']|'')*')
    |(?P<dollar>\$(?P<tag>[A-Za-z_]\w*)?\$)
    |(?P<quoted>"(?:[^"]|"")*")
    |(?P<parameter>\$\d{1,5}(?!\w))
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>\d[\w.]*)
    |(?P<cast>::)
    |(?P<operator><>|<=|>=|!=|!~\*?|~\*|\|\||->>?)
    |(?P<other>.)""",
    re.X | re.S,
)


@dataclass(frozen=True, slots=True)
class Token:
    """kind: as in the pattern. text: as written. start: its place."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """A word in lower case; an identifier in quotes as it is; otherwise nothing."""
        if self.kind == "word":
            return self.text.lower()
        return self.text[1:-1].replace('""', '"') if self.kind == "quoted" else ""


def tokens(sql: str) -> list[Token]:
    """Without spaces and comments; whatever the text is."""
    return list(_tokens(sql))


def _tokens(sql: str) -> Iterator[Token]:
    place = 0
    while place < len(sql):
        match = _TOKEN.match(sql, place)
        assert match is not None and match.lastgroup is not None  # the last alternative takes anything
        kind, place = match.lastgroup, match.end()
        kind = "dollar" if kind == "tag" else kind
        if kind == "comment":
            place = _after_comment(sql, place)
        elif kind == "dollar":
            end = sql.find(match[0], place)
            place = len(sql) if end < 0 else end + len(match[0])
            yield Token("string", sql[match.start() : place], match.start())
        elif kind != "space":
            yield Token(kind, match[0], match.start())


def _after_comment(sql: str, place: int) -> int:
    depth = 1
    while depth and place < len(sql):
        if sql.startswith("*/", place):
            depth, place = depth - 1, place + 2
        elif sql.startswith("/*", place):
            depth, place = depth + 1, place + 2
        else:
            place += 1
    return place


def statements(sql: str) -> list[str]:
    """The parts between semicolons, without empty ones."""
    parts, begin = [], 0
    for token in tokens(sql):
        if token.text == ";":
            parts.append(sql[begin : token.start])
            begin = token.start + 1
    parts.append(sql[begin:])
    return [part.strip() for part in parts if tokens(part)]


def first_words(sql: str, count: int = 4) -> tuple[str, ...]:
    """The words that a statement begins with."""
    words = []
    for token in tokens(sql[:2000])[:count]:
        if token.kind != "word":
            break
        words.append(token.word)
    return tuple(words)


def parameters(sql: str) -> int:
    """The highest number of a parameter."""
    return max((int(token.text[1:]) for token in tokens(sql) if token.kind == "parameter"), default=0)
