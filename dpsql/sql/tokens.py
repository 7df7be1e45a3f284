"""Tokens and places: small questions that every step of the SQL front asks."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from dpsql.errors import Span

NAME_META = "dpsql_name"  # where sqlglot leaves a function's name as the user wrote it


def at(token: Token) -> Span:
    return Span(token.start, token.end + 1)


def between(first: Token, last: Token) -> Span:
    return Span(first.start, last.end + 1)


def quoted(token: Token) -> bool:
    return token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)


def word(token: Token) -> str:
    """The token in capitals if it was written without quotes, else nothing: what keywords are recognised by."""
    return "" if quoted(token) else token.text.upper()


def words(tokens: list[Token], index: int, *expected: str) -> bool:
    """Whether these words stand at `index`."""
    next_tokens = tokens[index : index + len(expected)]
    return len(next_tokens) == len(expected) and all(word(t) == e for t, e in zip(next_tokens, expected, strict=True))


def is_name(token: Token) -> bool:
    """Whether the token can name a table, column or option."""
    return token.token_type is TokenType.IDENTIFIER or (not quoted(token) and token.text[:1].isidentifier())


def shown(token: Token) -> str:
    """The token as a message may quote it; nothing else of the statement is quoted in a syntax error."""
    return token.text if len(token.text) <= 40 else token.text[:37] + "…"


Hulls = dict[int, tuple[exp.Expr, Span | None]]  # by id(); the node is kept, so that no other gets its id


def span(node: exp.Expr, text: str, known: Hulls | None = None) -> Span | None:
    """Where a node stands in the text: the hull of what is known of it and its parts, else its parent's.

    sqlglot gives NULL, TRUE, CASE, CAST, operators and some calls no place of their own. Whoever asks for many nodes of one
    tree hands over what is `known`: each is then looked at once.
    """
    known = {} if known is None else known
    current: exp.Expr | None = node
    while current is not None:
        hull = _hull(current, known)
        if hull is not None:
            return Span(hull.start, min(hull.end, len(text)))
        current = current.parent
    return None


def _hull(node: exp.Expr, known: Hulls) -> Span | None:
    """Of all parts, without recursion: a node's parts come before it."""
    if id(node) not in known:
        order = list(node.walk(bfs=False, prune=lambda part: id(part) in known))
        for part in reversed(order):
            if id(part) not in known:
                hull = own_place(part)
                for child in part.iter_expressions():
                    inner = known[id(child)][1]
                    hull = inner if hull is None else hull if inner is None else hull.join(inner)
                known[id(part)] = (part, hull)
    return known[id(node)][1]


def own_place(node: exp.Expr) -> Span | None:
    """What the parser itself says about a node's place."""
    meta = node._meta  # `meta` would create an empty dict on every node
    if not meta or not isinstance(meta.get("start"), int) or not isinstance(meta.get("end"), int):
        return None
    return Span(meta["start"], meta["end"] + 1)
