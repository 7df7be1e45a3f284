"""LIKE and regular expressions. Patterns are constants, checked here, so that none fails when rows are read."""

from __future__ import annotations

import re

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.functions.function import Args, Function, TypeProblem, expect, row, text_constant
from dpsql.functions.result import result

LONGEST = 200
LONGEST_LIKE = (
    1_000  # PostgreSQL and Java call themselves for each piece that a text matches: one long text ended their stack
)
MOST_REPEATS = 100

# One piece of a pattern that RE2 and this table read alike. Groups are checked by counting parentheses.
PIECE = re.compile(
    r"""
    (?P<atom> [^\\\[\](){}*+?|^$\n\x00] | \. | \\[dDwWsS] | \\[tnrfv] | \\[^A-Za-z0-9\x00\n] |
        \[\^?(?:(?:[^\\\[\]\x00-]|\\[dDwWsStnrfv]|\\[^A-Za-z0-9\x00\n])
             | [A-Za-z0-9]-[A-Za-z0-9])+\] )
    | (?P<anchor> \^ | \$ | \\[bBA] )
    | (?P<open> \((?:\?:|\?i:)? (?![?]) )
    | (?P<close> \) )
    | (?P<repeat> (?:[*+?] | \{\d{1,3}(?:,\d{0,3})?\}) \?? )
    | (?P<bar> \| )
    """,
    re.VERBOSE,
)


def check_pattern(pattern: str) -> None:
    """Raises ValueError, with words, on what is not surely a valid pattern of modest size."""
    if len(pattern) > LONGEST:
        raise ValueError(f"the pattern is longer than {LONGEST} characters")
    place, depth, repeatable, repeats = 0, 0, False, 1
    while place < len(pattern):
        match = PIECE.match(pattern, place)
        if match is None:
            raise ValueError(f"the pattern cannot be read at character {place + 1}")
        kind = match.lastgroup
        if kind == "repeat":
            if not repeatable:
                raise ValueError(f"the pattern has nothing to repeat at character {place + 1}")
            repeats *= _repeat(match.group())
        depth += (kind == "open") - (kind == "close")
        if depth < 0 or repeats > MOST_REPEATS:
            raise ValueError("the pattern has a stray ) or repeats too often")
        repeatable = kind in ("atom", "close")
        place = match.end()
    if depth:
        raise ValueError("the pattern has an open (")
    _check_ranges(pattern)


def _repeat(piece: str) -> int:
    """How many copies a counted repetition stands for."""
    counts = [int(n) for n in re.findall(r"\d+", piece)]
    if len(counts) == 2 and counts[0] > counts[1]:
        raise ValueError("the limits of a repetition are reversed")
    return max(1, *counts) if counts else 1


def _check_ranges(pattern: str) -> None:
    for low, high in re.findall(r"([A-Za-z0-9])-([A-Za-z0-9])", pattern):
        if low > high:
            raise ValueError(f"the range {low}-{high} runs backwards")


def _regexp_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,))
    pattern = text_constant(args, 1, "the pattern")
    try:
        check_pattern(pattern)
    except ValueError as problem:
        raise TypeProblem(str(problem), 1, "Use letters, classes, groups and * + ? {n}, or LIKE.") from None
    return BOOLEAN


def _like_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,))
    pattern = text_constant(args, 1, "the pattern")
    if len(pattern) > LONGEST_LIKE:
        raise TypeProblem(f"the pattern is longer than {LONGEST_LIKE} characters", 1, "Write a shorter one.")
    if len(args) == 3:
        escape = text_constant(args, 2, "the escape character")
        if len(escape) > 1 or not escape.isascii():
            raise TypeProblem("the escape must be one character", 2)
        if escape and _ends_escaped(pattern, escape):
            raise TypeProblem("the pattern ends with its escape character", 1)
    return BOOLEAN


def _ends_escaped(pattern: str, escape: str) -> bool:
    place = 0
    while place < len(pattern):
        if pattern[place] == escape:
            if place + 1 == len(pattern):
                return True
            place += 1
        place += 1
    return False


def _like(name: str, words: str, doc: str) -> Function:
    return row(name, doc, f"x {words} pattern [ESCAPE c]", (2, 3), _like_type, result)


FUNCTIONS = (
    _like("like", "LIKE", "Whether the text matches: % is any text, _ any character."),
    _like("not_like", "NOT LIKE", "Whether the text does not match."),
    _like("ilike", "ILIKE", "LIKE, ignoring case."),
    _like("not_ilike", "NOT ILIKE", "NOT LIKE, ignoring case."),
    row(
        "regexp_matches",
        "Whether the text contains a match of a constant regular expression.",
        "REGEXP_MATCHES(x, pattern)",
        2,
        _regexp_type,
        result,
    ),
    row(
        "regexp_full_match",
        "Whether the whole text matches a constant regular expression.",
        "REGEXP_FULL_MATCH(x, pattern)",
        2,
        _regexp_type,
        result,
    ),
)
