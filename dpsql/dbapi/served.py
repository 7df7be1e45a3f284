"""The forms in which an answer's rows are handed over besides PEP 249's fetch*: frames, Arrow, files, tables to look at.

Each serves all rows, as often as asked, wherever fetching stands.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.display import Shown, html_table, html_text, text_table
from dpsql.dbapi.exports import Exports
from dpsql.engine.scratch_result import ScratchResult
from dpsql.errors import InterfaceError
from dpsql.query import Answer
from dpsql.report.privacy import CostReport, Privacy
from dpsql.sources.file_access import NewFile

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

FORMATS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".pq": "parquet"}
SHOWN_ROWS = 60


class Served(Exports):
    """What a cursor and a frame's result have in common."""

    _answer: Answer | None
    _restricted: bool = False  # whether files may not be written

    @property
    def privacy(self) -> Privacy | None:
        """The privacy report of the answer; None where nothing was released."""
        return None if self._answer is None else self._answer.privacy

    @property
    def cost(self) -> CostReport | None:
        """What the answer cost; None where nothing was released."""
        return None if self.privacy is None else self.privacy.cost

    def df(self) -> pandas.DataFrame:
        """All rows as a pandas DataFrame. Its attrs["privacy"] says what they cost and how far they may be off."""
        frame = self._all_rows().df()
        if self.privacy is not None:
            frame.attrs["privacy"] = self.privacy.to_dict()
        return frame

    def arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow Table."""
        return self._all_rows().arrow()

    def pl(self) -> polars.DataFrame:
        """All rows as a polars DataFrame."""
        return self._all_rows().polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows for whatever reads Arrow; needs no pyarrow."""
        return self._all_rows().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path, format: str | None = None) -> None:  # noqa: A002 - the word all writers use
        """All rows into a file: csv, json or parquet, by the path's ending unless `format` says."""
        if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
            raise InterfaceError("write() takes a path", fix="Write cur.write('answer.csv').")
        target = Path(path)
        chosen = FORMATS.get(target.suffix.lower()) if format is None else format
        if chosen is None:
            raise InterfaceError(
                f"the ending {target.suffix!r} does not name a format", fix="Add format='csv', 'json' or 'parquet'."
            )
        with NewFile(target, restricted=self._restricted) as new:
            self._all_rows().write(new.beside, chosen)

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the first rows with their 95 % intervals, and what they cost."""
        rows = None if self._answer is None else self._answer.rows
        if rows is None or not rows.is_open:
            return None
        if self._answer is not None and self._answer.kind == "explain":  # a text, a line a row
            return html_text([str(line) for (line,) in rows.head(len(rows))])
        return html_table(self._shown())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows in a terminal: the same as text."""
        rows = None if self._answer is None else self._answer.rows
        if rows is None or not rows.is_open or cycle:
            printer.text(repr(self))
        elif self._answer is not None and self._answer.kind == "explain":
            printer.text("\n".join(str(line) for (line,) in rows.head(len(rows))))
        else:
            printer.text(self._as_text())

    def _as_text(self) -> str:
        return text_table(self._shown())

    def _shown(self, most: int | None = None) -> Shown:
        rows = self._all_rows()
        return Shown(
            columns=tuple(column.name for column in rows.columns),
            rows=tuple(rows.head(SHOWN_ROWS if most is None else most)),
            total=len(rows),
            privacy=self.privacy,
        )

    def _all_rows(self) -> ScratchResult:
        rows = self._served().rows
        assert rows is not None
        return rows

    def _served(self) -> Answer:
        """The answer, its rows there; InterfaceError where there is none."""
        raise NotImplementedError  # the class that this is mixed into has it
