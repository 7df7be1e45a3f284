"""Types as DuckDB has them."""

from __future__ import annotations

import itertools
import random

import duckdb

from dpsql.domain.types import common, decimal


def test_decimals_meet_as_in_duckdb() -> None:
    """Widths and scales at the edges of what 38 digits hold, and many between."""
    draw = random.Random(20261118)
    sizes = [(38, 0), (38, 38), (38, 10), (37, 1), (1, 1), (1, 0), (18, 3), (30, 29)]
    sizes += [(p, draw.randrange(p + 1)) for p in draw.choices(range(1, 39), k=20)]
    pairs = list(itertools.product(sizes, sizes))
    asked = ", ".join(
        f"typeof(COALESCE(CAST(NULL AS DECIMAL({p}, {s})), CAST(NULL AS DECIMAL({q}, {t}))))"
        for (p, s), (q, t) in pairs
    )
    with duckdb.connect() as connection:
        (wanted,) = connection.execute(f"SELECT {asked}").fetchall()
    met = [common(decimal(*one), decimal(*other)) for one, other in pairs]
    assert [None if type_ is None else type_.sql for type_ in met] == list(wanted)
