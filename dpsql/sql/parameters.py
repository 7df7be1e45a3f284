"""Parameters: ?, $1 and $name become numbered placeholders, each occurrence with its own number and value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import cast
from uuid import UUID

from sqlglot import Token, TokenType

from dpsql.errors import Span, SqlError
from dpsql.sql.options import did_you_mean
from dpsql.sql.statement import ParameterValue, frozen
from dpsql.sql.tokens import at, quoted

Given = Sequence[object] | Mapping[str, object] | None
_PLAIN = (bool, int, float, Decimal, Fraction, str, date, datetime)


def number_parameters(
    tokens: list[Token], given: Given, *, partial: bool = False
) -> tuple[list[Token], Mapping[int, ParameterValue]]:
    """Tokens with every parameter as `$` `k`, and the value of each k; SqlError 109 for missing, mixed, and unused ones.

    partial: the tokens are a part of the statement, and others may use the rest."""
    kept, values = _numbered(tokens, given, partial=partial)
    return kept, frozen({number: _plain(value, where) for number, (value, where) in values.items()})


def public_parameters(tokens: list[Token], given: Given) -> Mapping[int, object]:
    """The value of each parameter of a text that is DuckDB's, also of the kinds that only public data has."""
    _, values = _numbered(tokens, given, partial=False)
    return {number: _public(value, where) for number, (value, where) in values.items()}


def _numbered(
    tokens: list[Token], given: Given, *, partial: bool
) -> tuple[list[Token], Mapping[int, tuple[object, Span]]]:
    binding = _Binding(given)
    kept: list[Token] = []
    following: Token | None
    skip = False
    tokens = _split_casts(tokens)
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if skip:
            skip = False
        elif token.token_type is TokenType.PLACEHOLDER:
            kept += binding.bind("?", len(binding.used) + 1, token, at(token))
        elif token.token_type is TokenType.PARAMETER:
            name = _name(token, following)
            style: str = "$1" if name.text.isdigit() else "$name"
            key = int(name.text) if style == "$1" else name.text
            kept += binding.bind(style, key, token, at(token).join(at(name)))
            skip = True
        else:
            kept.append(token)
    if not partial:
        binding.check_all_used()
    return kept, binding.values


def _split_casts(tokens: list[Token]) -> list[Token]:
    """`?::` is one token to sqlglot."""
    split: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.QDCOLON:
            split.append(_token(TokenType.PLACEHOLDER, "?", token, Span(token.start, token.start + 1)))
            split.append(_token(TokenType.DCOLON, "::", token, Span(token.start + 1, token.end + 1)))
        else:
            split.append(token)
    return split


def _token(kind: TokenType, text: str, like: Token, where: Span) -> Token:
    return Token(kind, text, like.line, like.col, where.start, where.end - 1)


def _name(token: Token, following: Token | None) -> Token:
    if following is None or following.start != token.end + 1 or quoted(following) or not _nameable(following.text):
        raise SqlError("a parameter has no name", code=109, at=at(token), fix="Write ?, $1 or $name.")
    return following


def _nameable(text: str) -> bool:
    return text.isidentifier() or (text.isascii() and text.isdigit() and len(text) < 7)


@dataclass(slots=True)
class _Binding:
    given: Given
    style: str = ""
    used: list[int | str] = field(default_factory=list)
    values: dict[int, tuple[object, Span]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.given is None:
            self.given = ()
        elif isinstance(self.given, (str, bytes)) or not isinstance(self.given, (Sequence, Mapping)):
            raise SqlError("parameters are a list or a dict", code=109, fix="Pass [value, …] or {'name': value, …}.")

    def bind(self, style: str, key: int | str, token: Token, where: Span) -> list[Token]:
        """The placeholder's tokens. A statement uses one spelling of parameters only."""
        if self.style not in ("", style):
            raise SqlError(
                "parameters are spelled in two ways",
                code=109,
                at=where,
                why=f"The statement began with {self.style} and continues with {style}.",
                fix="Use one of ?, $1, $name throughout.",
            )
        self.style = style
        self.used.append(key)
        number = len(self.used)
        self.values[number] = self._value(key, where), where
        dollar = _token(TokenType.PARAMETER, "$", token, where)
        return [dollar, _token(TokenType.NUMBER, str(number), token, where)]

    def _value(self, key: int | str, where: Span) -> object:
        if isinstance(key, str):
            return self._named(key, where)
        if isinstance(self.given, Mapping):
            raise SqlError(
                f"the parameter {self.style} needs a list of values",
                code=109,
                at=where,
                fix="Pass [value, …], or write $name for a dict.",
            )
        values = cast(Sequence[object], self.given)
        if not 1 <= key <= len(values):
            raise SqlError(
                f"parameter {key} has no value",
                code=109,
                at=where,
                why=f"{len(values)} value{'s were' if len(values) != 1 else ' was'} given.",
                fix="Pass one value for each parameter; $1 is the first.",
            )
        return values[key - 1]

    def _named(self, key: str, where: Span) -> object:
        if self.given and not isinstance(self.given, Mapping):
            raise SqlError(
                f"the parameter ${key} needs a dict of values",
                code=109,
                at=where,
                fix=f"Pass {{'{key}': value}}, or write ? for a list.",
            )
        values = self.given if isinstance(self.given, Mapping) else {}
        if key not in values:
            near = did_you_mean(key, tuple(str(name) for name in values))
            raise SqlError(
                f"parameter ${key} has no value",
                code=109,
                at=where,
                why=f"Did you mean ${near}?" if near else "",
                fix=f"Pass {{'{key}': value}}.",
            )
        return values[key]

    def check_all_used(self) -> None:
        names = self.given if isinstance(self.given, Mapping) else range(1, len(self.given or ()) + 1)
        unused = [name for name in names if name not in self.used]
        if unused:
            raise SqlError(
                f"{len(unused)} parameter value{'s are' if len(unused) != 1 else ' is'} not used by the statement",
                code=109,
                why=f"The first is {str(unused[0])[:40]}.",
                fix="Pass exactly one value for each parameter of the statement.",
            )


def plain_values(given: Given) -> list[object] | dict[str, object]:
    """Parameters of a statement that is DuckDB's text: plain values, and the kinds that only public data has."""
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, Mapping)):
        raise SqlError("parameters are a list or a dict", code=109, fix="Pass [value, …] or {'name': value, …}.")
    if isinstance(given, Mapping):
        return {str.__str__(name): _public(value) for name, value in given.items() if isinstance(name, str)}
    return [_public(value) for value in given]


def _public(value: object, where: Span | None = None) -> object:
    match value:
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case timedelta():
            return timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds)
        case time():
            return time.fromisoformat(time.isoformat(value))
        case UUID():
            return UUID(int=value.int)
        case list() | tuple():
            return [_public(one, where) for one in value]
        case dict():
            return {str(name): _public(one, where) for name, one in value.items()}
    plain = _plain(value, where)
    return float(plain) if isinstance(plain, Fraction) else plain


def _plain(value: object, where: Span | None) -> ParameterValue:
    """The value itself; numpy's scalars as Python's. Other types are refused: their text form would be a guess."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    try:
        if value is None or isinstance(value, _PLAIN):
            return _as_plain(value)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise SqlError(
        f"a parameter cannot be a {type(value).__name__}",
        code=109,
        at=where,
        fix="Pass None, a bool, int, float, Decimal, str, date or datetime.",
    )


def _as_plain(value: ParameterValue) -> ParameterValue:
    """The value as its plain type, by that type's own methods: what is made of it later, quoting it in SQL among that, must
    not be code that a subclass brings along."""
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int.__add__(value, 0)
        case float():
            return float.__float__(value)
        case Decimal():
            return Decimal(value)
        case datetime():
            if type(value).__name__ == "NaTType":  # pandas' moment that is none
                raise TypeError("no moment")
            return datetime.combine(datetime.date(value), datetime.timetz(value))
        case date():
            return date.fromordinal(date.toordinal(value))
    if type(value) is not Fraction:
        raise TypeError("a subclass of Fraction")
    return value
