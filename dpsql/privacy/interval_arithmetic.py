"""Interval arithmetic on expressions, as expressions: what a result may be when each measurement may be a little off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql import functions
from dpsql.domain.types import NULL, REAL
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field
from dpsql.privacy.measuring import number

UNKNOWN = 1e150  # an end that division leaves open; products of two such are still finite

Ends = tuple[Expr, Expr]


@dataclass(slots=True)
class Steps:
    """Intermediate values with names, so that an end that is used twice is written once. A step reads those before it."""

    ids: Ids
    named: dict[Expr, Field] = field(default_factory=dict)
    depths: dict[int, int] = field(default_factory=dict)

    def __call__(self, function: str, *args: Expr) -> Expr:
        return self.name(functions.call(function, *args))

    def name(self, expr: Expr) -> Expr:
        if isinstance(expr, Column | Literal):
            return expr
        if expr not in self.named:
            made = self.ids.field("", expr.type)
            self.depths[made.id] = 1 + max((self.depths.get(id_, 0) for id_ in columns_of(expr)), default=0)
            self.named[expr] = made
        return self.named[expr].column()

    def real(self, expr: Expr) -> Expr:
        return expr if expr.type == REAL else self.name(functions.call("try_cast", expr, to=REAL))

    def layers(self) -> tuple[tuple[tuple[Field, Expr], ...], ...]:
        """The steps in layers: a step is in a later layer than those it reads."""
        deepest = max(self.depths.values(), default=0)
        steps = [(made, expr) for expr, made in self.named.items()]
        return tuple(tuple(s for s in steps if self.depths[s[0].id] == layer) for layer in range(1, deepest + 1))


def interval_of(expr: Expr, widths: Mapping[int, Fraction], let: Steps) -> Ends | None:
    """(low, high) such that expr is between them whenever each measurement is within its width of what is released; None
    where a function has no rule."""
    match expr:
        case Column():
            value = let.real(expr)
            width = widths.get(expr.id)
            if width is None:
                return (value, value)
            return let("subtract", value, number(width)), let("add", value, number(width))
        case Literal():
            return (let.real(expr), let.real(expr)) if expr.type.is_numeric else None
        case Call(function="case"):
            return _branches(expr.args[1::2] + expr.args[-1:], widths, let)
        case Call(function="coalesce"):
            return _branches(expr.args, widths, let)
        case Call(function=function):
            rule = RULES.get(function)
            if rule is None:
                return None
            parts = [interval_of(arg, widths, let) for arg in expr.args[: ARGUMENTS.get(function, len(expr.args))]]
            known = [part for part in parts if part is not None]
            return rule(known, let) if len(known) == len(parts) else None
        case _:
            return None


def _branches(values: tuple[Expr, ...], widths: Mapping[int, Fraction], let: Steps) -> Ends | None:
    """Whichever branch is taken: a condition that was true of the noisy values may not be of the others. NULL branches
    only say when there is no value."""
    taken = [interval_of(value, widths, let) for value in dict.fromkeys(values) if value.type != NULL]
    known = [ends for ends in taken if ends is not None]
    if len(known) < len(taken) or not known:
        return None
    if len(known) == 1:
        return known[0]
    return let("least", *(low for low, _ in known)), let("greatest", *(high for _, high in known))


def _subtract(parts: list[Ends], let: Steps) -> Ends:
    (a, b), (c, d) = parts
    return let("subtract", a, d), let("subtract", b, c)


def _negate(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    return let("negate", high), let("negate", low)


def _multiply(parts: list[Ends], let: Steps) -> Ends:
    one, other = parts
    if one == other:
        return _square(one, let)
    constant = next((n for n in (0, 1) if parts[n][0] == parts[n][1]), None)
    if constant is not None:  # two products are enough
        value, (low, high) = parts[constant][0], parts[1 - constant]
        products = [let("multiply", value, low), let("multiply", value, high)]
    else:
        products = [let("multiply", x, y) for x in one for y in other]
    return let("least", *products), let("greatest", *products)


def _square(ends: Ends, let: Steps) -> Ends:
    low, high = ends
    nearest = let("greatest", low, let("negate", high), number(Fraction(0)))
    farthest = let("greatest", let("abs", low), let("abs", high))
    return let("multiply", nearest, nearest), let("multiply", farthest, farthest)


def _divide(parts: list[Ends], let: Steps) -> Ends:
    """Open on both sides where the divisor may be 0."""
    (low, high), (first, last) = parts
    constant = first == last
    zero = number(Fraction(0))
    away = let("or", let("greater", first, zero), let("less", last, zero))
    ratios = [let("divide", x, y) for x in (low, high) for y in ((first,) if constant else (first, last))]
    open_low, open_high = Literal(-UNKNOWN, REAL), Literal(UNKNOWN, REAL)
    return (
        let("case", away, let("least", *ratios), open_low),
        let("case", away, let("greatest", *ratios), open_high),
    )


def _sqrt(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    zero = number(Fraction(0))
    return let("sqrt", let("greatest", low, zero)), let("sqrt", let("greatest", high, zero))


def _abs(parts: list[Ends], let: Steps) -> Ends:
    ((low, high),) = parts
    nearest = let("greatest", low, let("negate", high), number(Fraction(0)))
    return nearest, let("greatest", let("abs", low), let("abs", high))


def _rising(function: str) -> Callable[[list[Ends], Steps], Ends]:
    """Of each argument: from its low end the low end, from its high end the high one."""

    def rule(parts: list[Ends], let: Steps) -> Ends:
        return let(function, *(low for low, _ in parts)), let(function, *(high for _, high in parts))

    return rule


def _rounded(parts: list[Ends], let: Steps) -> Ends:
    """Rounding to any number of places, casts and truncation move a value by at most the distance of whole numbers."""
    ((low, high),) = parts
    return let("floor", low), let("ceil", high)


RULES: Mapping[str, Callable[[list[Ends], Steps], Ends]] = {
    "add": _rising("add"),
    "subtract": _subtract,
    "negate": _negate,
    "multiply": _multiply,
    "divide": _divide,
    "least": _rising("least"),
    "greatest": _rising("greatest"),
    "sqrt": _sqrt,
    "abs": _abs,
    "floor": _rising("floor"),
    "ceil": _rising("ceil"),
    "exp": _rising("exp"),
    "round": _rounded,
    "trunc": _rounded,
    "cast": _rounded,
    "try_cast": _rounded,
    "nullif": lambda parts, let: parts[0],
}
ARGUMENTS = {"round": 1, "nullif": 1}  # how many of a call's arguments have an interval
