"""What a unit votes with, by the number of its groups (privacy/selection.py)."""

from __future__ import annotations

import numpy as np

from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import Columns


def votes_of_pairs(stage: NoisyStage, votes: tuple[int, ...], tables: dict[str, Columns]) -> str:
    """SELECT u and what it votes for each of its groups. pairs: a unit and one of its groups."""
    table = votes_table(stage, votes, tables)
    sizes = "(SELECT u, count(*) AS n FROM pairs GROUP BY u) AS sizes"
    return f"SELECT u, {table}.votes FROM {sizes} JOIN {table} ON sizes.n = {table}.groups"


def votes_table(stage: NoisyStage, votes: tuple[int, ...], tables: dict[str, Columns]) -> str:
    """By the number of a unit's groups."""
    name = f"votes_{stage.number}"
    tables[name] = {"groups": np.arange(1, len(votes) + 1, dtype=np.int64), "votes": np.array(votes, dtype=np.int64)}
    return name
