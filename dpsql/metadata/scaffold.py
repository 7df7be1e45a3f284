"""`dpsql init SOURCE`: a first catalog from names and types alone. What only the owner can know is a TODO.

Nothing is taken from the data: no value, no count, no minimum. A suggestion would be read as a fact, and would be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpsql.metadata.lint import IDENTIFIER, PERSON
from dpsql.metadata.yaml_text import scalar_value

DECIMAL = re.compile(r"DECIMAL\(([0-9]+), ?([0-9]+)\)")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./*-]*")
INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|INT|INT[0-9]+)")
TYPES = {
    "BOOLEAN": "boolean",
    "FLOAT": "real",
    "REAL": "real",
    "DOUBLE": "real",
    "DATE": "date",
    "VARCHAR": "text",
    "TEXT": "text",
    "STRING": "text",
    "UUID": "text",
}


def scaffold(
    name: str,
    columns: Sequence[tuple[str, str]],
    source: str,
    *,
    table: str | None = None,
    delimiter: str | None = None,
) -> str:
    """YAML for one table: its columns with the types the engine's words mean, and TODOs. `source` as to be written.

    table: of a database file, its schema and name. delimiter: of a CSV, where it is no comma."""
    place = _quoted(source) if table is None else f"{{database: {_quoted(source)}, table: {_quoted(table)}}}"
    form = "" if delimiter is None else f"\n    format: {{delimiter: {_quoted(delimiter)}}}"
    return "\n".join([*_head(name), *_table(name, columns, place + form), *_columns(columns)]) + "\n"


def _head(name: str) -> Iterator[str]:
    yield f"dataset: {_quoted(name)}   # the account queries are charged to"
    yield "version: TODO              # of the data, such as 2026-11: repeats of a query are free while it stays"
    yield "unit: TODO                 # the privacy unit: who is protected, in words: patient, household, device"
    yield "# units: 5000              # at least so many, if that is public anyway: a promise, never a count of the data"
    yield "budget: {epsilon: TODO, delta: TODO}      # what all queries together may cost; 10 and 1e-6 are usual"
    yield "per_query: {epsilon: 1, delta: 1.0e-9}    # what a query costs by default"
    yield "# max_delta: 1.0e-6        # the largest δ a query may ask for; 1e-3 if left out"


def _table(name: str, columns: Sequence[tuple[str, str]], source: str) -> Iterator[str]:
    yield "tables:"
    yield f"  {_quoted(_table_name(name))}:"
    yield "    description: TODO      # what a row is"
    yield f"    source: {source}"
    candidates = [column for column, _ in columns if IDENTIFIER.search(column) or PERSON.search(column)]
    candidates.sort(key=lambda column: PERSON.search(column) is None)
    yield "    unit: TODO             # the column that says whose row it is, never empty, the same in every table"
    for column in candidates:
        yield f"    # unit: {_quoted(column)}".rstrip() + "   # perhaps?"
    yield "    rows_per_unit: auto    # contribution limit: rows of one unit that count; better a number for nearly all"
    yield "    # groups_per_unit: 4   # groups of a query in which one unit counts as one; else as many as its rows"


def _columns(columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "    columns:               # remove what analysts must not use: unlisted columns do not exist"
    for name, engine_type in columns:
        type_ = catalog_type(engine_type)
        if type_ is None:
            yield f"      # {_quoted(name)}: {' '.join(engine_type.split())} has no counterpart; left out"
        elif type_ in ("text", "boolean"):
            advice = "   # grouped often? {type: text, keys: [a, b]} if the list is public" if type_ == "text" else ""
            yield f"      {_quoted(name)}: {type_}{advice}"
        else:
            advice = "bounds from knowledge, never from the data: {type: " + type_ + ", lower: …, upper: …}"
            yield f"      {_quoted(name)}: {type_}   # {advice}"


def catalog_type(engine_type: str) -> str | None:
    """The catalog's word for an engine's type; None where there is none (lists, structs, intervals, blobs)."""
    word = " ".join(engine_type.upper().split())
    if INTEGERS.fullmatch(word):
        return "integer"
    if match := DECIMAL.fullmatch(word):
        return f"decimal({match[1]}, {match[2]})"
    if word.startswith(("TIMESTAMP", "DATETIME")):
        return "timestamp"
    if word.startswith(("ENUM(", "VARCHAR(")):
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
