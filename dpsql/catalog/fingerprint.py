"""The fingerprint of a catalog: equal exactly when everything that decides what an answer means is equal."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from dpsql.catalog.model import Catalog

# Words for people, places in the text, and who may spend how much: none of it changes what an answer means.
LEFT_OUT = frozenset(
    {"description", "where", "path", "folder", "temp_folder", "restricted"}
    | {"ledger", "budget", "per_query", "max_per_query", "analysts", "delta_keys"}
    | {"max_delta", "units"}
    # How a server is reached: that two ways lead to one database is seen as it is opened (sources/identity.py).
    | {"parameters", "password_file", "timeout", "cluster"}
)


def fingerprint(catalog: Catalog) -> str:
    """SHA-256 of the privacy-relevant content: dataset, version, unit, sources, types, bounds, keys, caps, views.

    Two catalogs with one fingerprint give identical plans and read the same places. Paths count relative to the
    catalog's folder, so a dataset that is moved as a whole keeps its fingerprint.
    """
    text = json.dumps(_plain(catalog, catalog.folder), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object, folder: Path | None) -> object:
    """JSON in which different values stay different: 1, 1.0, true and "1" are told apart by their type."""
    match value:
        case None | bool() | str():
            return value
        case int() | Fraction() | float():
            return [type(value).__name__, str(value)]
        case enum.Enum():
            return value.value
        case Path():
            return os.path.relpath(value, folder) if folder is not None and folder.is_absolute() else str(value)
        case Mapping():
            return {str(key): _plain(item, folder) for key, item in value.items()}
        case frozenset():
            return sorted(str(item) for item in value)
        case tuple() | list():
            return [_plain(item, folder) for item in value]
        case _ if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value) if field.name not in LEFT_OUT]
            return {name: _plain(getattr(value, name), folder) for name in names}
        case _:
            raise TypeError(f"the fingerprint does not know a {type(value).__name__}")
