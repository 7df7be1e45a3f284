"""Released rows as a picture with their 95 % intervals. It needs matplotlib, which dpsql[notebook] brings."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.display import Shown
from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("bar", "barh", "line", "scatter")
GROUP_WIDTH = 0.8


def needs_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401 - whether it is there
    except ModuleNotFoundError:
        raise InterfaceError("this needs matplotlib", fix="Install it: pip install 'dpsql[notebook]'.") from None


def plot(
    shown: Shown,
    kind: str | None = None,
    *,
    x: str | None = None,
    y: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Bars for texts, a line for dates and numbers; a histogram's bins as wide as they are."""
    needs_matplotlib()
    from matplotlib import pyplot

    if not shown.rows:
        raise InterfaceError("there is no row to plot", code=608)
    measured = _measured(shown, x, y)
    labels = _labels(shown, x, measured)
    chosen = kind or ("line" if labels and _in_order(labels) and len(labels) > 1 else "bar")
    if chosen not in KINDS:
        raise InterfaceError(f"kind={kind!r}", code=608, fix=f"Choose one of {', '.join(KINDS)}.")
    axes = pyplot.subplots()[1] if ax is None else ax
    bins = kind is None and tuple(shown.columns[:2]) == ("lower", "upper")
    for number, column in enumerate(measured):
        values, halves = _numbers(shown, column), _halves(shown, column)
        if bins:
            _draw_bins(axes, shown, values, halves, shown.columns[column])
        else:
            _draw(axes, chosen, labels, values, halves, (number, len(measured)), shown.columns[column])
    if len(measured) > 1:
        axes.legend()
    else:
        (axes.set_xlabel if chosen == "barh" else axes.set_ylabel)(shown.columns[measured[0]])
    if title is not None:
        axes.set_title(title)
    return axes


def _measured(shown: Shown, x: str | None, y: str | Sequence[str] | None) -> list[int]:
    """The columns to draw: those that were asked for, else those with intervals, else the numbers."""
    if y is not None:
        return [_column(shown, name) for name in ([y] if isinstance(y, str) else y)]
    halves = shown.half_widths
    columns = [i for i in range(len(shown.columns)) if shown.columns[i] != x]
    with_ends = [i for i in columns if any(row[i] for row in halves)]
    numbers = [i for i in columns if any(_is_number(row[i]) for row in shown.rows)]
    chosen = with_ends or numbers[-1:]
    if not chosen:
        raise InterfaceError("no column of the result is a number", code=608)
    return chosen


def _column(shown: Shown, name: str) -> int:
    if name not in shown.columns:
        raise InterfaceError(f"the result has no column {name!r}", code=608, fix=f"It has {', '.join(shown.columns)}.")
    return shown.columns.index(name)


def _labels(shown: Shown, x: str | None, measured: Sequence[int]) -> list[Any]:
    if x is not None:
        return [row[_column(shown, x)] for row in shown.rows]
    numbers = {*measured, *_measured(shown, None, None)}
    keys = [i for i in range(len(shown.columns)) if i not in numbers]
    if len(keys) == 1 and not any(row[keys[0]] is None for row in shown.rows):
        return [row[keys[0]] for row in shown.rows]
    return [", ".join("NULL" if row[i] is None else str(row[i]) for i in keys) for row in shown.rows]


def _in_order(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, datetime.date) for label in labels)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _numbers(shown: Shown, column: int) -> list[float]:
    return [float(row[column]) if _is_number(row[column]) else float("nan") for row in shown.rows]


def _halves(shown: Shown, column: int) -> list[float] | None:
    halves = [row[column] or 0.0 for row in shown.half_widths]
    return halves if any(halves) else None


def _draw(
    axes: Axes,
    kind: str,
    labels: Sequence[Any],
    values: Sequence[float],
    halves: Sequence[float] | None,
    place: tuple[int, int],
    name: str,
) -> None:
    number, of = place
    if kind in ("line", "scatter"):
        form = "o-" if kind == "line" else "o"
        axes.errorbar(list(labels), list(values), yerr=halves, fmt=form, capsize=3, label=name)
        return
    width = GROUP_WIDTH / of
    at = [i + (number - (of - 1) / 2) * width for i in range(len(labels))]
    texts = [str(label) for label in labels]
    if kind == "bar":
        axes.bar(at, list(values), width, yerr=halves, capsize=3, label=name)
        axes.set_xticks(range(len(texts)), texts, rotation=45 if max(map(len, texts)) > 6 else 0)
    else:
        axes.barh(at, list(values), width, xerr=halves, capsize=3, label=name)
        axes.set_yticks(range(len(texts)), texts)


def _draw_bins(axes: Axes, shown: Shown, values: Sequence[float], halves: Sequence[float] | None, name: str) -> None:
    lower, upper = ([float(row[i]) for row in shown.rows] for i in (0, 1))
    width = [high - low for low, high in zip(lower, upper, strict=True)]
    axes.bar(lower, list(values), width, align="edge", yerr=halves, capsize=3, edgecolor="white", label=name)
