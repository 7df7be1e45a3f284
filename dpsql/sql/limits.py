"""Limits that hold before the parser: sqlglot recurses, and on some texts it takes exponential time."""

from __future__ import annotations

from sqlglot import Token, TokenType
from sqlglot.parsers.duckdb import DuckDBParser

from dpsql.errors import Span, SqlError
from dpsql.sql.tokens import at, word

LENGTH_LIMIT = 100_000
TOKEN_LIMIT = 8_000  # read and bound in a fifth of a second
INSERT_TOKEN_LIMIT = 20_000  # rows of constants are no plan
DIGITS_LIMIT = 600  # of a number; Python reads 640 of them whatever it is told (sys.set_int_max_str_digits)
NESTING_LIMIT = 64
# The tree of a chain a + b + c … is as deep as the chain is long, and every later step recurses over it.
CHAIN_LIMIT = 200
READINGS_LIMIT = 6
TREE_LIMIT = 400
RELATIONS_LIMIT = 1_000  # of a subquery, once the names in it are written out
SIZE_LIMIT = 3_000  # parts of a query (ir/size.py), once the names in it are written out: a fifth of a second
INTERVALS_PARTS = 3  # how many times as long a plan with OPTIONS(intervals = …) takes
FRAME_SIZE_LIMIT = 30_000  # whoever asks a frame holds the data, and describe() of 45 columns is as large

TYPE_WORDS = DuckDBParser.TYPE_TOKENS | DuckDBParser.NESTED_TYPE_TOKENS
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET}
_SEPARATORS = {"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT", "UNION", "INTERSECT",
               "EXCEPT", "WHEN", "THEN", "ELSE", "VALUES"}  # fmt: skip
_CHAINING = {
    TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.DIV, TokenType.MOD, TokenType.DPIPE,
    TokenType.CARET, TokenType.DSTAR, TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.EQ, TokenType.NEQ,
    TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.DCOLON, TokenType.IS, TokenType.LIKE,
    TokenType.ILIKE, TokenType.IN, TokenType.BETWEEN, TokenType.COLLATE, TokenType.UNION, TokenType.INTERSECT,
    TokenType.EXCEPT, TokenType.INTERVAL, TokenType.JOIN,
}  # fmt: skip


def check_nesting(tokens: list[Token]) -> None:
    """Parentheses, brackets and CASE nest at most NESTING_LIMIT deep; chains of operators are at most CHAIN_LIMIT long.

    A chain ends at a comma or at a clause of its own level; runs of prefixes (NOT NOT, - -) are chains too.
    """
    chains = [0]
    prefixes = 0
    for token in tokens:
        kind = token.token_type
        prefixes = prefixes + 1 if kind in (TokenType.NOT, TokenType.DASH, TokenType.PLUS) else 0
        if kind in _OPENING or kind is TokenType.CASE:
            chains.append(0)
        elif (kind in _CLOSING or word(token) == "END") and len(chains) > 1:
            chains.pop()
        elif kind is TokenType.COMMA or word(token) in _SEPARATORS:
            chains[-1] = 0
        elif kind in _CHAINING:
            chains[-1] += 1
        if len(chains) - 1 > NESTING_LIMIT or prefixes > NESTING_LIMIT or chains[-1] > CHAIN_LIMIT:
            raise too_deep(at(token))


def check_readings(tokens: list[Token]) -> None:
    """At most READINGS_LIMIT open parentheses of the kinds that sqlglot reads in two ways.

    It tries DATE(… as a type and then as a call, LATERAL (… and (FROM … likewise: 2^depth, 3^depth.
    """
    stack: list[bool] = []
    for index, token in enumerate(tokens):
        if token.token_type in _OPENING:
            before = tokens[index - 1] if index else None
            typed = before is not None and (before.token_type in TYPE_WORDS or word(before) == "LATERAL")
            after = tokens[index + 1] if index + 1 < len(tokens) else None
            stack.append(typed or (after is not None and word(after) == "FROM"))
            stack[-1] = stack[-1] or (after is not None and after.token_type in TYPE_WORDS)
        elif token.token_type in _CLOSING and stack:
            stack.pop()
        if sum(stack) > READINGS_LIMIT:
            raise too_deep(at(token))


def too_deep(where: Span | None) -> SqlError:
    return SqlError(
        "the statement is nested too deeply",
        at=where,
        why=f"dpsql allows {NESTING_LIMIT} levels of parentheses and {CHAIN_LIMIT} operators in one expression.",
        fix="Split the query with WITH; write x IN (…) for a long chain of OR.",
    )


# JOINs that take no condition, by the words before JOIN; SEMI, ANTI and the rest need ON or USING.
_FREE_JOINS = {"CROSS", "NATURAL", "POSITIONAL"}
_JOIN_WORDS = {"LEFT", "RIGHT", "FULL", "OUTER", "INNER", "SEMI", "ANTI", "ASOF"}
_OPEN_JOINS = 8


def check_joins(tokens: list[Token]) -> None:
    """Every JOIN but CROSS and NATURAL has its ON or USING, and at most _OPEN_JOINS wait for theirs at once.

    DuckDB refuses a JOIN without a condition. sqlglot takes it for a comma, after trying both readings at each: 2^n.
    """
    waiting: list[list[Token]] = [[]]
    for index, token in enumerate(tokens):
        here = waiting[-1]
        if token.token_type in _OPENING:
            waiting.append([])
        elif token.token_type is TokenType.JOIN and not _is_free(tokens, index):
            here.append(token)
        elif word(token) in ("ON", "USING") and here:
            here.pop()
        if len(here) > _OPEN_JOINS or (here and _ends_from(token)):
            raise _unconditional(here[-1])
        if token.token_type in _CLOSING and len(waiting) > 1:
            waiting.pop()
    if waiting[-1]:
        raise _unconditional(waiting[-1][-1])


def _is_free(tokens: list[Token], index: int) -> bool:
    while index and word(tokens[index - 1]) in _JOIN_WORDS:
        index -= 1
    return index > 0 and word(tokens[index - 1]) in _FREE_JOINS


def _ends_from(token: Token) -> bool:
    return token.token_type in (*_CLOSING, TokenType.COMMA) or word(token) in _SEPARATORS


def _unconditional(join: Token) -> SqlError:
    return SqlError(
        "a JOIN has no ON or USING", at=at(join), fix="Add ON a.x = b.x, or write CROSS JOIN if every pair is meant."
    )
