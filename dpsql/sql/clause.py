"""GoogleSQL's additions, taken out of the tokens before sqlglot sees them; what stays keeps its place in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Token, TokenType

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.sql.cursor import Cursor
from dpsql.sql.options import Raw, number, option, raw_of
from dpsql.sql.statement import Bounds, Option, ParameterValue, frozen
from dpsql.sql.tokens import at, between, is_name, quoted, shown, word, words

_CLAUSE = ("SELECT", "WITH", "DIFFERENTIAL_PRIVACY")
_BOUNDS = "CONTRIBUTION_BOUNDS_PER_GROUP"
_BOUNDED = ("sum", "avg", "mean", "count")


@dataclass(slots=True)
class _Reader(Cursor):
    """Reads literals off tokens from a place on."""

    parameters: Mapping[int, ParameterValue]

    def expect(self, kind: TokenType, sign: str) -> None:
        if not self.take(kind):
            raise self.wrong(f"{sign} is missing")

    def wrong(self, what: str) -> SqlError:
        token = self.current or self.tokens[-1]
        return SqlError(
            f"{what} near {shown(token)}",
            code=119,
            at=at(token),
            why="Options are name = value, separated by commas; a value is a literal or a parameter.",
            fix="Write for example OPTIONS(epsilon = 0.5, delta = 1e-9).",
        )

    def name(self) -> Token:
        token = self.current
        if token is None or not is_name(token):
            raise self.wrong("the name of an option is missing")
        self.index += 1
        return token

    def value(self) -> Raw:
        """A number with an optional sign, a text, TRUE, FALSE, NULL, a bare name, a parameter, or a list of such."""
        token = self.current
        if token is None:
            raise self.wrong("a value is missing")
        self.index += 1
        match token.token_type:
            case TokenType.DASH | TokenType.PLUS:
                return self._signed(-1 if token.token_type is TokenType.DASH else 1)
            case TokenType.NUMBER:
                return number(token.text)
            case TokenType.DOT:  # .5 is a point and a number to sqlglot
                following = self.current
                self.index += following is not None
                return None if following is None else number(f"0.{following.text}")
            case TokenType.STRING | TokenType.IDENTIFIER:
                return token.text
            case TokenType.PARAMETER:
                self.index += 1
                return raw_of(self.parameters.get(int(self.tokens[self.index - 1].text)))
            case TokenType.L_PAREN:
                return self._list(TokenType.R_PAREN, ")")
            case TokenType.L_BRACKET:
                return self._list(TokenType.R_BRACKET, "]")
            case _:
                return self._word(token)

    def _word(self, token: Token) -> Raw:
        constant: dict[str, Raw] = {"TRUE": True, "FALSE": False, "NULL": None}
        if word(token) in constant:
            return constant[word(token)]
        if not is_name(token):
            self.index -= 1
            raise self.wrong("a value is missing")
        return token.text

    def _signed(self, sign: int) -> Raw:
        token = self.current
        if token is None or token.token_type is not TokenType.NUMBER:
            raise self.wrong("a number is missing")
        self.index += 1
        value = number(token.text)
        return None if value is None else sign * value

    def _list(self, closing: TokenType, sign: str) -> Raw:
        items: list[Raw] = []
        while not self.take(closing):
            if items:
                self.expect(TokenType.COMMA, f", or {sign}")
            item = self.value()
            items.append((item, self.value()) if self.take(TokenType.FARROW) else item)
        return tuple(items)


def take_options(
    tokens: list[Token], parameters: Mapping[int, ParameterValue]
) -> tuple[list[Token], Mapping[str, Option]]:
    """The tokens without the clause, and its options. It may stand once, at the outermost SELECT."""
    places = [i for i in range(len(tokens)) if words(tokens, i, *_CLAUSE)]
    if not places:
        return tokens, frozen({})
    start = _outermost(tokens)
    for place in places:
        if place != start:
            raise SqlError(
                "the privacy options are at an inner SELECT",
                code=119,
                at=between(tokens[place + 1], tokens[place + 2]),
                why="A query has one cost, so its options are written once, at its first outermost SELECT.",
                fix="Move WITH DIFFERENTIAL_PRIVACY OPTIONS(…) there.",
            )
    reader = _Reader(tokens, start + 3, parameters)
    options = _options(reader) if words(tokens, start + 3, "OPTIONS") else {}
    return tokens[: start + 1] + tokens[reader.index :], frozen(options)


def _outermost(tokens: list[Token]) -> int:
    """The first SELECT outside all parentheses, or inside those that open the whole query; -1 without one."""
    depth = opening = 0
    for token in tokens:
        if token.token_type is not TokenType.L_PAREN:
            break
        opening += 1
    for index, token in enumerate(tokens):
        if depth <= opening and index >= opening and word(token) == "SELECT":
            return index if depth in (0, opening) else -1
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
    return -1


def _options(reader: _Reader) -> dict[str, Option]:
    reader.index += 1
    reader.expect(TokenType.L_PAREN, "(")
    options: dict[str, Option] = {}
    while not reader.take(TokenType.R_PAREN):
        if options:
            reader.expect(TokenType.COMMA, ", or )")
        one = assignment(reader)
        if one.name in options:
            raise SqlError(f"the option {one.name} is given twice", code=119, at=one.at, fix="Write it once.")
        options[one.name] = one
    return options


def assignment(reader: _Reader, *, setting: bool = False) -> Option:
    """name = value (for SET also name TO value)."""
    name = reader.name()
    if not (setting and reader.current is not None and word(reader.current) == "TO"):
        reader.expect(TokenType.EQ, "=")
    else:
        reader.index += 1
    start = reader.index
    value = reader.value()
    where = Span(reader.tokens[start].start, reader.tokens[reader.index - 1].end + 1)
    return option(name.text, value, at=where, name_at=at(name), setting=setting)


def setting(tokens: list[Token], index: int, parameters: Mapping[int, ParameterValue]) -> Option:
    """The one assignment of a SET statement, which it must fill."""
    reader = _Reader(tokens, index, parameters)
    option = assignment(reader, setting=True)
    if reader.current is not None:
        raise reader.wrong("the statement does not end here")
    return option


def take_bounds(
    tokens: list[Token], parameters: Mapping[int, ParameterValue]
) -> tuple[list[Token], Mapping[int, Mapping[str, Bounds]]]:
    """The tokens without `, contribution_bounds_per_group => (low, high)`, and the bounds by their call's place."""
    kept: list[Token] = []
    calls: list[Token | None] = []  # of each open parenthesis, the token before it
    bounds: dict[int, Mapping[str, Bounds]] = {}
    index = 0
    while index < len(tokens):
        token = tokens[index]
        named = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.FARROW
        if named and word(token) != _BOUNDS and calls and kept[-1].token_type is TokenType.COMMA:
            raise _unknown_argument(token)
        if named and word(token) == _BOUNDS:
            reader = _Reader(tokens, index + 2, parameters)
            call = _call(calls, kept, token, bounds)
            bounds[call.start] = frozen({fold(_BOUNDS): _bounds(reader, token)})
            kept.pop()
            index = reader.index
            continue
        if token.token_type is TokenType.L_PAREN:
            calls.append(kept[-1] if kept else None)
        elif token.token_type is TokenType.R_PAREN and calls:
            calls.pop()
        kept.append(token)
        index += 1
    return kept, frozen(bounds)


def _unknown_argument(token: Token) -> SqlError:
    per_row = fold(token.text) == "contribution_bounds_per_row"
    return SqlError(
        f"no function has an argument called {token.text}",
        code=119,
        at=at(token),
        fix="Bound the values themselves: CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, 0), 100) END."
        if per_row
        else "SUM and its like take contribution_bounds_per_group => (low, high); write other arguments without names.",
    )


def _call(calls: list[Token | None], kept: list[Token], token: Token, bounds: Mapping[int, object]) -> Token:
    call = calls[-1] if calls else None
    if call is None or quoted(call) or fold(call.text) not in _BOUNDED or kept[-1].token_type is not TokenType.COMMA:
        raise SqlError(
            "contribution_bounds_per_group is in the wrong place",
            code=119,
            at=at(token),
            why=f"It is the last argument of {', '.join(name.upper() for name in _BOUNDED)}.",
            fix="Write for example SUM(x, contribution_bounds_per_group => (0, 900)).",
        )
    if call.start in bounds:
        raise SqlError("contribution_bounds_per_group is given twice", code=119, at=at(token), fix="Write it once.")
    return call


def _bounds(reader: _Reader, name: Token) -> Bounds:
    value = reader.value()
    where = between(name, reader.tokens[reader.index - 1])
    match value:
        case (bool(), _) | (_, bool()):
            pass
        case (int() | Fraction() as low, int() | Fraction() as high) if low <= high:
            return Bounds(Fraction(low), Fraction(high), where)
    raise SqlError(
        "contribution_bounds_per_group takes two numbers, the lower first",
        code=119,
        at=where,
        fix="Write for example contribution_bounds_per_group => (0, 900).",
    )
