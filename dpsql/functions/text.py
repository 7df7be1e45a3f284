"""Functions of text. None may make its text grow by more than a constant: what would repeat or pad is not here."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval, interval
from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, BOOLEAN, TEXT, Kind, Type
from dpsql.functions.function import (
    Args,
    Domains,
    Spans,
    TypeProblem,
    expect,
    integer_constant,
    row,
    takes,
    text_constant,
)
from dpsql.functions.result import result
from dpsql.functions.sets import Inexact, mapped
from dpsql.ir.expr import Call, Literal

FAR = 2**31 - 1
AS_TEXT = "Use CAST(x AS VARCHAR) to make it text."


def _of_texts(type_: Type) -> Callable[[Args], Type]:
    return takes((Kind.TEXT,), type_, AS_TEXT)


def _ascii(value: Atom) -> str:
    """Python and DuckDB agree on the letters of ASCII; on others their tables may differ."""
    if not isinstance(value, str) or not value.isascii():
        raise Inexact
    return value


def plain(value: Atom) -> str:
    """Text without combining characters or joiners, where a character is a character to everybody."""
    if not isinstance(value, str) or any(ord(c) >= 0x300 for c in value):
        raise Inexact
    return value


def _by(rule: Callable[[str], Atom]) -> Callable[[Call, Domains], Domain]:
    """A function of one text; further arguments are constants that the rule does not need."""

    def domain(call: Call, domains: Domains) -> Domain:
        return result(call, domains, keys=mapped(lambda v: rule(plain(v)), domains[:1]))

    return domain


def _with_constants(rule: Callable[..., Atom]) -> Callable[[Call, Domains], Domain]:
    """A function of one text and constants."""

    def domain(call: Call, domains: Domains) -> Domain:
        rest = [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]
        if None in rest:
            return result(call, domains, nullable=True)
        return result(call, domains, keys=mapped(lambda v: rule(plain(v), *rest), domains[:1]))

    return domain


def _slice_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    for position in range(1, len(args)):
        integer_constant(args, position, "the position or length", -FAR, FAR)
    return TEXT


def _left(text: str, count: int) -> str:
    return text[:count] if count >= 0 else text[: max(0, len(text) + count)]


def _right(text: str, count: int) -> str:
    return text[max(0, len(text) - count) :] if count >= 0 else text[-count:]


def _substring(text: str, start: int, length: int = FAR) -> str:
    if start <= 0 or length < 0:
        raise Inexact
    return text[start - 1 : start - 1 + length]


def _trim_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    if len(args) == 2:
        text_constant(args, 1, "the characters to trim")
    return TEXT


def _count(call: Call, domains: Domains) -> Domain:
    keys = mapped(lambda v: len(plain(v)), domains) if call.function == "length" else None
    return result(call, domains, interval=Interval(interval(0, 0).lower, None), keys=keys)


def _place(call: Call, domains: Domains) -> Domain:
    return result(call, domains, interval=Interval(interval(0, 0).lower, None))


def _replace_type(args: Args) -> Type:
    """The replacement may not be longer than what it replaces: nested, it would multiply the text."""
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    old = text_constant(args, 1, "the text to replace")
    new = text_constant(args, 2, "the replacement")
    if old and len(new.encode("utf-8", "surrogatepass")) > len(old.encode("utf-8", "surrogatepass")):
        raise TypeProblem("the replacement is longer than what it replaces", 2, "Write one that is not longer.")
    return TEXT


def _translate_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    text_constant(args, 1, "the list of characters")
    text_constant(args, 2, "the list of characters")
    return TEXT


def _split_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    text_constant(args, 1, "the separator")
    integer_constant(args, 2, "the part's number", -FAR, FAR)
    return TEXT


def _split(text: str, separator: str, number: int) -> str:
    if not separator or number < 1:
        raise Inexact
    parts = text.split(separator)
    return parts[number - 1] if number <= len(parts) else ""


def _replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else text


JOINED_LIMIT = 32_768
TEXTUAL = (Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def _pair(call: Call, domains: Domains) -> Domain:
    def rule(a: Atom, b: Atom) -> Atom:
        return _text_or_raise(a) + _text_or_raise(b)

    return result(call, domains, keys=mapped(rule, domains, name="||"))


def _text_or_raise(value: Atom) -> str:
    if not isinstance(value, str) or len(value) > JOINED_LIMIT:
        raise Inexact
    return value


def _concat(call: Call, domains: Domains) -> Domain:
    """CONCAT passes NULLs over."""

    def rule(*values: Atom) -> Atom:
        return "".join(_text_or_raise(v) for v in values if v is not None)

    return result(call, domains, keys=mapped(rule, domains, nulls=True, name="concat"), nullable=False)


def _not_negative(call: Call, spans: Spans) -> Range | None:
    return Range(0, 2**63 - 1)


def _trimmed(left: bool, right: bool) -> Callable[[Call, Domains], Domain]:
    def rule(text: str, characters: str = " ") -> str:
        if not characters:
            raise Inexact
        kept = text.lstrip(characters) if left else text
        return kept.rstrip(characters) if right else kept

    return _with_constants(rule)


FUNCTIONS = (
    row("concat", "Both texts, one after the other.", "x || y", 2, takes(TEXTUAL, TEXT), _pair),
    row(
        "concat_all",
        "The texts, one after the other, NULLs ignored.",
        "CONCAT(x, …)",
        (1, None),
        takes(TEXTUAL, TEXT),
        _concat,
    ),
    row("lower", "The text in small letters.", "LOWER(x)", 1, _of_texts(TEXT), _by(lambda s: _ascii(s).lower())),
    row("upper", "The text in capitals.", "UPPER(x)", 1, _of_texts(TEXT), _by(lambda s: _ascii(s).upper())),
    row("left", "The first n characters.", "LEFT(x, n)", 2, _slice_type, _with_constants(_left)),
    row("right", "The last n characters.", "RIGHT(x, n)", 2, _slice_type, _with_constants(_right)),
    row(
        "substring",
        "n characters from a position on (1 is the first).",
        "SUBSTRING(x, start[, n])",
        (2, 3),
        _slice_type,
        _with_constants(_substring),
    ),
    row("trim", "The text without blanks at its ends.", "TRIM(x[, chars])", (1, 2), _trim_type, _trimmed(True, True)),
    row("ltrim", "… at its start.", "LTRIM(x[, chars])", (1, 2), _trim_type, _trimmed(True, False)),
    row("rtrim", "… at its end.", "RTRIM(x[, chars])", (1, 2), _trim_type, _trimmed(False, True)),
    row("reverse", "The text backwards.", "REVERSE(x)", 1, _of_texts(TEXT), _by(lambda s: _ascii(s)[::-1])),
    row(
        "replace",
        "The text with every `old` made `new` (constants, `new` not the longer).",
        "REPLACE(x, old, new)",
        3,
        _replace_type,
        _with_constants(_replace),
    ),
    row(
        "translate",
        "The text with each character of `from` made the one at its place in `to`.",
        "TRANSLATE(x, from, to)",
        3,
        _translate_type,
        result,
    ),
    row(
        "split_part",
        "The n-th part of a text cut at a separator.",
        "SPLIT_PART(x, separator, n)",
        3,
        _split_type,
        _with_constants(_split),
    ),
    row("length", "The number of characters.", "LENGTH(x), LEN(x)", 1, _of_texts(BIGINT), _count, reach=_not_negative),
    row("strlen", "The number of bytes.", "STRLEN(x)", 1, _of_texts(BIGINT), _count, reach=_not_negative),
    row("starts_with", "Whether the text begins with another.", "STARTS_WITH(x, y)", 2, _of_texts(BOOLEAN), result),
    row("ends_with", "Whether the text ends with another.", "ENDS_WITH(x, y)", 2, _of_texts(BOOLEAN), result),
    row("contains", "Whether the text holds another.", "CONTAINS(x, y)", 2, _of_texts(BOOLEAN), result),
    row(
        "strpos",
        "Where another text begins in it; 0: nowhere.",
        "STRPOS(x, y), POSITION(y IN x)",
        2,
        _of_texts(BIGINT),
        _place,
        reach=_not_negative,
    ),
)
