"""Paths that an owner writes. Nothing is opened."""

from __future__ import annotations

import os
from pathlib import Path

from dpsql.metadata.addresses import holds_password, scheme_of
from dpsql.metadata.reading import Reader, quoted
from dpsql.metadata.tree import Tree, printable

SOURCE_FORMS = (
    "write a .parquet or .csv path, a folder, a glob, a list of them, {database: f.duckdb, table: main.visits}, or "
    "postgresql://user@host/database, or {spark: sc://host:15002, table: schema.visits}"
)


def path_text(reader: Reader, tree: Tree) -> str | None:
    text = reader.text(tree, "a path")
    if text is None:
        return None
    if "://" in text:  # what follows may hold a password
        fix = "give a path on this machine, postgresql://user@host/database, or pass source= to connect()"
        reader.problem(tree.where, f"the source at {printable(scheme_of(text)[:20])}:// is not on this machine", fix)
        return None
    if holds_password(text):
        reader.problem(tree.where, "a path with : and @ looks like an address with a password", SOURCE_FORMS)
        return None
    if not text.isprintable():
        reader.problem(tree.where, f"the path {quoted(text)} has unprintable characters", "rename the file")
        return None
    return text


def absolute(folder: Path, text: str) -> Path:
    """The path as seen from the catalog's folder, without `..`: the engine allows exactly this path."""
    return Path(os.path.abspath(folder / text))
