"""What do two million unknown keys cost? The vault's aggregation against the noise of the release, in seconds."""

from __future__ import annotations

import argparse
import time

import numpy as np
from dpsql.plan.render.bounding import bounding

from dpsql.engine.vault import Vault
from dpsql.query import plan_of, read
from dpsql.release import Exact, release
from dpsql.session import open_session
from dpsql.vault_sql import vault_relations

CATALOG = {
    "dataset": "unknown_keys",
    "unit": "person",
    "budget": {"epsilon": 10, "delta": 1e-6},
    "per_query": {"epsilon": 1, "delta": 1e-9},
    "tables": {
        "t": {
            "unit": "u",
            "max_groups": 20,
            "max_rows": 1,
            "columns": {"u": "integer", "k": "text", "x": {"type": "integer", "lower": 0, "upper": 9}},
        }
    },
}


def main(argv: list[str]) -> None:
    """--rows N (4,000,000), --keys N (2,000,000), --memory LIMIT: what the vault may use; beyond it rows are spilled."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks keys")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--keys", type=int, default=2_000_000)
    parser.add_argument("--memory", default=None)
    chosen = parser.parse_args(argv)
    rng = np.random.default_rng(20261118)
    own = rng.integers(0, chosen.keys, chosen.rows)
    own[: chosen.rows // 50] = 7  # one popular key
    names = np.char.add("key", own.astype("U10")).astype(object)
    frame = {"u": rng.integers(0, chosen.rows // 10, chosen.rows), "k": names, "x": own % 10}
    session = open_session(CATALOG, source={"t": frame}, memory_limit=chosen.memory)
    stage = plan_of(session, read("SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k")).stages[0]
    vault: Vault = session.vault()
    query = bounding(stage, vault_relations(session, vault, stage), salt=1, exact=False)
    started = time.perf_counter()
    exact = vault.run(query.sql)
    aggregated = time.perf_counter()
    noisy = release(Exact(exact), stage)
    released = time.perf_counter()
    print(f"{len(exact['here']):,} keys aggregated in {aggregated - started:.2f} s, {noisy.rows:,} released")
    print(f"noise: one unit count for each key, the rest for those released: {released - aggregated:.2f} s")
    session.close()
