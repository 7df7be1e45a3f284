"""Columns of Parquet files whose reading ends in an error of DuckDB for some values: vault SQL refuses to read these.

Lemma: of the columns that are left DuckDB reads every value that the files can hold. Proof, by type: moments are micro- or
nanoseconds, which DuckDB keeps as they are; a decimal has no more bytes than DuckDB keeps of it, where it has more DuckDB
fails unless the rest is its sign; a column has one type in all files, or types of which DuckDB converts each number to the
common one (TOGETHER). Any other type it would convert while it reads, by a plain cast. Of types that are not listed
(PLAIN) values have a form of their own (JSON, GEOMETRY, VARIANT), and DuckDB fails at one that has not.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.quoting import fold

# Words of such columns' types; what to do about each says plan/dialects/duckdb/reading.py.
MILLISECONDS, TIME, WIDE, SEVERAL, FORMED = (
    "PARQUET MILLISECONDS",
    "PARQUET TIME",
    "PARQUET WIDE DECIMALS",
    "PARQUET SEVERAL TYPES",
    "PARQUET JSON OR ANOTHER FORM",
)
INTEGERS = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT".split())
TOGETHER = (INTEGERS | {"DOUBLE"}, INTEGERS | {"VARCHAR"}, frozenset({"FLOAT", "DOUBLE"}))
PLAIN = INTEGERS | {"BOOLEAN", "FLOAT", "DOUBLE", "DATE", "VARCHAR", "BLOB", "UUID", "INTERVAL"}
PLAIN_OF = ("DECIMAL(", "TIMESTAMP", "STRUCT(", "MAP(")  # nested columns are refused as such
ABSENT = frozenset({"NULL", '"NULL"'})  # of a column without a value
COLUMNS = "name, num_children, type, type_length, logical_type, converted_type, precision, duckdb_type"

# COLUMNS of parquet_schema: of a column, or of what is in it.
Node = tuple[str, int | None, str | None, str | None, str | None, str | None, int | None, str | None]


def raising_columns(nodes: Sequence[Node]) -> dict[str, str]:
    """The top-level columns of Parquet schemas, by folded name, that DuckDB does not read for every value they can hold.

    nodes: of every file in their order: a root, then each column followed by what is nested in it.
    """
    raising: dict[str, str] = {}
    types: dict[str, set[str]] = {}
    open_nodes: list[int] = []  # children still to come, of each node above
    for node in nodes:
        while open_nodes and open_nodes[-1] == 0:
            open_nodes.pop()
        if open_nodes:
            open_nodes[-1] -= 1
        name, children = fold(node[0]), node[1] or 0
        if len(open_nodes) == 1:
            types.setdefault(name, set()).add("nested" if children else node[7] or "")
            word = _raising(node)
            if word is not None:
                raising[name] = word
        open_nodes.append(children)
    return {name: SEVERAL for name, said in types.items() if not _together(said - ABSENT)} | raising


def _together(types: set[str]) -> bool:
    return len(types) < 2 or any(types <= known for known in TOGETHER)


def _raising(node: Node) -> str | None:
    _, children, storage, length, logical, converted, digits, type_ = node
    if children:
        return None if _is_plain(type_ or "") else FORMED
    written = f"{logical or ''} {converted or ''}"
    if "Timestamp" in written and "MILLIS=Milli" in written or "TIMESTAMP_MILLIS" in written:
        return MILLISECONDS
    if "TimeType" in written or "TIME_M" in written:
        return TIME
    if "Decimal" in written or "DECIMAL" in written:
        kept = next((n for n, most in ((2, 4), (4, 9), (8, 18), (16, 38)) if (digits or 0) <= most), 0)
        in_bytes = storage in ("FIXED_LEN_BYTE_ARRAY", "BYTE_ARRAY")
        return WIDE if in_bytes and not 0 < int(length or 0) <= kept else None
    return None if _is_plain(type_ or "") else FORMED


def _is_plain(type_: str) -> bool:
    return type_ in PLAIN | ABSENT or type_.startswith(PLAIN_OF) or type_.endswith("]")
