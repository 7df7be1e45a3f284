"""Mutated queries of the SQL cases through parser, binder and planner: a plan or one of dpsql's own errors, never a bug.

Some of the accepted ones run on the dirty world: no data may make one fail.
"""

from __future__ import annotations

import os
import random
import re

import pytest

import dpsql
from dpsql import testing
from tests.cases import clinic
from tests.cases.test_sql_cases import CASES

WORDS = re.compile(r"'[^']*'|[\w.]+|\s+|.", re.DOTALL)
TOKENS = [word for case in CASES for word in WORDS.findall(case.sql) if not word.isspace()]
# what happened to be fragile: subqueries, keys, windows, constants at the edges
EXTRA = [
    "NULL",
    "patient_id",
    "visit_id",
    "9223372036854775807",
    "-1",
    "0",
    "1e308",
    "''",
    "DISTINCT",
    "NOT",
    "*",
    "COUNT(*)",
]


def alike(word: str) -> list[str]:
    """Words of the same kind, which often still parse."""
    return BY_KIND.get(kind(word), TOKENS)


def kind(word: str) -> str:
    if word.startswith("'") or word[0].isdigit():
        return "constant"
    if word.isupper():
        return "function" if word in FUNCTIONS else "keyword"
    return "name" if word[0].isalpha() else "sign"


FUNCTIONS = {match for case in CASES for match in re.findall(r"([A-Z_]+) ?\(", case.sql)}
BY_KIND: dict[str, list[str]] = {}
for token in TOKENS:
    BY_KIND.setdefault(kind(token), []).append(token)


def mutate(source: random.Random, text: str) -> str:
    """One to three words replaced, mostly by their like, dropped, exchanged, or taken from another statement."""
    words = WORDS.findall(text)
    for _ in range(source.choice([1, 1, 2, 3])):
        at = source.choice([i for i, word in enumerate(words) if not word.isspace()] or [0])
        match source.randrange(8):
            case 0:
                words[at] = source.choice(EXTRA)
            case 1:
                words[at] = " "
            case 2:
                other = source.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                other_words = WORDS.findall(source.choice(CASES).sql)
                cut = source.randrange(len(other_words))
                words[at : at + 6] = other_words[cut : cut + 6]
            case _:
                words[at] = source.choice(alike(words[at]))
    return "".join(words)


def fuzz(seed: int, count: int, run_every: int) -> tuple[int, int]:
    """(how many were planned, how many ran)."""
    source = random.Random(seed)
    dirty = clinic.source(clinic.dirty())
    planned = ran = 0
    with testing.Replayer(clinic.CATALOG, dirty) as replayer, testing.exact(clinic.CATALOG, source=dirty) as exact:
        for _ in range(count):
            sql = mutate(source, source.choice(CASES).sql)
            try:
                plan = replayer.plan(sql)
            except dpsql.InternalError as bug:
                pytest.fail(f"{bug}\n{sql}")
            except dpsql.Error:
                continue
            planned += 1
            if plan.stages and planned % run_every == 0:
                ran += 1
                try:
                    exact.execute(sql).fetchall()
                except (dpsql.ExecutionError, dpsql.InternalError) as bug:
                    pytest.fail(f"{bug}\n{sql}")
                except dpsql.Error:
                    continue  # types that scratch alone knows, fan-out, post-processing
    return planned, ran


@pytest.mark.parametrize("seed", range(2))
def test_mutated_queries(seed: int) -> None:
    planned, ran = fuzz(seed, 2_500, 4)
    assert planned > 50 and ran > 10


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_mutated_queries(seed: int) -> None:
    fuzz(seed, int(os.environ.get("DPSQL_FUZZ", "10000")), 2)
