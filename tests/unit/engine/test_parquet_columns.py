"""Columns of Parquet files that DuckDB does not read for every value are refused; of the others it reads all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.errors import SourceError
from dpsql.testing import exact
from tests.worlds import people

ENDS = [2**63 - 1, -(2**63)]
CELLS: dict[str, Any] = {
    "whole": pa.array(ENDS),
    "short": pa.array([1, 2], pa.int8()),
    "positive": pa.array([2**64 - 1, 0], pa.uint64()),
    "real": pa.array([1e308, float("nan")]),
    "half": pa.array([1e38, 2], pa.float32()),
    "text": pa.array(["a", "é"]),
    "bytes": pa.array([b"\xff", b"1"]),
    "day": pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32()),
    "moment": pa.array(ENDS).cast(pa.timestamp("us")),
    "in zone": pa.array(ENDS).cast(pa.timestamp("us", "UTC")),
    "nanoseconds": pa.array(ENDS).cast(pa.timestamp("ns")),
    "list": pa.array([[1], [2]]),
    "nothing": pa.nulls(2),
}
READ = [("whole", "short"), ("whole", "positive"), ("real", "whole"), ("real", "half"), ("text", "whole")]
READ += [(name, "nothing") for name in CELLS if name != "list"]
REFUSED = [("half", "whole"), ("text", "bytes"), ("text", "moment"), ("bytes", "whole"), ("day", "moment")]
REFUSED += [("moment", "in zone"), ("moment", "nanoseconds"), ("whole", "moment"), ("whole", "list"), ("real", "text")]


def counted(folder: Path, declared: str = "text") -> Any:
    with exact(people({"x": declared}), source={"t": str(folder / "*.parquet")}) as connection:
        return connection.execute("SELECT COUNT(*) FROM t WHERE x IS NULL OR x = x").fetchall()


def write(folder: Path, kinds: tuple[str, str]) -> None:
    for n, kind in enumerate(kinds):
        pq.write_table(pa.table({"u": [2 * n, 2 * n + 1], "X" if n else "x": CELLS[kind]}), folder / f"{n}.parquet")


@pytest.mark.parametrize("kinds", READ, ids=" and ".join)
def test_types_that_always_convert_are_read_together(kinds: tuple[str, str], tmp_path: Path) -> None:
    write(tmp_path, kinds)
    assert counted(tmp_path) == [(4,)]


@pytest.mark.parametrize("kind", ["moment", "in zone", "nanoseconds"])
def test_a_moment_that_duckdb_cannot_write_is_not_written_before_it_is_left_out(kind: str, tmp_path: Path) -> None:
    """Where a text is said twice DuckDB makes it once, ahead of the conditions around it."""
    pq.write_table(pa.table({"u": [1, 2], "x": CELLS[kind]}), tmp_path / "1.parquet")
    assert counted(tmp_path) == [(2,)]


@pytest.mark.parametrize("kinds", REFUSED, ids=" and ".join)
def test_files_of_several_types_are_refused(kinds: tuple[str, str], tmp_path: Path) -> None:
    """DuckDB would convert one of them while it reads, and stop at the first value that does not convert."""
    for pair in (kinds, kinds[::-1]):
        write(tmp_path, pair)
        with pytest.raises(SourceError) as caught:
            counted(tmp_path)
        assert caught.value.number == 307 and "holds several types in Parquet" in str(caught.value)


@pytest.mark.parametrize("sql", ["'{}'::JSON", "'POINT (1 2)'::GEOMETRY", "{'a': 1}::VARIANT"])
def test_types_whose_values_have_a_form_are_refused(sql: str, tmp_path: Path) -> None:
    """DuckDB fails at the first text that is no JSON, and at bytes that are no geometry, whatever is asked."""
    path = tmp_path / "1.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS u, {sql} AS x) TO '{path}' (FORMAT parquet)")
    with pytest.raises(SourceError, match="another form in Parquet") as caught:
        counted(tmp_path)
    assert caught.value.number == 307
    with exact(people({}), source={"t": str(path)}) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(1,)]


@pytest.mark.parametrize(("digits", "refused"), [(4, True), (9, True), (18, True), (19, False), (38, False)])
def test_decimals_in_more_bytes_than_duckdb_keeps_are_refused(digits: int, refused: bool, tmp_path: Path) -> None:
    """The file says a type of few digits for numbers of 16 bytes."""
    path = tmp_path / "d.parquet"
    cells = b"".join(n.to_bytes(16, "little", signed=True) for n in (1, 2**127 - 1))
    numbers = pa.Array.from_buffers(pa.decimal128(38, 2), 2, [None, pa.py_buffer(cells)])
    pq.write_table(pa.table({"u": [1, 2], "x": numbers}), path, store_schema=False, write_statistics=False)
    said, told = (bytes([0x15, 4, 0x15, 2 * n]) for n in (38, digits))  # Thrift: scale 2, precision
    path.write_bytes(path.read_bytes().replace(said, told))
    assert str(pq.read_schema(path).field("x").type) == f"decimal128({digits}, 2)"
    declared = f"decimal({digits}, 2)"
    if not refused:
        assert counted(tmp_path, declared) == [(2,)]
        return
    with pytest.raises(SourceError) as caught:
        counted(tmp_path, declared)
    assert caught.value.number == 307 and "holds wide decimals in Parquet" in str(caught.value)
