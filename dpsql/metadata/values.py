"""Typed values in a catalog: types, bounds and keys. What comes out is in the planner's units (days, microseconds)."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

from dpsql.domain.types import BIGINT, BOOLEAN, DATE, REAL, TEXT, TIMESTAMP, Atom, Kind, Type, decimal, integer_range
from dpsql.metadata.reading import Reader, described, did_you_mean, has_surrogate, quoted
from dpsql.metadata.tree import Scalar, Tree, Unreadable
from dpsql.metadata.yaml_text import moment

TYPES = {"boolean": BOOLEAN, "integer": BIGINT, "real": REAL, "date": DATE, "timestamp": TIMESTAMP, "text": TEXT}
TYPE_WORDS = "boolean, integer, decimal(p, s), real, date, timestamp, text"
OTHER_WORDS = {
    "bool": "boolean",
    "int": "integer",
    "int64": "integer",
    "int32": "integer",
    "bigint": "integer",
    "smallint": "integer",
    "float": "real",
    "float64": "real",
    "double": "real",
    "number": "real",
    "numeric": "decimal(18, 2)",
    "decimal": "decimal(18, 2)",
    "datetime": "timestamp",
    "timestamptz": "timestamp",
    "string": "text",
    "str": "text",
    "varchar": "text",
    "char": "text",
    "object": "text",
}
DECIMAL = re.compile(r"decimal ?\( ?([0-9]{1,9}) ?, ?([0-9]{1,9}) ?\)")
EPOCH = datetime.date(1970, 1, 1)
EPOCH_TIME = datetime.datetime(1970, 1, 1)
LARGEST_REAL = Fraction(2**1024 - 2**970)


def read_type(reader: Reader, tree: Tree) -> Type | None:
    """One of the catalog's seven types."""
    if not isinstance(tree, Scalar) or not isinstance(tree.value, str):
        reader.problem(tree.where, f"a type must be a word, not {described(tree)}", f"write one of {TYPE_WORDS}")
        return None
    word = " ".join(tree.value.split())
    if word in TYPES:
        return TYPES[word]
    if match := DECIMAL.fullmatch(word):
        precision, scale = int(match[1]), int(match[2])
        if 1 <= precision <= 38 and scale <= precision:
            return decimal(precision, scale)
        fix = "decimal(p, s) has p from 1 to 38 and s from 0 to p"
        reader.problem(tree.where, f"there is no type {quoted(word)}", fix)
        return None
    other = OTHER_WORDS.get(word.casefold())
    fix = f"write {other}" if other else did_you_mean(word, TYPES)
    reader.problem(tree.where, f"there is no type {quoted(word)}", fix if "?" in fix or other else f"use {TYPE_WORDS}")
    return None


def read_bound(reader: Reader, tree: Tree, type_: Type, what: str) -> Fraction | None:
    """A bound of an orderable column, exact, in the planner's units."""
    if type_.kind in (Kind.TEXT, Kind.BOOLEAN):
        reader.problem(tree.where, f"{article(type_)} column cannot have bounds", f"remove {what}, or declare keys")
        return None
    value = _atom(reader, tree, type_, what)
    return None if value is None or isinstance(value, str) else Fraction(value)


def read_key(reader: Reader, tree: Tree, type_: Type) -> tuple[Atom] | None:
    """One entry of a key list, in a tuple because it may be NULL; None after a problem."""
    if isinstance(tree, Scalar) and tree.value is None:
        if tree.text == "null":
            return (None,)
        fix = "write null for NULL, or quotes around text"
        reader.problem(tree.where, f"the key {quoted(tree.text)} is ambiguous", fix)
        return None
    value = _atom(reader, tree, type_, "the key")
    return None if value is None else (value,)


def _atom(reader: Reader, tree: Tree, type_: Type, what: str) -> Atom:
    """The value as an Atom of the type, or None after a problem."""
    value = tree.value if isinstance(tree, Scalar) else Unreadable("")
    match type_.kind:
        case Kind.BOOLEAN if isinstance(value, bool):
            return value
        case Kind.TEXT if isinstance(value, str) and not has_surrogate(value) and "\0" not in value:
            return value
        case Kind.INTEGER | Kind.DECIMAL | Kind.REAL if isinstance(value, int | Fraction) and not isinstance(
            value, bool
        ):
            return _number(reader, tree, Fraction(value), type_, what)
        case Kind.DATE | Kind.TIMESTAMP:
            parsed = moment(value) if isinstance(value, str) else value
            if isinstance(parsed, datetime.date) and (units := _since_epoch(parsed, type_)) is not None:
                return units
    fix = {
        Kind.BOOLEAN: "write true or false",
        Kind.TEXT: f'write it in quotes: "{tree.text if isinstance(tree, Scalar) else ""}"',
        Kind.DATE: "write a date as 2020-12-31",
        Kind.TIMESTAMP: "write a timestamp as 2020-12-31 23:59:59, without a zone",
    }.get(type_.kind, "write a number")
    reader.problem(tree.where, f"{what} of {article(type_)} column cannot be {described(tree)}", fix)
    return None


def _number(reader: Reader, tree: Tree, value: Fraction, type_: Type, what: str) -> Atom:
    if type_.kind is Kind.REAL:
        if abs(value) <= LARGEST_REAL:
            return value if what in ("lower", "upper") else float(value)
        reader.problem(tree.where, f"{what} is too large for a real", "write a number below 1.7e308")
        return None
    steps = value * 10**type_.scale
    low, high = (
        integer_range(type_) if type_.kind is Kind.INTEGER else (1 - 10**type_.precision, 10**type_.precision - 1)
    )
    if steps.denominator != 1 or not low <= steps.numerator <= high:
        reader.problem(
            tree.where, f"{what} {described(tree)} is not a valid {type_}", "use a value the column can hold"
        )
        return None
    return value.numerator if type_.kind is Kind.INTEGER else value


def article(type_: Type) -> str:
    return f"an {type_}" if type_.kind is Kind.INTEGER else f"a {type_}"


def _since_epoch(value: datetime.date, type_: Type) -> int | None:
    """Days or microseconds since 1970; a date serves as the timestamp of its midnight, nothing else is converted."""
    if type_.kind is Kind.DATE:
        return None if isinstance(value, datetime.datetime) else (value - EPOCH).days
    if not isinstance(value, datetime.datetime):
        return (value - EPOCH).days * 86_400_000_000
    if value.tzinfo is not None:
        return None
    return (datetime.datetime(*value.timetuple()[:6], value.microsecond) - EPOCH_TIME) // datetime.timedelta(
        microseconds=1
    )
