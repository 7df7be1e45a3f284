"""Python objects as text, cell by cell: what a cell becomes depends on that cell alone, and nothing raises."""

from __future__ import annotations

import datetime
import decimal

import numpy as np

from dpsql.engine.sources import Array


def text_cells(cells: Array) -> Array:
    """An object array of str and None with the text of each cell."""
    result = np.empty(len(cells), dtype=object)
    if set(map(type, cells)) <= {str, type(None)} and _all_encodable(cells):
        result[:] = cells
    else:
        result[:] = [text_of(cell) for cell in cells]
    return result


def _all_encodable(cells: Array) -> bool:
    try:
        "".join(cell for cell in cells if cell is not None).encode("utf-8")
    except UnicodeEncodeError:
        return False
    # Two lone surrogates never make one character in a Python text, so joining hides nothing.
    return True


def text_of(cell: object) -> str | None:
    """The text of one cell, in the form that casts back to its type; None where it is missing or has no text."""
    try:
        text = _text(cell)
        if text is not None:
            text.encode("utf-8")
    except Exception:  # a cell is any object at all, and its methods may do anything
        return None
    return text


def _text(cell: object) -> str | None:
    match cell:
        case None:
            return None
        case str():
            return str.__str__(cell)  # what it is equal to: an Enum's own text is its name
        case bool() | np.bool_():
            return "true" if cell else "false"
        case float() | np.floating():
            return None if np.isnan(cell) else repr(float(cell))
        case decimal.Decimal():
            return _decimal(cell)
        case bytes() | bytearray() | memoryview():
            return bytes(cell).decode("utf-8")
        case datetime.datetime():
            return _timestamp(cell)
        case np.datetime64() | np.timedelta64():
            return None if np.isnat(cell) else str(cell).replace("T", " ")
        case _:
            return None if _missing(cell) else str(cell)


def _missing(cell: object) -> bool:
    """pandas' NA and NaT, told by name: pandas need not be loaded."""
    return type(cell).__name__ in ("NAType", "NaTType")


def _decimal(cell: decimal.Decimal) -> str | None:
    if cell.is_nan():
        return None
    return format(cell, "f") if cell.is_finite() and abs(cell.adjusted()) < 100 else str(cell)


def _timestamp(cell: datetime.datetime) -> str | None:
    if _missing(cell):
        return None
    if cell.tzinfo is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return cell.isoformat(sep=" ")
