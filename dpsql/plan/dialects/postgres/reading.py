"""How the vault reads a stored column on PostgreSQL: as the declared type, NULL where the value has none.

`actual` is a word of engine/postgres/describing.py: a base type's name (domains are their base types), numeric with or
without digits, enum, "folded" before a text whose collation takes different texts for equal; any other word is said to be
unreadable, and why. Decisions: the blanks that pad char(n) are no part of the text; a timestamptz is the time in UTC;
infinite moments, NaN and the infinities of numeric are no values; of numbers that are kept as text digits are
read, with a sign, a point and an exponent, of moments yyyy-mm-dd hh:mm:ss. Texts are
compared byte by byte, whatever the column's own collation is: of some of those a regular expression fails. Texts of more
than 1 MiB are no values: functions take up to eight times the text's size at once, and PostgreSQL has 1 GiB for a row.

Lemma: no stored value makes it raise. Proof: every cast is in a branch of a CASE whose condition is about the same column
and keeps it where the cast has an answer. A column is no constant, so nothing is evaluated beforehand.
"""

from __future__ import annotations

import re

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.errors import SourceError
from dpsql.plan.dialects.postgres import reals
from dpsql.plan.dialects.postgres.literals import BYTES, real, type_name
from dpsql.plan.dialects.postgres.numbers import fitted, within_size

WHOLE = ("smallint", "integer", "bigint")
REALS = ("real", "double precision")
TEXTS = ("text", "varchar", "char")
FOLDED = "folded "
MOST_BYTES = 2**20
LEAST, MOST = "numeric '-9223372036854775808.5'", "numeric '9223372036854775807.5'"  # what rounds to 64 bits is between
NUMBER = r"^ *[-+]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,2})? *$"
DAY = r"^ *[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
TIME = r"([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?"
TRUE, FALSE = "'t', 'true', 'y', 'yes', '1'", "'f', 'false', 'n', 'no', '0'"


def read(column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
    """SourceError 307 where no reading of that type is total and plain."""
    type_ = declared.type
    if is_unit and actual.startswith(FOLDED):
        raise SourceError(
            f'table {spec.name}: the unit\'s column "{declared.name}" has a collation that takes different texts for equal',
            code=307,
            why="What is one person to the database would be several to dpsql, which compares texts byte by byte.",
            fix="Give the column a deterministic collation, or make a column of numbers the unit.",
        )
    actual = actual.removeprefix(FOLDED)
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
            f'table {spec.name}: column "{declared.name}" is {_called(actual)} in PostgreSQL, and declared {type_}',
            code=307,
            fix="Declare the type that it has, leave the column out, or convert it in a view.",
        )
    return shown


def _bytes(column: str) -> str:
    return f"(CAST({column} AS text) {BYTES})"


def _called(actual: str) -> str:
    return actual.partition(":")[2].strip() if actual.startswith("unreadable: ") else actual


def _digits(actual: str) -> tuple[int, int] | None:
    """Of a numeric(p,s)."""
    digits = re.fullmatch(r"numeric\((\d+),(\d+)\)", actual)
    return None if digits is None else (int(digits[1]), int(digits[2]))


def _is_numeric(actual: str) -> bool:
    return actual == "numeric" or _digits(actual) is not None


def _number_of(column: str) -> str:
    """A text's number, NULL where it is none: at most 40 digits on each side and an exponent of two."""
    return f"CASE {_too_long(column)} WHEN {_bytes(column)} ~ '{NUMBER}' THEN CAST({_bytes(column)} AS numeric) END"


def _too_long(column: str) -> str:
    """A branch in front of others: of a stored text the server knows its size without reading it."""
    return f"WHEN octet_length({column}) > {MOST_BYTES} THEN NULL"


def _text(column: str, actual: str) -> str | None:
    if actual in TEXTS:
        return f"CASE {_too_long(column)} ELSE {_bytes(column)} END"
    if actual in WHOLE or actual in ("boolean", "uuid", "enum", "date", "timestamp"):
        return _bytes(column)
    if actual == "timestamptz":
        return f"(CAST({column} AT TIME ZONE 'UTC' AS text) {BYTES})"
    if _is_numeric(actual):  # of a numeric without digits 1.0 and 1.00 are one value
        value = f"trim_scale({column})" if actual == "numeric" else column
        return f"(CAST({value} AS text) {BYTES})"
    return None


def _integer(column: str, actual: str) -> str | None:
    if actual == "bigint":
        return column
    if actual in WHOLE:
        return f"CAST({column} AS bigint)"
    if actual in REALS:
        return reals.to_integer(column)
    if actual == "boolean":
        return f"CAST(CAST({column} AS integer) AS bigint)"
    if _is_numeric(actual):
        return f"CASE WHEN {column} > {LEAST} AND {column} < {MOST} THEN CAST({column} AS bigint) END"
    return fitted(f"round({_number_of(column)}, 0)", BIGINT) if actual in TEXTS else None


def _decimal(column: str, actual: str, type_: Type) -> str | None:
    """Halves away from zero. What is too large before or after rounding is NULL."""
    if actual in WHOLE:
        number = f"CAST({column} AS numeric)"
    elif _is_numeric(actual):
        number = column
    elif actual in TEXTS:
        number = _number_of(column)
    else:
        return None
    if _digits(actual) == (type_.precision, type_.scale):
        return f"CASE WHEN {number} <> numeric 'NaN' THEN {number} END"  # the infinities are none of its values
    held = within_size(number, str(10 ** (type_.precision - type_.scale)))
    rounded = within_size(f"round({held}, {type_.scale})", str(10 ** (type_.precision - type_.scale)))
    return f"CAST({rounded} AS {type_name(type_)})"


def _real(column: str, actual: str) -> str | None:
    if actual == "double precision":
        return column
    if actual in WHOLE or actual == "real":
        return f"CAST({column} AS float8)"
    digits = _digits(actual)
    if digits is not None:
        held = f"CASE WHEN {column} <> 'NaN' THEN {column} END"
        return reals.of_exact(held, Type(Kind.DECIMAL, precision=digits[0], scale=digits[1]))
    if actual == "numeric":
        return _of_numeric(column)
    if actual in TEXTS:
        return f"CAST({_number_of(column)} AS float8)"  # between 1e-139 and 1e139, or 0
    return None


def _of_numeric(column: str) -> str:
    """What is below 1e-300 is 0; what is beyond the doubles infinite."""
    most = f"numeric '{2**1024 - 2**970 - 1}'"
    return (
        f"CASE WHEN abs({column}) < numeric '1e-300' THEN {reals.ZERO} "
        f"WHEN abs({column}) <= {most} THEN CAST({column} AS float8) "
        f"WHEN {column} < numeric '0' THEN {reals.MINUS_INFINITY} WHEN {column} <> numeric 'NaN' THEN {reals.INFINITY} END"
    )


def _boolean(column: str, actual: str) -> str | None:
    if actual == "boolean":
        return column
    if actual in WHOLE:
        return f"({column} <> 0)"
    if actual in TEXTS:
        value = f"lower({_bytes(column)})"
        return f"CASE {_too_long(column)} WHEN {value} IN ({TRUE}) THEN TRUE WHEN {value} IN ({FALSE}) THEN FALSE END"
    return None


def _date(column: str, actual: str) -> str | None:
    match actual:
        case "date":
            return column
        case "timestamp":
            return f"CAST({column} AS date)"
        case "timestamptz":
            return f"CAST({column} AT TIME ZONE 'UTC' AS date)"
        case _ if actual in TEXTS:
            return f"CASE WHEN {_is_day(column, ' *$')} THEN CAST(btrim({_bytes(column)}) AS date) END"
        case _:
            return None


def _timestamp(column: str, actual: str) -> str | None:
    match actual:
        case "timestamp":
            return column
        case "timestamptz":
            return f"({column} AT TIME ZONE 'UTC')"
        case "date":  # PostgreSQL's dates go further than its timestamps
            end = "timestamp '9999-12-31 23:59:59.999999'"
            kept = f"CASE WHEN {column} > date '9999-12-31' THEN {end} ELSE CAST({column} AS timestamp) END"
            return f"CASE WHEN isfinite({column}) THEN {kept} END"
        case _ if actual in TEXTS:
            test = _is_day(column, f"{TIME} *$")
            return f"CASE WHEN {test} THEN CAST(btrim({_bytes(column)}) AS timestamp) END"
        case _:
            return None


def _is_day(column: str, rest: str) -> str:
    """Whether a text begins with a day that there is: its number is not above the month's last, and the year not 0."""
    value = f"ltrim({_bytes(column)})"
    year, month, day = (f"CAST(substr({value}, {at}, {n}) AS integer)" for at, n in ((1, 4), (6, 2), (9, 2)))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    february, short = f"CASE WHEN {leap} THEN 29 ELSE 28 END", f"{month} IN (4, 6, 9, 11)"
    last = f"CASE WHEN {month} = 2 THEN {february} WHEN {short} THEN 30 ELSE 31 END"
    return f"CASE {_too_long(column)} WHEN {_bytes(column)} ~ '{DAY}{rest}' THEN {year} > 0 AND {day} <= {last} END"


def _unit(column: str, actual: str, type_: Type) -> str | None:
    """A unit's value in the dataset's unit type: what is equal in PostgreSQL becomes equal, what is not does not."""
    if type_.kind is Kind.TEXT:
        return _text(column, "numeric" if _is_numeric(actual) else actual)  # 1.00 is 1, as in a table of whole numbers
    if type_.kind is not Kind.INTEGER:
        return None
    if actual in WHOLE:
        return _integer(column, actual)
    if actual in REALS:
        end = real(2.0**53)
        return f"CASE WHEN abs({column}) < {end} AND trunc({column}) = {column} THEN CAST({column} AS bigint) END"
    if _is_numeric(actual):
        inside = f"{column} BETWEEN numeric '{-(2**63)}' AND numeric '{2**63 - 1}'"
        return f"CASE WHEN {inside} AND trunc({column}) = {column} THEN CAST({column} AS bigint) END"
    if actual in TEXTS:
        pattern = "^(0|-?[1-9][0-9]{0,17})$"
        return f"CASE {_too_long(column)} WHEN {_bytes(column)} ~ '{pattern}' THEN CAST({_bytes(column)} AS bigint) END"
    return None
