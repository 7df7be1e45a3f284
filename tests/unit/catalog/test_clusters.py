"""Addresses of Spark in metadata and by hand: what is taken, what is refused, and that no token is ever repeated."""

from __future__ import annotations

from typing import Any

import pytest

from dpsql.catalog.fingerprint import fingerprint
from dpsql.catalog.model import Catalog, SparkSource
from dpsql.engine.sources import Cluster, SparkTable
from dpsql.errors import CatalogError, Error
from dpsql.metadata.load import loads
from dpsql.sources.table_sources import engine_of_private, overrides, source_of

TOKEN = "sentinel-token-7f3a"
YAML = """
dataset: d
version: "1"
unit: person
budget: {{epsilon: 10, delta: 1.0e-6}}
tables:
  visits:
    source: {source}
    unit: u
    rows_per_unit: 1
    columns: {{u: integer, x: {{type: integer, lower: 0, upper: 9}}}}
"""


def catalog(source: str) -> Catalog:
    return loads(YAML.format(source=source))


def the_source(source: str) -> object:
    (table,) = catalog(source).tables
    return table.source


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sc://host:15002", SparkSource(cluster="sc://host:15002", table=("visits",))),
        ('"sc://host/;use_ssl=true"', SparkSource(cluster="sc://host/;use_ssl=true", table=("visits",))),
        ("spark://one:7077,two:7077", SparkSource(cluster="spark://one:7077,two:7077", table=("visits",))),
        (
            '{spark: "local[4]", table: clinic.visits, timeout: 60}',
            SparkSource(cluster="local[4]", table=("clinic", "visits"), timeout=60),
        ),
        ('{spark: "local[*]", files: /data/v.parquet}', SparkSource(cluster="local[*]", files=("/data/v.parquet",))),
        (
            '{spark: sc://h, files: ["hdfs://h:8020/v/*.parquet", "abfss://c@a.net/v"]}',
            SparkSource(cluster="sc://h", files=("hdfs://h:8020/v/*.parquet", "abfss://c@a.net/v")),
        ),
    ],
)
def test_what_is_taken(written: str, meant: SparkSource) -> None:
    assert the_source(written) == meant
    assert engine_of_private(catalog(written), {}) == "spark"


@pytest.mark.parametrize(
    "written",
    [
        f'"sc://host/;token={TOKEN}"',
        f"sc://me:{TOKEN}@host",
        f'{{spark: "sc://host/;TOKEN={TOKEN}", table: t}}',
        f"{{spark: sc://host, files: 'hdfs://me:{TOKEN}@host/x'}}",
        f"{{spark: yarn, table: {TOKEN}..x}}",
        "{spark: yarn, table: t}",
        "{spark: 'local[2,3]'}",
        "{spark: sc://host, files: relative.parquet}",
        "{spark: sc://host, files: /a.parquet, table: t}",
        "{spark: sc://host, files: []}",
        "{spark: sc://host, table: a..b}",
        "{spark: sc://host, timeout: 0}",
        "{spark: sc://host, password_file: x}",
    ],
)
def test_what_is_refused(written: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog(written)
    if TOKEN in written and "yarn" not in written:
        assert TOKEN not in str(caught.value) and TOKEN not in repr(caught.value.__context__)


def test_by_hand() -> None:
    declared = catalog("{spark: sc://host, table: clinic.visits}")
    (table,) = declared.tables
    for given, meant in (
        ("sc://other", SparkTable(cluster=Cluster(url="sc://other"), name=("clinic", "visits"))),
        (
            {"visits": {"spark": "local", "files": "/v.parquet"}},
            SparkTable(cluster=Cluster(url="local"), files=("/v.parquet",)),
        ),
        ({"visits": {"spark": "sc://h", "table": "x"}}, SparkTable(cluster=Cluster(url="sc://h"), name=("x",))),
    ):
        assert source_of(table, overrides(declared, given)) == meant


@pytest.mark.parametrize(
    "given", [f"sc://host/;token={TOKEN}", {"visits": {"spark": f"sc://a:{TOKEN}@h", "table": "x"}}]
)
def test_a_token_by_hand_is_not_repeated(given: Any) -> None:
    with pytest.raises(Error) as caught:
        overrides(catalog("sc://host"), given)
    assert caught.value.code == "DPSQL-318" and TOKEN not in str(caught.value)


def test_two_ways_to_one_table_are_one_fingerprint() -> None:
    one, other = (catalog(f"{{spark: {way}, table: a.b}}") for way in ("sc://host", "spark://elsewhere:7077"))
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(one) != fingerprint(catalog("{spark: sc://host, table: a.c}"))
