"""metadata/schema.json is the generated schema, and it knows every field the loader knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsql.metadata import columns, load, schema, sources, tables

STORED = Path(__file__).parents[3] / "metadata" / "schema.json"


def test_it_is_not_stale() -> None:
    assert STORED.read_text(encoding="utf-8") == schema.text(), "run `make schema`"


def test_it_has_the_loader_s_fields() -> None:
    catalog: Any = schema.schema()
    table = catalog["properties"]["tables"]["additionalProperties"]
    column = table["properties"]["columns"]["additionalProperties"]["anyOf"][1]
    form = table["properties"]["format"]
    for part, fields in (
        (catalog, load.CATALOG_FIELDS),
        (table, tables.TABLE_FIELDS),
        (column, columns.COLUMN_FIELDS),
        (form, sources.FORMAT_FIELDS),
    ):
        assert set(part["properties"]) == set(fields)
        assert part["additionalProperties"] is False
