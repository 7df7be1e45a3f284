"""Statements that are passed on as the text they are: what kind each is, its query, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import Token, TokenType

from dpsql.errors import Error, Span
from dpsql.sql.kinds import StatementHead, statement_head
from dpsql.sql.lexical import tokenize
from dpsql.sql.mixing import options_at
from dpsql.sql.parameters import Given, public_parameters
from dpsql.sql.parse import parse
from dpsql.sql.pieces import Piece, pieces, query_at
from dpsql.sql.statement import Option, Passed, Statement

Parameters = tuple[tuple[str | None, object], ...]


@dataclass(frozen=True, slots=True)
class PassedQuery:
    """A statement before it is known what its query names. query: its text, blanks for what stands around it."""

    text: str
    query: str
    head: StatementHead
    pieces: list[Piece]

    @property
    def at(self) -> Span:
        """Where the query begins."""
        return Span(self.pieces[0].start, self.pieces[0].end)

    def statement(self, passed: Passed, **more: object) -> Statement:
        head = self.head
        return Statement(
            text=self.text,
            kind=head.kind,
            name=head.name,
            name_at=head.name_at,
            columns=head.columns,
            flags=head.flags,
            passed=passed,
            **more,  # type: ignore[arg-type]  # options only
        )


def passed_query(text: str) -> PassedQuery | None:
    """None where the text is no statement with a query, or cannot be read so far."""
    if not isinstance(text, str):
        return None
    try:
        text = str.__str__(text)
        read = pieces(text)
        begin = query_at(read)
        if begin is None:
            return None
        start, end = read[begin].start, read[-1].end
        head = statement_head(tokenize(text[:start] + "SELECT 1")) if begin else StatementHead(kind="query")
    except Error:
        return None
    return PassedQuery(text, " " * start + text[start:end], head, read[begin:])


Values = Mapping[int, object]


def values_of(read: list[Piece], given: Given) -> Values:
    """The value of each parameter, by its place; SqlError 109 as for any statement."""
    asked = [piece for piece in read if piece.kind == "parameter"]
    values = public_parameters([token for piece in asked for token in _tokens(piece)], given)
    return {piece.start: values[number] for number, piece in enumerate(asked, 1)}


def parameters_of(read: list[Piece], values: Values) -> Parameters:
    """The values of a text's parameters as DuckDB takes them: in order for ?, else by name or number."""
    asked = [piece for piece in read if piece.kind == "parameter"]
    if any(piece.text == "?" for piece in asked):
        return tuple((None, values[piece.start]) for piece in asked)
    return tuple({piece.text[1:]: values[piece.start] for piece in asked}.items())


def statement_of(text: str, values: Values) -> Statement:
    """A query that is a part of a statement, at its place there."""
    asked = [piece for piece in pieces(text) if piece.kind == "parameter"]
    given: Given
    if any(piece.text == "?" for piece in asked):
        given = [values[piece.start] for piece in asked]
    elif any(piece.text[1:].isdigit() for piece in asked):
        numbers = {int(piece.text[1:]): values[piece.start] for piece in asked}
        given = [numbers.get(number) for number in range(1, max(numbers) + 1)]
    else:
        given = {piece.text[1:]: values[piece.start] for piece in asked}
    return parse(text, given, partial=True)


def without_options(asked: PassedQuery, values: Values) -> tuple[Mapping[str, Option], PassedQuery]:
    """The one WITH DIFFERENTIAL_PRIVACY OPTIONS (…), at whichever SELECT it is: a query has one cost. And the query with
    blanks in its place."""
    place = options_at(asked.pieces)
    if place is None:
        return {}, asked
    clause = asked.pieces[place[0] : place[1]]
    start, end = clause[0].start, clause[-1].end
    before = " " * max(0, start - len(_SELECT))
    options = statement_of(f"{before}{_SELECT}{asked.query[start:end]} 1", values).options
    query = asked.query[:start] + " " * (end - start) + asked.query[end:]
    kept = [*asked.pieces[: place[0]], *asked.pieces[place[1] :]]
    return options, PassedQuery(asked.text, query, asked.head, kept)


_SELECT = "SELECT "


def _tokens(piece: Piece) -> list[Token]:
    first, last = piece.start, piece.end - 1
    if piece.text == "?":
        return [Token(TokenType.PLACEHOLDER, "?", 1, 1, first, last)]
    name = Token(TokenType.VAR, piece.text[1:], 1, 1, first + 1, last)
    return [Token(TokenType.PARAMETER, "$", 1, 1, first, first), name]


__all__ = ["PassedQuery", "Values", "parameters_of", "passed_query", "statement_of", "values_of", "without_options"]
