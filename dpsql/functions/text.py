"""Functions of text. None may make its text grow by more than a constant: what would repeat or pad is not here."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.facts import Domain
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
from dpsql.functions.result import reaching, result
from dpsql.ir.expr import Call

FAR = 2**31 - 1
AS_TEXT = "Use CAST(x AS VARCHAR) to make it text."


def _of_texts(type_: Type) -> Callable[[Args], Type]:
    return takes((Kind.TEXT,), type_, AS_TEXT)


def _slice_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    for position in range(1, len(args)):
        integer_constant(args, position, "the position or length", -FAR, FAR)
    return TEXT


def _trim_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,), AS_TEXT)
    if len(args) == 2:
        text_constant(args, 1, "the characters to trim")
    return TEXT


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


JOINED_LIMIT = 32_768
TEXTUAL = (Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def _concat(call: Call, domains: Domains) -> Domain:
    """CONCAT passes NULLs over."""
    return result(call, domains, nullable=False)


def _not_negative(call: Call, spans: Spans) -> Range | None:
    return Range(0, 2**63 - 1)


_size = reaching(_not_negative)


FUNCTIONS = (
    row("concat", "Both texts, one after the other.", "x || y", 2, takes(TEXTUAL, TEXT), result),
    row(
        "concat_all",
        "The texts, one after the other; NULLs are ignored.",
        "CONCAT(x, …)",
        (1, None),
        takes(TEXTUAL, TEXT),
        _concat,
    ),
    row("lower", "The text in lower case.", "LOWER(x)", 1, _of_texts(TEXT), result),
    row("upper", "The text in upper case.", "UPPER(x)", 1, _of_texts(TEXT), result),
    row("left", "The first n characters.", "LEFT(x, n)", 2, _slice_type, result),
    row("right", "The last n characters.", "RIGHT(x, n)", 2, _slice_type, result),
    row(
        "substring",
        "n characters from a position on (1 is the first).",
        "SUBSTRING(x, start[, n])",
        (2, 3),
        _slice_type,
        result,
    ),
    row("trim", "The text without blanks at its ends.", "TRIM(x[, chars])", (1, 2), _trim_type, result),
    row("ltrim", "… at its start.", "LTRIM(x[, chars])", (1, 2), _trim_type, result),
    row("rtrim", "… at its end.", "RTRIM(x[, chars])", (1, 2), _trim_type, result),
    row("reverse", "The text backwards.", "REVERSE(x)", 1, _of_texts(TEXT), result),
    row(
        "replace",
        "The text with every `old` replaced by `new` (both constants; `new` must not be longer).",
        "REPLACE(x, old, new)",
        3,
        _replace_type,
        result,
    ),
    row(
        "translate",
        "The text with each character of `from` replaced by the one at the same place in `to`.",
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
        result,
    ),
    row("length", "The number of characters.", "LENGTH(x), LEN(x)", 1, _of_texts(BIGINT), _size, reach=_not_negative),
    row("strlen", "The number of bytes.", "STRLEN(x)", 1, _of_texts(BIGINT), _size, reach=_not_negative),
    row("starts_with", "Whether the text begins with another.", "STARTS_WITH(x, y)", 2, _of_texts(BOOLEAN), result),
    row("ends_with", "Whether the text ends with another.", "ENDS_WITH(x, y)", 2, _of_texts(BOOLEAN), result),
    row("contains", "Whether the text contains another.", "CONTAINS(x, y)", 2, _of_texts(BOOLEAN), result),
    row(
        "strpos",
        "Where another text begins in it; 0 if nowhere.",
        "STRPOS(x, y), POSITION(y IN x)",
        2,
        _of_texts(BIGINT),
        _size,
        reach=_not_negative,
    ),
)
