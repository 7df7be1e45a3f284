"""Step 1: text to Statement. What kind it is shows on its tokens; sqlglot sees only the query inside."""

from __future__ import annotations

import difflib
import logging
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from dpsql.errors import Error, Span, SqlError
from dpsql.sql.clause import setting, take_bounds, take_options
from dpsql.sql.kinds import StatementHead, statement_head
from dpsql.sql.lexical import new_dialect, tokenize
from dpsql.sql.limits import TREE_LIMIT, too_deep
from dpsql.sql.naming import number_selects, place_items
from dpsql.sql.parameters import Given, number_parameters
from dpsql.sql.places import place_calls
from dpsql.sql.statement import ParameterValue, Statement
from dpsql.sql.tokens import at, shown, span

_STACK = 20_000
_stack_lock = threading.Lock()
_stack_users = 0
_stack_before = 0


def parse(text: str, parameters: Given = None, *, partial: bool = False) -> Statement:
    """The one statement in the text, with its parameters bound; otherwise an Error that points into the text. partial: other
    texts may use the rest of the parameters."""
    if isinstance(text, str):
        text = str.__str__(text)  # not a subclass, whose slices may be anything
    try:
        return _parse(text, parameters, partial=partial)
    except Error as error:
        if isinstance(text, str):
            error.in_text(text)
        raise


def _parse(text: str, given: Given, *, partial: bool) -> Statement:
    tokens, values = number_parameters(tokenize(text), given, partial=partial)
    head = statement_head(tokens)
    if head.kind == "set":
        value = setting(tokens, head.rest, values)
        return Statement(text=text, kind="set", name=value.name, value=value, parameters=values)
    if not head.has_query:
        return _statement(text, head, values)
    query, options = take_options(tokens[head.rest :], values)
    query, bounds = take_bounds(query, values)
    tree = _tree(text, query, values)
    return _statement(text, head, values, tree=tree, options=options, call_options=bounds)


def _statement(text: str, head: StatementHead, values: Mapping[int, ParameterValue], **parts: object) -> Statement:
    return Statement(
        text=text,
        kind=head.kind,
        name=head.name,
        name_at=head.name_at,
        columns=head.columns,
        flags=head.flags,
        parameters=values,
        **parts,  # type: ignore[arg-type]  # only tree, options and call_options are passed, each of its own type
    )


@contextmanager
def deep_stack() -> Iterator[None]:
    """Room for recursion over a tree of the allowed depth. The last one out restores the limit."""
    global _stack_users, _stack_before
    with _stack_lock:
        if _stack_users == 0:
            _stack_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_stack_before, _STACK))
        _stack_users += 1
    try:
        yield
    finally:
        with _stack_lock:
            _stack_users -= 1
            if _stack_users == 0:
                sys.setrecursionlimit(_stack_before)


class _Silence(logging.Filter):
    """sqlglot logs warnings that quote the statement; while this thread parses, none leave."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.local, "on", False)


_silence = _Silence()
logging.getLogger("sqlglot").addFilter(_silence)


def _tree(text: str, tokens: list[Token], values: Mapping[int, ParameterValue]) -> exp.Expr:
    if not tokens:
        raise SqlError("the statement has no query", fix="Write SELECT ….")
    dialect = new_dialect()
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    number_selects(tokens)
    _silence.local.on = True
    try:
        with deep_stack():
            trees = parser.parse(tokens, text)
    except ParseError as error:
        raise _syntax(error, tokens) from None
    except RecursionError:
        raise too_deep(None) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        # sqlglot's builders assume well-formed arguments and fail with whatever comes to hand when they are not.
        raise SqlError("the statement cannot be parsed", at=at(tokens[0]), why=_LIKELY, fix=_CHECK) from None
    finally:
        _silence.local.on = False
    return _checked(text, trees, tokens, values)


_LIKELY = "A function or a clause in it has arguments of the wrong form."
_CLAUSES = tuple("SELECT FROM WHERE GROUP HAVING ORDER LIMIT UNION JOIN QUALIFY DISTINCT WITH".split())
_CHECK = "Check commas, parentheses and the order of the clauses."


def _checked(
    text: str, trees: list[exp.Expr | None], tokens: list[Token], values: Mapping[int, ParameterValue]
) -> exp.Expr:
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)):
        raise SqlError("this is not a query", at=at(tokens[0]), fix="Write SELECT ….")
    _place_parameters(tree, tokens, values)
    deepest = _too_deep(tree)
    if deepest is not None:
        raise too_deep(span(deepest, text))
    place_calls(tree, tokens)
    place_items(tree, tokens, text)
    if span(tree, text) is None:
        tree.update_positions(tokens[0])
    return tree


def _place_parameters(tree: exp.Expr, tokens: list[Token], values: Mapping[int, ParameterValue]) -> None:
    """Give every Placeholder its place in the text, and make sure that each is one of ours, once."""
    places = {
        int(number.text): number
        for dollar, number in zip(tokens, tokens[1:], strict=False)
        if dollar.token_type is TokenType.PARAMETER
    }
    for node in tree.find_all(exp.Placeholder, exp.Parameter):
        number = int(node.name) if isinstance(node, exp.Placeholder) and node.name.isdigit() else 0
        if number not in values or number not in places:
            raise SqlError("a parameter is not possible here", code=109, at=span(node, ""), fix="Write a value there.")
        node.update_positions(places.pop(number))
    for token in places.values():
        raise SqlError("a parameter is not possible here", code=109, at=at(token), fix="Write a value there.")


def _too_deep(tree: exp.Expr) -> exp.Expr | None:
    """A node more than TREE_LIMIT levels down, found without recursion."""
    level = [tree]
    for _ in range(TREE_LIMIT):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return None
    return level[0]


def _syntax(error: ParseError, tokens: list[Token]) -> SqlError:
    """Our words for a parse error; of the statement only the token it stumbled over is quoted."""
    detail = error.errors[0] if error.errors else {}
    token = next((t for t in tokens if (t.line, t.col) == (detail.get("line"), detail.get("col"))), None)
    if token is None:
        return SqlError("the statement cannot be parsed", at=at(tokens[0]), fix=_CHECK)
    where = at(token)
    description = str(detail.get("description", ""))
    index = tokens.index(token)
    if description == "Expecting )":
        return SqlError(f"a ) is missing near {shown(token)}", at=where, fix=_CHECK)
    if token is tokens[-1] and "Unexpected token" not in description:
        return SqlError(
            f"the statement ends too early, after {shown(token)}", at=Span(where.end - 1, where.end), fix=_CHECK
        )
    meant = _misspelt(tokens[max(0, index - 1) : index + 1])
    if meant is not None:
        wrong, right = meant
        return SqlError(f"{shown(wrong)} is not expected here", at=at(wrong), fix=f"Did you mean {right}?")
    return SqlError(f"{shown(token)} is not expected here", at=where, fix=_CHECK)


def _misspelt(tokens: list[Token]) -> tuple[Token, str] | None:
    """Of the token that was stumbled over and the one before it, which is nearly a word that a clause begins with."""
    for word in tokens:
        near = difflib.get_close_matches(word.text.upper(), _CLAUSES, n=1, cutoff=0.7)
        if word.token_type is TokenType.VAR and near:
            return word, near[0]
    return None
