"""The pieces of a text that is passed on: words, texts, parameters and signs, with their places.

Whoever reads these decides nothing about privacy: what is passed on runs where nothing private is, and what is private is
read again by `sql/lexical.py`. DuckDB's own parser says what a text that is passed on means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.errors import SqlError
from dpsql.sql.limits import DIGITS_LIMIT, LENGTH_LIMIT, NESTING_LIMIT, TOKEN_LIMIT, too_deep

# As DuckDB's tokenizer has them, which tests/properties/test_pieces.py compares: what is no space, digit or sign of ASCII is
# a letter, comments nest, and a backslash escapes in E'…'.
_SPACES = "\xa0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_LETTER, _LATER = rf"[^\x00\t-\r -@\[-^`{{-~{_SPACES}]", rf"[^\x00\t-\r -/:-@\[-^`{{-~{_SPACES}]"
_DIGITS = "[0-9](?:_?[0-9])*"
_PIECE = re.compile(
    rf"""
      (?P<gap>[ \t\n\r\f\v{_SPACES}]+|--[^\r\n]*)
    | (?P<comment>/\*)
    | (?P<text>[eE]'(?:[^'\\]|\\.|'')*'|[xXbBnN]?'(?:[^']|'')*'|\$(?P<tag>(?:{_LETTER}{_LATER}*)?)\$.*?\$(?P=tag)\$)
    | (?P<name>"(?:[^"]|"")*")
    | (?P<parameter>\?|\$[0-9]+|\${_LETTER}{_LATER}*)
    | (?P<number>(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?[0-9]+)?)
    | (?P<word>{_LETTER}(?:{_LATER}|\$)*)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
DESCRIBING = ("DESCRIBE", "DESC")
_QUERY = frozenset("SELECT WITH FROM VALUES PIVOT PIVOT_WIDER UNPIVOT PIVOT_LONGER SUMMARIZE TABLE".split())


@dataclass(frozen=True, slots=True)
class Piece:
    """kind: text, name, parameter, number, word or sign. depth: how many parentheses are open before it."""

    kind: str
    text: str
    start: int
    depth: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        return self.text.upper() if self.kind == "word" and self.text.isascii() else ""

    @property
    def identifier(self) -> str:
        """What it names, if it is a name."""
        return self.text[1:-1].replace('""', '"') if self.kind == "name" else self.text if self.kind == "word" else ""


def pieces(text: str) -> list[Piece]:
    """Of a statement, without comments and without the semicolon at its end; the limits of all statements hold."""
    if len(text) > LENGTH_LIMIT:
        raise SqlError(f"the statement is longer than {LENGTH_LIMIT:,} characters")
    read: list[Piece] = []
    depth = 0
    for match in matches(text):
        kind = match.lastgroup or ""
        kind = "text" if kind == "tag" else kind
        if kind == "sign" and match.group() in _CLOSING:
            depth -= 1
        read.append(Piece(kind, match.group(), match.start(), depth))
        if kind == "sign" and match.group() in _OPENING:
            depth += 1
        if kind == "number" and len(match.group()) > DIGITS_LIMIT:
            raise SqlError(f"a number has more than {DIGITS_LIMIT} digits")
        if depth > NESTING_LIMIT:
            raise too_deep(None)
        if len(read) > TOKEN_LIMIT:
            raise SqlError(f"the statement has more than {TOKEN_LIMIT:,} words and signs")
    while read and read[-1].text == ";":
        read.pop()
    return read


def matches(text: str) -> Iterator[re.Match[str]]:
    """Without gaps and comments; a SqlError where what follows depends on more than is read here."""
    at, before = 0, ""
    while match := _PIECE.match(text, at):
        at = match.end()
        if match.lastgroup == "comment":
            at = _after_comment(text, at)
        elif match.lastgroup != "gap":
            if match.group() == "`":
                raise SqlError("the sign ` means nothing here", fix='Quote a name with double quotes: "name".')
            if before[:2] in ("e'", "E'") and match.group()[0] == "'":
                raise SqlError("two texts are side by side", fix="Write ||, or a comma.")
            before = match.group()
            yield match


def _after_comment(text: str, at: int) -> int:
    open_ = 1
    while open_:
        sign = _COMMENT.search(text, at)
        if sign is None:
            raise SqlError("a comment is not closed", fix="Add */.")
        open_ += 1 if sign.group() == "/*" else -1
        at = sign.end()
    return at


def begins_query(read: list[Piece], at: int) -> bool:
    """Whether a query begins there, perhaps in parentheses."""
    while at < len(read) and read[at].text == "(":
        at += 1
    return at < len(read) and (read[at].word in _QUERY or _describes(read, at))


def _describes(read: list[Piece], at: int) -> bool:
    """DESCRIBE of a query; of a table it is a statement of dpsql's own."""
    return read[at].word in DESCRIBING and at + 1 < len(read) and begins_query(read, at + 1)


def query_at(read: list[Piece]) -> int | None:
    """Which piece the query of a statement begins with: EXPLAIN, CREATE TABLE … AS and INSERT INTO have one, too."""
    first = read[0].word if read else ""
    if begins_query(read, 0):
        return 0
    if first == "EXPLAIN":
        return 1 if begins_query(read, 1) and not _has_options(read) else None
    if first == "CREATE":
        for at, piece in enumerate(read[:9]):
            if piece.word == "AS" and begins_query(read, at + 1):
                return at + 1
    if first == "INSERT":
        return next((at for at in range(3, len(read)) if read[at].depth == 0 and begins_query(read, at)), None)
    return None


def _has_options(read: list[Piece]) -> bool:
    return read[1].text == "(" and len(read) > 2 and read[2].word in ("ANALYZE", "FORMAT", "VERBOSE", "COSTS")


def without_pivots(text: str) -> tuple[str, list[str]]:
    """PIVOT of columns without IN as the same of a column with one, and those columns: DuckDB's parser shows its parts only
    then."""
    read = pieces(text)
    made, done, items = "", 0, list[str]()
    for at, piece in enumerate(read):
        if piece.word != "ON" or not _is_pivot(read, at):
            continue
        begin = at + 1
        for end in _items(read, at + 1):
            if begin < end and not any(one.word == "IN" and one.depth == piece.depth for one in read[begin:end]):
                first, last = read[begin].start, read[end - 1].end
                items.append(text[first:last])
                made, done = f"{made}{text[done:first]}x IN (0)", last
            begin = end + 1
    return made + text[done:], items


def _is_pivot(read: list[Piece], at: int) -> bool:
    """Whether this ON is PIVOT's: the nearest such word before it at its depth."""
    depth = read[at].depth
    for piece in reversed(read[:at]):
        if piece.depth < depth or (piece.depth == depth and piece.word in ("JOIN", "SELECT", "UNPIVOT")):
            return False
        if piece.depth == depth and piece.word in ("PIVOT", "PIVOT_WIDER"):
            return True
    return False


def _items(read: list[Piece], at: int) -> list[int]:
    """Where the items of a list end."""
    depth, ends = read[at].depth if at < len(read) else 0, list[int]()
    for end in range(at, len(read) + 1):
        piece = read[end] if end < len(read) else None
        over = piece is None or piece.depth < depth or (piece.depth == depth and piece.word in _AFTER_ITEMS)
        if over or (piece is not None and piece.depth == depth and piece.text == ","):
            ends.append(end)
        if over:
            return ends
    return ends


_AFTER_ITEMS = frozenset("USING GROUP ORDER LIMIT OFFSET UNION INTERSECT EXCEPT".split())
