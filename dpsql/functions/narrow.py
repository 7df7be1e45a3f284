"""What a WHERE predicate proves about columns on the rows that pass it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpsql.domain import facts
from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval, hull
from dpsql.domain.ranges import DAY
from dpsql.domain.types import BOOLEAN, DATE, NULL, TIMESTAMP, Kind, Type
from dpsql.functions.function import unchecked
from dpsql.functions.result import ORDERED
from dpsql.functions.sets import union
from dpsql.ir.expr import Call, Column, Expr, Literal

Facts = Mapping[int, Domain]
MIRRORED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "is_not_distinct": "is_not_distinct",
}
OPPOSITE = {
    "less": "greater_equal",
    "less_equal": "greater",
    "greater": "less_equal",
    "greater_equal": "less",
    "not_equal": "equal",
    "equal": "not_equal",
    "is_null": "is_not_null",
    "is_not_null": "is_null",
    "is_distinct": "is_not_distinct",
    "is_not_distinct": "is_distinct",
}


def narrow(predicate: Expr, domains: Facts) -> dict[int, Domain]:
    """The domains, of the columns it says something about, of the rows for which the predicate is TRUE."""
    match predicate:
        case Column():
            return _boolean(predicate, True, domains)
        case Call():
            return _call(predicate, domains)
        case _:
            return {}


def _call(call: Call, domains: Facts) -> dict[int, Domain]:
    name, args = unchecked(call.function), call.args
    match name:
        case "and":
            return _all(args, domains)
        case "or":
            return _any(args, domains)
        case "not" | "is_false":
            return _not(args[0], domains)
        case "is_true":
            return narrow(args[0], domains)
        case "is_not_null":
            return _present(args[0], domains)
        case "between":
            return _all(
                (_compare("greater_equal", args[0], args[1]), _compare("less_equal", args[0], args[2])), domains
            )
        case "in":
            return _in(args, domains)
        case "like" | "ilike" | "starts_with" | "contains" | "ends_with" | "regexp_matches" | "not_equal" | "not_like":
            return _present_all(args, domains)
        case _ if name in MIRRORED:
            return _comparison(name, args[0], args[1], domains)
        case _:
            return {}


def _compare(name: str, left: Expr, right: Expr) -> Call:
    return Call(name, (left, right), BOOLEAN)


def _all(parts: tuple[Expr, ...], domains: Facts) -> dict[int, Domain]:
    narrowed: dict[int, Domain] = {}
    for part in parts:
        narrowed.update(narrow(part, {**domains, **narrowed}))
    return narrowed


def _any(parts: tuple[Expr, ...], domains: Facts) -> dict[int, Domain]:
    """A column about which every alternative says something is in one of them."""
    sides = [narrow(part, domains) for part in parts]
    shared = set(sides[0]).intersection(*sides[1:]) if sides else set()
    return {id_: _union(domains.get(id_), [side[id_] for side in sides]) for id_ in shared}


def _union(before: Domain | None, sides: list[Domain]) -> Domain:
    interval = sides[0].interval
    for side in sides[1:]:
        interval = hull(interval, side.interval)
    nullable = any(side.nullable for side in sides)
    keys = union(side.keys for side in sides)
    return (before or sides[0]).but(interval=interval, nullable=nullable, keys=keys)


def _not(inner: Expr, domains: Facts) -> dict[int, Domain]:
    if isinstance(inner, Column):
        return _boolean(inner, False, domains)
    if not isinstance(inner, Call):
        return {}
    name, args = unchecked(inner.function), inner.args
    if name == "not":
        return narrow(args[0], domains)
    if name in ("and", "or"):
        negated = tuple(_negated(arg) for arg in args)
        return _any(negated, domains) if name == "and" else _all(negated, domains)
    if name in OPPOSITE:
        return _call(Call(OPPOSITE[name], args, inner.type), domains)
    if name in ("in", "like", "ilike", "starts_with", "contains", "ends_with", "regexp_matches"):
        return _present_all(args[:1], domains)
    if name == "between":
        low, high = _compare("less", args[0], args[1]), _compare("greater", args[0], args[2])
        return _any((low, high), domains)
    return {}


def _negated(expr: Expr) -> Call:
    return Call("not", (expr,), expr.type)


def _boolean(column: Column, value: bool, domains: Facts) -> dict[int, Domain]:
    if column.type.kind is not Kind.BOOLEAN:
        return {}
    return {column.id: facts.narrow(_domain(column, domains), keys=(value,))}


def _domain(column: Column, domains: Facts) -> Domain:
    return domains.get(column.id) or Domain(type=column.type)


def _present(expr: Expr, domains: Facts) -> dict[int, Domain]:
    """The columns an expression needs to have a value for."""
    if isinstance(expr, Column):
        return {expr.id: facts.narrow(_domain(expr, domains))}
    if isinstance(expr, Call) and unchecked(expr.function) in STRICT:
        return _present_all(expr.args, domains)
    return {}


STRICT = frozenset(
    """
    negate add subtract multiply divide integer_divide modulo abs floor ceil round trunc cast try_cast lower upper
    left right substring trim length date_part date_trunc date_diff
    """.split()
)


def _present_all(args: tuple[Expr, ...], domains: Facts) -> dict[int, Domain]:
    narrowed: dict[int, Domain] = {}
    for arg in args:
        narrowed.update(_present(arg, {**domains, **narrowed}))
    return narrowed


def _in(args: tuple[Expr, ...], domains: Facts) -> dict[int, Domain]:
    column, values = args[0], args[1:]
    narrowed = _present(column, domains)
    if not isinstance(column, Column) or not all(isinstance(v, Literal) for v in values):
        return narrowed
    atoms = [_atom(v, column.type) for v in values if isinstance(v, Literal) and v.value is not None]
    if any(atom is None for atom in atoms):
        return narrowed
    return {column.id: _among(_domain(column, domains), atoms)}


def _among(domain: Domain, atoms: list[Atom]) -> Domain:
    """One of these values: keys, and their hull."""
    within: Interval | None = None
    if domain.type.kind in ORDERED:
        numbers = [Fraction(a) for a in atoms if a is not None and not isinstance(a, str)]
        within = Interval(min(numbers), max(numbers)) if numbers else None
    return facts.narrow(domain, to=within, keys=atoms) if atoms else domain.but(nullable=False)


def _atom(literal: Literal, to: Type) -> Atom:
    """The literal as a value of the column's type; None where it is none exactly."""
    value, source = literal.value, literal.type
    if value is None or isinstance(value, str):
        return value if source == to else None
    if source == to:
        return value
    if source == TIMESTAMP and to == DATE:
        return int(value) // DAY if int(value) % DAY == 0 else None
    if source == DATE and to == TIMESTAMP:
        return int(value) * DAY
    if not (source.is_numeric and to.is_numeric):
        return None
    exact = Fraction(value)
    match to.kind:
        case Kind.INTEGER:
            return int(exact) if exact.denominator == 1 else None
        case Kind.DECIMAL:
            return exact if (exact * 10**to.scale).denominator == 1 else None
        case _:
            return float(exact) if Fraction(float(exact)) == exact else None


def _comparison(name: str, left: Expr, right: Expr, domains: Facts) -> dict[int, Domain]:
    narrowed = {**_present(left, domains), **_present(right, domains)} if name != "is_not_distinct" else {}
    if isinstance(left, Literal) and not isinstance(right, Literal):
        left, right, name = right, left, MIRRORED[name]
    if not isinstance(left, Column) or not isinstance(right, Literal) or right.type == NULL or right.value is None:
        return narrowed
    domain = _domain(left, domains)
    if name in ("equal", "is_not_distinct"):
        atom = _atom(right, left.type)
        return narrowed if atom is None else {left.id: _among(domain, [atom])}
    end = _end(right, left.type)
    if end is None:
        return narrowed
    return {left.id: facts.narrow(domain, to=_side(name, end, domain))}


def _end(literal: Literal, to: Type) -> Fraction | None:
    """The literal on the column's scale: days against a timestamp become microseconds, and the other way about."""
    if isinstance(literal.value, str) or literal.value is None or to.kind not in ORDERED:
        return None
    value = Fraction(literal.value)
    if literal.type == DATE and to == TIMESTAMP:
        return value * DAY
    if literal.type == TIMESTAMP and to == DATE:
        return value / DAY
    return value


def _side(name: str, end: Fraction, domain: Domain) -> Interval:
    """x < end, and so on; for whole numbers and dates the nearest value on the right side."""
    whole = domain.is_integral or domain.type == TIMESTAMP
    if name in ("less", "less_equal"):
        if whole:
            end = Fraction(-(-end // 1) - 1) if name == "less" else Fraction(end // 1)
        return Interval(None, end)
    if whole:
        end = Fraction(end // 1 + 1) if name == "greater" else Fraction(-(-end // 1))
    return Interval(end, None)
