"""SQL that a frame is given as text: expressions are read where they are given, and errors point into what was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dpsql.aggregates import BY_NAME
from dpsql.dbapi.statements import kind_of
from dpsql.engine.printing import printed
from dpsql.errors import Error, InterfaceError, Span, SqlError
from dpsql.execution.planning import Parameters, read
from dpsql.ir.ids import Ids
from dpsql.query import in_text
from dpsql.session import Session
from dpsql.sql.bind import bind
from dpsql.sql.lexical import tokenize

ANSWERING = ("query", "explain", "show_tables", "show_budget", "show_settings", "describe")
END = "\n"
"""What follows an expression wherever it is written into SQL: a comment in it swallows nothing else."""


def check_expression(session: Session, expression: str, *, rows: str, column: str, condition: bool) -> None:
    """Refuse an expression over `rows` (a FROM item) that is wrong by itself, before anything is asked.

    Only syntax, names and types are looked at, in metadata alone. column: any one of the rows.
    """
    with in_text(expression):
        _check_one_value(expression)
    alone = f"SELECT {expression}{END}"
    with pointed([expression]), in_text(alone):
        read(alone)
    before, after = (
        ("SELECT 1 FROM " + rows + " WHERE (", ")") if condition else ("SELECT (", f"), {column} FROM {rows}")
    )
    sql = f"{before}{expression}{END}{after}"
    with _own_words(expression), pointed([expression]), in_text(sql):
        bind(
            read(sql), session.catalog, aggregates=BY_NAME, user_tables=session.user_tables, ids=Ids(), printed=printed
        )


def check_answers(session: Session, sql: str, parameters: Parameters) -> None:
    """Refuse, before it is run, a statement that has no rows to answer with."""
    kind = kind_of(session, sql, parameters)
    if kind not in ANSWERING:
        raise InterfaceError(
            f"a frame answers only queries, not {kind.replace('_', ' ').upper()}",
            code=602,
            fix="For settings write frame.options(epsilon=0.5); for tables of your own use dpsql.connect().",
        )


def _check_one_value(expression: str) -> None:
    """An expression may not close a parenthesis that it has not opened, nor go on where it is written into."""
    depth = 0
    tokens = tokenize(expression)
    if not tokens:
        raise SqlError("the expression is empty", code=100, fix="Write one value of each row, as in x / 60.")
    for token in tokens:
        sign = "" if expression[token.start] in "'\"" else token.text
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or sign == ";" or (sign == "," and not depth):
            at = Span(token.start, token.end + 1)
            raise SqlError(
                f"an expression cannot have {sign} here",
                code=100,
                at=at,
                fix="Write one value of each row, as in x / 60.",
            )


@contextmanager
def _own_words(expression: str) -> Iterator[None]:
    """An aggregate causes an error in what is beside it; report it for the expression."""
    try:
        yield
    except Error as error:
        if error.text == expression:
            raise
        raise SqlError(
            "the expression is not one value of each row",
            code=105,
            at=Span(0, len(expression)),
            why="An aggregate is one value of many rows.",
            fix="Ask for it with agg(), or write one value of each row, as in x / 60.",
        ).in_text(expression) from None


@contextmanager
def pointed(expressions: Sequence[str], *, sql: str = "") -> Iterator[None]:
    """Errors in SQL that was made of these expressions, and of the end of the user's `sql`, point into theirs."""
    try:
        yield
    except Error as error:
        if error.text is not None and error.at is not None:
            _point(error, error.text, error.at, expressions, sql)
        raise


def _point(error: Error, made: str, at: Span, expressions: Sequence[str], sql: str) -> None:
    """The innermost expression that the place is in; else the user's statement; else it stays."""
    for expression in sorted(expressions, key=len):
        for start in _places(made, expression + END):
            end = start + len(expression)
            if start <= at.start <= end:
                error.text, error.at = expression, Span(at.start - start, min(at.end, end) - start)
                return
    if sql and sql.endswith(made[at.start :]):
        moved = len(sql) - len(made)
        error.text, error.at = sql, Span(at.start + moved, at.end + moved)


def _places(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)
