"""CSV: one physical line a row, whatever the other lines hold."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpsql
from dpsql.engine.csv_lines import CUT, ESCAPED_ESCAPE, ESCAPED_QUOTE, NEVER, lines, read_csv, split_line
from dpsql.engine.quoting import quote_text
from dpsql.engine.sources import Files
from dpsql.engine.vault import Vault
from dpsql.errors import SourceError

MARKERS = (NEVER, CUT, ESCAPED_ESCAPE, ESCAPED_QUOTE)
Row = tuple[str | None, ...]


def parse(line: str, files: Files) -> list[str | None] | None:
    """The oracle: one character at a time."""
    fields: list[str] = [""]
    inside = False
    position = 0
    while position < len(line):
        rest = line[position:]
        step = 1
        if files.quote and files.escape not in ("", files.quote) and rest[:1] == files.escape:
            step = 2 if rest[1:2] in (files.escape, files.quote) else 1
            fields[-1] += rest[:step]
        elif files.quote and rest[0] == files.quote:
            inside = not inside
            fields[-1] += rest[0]
        elif not inside and rest.startswith(files.delimiter):
            step = len(files.delimiter)
            fields.append("")
        else:
            fields[-1] += rest[0]
        position += step
    return None if inside else [value(field, files) for field in fields]


def value(field: str, files: Files) -> str | None:
    if field == "":
        return None
    if not files.quote or len(field) < 2 or not (field[0] == field[-1] == files.quote):
        return field
    inner = field[1:-1]
    if files.escape == files.quote:
        return inner.replace(files.quote * 2, files.quote)
    if not files.escape:
        return inner
    return re.sub(f"{re.escape(files.escape)}([{re.escape(files.escape + files.quote)}])", r"\1", inner)


def oracle(body: bytes, width: int, files: Files) -> list[Row]:
    rows: list[Row] = []
    for raw in re.split(rb"\r\n|\n|\r", body):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        fields = parse(line, files) if line else None
        if fields is not None and len(fields) == width:
            rows.append(tuple(fields))
    return rows


def read(path: Path, files: Files) -> list[Row]:
    select, _ = read_csv("t", files, (path,))
    with duckdb.connect() as connection:
        return connection.execute(select).fetchall()


def the(path: Path, **changes: str) -> Files:
    return Files(paths=(path,), kind="csv", **changes)  # type: ignore[arg-type]  # only the text fields are changed


TOKENS = [
    b"a",
    b"bc",
    b",",
    b",",
    b'"',
    b'""',
    b"'",
    b"\\",
    b"|",
    b";",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xff",
    b"\x00",
    b" ",
]
TOKENS += [b"\t", b"#", b"\xef\xbb\xbf", "é".encode(), b'"x,y"', b'\\"', b"\\\\"]
FORMATS = [
    {},
    {"quote": "", "escape": ""},
    {"escape": "\\"},
    {"quote": "'", "escape": "'", "delimiter": ";"},
    {"delimiter": "||"},
    {"delimiter": "\t"},
    {"escape": ""},
]


@pytest.mark.slow
@pytest.mark.parametrize("marks", FORMATS, ids=repr)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.lists(st.sampled_from(TOKENS), max_size=60).map(b"".join), end=st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_any_bytes_read_as_the_oracle_reads_them(
    tmp_path: Path, marks: dict[str, str], body: bytes, end: bytes
) -> None:
    path = tmp_path / "t.csv"
    files = the(path, **marks)
    path.write_bytes(b"p" + files.delimiter.encode() + b"q" + end + body)
    # After a header that ends in \r, a \n at the start belongs to that end.
    assert read(path, files) == oracle(body[1:] if (end + body)[:2] == b"\r\n" and end == b"\r" else body, 2, files)


def test_every_line_end_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r\n1,x\r2,y\r\n3,z\n4,u\r5,v\r\n\r6,w\n")
    assert read(path, the(path)) == [(str(i), c) for i, c in zip(range(1, 7), "xyzuvw", strict=True)]


@pytest.mark.slow
@given(
    rows=st.lists(
        st.tuples(
            *[st.text(st.characters(codec="utf-8", exclude_characters=["\n", "\r", "\0", *MARKERS]), min_size=1)] * 3
        ),
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_python_writes_comes_back(tmp_path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("a", "b", "c"), *rows])
    path = tmp_path / "t.csv"
    path.write_bytes(text.getvalue().encode("utf-8"))
    assert read(path, the(path)) == list(rows)


@pytest.mark.parametrize("threads", [1, 4])
def test_many_buffers_and_threads_keep_every_line_in_order(tmp_path: Path, threads: int) -> None:
    ends = [b"\n", b"\r\n", b"\r"]
    body = b"".join(b"%d,%s%s" % (i, b"x" * (i % 97), ends[i % 3]) for i in range(60_000))
    body = body.replace(b"777,", b'777,"').replace(b"888,", b"888,\xff")
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + body)
    select = lines((path,), skip=1).replace("auto_detect", "buffer_size = 8192, max_line_size = 4096, auto_detect")
    with duckdb.connect(config={"threads": threads}) as connection:
        got = [line for (line,) in connection.execute(select).fetchall() if line is not None]
        numbered = connection.execute(f"SELECT row_number() OVER (), line FROM ({select})").fetchall()
    assert got == [line.decode() for line in re.split(rb"\r\n|\n|\r", body) if line and b"\xff" not in line]
    assert [line for _, line in sorted(numbered) if line is not None] == got


@pytest.mark.parametrize(
    "odd",
    [
        b'"',
        b'1,"open',
        b"1,2,3",
        b"",
        b"\xff\xfe,1",
        b"1,2\r3,4",
        b'"a"b,c"',
        b"\x00",
        b"x" * 3_000_000,
        NEVER.encode(),
        b"1," + CUT.encode(),
    ],
    ids=lambda odd: repr(odd[:12]),
)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_one_odd_line_changes_no_other_row(tmp_path: Path, odd: bytes, place: str) -> None:
    good = [b"%d,y%d" % (i, i) for i in range(300)]
    at = {"first": 0, "middle": 150, "last": 300}[place]
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"\n".join([*good[:at], odd, *good[at:]]))
    rows = read(path, the(path))
    expected = [(str(i), f"y{i}") for i in range(300)]
    assert [row for row in rows if row in set(expected)] == expected
    assert len(rows) - len(expected) <= 2


def test_empty_is_null_and_quoted_empty_is_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n,""\n" , ",x\n')
    assert read(path, the(path)) == [(None, ""), (" , ", "x")]


def test_a_byte_order_mark_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf"the, name",b\r\n1,2\r\n'))
    with Vault.open({"t": the(path)}) as vault:
        assert [column.name for column in vault.columns("t")] == ["the, name", "b"]
        assert vault.run('SELECT "the, name" AS a FROM source.t')["a"].tolist() == ["1"]


def test_no_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf1,2\n3,4")
    files = Files(paths=(path,), kind="csv", header=False, names=("x", "y"))
    assert read(path, files) == [("1", "2"), ("3", "4")]


def test_no_quotes(tmp_path: Path) -> None:
    """As `format: {quote: ''}` says: every quote is a letter."""
    catalog = tmp_path / "c.yaml"
    (tmp_path / "t.csv").write_bytes(b'"a","b"\n5 ft 2" tall,"x"\n')
    catalog.write_text("""
        budget: {epsilon: 1}
        tables: {t: {public: true, source: t.csv, format: {quote: ''}, columns: {'"a"': text, '"b"': text}}}
    """)
    with dpsql.connect(catalog) as connection:
        assert connection.execute("SELECT * FROM t").fetchall() == [('5 ft 2" tall', '"x"')]


def test_several_files_are_one_table_with_one_numbering(tmp_path: Path) -> None:
    for name, rows in (("b", b"3\n"), ("a", b"1\n2")):
        (tmp_path / f"{name}.csv").write_bytes(b"x\n" + rows)
    with Vault.open({"t": the(tmp_path / "*.csv")}) as vault:
        got = vault.run("SELECT x, __row FROM source_rows.t ORDER BY __row")
        assert got["x"].tolist() == ["1", "2", "3"]
        assert got["__row"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "head",
    [b"", b"\n1,2", b"\xff,b\n", b"a,a\n", b"a,A\n", b"a,\n", b'"a,b\n', b"x" * (1 << 20)],
    ids=lambda head: repr(head[:9]),
)
def test_unreadable_headers(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(head)
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": the(path)})
    assert caught.value.number == 305


def test_a_person_taken_for_a_header_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"Secret,secret\n")
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": the(path)})
    assert "ecret" not in str(caught.value)


def test_headers_must_agree(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,y\n")
    (tmp_path / "b.csv").write_bytes(b"y,x\n")
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": the(tmp_path / "*.csv")})
    assert caught.value.number == 305


@pytest.mark.parametrize(
    "marks", [{"delimiter": ""}, {"quote": ","}, {"quote": '""'}, {"delimiter": "\n"}, {"escape": ","}]
)
def test_formats_that_cannot_be_used(tmp_path: Path, marks: dict[str, str]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n")
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": the(path, **marks)})
    assert caught.value.number == 305


@pytest.mark.parametrize("marks", FORMATS, ids=repr)
@settings(max_examples=100, deadline=None)
@given(line=st.lists(st.sampled_from(["a", ",", '"', "\\", "'", ";", "||", "\t", "é"]), max_size=12).map("".join))
def test_the_header_is_split_like_a_row(marks: dict[str, str], line: str) -> None:
    files = the(Path("t.csv"), **marks)
    expected = parse(line, files)
    got = split_line(line, files)
    assert got == (None if expected is None else tuple(field or "" for field in expected))


def test_quoting_of_paths(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s "here"'
    folder.mkdir()
    path = folder / "t.csv"
    path.write_bytes(b"a\n1")
    assert quote_text("it's") == "'it''s'"
    assert read(path, the(path)) == [("1",)]
