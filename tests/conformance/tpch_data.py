"""A small made-up instance of the TPC-H schema: every value is drawn by a hash, so it is the same everywhere."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.catalog.model import Catalog
from dpsql.metadata.load import loads

FOLDER = Path(__file__).parent / "tpch"
CUSTOMERS, ORDERS, PARTS, SUPPLIERS = 300, 2400, 200, 20
NATIONS = (
    "ALGERIA ARGENTINA BRAZIL CANADA EGYPT ETHIOPIA FRANCE GERMANY INDIA INDONESIA IRAN IRAQ JAPAN JORDAN KENYA MOROCCO"
    " MOZAMBIQUE PERU CHINA ROMANIA SAUDI_ARABIA VIETNAM RUSSIA UNITED_KINGDOM UNITED_STATES"
).replace("_", " ")
REGION_OF = "0 1 1 1 4 0 3 3 2 2 4 4 2 4 0 0 0 1 2 3 4 2 3 3 1"


def _list(words: list[str]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def tables() -> dict[str, str]:
    """The SELECT that makes each table."""
    nations = NATIONS.replace("SAUDI ARABIA", "SAUDI_ARABIA").replace("UNITED ", "UNITED_").split()
    return {
        "region": "SELECT i AS r_regionkey, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1] AS r_name,"
        " 'r' AS r_comment FROM range(5) AS t(i)",
        "nation": f"SELECT i AS n_nationkey, replace({_list(nations)}[i + 1], '_', ' ') AS n_name,"
        f" [{', '.join(REGION_OF.split())}][i + 1] AS n_regionkey, 'n' AS n_comment FROM range(25) AS t(i)",
        "supplier": f"""SELECT i + 1 AS s_suppkey, 'Supplier#' || i AS s_name, 'street ' || i AS s_address,
            [20, 3, 7, 6, 8, 2][d(i, 1, 6) + 1] AS s_nationkey, '11-' || i AS s_phone,
            CAST(d(i, 2, 1000000) / 100 - 900 AS DECIMAL(15, 2)) AS s_acctbal,
            CASE WHEN i = 3 THEN 'Customer sad Complaints' ELSE 'fine' END AS s_comment
            FROM range({SUPPLIERS}) AS t(i)""",
        "part": f"""SELECT i + 1 AS p_partkey, ['green', 'forest', 'red'][d(i, 3, 3) + 1] || ' thing ' || i AS p_name,
            'Manufacturer#' || (1 + d(i, 4, 5)) AS p_mfgr, ['Brand#23', 'Brand#12', 'Brand#34'][d(i, 5, 3) + 1] AS p_brand,
            ['ECONOMY ANODIZED STEEL', 'PROMO BURNISHED BRASS', 'SMALL PLATED BRASS'][d(i, 6, 3) + 1] AS p_type,
            CAST([15, 3, 9, 14, 5][d(i, 7, 5) + 1] AS INTEGER) AS p_size,
            ['MED BOX', 'SM CASE', 'MED BAG', 'LG BOX'][d(i, 8, 4) + 1] AS p_container,
            CAST(900 + d(i, 9, 1000) AS DECIMAL(15, 2)) AS p_retailprice, 'p' AS p_comment FROM range({PARTS}) AS t(i)""",
        "partsupp": f"""SELECT i + 1 AS ps_partkey, (i + 5 * j) % {SUPPLIERS} + 1 AS ps_suppkey,
            CAST(d(i * 4 + j, 10, 9999) AS INTEGER) AS ps_availqty,
            CAST(d(i * 4 + j, 11, 100000) / 100 AS DECIMAL(15, 2)) AS ps_supplycost, 'ps' AS ps_comment
            FROM range({PARTS}) AS t(i), range(4) AS s(j)""",
        "customer": f"""SELECT i + 1 AS c_custkey, 'Customer#' || i AS c_name, 'street ' || i AS c_address,
            [2, 7, 6, 8, 12][d(i, 12, 5) + 1] AS c_nationkey, (10 + d(i, 13, 25)) || '-555-' || i AS c_phone,
            CAST(d(i, 14, 1090000) / 100 - 900 AS DECIMAL(15, 2)) AS c_acctbal,
            ['BUILDING', 'MACHINERY', 'AUTOMOBILE'][d(i, 15, 3) + 1] AS c_mktsegment, 'c' AS c_comment
            FROM range({CUSTOMERS}) AS t(i)""",
        "orders": f"""SELECT 4 * i + 1 AS o_orderkey, 3 * d(i, 16, {CUSTOMERS // 3}) + 1 AS o_custkey,
            ['F', 'O', 'P'][d(i, 17, 3) + 1] AS o_orderstatus,
            CAST(1000 + d(i, 18, 400000) AS DECIMAL(15, 2)) AS o_totalprice,
            DATE '1992-01-01' + CAST(d(i, 19, 2400) AS INTEGER) AS o_orderdate,
            ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][d(i, 20, 5) + 1] AS o_orderpriority,
            'Clerk#' || d(i, 21, 9) AS o_clerk, CAST(0 AS INTEGER) AS o_shippriority,
            CASE WHEN d(i, 22, 9) = 0 THEN 'special extra requests' ELSE 'o' END AS o_comment
            FROM range({ORDERS}) AS t(i)""",
        "lineitem": f"""SELECT 4 * i + 1 AS l_orderkey, p + 1 AS l_partkey,
            (p + 5 * d(k, 24, 4)) % {SUPPLIERS} + 1 AS l_suppkey,
            CAST(j + 1 AS INTEGER) AS l_linenumber, CAST(1 + d(k, 25, 50) AS DECIMAL(15, 2)) AS l_quantity,
            CAST(900 + d(k, 26, 9000000) / 100 AS DECIMAL(15, 2)) AS l_extendedprice,
            CAST(d(k, 27, 11) / 100 AS DECIMAL(15, 2)) AS l_discount, CAST(d(k, 28, 9) / 100 AS DECIMAL(15, 2)) AS l_tax,
            ['A', 'N', 'R'][d(k, 29, 3) + 1] AS l_returnflag, ['F', 'O'][d(k, 30, 2) + 1] AS l_linestatus,
            DATE '1992-01-01' + CAST(d(i, 19, 2400) + 1 + d(k, 31, 60) AS INTEGER) AS l_shipdate,
            DATE '1992-01-01' + CAST(d(i, 19, 2400) + 20 + d(k, 32, 60) AS INTEGER) AS l_commitdate,
            DATE '1992-01-01' + CAST(d(i, 19, 2400) + 10 + d(k, 31, 60) + d(k, 33, 30) AS INTEGER) AS l_receiptdate,
            ['DELIVER IN PERSON', 'NONE'][d(k, 34, 2) + 1] AS l_shipinstruct,
            ['AIR', 'MAIL', 'SHIP', 'REG AIR', 'TRUCK'][d(k, 35, 5) + 1] AS l_shipmode, 'l' AS l_comment
            FROM (SELECT i, j, 7 * i + j AS k, d(7 * i + j, 23, {PARTS}) AS p
                  FROM range({ORDERS}) AS t(i), range(7) AS s(j) WHERE j <= d(i, 36, 7))""",
    }


def create(connection: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Path]:
    """The tables in a DuckDB connection, and as Parquet files."""
    connection.execute("CREATE MACRO d(i, salt, n) AS CAST(md5_number_lower(i || '/' || salt) % n AS BIGINT)")
    files: dict[str, Path] = {}
    for name, select in tables().items():
        connection.execute(f"CREATE TABLE {name} AS {select}")
        files[name] = folder / f"{name}.parquet"
        connection.execute(f"COPY {name} TO '{files[name]}'")
    return files


def query(number: int) -> str:
    return (FOLDER / f"q{number:02}.sql").read_text(encoding="utf-8").strip().rstrip(";")


def catalog() -> Catalog:
    """tpch.yaml without its file, so that no ledger is ever made beside it."""
    return loads((FOLDER / "tpch.yaml").read_text(encoding="utf-8"), name="tpch.yaml")
