"""Text to tokens.

sqlglot's tokenizer and DuckDB's disagree at the edges (escapes, nested comments, Unicode spaces, glued words). Nothing
is guessed there: text is accepted only where both read it the same way, which `_check_token` and `_check_gap` decide
from the text itself.
"""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot import Token, TokenType
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError

from dpsql.errors import Error, Refused, Span, SqlError
from dpsql.sql.limits import (
    DIGITS_LIMIT,
    INSERT_TOKEN_LIMIT,
    LENGTH_LIMIT,
    TOKEN_LIMIT,
    check_joins,
    check_nesting,
    check_readings,
)
from dpsql.sql.tokens import NAME_META, at, between, quoted, word

# Keywords of sqlglot that are names to DuckDB.
_NAMES = frozenset(
    """
    ALTER DROP FORCE GRANT INSERT INSTALL LOCK PARTITIONED_BY REGEXP REVOKE RLIKE ROLLBACK STRAIGHT_JOIN UNCACHE XOR
    """.split()
)


class _Tokenizer(DuckDB.Tokenizer):
    """sqlglot's, but for commands, where it would swallow all that follows EXPLAIN or CALL into one token, for quotes by
    dollar signs: it takes any sign for a part of their tags ($a+$b), and dpsql has none (_check_dollar); and for names."""

    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        word: kind for word, kind in DuckDB.Tokenizer.KEYWORDS.items() if word not in _NAMES
    }
    COMMANDS: ClassVar[set[TokenType]] = set()
    HEREDOC_STRINGS: ClassVar[list[str | tuple[str, str]]] = []


def new_dialect() -> DuckDB:
    """DuckDB's dialect, told to remember the names that functions were called by."""
    dialect = DuckDB()
    dialect.ORIGINAL_NAME_META_KEY = NAME_META
    return dialect


# What may stand between tokens. DuckDB ends a -- comment at \r too, and sqlglot does not: \r only as part of \r\n.
_GAP = re.compile(r"(?:[ \t\n\f\v]|\r(?=\n)|\r(?!\n)|--[^\r\n]*(?:\r?\n|\Z)|/\*(?:(?!/\*|\*/).)*\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w$]*")
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WORDLIKE = re.compile(r"[\w$'\"]")

_PUNCTUATION = {
    "(", ")", ",", ".", ";", "+", "-", "*", "/", "//", "%", "=", "==", "<>", "!=", "<", "<=", ">", ">=", "||", "::",
    "?", "?::", "$", "^", "**", "=>", "[", "]",
}  # fmt: skip
_INSTEAD = {
    ":": "Write a named parameter as $name, and an alias with AS.",
    ":=": "Write an argument without a name.",
    "~": "Write regexp_matches(text, 'pattern').",
    "!~": "Write NOT regexp_matches(text, 'pattern').",
    "~~": "Write LIKE.",
    "~~*": "Write ILIKE.",
    "->": "dpsql has neither JSON nor lambdas.",
    "->>": "dpsql has no JSON.",
    "@": "Write abs(x) for an absolute value, and AS before an alias.",
    "&": "Write AND between conditions; there are no bit operations.",
    "&&": "Write AND between conditions.",
    "|": "Write OR between conditions, || to join texts.",
    "!": "Write NOT, or <> for inequality.",
    "<=>": "Write IS NOT DISTINCT FROM.",
    "^@": "Write starts_with(text, 'start').",
    "#": "Name the column instead of its position.",
    "{": "dpsql has no structs or maps.",
    "`": 'Quote a name with double quotes: "name".',
}


def tokenize(text: str) -> list[Token]:
    """The statement's tokens without comments, within the limits; else SqlError 100 or Refused 120."""
    _check_text(text)
    try:
        tokens = _Tokenizer(dialect=new_dialect()).tokenize(text)
    except TokenError:
        raise _unterminated(text) from None
    limit = INSERT_TOKEN_LIMIT if tokens and word(tokens[0]) == "INSERT" else TOKEN_LIMIT
    if len(tokens) > limit:
        raise SqlError(
            f"the statement has more than {limit:,} words and signs",
            why="dpsql limits the size of a statement before it reads it.",
            fix="Put long lists into a table and join it: INSERT INTO a_table VALUES …, in several statements.",
        )
    _check_tokens(text, tokens)
    for token in tokens:
        token.comments = []
        if token.token_type is TokenType.NUMBER and len(token.text) > DIGITS_LIMIT:
            raise SqlError(f"a number has more than {DIGITS_LIMIT} digits", at=at(token), fix="Write it as 1e100.")
    for one, following in zip(tokens, tokens[1:], strict=False):
        if word(one) == "TOP" and following.token_type is TokenType.NUMBER:  # where a name never stands
            one.token_type = TokenType.TOP
    check_joins(tokens)
    check_nesting(tokens)
    check_readings(tokens)
    return tokens


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise SqlError("a statement is a string", fix="Pass the SQL as str.")
    if len(text) > LENGTH_LIMIT:
        raise SqlError(
            f"the statement is longer than {LENGTH_LIMIT:,} characters",
            why="dpsql limits the size of a statement before it reads it.",
            fix="Put long lists into a table and join it.",
        )
    for offset, char in enumerate(text):
        if "\ud800" <= char <= "\udfff":
            raise SqlError(
                "the statement contains half a character (a lone surrogate)",
                at=Span(offset, offset + 1),
                fix="Remove it.",
            )


def _unterminated(text: str) -> Error:
    """The tokenizer fails on what is opened and not closed; say which, by reading the text as _check_tokens does."""
    offset = 0
    opened = re.compile(r"""'(?:[^']|'')*(?:'|(?P<text>\Z))|"(?:[^"]|"")*(?:"|(?P<name>\Z))|--[^\n]*|/\*""")
    while match := opened.search(text, offset):
        if match.group() == "/*":
            closed = text.find("*/", match.end())
            if closed < 0:
                return SqlError("a comment is not closed", at=Span(match.start(), match.end()), fix="Add */.")
            offset = closed + 2
            continue
        for name, what, fix in (("text", "a text is not closed", "Add '."), ("name", "a name is not closed", 'Add ".')):
            if match.group(name) is not None:
                return SqlError(what, at=Span(match.start(), match.start() + 1), fix=fix)
        offset = max(match.end(), offset + 1)
    return SqlError("the statement cannot be read", why="It contains a text, a name or a comment that is not closed.")


def _check_tokens(text: str, tokens: list[Token]) -> None:
    end = 0
    for index, token in enumerate(tokens):
        _check_gap(text, end, token.start)
        if index and token.start == end and (_glued(text, end) or _dotted(tokens, index)):
            raise _unclear(text, Span(tokens[index - 1].start, token.end + 1))
        _check_token(text, token)
        if index and tokens[index - 1].token_type is TokenType.PARAMETER:
            _check_dollar(text, tokens[index - 1], token)
        if token.token_type is TokenType.L_BRACKET and index:
            _check_bracket(tokens[index - 1], token)
        end = token.end + 1
    _check_gap(text, end, len(text))
    for one, other in zip(tokens, tokens[1:], strict=False):
        if one.token_type is TokenType.STRING and other.token_type is TokenType.STRING:
            raise SqlError(
                "two texts are side by side",
                at=between(one, other),
                why="Some databases join them and some do not.",
                fix="Write ||, or a comma.",
            )


def _glued(text: str, boundary: int) -> bool:
    """Whether two words, numbers or quoted texts touch, as in x'41', 1_000 or 0x1F."""
    return bool(_WORDLIKE.match(text[boundary - 1]) and _WORDLIKE.match(text[boundary])) and text[boundary - 1] != "$"


def _check_dollar(text: str, dollar: Token, token: Token) -> None:
    """$$ and $tag$ open a text elsewhere; a parameter's name has no dollar sign."""
    raw = text[token.start : token.end + 1]
    if token.start == dollar.end + 1 and not quoted(token) and "$" in raw:
        raise _only_plain_quotes(Span(dollar.start, token.end + 1))


def _only_plain_quotes(where: Span) -> Refused:
    return Refused("dpsql reads only plain quotes", at=where, code=120, fix="Write 'text', with '' for a quote in it.")


def _check_bracket(before: Token, bracket: Token) -> None:
    """Only list constants; the parser takes cubic time over a chain of subscripts, so they end here."""
    if quoted(before) or before.text not in _PUNCTUATION - {")", "]"} and word(before) not in _BEFORE_POINT:
        raise Refused(
            "dpsql does not answer subscripts and lists of types",
            code=120,
            at=at(bracket),
            fix="dpsql has neither lists, structs nor maps as values; name plain columns.",
        )


_BEFORE_POINT = {"SELECT", "DISTINCT", "THEN", "ELSE", "WHEN", "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "WHERE",
                 "HAVING", "QUALIFY", "ON", "BY", "VALUES", "CASE", "ALL"}  # fmt: skip


def _dotted(tokens: list[Token], index: int) -> bool:
    """Whether a point belongs to a number or to a name is anybody's guess, as in a.1 or 1..2; .5 alone is plain."""
    kinds = (tokens[index - 1].token_type, tokens[index].token_type)
    if kinds == (TokenType.DOT, TokenType.NUMBER):
        before = tokens[index - 2] if index > 1 else None
        sign = before is not None and before.text in _PUNCTUATION - {")", "]", ".", "?"} and not quoted(before)
        return before is not None and not sign and word(before) not in _BEFORE_POINT
    return kinds == (TokenType.NUMBER, TokenType.DOT)


def _check_gap(text: str, start: int, end: int) -> None:
    gap = text[start:end]
    bad = _GAP.match(gap)
    stop = bad.end() if bad else 0
    if stop == len(gap):
        return
    if gap.startswith("/*", stop):
        raise SqlError(
            "a comment is inside a comment",
            at=Span(start + stop, start + stop + 2),
            why="Databases disagree about where it ends.",
            fix="Remove the inner /*.",
        )
    if gap.startswith("--", stop):
        raise SqlError(
            "a comment holds a carriage return that does not end its line",
            at=Span(start + stop, start + stop + 2),
            why="Databases disagree about where such a comment ends.",
            fix="End lines with \\n or \\r\\n.",
        )
    raise SqlError(
        f"the character U+{ord(gap[stop]):04X} means nothing here",
        at=Span(start + stop, start + stop + 1),
        fix="Use plain spaces; quote names that hold unusual characters.",
    )


def _check_token(text: str, token: Token) -> None:
    raw = text[token.start : token.end + 1]
    match token.token_type:
        case TokenType.STRING:
            good = raw == "'" + token.text.replace("'", "''") + "'"
        case TokenType.IDENTIFIER:
            good = raw == '"' + token.text.replace('"', '""') + '"' and token.text != ""
        case TokenType.NUMBER:
            good = _NUMBER.fullmatch(raw) is not None
        case _ if raw in _PUNCTUATION:
            good = True
        case _:
            good = all(_plain(part) for part in raw.split())
    if not good:
        raise _unclear(text, at(token))


def _plain(raw: str) -> bool:
    """A word both tokenizers read alike, and that no capitalising turns into an ASCII keyword (ſ is S, ı is I)."""
    starts = raw[0] == "_" or raw[0].isalpha()
    return starts and _WORD.fullmatch(raw) is not None and (raw.isascii() or not raw.upper().isascii())


def _unclear(text: str, where: Span) -> Error:
    raw = text[where.start : where.end]
    if raw in _INSTEAD:
        return Refused(f"dpsql does not know the sign {raw}", at=where, code=120, fix=_INSTEAD[raw])
    if not raw.isprintable():
        return SqlError(f"the character U+{ord(raw[0]):04X} means nothing here", at=where, fix="Remove it.")
    if not _WORDLIKE.search(raw):
        return Refused(f"dpsql does not know the sign {raw}", at=where, code=120, fix="See `dpsql help sql`.")
    if raw[:1] == "$" or raw[:2] in ("e'", "E'"):
        return _only_plain_quotes(where)
    if raw[:2].lower() in ("x'", "b'", "n'", "u&", "r'"):
        return Refused("dpsql has no binary or prefixed texts", at=where, code=120, fix="Write 'text'.")
    if raw[:1].isdigit():
        return SqlError(
            "this is not a plain number", at=where, fix="Write digits, a point, and an exponent: 1000, 0.5, 1e5."
        )
    if raw[:1] == ".":
        return SqlError("this point may be part of a name or of a number", at=where, fix="Write 0.5.")
    if raw == '""':
        return SqlError("a name is empty", at=where, fix='Write a name between the quotes: "name".')
    return SqlError(
        "this cannot be read without guessing",
        at=where,
        why="Databases disagree about it.",
        fix="Put spaces between words; quote unusual names with double quotes.",
    )
