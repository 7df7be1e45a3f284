"""The shell's output modes: one file each, and this explicit tuple.

To add one: a file with a `Mode`, a line here, a line in help/shell.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.shell.output.csv_text import CSV
from dpsql.shell.output.html import HTML
from dpsql.shell.output.json_text import JSON, JSONL
from dpsql.shell.output.lines import LINE
from dpsql.shell.output.markdown import MARKDOWN
from dpsql.shell.output.mode import Mode, Page
from dpsql.shell.output.parquet import PARQUET
from dpsql.shell.output.plot import PLOT
from dpsql.shell.output.table import TABLE
from dpsql.shell.stderr import did_you_mean

MODES: tuple[Mode, ...] = (TABLE, LINE, CSV, JSON, JSONL, MARKDOWN, HTML, PARQUET, PLOT)
BY_NAME: Mapping[str, Mode] = {mode.name: mode for mode in MODES}
NAMES = tuple(BY_NAME)


def mode_named(name: str) -> Mode:
    mode = BY_NAME.get(name.lower()) or mode_of_file(Path(f"result.{name}"))  # .mode md is what it says
    if mode is None:
        raise InterfaceError(
            f'there is no output mode "{name[:40]}"',
            code=621,
            why=did_you_mean(name, NAMES).strip(),
            fix=f"There are {', '.join(NAMES)}.",
        )
    return mode


def mode_of_file(path: Path) -> Mode | None:
    """The mode that a file's name asks for."""
    return next((mode for mode in MODES if path.suffix.lower() in mode.suffixes), None)


__all__ = ["BY_NAME", "MODES", "NAMES", "Mode", "Page", "mode_named", "mode_of_file"]
