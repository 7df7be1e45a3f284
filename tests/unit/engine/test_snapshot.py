"""Frames: no cell can make the copy fail, and none changes how another is read."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
import zoneinfo
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.engine.loading import Forward
from dpsql.engine.snapshot import _microseconds
from dpsql.engine.sources import Frame
from dpsql.engine.text_cells import text_of
from dpsql.engine.vault import Vault
from dpsql.errors import SourceError

SENTINEL = "sentinel-91ee"


class Hostile:
    """A cell whose every method raises with a value."""

    def __str__(self) -> str:
        raise RuntimeError(SENTINEL)

    def __repr__(self) -> str:
        raise KeyError(SENTINEL)

    def __bool__(self) -> bool:
        raise ValueError(SENTINEL)

    def __eq__(self, other: object) -> bool:
        raise ValueError(SENTINEL)

    __hash__ = None  # type: ignore[assignment]  # unhashable, on purpose


class Shown(str):  # as Python's (str, Enum): equal to its text, printed otherwise
    __slots__ = ()

    def __str__(self) -> str:
        return "another"


CELLS: list[tuple[object, str | None]] = [
    ("text", "text"),
    ("", ""),
    ("\udc80", None),
    ("\ud800\udc00", None),
    ("nul\0", "nul\0"),
    (np.str_("np"), "np"),
    (Shown("text"), "text"),
    (None, None),
    (pd.NA, None),
    (pd.NaT, None),
    (float("nan"), None),
    (float("inf"), "inf"),
    (0.1, "0.1"),
    (np.float32(0.5), "0.5"),
    (-0.0, "-0.0"),
    (True, "true"),
    (np.bool_(False), "false"),
    (5, "5"),
    (np.int8(-3), "-3"),
    (10**40, str(10**40)),
    (10**5000, None),  # Python refuses to print it
    (decimal.Decimal("1.50"), "1.50"),
    (decimal.Decimal("1E+2"), "100"),
    (decimal.Decimal("1E+900000"), "1E+900000"),
    (decimal.Decimal("NaN"), None),
    (decimal.Decimal("sNaN"), None),
    (b"bytes", "bytes"),
    (b"\xff", None),
    (datetime.date(2020, 1, 2), "2020-01-02"),
    (datetime.datetime(2020, 1, 2, 3), "2020-01-02 03:00:00"),
    (datetime.datetime(2020, 1, 2, 3, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")), "2020-01-01 18:00:00"),
    (datetime.datetime.min.replace(tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")), None),  # before year 1 in UTC
    (pd.Timestamp("2020-01-02 03:04:05.000006"), "2020-01-02 03:04:05.000006"),
    (np.datetime64("2020-01-02T03"), "2020-01-02 03"),
    (np.datetime64("NaT", "us"), None),
    (pd.Period("2020-01", "M"), "2020-01"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ([1, 2], "[1, 2]"),
    (Hostile(), None),
]


def read(data: object, sql: str = "SELECT CAST(x AS VARCHAR) AS x FROM source.f") -> list[Any]:
    with Vault.open({"f": Frame(data=data)}) as vault:
        (column,) = vault.run(sql).values()
        return list(column.tolist())


def types(data: object) -> dict[str, str]:
    with Vault.open({"f": Frame(data=data)}) as vault:
        return {column.name: column.type for column in vault.columns("f")}


def refused(data: object) -> str:
    with pytest.raises(SourceError) as caught:
        Vault.open({"f": Frame(data=data)})
    assert caught.value.number == 306
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert SENTINEL not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("cell", "text"), CELLS, ids=lambda value: type(value).__name__)
def test_a_cell_s_text(cell: object, text: str | None) -> None:
    assert text_of(cell) == text


@pytest.mark.parametrize("late", [False, True])
def test_all_cells_in_one_column(late: bool) -> None:
    cells = [cell for cell, _ in CELLS]
    texts = [text for _, text in CELLS]
    lead = ["plain"] * (3000 if late else 0)
    column = np.empty(len(lead) + len(cells), dtype=object)
    column[:] = lead + cells
    for data in (pd.DataFrame({"x": pd.Series(column, dtype=object)}), {"x": column}, {"x": list(column)}):
        assert read(data) == lead + texts


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(range(len(CELLS))), min_size=1, max_size=8))
def test_a_cell_is_read_the_same_beside_any_other(chosen: list[int]) -> None:
    column = np.empty(len(chosen), dtype=object)
    column[:] = [CELLS[i][0] for i in chosen]
    assert read({"x": column}) == [CELLS[i][1] for i in chosen]


FRAMES: list[tuple[Any, str, list[str | None]]] = [
    (pd.array([1, None], dtype="Int64"), "BIGINT", ["1", None]),
    (pd.array([True, None], dtype="boolean"), "BOOLEAN", ["true", None]),
    (pd.array([0.5, None], dtype="Float32"), "FLOAT", ["0.5", None]),
    (pd.array([1, None], dtype="UInt8"), "UTINYINT", ["1", None]),
    (np.array([1, -1], dtype=">i4"), "INTEGER", ["1", "-1"]),
    (np.array([1.5, np.nan], dtype=np.float16), "DOUBLE", ["1.5", None]),
    (np.array([1.5, 2], dtype=np.longdouble), "DOUBLE", ["1.5", "2.0"]),
    (np.array([1 + 2j, 0]), "VARCHAR", ["(1+2j)", "0j"]),
    (pd.array(["a", None], dtype="string"), "VARCHAR", ["a", None]),
    (pd.array(["a", None], dtype="str" if pd.__version__ >= "3" else "string"), "VARCHAR", ["a", None]),
    (pd.array(["b", None], dtype=pd.ArrowDtype(pa.string())), "VARCHAR", ["b", None]),
    (pd.array([True, None], dtype=pd.ArrowDtype(pa.bool_())), "BOOLEAN", ["true", None]),
    (np.array([1, 2])[::-1], "BIGINT", ["2", "1"]),
    (np.array(["p", "q"], dtype=object)[::-1], "VARCHAR", ["q", "p"]),
    (pd.array([7, None], dtype=pd.ArrowDtype(pa.int16())), "SMALLINT", ["7", None]),
    (pd.array([decimal.Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(9, 2))), "VARCHAR", ["1.50", None]),
    (
        pd.array([datetime.date(2020, 1, 2), None], dtype=pd.ArrowDtype(pa.date32())),
        "VARCHAR",
        ["2020-01-02", None],
    ),
    (
        pd.array([datetime.datetime(2020, 1, 2), None], dtype=pd.ArrowDtype(pa.timestamp("s"))),
        "TIMESTAMP",
        ["2020-01-02 00:00:00", None],
    ),
    (
        # From Arrow's own array: pandas 2 takes a time without a zone for UTC, pandas 3 for the zone's.
        pd.arrays.ArrowExtensionArray(
            pa.array([datetime.datetime(2020, 1, 2, 3), None], pa.timestamp("s", "Asia/Tokyo"))
        ),
        "TIMESTAMP",
        ["2020-01-02 03:00:00", None],
    ),
    (pd.Categorical(["u", None, "v"]), "VARCHAR", ["u", None, "v"]),
    (pd.Categorical([3, None, 1]), "BIGINT", ["3", None, "1"]),
    (pd.Categorical([None, None]), "VARCHAR", [None, None]),
    (pd.Categorical(pd.interval_range(0, 2)), "VARCHAR", ["(0, 1]", "(1, 2]"]),
    (pd.to_datetime(["2020-01-02", None]), "TIMESTAMP", ["2020-01-02 00:00:00", None]),
    (pd.to_datetime(["2020-01-02", None]).tz_localize("Asia/Tokyo"), "TIMESTAMP", ["2020-01-01 15:00:00", None]),
    (np.array(["9999999-01-01", "2020-01-02", "NaT"], "M8[D]"), "TIMESTAMP", [None, "2020-01-02 00:00:00", None]),
    (np.array([3, "NaT"], "m8[s]"), "VARCHAR", ["0:00:03", None]),
    (pd.arrays.SparseArray([1, 0, 0]), "VARCHAR", ["1", "0", "0"]),
    (pd.period_range("2020-01", periods=2, freq="M"), "VARCHAR", ["2020-01", "2020-02"]),
    (np.array(["one", "two"]), "VARCHAR", ["one", "two"]),
    (np.array([b"one", b"\xff"]), "VARCHAR", ["one", None]),
    (np.ma.MaskedArray([1, 2], [False, True]), "BIGINT", ["1", None]),
    (np.ma.MaskedArray(np.array(["p", "q"], dtype=object), [True, False]), "VARCHAR", [None, "q"]),
]


@pytest.mark.parametrize(("values", "type_", "texts"), FRAMES, ids=lambda value: str(getattr(value, "dtype", ""))[:20])
def test_dtypes(values: Any, type_: str, texts: list[str | None]) -> None:
    column = values if isinstance(values, np.ndarray) else pd.Series(values)
    assert types({"x": column}) == {"x": type_}
    assert read({"x": column}) == texts
    if isinstance(column, pd.Series):
        assert types(pd.DataFrame({"x": column})) == {"x": type_}
        assert read(pd.DataFrame({"x": column})) == texts


UNITS = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 10**6,
    "ms": 1000,
    "us": 1,
}
UNITS |= {unit: Fraction(1, 1000**power) for power, unit in enumerate(("ns", "ps", "fs", "as"), 1)}


@pytest.mark.parametrize("order", "=>")
@pytest.mark.parametrize("count", [1, 25, 2**31 - 1])
@pytest.mark.parametrize("unit", ["Y", "M", *UNITS])
def test_no_time_is_too_far_away(unit: str, count: int, order: str) -> None:
    """NumPy wraps far times around until 2.4 and raises from 2.5 on: either way one cell would decide about all."""
    largest = 2**63 - 1
    far = [largest, -largest, 10**15, 300_000, 292_276, 106_751_991, 106_751_992, 9_223_372_036_854_775]
    far += [50, 0, -1, -999, -1001]
    dtype = np.dtype(f"M8[{count}{unit}]").newbyteorder(order)
    cells = np.array([*far, -(2**63)], dtype=np.int64).view(f"M8[{count}{unit}]").astype(dtype)
    micro = _microseconds(cells)
    assert micro.mask[-1]
    for number, cell, lost in zip(far, micro.data, micro.mask, strict=False):
        if unit in UNITS:
            exact = math.floor(number * count * UNITS[unit])
            assert (None if lost else int(cell.astype(np.int64))) == (exact if abs(exact) <= largest else None)
        else:
            assert lost == (abs(number * count) > (largest // (366 if unit == "Y" else 31) // 86_400_000_000))


def test_names() -> None:
    refused(pd.DataFrame([[1, 2]], columns=["a", "A"]))
    refused(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    refused(pd.DataFrame([[1]], columns=[SENTINEL + "\n"]))
    refused(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", SENTINEL), ("b", "c")])))
    refused(pd.DataFrame([[1, 2]]))
    refused({"": [1]})
    refused({1: [1]})
    refused(pa.table([[1], [2]], names=["a", "A"]))
    assert types(pd.DataFrame({'od"d é': [1]})) == {'od"d é': "BIGINT"}


def test_what_is_no_frame() -> None:
    for data in (
        5,
        SENTINEL,
        [1, 2],
        np.arange(3),
        None,
        {},
        pd.DataFrame(),
        {"x": SENTINEL},
        {"x": [[1], [2]], "y": [1]},
    ):
        refused(data)
    refused({"x": np.zeros((2, 2))})


def test_a_frame_that_raises_says_nothing() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            raise RuntimeError(SENTINEL)

    refused(Broken())


def test_it_is_a_copy() -> None:
    frame = pd.DataFrame({"x": [1, 2]})
    with Vault.open({"f": Frame(data=frame)}) as vault:
        frame.loc[0, "x"] = 99
        assert vault.run("SELECT sum(x)::BIGINT AS s FROM source.f")["s"].tolist() == [3]


def test_no_rows() -> None:
    assert read(pd.DataFrame({"x": pd.Series([], dtype=object)})) == []
    assert read({"x": []}) == []
    assert read(pa.table({"x": pa.array([], pa.int8())})) == []


def test_arrow() -> None:
    table = pa.table(
        {
            "x": pa.array(["a", None]).dictionary_encode(),
            "n": pa.array([1, None], pa.uint64()),
            "d": pa.array([decimal.Decimal("1.5"), None], pa.decimal128(9, 2)),
            "far": pa.array([2**62, 0], pa.timestamp("s")),
            "zone": pa.array([2**62, 0], pa.timestamp("us", "Asia/Tokyo")),
            "list": pa.array([[1], None], pa.list_(pa.int8())),
            "bytes": pa.array([b"ok", b"\xff"]),
        }
    )
    for data in (table, table.to_batches()[0], table.to_reader(), pyarrow.dataset.dataset(table)):
        assert read(data) == ["a", None]
    kinds = types(table)
    assert (kinds["n"], kinds["d"], kinds["list"], kinds["zone"]) == ("UBIGINT", "DECIMAL(9,2)", "VARCHAR", "TIMESTAMP")
    for name in table.column_names:
        assert len(read(table, f"SELECT TRY_CAST({name} AS VARCHAR) AS x FROM source.f")) == 2


def test_arrow_that_duckdb_cannot_read() -> None:
    """A cell that is not UTF-8 is NULL, and its column keeps its type. A type that DuckDB lacks is read cell by cell."""
    raw = pa.array([SENTINEL.encode(), b"\xff", None], pa.binary())
    table = pa.table({"x": pa.Array.from_buffers(pa.string(), 3, raw.buffers()), "y": pa.array([1, 2, 3])})
    assert read(table) == [SENTINEL, None, None]
    assert types(table) == {"x": "VARCHAR", "y": "BIGINT"}
    assert read(pa.table({"x": pa.array([decimal.Decimal("1.5"), None], pa.decimal256(60, 2))})) == ["1.50", None]
    assert read(pl.DataFrame({"x": pl.Series([2**100, None], dtype=pl.Int128)})) == [str(2**100), None]
    assert read(table.to_reader()) == [SENTINEL, None, None]
    assert read(Forward(table)) == [SENTINEL, None, None]


def test_one_cell_that_is_not_utf8_changes_no_other() -> None:
    """In texts, dictionaries and lists; what DuckDB makes of the others is what it makes of them without that cell."""

    def table(cell: bytes | None) -> pa.Table:
        raw = pa.array([b"ok", cell, None], pa.binary())
        text = pa.Array.from_buffers(pa.string(), 3, raw.buffers(), null_count=raw.null_count)
        views = pa.array([b"ok", cell, None], pa.binary_view())
        viewed = views.view(pa.string_view())
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), text)
        listed = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), text)
        rest = {"b": [True, False, None], "d": [2.5, 1e16, 0.1], "f": pa.array([0.1, 2.5, None], pa.float32())}
        spans = pa.array([86_400_000_000, 5, None], pa.duration("us"))
        return pa.table(
            {
                "x": text,
                "viewed": viewed,
                "coded": coded,
                "listed": listed,
                **rest,
                "bytes": [b"\xff", b"1", None],
                "spans": spans,
            }
        )

    def rows(cell: bytes | None) -> list[list[object]]:
        made = table(cell)
        shown = ", ".join(f"TRY_CAST({name} AS VARCHAR) AS {name}" for name in made.column_names)
        with Vault.open({"f": Frame(data=made)}) as vault:
            cells = vault.run(f"SELECT {shown} FROM source.f")
            kinds = [column.type for column in vault.columns("f")]
        return [kinds, *([*cells[name]] for name in made.column_names if name != "listed"), [*cells["listed"][[0, 2]]]]

    assert rows(b"\xff") == rows(None)
    refused(pa.table({"x": pa.array([[b"a"]], pa.list_(pa.dictionary(pa.int8(), pa.binary())))}))


@pytest.mark.parametrize(
    ("cells", "dtype", "type_"),
    [
        ([2**53 + 1, 5], pl.Int64, "BIGINT"),
        ([2**64 - 1, 5], pl.UInt64, "UBIGINT"),
        ([True, False], pl.Boolean, "BOOLEAN"),
        ([0.5, 2.5], pl.Float32, "FLOAT"),
        (["a", "b"], pl.String, "VARCHAR"),
    ],
)
def test_one_null_changes_no_other_cell_of_a_series(cells: list[object], dtype: pl.DataType, type_: str) -> None:
    """NumPy has no integers or booleans beside NULL."""
    shown = "SELECT CAST(x AS VARCHAR) AS x FROM source.f"
    every = [{"x": pl.Series([*cells, last], dtype=dtype)} for last in (None, cells[0])]
    assert [types(frame)["x"] for frame in every] == [type_, type_]
    with_null, without = (read(frame, shown) for frame in every)
    assert with_null == [*without[:2], None]


def test_python_objects_in_polars_are_refused() -> None:
    """Where in memory they are is all that Arrow is told: equal ones are several."""
    assert "Python objects" in refused(pl.DataFrame({"x": pl.Series([1, "a"], dtype=pl.Object)}))


def test_one_null_in_a_list_changes_no_other_list() -> None:
    dtype = pd.ArrowDtype(pa.list_(pa.int8()))
    frames = [pd.DataFrame({"x": pd.Series([[1], [2], last], dtype=dtype)}) for last in ([None], [3])]
    assert [read(frame)[:2] for frame in frames] == [["[1]", "[2]"]] * 2


def test_a_relation_of_another_connection() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS x FROM range(3)")
        assert read(connection.table("t")) == ["0", "1", "2"]


def test_row_numbers() -> None:
    with Vault.open({"f": Frame(data={"x": np.arange(10)})}) as vault:
        got = vault.run("SELECT x, __row FROM source_rows.f WHERE x > 3 ORDER BY x")
        assert len(set(got["__row"].tolist())) == 6
