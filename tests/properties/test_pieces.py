"""sql/pieces.py reads a text as DuckDB's tokenizer does: random texts of what tokenizers disagree about."""

from __future__ import annotations

import random

import duckdb
import pytest

from dpsql.errors import SqlError
from dpsql.sql.pieces import pieces

FRAGMENTS = [
    *"abeEXx01.$'\"_+-*/,;()[]{}?:@#é²٣😀\\\n\r\t\f\v ",
    *("E'", "e'", "x'", "U&'", "n'", "\\'", "\\\\", "''", '""', "/*", "*/", "--", "$$", "$a$", "$é$", "$1", "$a"),
    *("1e", "1.5e-3", "0x1F"),
    *("1_000", " visits ", "SELECT ", " FROM ", "ſelect", "\u2028", "\x85", "\x1c", "'a'", "E'\\''"),
]  # fmt: skip
TEXTS = 40_000
KINDS = {"string_const": "text", "numeric_const": "number", "identifier": "name", "keyword": "name", "operator": "sign"}


def _theirs(text: str) -> list[tuple[int, str]]:
    read = [(place, kind.name) for place, kind in duckdb.tokenize(text)]
    return [(place, KINDS[kind]) for place, kind in read if kind != "comment"]


def _ours(text: str) -> list[tuple[int, str]]:
    """A parameter is a sign and a name, or a number."""
    read = []
    for piece in pieces(text):
        at = len(text[: piece.start].encode())
        kind = {"word": "name", "parameter": "sign"}.get(piece.kind, piece.kind)
        read.append((at, kind))
        if piece.kind == "parameter" and len(piece.text) > 1:
            read.append((at + 1, "number" if piece.text[1] in "0123456789" else "name"))
    return read


def _of(kind: str, read: list[tuple[int, str]], text: bytes) -> list[int]:
    """A name that touches a number is left out: in 1e their tokenizer takes it for a part."""
    return [at for at, k in read if k == kind and not (kind == "name" and text[at - 1 : at] in GLUED)]


GLUED = [b".", *(str(digit).encode() for digit in range(10))]


def _is_read(text: str) -> bool:
    try:
        return len(duckdb.extract_statements(text)) == 1
    except (duckdb.Error, UnicodeDecodeError):  # a message that ends within a letter
        return False


@pytest.mark.parametrize("seed", range(2))
def test_pieces_begin_where_duckdbs_do(seed: int) -> None:
    """Of all texts that DuckDB takes: texts and names begin at the same places in both."""
    draw, compared = random.Random(seed), 0
    for _ in range(TEXTS):
        text = "SELECT " + "".join(draw.choices(FRAGMENTS, k=draw.randint(1, 9)))
        if not _is_read(text):
            continue
        try:
            ours = _ours(text)
        except SqlError:
            continue
        theirs = _theirs(text)
        for kind in ("text", "name"):
            assert _of(kind, ours, text.encode()) == _of(kind, theirs, text.encode()), (text, ours, theirs)
        compared += 1
    assert compared > 1_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT E'\\'', a", ["SELECT", "a"]),
        ("SELECT /* a /* b */ c */ d", ["SELECT", "d"]),
        ("SELECT 1e'\\', a -- '", ["SELECT"]),
        ("SELECT 1 AS ſelect", ["SELECT", "AS", "ſelect"]),
        ("SELECT x\u2028y", ["SELECT", "x\u2028y"]),
        ("SELECT x\u00a0y", ["SELECT", "x", "y"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [piece.identifier for piece in pieces(text) if piece.identifier] == names


@pytest.mark.parametrize("text", ["SELECT e'a'\n'b\\'c'", "SELECT 1 /* /* */"])
def test_what_is_not_read(text: str) -> None:
    with pytest.raises(SqlError):
        pieces(text)


def test_what_are_spaces() -> None:
    """DuckDB makes spaces of some signs before its tokenizer sees the text."""
    for sign in map(chr, [*range(1, 32), *range(127, 0xD800), *range(0xE000, 0x10000)]):
        ours = [piece.text for piece in pieces(f"SELECT 1{sign}+ 2")] == ["SELECT", "1", "+", "2"]
        assert ours is _is_read(f"SELECT 1{sign}+ 2"), repr(sign)


def test_a_word_beyond_ascii_is_no_keyword() -> None:
    assert [piece.word for piece in pieces("ſelect SELECT")] == ["", "SELECT"]
