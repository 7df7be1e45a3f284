"""A limit that the data choose and the count that is measured with it, end to end: together they tell no more than ε.

The worlds differ in one heavy unit. There are as many heavy units as make a small limit and a large one equally good, which
is where one unit moves the choice most; the event is the small limit with a low count.
"""

from __future__ import annotations

import dataclasses
import math
from contextlib import closing
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpsql.execution.known import check
from dpsql.execution.planning import plan_of, read
from dpsql.execution.release_stages import vault_totals
from dpsql.execution.vault_sql import vault_relations, vault_run
from dpsql.plan.balls import FULL
from dpsql.plan.ready import with_public_keys
from dpsql.plan.render.limits import counting
from dpsql.privacy.settling import settled
from dpsql.release.limits import released_limits
from dpsql.release.totals import release
from dpsql.session import open_session
from tests.worlds import people

EPSILON, HEAVY, ROWS, RUNS, SIGMAS = 1.0, 61, 64, 20_000, 5.2
CATALOG: dict[str, Any] = people({}, budget={"epsilon": 10})


def world(heavy: int) -> pd.DataFrame:
    return pd.DataFrame({"u": np.repeat(np.arange(heavy), ROWS)})


def runs(heavy: int) -> list[tuple[int, int]]:
    """The limit and the noisy count, of many runs."""
    source = {"t": world(heavy)}
    with closing(open_session(CATALOG, source=source, charged=False, epsilon=Fraction(1))) as session:
        plan = plan_of(session, read("SELECT COUNT(*) AS n FROM t"))
        (stage,), plan_sql, vault = plan.stages, check(session, plan), session.vault()
        ready = with_public_keys(stage)
        asked = counting(ready, vault_relations(session, vault, stage))
        above = vault_run(session, stage, plan_sql, vault, asked)
        choice, totals, outcomes = stage.choices[0], {}, []
        for limit in choice.candidates:
            then = dataclasses.replace(ready, stage=settled(stage, [limit]))
            totals[limit] = (vault_totals(session, then, plan_sql, vault, exact=False), then)
        for _ in range(RUNS):
            (limit,) = released_limits(above, ready, {})
            (count,) = release(*totals[limit]).columns["m0_0"].tolist()
            outcomes.append((limit, count * totals[limit][1].stage.noised[0].draw.grid // FULL))
    return outcomes


def test_the_whole_query_tells_no_more_than_epsilon() -> None:
    with_, without = runs(HEAVY), runs(HEAVY - 1)
    assert 0.05 < np.mean([limit == 1 for limit, _ in with_]) < 0.95, "the choice is not where one unit moves it most"
    low = HEAVY - 1
    p = float(np.mean([limit == 1 and count < low for limit, count in without]))
    q = float(np.mean([limit == 1 and count < low for limit, count in with_]))
    deviation = math.sqrt((p * (1 - p) + math.exp(2 * EPSILON) * q * (1 - q)) / RUNS)
    assert p - math.exp(EPSILON) * q <= SIGMAS * deviation
    measured = math.log(p / q) - SIGMAS * math.sqrt((1 - p) / p / RUNS + (1 - q) / q / RUNS)
    assert 0.7 * EPSILON <= measured <= EPSILON  # nor is ε wasted: about 0.75 of it is the count's alone
