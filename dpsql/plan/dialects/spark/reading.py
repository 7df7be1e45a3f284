"""How the vault reads a stored column on Spark: as the declared type, NULL where the value has none.

`actual` is a word of engine/spark/describing.py: Spark's name of a type, of which char(n) and varchar(n) are texts; any
other word is said to be unreadable, and why. Decisions: the blanks that pad char(n) are no part of the text; a timestamp
with a time zone is the time in UTC; a text that is not UTF-8 is none; of numbers that are kept as text digits are read,
with a sign, a point and an exponent, of moments yyyy-mm-dd hh:mm:ss. Texts are compared byte by byte, whatever the
column's own collation is. Decimals beyond the digits of their type are no values. Nor are texts of more than 1 MiB:
TRANSLATE may make four times as many bytes of one, and Spark's rows end at 2 GiB.

Lemma: no stored value makes it raise. Proof: every cast that could is try_cast; the session's time zone is UTC, so no
moment is skipped or doubled.
"""

from __future__ import annotations

import re
from fractions import Fraction

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import BIGINT, Kind, Type, decimal
from dpsql.errors import SourceError
from dpsql.plan.dialects.literals import fixed
from dpsql.plan.dialects.spark import reals
from dpsql.plan.dialects.spark.casts import whole_of
from dpsql.plan.dialects.spark.literals import real, text, type_name

WHOLE = ("tinyint", "smallint", "int", "bigint")
REALS = ("float", "double")
MOST_BYTES = 2**20
NUMBER = text(r"\A *[-+]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,2})? *\z")
DAY = r"\A *(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIME = r"([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?"
TRUE, FALSE = "'t', 'true', 'y', 'yes', '1'", "'f', 'false', 'n', 'no', '0'"
FIRST, LAST = "TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"


def read(column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
    """SourceError 307 where no reading of that type is total and plain; for units whose collation takes texts for one."""
    type_ = declared.type
    if is_unit and " collate " in actual:
        raise SourceError(
            f'table {spec.name}: the unit\'s column "{declared.name}" has a collation that takes different texts for equal',
            code=307,
            why="What is one person to Spark would be several to dpsql, which compares texts byte by byte.",
            fix="Write a table in which the column has no collation, or make a column of numbers the unit.",
        )
    column = _held(column, actual)
    if is_unit:
        shown = _unit(column, actual, type_)
    else:
        match type_.kind:
            case Kind.TEXT:
                shown = _text(column, actual)
            case Kind.INTEGER:
                shown = _integer(column, actual)
            case Kind.DECIMAL:
                shown = _decimal(column, actual, type_)
            case Kind.REAL:
                shown = _real(column, actual)
            case Kind.BOOLEAN:
                shown = _boolean(column, actual)
            case Kind.DATE:
                shown = _date(column, actual)
            case _:
                shown = _timestamp(column, actual)
    if shown is None:
        raise SourceError(
            f'table {spec.name}: column "{declared.name}" is {_called(actual)} in Spark, and declared {type_}',
            code=307,
            fix="Declare the type that it has, leave the column out, or convert it in a table.",
        )
    return shown


def _called(actual: str) -> str:
    return actual.partition(":")[2].strip() if actual.startswith("unreadable: ") else actual


def _digits(actual: str) -> Type | None:
    """Of a decimal(p,s)."""
    match = re.fullmatch(r"decimal\((\d+),(\d+)\)", actual)
    return None if match is None else decimal(int(match[1]), int(match[2]))


def _held(column: str, actual: str) -> str:
    """Decimals of the digits that their type says: files have room for others, which Spark takes as they are up to 18
    digits. Of more digits it fails, and reads what it has written itself (engine/spark/foreign.py)."""
    digits = _digits(actual)
    if digits is None or digits.precision > 18:
        return column
    most = fixed(Fraction(10**digits.precision - 1, 10**digits.scale), digits.scale)
    low, high = (f"CAST('{sign}{most}' AS {type_name(digits)})" for sign in ("-", ""))
    return f"CASE WHEN {column} BETWEEN {low} AND {high} THEN {column} END"


def _stored(column: str, actual: str) -> str | None:
    """A text's characters, compared byte by byte; None of what is no text."""
    padded = actual.startswith("char(")
    if not (actual.startswith(("string", "varchar(")) or padded):
        return None
    plain = f"({column} COLLATE UTF8_BINARY)" if " collate " in actual else column
    value = f"trim(TRAILING ' ' FROM {plain})" if padded else plain
    return f"CASE WHEN octet_length({plain}) <= {MOST_BYTES} AND is_valid_utf8({plain}) THEN {value} END"


def _number_of(column: str, actual: str, type_: str) -> str | None:
    """A text's number, NULL where it is none: at most 40 digits on each side and an exponent of two."""
    value = _stored(column, actual)
    return None if value is None else f"CASE WHEN ({value}) RLIKE {NUMBER} THEN try_cast(trim({value}) AS {type_}) END"


def _text(column: str, actual: str) -> str | None:
    if actual in WHOLE or actual in ("boolean", "date", "timestamp_ntz") or _digits(actual) is not None:
        return f"CAST({column} AS STRING)"
    if actual == "timestamp":
        return f"CAST(CAST({column} AS TIMESTAMP_NTZ) AS STRING)"
    return _stored(column, actual)


def _integer(column: str, actual: str) -> str | None:
    """Decimals and texts: halves away from zero; reals: half to even."""
    digits = _digits(actual)
    if actual == "bigint":
        return column
    if actual in WHOLE or actual == "boolean":
        return f"CAST({column} AS BIGINT)"
    if actual in REALS:
        return reals.to_integer(f"CAST({column} AS DOUBLE)")
    if digits is not None:
        return whole_of(column, digits, BIGINT)
    whole = _number_of(column, actual, "DECIMAL(20,0)")
    return None if whole is None else f"try_cast({whole} AS BIGINT)"


def _decimal(column: str, actual: str, type_: Type) -> str | None:
    """Halves away from zero. What is too large before or after rounding is NULL."""
    if actual in WHOLE or _digits(actual) is not None:
        return f"try_cast({column} AS {type_name(type_)})"
    return _number_of(column, actual, type_name(type_))


def _real(column: str, actual: str) -> str | None:
    if actual == "double":
        return column
    if actual in WHOLE or actual == "float" or _digits(actual) is not None:
        return f"CAST({column} AS DOUBLE)"
    return _number_of(column, actual, "DOUBLE")


def _boolean(column: str, actual: str) -> str | None:
    if actual == "boolean":
        return column
    if actual in WHOLE:
        return f"({column} <> 0)"
    value = _stored(column, actual)
    if value is None:
        return None
    return f"CASE WHEN lower({value}) IN ({TRUE}) THEN TRUE WHEN lower({value}) IN ({FALSE}) THEN FALSE END"


def _date(column: str, actual: str) -> str | None:
    match actual:
        case "date":
            return column
        case "timestamp_ntz":
            return f"CAST({column} AS DATE)"
        case "timestamp":
            return f"CAST(CAST({column} AS TIMESTAMP_NTZ) AS DATE)"
        case _:
            return _moment_of(column, actual, "", "DATE")


def _timestamp(column: str, actual: str) -> str | None:
    match actual:
        case "timestamp_ntz":
            return column
        case "timestamp":
            return f"CAST({column} AS TIMESTAMP_NTZ)"
        case "date":  # Spark's dates go further than its timestamps
            usual = f"CAST({column} AS TIMESTAMP_NTZ)"
            far = f"WHEN {column} > DATE'9999-12-31' THEN {LAST} WHEN {column} < DATE'0001-01-01' THEN {FIRST}"
            return f"CASE {far} ELSE {usual} END"
        case _:
            return _moment_of(column, actual, TIME, "TIMESTAMP_NTZ")


def _moment_of(column: str, actual: str, rest: str, type_: str) -> str | None:
    value = _stored(column, actual)
    if value is None:
        return None
    return f"CASE WHEN ({value}) RLIKE {text(DAY + rest + ' *' + chr(92) + 'z')} THEN try_cast(trim({value}) AS {type_}) END"


def _unit(column: str, actual: str, type_: Type) -> str | None:
    """A unit's value in the dataset's unit type; NULL unless the conversion is exact and injective."""
    if type_.kind is Kind.TEXT:
        digits = _digits(actual)  # 1.00 is 1 in a table of whole numbers
        return None if digits is not None and digits.scale else _text(column, actual)
    if type_.kind is not Kind.INTEGER:
        return None
    if actual in WHOLE:
        return _integer(column, actual)
    if actual in REALS:
        value, end = f"CAST({column} AS DOUBLE)", real(2.0**53)
        return f"CASE WHEN abs({value}) < {end} AND rint({value}) = {value} THEN try_cast({value} AS BIGINT) END"
    digits, stored = _digits(actual), _stored(column, actual)
    if digits is not None:
        whole = text(r"\A-?[0-9]+(\.0*)?\z")
        return f"CASE WHEN CAST({column} AS STRING) RLIKE {whole} THEN {whole_of(column, digits, BIGINT)} END"
    if stored is None:
        return None
    pattern = text(r"\A(0|-?[1-9][0-9]{0,17})\z")
    return f"CASE WHEN ({stored}) RLIKE {pattern} THEN try_cast({stored} AS BIGINT) END"
