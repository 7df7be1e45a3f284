"""The name of a SELECT item without an alias: DuckDB's own printing of what was written.

sqlglot forgets how an item was spelled. So its text is cut out of the tokens, by the commas and clauses of its SELECT; which
node a SELECT became is told by a comment on its token, since sqlglot hands comments on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import Token, TokenType, exp

Printed = Callable[[tuple[str, ...]], tuple[str | None, ...]]  # engine/printing.printed, handed down

ITEM_META = "dpsql_item"  # where an item keeps its text

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET}
_CLAUSES = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.WINDOW,
    TokenType.QUALIFY, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET,
}  # fmt: skip
_QUERIES = {TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT}


def column_names(items: Sequence[exp.Expr], printed: Printed) -> list[str]:
    """The names of a SELECT's items. A column's is as written; DuckDB takes the table's own spelling of it.

    What DuckDB cannot read has no name there: it is called by its text, without NUL, which no name can hold.
    """
    names = [_own_name(item) for item in items]
    texts = [_text(item) for item, name in zip(items, names, strict=True) if name is None]
    pairs = zip(printed(tuple(texts)), texts, strict=True) if texts else ()
    made = iter([shown or text.replace("\x00", "") for shown, text in pairs])
    return [next(made) if name is None else name for name in names]


def _own_name(node: exp.Expr) -> str | None:
    item = node.unnest()
    if isinstance(item, exp.Alias):
        return str(item.alias)
    return str(item.name) if isinstance(item, (exp.Column, exp.Star)) else None


def _text(item: exp.Expr) -> str:
    return str(item.meta.get(ITEM_META) or item.sql("duckdb"))


def number_selects(tokens: list[Token]) -> None:
    """Before they are parsed: each SELECT's index as a comment, which its node will have."""
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.SELECT:
            token.comments = [str(index)]


def place_items(tree: exp.Expr, tokens: list[Token], text: str) -> None:
    """After they are parsed: each item without an alias keeps its text, and the windows that it may name."""
    selects = [select for select in tree.find_all(exp.Select) if None in map(_own_name, select.expressions)]
    known = _read(tokens, text) if selects else {}
    for select in selects:
        number = (select.comments or [""])[0]
        items = known[int(number)] if number else _Items(0)
        if len(items.texts) == len(select.expressions):
            for item, written in zip(select.expressions, items.texts, strict=True):
                if _own_name(item) is None:
                    item.meta[ITEM_META] = f"{written} {items.windows}".strip()
    for select in tree.find_all(exp.Select):
        select.comments = None


@dataclass(slots=True)
class _Items:
    """A SELECT, while its tokens are read: what clause we are in, and where its present piece began."""

    depth: int
    clause: TokenType = TokenType.SELECT
    start: int = 0
    texts: list[str] = field(default_factory=list)
    windows: str = ""

    def end(self, text: str) -> None:
        if self.clause is TokenType.SELECT and text:
            self.texts.append(text)
        elif self.clause is TokenType.WINDOW:
            self.windows = text


def _read(tokens: list[Token], text: str) -> dict[int, _Items]:
    """The items of every SELECT, by the index of its token, in one pass."""
    whole, starts = _joined(tokens, text)
    known: dict[int, _Items] = {}
    stack: list[_Items] = []
    depth = 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        while stack and (stack[-1].depth > depth or (stack[-1].depth == depth and kind in _QUERIES)):
            last = stack.pop()
            last.end(whole[last.start : starts[index]].strip())
        if kind is TokenType.SELECT:
            known[index] = _Items(depth, start=starts[index + 1])
            stack.append(known[index])
        elif stack and stack[-1].depth == depth:
            here = stack[-1]
            if kind in (TokenType.DISTINCT, TokenType.ALL) and tokens[index - 1].token_type is TokenType.SELECT:
                here.start = starts[index + 1]
            elif kind in _CLAUSES and not _is_distinct_from(tokens, index):
                here.end(whole[here.start : starts[index]].strip())
                here.clause, here.start = kind, starts[index if kind is TokenType.WINDOW else index + 1]
            elif kind is TokenType.COMMA and here.clause is TokenType.SELECT:
                here.end(whole[here.start : starts[index]].strip())
                here.start = starts[index + 1]
    for last in stack:
        last.end(whole[last.start :].strip())
    return known


def _is_distinct_from(tokens: list[Token], index: int) -> bool:
    """The FROM of x IS [NOT] DISTINCT FROM y."""
    return tokens[index].token_type is TokenType.FROM and tokens[index - 1].token_type is TokenType.DISTINCT


def _joined(tokens: list[Token], text: str) -> tuple[str, list[int]]:
    """The tokens as one text, parameters by their numbers, and where each begins in it; its end is the last."""
    pieces, starts, length = [], [], 0
    for piece in _pieces(tokens, text):
        starts.append(length)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces), [*starts, length]


def _pieces(tokens: list[Token], text: str) -> Iterator[str]:
    """Tokens that touched touch again: x.1 is not x . 1. Comments and what was taken out are gaps."""
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        numbers = before is not None and before.token_type is TokenType.PARAMETER
        plain = token.text if numbers or token.token_type is TokenType.PARAMETER else text[token.start : token.end + 1]
        apart = before is not None and not numbers and before.end + 1 != token.start
        yield f" {plain}" if apart else plain
