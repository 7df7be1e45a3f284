"""How the vault reads a stored column on DuckDB: the declared type by TRY_CAST."""

from __future__ import annotations

import re
from fractions import Fraction

from dpsql.catalog.cleaning import ends
from dpsql.catalog.model import ColumnSpec, Format, TableSpec, format_of
from dpsql.domain.types import Kind, Type
from dpsql.errors import SourceError
from dpsql.plan.dialects.literals import fixed, text

RAISING = {  # words of engine/parquet_columns.py
    "PARQUET MILLISECONDS": "Write the file again with microseconds, as DuckDB does: "
    "COPY (FROM 'old.parquet') TO 'new.parquet'.",
    "PARQUET TIME": "Write the file again with the time as text or as seconds.",
    "PARQUET WIDE DECIMALS": "Write the file again with no more bytes than their digits need.",
    "PARQUET SEVERAL TYPES": "Write the files again with one type of the column in all of them.",
    "PARQUET JSON OR ANOTHER FORM": "Write the file again with the column as text.",
}
SEVERAL_FORMS = ("INTERVAL", "TIME WITH TIME ZONE", "VARIANT", "GEOMETRY")  # 1 month is 30 days
FRACTIONS = ("DOUBLE", "FLOAT", "DECIMAL")
WITHIN_BIGINT = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def read(column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
    """The declared type by TRY_CAST."""
    if actual.endswith("]") or actual.startswith(("STRUCT", "MAP", "UNION")):
        raise SourceError(
            f'table {spec.name}: column "{declared.name}" is nested in the source ({actual.split("(")[0]})',
            code=307,
            fix="Declare plain columns only; unnest it in the source.",
        )
    if actual in RAISING and not spec.public:  # a public row may be talked about
        raise SourceError(
            f'table {spec.name}: column "{declared.name}" holds {actual.removeprefix("PARQUET ").lower()} in Parquet',
            code=307,
            why="DuckDB fails at a value out of range or form: one row would decide whether a query is answered.",
            fix=RAISING[actual],
        )
    if actual.startswith("GENERATED ") and not spec.public:
        raise SourceError(
            f'table {spec.name}: column "{declared.name}" is computed as it is read',
            code=307,
            why="DuckDB computes a generated column in each query: where that fails or differs, a person's row would show.",
            fix="Store it in a plain column; or leave it out, and write it under `views:` of the metadata.",
        )
    if is_unit:
        _check_unit(actual, declared, spec)
    column, actual = _convertible(column, actual.removesuffix(" COLLATE"), declared)
    if is_unit:
        return _unit(column, actual, declared.type)
    kind = declared.type.kind
    form = format_of(spec, declared) if actual == "VARCHAR" else None
    written = None if form is None else _written(column, form, declared.type)
    if written is not None:
        return written
    if kind is Kind.TEXT:
        return f'{_text(column, actual)} COLLATE "binary"'
    if actual == declared.type.sql:
        return column
    if kind is Kind.INTEGER and actual in WITHIN_BIGINT:
        return f"CAST({column} AS BIGINT)"
    return f"TRY_CAST({column} AS {declared.type.sql})"


def _written(column: str, form: Format, type_: Type) -> str | None:
    """A CSV's cell in the form that the owner described; None where the type's own form is meant.

    Lemma: it is total, and NULL where the cell is not of that form. Proof: the pattern, the separators and the words are
    constants of the metadata; on a text regexp_full_match, replace and = have a value, CASE without ELSE is NULL where no
    branch is taken, try_strptime and TRY_CAST are NULL where they cannot convert. The result is a value of the type, of
    which `kept` leaves what catalog/cleaning.py says.
    """
    match type_.kind:
        case Kind.DATE | Kind.TIMESTAMP:
            pattern = form.date_format if type_.kind is Kind.DATE else form.timestamp_format
            return None if pattern is None else f"TRY_CAST(try_strptime({column}, {text(pattern)}) AS {type_.sql})"
        case Kind.BOOLEAN if form.true_words:
            true, false = (", ".join(map(text, words)) for words in (form.true_words, form.false_words))
            return f"CASE WHEN {column} IN ({true}) THEN TRUE WHEN {column} IN ({false}) THEN FALSE END"
        case Kind.INTEGER | Kind.DECIMAL | Kind.REAL if (form.decimal, form.thousands) != (".", ""):
            return f"TRY_CAST({_plain_number(column, form)} AS {type_.sql})"
        case _:
            return None


def _plain_number(column: str, form: Format) -> str:
    """The digits without separators, a point for the decimal sign. Groups are of three: 12.34 is not 1234."""
    whole = r"\d+"
    digits = column
    if form.thousands:
        whole = rf"(\d+|\d{{1,3}}({_literally(form.thousands)}\d{{3}})+)"
        digits = f"replace({digits}, {text(form.thousands)}, '')"
    if form.decimal != ".":
        digits = f"replace({digits}, {text(form.decimal)}, '.')"
    point = _literally(form.decimal)
    pattern = rf" *[+-]?({whole}({point}\d*)?|{point}\d+)([eE][+-]?\d{{1,3}})? *"
    return f"CASE WHEN regexp_full_match({column}, {text(pattern)}) THEN {digits} END"


def _literally(separator: str) -> str:
    """As a regular expression: of the separators that metadata may name, only the point means something else there."""
    return separator.replace(".", r"\.")


def _text(column: str, actual: str) -> str:
    """The text of a value. DuckDB fails when it writes the first hours that a TIMESTAMP can hold, and the database with
    it, so there is none of those. It believes that the cast never fails, and may evaluate it before the CASE is asked: what
    is cast is never that early."""
    if actual != "TIMESTAMP":
        return f"TRY_CAST({column} AS VARCHAR)"
    first = "TIMESTAMP '290000-01-01 (BC) 00:00:00'"
    return f"CASE WHEN {column} >= {first} THEN CAST(greatest({column}, {first}) AS VARCHAR) END"


def _convertible(column: str, actual: str, declared: ColumnSpec) -> tuple[str, str]:
    """The column in a form, and of a type, that TRY_CAST takes whatever it holds. A BIGNUM as text: DuckDB fails, and the
    database with it, where one is too large for what it is converted to."""
    if actual == "BIGNUM":
        return f"TRY_CAST({column} AS VARCHAR)", "VARCHAR"
    return (_digits(column, actual, declared) if actual.startswith("DECIMAL") else column), actual


def _digits(column: str, actual: str, declared: ColumnSpec) -> str:
    """A decimal of the digits that its type says, else NULL: Parquet and Arrow may hold others, of which DuckDB believes
    the type, and then fails where it converts them. Bounds on both sides see to it where it is not converted."""
    precision, scale = (int(number) for number in re.findall(r"\d+", actual))
    if actual == declared.type.sql and None not in ends(declared) and precision <= 18:
        return column
    digits = fixed(Fraction(10**precision - 1, 10**scale), scale)
    low, high = (f"CAST('{sign}{digits}' AS {actual})" for sign in ("-", ""))
    # of 128 bits DuckDB also converts the least that a file says it has, and fails at -2^127: not through functions
    value = column if precision <= 18 else f"greatest(least({column}, {high}), {low})"
    return f"CASE WHEN {column} BETWEEN {low} AND {high} THEN {value} END"


def _check_unit(actual: str, declared: ColumnSpec, spec: TableSpec) -> None:
    if actual.endswith(" COLLATE"):
        raise SourceError(
            f'table {spec.name}: the unit\'s column "{declared.name}" has a collation that takes different texts for equal',
            code=307,
            why="What is one person to the database would be several to dpsql, which compares texts byte by byte.",
            fix="Write a table in which the column has no collation, or make a column of numbers the unit.",
        )
    why = _no_unit(actual, declared.type)
    if why is not None:
        raise SourceError(
            f'table {spec.name}: the unit\'s column "{declared.name}" is {actual} in the source',
            code=307,
            why=why,
            fix="Make a column of numbers or texts the unit; declare whole numbers `integer`.",
        )


def _no_unit(actual: str, type_: Type) -> str | None:
    """Why no column of that type says who is who; None where one may."""
    if actual.startswith(SEVERAL_FORMS):
        return "Values of other texts are equal there: one person would be several."
    if actual == "TIMESTAMP":
        return "Moments of nanoseconds are read in microseconds: two people would be one."
    if type_.kind is Kind.TEXT and actual.startswith(FRACTIONS) and not actual.endswith(",0)"):
        return (
            "1 and 1.0 are one number and two texts: one person would be several where another table has whole numbers."
        )
    return None


def _unit(column: str, actual: str, type_: Type) -> str:
    """A unit's value in the dataset's unit type; NULL unless the conversion is exact and injective."""
    if type_.kind is Kind.TEXT:
        converted = column if actual == "VARCHAR" else _text(column, actual)
        return f'{converted} COLLATE "binary"'
    if actual in WITHIN_BIGINT:
        return f"CAST({column} AS BIGINT)"
    if actual in ("DOUBLE", "FLOAT"):
        whole = f"TRY_CAST({column} AS BIGINT)"
        exact = f"CAST({whole} AS DOUBLE) = {column} AND abs({column}) < 9007199254740992"
        return f"CASE WHEN {exact} THEN {whole} END"
    whole = f"TRY_CAST({column} AS BIGINT)"
    return f"CASE WHEN CAST({whole} AS VARCHAR) = CAST({column} AS VARCHAR) THEN {whole} END"
