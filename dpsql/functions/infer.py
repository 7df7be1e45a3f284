"""What is expected of expressions, bottom-up. Which form of a call is printed is not decided here (totality.py)."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import EVERYTHING, point
from dpsql.domain.types import ANY, Kind
from dpsql.functions.function import unchecked
from dpsql.functions.narrow import narrow
from dpsql.functions.numbers import expected_range
from dpsql.functions.result import ORDERED
from dpsql.functions.scratch import SCRATCH_FUNCTIONS
from dpsql.functions.sets import image
from dpsql.functions.table import FUNCTIONS
from dpsql.functions.totality import function_of
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall

Facts = Mapping[int, Domain]
UNIONS = ("case", "coalesce")  # whose keys are those of their branches: what else the branches depend on is not asked
UNASKED = (Kind.BOOLEAN, Kind.NULL, Kind.INTERVAL)


def infer(expr: Expr, domains: Facts) -> tuple[Expr, Domain]:
    """The expression as it is, and what is expected of it in its total form, on rows that pass the filters and CASE
    branches so far. NaN counts as NULL: where a real may be NaN its Domain is nullable."""
    return expr, expected(expr, domains)


def expected(expr: Expr, domains: Facts) -> Domain:
    match expr:
        case Column():
            return domains.get(expr.id) or Domain(type=expr.type)
        case Literal():
            return literal_domain(expr)
        case AggregateCall() | WindowCall():
            return Domain(type=expr.type)
        case Call():
            return _call(expr, domains)


def literal_domain(literal: Literal) -> Domain:
    value = literal.value
    if value is None:
        return Domain(type=literal.type, keys=(None,), nullable=True)
    interval = EVERYTHING
    if literal.type.kind in ORDERED and not isinstance(value, str):
        interval = point(value)
    whole = isinstance(value, float) and value.is_integer()
    keys: tuple[Atom, ...] | None = None if literal.type.kind is Kind.INTERVAL else (value,)
    return Domain(type=literal.type, interval=interval, nullable=False, keys=keys, integral=whole)


def _call(call: Call, domains: Facts) -> Domain:
    """Of what scratch alone knows nothing is expected; over private rows `totalise` refuses it."""
    if call.type == ANY or unchecked(call.function) in SCRATCH_FUNCTIONS - FUNCTIONS.keys():
        return Domain(type=call.type)
    function = function_of(call)
    parts = tuple(_arguments(function.name, call.args, domains))
    plain = Call(function.name, call.args, call.type, call.at)
    domain = function.domain(plain, parts)
    if function.loses is not None:
        loses = function.loses(plain, parts)
    else:
        loses = not function.plain(plain, tuple(map(expected_range, parts)))
    if domain.nullable or loses:
        domain = domain.or_null()
    if function.name in UNIONS or domain.type.kind in UNASKED:
        return domain
    return domain.but(keys=image(plain, parts, nullable=domain.nullable, otherwise=domain.keys))


def _arguments(name: str, args: tuple[Expr, ...], domains: Facts) -> list[Domain]:
    """A THEN is reached only by rows for which its WHEN holds."""
    if name != "case":
        return [expected(arg, domains) for arg in args]
    of_args: list[Domain] = []
    for position, arg in enumerate(args):
        then = position % 2 == 1
        of_args.append(expected(arg, {**domains, **narrow(args[position - 1], domains)} if then else domains))
    return of_args
