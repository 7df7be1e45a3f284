"""Queries that stand in a query without parentheses: operands of UNION and its like, what SUMMARIZE and DESCRIBE read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.sql.pieces import DESCRIBING, Piece

_SETS = ("UNION", "INTERSECT", "EXCEPT")
_AFTER_SETS = ("ALL", "DISTINCT", "BY", "NAME")
_BEGINS = ("SELECT", "FROM", "VALUES")
_OVER = ("ORDER", "LIMIT", "OFFSET")  # of all operands together
_SHOWS = ("SUMMARIZE", *DESCRIBING)


def operands(read: Sequence[Piece], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Of the query between two pieces: the first piece of each, and the one after its last."""
    if begin >= end:
        return
    if read[begin].word in _SHOWS:
        if begin + 1 < end and read[begin + 1].text != "(":
            yield begin + 1, end
        return
    depth = read[begin].depth
    top = [at for at in range(begin, end) if read[at].depth == depth]
    sets = [at for at in top if read[at].word in _SETS]
    if not sets:
        return
    firsts = [_first(read, begin, sets[0]), *(_next(read, at + 1, end) for at in sets)]
    ends = [*sets, next((at for at in top if at > sets[-1] and read[at].word in _OVER), end)]
    for first, after in zip(firsts, ends, strict=True):
        if first < after and read[first].word in _BEGINS:
            yield first, after


def _first(read: Sequence[Piece], begin: int, end: int) -> int:
    """After the CTEs."""
    if read[begin].word != "WITH":
        return begin
    depth = read[begin].depth
    return next((at for at in range(begin, end) if read[at].depth == depth and read[at].word in _BEGINS), end)


def _next(read: Sequence[Piece], at: int, end: int) -> int:
    while at < end and read[at].word in _AFTER_SETS:
        at += 1
    return at
