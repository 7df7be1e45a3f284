"""Replay by removal on Spark: the worlds and statements of test_physical_replay.py, stored in Parquet files.

The whole engine runs on the files, on a copy of them without a unit, and on one that keeps the rows that only the unit
reached, in another order. Copies are tables of the same types, made by the judge.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from dpsql.dbapi.user_tables import load_frame
from dpsql.engine.sources import SparkTable
from dpsql.testing import Copies, Replayer, exact, neighbour
from tests.engines.spark_data import stored
from tests.properties.generator.draws import fixed_noise
from tests.properties.generator.grim_tables import TYPES
from tests.properties.generator.tables import Tables, arrow
from tests.properties.test_physical_replay import replayed
from tests.worlds import people

PAIRS = 50
SCHEMAS = "SHOW SCHEMAS LIKE 'dpsql_judge_*'"


def test_replay_by_removal(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement of each pair runs on Spark for a second or so: few statements of each world, more units of each."""
    fixed_noise(monkeypatch, 15)
    seen = replayed(random.Random(1522), PAIRS, _opening(spark, tmp_path), 0, statements=6, units=5)
    assert seen["pairs"] >= PAIRS and seen["grim"] > seen["pairs"] / 4 and seen["refused"] < seen["asked"] * 0.8, seen
    assert spark.sql(SCHEMAS).collect() == []


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(300, 304))
def test_much_replay_by_removal(seed: int, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, seed)
    replayed(random.Random(seed), int(os.environ.get("DPSQL_PAIRS", "1000")) // 4, _opening(spark, tmp_path), 5)


def _opening(spark: Any, folder: Path) -> Any:
    def opens(one: Tables) -> Replayer:
        frames = {name: arrow(rows, TYPES) for name, rows in one.rows.items()}
        public = {name: frames.pop(name) for name in [*frames] if one.catalog["tables"][name].get("public")}
        given = {**stored(spark, folder, one.catalog, frames), **public}
        return Replayer(one.catalog, given, prepare=lambda session: load_frame(session, "mine", arrow(one.mine, TYPES)))

    return opens


# --- what the judge reads and makes ------------------------------------------------------------------------------------

CATALOG: dict[str, Any] = people({"cost": "decimal(9, 2)", "gone": "real", "day": "date", "word": "text"})
MADE = """
    CREATE TABLE kinds USING parquet AS SELECT * FROM VALUES
        (1, 0.10BD, -0.0D, DATE'1582-10-10', concat('tab', char(9), 'feed'), array(1)),
        (1, NULL, double('NaN'), NULL, '', NULL),
        (7, 9.99BD, 5e-324D, DATE'9999-12-31', 'é', array()) AS v (u, cost, gone, day, word, tags)
"""


def test_a_neighbour_is_a_table_of_the_same_types_without_the_unit(spark: Any) -> None:
    from dpsql.engine.sources import Cluster

    spark.sql(MADE)
    kinds = SparkTable(cluster=Cluster(session=spark), name=("kinds",))
    copies = Copies.read(CATALOG, {"t": kinds})
    cells = copies.copies["t"].cells
    assert sorted(map(str, cells("GONE"))) == ["-0.0", "5e-324", "nan"]
    assert set(cells("word")) == {"tab\tfeed", "", "é"} and copies.units() == [1, 7]
    given = neighbour(CATALOG, {"t": kinds}, 1)
    made = given["t"]
    assert isinstance(made, SparkTable) and made.name[0].startswith("dpsql_judge_")
    there = spark.table(".".join(made.name))
    assert [f.dataType for f in there.schema] == [f.dataType for f in spark.table("kinds").schema]
    assert there.collect() == spark.sql("SELECT * FROM kinds WHERE u = 7").collect()
    with exact(CATALOG, source={"t": kinds}) as all_rows, exact(CATALOG, source=given) as without:
        assert [c.execute("SELECT COUNT(*) FROM t").fetchall() for c in (all_rows, without)] == [[(3,)], [(1,)]]
    spark.sql(f"DROP SCHEMA {made.name[0]} CASCADE")
    spark.sql("DROP TABLE kinds")
