"""What the rules need besides their inputs: the catalog, fresh ids, and facts of public tables the session has read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsql.catalog.model import Catalog
from dpsql.domain.types import Atom
from dpsql.plan.tracked import Tie, Tracked
from dpsql.sql.bind.context import Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackContext:
    """keys_of: the values of public columns that `keys: {from: …}` names, read by the session: (table, column) → values.

    releases: the releases tracked so far, by the identity of their node: a CTE that is used twice is answered once.
    ties: for keys of correlated subqueries, by column id, what the outer query equates them with.
    """

    catalog: Catalog
    ids: Ids
    keys_of: Mapping[tuple[str, str], tuple[Atom, ...]] = field(default_factory=dict)
    releases: dict[int, Tracked] = field(default_factory=dict)
    ties: dict[int, Tie] = field(default_factory=dict)
