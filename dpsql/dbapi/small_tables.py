"""Small tables of our own as results: what SHOW and DESCRIBE answer."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.scratch_result import ScratchResult
from dpsql.plan.dialects.literals import identifier, text
from dpsql.session import Session

Cell = str | float | int | None


def small_table(session: Session, columns: dict[str, str], rows: Sequence[Sequence[Cell]]) -> ScratchResult:
    """A small table of our own as a result."""
    types = list(columns.values())

    def cell(value: Cell, type_: str) -> str:
        if value is None:
            return f"CAST(NULL AS {type_})"
        return text(value) if isinstance(value, str) else f"CAST('{value!r}' AS {type_})"

    lines = [", ".join(cell(v, t) for v, t in zip(row, types, strict=True)) for row in rows]
    names = ", ".join(identifier(name) for name in columns)
    if not lines:
        empty = ", ".join(f"CAST(NULL AS {t}) AS {identifier(n)}" for n, t in columns.items())
        return session.scratch.query(f"SELECT {empty} LIMIT 0")
    values = ", ".join(f"({line})" for line in lines)
    return session.scratch.query(f"SELECT * FROM (VALUES {values}) AS t({names})")
