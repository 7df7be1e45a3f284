"""The four datasets. Each table is a function of a fixed seed alone, so every machine has the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpsql.engine.sample_writer import write_parquet

SEED = 20261118
STUDENTS, SMALL_FAMILIES = 649, 192
PATIENTS, OFTEN_ILL, MOST_VISITS = 5_000, 750, 22
BROWSERS, POPULAR, RARE = 9_000, 20, 4_000
SCORES = (85, 84, 85, 89, 92, 95, 100, 83, 70, 67)

SPECIALTIES = ("cardiology", "oncology", "surgery", "neurology", "pediatrics", "orthopedics")
SPECIALTY_SHARES = (0.26, 0.12, 0.18, 0.10, 0.20, 0.14)
REFERRERS = ("general practice", "emergency", "self", "another hospital")

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """columns: the cells; types: the SQL type of each column."""

    columns: Mapping[str, Array]
    types: Mapping[str, str]


def student() -> Mapping[str, Table]:
    """649 pupils of two schools with the totals of the well-known data: famsize LE3 192 and GT3 457."""
    rng = np.random.default_rng([SEED, 1])
    n = STUDENTS
    famsize = np.where(rng.permutation(n) < SMALL_FAMILIES, "LE3", "GT3")
    school = np.where(rng.random(n) < 0.65, "GP", "MS")
    age = np.clip(15 + rng.binomial(10, 0.18, n), 15, 25)
    failures = rng.choice(4, n, p=[0.84, 0.11, 0.03, 0.02])
    studytime = rng.choice([1, 2, 3, 4], n, p=[0.33, 0.47, 0.15, 0.05])
    absences = np.clip(rng.negative_binomial(1, 0.2, n), 0, 50)
    skill = 11.2 + 0.7 * (studytime - 2) - 1.9 * failures + 0.6 * (school == "GP") + rng.normal(0, 2.4, n)
    g1, g2, g3 = (_grade(skill + rng.normal(0, 0.8, n)) for _ in range(3))
    age[0], age[1], absences[0], absences[1], g3[0], g3[1] = 15, 25, 0, 50, 0, 20  # both ends of each range occur
    columns: dict[str, Array] = {
        "school": school,
        "sex": np.where(rng.random(n) < 0.59, "F", "M"),
        "age": age,
        "famsize": famsize,
        "studytime": studytime,
        "failures": failures,
        "internet": rng.random(n) < 0.77,
        "absences": absences,
        "G1": g1,
        "G2": g2,
        "G3": g3,
    }
    text = {"school": "VARCHAR", "sex": "VARCHAR", "famsize": "VARCHAR", "internet": "BOOLEAN"}
    return {"student": Table(columns=columns, types={name: text.get(name, "INTEGER") for name in columns})}


def _grade(value: Array) -> Array:
    return np.clip(np.rint(value), 0, 20).astype(np.int64)


def hospital() -> Mapping[str, Table]:
    """Visits of 5,000 patients, 1 to 22 each, exactly 85 % with at most 5; and the public list of specialties."""
    rng = np.random.default_rng([SEED, 2])
    seldom = rng.choice([1, 2, 3, 4, 5], PATIENTS - OFTEN_ILL, p=[0.35, 0.26, 0.18, 0.12, 0.09])
    often = np.minimum(6 + rng.geometric(0.25, OFTEN_ILL) - 1, MOST_VISITS)
    often[0] = MOST_VISITS
    patient = np.repeat(rng.permutation(PATIENTS) + 1, np.concatenate([seldom, often]))
    order = rng.permutation(len(patient))
    patient = patient[order]
    n = len(patient)
    specialty = rng.choice(np.array(SPECIALTIES), n, p=SPECIALTY_SHARES)
    referrer = np.ma.masked_array(rng.choice(np.array(REFERRERS), n), mask=rng.random(n) < 0.05)
    day = np.datetime64("2020-01-01") + rng.integers(0, 366, n)
    visits: dict[str, Array] = {
        "visit_id": np.arange(1, n + 1),
        "patient_id": patient,
        "specialty": specialty,
        "duration": np.round(np.clip(rng.gamma(3.0, 14.0, n), 2, 240), 1),
        "visited_on": np.sort(day).astype("datetime64[us]"),
        "referrer": referrer,
    }
    types = dict(zip(visits, ("BIGINT", "BIGINT", "VARCHAR", "DOUBLE", "DATE", "VARCHAR"), strict=True))
    return {"visits": Table(columns=visits, types=types), "specialties": _specialties()}


def _specialties() -> Table:
    columns: dict[str, Array] = {"name": np.array(SPECIALTIES), "floor": np.array([2, 3, 1, 2, 0, 1])}
    return Table(columns=columns, types={"name": "VARCHAR", "floor": "INTEGER"})


def browser_logs() -> Mapping[str, Table]:
    """A week of 9,000 people's page views: 20 popular domains, and a long tail that only a few people visit."""
    rng = np.random.default_rng([SEED, 3])
    person = np.repeat(np.arange(1, BROWSERS + 1), 1 + rng.poisson(11, BROWSERS))
    rng.shuffle(person)
    n = len(person)
    shares = 1 / np.arange(1, POPULAR + 1)
    popular = rng.choice(POPULAR, n, p=shares / shares.sum())
    rare = (RARE * rng.random(n) ** 2).astype(np.int64)
    names = np.array([f"popular{i + 1:02}.example" for i in range(POPULAR)] + [f"rare{i}.example" for i in range(RARE)])
    microseconds = np.sort(rng.integers(0, 7 * 86_400_000_000, n))
    columns: dict[str, Array] = {
        "person_id": person,
        "domain": names[np.where(rng.random(n) < 0.88, popular, POPULAR + rare)],
        "visited_at": np.datetime64("2026-03-02", "us") + microseconds.astype("timedelta64[us]"),
        "seconds": np.round(np.clip(rng.lognormal(3.4, 1.1, n), 1, 3600), 1),
    }
    types = dict(zip(columns, ("BIGINT", "VARCHAR", "TIMESTAMP", "DOUBLE"), strict=True))
    return {"browser_logs": Table(columns=columns, types=types)}


def exam() -> Mapping[str, Table]:
    """Ten scores whose mean is 85, and 87 without the last."""
    columns: dict[str, Array] = {"student_id": np.arange(1, len(SCORES) + 1), "score": np.array(SCORES)}
    return {"exam": Table(columns=columns, types={"student_id": "BIGINT", "score": "INTEGER"})}


SAMPLES: Mapping[str, Callable[[], Mapping[str, Table]]] = {
    "student": student,
    "hospital": hospital,
    "browser_logs": browser_logs,
    "exam": exam,
}


def generate(name: str, folder: Path) -> tuple[Path, ...]:
    """Write the dataset's tables as folder/name/table.parquet; answers the paths."""
    paths = []
    for table, made in SAMPLES[name]().items():
        path = folder / name / f"{table}.parquet"
        write_parquet(path, made.columns, made.types)
        paths.append(path)
    return tuple(paths)
