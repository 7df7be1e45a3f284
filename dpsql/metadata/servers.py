"""Reading a source that is on a database server. Nothing is connected to."""

from __future__ import annotations

from pathlib import Path

from dpsql.catalog.model import ServerAddress, ServerSource
from dpsql.metadata.addresses import AddressError, is_address, read_address
from dpsql.metadata.paths import SOURCE_FORMS, absolute, path_text
from dpsql.metadata.reading import Reader, described, quoted
from dpsql.metadata.tree import Fields, Scalar, Tree

FIELDS = ("database", "table", "password_file", "timeout", "system")
LONGEST_TIMEOUT = 7 * 24 * 3600


def is_server(tree: Tree) -> bool:
    value = getattr(tree, "value", None)
    return isinstance(value, str) and is_address(value)


def read_server(reader: Reader, tree: Fields, folder: Path) -> ServerSource | None:
    """A database server's table in the long form."""
    fields, table = reader.fields(tree, "source", FIELDS), tree.entries.get("table")
    name = None if table is None else reader.text(table[1], "table")
    if fields is None or table is None or name is None:
        if table is None:
            reader.problem(tree.where, "a database source needs database and table", SOURCE_FORMS)
        return None
    parts = name.split(".")
    if len(parts) > 2 or not all(part and part.isprintable() for part in parts):
        reader.problem(table[0], f"{quoted(name)} is not of the form schema.table", "write public.visits")
        return None
    path, system = fields.entries.get("password_file"), fields.entries.get("system")
    password = None if path is None else path_text(reader, path[1])
    return server(
        reader,
        tree.entries["database"][1],
        (parts[0] if len(parts) == 2 else "public", parts[-1]),
        password_file=None if password is None else absolute(folder, password),
        timeout=timeout_of(reader, fields),
        system=None if system is None else _system(reader, system[1]),
    )


def server(
    reader: Reader,
    tree: Tree,
    table: tuple[str, str],
    *,
    password_file: Path | None = None,
    timeout: int | None = None,
    system: str | None = None,
) -> ServerSource | None:
    text = getattr(tree, "value", None)
    assert isinstance(text, str)
    address: ServerAddress | None = None
    try:
        address = read_address(text, password_file=password_file, timeout=timeout)
    except AddressError as error:
        reader.problem(tree.where, error.what, error.fix)
    return None if address is None else ServerSource(address=address, table=table, system=system)


def timeout_of(reader: Reader, fields: Fields) -> int | None:
    entry = fields.entries.get("timeout")
    value = None if entry is None else getattr(entry[1], "value", None)
    if entry is None or isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LONGEST_TIMEOUT:
        return value
    reader.problem(entry[0], f"timeout cannot be {described(entry[1])}", f"write 1 to {LONGEST_TIMEOUT} (seconds)")
    return None


def _system(reader: Reader, tree: Tree) -> str | None:
    """Up to 20 digits, which YAML takes for a number."""
    digits = tree.text if isinstance(tree, Scalar) else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= 20:
        return digits
    reader.problem(
        tree.where, f"system cannot be {described(tree)}", "write what pg_control_system() says, 17 to 20 digits"
    )
    return None
