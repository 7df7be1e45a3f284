"""Files: from paths and globs to the exact list that may be read, and Parquet's SELECT."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from dpsql.engine.parquet_columns import INTEGERS
from dpsql.engine.quoting import quote_identifier, quote_list
from dpsql.engine.sources import Column, Files
from dpsql.errors import SourceError

_MAGIC = frozenset("*?[")
ROW_NUMBER = "__row"
RELATIVE = "Relative paths start at the folder of the YAML file."
FILE_SHIFT = 40  # rows of one file have numbers below 2^40


def exact_paths(table: str, files: Files) -> tuple[Path, ...]:
    """The files that exist now, absolute, each once, globs and folders expanded and sorted. SourceError 301 if one is
    missing."""
    paths: dict[str, None] = {}
    for path in files.paths:
        for one in _matching(table, path):
            inside = _inside(table, one, files.kind) if os.path.isdir(one) else [one]
            paths.update(dict.fromkeys(_readable(table, name) for name in inside))
    return tuple(Path(name) for name in paths)


def exact_path(table: str, path: Path) -> Path:
    """The one file at a path. SourceError 301 if it is missing."""
    return Path(_readable(table, _absolute(table, path)))


def _absolute(table: str, path: Path) -> str:
    name = os.path.abspath(path)
    if "\0" in name or not _encodable(name):
        raise _missing(table, "its source's path is not text that a file system can hold", "Rename the file.")
    return name


def _matching(table: str, path: Path) -> list[str]:
    """The path itself, or what a glob matches: files, or a folder that it matches alone."""
    name = _absolute(table, path)
    names = [name] if os.path.lexists(name) or not _MAGIC & set(name) else sorted(glob.glob(name, recursive=True))
    names = [one for one in names if os.path.isfile(one)] if len(names) > 1 else names
    if not names:
        raise _missing(table, f"no file matches {name}", RELATIVE)
    return names


def _inside(table: str, folder: str, kind: str) -> list[str]:
    """A folder stands for the files of its kind in it and below, as other programs write them: those whose own name or
    folder begins with a dot or an underscore are not data."""
    readable = sorted(
        os.path.join(path, name)
        for path, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith(f".{kind}") and not _hidden(os.path.join(os.path.relpath(path, folder), name))
    )
    if not readable:
        raise _missing(table, f"the folder {folder} has no .{kind} file", RELATIVE)
    return readable


def _hidden(relative: str) -> bool:
    return any(part[0] in "._" for part in relative.split(os.sep) if part not in ("", os.curdir))


def _readable(table: str, name: str) -> str:
    if not os.path.isfile(name):
        raise _missing(table, f"there is no file {name}", RELATIVE)
    if not os.access(name, os.R_OK):
        raise _missing(table, f"{name} may not be read by this process", "Check its permissions.")
    if _MAGIC & set(name):
        raise _missing(table, f"the name {name} has a character that means a glob (* ? [)", "Rename the file.")
    return name


def _encodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _missing(table: str, what: str, fix: str) -> SourceError:
    return SourceError(f"table {table}: {what}", code=301, fix=fix)


def read_parquet(paths: tuple[Path, ...]) -> str:
    """The rows of Parquet files. Reading is total: bytes that are not UTF-8 become "?", files whose columns differ are
    joined by name. Folder names are not columns."""
    return (
        f"read_parquet({quote_list(str(path) for path in paths)}, union_by_name = {str(len(paths) > 1).lower()},"
        f" hive_partitioning = false, utf8_validation = 'replace', binary_as_string = false)"
    )


def parquet_row_number(column_names: frozenset[str]) -> str:
    """A row's number among all files: known without reading, hence the same in every scan of the same files.

    file_index and file_row_number are virtual columns; where a file has a column of that name, rows are counted.
    """
    if {"file_index", "file_row_number"} & column_names:
        return "row_number() OVER ()"
    return f"(CAST(file_index AS BIGINT) * {1 << FILE_SHIFT} + file_row_number)"


# Printing or casting a far time of these types ends in an internal error of DuckDB; TRY_CAST to TIMESTAMP gives NULL.
CLOCKS = ("TIME", "TIME_NS")
OTHER_TIMES = ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")


GENERATED = "GENERATED"  # before the type of a column that is computed as it is read


def total(column: Column) -> Column:
    """The column as a view shows it: all times are TIMESTAMP, in UTC."""
    return Column(name=column.name, type="TIMESTAMP") if column.type in OTHER_TIMES else column


def item(column: Column) -> str:
    """The SELECT item of a source's column: moments are TIMESTAMP, times of day are on the clock."""
    name = quote_identifier(column.name)
    if column.type in CLOCKS:
        return f"{on_the_clock(name, column.type)} AS {name}"
    return f"TRY_CAST({name} AS TIMESTAMP) AS {name}" if column.type in OTHER_TIMES else name


def on_the_clock(value: str, type_: str) -> str:
    """A time of day, or NULL: DuckDB holds numbers that no clock shows, and fails when it writes one as text."""
    if type_ not in CLOCKS:
        return value
    return f"CASE WHEN {value} BETWEEN {type_} '00:00:00' AND {type_} '24:00:00' THEN {value} END"


def parquet_item(column: Column, *, exact: bool) -> str:
    """The SELECT item of a Parquet column. A real one is read through nextafter(x, x), which is x, a text through
    trim(t, ''), which is t.

    Parquet's statistics leave NaN out, and DuckDB believes them: isnan(x) is FALSE, and x <= 100 TRUE, for a file whose
    largest number is 100, through arithmetic, ABS, LEAST and CAST too. So one person's row, which changes the statistics,
    would change how everybody's NaN is read. Of nextafter nothing is known: every row is looked at by itself. (DuckDB's
    own tables count NaN as their largest value, so what it believes of them is true.)

    Statistics and Bloom filters know texts as they are stored, and a filter asks for them as they are read: where bytes are
    replaced, all rows of a group would be passed over, unless one person's text were such that the group is read.

    exact: replaced bytes could make two texts equal, so a text that may hold one is NULL. Of a whole number DuckDB keeps as
    many bytes as the statistics ask for; where these are not true two numbers would become one. Of xor(n, 0), which is n,
    it keeps all.
    """
    name = quote_identifier(column.name)
    if column.type in ("DOUBLE", "FLOAT"):
        return f"nextafter({name}, {name}) AS {name}"
    if column.type == "VARCHAR":
        value = f"trim({name}, '')"
        shown = f"CASE WHEN contains({value}, '?') THEN NULL ELSE {value} END" if exact else value
        return f"{shown} AS {name}"
    return f"xor({name}, 0) AS {name}" if exact and column.type in INTEGERS else item(column)
