"""`dpsql init SOURCE`: a first catalog from names and types alone. What only the owner can know is a TODO.

Nothing is taken from the data: no value, no count, no minimum. A suggestion would be read as a fact, and would be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpsql.engine.database_tables import Reference
from dpsql.engine.sources import UNREADABLE
from dpsql.metadata.lint import IDENTIFIER, PERSON
from dpsql.metadata.yaml_text import scalar_value

DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\(([0-9]+), ?([0-9]+)\)")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./*-]*")
INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|INT|INT[0-9]+)")
TYPES = {
    "BOOLEAN": "boolean",
    "FLOAT": "real",
    "REAL": "real",
    "DOUBLE": "real",
    "DOUBLE PRECISION": "real",
    "ENUM": "text",
    "DATE": "date",
    "VARCHAR": "text",
    "TEXT": "text",
    "STRING": "text",
    "CHAR": "text",
    "UUID": "text",
}


def scaffold(
    name: str,
    columns: Sequence[tuple[str, str]],
    source: str,
    *,
    table: str | None = None,
    delimiter: str | None = None,
    engine: str = "database",
) -> str:
    """YAML for one table: its columns with the types the engine's words mean, and TODOs. `source` as to be written.

    table: of a database file, its schema and name. delimiter: of a CSV, where it is no comma. engine: the word before the
    source's address."""
    place = _quoted(source) if table is None else f"{{{engine}: {_quoted(source)}, table: {_quoted(table)}}}"
    form = "" if delimiter is None else f"\n    format: {{delimiter: {_quoted(delimiter)}}}"
    unit = _unit(columns)
    return "\n".join([*_head(name), "tables:", *_table(name, place + form, unit), *_columns(columns)]) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One of several tables. name: schema.name; columns: with the engine's types; primary, references: its declared keys."""

    name: str
    columns: Sequence[tuple[str, str]]
    primary: tuple[str, ...] = ()
    references: Sequence[Reference] = ()

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


def scaffold_all(dataset: str, tables: Sequence[Described], source: str) -> str:
    """YAML for all tables of a database file. A declared foreign key tells how a row without a unit column of its own may
    find its unit; whose data a table holds, and whether it is anybody's, is the owner's to say."""
    lines = [*_head(dataset), "tables:"]
    by_name = {table.name: table for table in tables}
    for table in tables:
        place = f"{{database: {_quoted(source)}, table: {_quoted(table.name)}}}"
        lines += [*_table(table.short, place, _unit_by_keys(table, by_name)), *_columns(table.columns)]
    return "\n".join(lines) + "\n"


def _unit_by_keys(table: Described, tables: Mapping[str, Described]) -> Iterator[str]:
    if table.primary:
        yield f"    # primary key: {', '.join(map(_quoted, table.primary))}"
    for reference in table.references:
        yield f"    # foreign key: {', '.join(map(_quoted, reference.columns))} of {_quoted(reference.table)}"
    yield from _unit(table.columns)
    for reference in table.references:
        to = tables.get(reference.table)
        if to is not None and to is not table and set(reference.to) == set(to.primary):
            pairs = zip(reference.columns, reference.to, strict=True)
            on = ", ".join(f"{_quoted(column)}: {_quoted(target)}" for column, target in pairs)
            yield f"    # unit: {{through: {_quoted(_table_name(to.short))}, on: {{{on}}}}}   # perhaps?"
    yield "    # public: true         # in place of unit and rows_per_unit, if it is about nobody"


def _head(name: str) -> Iterator[str]:
    yield f"dataset: {_quoted(name)}   # the account queries are charged to"
    yield "version: TODO              # of the data, such as 2026-11: repeats of a query are free while it is the same"
    yield "unit: TODO                 # the privacy unit: who is protected, in words: patient, household, device"
    yield "# units: 5000              # at least so many, if that is public anyway: a promise, never a count of the data"
    yield "budget: {epsilon: TODO, delta: TODO}      # what all queries together may cost; 10 and 1e-6 are usual"
    yield "per_query: {epsilon: 1, delta: 1.0e-9}    # what a query costs by default"
    yield "# max_delta: 1.0e-6        # the largest δ a query may ask for; 1e-3 if left out"


def _table(name: str, source: str, unit: Iterable[str]) -> Iterator[str]:
    yield f"  {_quoted(_table_name(name))}:"
    yield "    description: TODO      # what a row is"
    yield f"    source: {source}"
    yield from unit
    yield "    rows_per_unit: auto    # contribution limit: rows of a unit that count; better a number that fits nearly all"
    yield "    # groups_per_unit: 4   # groups of a query in which one unit counts as one; if left out, rows_per_unit"


def _unit(columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    candidates = [column for column, _ in columns if IDENTIFIER.search(column) or PERSON.search(column)]
    candidates.sort(key=lambda column: PERSON.search(column) is None)
    yield "    unit: TODO             # the column that says whose row it is; never empty, and the same in every table"
    for column in candidates:
        yield f"    # unit: {_quoted(column)}".rstrip() + "   # perhaps?"


def _columns(columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "    columns:               # remove what analysts must not use: unlisted columns do not exist"
    for name, engine_type in columns:
        type_ = catalog_type(engine_type)
        if engine_type.startswith(UNREADABLE):
            yield f"      # {_quoted(name)}: {engine_type.removeprefix(UNREADABLE)}; left out"
        elif type_ is None:
            yield f"      # {_quoted(name)}: {' '.join(engine_type.split())} has no counterpart; left out"
        elif type_ in ("text", "boolean"):
            advice = (
                "   # grouped often? {type: text, keys: [a, b]} if the list of keys is public"
                if type_ == "text"
                else ""
            )
            yield f"      {_quoted(name)}: {type_}{advice}"
        else:
            advice = "bounds from knowledge, never from the data: {type: " + type_ + ", lower: …, upper: …}"
            yield f"      {_quoted(name)}: {type_}   # {advice}"


def catalog_type(engine_type: str) -> str | None:
    """The catalog's word for an engine's type; None where there is none (lists, structs, intervals, blobs)."""
    word = " ".join(engine_type.upper().split()).removeprefix("FOLDED ")  # PostgreSQL's collations that take A for a
    if INTEGERS.fullmatch(word):
        return "integer"
    if match := DECIMAL.fullmatch(word):
        return f"decimal({match[1]}, {match[2]})"
    if word == "NUMERIC":  # of any size: a real holds nearly all of it
        return "real"
    if word.startswith(("TIMESTAMP", "DATETIME")):
        return "timestamp"
    if word.startswith(("ENUM(", "VARCHAR(", "VARCHAR COLLATE", "CHAR(", "STRING COLLATE ")):
        return "text"
    return TYPES.get(word)


def _table_name(name: str) -> str:
    return name.replace(".", "_") or "t"


def _quoted(text: str) -> str:
    """Text as a YAML scalar that reads back as the same text: bare where that can be, else quoted and escaped."""
    if PLAIN.fullmatch(text) and scalar_value(text) == text:
        return text
    known = {"\t": "\\t", "\n": "\\n", '"': '\\"', "\\": "\\\\"}
    escaped = (known.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in text)
    return f'"{"".join(escaped)}"'
