"""The rows of tests' frames in Parquet files that Spark reads."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.sources import Cluster, SparkTable
from dpsql.engine.spark.foreign import BY_SPARK
from tests.engines.postgres_data import _as_declared, _registered

TYPES = {
    "HUGEINT": "DECIMAL(38,0)", "UBIGINT": "DECIMAL(20,0)", "UINTEGER": "BIGINT", '"NULL"': "VARCHAR",
}  # fmt: skip
_NUMBERS = itertools.count(1)


def by_spark(table: Any) -> Any:
    """A table of pyarrow's that says in its file that Spark wrote it: only of such a file decimals of 19 digits are read."""
    return table.replace_schema_metadata({BY_SPARK: "4.0.0"})


def stored(spark: Any, folder: Path, catalog: Mapping[str, Any], frames: Mapping[str, object]) -> dict[str, SparkTable]:
    """A file for each frame, with types like DuckDB's own. Doubles that are declared decimal are stored as the decimals that
    DuckDB reads: Spark's reading of them is refused. There are no infinite moments on Spark."""
    from pyarrow import parquet

    made = {}
    with duckdb.connect() as reader:
        reader.execute("SET TimeZone = 'UTC'")
        for name, frame in frames.items():
            reader.register("frame", _registered(frame))
            described = reader.execute("DESCRIBE frame").fetchall()
            columns = [_as_declared(*answered[:2], catalog["tables"][name]["columns"]) for answered in described]
            shown = ", ".join(f'{_shown(column, type_)} AS "{column}"' for column, type_ in columns)
            path = folder / f"{name}_{next(_NUMBERS)}.parquet"
            parquet.write_table(by_spark(reader.sql(f"SELECT {shown} FROM frame").to_arrow_table()), path)
            made[name] = SparkTable(cluster=Cluster(session=spark), files=(str(path),))
            reader.unregister("frame")
    return made


def _shown(column: str, type_: str) -> str:
    name = f'"{column}"'
    if type_.startswith("ENUM"):
        return f"CAST({name} AS VARCHAR)"
    if type_ == "DATE" or type_.startswith("TIMESTAMP"):
        value = name if type_ == "DATE" else f"CAST({name} AS TIMESTAMP)"
        return f"CASE WHEN NOT isinf({value}) THEN {value} END"
    if type_ in TYPES or re.match("DECIMAL", type_):
        return f"TRY_CAST({name} AS {TYPES.get(type_, type_)})"
    return name
