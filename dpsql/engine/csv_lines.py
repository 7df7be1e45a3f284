"""CSV that is never sniffed: DuckDB only cuts the file into physical lines, and SQL over one line makes its fields.

DuckDB's own CSV parser lets a stray quote swallow the rows that follow, so one person's row would change how another's
is read. Here each line stands alone:

- A line ends at \\n, \\r\\n or \\r. Blank lines, lines that are not UTF-8 and lines beyond 2 MB are dropped.
- A delimiter inside quotes does not separate. A line with an unclosed quote or another number of fields is dropped.
- A field that begins and ends with a quote is its inside, with escapes undone; any other field stands as it is, and
  where it is empty it is NULL ("" in quotes is the empty text).

`new_line` must be given: when DuckDB detects it from the data, a lone \\r in one row loses the next row's first
character. Parallel reading was checked against a Python oracle, also with lines across buffers.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path

from dpsql.engine.quoting import quote_identifier, quote_list, quote_text, repeated
from dpsql.engine.sources import Files
from dpsql.errors import SourceError

# Unicode noncharacters: never in text that is meant to be read. A line that holds one may lose its own fields only.
NEVER = "\U0010ffff"  # what DuckDB believes is the delimiter
CUT = "\U0010fffe"  # marks a delimiter outside quotes
ESCAPED_ESCAPE, ESCAPED_QUOTE = "\U0001ffff", "\U0001fffe"

HEADER_LIMIT = 1 << 20


def read_csv(table: str, files: Files, paths: tuple[Path, ...]) -> tuple[str, tuple[str, ...]]:
    """A SELECT of the table's rows, all columns text, and the columns' names.

    SourceError 305 when a header cannot be read, or the files' headers differ. It quotes no name: the first line of a
    file without a header is a person's row.
    """
    _check_format(table, files)
    names = _header_of_all(table, files, paths) if files.header else files.names
    if not names:
        raise _bad(table, "it has no header and no column names were given", "List the columns in the file's order.")
    return select_fields(lines(paths, skip=int(files.header)), names, files), names


def lines(paths: Iterable[Path], *, skip: int) -> str:
    """A SELECT of column `line`: the physical lines of the files, in order."""
    texts = [str(path) for path in paths]
    compression = "gzip" if texts and all(text.endswith(".gz") for text in texts) else "none"
    return (
        f"SELECT line FROM read_csv({quote_list(texts)}, columns = {{'line': 'VARCHAR'}}, delim = {quote_text(NEVER)},"
        f" quote = '', escape = '', comment = '', header = false, skip = {skip}, new_line = '\\n', nullstr = '',"
        f" auto_detect = false, strict_mode = false, ignore_errors = true, encoding = 'utf-8',"
        f" hive_partitioning = false, compression = '{compression}')"
    )


def select_fields(source: str, names: tuple[str, ...], files: Files) -> str:
    """`source` (a SELECT of column `line`) split into the named fields; lines that do not split so are dropped."""
    items = ", ".join(f"{_value(f'fields[{i + 1}]', files)} AS {quote_identifier(n)}" for i, n in enumerate(names))
    return (
        f"SELECT {items} FROM (SELECT {_fields(files)} AS fields FROM ({source}) AS lines) AS split"
        f" WHERE len(fields) = {len(names)}"
    )


def _fields(files: Files) -> str:
    """The line's raw fields; NULL where a quote is unclosed. Pieces between quotes: every second one is inside."""
    delimiter = quote_text(files.delimiter)
    plain = f"string_split(line, {delimiter})"
    if not files.quote:
        return plain
    quote, cut = quote_text(files.quote), quote_text(CUT)
    marked = _mark_escapes("line", files)
    pieces = f"string_split({marked}, {quote})"
    outside = f"CASE WHEN i % 2 = 1 THEN replace(piece, {delimiter}, {cut}) ELSE piece END"
    rejoined = f"array_to_string(list_transform({pieces}, lambda piece, i: {outside}), {quote})"
    markers = " OR ".join(f"contains(line, {quote_text(marker)})" for marker in _markers(files))
    return (
        f"CASE WHEN NOT contains(line, {quote}) THEN {plain}"
        f" WHEN {markers} OR len({pieces}) % 2 = 0 THEN NULL"
        f" ELSE string_split({rejoined}, {cut}) END"
    )


def _markers(files: Files) -> tuple[str, ...]:
    return (CUT,) if files.escape in ("", files.quote) else (CUT, ESCAPED_ESCAPE, ESCAPED_QUOTE)


def _mark_escapes(text: str, files: Files) -> str:
    if files.escape in ("", files.quote):
        return text  # a doubled quote closes and opens again: the count of quotes stays even
    double, quoted = quote_text(files.escape * 2), quote_text(files.escape + files.quote)
    return f"replace(replace({text}, {double}, '{ESCAPED_ESCAPE}'), {quoted}, '{ESCAPED_QUOTE}')"


def _value(field: str, files: Files) -> str:
    """A raw field's value: NULL if empty, the inside if quoted, else itself."""
    if not files.quote:
        return f"nullif({field}, '')"
    quote = quote_text(files.quote)
    quoted = f"length({field}) > 1 AND starts_with({field}, {quote}) AND ends_with({field}, {quote})"
    inside = _undo_escapes(f"substr({field}, 2, length({field}) - 2)", files)
    whole = _restore_escapes(field, files)
    return f"CASE WHEN {field} = '' THEN NULL WHEN {quoted} THEN {inside} ELSE {whole} END"


def _undo_escapes(inside: str, files: Files) -> str:
    quote = quote_text(files.quote)
    if files.escape == files.quote:
        return f"replace({inside}, {quote_text(files.quote * 2)}, {quote})"
    if not files.escape:
        return inside
    return f"replace(replace({inside}, '{ESCAPED_QUOTE}', {quote}), '{ESCAPED_ESCAPE}', {quote_text(files.escape)})"


def _restore_escapes(field: str, files: Files) -> str:
    """Outside quotes an escape character is itself."""
    if files.escape in ("", files.quote):
        return field
    double, quoted = quote_text(files.escape * 2), quote_text(files.escape + files.quote)
    return f"replace(replace({field}, '{ESCAPED_QUOTE}', {quoted}), '{ESCAPED_ESCAPE}', {double})"


def _check_format(table: str, files: Files) -> None:
    single = all(len(mark) <= 1 for mark in (files.quote, files.escape))
    marks = [files.delimiter, *({files.quote, files.escape} - {""})]
    if not files.delimiter or not single or len(set(marks)) != len(marks) or {"\n", "\r"} & set("".join(marks)):
        raise _bad(
            table,
            "the format cannot be used",
            "The delimiter has at least one character, quote and escape have at most one; they must differ from the"
            " delimiter and from line ends.",
        )


def _header_of_all(table: str, files: Files, paths: tuple[Path, ...]) -> tuple[str, ...]:
    names = _header(table, files, paths[0])
    for path in paths[1:]:
        if _header(table, files, path) != names:
            raise _bad(table, f"{path} has a different header than {paths[0]}", "Give the files the same first line.")
    return names


def _header(table: str, files: Files, path: Path) -> tuple[str, ...]:
    names = split_line(_first_line(table, path), files)
    if names is None:
        raise _bad(table, f"the header of {path} has an unclosed quote", "Check `format: {quote: …}`.")
    if "" in names:
        raise _bad(table, f"column {names.index('') + 1} in the header of {path} has no name", "Name every column.")
    if repeated(names) is not None:
        raise _bad(
            table,
            f"two columns in the header of {path} have the same name",
            "Case is ignored in names. If the file has no header, write `header: false` in its format.",
        )
    return names


def _first_line(table: str, path: Path) -> str:
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            head = file.read(HEADER_LIMIT)
    except (OSError, EOFError) as error:
        failed = type(error).__name__
    else:
        failed = ""
    if failed:
        raise _bad(table, f"{path} cannot be read ({failed})", "Check the file and its permissions.")
    line = re.split(rb"\r\n|\n|\r", head, maxsplit=1)[0]
    if len(line) == HEADER_LIMIT:
        raise _bad(table, f"the first line of {path} is longer than 1 MiB", "Check that it is a CSV file.")
    text = line.decode("utf-8-sig", "replace")
    if not text or "\ufffd" in text:
        what = "has no header line" if not text else "is not UTF-8"
        raise _bad(table, f"{path} {what}", "A CSV must be UTF-8 text whose first line names the columns.")
    return text


def split_line(line: str, files: Files) -> tuple[str, ...] | None:
    """A line's fields by the same rules as the SQL, for headers; None where a quote is unclosed. Empty stays empty."""
    quote, escape = files.quote, files.escape
    if not quote or quote not in line:
        return tuple(line.split(files.delimiter))
    backslash = escape not in ("", quote)
    if backslash:
        line = line.replace(escape * 2, ESCAPED_ESCAPE).replace(escape + quote, ESCAPED_QUOTE)
    pieces = line.split(quote)
    if len(pieces) % 2 == 0:
        return None
    outside = [piece if i % 2 else piece.replace(files.delimiter, CUT) for i, piece in enumerate(pieces)]
    return tuple(_unquote(field, files, backslash) for field in quote.join(outside).split(CUT))


def _unquote(field: str, files: Files, backslash: bool) -> str:
    quote, escape = files.quote, files.escape
    quoted = len(field) > 1 and field[0] == field[-1] == quote
    if backslash:
        inner_quote, inner_escape = (quote, escape) if quoted else (escape + quote, escape * 2)
        field = field[1:-1] if quoted else field
        return field.replace(ESCAPED_QUOTE, inner_quote).replace(ESCAPED_ESCAPE, inner_escape)
    return field[1:-1].replace(quote * 2, quote) if quoted and escape else field[1:-1] if quoted else field


def _bad(table: str, what: str, fix: str) -> SourceError:
    return SourceError(f"table {table}: {what}", code=305, fix=fix)
