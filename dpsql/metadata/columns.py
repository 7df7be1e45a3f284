"""Reading the columns of a table: short form `name: type`, long form {type, keys, lower, upper, …}."""

from __future__ import annotations

from fractions import Fraction

from dpsql.catalog.model import ColumnSpec, Format, fold
from dpsql.domain.facts import KEY_LIMIT, Atom
from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind, Type
from dpsql.metadata.reading import Reader, described, number, quoted
from dpsql.metadata.sources import read_column_format
from dpsql.metadata.tree import Fields, Items, Scalar, Tree, printable
from dpsql.metadata.values import article, read_bound, read_key, read_type

COLUMN_FIELDS = ("type", "keys", "lower", "upper", "bounds", "like", "nullable", "unique", "format", "description")

LARGEST_LIKE = 10**15
AUTO = "auto"

Keys = tuple[Atom, ...]


def read_columns(reader: Reader, tree: Tree, table: str, form: Format | None) -> tuple[ColumnSpec, ...]:
    """Every column that could be read. Names must differ after folding. form: of the table, if it is a CSV."""
    fields = reader.fields(tree, f"columns of {printable(table)}", None)
    if fields is None:
        return ()
    if not fields.entries:
        reader.problem(
            fields.where, f"table {quoted(table)} lists no columns", "list them: unlisted columns do not exist"
        )
    columns: list[ColumnSpec] = []
    seen: dict[str, str] = {}
    for name, (where, entry) in fields.entries.items():
        if not reader.is_name(name, where, "the column"):
            continue
        if fold(name) in seen:
            what = f"the columns {quoted(seen[fold(name)])} and {quoted(name)} have the same name in SQL"
            reader.problem(where, what, "rename one of them in the data")
            continue
        seen[fold(name)] = name
        reader.places[table, name] = entry.where
        column = read_column(reader, name, where, entry, form)
        if column is not None:
            columns.append(column)
    return tuple(columns)


def read_column(reader: Reader, name: str, where: str, tree: Tree, form: Format | None) -> ColumnSpec | None:
    if isinstance(tree, Scalar):
        type_ = read_type(reader, tree)
        return None if type_ is None else ColumnSpec(name=name, type=type_)
    fields = reader.fields(tree, f"column {printable(name)}", COLUMN_FIELDS, "write a type, or {type: …}")
    if fields is None:
        return None
    entry = fields.entries.get("type")
    if entry is None:
        reader.problem(where, f"column {quoted(name)} has no type", "add type:")
        return None
    type_ = read_type(reader, entry[1])
    return None if type_ is None else _long_form(reader, name, type_, fields, form)


def _long_form(reader: Reader, name: str, type_: Type, fields: Fields, form: Format | None) -> ColumnSpec:
    interval = read_interval(reader, fields, type_)
    nullable, unique = _flag(reader, fields, "nullable", True), _flag(reader, fields, "unique", False)
    keys, keys_from = None, None
    if "keys" in fields.entries:
        where, tree = fields.entries["keys"]
        keys, keys_from = read_keys(reader, tree, type_)
        _check_keys(reader, where, keys or (), interval, nullable)
    description = fields.entries.get("description")
    return ColumnSpec(
        name=name,
        type=type_,
        description="" if description is None else reader.prose(description[1], "description") or "",
        interval=interval,
        bounds_auto=_bounds_auto(reader, fields, type_),
        like=read_like(reader, fields, type_),
        keys=keys,
        keys_from=keys_from,
        nullable=nullable,
        unique=unique,
        format=_format(reader, fields, form),
    )


def _format(reader: Reader, fields: Fields, form: Format | None) -> Format | None:
    entry = fields.entries.get("format")
    if entry is None:
        return None
    if form is None:
        reader.problem(entry[0], "format describes a column of a CSV, but the source is not a CSV", "remove format")
        return None
    return read_column_format(reader, entry[1], form)


def _flag(reader: Reader, fields: Fields, name: str, default: bool) -> bool:
    entry = fields.entries.get(name)
    value = None if entry is None else reader.boolean(entry[1], name)
    return default if value is None else value


def read_interval(reader: Reader, fields: Fields, type_: Type) -> Interval:
    """lower and upper, each optional; a lower above the upper is a problem."""
    ends: dict[str, Fraction | None] = {}
    for end in ("lower", "upper"):
        entry = fields.entries.get(end)
        ends[end] = None if entry is None else read_bound(reader, entry[1], type_, end)
    interval = Interval(ends["lower"], ends["upper"])
    if interval.is_empty:
        reader.problem(fields.at("lower"), "lower is above upper", "swap them")
        return Interval()
    return interval


def _bounds_auto(reader: Reader, fields: Fields, type_: Type) -> bool:
    """bounds: auto, for a number without lower and upper: each query that needs them spends a part of its ε."""
    entry = fields.entries.get("bounds")
    if entry is None:
        return False
    if not isinstance(entry[1], Scalar) or entry[1].value != AUTO:
        reader.problem(entry[0], "bounds can only be auto", "write bounds: auto, or lower: and upper:")
    elif not type_.is_numeric:
        reader.problem(entry[0], f"bounds: auto is for numbers, not for {article(type_)}", "write lower: and upper:")
    elif {"lower", "upper", "keys"} & fields.entries.keys():
        reader.problem(entry[0], "bounds: auto cannot be combined with bounds or keys", "remove one of them")
    else:
        return True
    return False


def read_like(reader: Reader, fields: Fields, type_: Type) -> Fraction | None:
    """like: 1000, a typical size of a number: where the data's choice of a limit begins."""
    entry = fields.entries.get("like")
    if entry is None:
        return None
    value = number(entry[1])
    if not type_.is_numeric or value is None or not 0 < value <= LARGEST_LIKE:
        reader.problem(entry[0], "like is a typical size of a number", "write like: 1000, or leave it out")
        return None
    return value


def read_keys(reader: Reader, tree: Tree, type_: Type) -> tuple[Keys | None, tuple[str, str] | None]:
    """A key list, a range {from, to}, or {from: table.column}: the values, or the place they come from."""
    match tree:
        case Items():
            return _key_list(reader, tree, type_), None
        case Fields() if "to" in tree.entries:
            return _key_range(reader, tree, type_), None
        case Fields():
            return None, _keys_of_table(reader, tree)
        case _:
            fix = "write [a, b, c], {from: 1, to: 12}, or {from: table.column}"
            reader.problem(tree.where, f"keys must be a list or a range, not {described(tree)}", fix)
            return None, None


def _key_list(reader: Reader, tree: Items, type_: Type) -> Keys | None:
    if not tree.items:
        reader.problem(tree.where, "the key list is empty", "list the keys, or remove keys: to make them private")
        return None
    if len(tree.items) > KEY_LIMIT:
        reader.problem(tree.where, f"more than {KEY_LIMIT:,} keys", "a grouped answer cannot have more")
        return None
    keys: dict[Atom, None] = {}
    for item in tree.items:
        key = read_key(reader, item, type_)
        if key is None:
            continue
        if key[0] in keys and isinstance(item, Scalar):
            reader.problem(item.where, f"the key {quoted(item.text)} is given twice", "remove one of them")
        keys[key[0]] = None
    return tuple(keys)


def _key_range(reader: Reader, tree: Fields, type_: Type) -> Keys | None:
    fields = reader.fields(tree, "a key range", ("from", "to"))
    start, stop = tree.entries.get("from"), tree.entries["to"]
    if fields is None or start is None:
        reader.problem(tree.where, "a key range needs from and to", "write {from: 1, to: 12}")
        return None
    if type_.kind not in (Kind.INTEGER, Kind.DATE):
        reader.problem(
            tree.where,
            f"{article(type_)} column cannot have a key range",
            "only integers and dates have ranges: list the keys",
        )
        return None
    low, high = read_bound(reader, start[1], type_, "from"), read_bound(reader, stop[1], type_, "to")
    if low is None or high is None:
        return None
    if low > high or high - low >= KEY_LIMIT:
        reader.problem(start[0], f"a key range has 1 to {KEY_LIMIT:,} keys", "correct from and to")
        return None
    return tuple(range(low.numerator, high.numerator + 1))


def _keys_of_table(reader: Reader, tree: Fields) -> tuple[str, str] | None:
    fields = reader.fields(tree, "keys", ("from", "to"), "write {from: table.column}")
    entry = tree.entries.get("from")
    text = reader.text(entry[1], "from") if fields is not None and entry is not None else None
    if entry is None:
        reader.problem(tree.where, "keys has no from", "write {from: table.column}, or {from: 1, to: 12}")
    if text is None:
        return None
    table, dot, column = text.partition(".")
    if not (table and dot and column):
        reader.problem(tree.where, f"{quoted(text)} is not of the form table.column", "write {from: specialties.name}")
        return None
    return table, column


def _check_keys(reader: Reader, where: str, keys: Keys, interval: Interval, nullable: bool) -> None:
    for key in keys:
        if key is None and not nullable:
            fix = "remove null from keys, or remove nullable: false"
            reader.problem(where, "NULL is a key of a column that is nullable: false", fix)
        elif key is not None and not isinstance(key, str) and Fraction(key) not in interval:
            reader.problem(where, "a key is outside the column's bounds", "values are clipped: widen the bounds")
            return
