"""One table's rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpsql.catalog.model import ColumnSpec, Format, fold
from dpsql.domain.types import Type
from dpsql.engine.sources import Frame, Source
from dpsql.errors import InterfaceError
from dpsql.testing.cells import Cell, Value, unit_of, value_of

Places = Sequence[int]  # of rows
Written = Callable[[Places, Path], Source]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One table's rows. cells: of a column, by name. rows: those at the places, in that order, as a frame (of a database
    server as a table beside it). written: the same in the source's own format, in a folder.

    count: how many rows the table has. Lines of a CSV that are no row are not counted: nobody has them. unit, value: what
    a cell is as a unit and in its declared type. close: what was made outside of memory and folders is removed."""

    count: int
    cells: Callable[[str], list[Cell]]
    rows: Callable[[Places], object]
    written: Written
    unit: Callable[[Cell, Type], int | str | None] = unit_of
    value: Callable[[Cell, ColumnSpec, Format | None], Value] = value_of
    close: Callable[[], None] = lambda: None


def in_memory(count: int, cells: Callable[[str], list[Cell]], rows: Callable[[Places], object]) -> Copy:
    return Copy(count=count, cells=cells, rows=rows, written=lambda places, folder: Frame(data=rows(places)))


def named_in(names: Sequence[str], name: str) -> str:
    """A column's name as the source spells it."""
    matching = [one for one in names if fold(one) == fold(name)]
    if len(matching) != 1:
        raise InterfaceError(f'the source has no column "{name}"')
    return matching[0]
