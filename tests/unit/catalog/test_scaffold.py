"""`dpsql init` writes a catalog that loads as soon as its TODOs are answered, whatever the names are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpsql.catalog.model import fold
from dpsql.errors import CatalogError
from dpsql.metadata.load import loads
from dpsql.metadata.scaffold import catalog_type, scaffold

COLUMNS = [
    ("patient_id", "BIGINT"),
    ("d", "DATE"),
    ("price", "DECIMAL(9,2)"),
    ("s", "STRUCT(a INTEGER)"),
    ("no", "VARCHAR"),
]


def answered(text: str, unit: str) -> str:
    """The text with every TODO answered; the table's unit is the last `unit: TODO`."""
    for field, answer in (("epsilon", "10"), ("delta", "1e-6"), ("rows_per_unit", "12")):
        text = text.replace(f"{field}: TODO", f"{field}: {answer}")
    return text.replace("unit: TODO  ", "unit: words", 1).replace("unit: TODO", f"unit: {unit}")


def test_it_does_not_load_before_the_owner_has_answered() -> None:
    with pytest.raises(CatalogError) as caught:
        loads(scaffold("visits", COLUMNS, "visits.parquet"))
    shown = str(caught.value)
    for field in ("epsilon", "delta", 'the unit "TODO"'):
        assert field in shown


def test_it_loads_after() -> None:
    text = scaffold("visits", COLUMNS, "visits.parquet")
    assert "# unit: patient_id   # perhaps?" in text
    assert "# s: STRUCT(a INTEGER) has no counterpart" in text
    table = loads(answered(text, "patient_id")).tables[0]
    assert [(column.name, str(column.type)) for column in table.columns] == [
        ("patient_id", "integer"),
        ("d", "date"),
        ("price", "decimal(9, 2)"),
        ("no", "text"),
    ]


NAMES = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=12).filter(str.strip)


@example(["x"], "<<")
@given(st.lists(NAMES, min_size=1, max_size=5, unique_by=fold), NAMES)
def test_any_names_come_back(names: list[str], table: str) -> None:
    text = scaffold(table, [("u", "BIGINT"), *((f"c{name}", "VARCHAR") for name in names)], "x.parquet")
    described = loads(answered(text, "u")).tables[0]
    assert [column.name for column in described.columns] == ["u", *(f"c{name}" for name in names)]
    assert described.name == table.replace(".", "_")


@pytest.mark.parametrize(
    ("engine", "word"),
    [
        ("UTINYINT", "integer"),
        ("HUGEINT", "integer"),
        ("double", "real"),
        ("DECIMAL(18,3)", "decimal(18, 3)"),
        ("TIMESTAMP WITH TIME ZONE", "timestamp"),
        ("TIMESTAMP_NS", "timestamp"),
        ("ENUM('a', 'b')", "text"),
        ("UUID", "text"),
        ("INTEGER[]", None),
        ("INTERVAL", None),
        ("BLOB", None),
        ("TIME", None),
    ],
)
def test_types(engine: str, word: str | None) -> None:
    assert catalog_type(engine) == word
