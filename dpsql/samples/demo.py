"""`python -m dpsql.samples.demo` (make demo): three questions to the hospital, each with its privacy report.

The data is made up and made anew in a temporary folder, so the demo's budget is full every time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import dpsql
from dpsql.samples.prepare import prepare

QUERIES = (
    "SELECT specialty, COUNT(*) AS visits, AVG(duration) AS minutes FROM visits GROUP BY specialty",
    "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE duration > 60",
    "SELECT referrer, COUNT(*) AS n FROM visits GROUP BY referrer ORDER BY n DESC",
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="dpsql-demo-") as folder:
        connection = dpsql.connect(prepare("hospital", Path(folder)))
        try:
            for sql in QUERIES:
                print(f"\n{sql}\n")
                cursor = connection.execute(sql)
                print(table([column[0] for column in cursor.description or ()], cursor.fetchall()))
                print(f"\n{cursor.privacy}")
            print(f"\nbudget left: {connection.budget.left}")
        finally:
            connection.close()


def table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of equal width, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(_aligned(text, width) for text, width in zip(line, widths, strict=True)) for line in lines
    )


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _aligned(text: str, width: int) -> str:
    return text.rjust(width) if text[:1].isdigit() or text[:1] == "-" else text.ljust(width)


if __name__ == "__main__":
    main()
