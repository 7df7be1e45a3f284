"""Group keys in SQL: public ones as ordinals, private ones in the form they travel in."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, TEXT, Kind, Type
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.ready import AllRows, Listed, Occurring, Ready
from dpsql.plan.render.relation import Relations
from dpsql.plan.stages import Key, NoisyStage
from dpsql.plan.transport import is_text
from dpsql.plan.vault_query import Columns, VaultColumn, key_name, key_part, key_table

WHOLE = (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN)  # a Range is in the numbers that keys are


@dataclass(slots=True)
class Joins:
    """Public tables that rows are joined to, and the conditions: rows that meet none of a table's are dropped, and those of
    which a test is not true.

    single: a unit has one row and no weight, so no row may meet two: of equal values the first stands for all."""

    dialect: Dialect
    tables: dict[str, Columns]
    single: bool
    clauses: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What comes after FROM … AS t."""
        where = f" WHERE {' AND '.join(self.tests)}" if self.tests else ""
        return "".join(f" {clause}" for clause in self.clauses) + where

    def add(self, table: str, columns: Columns, on: str) -> None:
        self.tables[table] = columns
        self.clauses.append(f"JOIN {self.of(table, columns)} ON {on}")

    def leave_out(self, stage: NoisyStage, groups: Listed, relations: Relations) -> None:
        """No row whose keys are among these."""
        table = f"before_{stage.number}"
        self.tables[table] = dict(groups.columns)
        clause, test = self.dialect.anti_join(table, _among(stage, relations, table))
        self.clauses += [clause] if clause else []
        self.tests += [test] if test else []

    def of(self, table: str, columns: Columns) -> str:
        if not self.single:
            return table
        values = ", ".join(name for name in columns if name != "ordinal")
        return f"(SELECT {values}, min(ordinal) AS ordinal FROM {table} GROUP BY {values}) AS {table}"


def group(ready: Ready, relations: Relations, joins: Joins) -> str:
    """The ordinal of a row's group, where it passes the tests."""
    if isinstance(ready.groups, AllRows):
        return relations.dialect.integer(0)
    if isinstance(ready.groups, Listed):
        return _listed(ready.stage, ready.groups, relations, joins)
    ordinal = public_ordinal(ready.stage, relations, joins)
    return ordinal or relations.dialect.integer(0) if isinstance(ready.groups, Occurring) else ordinal


def private_keys(stage: NoisyStage, relations: Relations, joins: Joins) -> list[tuple[VaultColumn, str]]:
    """The private keys in the form they travel in; what travels as NULL though it is none is no key, by a test."""
    columns: list[tuple[VaultColumn, str]] = []
    for i, key in enumerate(stage.keys):
        if key.values is not None:
            continue
        value = relations.expr(key.expr)
        columns.append((key_part(i, key.field.type), relations.dialect.travelled(value, key.field.type)))
        if may_be_lost(key.field.type):
            joins.tests.append(f"({_not_lost(value, key.field.type, relations.dialect)})")
    return columns


def public_ordinal(stage: NoisyStage, relations: Relations, joins: Joins) -> str:
    """The ordinal of the row's combination of public keys, the last one varying fastest; a total expression, whether or not
    the row passes the tests: each position is one of its key's, or it is the only key's own value."""
    ordinal = ""
    alone = sum(key.values is not None for key in stage.keys) == 1
    for i, key in enumerate(stage.keys):
        if key.values is None:
            continue
        at = _position(i, key, relations.expr(key.expr), stage, joins, alone=alone)
        ordinal = at if not ordinal else f"({ordinal}) * {joins.dialect.integer(len(key.values))} + {at}"
    return ordinal


def _listed(stage: NoisyStage, groups: Listed, relations: Relations, joins: Joins) -> str:
    """The place of the row's keys among those that were released."""
    table = f"groups_{stage.number}"
    joins.add(table, released_keys(groups), _among(stage, relations, table))
    return f"{table}.ordinal"


def released_keys(groups: Listed) -> Columns:
    """With their places."""
    return {"ordinal": key_table((0,) * groups.count, BIGINT)["ordinal"], **groups.columns}


def _among(stage: NoisyStage, relations: Relations, table: str) -> str:
    on = (
        _same(relations.expr(key.expr), key.field.type, f"{table}.{key_name(i)}", relations.dialect)
        for i, key in enumerate(stage.keys)
    )
    return " AND ".join(on)


def _position(i: int, key: Key, value: str, stage: NoisyStage, joins: Joins, *, alone: bool) -> str:
    """The ordinal of a public key: a run of whole numbers is counted off, where a test has it inside; any other set is
    joined as a table."""
    assert key.values is not None
    values, integer = [v for v in key.values if v is not None], joins.dialect.integer
    has_null = len(values) < len(key.values)
    whole = key.field.type.kind in WHOLE or key.integral
    if whole and values and values == list(range(int(values[0]), int(values[0]) + len(values))):
        first, last = int(values[0]), int(values[-1])
        number = joins.dialect.whole_number(value, key.field.type)
        null = f"WHEN {value} IS NULL THEN {integer(len(values))} " if has_null else ""
        if _is_inside(stage, key, first, last):
            joins.tests += [] if has_null else [f"{value} IS NOT NULL"]
            counted = f"{number} - {integer(first)}" if first else number
            return f"CASE {null}ELSE {counted} END" if null else counted
        exact = f" AND {value} = floor({value})" if key.field.type.kind is Kind.REAL else ""
        inside = f"{number} BETWEEN {integer(first)} AND {integer(last)}{exact}"
        joins.tests.append(f"({value} IS NULL OR {inside})" if has_null else inside)
        if alone and not has_null and first == 0:
            return number
        return f"CASE {null}WHEN {inside} THEN {number} - {integer(first)} ELSE {integer(0)} END"
    table = f"keys_{stage.number}_{i}"
    same = f"{joins.dialect.travelled(value, key.field.type)} = {table}.value"
    if has_null:
        same = _same(value, key.field.type, f"{table}.value", joins.dialect)
    joins.add(table, key_table(key.values, key.field.type), same)
    return f"{table}.ordinal"


def _is_inside(stage: NoisyStage, key: Key, first: int, last: int) -> bool:
    """Whether each value of the key that is not NULL is one of these whole numbers, by the definition of its column (the
    Range that the kernel computes for totality): cleaning puts it there, and a test of it would ask again."""
    range_ = stage.source.range_of(key.expr)
    return key.field.type.kind in WHOLE and range_ is not None and range_.within(Range(first, last))


def _same(value: str, type_: Type, other: str, dialect: Dialect) -> str:
    """Equal, or both NULL; a key that travels as NULL though it is none equals nothing."""
    same = dialect.same(dialect.travelled(value, type_), other, TEXT if is_text(type_) else BIGINT)
    return f"{same} AND ({_not_lost(value, type_, dialect)})" if may_be_lost(type_) else same


def may_be_lost(type_: Type) -> bool:
    """Whether a key can travel as NULL though it is none."""
    return type_.kind is Kind.REAL or (type_.kind is Kind.INTEGER and type_.bits > 64)


def _not_lost(value: str, type_: Type, dialect: Dialect) -> str:
    return f"{value} IS NULL OR {dialect.travelled(value, type_)} IS NOT NULL"


def key_order(stage: NoisyStage, table: str, dialect: Dialect) -> str:
    """What to sort selected groups by: key order, NULL last."""
    parts: list[str] = []
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            parts.append(f"{table}.{key_name(i)} NULLS LAST")
        else:
            stride //= len(key.values)
            at = dialect.quotient(f"{table}.g", dialect.integer(stride))
            parts.append(dialect.remainder(f"({at})", dialect.integer(len(key.values))))
    return ", ".join(parts)
