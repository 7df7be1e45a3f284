"""The JSON Schema of a catalog, for editors: completion, and red lines while the owner writes.

`python -m dpsql.metadata.schema` prints it; metadata/schema.json is that text, and a test fails when it is stale. It
says less than the loader checks: what needs two fields to be seen together is the loader's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dpsql.metadata.clusters import SPARK_FIELDS
from dpsql.metadata.columns import COLUMN_FIELDS
from dpsql.metadata.delta import MOST_UNITS
from dpsql.metadata.limits import AUTO, LARGEST_CAP, LIMIT_MEANING, NEWER
from dpsql.metadata.load import CATALOG_FIELDS
from dpsql.metadata.servers import FIELDS, LONGEST_TIMEOUT
from dpsql.metadata.sources import CELL_FIELDS, DECIMALS, FORMAT_FIELDS, THOUSANDS
from dpsql.metadata.tables import TABLE_FIELDS

Json = dict[str, object]

TEXT: Json = {"type": "string", "minLength": 1}
WORDS: Json = {"type": ["string", "number"]}
FLAG: Json = {"type": "boolean"}
VALUE: Json = {"type": ["string", "number", "boolean", "null"]}
BOUND: Json = {"type": ["number", "string"]}
CAP: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST_CAP}
EPSILON: Json = {
    "type": "number",
    "exclusiveMinimum": 0,
    "description": "ε, the price of a query and the strength of the guarantee",
}
DELTA: Json = {
    "type": "number",
    "minimum": 0,
    "exclusiveMaximum": 1,
    "description": "δ, the probability with which the guarantee may fail; far below 1 / number of units",
}
TYPE: Json = {
    "anyOf": [
        {"enum": ["boolean", "integer", "real", "date", "timestamp", "text"]},
        {"type": "string", "pattern": "^decimal ?\\( ?[0-9]+ ?, ?[0-9]+ ?\\)$"},
    ]
}


def schema() -> Json:
    """The schema of dpsql's own format."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dpsql metadata",
        **_object(_catalog(), CATALOG_FIELDS, required=("tables",)),
    }


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _object(properties: Mapping[str, object], fields: Iterable[str], required: Iterable[str] = ()) -> Json:
    """An object with exactly these fields; a field without a description here is a KeyError, so none is forgotten."""
    schema: Json = {"type": "object", "properties": {name: properties[name] for name in fields}}
    return {**schema, "required": list(required), "additionalProperties": False}


def _map(value: Json) -> Json:
    return {"type": "object", "additionalProperties": value}


def _said(value: Json, description: str) -> Json:
    return {**value, "description": description}


def _catalog() -> Json:
    amount: Json = {"epsilon": EPSILON, "delta": DELTA}
    per: Json = {"enum": ["month"], "description": "the budget is renewed with every calendar month (UTC)"}
    return {
        "dataset": _said(TEXT, "the account that queries are charged to; by default the file's name"),
        "version": _said(WORDS, "of the data; repeats of a query are free as long as it stays the same"),
        "unit": _said(TEXT, "the privacy unit: who is protected, in words"),
        "units": _said(
            {"type": "integer", "minimum": 1, "maximum": MOST_UNITS},
            "at least so many are protected: a public promise, never a count",
        ),
        "budget": _said(
            _object({**amount, "per": per}, ("epsilon", "delta", "per"), ("epsilon",)),
            "the most that all queries together may cost",
        ),
        "per_query": _said(_object(amount, ("epsilon", "delta")), "what a query costs by default; not a cap"),
        "max_per_query": _said(_object(amount, ("epsilon", "delta")), "the most a single query may cost: a cap"),
        "max_delta": _said(DELTA, "the largest δ a query may ask for; 1e-3 if left out"),
        "accounting": {
            "enum": ["approx", "zcdp"],
            "description": "the accountant. approx: ε and δ add up; zcdp: ρ adds up",
        },
        "delta_keys": _said(
            DELTA, "under zcdp: the part of δ kept for the thresholds of private keys; by default half"
        ),
        "analysts": _said(
            _map(_object(amount, ("epsilon", "delta"))),
            "the analysts, each with a cap inside the budget; nobody else may ask",
        ),
        "ledger": _said(TEXT, "where the ledger is; if left out, <metadata>.ledger"),
        "temp_folder": _said(TEXT, "the folder for rows that do not fit into memory; if left out, the system's"),
        "restricted": _said(FLAG, "true: analysts have no files, no editor, no scripts, no source= and no ledger="),
        "tables": _said(_map(_object(_table(), TABLE_FIELDS, ("columns",))), "tables that are not listed do not exist"),
        "views": _said(_map(TEXT), "named SELECT statements"),
    }


def _database() -> Json:
    return {
        "database": _said(TEXT, "a .duckdb file, or postgresql://user@host/database; never with a password"),
        "table": _said(TEXT, "schema.name"),
        "password_file": _said(TEXT, "PostgreSQL: a file whose first line is the password"),
        "timeout": _said(
            {"type": "integer", "minimum": 1, "maximum": LONGEST_TIMEOUT},
            "PostgreSQL: seconds a statement may take; 3600",
        ),
        "system": _said(
            {"type": ["string", "integer"]}, "PostgreSQL: the system identifier that the server must have, quoted"
        ),
    }


def _table() -> Json:
    path = _object({"through": TEXT, "on": _map(TEXT)}, ("through", "on"), ("through", "on"))
    database = _object(_database(), FIELDS, ("database", "table"))
    names: Json = {"type": "array", "items": TEXT, "minItems": 1}
    spark = _object(_spark(names), SPARK_FIELDS, ("spark",))
    limits = ("groups_per_unit", "max_groups", "max_rows")
    caps = _object({"by": names, **dict.fromkeys(limits, CAP)}, ("by", *limits), ("by",))
    pair: Json = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return {
        "description": WORDS,
        "source": {
            "anyOf": [TEXT, names, database, spark],
            "description": "path, glob, folder of Parquet files, list of them, or {database, table}, relative to this file; "
            "or postgresql://user@host/database, or sc://host of Spark",
        },
        "format": _said(_object(_format(), FORMAT_FIELDS), "how a CSV is written; dpsql guesses nothing"),
        "public": _said(FLAG, "a table about nobody, free to read"),
        "unit": {
            "anyOf": [TEXT, path],
            "description": "the privacy unit: the column that tells whose row it is, or the path to a table that has one",
        },
        "row_is_unit": _said(FLAG, "each row is one unit; only where no other table is private"),
        **{name: _said(_limit(name), meaning) for name, meaning in LIMIT_MEANING.items()},
        "caps": {"type": "array", "items": caps, "description": "other contribution limits for certain keys"},
        "min_units": _said(
            CAP,
            "partition selection releases private keys only if at least "
            "so many units have them; the threshold is that much higher",
        ),
        "max_sum": _said(_map(pair), "clipping bounds of the total that one unit adds to one group's SUM, by column"),
        "columns": _said(_map({"anyOf": [TYPE, _column()]}), "columns that are not listed do not exist"),
    }


def _spark(names: Json) -> Json:
    return {
        "spark": _said(TEXT, "where Spark is: sc://host, spark://host:7077, local[4]; never a token"),
        "table": _said(TEXT, "catalog.schema.name"),
        "files": {
            "anyOf": [TEXT, names],
            "description": "addresses of Parquet files, as all machines of the cluster know them",
        },
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "maximum": LONGEST_TIMEOUT,
            "description": "seconds of a statement",
        },
    }


def _format() -> Json:
    character: Json = {"type": "string", "minLength": 1, "maxLength": 1}
    optional: Json = {"type": "string", "maxLength": 1}
    written: Json = {"type": "string", "pattern": "%"}
    words: Json = {"anyOf": [VALUE, {"type": "array", "items": VALUE, "minItems": 1}]}
    return {
        "delimiter": character,
        "quote": optional,
        "escape": optional,
        "date_format": written,
        "timestamp_format": written,
        "decimal": _said({"enum": list(DECIMALS)}, "between whole and part of a number"),
        "thousands": _said({"enum": ["", *THOUSANDS]}, "between groups of three digits"),
        "true_words": _said(words, "the words for true, exactly; with false_words"),
        "false_words": _said(words, "the words for false, exactly"),
        "header": FLAG,
    }


def _limit(name: str) -> Json:
    return {"anyOf": [CAP, {"const": AUTO}]} if name in NEWER else CAP


def _column() -> Json:
    span = _object({"from": BOUND, "to": BOUND}, ("from", "to"), ("from",))
    keys: Json = {"anyOf": [{"type": "array", "items": VALUE, "minItems": 1, "uniqueItems": True}, span]}
    properties: Json = {
        "type": TYPE,
        "keys": _said(keys, "public group keys, all released: [a, b], {from: 1, to: 9} or {from: table.column}"),
        "lower": _said(BOUND, "the lower clipping bound: values below count as this"),
        "upper": _said(BOUND, "the upper clipping bound: values above count as this"),
        "bounds": _said(
            {"const": AUTO}, "auto: the first query that needs clipping bounds spends a part of its ε on choosing them"
        ),
        "like": _said({"type": "number", "exclusiveMinimum": 0}, "a typical size of the number, if it has no bounds"),
        "nullable": _said(FLAG, "false: rows where it is NULL are dropped"),
        "unique": _said(FLAG, "no two rows share a value"),
        "format": _said(
            _object(_format(), CELL_FIELDS), "of a CSV: how these cells are written, if not as in the file"
        ),
        "description": WORDS,
    }
    return _object(properties, COLUMN_FIELDS, ("type",))


if __name__ == "__main__":
    print(text(), end="")
