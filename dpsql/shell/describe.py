"""What the catalog and the function tables say, as text. Nothing here has seen data."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.catalog.model import Caps, Catalog, ColumnSpec, TableSpec, fold
from dpsql.errors import InterfaceError
from dpsql.plan.dialects.literals import identifier
from dpsql.report.plan_report import bounds_text
from dpsql.sql.bind.scope import unknown_table


def schema(catalog: Catalog, name: str | None = None) -> str:
    """The tables as CREATE TABLE, each line with what the metadata says about it."""
    if name is None:
        views = [f"CREATE VIEW {plain(view)} AS {sql};" for view, sql in catalog.views.items()]
        return "\n\n".join([*(_table(table) for table in catalog.tables), *views])
    view = catalog.view(name)
    if view is not None:
        return f"CREATE VIEW {plain(view)} AS {catalog.views[view]};"
    table = catalog.table(name)
    if table is None:
        raise unknown_table(name, [t.name for t in catalog.tables], None)
    return _table(table)


def _table(table: TableSpec) -> str:
    lines = [f"CREATE TABLE {plain(table.name)} (" + (f"  -- {note}" if (note := _table_note(table)) else "")]
    width = max((len(_column(column)) for column in table.columns), default=0) + 1
    last = len(table.columns) - 1
    for i, column in enumerate(table.columns):
        text = _column(column) + ("," if i < last else "")
        note = "; ".join(column_notes(table, column))
        lines.append(f"  {text.ljust(width)}  -- {note}" if note else f"  {text}")
    return "\n".join([*lines, ");"])


def _table_note(table: TableSpec) -> str:
    notes = [table.description] if table.description else []
    if table.public:
        notes.append("public")
    elif table.row_is_unit:
        notes.append("each row is a unit")
    elif table.caps is not None:
        notes.append(_limits(table.caps))
    return "; ".join(notes)


def _limits(caps: Caps) -> str:
    itself = "" if caps.groups is None else f", and the unit itself in {_many(caps.groups, 'group')}"
    rows = caps.rows_of_a_unit
    return f"{'as many rows as the data choose' if rows is None else _many(rows, 'row')} of a unit{itself}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _column(column: ColumnSpec) -> str:
    return f"{plain(column.name)} {column.type}"


def column_notes(table: TableSpec, column: ColumnSpec) -> Iterator[str]:
    """What the metadata says about a column besides its type."""
    if table.unit_column is not None and fold(table.unit_column) == fold(column.name):
        yield "the unit"
    bounds = bounds_text(column.type, column.interval)
    if bounds:
        yield bounds
    if column.keys is not None:
        yield f"{len(column.keys)} public keys"
    if column.description:
        yield column.description


def plain(name: str) -> str:
    """A name as SQL needs it: bare where that can be."""
    return name if name.isascii() and name.isidentifier() else identifier(name)


def functions(word: str = "") -> str:
    """Aggregates and scalar functions whose name or description has the word."""
    from dpsql.aggregates import AGGREGATES
    from dpsql.functions import FUNCTIONS

    listed = [(a.signature, a.doc) for a in AGGREGATES] + [(f.signature, f.doc) for f in FUNCTIONS.values()]
    matching = [(s, d) for s, d in listed if word.lower() in f"{s} {d}".lower()]
    width = min(40, max((len(signature) for signature, _ in matching), default=0))
    if not matching:
        raise InterfaceError(
            f'nothing has "{word[:40]}" in it', code=625, fix="`.functions` alone lists every function and aggregate."
        )
    return "\n".join(f"{signature.ljust(width)}  {doc}" for signature, doc in matching)
