"""The made-up world of the SQL cases: a clinic in which patients have visits, and visits have items through a path.

clean:  visit_id is unique, so DuckDB on the same rows is the oracle of exact mode.
dirty:  one visit_id of two patients, rows without a patient, NULL and foreign keys, ties, NaN, values beyond bounds.
empty:  no private rows at all.
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dpsql.testing import Replayer
from tests.worlds import ASKED, bounded, dataset, keys, private, public, through

SPECIALTIES = ["cardiology", "oncology", "surgery"]
CATALOG: dict[str, Any] = dataset(
    {
        "patients": private(
            {"sex": keys("F", "M"), "age": bounded("integer", 0, 100), "city": "text"},
            unit="patient_id",
            max_groups=1,
            max_rows=1,
        ),
        "visits": private(
            {
                "visit_id": "integer",
                "patient_id": "integer",
                "specialty": keys(*SPECIALTIES),
                "duration": bounded("real", 0, 240),
                "cost": bounded("decimal(9, 2)", 0, 500),
                "visited_on": bounded("date", "2020-01-01", "2020-12-31", nullable=False),
                "referrer": "text",
                "score": "integer",
            },
            unit="patient_id",
            max_groups=2,
            max_rows=2,
        ),
        "items": private(
            {"visit_id": "integer", "code": "text", "quantity": bounded("integer", 0, 9, nullable=False)},
            unit=through("visits", visit_id="visit_id"),
            max_groups=2,
            max_rows=3,
        ),
        "specialties": public({"name": "text", "floor": bounded("integer", 0, 9), "head": "text"}),
        "prices": public({"code": "text", "price": bounded("decimal(9, 2)", 0, 99)}),
        "numbers": public({"n": "integer"}),
    },
    unit="patient",
    budget={"epsilon": 1000, "delta": 1e-3},
    per_query=ASKED,
    views={
        "long_visits": "SELECT * FROM visits WHERE duration > 60",
        "per_patient": "SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id",
        "by_specialty": "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty",
    },
)
PUBLIC = {
    "specialties": pd.DataFrame({"name": SPECIALTIES, "floor": [1, 2, 2], "head": ["Ada", "Bo", "Bo"]}),
    "prices": pd.DataFrame({"code": ["a", "b", "b", "d"], "price": [1.5, 2.25, 3.0, 9.0]}),
    "numbers": pd.DataFrame({"n": range(20_000)}),
}


def clean() -> dict[str, pd.DataFrame]:
    draw = np.random.default_rng(5)
    visits = 60
    day = draw.integers(0, 90, visits)  # few days, so that there are ties
    return {
        "patients": pd.DataFrame(
            {
                "patient_id": range(1, 15),
                "sex": draw.choice(["F", "M"], 14),
                "age": draw.integers(0, 100, 14),
                "city": draw.choice(["Bern", "Basel"], 14),
            }
        ),
        "visits": pd.DataFrame(
            {
                "visit_id": range(100, 100 + visits),
                "patient_id": draw.integers(4, 20, visits),  # some have no visit, some are in no other table
                "specialty": draw.choice(SPECIALTIES, visits),
                "duration": draw.integers(0, 960, visits) / 4,
                "cost": draw.integers(0, 2000, visits) / 4,
                "visited_on": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D"),
                "referrer": draw.choice(["Dr A", "Dr B", None], visits),
                "score": [None if v == 0 else int(v) for v in draw.integers(0, 7, visits)],
            }
        ).astype({"score": "Int64"}),
        "items": pd.DataFrame(
            {
                "visit_id": draw.integers(100, 100 + visits, 80),
                "code": draw.choice(["a", "b", "c", None], 80),
                "quantity": draw.integers(0, 10, 80),
            }
        ),
    }


def dirty() -> dict[str, pd.DataFrame]:
    """Few units, each with a trouble of its own."""
    tables = clean()
    visits = tables["visits"].iloc[:30].copy().astype({"patient_id": "Int64", "visit_id": "Int64"})
    visits["patient_id"] = [int(p) % 6 + 1 for p in visits["patient_id"]]
    visits.loc[visits.index[:2], "patient_id"] = None
    visits.loc[visits.index[3], "visit_id"] = int(visits["visit_id"].iloc[4])  # one key, two patients
    visits.loc[visits.index[5], "visit_id"] = int(visits["visit_id"].iloc[6])
    visits.loc[visits.index[[3, 5]], "specialty"] = "surgery"
    visits.loc[visits.index[[4, 6]], "specialty"] = "oncology"
    visits.loc[visits.index[7], "visit_id"] = None
    visits.loc[visits.index[8], "specialty"] = "astrology"
    visits.loc[visits.index[9], "specialty"] = None
    visits.loc[visits.index[10], "duration"] = float("nan")
    visits.loc[visits.index[11], "duration"] = 1e9
    visits.loc[visits.index[12], "score"] = 2**62
    visits.loc[visits.index[13], "score"] = -(2**62)
    items = tables["items"].iloc[:40].copy().astype({"visit_id": "Int64"})
    items["visit_id"] = [
        104 if n % 4 == 0 else 100 + int(v) % 34 for n, v in enumerate(items["visit_id"])
    ]  # some belong to no visit
    items.loc[items.index[:2], "visit_id"] = None
    twins = pd.concat([visits, visits.iloc[14:20], visits.iloc[14:20]])  # rows that are equal in every column
    patients = tables["patients"].iloc[:5].copy()
    patients.loc[patients.index[0], "age"] = 500
    return {"patients": pd.concat([patients, patients.iloc[:1]]), "visits": twins, "items": items}


def empty() -> dict[str, pd.DataFrame]:
    return {name: frame.iloc[:0] for name, frame in clean().items()}


def source(private: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {**private, **PUBLIC}


def replayer() -> Replayer:
    """Over the clean world."""
    return Replayer(CATALOG, source(clean()))


def oracle(private: dict[str, pd.DataFrame]) -> duckdb.DuckDBPyConnection:
    """DuckDB over the cleaned tables: declared types, and nothing else to clean in the clean world."""
    connection = duckdb.connect()
    connection.execute("SET default_null_order = 'nulls_last'")
    for name, frame in source(private).items():
        connection.register("frame", frame)
        columns = CATALOG["tables"][name]["columns"]
        casts = {"integer": "BIGINT", "text": "VARCHAR", "real": "DOUBLE", "date": "DATE"}
        items = []
        for column, declared in columns.items():
            kind = declared if isinstance(declared, str) else declared["type"]
            items.append(f'CAST("{column}" AS {casts.get(kind, kind)}) AS "{column}"')
        connection.execute(f"CREATE TABLE {name} AS SELECT {', '.join(items)} FROM frame")
        connection.unregister("frame")
    for name, text in CATALOG["views"].items():
        connection.execute(f"CREATE VIEW {name} AS {text}")
    return connection
