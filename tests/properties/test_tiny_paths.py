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
from tests.worlds import private, through

Key = int | None
UnitKeys = tuple[Key, ...]  # the keys of a unit's rows of `o`
Item = tuple[Key, str, Value]  # its foreign key, k, v
ITEM_VALUES: tuple[Value, Value] = (-4, 3)


def path_worlds() -> list[tuple[tuple[UnitKeys, ...], tuple[Item, ...]]]:
    """At most two units, each with at most two rows of the keys 0, 1 and NULL (also both the same); at most two items."""
    held: list[UnitKeys] = [(), *((k,) for k in (0, 1, None)), *itertools.combinations_with_replacement((0, 1), 2)]
    items: list[Item] = [(key, k, v) for key in (0, 1) for k in KEYS for v in ITEM_VALUES] + [
        (None, "a", 3),
        (2, "b", 3),
    ]
    rows = [(), *((item,) for item in items), *itertools.combinations_with_replacement(items, 2)]
    return list(itertools.product(itertools.combinations_with_replacement(held, 2), rows))


def reached(held: Sequence[UnitKeys], items: Sequence[Item]) -> list[Unit]:
    """An item counts once for each unit that owns its key, however often."""
    return [tuple((k, v) for key, k, v in items if key is not None and key in keys) for keys in held]


def met(held: Sequence[UnitKeys], items: Sequence[Item]) -> list[Unit]:
    """Joined with the owner's rows, an item stands once for each of them."""
    return [tuple((k, v) for key, k, v in items for one in keys if one == key is not None) for keys in held]


def kept(held: Sequence[UnitKeys], items: Sequence[Item]) -> list[Unit]:
    """Owners' rows LEFT JOIN items: rows that meet none stay, under the key 'b'."""
    units: list[Unit] = []
    for keys in held:
        rows: list[Row] = []
        for one in keys:
            rows += [(k, v) for key, k, v in items if one is not None and key == one] or [("b", None)]
        units.append(tuple(rows))
    return units


def of_the_first(held: Sequence[UnitKeys], items: Sequence[Item]) -> list[Unit]:
    return [*reached(held[:1], items), ()]


def of_the_second(held: Sequence[UnitKeys], items: Sequence[Item]) -> list[Unit]:
    return [(), *reached(held[1:], items)]


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
    derived = [rows(held, items) for held, items in every]
    for limits in LIMITS:
        described = tiny.catalog("integer", limits, KEYS, len(every))
        columns = described["tables"].pop("t")["columns"]
        declared = {"rows_per_unit": limits[0], "groups_per_unit": limits[1]}
        ends = {"world": columns["world"], "id": "integer"}
        described["tables"]["o"] = private({**ends, "u": "integer", "f": "integer"}, **declared)
        path = through("o", id="id")
        described["tables"]["i"] = private({**ends, "k": columns["k"], "v": columns["v"]}, unit=path, **declared)
        tiny.compare(described, path_tables(every), relation, derived, limits, rules=of_units(unit))


def path_tables(every: Sequence[tuple[Sequence[UnitKeys], Sequence[Item]]]) -> dict[str, pa.Table]:
    def named(at: int, key: Key) -> Key:
        return None if key is None else 10 * at + key

    held = [
        (at, 2 * at + n, named(at, key), n) for at, (us, _) in enumerate(every) for n, u in enumerate(us) for key in u
    ]
    items = [(at, named(at, key), k, v) for at, (_, rows) in enumerate(every) for key, k, v in rows]
    return {"o": _table(("world", "u", "id", "f"), held), "i": _table(("world", "id", "k", "v"), items)}


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    types = {name: pa.string() if name == "k" else pa.int64() for name in names}
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(cells), types[name]) for name, cells in columns})
