"""Every tiny world of a table that finds its unit through a foreign key, also of a key that two units own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.properties import test_tiny_worlds as tiny
from tests.properties.test_tiny_relations import LIMITS, of_units
from tests.properties.test_tiny_worlds import KEYS, Row, Unit, Value

Key = int | None
Owner = tuple[Key, ...]  # the keys of a unit's rows of `o`
Item = tuple[Key, str, Value]  # its foreign key, k, v
ITEM_VALUES: tuple[Value, Value] = (-4, 3)


def path_worlds() -> list[tuple[tuple[Owner, ...], tuple[Item, ...]]]:
    """At most two units, each with at most two rows of the keys 0, 1 and NULL (also both the same); at most two items."""
    owners: list[Owner] = [(), *((k,) for k in (0, 1, None)), *itertools.combinations_with_replacement((0, 1), 2)]
    items: list[Item] = [(key, k, v) for key in (0, 1) for k in KEYS for v in ITEM_VALUES] + [
        (None, "a", 3),
        (2, "b", 3),
    ]
    rows = [(), *((item,) for item in items), *itertools.combinations_with_replacement(items, 2)]
    return list(itertools.product(itertools.combinations_with_replacement(owners, 2), rows))


def reached(owners: Sequence[Owner], items: Sequence[Item]) -> list[Unit]:
    """An item counts once for each unit that owns its key, however often."""
    return [tuple((k, v) for key, k, v in items if key is not None and key in owner) for owner in owners]


def met(owners: Sequence[Owner], items: Sequence[Item]) -> list[Unit]:
    """Joined with the owner's rows, an item stands once for each of them."""
    return [tuple((k, v) for key, k, v in items for own in owner if own == key is not None) for owner in owners]


def kept(owners: Sequence[Owner], items: Sequence[Item]) -> list[Unit]:
    """Owners' rows LEFT JOIN items: rows that meet none stay, under the key 'b'."""
    found: list[Unit] = []
    for owner in owners:
        rows: list[Row] = []
        for own in owner:
            rows += [(k, v) for key, k, v in items if own is not None and key == own] or [("b", None)]
        found.append(tuple(rows))
    return found


def of_the_first(owners: Sequence[Owner], items: Sequence[Item]) -> list[Unit]:
    return [*reached(owners[:1], items), ()]


def of_the_second(owners: Sequence[Owner], items: Sequence[Item]) -> list[Unit]:
    return [(), *reached(owners[1:], items)]


PATHS: dict[str, tuple[str, Callable[..., list[Unit]], bool]] = {
    "path": ("i", reached, False),
    "join that serves as the path": (
        "(SELECT i.world, u, i.k, v FROM i JOIN o ON i.id = o.id) AS q",
        met,
        True,
    ),
    "join with the path kept": (
        "(SELECT o.world, u, COALESCE(i.k, 'b') AS k, v FROM o LEFT JOIN i ON i.id = o.id) AS q",
        kept,
        True,
    ),
    "exists along the path": (
        "(SELECT i.* FROM i WHERE EXISTS (SELECT 1 FROM o WHERE o.id = i.id)) AS q",
        reached,
        False,
    ),
    "exists of one's own along the path": (
        "(SELECT i.* FROM i WHERE EXISTS (SELECT 1 FROM o WHERE o.id = i.id AND o.f = 0)) AS q",
        of_the_first,
        False,
    ),
    "not exists of one's own along the path": (
        "(SELECT i.* FROM i WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.id = i.id AND o.f = 0)) AS q",
        of_the_second,
        False,
    ),
    "in, along the path": (
        "(SELECT i.* FROM i WHERE id IN (SELECT id FROM o WHERE f = 1)) AS q",
        of_the_second,
        False,
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_every_tiny_world_of_a_path(name: str) -> None:
    """Also with one key that two units own: its items are items of both."""
    every = path_worlds()
    relation, rows, unit = PATHS[name]
    derived = [rows(owners, items) for owners, items in every]
    for limits in LIMITS:
        described = tiny.catalog("integer", limits, KEYS, len(every))
        columns = described["tables"].pop("t")["columns"]
        own = {"rows_per_unit": limits[0], "groups_per_unit": limits[1]}
        ends = {"world": columns["world"], "id": "integer"}
        described["tables"]["o"] = {"unit": "u", **own, "columns": {**ends, "u": "integer", "f": "integer"}}
        path = {"through": "o", "on": {"id": "id"}}
        described["tables"]["i"] = {"unit": path, **own, "columns": {**ends, "k": columns["k"], "v": columns["v"]}}
        tiny.compare(described, path_tables(every), relation, derived, limits, rules=of_units(unit))


def path_tables(every: Sequence[tuple[Sequence[Owner], Sequence[Item]]]) -> dict[str, pa.Table]:
    def named(at: int, key: Key) -> Key:
        return None if key is None else 10 * at + key

    owners = [
        (at, 2 * at + n, named(at, key), n) for at, (us, _) in enumerate(every) for n, u in enumerate(us) for key in u
    ]
    items = [(at, named(at, key), k, v) for at, (_, rows) in enumerate(every) for key, k, v in rows]
    return {"o": _table(("world", "u", "id", "f"), owners), "i": _table(("world", "id", "k", "v"), items)}


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    types = {name: pa.string() if name == "k" else pa.int64() for name in names}
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(cells), types[name]) for name, cells in columns})
