"""What one row adds to a measurement, as an integer: clamped to its axis, NULL where the row does not enter."""

from __future__ import annotations

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Axis, Measurement, OnAxis, Product, RowMoments, RowTotal, UnitTotal
from dpsql.plan.render.relation import Relations
from dpsql.plan.what_is_read import entering, needed, parts


def enters_all(one: Measurement) -> bool:
    """Whether every row enters."""
    read, where = entering(one)
    return not read and where is None


def tests(one: Measurement, relations: Relations) -> list[str]:
    """When a row enters, but for `where` and for the axes, which are NULL themselves where their argument is."""
    compared = parts(one)
    if len(compared) > 1:  # of several values NULLs are values, too
        compared = ()
    return [present(relations.expr(expr), expr, relations.dialect) for expr in dict.fromkeys((*compared, *needed(one)))]


def piece(one: Measurement, places: list[str], dialect: Dialect) -> str:
    """The row's integer from its places on the axes; 1 for counts, any non-NULL will do for what is compared."""
    match one:
        case RowMoments(axis=axis):
            return _centred(places[0], axis, dialect)
        case RowTotal(piece=Product(axis=axis, second=second)):
            return f"({_centred(places[0], axis, dialect)}) * ({_centred(places[1], second, dialect)})"
        case RowTotal(piece=OnAxis()) | UnitTotal(piece=OnAxis()):
            return places[0]
        case _ if places:
            return places[0]
        case _:
            return dialect.integer(1)


def present(x: str, expr: Expr, dialect: Dialect) -> str:
    """Neither NULL nor NaN."""
    known = f"{x} IS NOT NULL"
    return f"{known} AND {dialect.is_number(x)}" if expr.type.kind is Kind.REAL else known


def _centred(on_grid: str, axis: Axis, dialect: Dialect) -> str:
    return f"{on_grid} * {dialect.integer(2)} - {dialect.integer(axis.low + axis.high)}"
