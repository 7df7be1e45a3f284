"""Types and intervals as sqlglot parses them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.domain.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TINYINT,
    Type,
    decimal,
)
from dpsql.errors import Refused, Span, SqlError
from dpsql.functions.date_parts import PART
from dpsql.functions.literals import interval_literal
from dpsql.ir.expr import Literal

Node = exp.Expression

TYPES: Mapping[exp.DType, Type] = MappingProxyType(
    {
        exp.DType.BOOLEAN: BOOLEAN,
        exp.DType.TINYINT: TINYINT,
        exp.DType.SMALLINT: SMALLINT,
        exp.DType.INT: INTEGER,
        exp.DType.BIGINT: BIGINT,
        exp.DType.INT128: HUGEINT,
        exp.DType.DOUBLE: REAL,
        exp.DType.FLOAT: REAL,  # of 64 bits, as every real number here
        exp.DType.TEXT: TEXT,
        exp.DType.VARCHAR: TEXT,
        exp.DType.DATE: DATE,
        exp.DType.TIMESTAMP: TIMESTAMP,
        exp.DType.TIMESTAMPNTZ: TIMESTAMP,
    }
)


def read_type(node: Node, at: Span | None = None) -> Type:
    """The type a CAST names; Refused 120 for those dpsql has no columns of."""
    kind = node.this
    if kind is exp.DType.DECIMAL:
        return _read_decimal(node, at)
    type_ = TYPES.get(kind) if isinstance(kind, exp.DType) else None
    if type_ is not None:
        return type_
    raise Refused(
        f"the type {getattr(kind, 'value', kind)} is not supported",
        at=at,
        why="Columns and results have other types.",
        fix="Use BOOLEAN, BIGINT, DOUBLE, DECIMAL(p, s), VARCHAR, DATE or TIMESTAMP.",
    )


def _read_decimal(node: Node, at: Span | None) -> Type:
    try:
        params = [int(param.name) for param in node.expressions]
    except ValueError:
        params = [0]
    precision, scale = (*params, 0)[:2] if params else (18, 3)
    if not 1 <= precision <= 38 or not 0 <= scale <= precision or len(params) > 2:
        raise SqlError(
            "there is no such decimal type", code=105, at=at, fix="Write DECIMAL(p, s) with 1 <= p <= 38, 0 <= s <= p."
        )
    return decimal(precision, scale)


def read_interval(node: Node, at: Span | None = None) -> Literal:
    """INTERVAL 3 DAY, INTERVAL '1 month 2 days': the constant; SqlError 105 otherwise."""
    amounts = _amounts(node)
    if amounts is None:
        raise SqlError(
            "an interval must be a constant number of a known part",
            code=105,
            at=at,
            fix="Write INTERVAL 1 DAY, or INTERVAL '1 month 2 days'.",
        )
    return interval_literal(amounts, at)


PLAIN_PARTS = frozenset(
    "microsecond millisecond second minute hour day week month quarter year decade century millennium".split()
)


def _amounts(node: Node) -> tuple[tuple[int, str], ...] | None:
    this, unit, sign = node.this, node.args.get("unit"), 1
    while isinstance(this, exp.Paren | exp.Neg):
        sign = -sign if isinstance(this, exp.Neg) else sign
        this = this.this
    if not isinstance(this, exp.Literal):
        return None
    words = str(this.this).replace("_", "").split()
    if unit is not None:
        words.append(str(unit.this))
    if not words or len(words) % 2:
        return None
    amounts = []
    for count, word in zip(words[::2], words[1::2], strict=True):
        part = PART.get(word.lower())
        digits = count.lstrip("+-")
        if part not in PLAIN_PARTS or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
            return None
        amounts.append((sign * int(count), str(part)))
    return tuple(amounts)
