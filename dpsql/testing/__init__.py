"""Tools for tests on made-up data: exact answers, the data without a unit, and replay of a statement on both.

Nothing here adds noise, asks a ledger, or can be reached from SQL, YAML or the environment. Never point it at real data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpsql.dbapi import Connection
from dpsql.frames import PrivateFrame
from dpsql.frames.root import from_keywords
from dpsql.session import open_session
from dpsql.testing.changes import SALT, Declared, Replayed, compare
from dpsql.testing.measurements import Totals
from dpsql.testing.physical import Replayer, replay
from dpsql.testing.removal import CatalogLike, Copies, neighbour, neighbour_files

__all__ = [
    "SALT",
    "Copies",
    "Declared",
    "Replayed",
    "Replayer",
    "Totals",
    "compare",
    "exact",
    "exact_frame",
    "neighbour",
    "neighbour_files",
    "replay",
]


def exact(catalog: CatalogLike, *, source: object = None, **options: Any) -> Connection:
    """A connection that adds no noise, withholds nothing and charges nothing: for tests on made-up data only."""
    return Connection(open_session(catalog, source=source, exact=True, **options))


def exact_frame(data: object, **keywords: Any) -> PrivateFrame:
    """A PrivateFrame from keywords that adds no noise, withholds nothing and charges nothing: for tests only."""
    said = {"epsilon": 1, "delta": Fraction(1, 10**9), "dataset": "exact", "analyst": None, "budget": 1, **keywords}
    account = {name: said.pop(name) for name in ("epsilon", "delta", "dataset", "analyst", "budget")}
    described = {"bounds": {}, "keys": {}, "types": {}, "not_null": (), "row_is_unit": False}
    described |= {"unit": None, "max_groups": None, "max_rows": None, **said}
    return PrivateFrame.over(from_keywords(data, described, exact=True, **account))
