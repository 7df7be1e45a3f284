"""Group keys in SQL: public ones as ordinals, private ones in the form they travel in."""

from __future__ import annotations

from dpsql.domain.facts import Atom
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.plan.stages import Key, Stage

KeyTables = dict[str, tuple[tuple[Atom, ...], Type]]


def group_columns(stage: Stage) -> list[str]:
    public = ["g"] if any(key.values is not None for key in stage.keys) else []
    return public + [f"k{i}" for i, key in enumerate(stage.keys) if key.values is None]


def position(
    i: int,
    key: Key,
    stage: int,
    key_tables: KeyTables,
    joins: list[str],
    tests: list[str],
) -> str:
    """The ordinal of a public key, and the test or join that drops rows outside the set.

    A run of whole numbers is counted off; any other set is joined as a table.
    """
    assert key.values is not None
    values = [v for v in key.values if v is not None]
    has_null = len(values) < len(key.values)
    first = values[0] if values else 0
    whole = key.field.type.kind in (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN) or key.integral
    if whole and values and values == list(range(int(first), int(first) + len(values))):
        number = _as_integer(f"r{i}", key.field.type)
        inside = f"{number} BETWEEN {int(first)} AND {int(first) + len(values) - 1}"
        exact = f" AND r{i} = floor(r{i})" if key.field.type.kind is Kind.REAL else ""
        tests.append(f"({inside}{exact}{f' OR r{i} IS NULL' if has_null else ''})")
        counted = f"({number} - {int(first)})"
        return f"CASE WHEN r{i} IS NULL THEN {len(values)} ELSE {counted} END" if has_null else counted
    table = f"keys_{stage}_{i}"
    key_tables[table] = (key.values, key.field.type)
    same = "IS NOT DISTINCT FROM" if has_null else "="
    joins.append(f"JOIN {table} ON {as_key(f'r{i}', key.field.type)} {same} {table}.value")
    return f"{table}.ordinal"


def as_key(value: str, type_: Type) -> str:
    """A key in the form it travels in."""
    match type_.kind:
        case Kind.TEXT:
            return value
        case Kind.DECIMAL:
            return f"CAST({value} AS VARCHAR)"
        case Kind.DATE:
            return f"CAST({value} - DATE '1970-01-01' AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"epoch_us({value})"
        case _:
            return f"TRY_CAST({value} AS BIGINT)"


def _as_integer(value: str, type_: Type) -> str:
    match type_.kind:
        case Kind.DATE:
            return f"({value} - DATE '1970-01-01')"
        case Kind.INTEGER if type_ == BIGINT:
            return value
        case _:  # a narrower integer would be reckoned with in its own width
            return f"TRY_CAST({value} AS BIGINT)"


def key_order(stage: Stage, table: str) -> str:
    """What to sort private groups by: key order, NULL last. Of a public key set without keys there is nothing to sort."""
    parts: list[str] = []
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            parts.append(f"{table}.k{i} NULLS LAST")
        elif not stage.is_empty:
            stride //= len(key.values)
            parts.append(f"({table}.g // {stride}) % {len(key.values)}")
    return ", ".join(parts)


def private_key(value: str, key: Key) -> str:
    """A private key as a BIGINT or as text."""
    return f"CAST({value} AS VARCHAR)" if key.field.type.kind is Kind.TEXT else as_key(value, key.field.type)
