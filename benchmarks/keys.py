"""What do two million unknown keys cost? The vault's statements against all the rest of a query, in seconds."""

from __future__ import annotations

import argparse

import numpy as np

import dpsql
from benchmarks._vault_time import in_vault, vault_time

CATALOG = {
    "dataset": "unknown_keys",
    "unit": "person",
    "budget": {"epsilon": 10, "delta": 1e-6},
    "per_query": {"epsilon": 1, "delta": 1e-9},
    "tables": {
        "t": {
            "unit": "u",
            "rows_per_unit": 20,
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
    held = rng.integers(0, chosen.keys, chosen.rows)
    held[: chosen.rows // 50] = 7  # one popular key
    names = np.char.add("key", held.astype("U10")).astype(object)
    frame = {"u": rng.integers(0, chosen.rows // 10, chosen.rows), "k": names, "x": held % 10}
    released: list[object] = []
    with dpsql.connect(CATALOG, source={"t": frame}, memory_limit=chosen.memory) as connection, vault_time() as spent:
        connection.execute("SELECT COUNT(*) FROM t WHERE x < 0")  # opens the source: the frame is copied
        query = "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k"
        before = len(spent)
        whole, vault = in_vault(spent, lambda: released.extend(connection.execute(query).fetchall()))
    print(f"{chosen.rows:,} rows, {np.unique(held).size:,} keys, {len(released):,} released in {whole.wall:.2f} s")
    for number, one in enumerate(spent[before:], start=1):
        print(f"statement {number} of the vault: {one.wall:.2f} s ({one.cpu:.2f} s of processors)")
    print(f"noise and all the rest: {whole.wall - vault.wall:.2f} s")
