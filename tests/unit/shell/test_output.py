"""The output modes: what each writes for one page with awkward values."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from dpsql.errors import InterfaceError
from dpsql.report.privacy import Intervals
from dpsql.shell.output import BY_NAME, MODES, Page, mode_named, mode_of_file
from dpsql.shell.output.mode import rounded, shown
from dpsql.shell.output.plot import bar

PAGE = Page(
    names=("key", "n", "x|y"),
    rows=[
        ("a,b\x1b[31m", 3, 1.5),
        (None, -12, 44.02127323899147),
        ("<b>'\"\n", 0, None),
    ],
    intervals=Intervals({"n": 2.0}),
)


def written(mode: str, page: Page = PAGE) -> str:
    out = io.StringIO()
    write = BY_NAME[mode].write
    assert write is not None
    write(page, out)
    return out.getvalue()


def test_table() -> None:
    lines = written("table").splitlines()
    assert lines[1].split("│")[1:4] == [" key         ", "   n ", "     x|y "]
    assert "│ a,b\\x1b[31m │   3 │     1.5 │" in lines
    assert "│ NULL        │ -12 │ 44.0213 │" in lines
    assert len({len(line) for line in lines}) == 1


def test_a_table_is_as_wide_as_it_needs_to_be_in_a_file_and_folds_on_a_terminal() -> None:
    long = Page(names=("t",), rows=[("x" * 300,)])
    assert "x" * 300 in written("table", long)
    narrow = Page(names=("t",), rows=[("x" * 300,)], width=80)
    assert max(map(len, written("table", narrow).splitlines())) <= 80


def test_a_long_table_ends_on_a_terminal_and_nowhere_else() -> None:
    rows = [(i,) for i in range(1002)]
    lines = written("table", Page(names=("n",), rows=rows, width=80)).splitlines()
    assert "999 │" in lines[-3] and lines[-1] == "… and 2 more rows; .output FILE writes them all"
    assert "│ 1001 │" in written("table", Page(names=("n",), rows=rows))


def test_csv_keeps_every_digit_and_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(written("csv"))))
    assert rows == [
        ["key", "n", "x|y"],
        ["a,b\x1b[31m", "3", "1.5"],
        ["", "-12", "44.02127323899147"],
        ["<b>'\"\n", "0", ""],
    ]


def test_json_and_jsonl_are_the_same_objects() -> None:
    expected = [dict(zip(PAGE.names, row, strict=True)) for row in PAGE.rows]
    assert json.loads(written("json")) == expected
    assert [json.loads(line) for line in written("jsonl").splitlines()] == expected
    assert json.loads(written("json", Page(names=("a",), rows=[]))) == []


def test_markdown_and_html_escape() -> None:
    assert written("markdown").splitlines()[:3] == [
        "| key | n | x\\|y |",
        "|---|--:|--:|",
        "| a,b\\\\x1b[31m | 3 | 1.5 |",
    ]
    assert "<td>&lt;b&gt;&#x27;&quot;\\n</td>" in written("html")
    assert "<b>" not in written("html")


def test_line() -> None:
    assert written("line").splitlines()[:4] == ["- row 1", "key = a,b\\x1b[31m", "n   = 3", "x|y = 1.5"]


def test_parquet() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    out = io.BytesIO()
    write = BY_NAME["parquet"].write_bytes
    assert write is not None
    write(Page(names=("a", "b"), rows=[], stream=table), out)
    assert pa.parquet.read_table(io.BytesIO(out.getvalue())).to_pydict() == table.to_pydict()
    with pytest.raises(InterfaceError):
        write(Page(names=("a",), rows=[]), out)


def test_plot_draws_values_with_their_intervals() -> None:
    rows = [("a", 100), ("b", 50), ("c", None)]
    text = written("plot", Page(names=("k", "n"), rows=rows, intervals=Intervals({"n": 10.0})))
    first, a, b, c = text.splitlines()
    assert first == "n (95 % confidence intervals: ±10)"
    assert a.split() == ["a", a.split()[1], "100"]
    assert a.index("┼") > b.index("┼")
    assert a.index("├") < a.index("┼") < a.index("┤")
    assert c.split() == ["c", "NULL"]


def test_integer_keys_are_labels_of_a_plot() -> None:
    text = written("plot", Page(names=("year", "n"), rows=[(2020, 5), (2021, 6)], intervals=Intervals({"n": 1.0})))
    assert [line.split()[0] for line in text.splitlines()] == ["n", "2020", "2021"]


def test_a_label_that_is_cut_says_so() -> None:
    """The first 30 digits of 39 are another number."""
    page = Page(names=("h", "n"), rows=[(2**127 - 1, 5), ("x" * 30, 5)], intervals=Intervals({"n": 1.0}))
    labels = [line.split()[0] for line in written("plot", page).splitlines()[1:]]
    assert labels == [str(2**127 - 1)[:29] + "…", "x" * 30]


def test_a_plot_without_numbers_is_a_table() -> None:
    page = Page(names=("k",), rows=[("a",)])
    assert written("plot", page) == written("table", page)


@pytest.mark.parametrize(
    ("value", "half", "low", "high", "expected"),
    [
        (10.0, 0.0, 0.0, 10.0, "██████████"),
        (0.0, 0.0, 0.0, 10.0, "          "),
        (5.0, 2.0, 0.0, 9.0, "███├─┼─┤  "),
        (-5.0, 0.0, -5.0, 4.0, "██████    "),
        (2.0, 4.0, -2.0, 7.0, "├───┼───┤ "),
        (0.0, 0.0, 0.0, 0.0, "          "),
    ],
)
def test_bar(value: float, half: float, low: float, high: float, expected: str) -> None:
    assert bar(value, half, low, high, 10) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (44.02127323899147, "44.0213"),
        (1234567.891, "1234567.89"),
        (0.5, "0.5"),
        (100.0, "100"),
        (-0.000123456789, "-0.000123457"),
        (1e-9, "1e-09"),
        (1e300, "1e+300"),
        (0.0, "0"),
    ],
)
def test_rounding_for_people(value: float, text: str) -> None:
    assert rounded(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (Decimal("1E+2"), "100"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        (float("nan"), "nan"),
        ("\x07\u202e\x9b", "\\x07\\u202e\\x9b"),
        ("日本 é", "日本 é"),
    ],
)
def test_values_for_people(value: object, text: str) -> None:
    assert shown(value) == text


def test_modes_are_found_by_name_and_by_file() -> None:
    assert mode_named("md").name == "markdown" and mode_named("NDJSON").name == "jsonl"
    assert mode_named("CSV") is BY_NAME["csv"]
    assert mode_of_file(Path("r.PARQUET")) is BY_NAME["parquet"]
    assert mode_of_file(Path("r.xls")) is None
    with pytest.raises(InterfaceError) as caught:
        mode_named("tabel")
    assert 'Did you mean "table"?' in str(caught.value)


def test_every_mode_writes_somewhere() -> None:
    assert all((mode.write is None) != (mode.write_bytes is None) for mode in MODES)
