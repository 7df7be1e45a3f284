"""Parquet's statistics leave NaN out. If the engine believed them, one person's row would change how others are read.

DuckDB's own tables, files and memory, count NaN as the largest number: what the engine believes of them is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.execution.known import check
from dpsql.testing import Replayer, compare, exact
from tests.worlds import ASKED, bounded, people

NAN, INF = float("nan"), float("inf")
OTHERS = [(unit, cell) for unit in range(2, 50) for cell in (NAN, 1.0, 100.0)]
# what one person must hold to change the file's statistics: nothing above 100, an infinity, only NaN
ONE = {"infinite": [INF, 5.0], "nan": [NAN], "far": [1e300]}
DECLARED: dict[str, dict[str, Any]] = {
    "bounded": bounded("real", 0, 200),
    "unbounded": {"type": "real"},
    "required": bounded("real", 0, 200, nullable=False),
    "integer": bounded("integer", 0, 200, nullable=False),
    "decimal": bounded("decimal(9, 2)", 0, 200),
    "text": {"type": "text"},
}
QUERIES = (
    "SELECT COUNT(*), COUNT(x) FROM t",
    "SELECT COUNT(*) FROM t WHERE x IS NULL",
    "SELECT COUNT(*) FROM t WHERE x IS NOT NULL",
    "SELECT COUNT(*) FROM t WHERE TRY_CAST(x AS DOUBLE) <= 100",
    "SELECT COUNT(*) FROM t WHERE TRY_CAST(x AS DOUBLE) > 150",
    "SELECT SUM(LEAST(GREATEST(TRY_CAST(x AS DOUBLE), 0), 200)) FROM t",
    "SELECT SUM(CASE WHEN TRY_CAST(x AS DOUBLE) > 100 THEN 1 ELSE 0 END) FROM t",
)


def catalog(column: dict[str, Any]) -> dict[str, Any]:
    return people({"x": column}, max_groups=1, max_rows=4, per_query=ASKED)


def written(folder: Path, rows: list[tuple[int, float]], type_: pa.DataType, form: str) -> Any:
    """What connect(source=…) takes."""
    folder.mkdir(exist_ok=True)
    units, cells = zip(*rows, strict=True)
    table = pa.table({"u": pa.array(units, pa.int64()), "x": pa.array(cells, type_)})
    match form:
        case "parquet":
            pq.write_table(table, folder / "t.parquet")
            return {"t": str(folder / "t.parquet")}
        case "duckdb":
            (folder / "d.duckdb").unlink(missing_ok=True)
            with duckdb.connect(str(folder / "d.duckdb")) as connection:
                connection.register("given", table)
                connection.execute("CREATE TABLE t AS SELECT * FROM given")
            return str(folder / "d.duckdb")
        case _:
            return {"t": table}


FORMS = ("parquet", "duckdb", "frame")
RUNS = [*((one, declared, pa.float64()) for one in ONE for declared in DECLARED), ("infinite", "bounded", pa.float32())]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("one", "declared", "type_"), RUNS)
def test_one_row_does_not_change_how_others_are_read(
    tmp_path: Path, one: str, declared: str, type_: pa.DataType, form: str
) -> None:
    described = catalog(DECLARED[declared])
    whole = written(tmp_path / "whole", [*OTHERS, *((1, cell) for cell in ONE[one])], type_, form)
    rest = written(tmp_path / "rest", OTHERS, type_, form)
    with Replayer(described, whole, threads=1) as first, Replayer(described, rest, threads=1) as second:
        for sql in QUERIES:
            plan = first.plan(sql)
            for stage in plan.stages:
                with_one = first.totals(stage, check(first.session, plan))
                without = second.totals(stage, check(second.session, plan))
                assert compare(1, stage, with_one, without).holds, sql


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("declared", ["bounded", "unbounded", "required"])
def test_nan_is_null_whatever_the_statistics_say(tmp_path: Path, declared: str, form: str) -> None:
    source = written(tmp_path, [(1, NAN), (2, 1.0), (3, 100.0)], pa.float64(), form)
    with exact(catalog(DECLARED[declared]), source=source) as connection:
        rows = 2 if declared == "required" else 3
        assert connection.execute("SELECT COUNT(*), COUNT(x) FROM t").fetchall() == [(rows, 2)]


# Of texts that are not UTF-8 statistics and Bloom filters know the bytes, a query what they are replaced by.
BYTES = {
    "least and largest": ([b"\xc4"] * 9 + ["é".encode()], b"!", "?"),
    "bloom": ([b"a\xff"] * 9 + [b"\0"], b"a?", "a?"),
}


@pytest.mark.parametrize("kind", BYTES)
def test_one_text_does_not_change_whether_others_are_read(kind: str, tmp_path: Path) -> None:
    others, one, asked = BYTES[kind]
    counts = []
    for n, stored in enumerate(([one, *others], others)):
        cells = pa.array(stored, pa.binary())
        texts = pa.Array.from_buffers(pa.string(), len(stored), cells.buffers())
        columns = {"u": list(range(len(stored))), "x": texts}
        pq.write_table(
            pa.table(columns), tmp_path / f"{n}.parquet", bloom_filter_options={"x": {"ndv": 9, "fpp": 1e-9}}
        )
        with exact(catalog(DECLARED["text"]), source={"t": str(tmp_path / f"{n}.parquet")}) as connection:
            counts += connection.execute(f"SELECT COUNT(*) FROM t WHERE x = '{asked}'").fetchall()
    assert counts == [(9 + (one.decode() == asked),), (9,)]


def test_a_footer_that_is_not_true_does_not_make_one_unit_of_two(tmp_path: Path) -> None:
    """DuckDB would keep as many bytes of each unit as the largest has that the file says."""
    far, path = 2**30 + 1, tmp_path / "t.parquet"
    units = [far, *range(1, 41)] * 3
    pq.write_table(pa.table({"u": units, "x": [1.0] * 123}), path, compression=None, use_dictionary=False)
    pages, footer = path.read_bytes()[: -pq.read_metadata(path).serialized_size - 8], path.read_bytes()
    footer = footer[len(pages) :].replace(far.to_bytes(8, "little"), (40).to_bytes(8, "little"))
    path.write_bytes(pages + footer)
    assert pq.read_metadata(path).row_group(0).column(0).statistics.max == 40
    with exact(catalog(DECLARED["bounded"]), source={"t": path}) as connection:
        assert connection.execute("SELECT COUNT(DISTINCT u) FROM t").fetchall() == [(41,)]
