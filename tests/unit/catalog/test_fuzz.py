"""Whatever is read, load gives a Catalog or a CatalogError, and the same one again; never another exception."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from dpsql.catalog.model import Catalog
from dpsql.errors import CatalogError, Problem
from dpsql.metadata.load import fingerprint, load, loads

METADATA = Path(__file__).parents[3] / "metadata"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(METADATA.glob("*.yaml"))]
BITS = [
    "!!binary", "!!python/name:os.system", "!x", "&a", "*a", "<<: *a", "{", "}", "[", "]", ",", ": ", "- ", "? ", "| ",
    "> ", "'", '"', "#", "\n", "\r", "\t", "\0", "\x85", "\u2028", "\ufeff", "---\n", "...\n", "%YAML 1.1\n", "@", "`",
    "null", "~", "true", "yes", ".nan", ".inf", "-.inf", "1e400", "1e-400", "1e9999999999999999999", "9" * 500, "0x10",
    "2020-02-30", "2020-01-01", "2020-01-01 25:00:00", "0000-01-01", "decimal(9, 2)",
    "decimal(99999999999, 1)", "{from: a.b}",
    "{from: 1, to: 2}", "row_is_unit: true", "public: true", "unit: u", "through: visits", "max_groups: 0",
    "rows_per_unit: auto", "\ud7ff",
]  # fmt: skip
FIELDS = [
    "dataset", "version", "unit", "budget", "epsilon", "delta", "per", "per_query", "max_per_query", "accounting",
    "delta_keys", "analysts",
    "ledger", "tables", "views", "description", "source", "format", "public", "row_is_unit", "max_groups",
    "max_rows", "rows_per_unit", "groups_per_unit", "auto", "caps",
    "by", "min_units", "max_sum", "columns", "type", "keys", "lower", "upper", "nullable", "unique", "from",
    "to", "through",
    "on", "database", "table", "delimiter", "row_privacy", "private_id", "max_ids", "censor_dims", "u", "U",
    "", "a.b", "\0",
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 10**30, 1e-320, float("nan"), float("inf"), Decimal("sNaN"), Fraction(1, 3),
    b"x", object(),
    "u", "U", "integer", "text", "real", "date", "timestamp", "boolean", "decimal(9,2)", "int", "string",
    "month", "zcdp",
    "x.csv", "x.parquet", "*.csv", "\ud800", "\0", "a.b", "tables.u", ";", datetime.date.max, datetime.datetime.min,
    datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.time(), {1}, range(3), 1j,
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.sampled_from([start, start, min(len(text), start + draw(st.integers(0, 40)))]))
        text = text[:start] + draw(st.sampled_from(BITS) | st.text(max_size=4)) + text[stop:]
    return text


NAMES = st.sampled_from(FIELDS) | st.sampled_from(["t", "s", "x"])
TREES: st.SearchStrategy[object] = st.recursive(
    st.sampled_from(VALUES) | st.text(max_size=3) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
COLUMN = st.sampled_from(VALUES) | st.dictionaries(
    st.sampled_from(["type", "keys", "lower", "upper", "nullable", "unique", "private_id"]), TREES, max_size=4
)
COLUMNS = st.dictionaries(st.sampled_from(["u", "U", "x", "y", ""]), COLUMN, max_size=4)
TABLE = st.fixed_dictionaries(
    {},
    optional={
        "columns": COLUMNS,
        "unit": st.sampled_from(["u", "x", {"through": "t", "on": {"x": "u"}}, {"through": "s", "on": {"u": "x"}}])
        | TREES,
        "public": st.booleans(),
        "row_is_unit": st.booleans(),
        "rows_per_unit": st.integers(0, 3) | TREES,
        "groups_per_unit": st.integers(0, 3) | TREES,
        "max_groups": st.integers(0, 3),
        "max_rows": TREES,
        "caps": TREES,
        "max_sum": TREES,
        "source": TREES,
        "format": TREES,
    },
)
OURS = st.fixed_dictionaries(
    {"dataset": st.just("d"), "budget": st.just({"epsilon": 1}) | TREES},
    optional={
        "tables": st.dictionaries(NAMES, TABLE, max_size=3),
        "views": TREES,
        "analysts": TREES,
        "accounting": TREES,
    },
)
THEIRS = st.dictionaries(NAMES, st.dictionaries(NAMES, st.dictionaries(NAMES, COLUMNS | TREES, max_size=3), max_size=2))


def outcome(source: str | Mapping[str, object]) -> tuple[str | None, tuple[Problem, ...]]:
    """The fingerprint of the catalog, or the problems."""
    try:
        catalog = loads(source) if isinstance(source, str) else load(source)
    except CatalogError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.where.isprintable()
            assert problem.what
            str(problem).encode()
        return None, error.problems
    assert isinstance(catalog, Catalog)
    consistent(catalog)
    return fingerprint(catalog), ()


def consistent(catalog: Catalog) -> None:
    """What every part of dpsql that gets a catalog relies on."""
    for table in catalog.tables:
        ways = [table.unit_column is not None, table.unit_path is not None, table.row_is_unit]
        assert sum(ways) == (0 if table.public else 1)
        assert (table.caps is None) == table.public
        if table.caps is not None:
            pair = table.caps.rows is None
            assert pair == (table.caps.rows_in_group is not None)
            assert not pair or table.caps.groups is not None
            assert all(line.groups is not None or (pair and line.rows_in_group) for line in table.key_caps)
            assert pair or all(line.rows_in_group is None for line in table.key_caps)
        assert table.columns
        if table.unit_column is not None:
            unit = table.column(table.unit_column)
            assert unit is not None
            assert unit.type == catalog.unit_type
        for column in table.columns:
            assert not column.interval.is_empty


@given(mutated())
@example("tables: {t: {columns: {u: {type: integer, keys: [*a]}}}}")
def test_any_yaml(text: str) -> None:
    assert outcome(text) == outcome(text)


@given(st.text())
def test_any_text(text: str) -> None:
    outcome(text)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    outcome(data.decode("latin-1"))


@given(OURS | THEIRS | st.dictionaries(NAMES, TREES))
def test_any_dict(source: Mapping[str, object]) -> None:
    assert outcome(source) == outcome(source)
