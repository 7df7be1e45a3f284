"""Facts of expressions, bottom-up, and the total form of each call that could raise."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import EVERYTHING, point
from dpsql.domain.types import ANY, HUGEINT, NULL, Kind, Type, as_decimal, decimal
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall
from dpsql.sql.functions.casts import may_fail
from dpsql.sql.functions.model import Function, TypeProblem, checked, unchecked
from dpsql.sql.functions.narrow import narrow
from dpsql.sql.functions.numbers import joined
from dpsql.sql.functions.result import ORDERED
from dpsql.sql.functions.sets import without_null
from dpsql.sql.functions.table import FUNCTIONS

Facts = Mapping[int, Domain]


@dataclass(frozen=True, slots=True)
class Found:
    """An expression in its total form; what holds of it on every row; what holds on the rows that reach it (CASE)."""

    expr: Expr
    always: Domain
    reached: Domain


def infer(expr: Expr, domains: Facts) -> tuple[Expr, Domain]:
    """The expression with every call that is not proved never to raise in its checked form; and its Domain.

    NaN counts as NULL: where a real may be NaN its Domain is nullable. The Domain describes the rows that pass the
    filters and CASE branches so far; the proofs hold for all rows (Domain.before), because engines reorder filters and
    push them through projections.
    """
    found = _infer(expr, domains)
    if found.always == found.reached:
        return found.expr, found.always
    return found.expr, found.reached.but(before=found.always)


def _infer(expr: Expr, domains: Facts) -> Found:
    match expr:
        case Column():
            domain = domains.get(expr.id) or Domain(type=expr.type)
            return Found(expr, domain.before or domain, domain)
        case Literal():
            return _same(expr, literal_domain(expr))
        case AggregateCall() | WindowCall():
            return _same(expr, Domain(type=expr.type))
        case Call():
            return _call(expr, domains)


def _same(expr: Expr, domain: Domain) -> Found:
    return Found(expr, domain, domain)


def literal_domain(literal: Literal) -> Domain:
    value = literal.value
    if value is None:
        return Domain(type=literal.type, keys=(None,), nullable=True)
    found = EVERYTHING
    if literal.type.kind in ORDERED and not isinstance(value, str):
        found = point(value)
    whole = isinstance(value, float) and value.is_integer()
    keys: tuple[Atom, ...] | None = None if literal.type.kind is Kind.INTERVAL else (value,)
    return Domain(type=literal.type, interval=found, nullable=False, keys=keys, integral=whole)


def _call(call: Call, domains: Facts) -> Found:
    name = unchecked(call.function)
    function = FUNCTIONS.get(name)
    if function is None or call.type == ANY:
        raise Refused(
            f"{name.upper()} is for released results, not for rows of people",
            code=107,
            at=call.at,
            why="Over private rows every function must be known never to fail, whatever the data.",
            fix="Use it outside, over the aggregated result; `dpsql help functions` lists what works inside.",
        )
    parts = _brought_together(function, _arguments(name, call.args, domains))
    plain = Call(name, tuple(part.expr for part in parts), call.type, call.at)
    wide, tight = tuple(part.always for part in parts), tuple(part.reached for part in parts)
    domain = function.domain(plain, wide)
    closer = domain if wide == tight else function.domain(plain, tight)
    if not function.raises(plain, wide):
        return Found(plain, domain, closer)
    if wide == tight or function.raises(plain, tight):
        closer = or_null(closer)
    return Found(dataclasses.replace(plain, function=checked(name)), or_null(domain), closer)


def or_null(domain: Domain) -> Domain:
    return domain.but(nullable=True, keys=without_null(domain.keys, True))


def _arguments(name: str, args: tuple[Expr, ...], domains: Facts) -> list[Found]:
    """A THEN is reached only by rows for which its WHEN holds."""
    if name != "case":
        return [_infer(arg, domains) for arg in args]
    found: list[Found] = []
    for position, arg in enumerate(args):
        then = position % 2 == 1
        found.append(_infer(arg, {**domains, **narrow(args[position - 1], domains)} if then else domains))
    return found


def _brought_together(function: Function, parts: list[Found]) -> list[Found]:
    """Where no decimal type has the digits of all arguments that are brought to one type, the conversions are written
    out, those that might fail in their total form: engines each have a rule of their own, and raise."""
    new = list(parts)
    for group in function.alike(len(parts)):
        try:
            target = joined(tuple(parts[i].expr for i in group))
        except TypeProblem:
            continue
        if target.kind is not Kind.DECIMAL:
            continue
        sides = [side for i in group if (side := as_decimal(parts[i].expr.type)) is not None]
        whole, scale = max(side.precision - side.scale for side in sides), max(side.scale for side in sides)
        has_huge = any(parts[i].expr.type == HUGEINT for i in group)  # whose 39 digits no decimal has
        if whole + scale <= target.precision and not has_huge:
            continue
        if function.compares:  # every digit decides
            target = decimal(38, scale)
        for i in group:
            if parts[i].expr.type not in (target, NULL):
                new[i] = _converted(parts[i], target)
    return new


def _converted(part: Found, target: Type) -> Found:
    cast = Call("cast", (part.expr,), target, part.expr.at)
    rule = FUNCTIONS["cast"].domain
    if not may_fail(part.expr.type, target, part.always):
        return Found(cast, rule(cast, (part.always,)), rule(cast, (part.reached,)))
    return Found(
        dataclasses.replace(cast, function=checked("cast")),
        or_null(rule(cast, (part.always,))),
        or_null(rule(cast, (part.reached,))),
    )
