"""Aggregates of one unit's rows, without noise: each is made of a few primitives that no data can make fail.

A primitive is a call the vault prints as it stands: COUNT, SUM of BIGINT or of a short decimal, MIN, MAX, BOOL_AND,
BOOL_OR, QUANTILE_CONT of reals, QUANTILE_DISC, FIRST in a total order, and MODE, where values as frequent as each other
are told apart by an order that the value itself ends. All are functions of the rows as a multiset: COUNT, MIN, MAX and
quantiles by definition; SUM because it adds integers, exactly, in 128 bits (2^40 rows of 64 bits fit), so its order does
not matter; FIRST because rows that tie in every column of the input are the same row; MODE because the first of all rows
with a most frequent value has one value, however rows that are equal in the order are arranged.

The same makings serve GROUP BY (summaries.py) and windows (windows.py): only `ask` differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpsql.domain.facts import Domain
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import BIGINT, HUGEINT, NULL, REAL, Kind, Type, decimal, integer_range
from dpsql.errors import Refused, Span
from dpsql.ir.expr import Column, Expr, Literal, SortKey, columns_of, place
from dpsql.privacy.refused_aggregates import OF_ONE_PERSON
from dpsql.privacy.sensitivity import ValueGrid, representable, value_grid
from dpsql.sql import functions

LARGEST_REAL = Fraction(1.7976931348623157e308)
SQUARE_BITS = 43  # squares of 43 bits, 2^40 of them, fit a HUGEINT
SUMMED_DIGITS = 28  # 2^32 decimals of 28 digits fit 38


class Ask(Protocol):
    """The column of a primitive over the same rows (and FILTER) as the call that is being made."""

    def __call__(
        self,
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order: tuple[SortKey, ...] = (),
    ) -> Column: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCall:
    """An aggregate of one unit's rows. some: there is at least one row; filtered: FILTER stands there.

    order: its own ORDER BY (given), then every column of the input: rows that still tie are the same.
    """

    function: str
    args: tuple[Expr, ...]
    type: Type
    distinct: bool
    some: bool
    filtered: bool
    order: tuple[SortKey, ...]
    given: tuple[SortKey, ...]
    at: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How the call is finished from primitives, and what is known of it beyond what its expression shows."""

    expr: Expr
    interval: Interval | None = None


Maker = Callable[[UnitCall, Mapping[int, Domain], Ask], Made]


def make_call(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    """Lemma: the result is a function of the unit's rows as a multiset, and never fails. Proof: primitives are, and
    scalar functions of primitives are total."""
    maker = MAKERS.get(call.function)
    if maker is None:
        raise refused(call, *OF_ONE_PERSON.get(call.function, ("", "")))
    arity = ARITY.get(call.function, (1,))
    if len(call.args) not in arity:
        count = " or ".join(map(str, arity))
        raise refused(call, f"Over one person's rows it takes {count} argument{'s' if count != '1' else ''}.")
    return maker(call, domains, ask)


def refused(call: UnitCall, why: str = "", fix: str = "") -> Refused:
    names = ", ".join(name.upper() for name in sorted(MAKERS))
    return Refused(
        f"{call.function.upper()} of one person's rows is not answered",
        code=129,
        at=call.at,
        why=why or "Inside, an aggregate must depend on nothing but the set of the person's rows, and never fail.",
        fix=fix or f"These can stand here: {names}.",
    )


def domain_of(expr: Expr, domains: Mapping[int, Domain]) -> Domain:
    return functions.infer(expr, domains)[1]


# --- counting -------------------------------------------------------------------------------------------------------


def _count(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    surely = call.some and not call.filtered and all(not domain_of(arg, domains).nullable for arg in call.args)
    most: Fraction | None = None
    if call.distinct and call.args:
        keys = domain_of(call.args[0], domains).keys
        most = None if keys is None else Fraction(len([key for key in keys if key is not None]))
    interval = Interval(Fraction(1 if surely else 0), most)
    return Made(
        expr=ask(
            "count",
            call.args,
            BIGINT,
            Domain(type=BIGINT, interval=interval, nullable=False),
            distinct=call.distinct and bool(call.args),
        )
    )


def _count_if(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    """NULL where the condition is known of no row, as in DuckDB, whose COUNT_IF is a sum."""
    hit = functions.make("case", (call.args[0], Literal(1, BIGINT)), at=None)
    most = Fraction(1) if call.distinct else None
    none = Domain(type=BIGINT, interval=Interval(Fraction(0), most), nullable=False)
    hits = ask("count", (hit,), BIGINT, none, distinct=call.distinct)
    if call.some and not call.filtered and not domain_of(call.args[0], domains).nullable:
        return Made(expr=hits)
    known = functions.make(
        "greater",
        (ask("count", call.args, BIGINT, none.but(interval=Interval(Fraction(0), None))), Literal(0, BIGINT)),
        at=None,
    )
    return Made(expr=functions.make("case", (known, hits, Literal(None, NULL)), at=None))


# --- sums -----------------------------------------------------------------------------------------------------------


def _sum(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    total, step = _total(call, domains, ask)
    if call.args[0].type.kind is Kind.REAL:
        return Made(expr=functions.make("multiply", (_real(total), _constant(step)), at=None))
    return Made(expr=total if total.type == call.type else functions.make("try_cast", (total,), at=None, to=call.type))


def _total(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> tuple[Column, Fraction]:
    """Σ x as an exact number, and the value of one integer of it: 1 but for reals, which are summed on their grid."""
    (arg,) = call.args
    known = domain_of(arg, domains)
    match arg.type.kind:
        case Kind.INTEGER | Kind.BOOLEAN | Kind.NULL:
            return _ask_sum(_as_bigint(arg, known), HUGEINT, known.interval, known, call, ask), Fraction(1)
        case Kind.DECIMAL:
            short, scale = arg, arg.type.scale
            if arg.type.precision > SUMMED_DIGITS:
                if scale >= SUMMED_DIGITS:
                    raise refused(call, "Its values have too many digits to be added exactly.", "CAST it.")
                short = functions.make("try_cast", (arg,), at=None, to=decimal(SUMMED_DIGITS, scale))
            return _ask_sum(short, decimal(38, scale), known.interval, known, call, ask), Fraction(1)
        case Kind.REAL:
            grid = _grid(call, known)
            ends = Interval(Fraction(grid.low), Fraction(grid.high))
            return _ask_sum(_on_grid(arg, grid), HUGEINT, ends, known, call, ask), grid.step
    raise refused(call, f"{arg.type} cannot be summed.", "Sum a number.")


def _ask_sum(arg: Expr, type_: Type, one: Interval, known: Domain, call: UnitCall, ask: Ask) -> Column:
    """Of values that are never negative (positive) the sum is not less (not more) than any of them."""
    low = one.lower if one.lower is not None and one.lower >= 0 else None
    high = one.upper if one.upper is not None and one.upper <= 0 else None
    nullable = known.nullable or not call.some or call.filtered
    integral = known.is_integral or type_ == HUGEINT
    domain = Domain(type=type_, interval=Interval(low, high), nullable=nullable, integral=integral)
    return ask("sum", (arg,), type_, domain, distinct=call.distinct)


def _as_bigint(arg: Expr, known: Domain) -> Expr:
    """Integers of 64 bits; what does not fit is NULL."""
    if arg.type == BIGINT:
        return arg
    low, high = integer_range(BIGINT)
    fits = known.interval.is_finite and low <= known.interval.ends()[0] and known.interval.ends()[1] <= high
    return functions.make("cast" if fits or arg.type.bits <= 64 else "try_cast", (arg,), at=None, to=BIGINT)


def _grid(call: UnitCall, known: Domain) -> ValueGrid:
    """The value grid of a number with bounds; refused without."""
    if known.type.kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL):
        raise refused(call, f"{known.type} is not a number.", "Take a number.")
    if not known.interval.is_finite:
        raise Refused(
            f"{call.function.upper()} of one person's rows needs bounds here",
            code=103,
            at=place(call.args[0]) or call.at,
            why="Sums of reals depend on their order unless they are added on a grid, and bounds give the grid.",
            fix="Clamp: LEAST(GREATEST(x, 0), 100); or, if it is a table's own column, add `lower:` and `upper:` to it in "
            "the metadata.",
        )
    if not representable(known.type, known.interval):
        raise refused(call, "Its bounds are beyond what doubles can add up.", "Clamp it: LEAST(GREATEST(x, 0), 100).")
    return value_grid(known.type, known.interval)


def _on_grid(arg: Expr, grid: ValueGrid) -> Expr:
    """The number's integer on the grid, clamped; NULL and NaN are NULL."""
    kind = arg.type
    if kind.kind is Kind.INTEGER:
        return functions.make("cast", (arg,), at=None, to=BIGINT)
    if kind.kind is Kind.DECIMAL:
        units = functions.make(
            "multiply", (functions.make("cast", (arg,), at=None, to=REAL), _constant(1 / grid.step)), at=None
        )
        return functions.make("try_cast", (units,), at=None, to=BIGINT)
    scaled = functions.make("multiply", (arg, _constant(1 / grid.step)), at=None)
    return functions.make(
        "case",
        (
            functions.make("less_equal", (arg, _constant(grid.low * grid.step)), at=None),
            Literal(grid.low, BIGINT),
            functions.make("less", (arg, _constant(grid.high * grid.step)), at=None),
            functions.make("try_cast", (scaled,), at=None, to=BIGINT),
            functions.make("less_equal", (arg, _constant(LARGEST_REAL)), at=None),
            Literal(grid.high, BIGINT),
        ),
        at=None,
    )


def _avg(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    total, step = _total(call, domains, ask)
    count = _entering(call, domains, ask)
    mean = functions.make("divide", (_real(total), _real(_not_zero(count))), at=None)
    if step != 1:
        mean = functions.make("multiply", (mean, _constant(step)), at=None)
    return Made(expr=mean, interval=domain_of(call.args[0], domains).interval)


def _entering(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Column:
    """How many values the call is about."""
    (arg,) = call.args
    counted = _on_grid(arg, _grid(call, domain_of(arg, domains))) if arg.type.kind is Kind.REAL else arg
    domain = Domain(type=BIGINT, interval=Interval(Fraction(0), None), nullable=False)
    return ask("count", (counted,), BIGINT, domain, distinct=call.distinct)


def _spread(*, sample: bool, root: bool) -> Maker:
    """VAR and STDDEV from Σc and Σc², c twice the distance from the middle of the bounds, in grid integers: exact until
    the last few operations on reals."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        (arg,) = call.args
        known = domain_of(arg, domains)
        grid = _grid(call, known)
        if (grid.high - grid.low).bit_length() > SQUARE_BITS:
            raise refused(
                call, "Its bounds are too wide to square exactly.", "Narrow them: LEAST(GREATEST(x, 0), 100)."
            )
        width = grid.high - grid.low
        nullable = Domain(type=HUGEINT, nullable=True)
        centred = _centred(arg, grid)
        first = ask("sum", (centred,), HUGEINT, nullable, distinct=call.distinct)
        wide = functions.make("cast", (centred,), at=None, to=HUGEINT)
        squares = functions.make("multiply", (wide, wide), at=None)
        second = ask("sum", (squares,), HUGEINT, nullable, distinct=call.distinct)
        count = _real(_entering_grid(centred, call, ask))
        sum_, square = _real(first), _real(second)
        mean_square = functions.make("divide", (functions.make("multiply", (sum_, sum_), at=None), count), at=None)
        spread = functions.make(
            "greatest", (functions.make("subtract", (square, mean_square), at=None), _constant(Fraction(0))), at=None
        )
        divisor = functions.make("subtract", (count, _constant(Fraction(1))), at=None) if sample else count
        variance = functions.make(
            "multiply", (functions.make("divide", (spread, divisor), at=None), _constant((grid.step / 2) ** 2)), at=None
        )
        value = functions.make("sqrt", (variance,), at=None) if root else variance
        enough = functions.make("greater", (count, _constant(Fraction(1 if sample else 0))), at=None)
        far = width * grid.step
        limit = far * (Fraction(708, 1000) if sample else Fraction(1, 2))
        return Made(
            expr=functions.make("case", (enough, value, Literal(None, NULL)), at=None),
            interval=Interval(Fraction(0), limit if root else limit * limit),
        )

    return maker


def _centred(arg: Expr, grid: ValueGrid) -> Expr:
    doubled = functions.make("multiply", (_on_grid(arg, grid), Literal(2, BIGINT)), at=None)
    return functions.make("subtract", (doubled, Literal(grid.low + grid.high, BIGINT)), at=None)


def _entering_grid(centred: Expr, call: UnitCall, ask: Ask) -> Column:
    domain = Domain(type=BIGINT, interval=Interval(Fraction(0), None), nullable=False)
    return ask("count", (centred,), BIGINT, domain, distinct=call.distinct)


def _constant(value: Fraction) -> Literal:
    return Literal(float(value), REAL)


def _real(expr: Expr) -> Expr:
    return functions.make("cast", (expr,), at=None, to=REAL)


def _not_zero(count: Column) -> Expr:
    return functions.make("nullif", (count, Literal(0, BIGINT)), at=None)


# --- one of the values ----------------------------------------------------------------------------------------------


def _one_of(function: str) -> Maker:
    """MIN, MAX; ANY_VALUE is the smallest, so that it does not depend on the order of the rows."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        if known.type.kind is Kind.INTERVAL:
            raise refused(call)
        return Made(expr=ask(function, call.args, call.args[0].type, _maybe_none(known, call)))

    return maker


def _maybe_none(known: Domain, call: UnitCall) -> Domain:
    if not call.filtered and call.some and not known.nullable:
        return known
    keys = known.keys
    return known.but(nullable=True, keys=keys if keys is None or None in keys else (*keys, None))


def _truth(function: str) -> Maker:
    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        if known.type.kind is not Kind.BOOLEAN:
            raise refused(call, f"{known.type} is no condition.", "Write a comparison.")
        return Made(expr=ask(function, call.args, known.type, _maybe_none(known.but(keys=None), call)))

    return maker


def _quantile(*, middle: bool, between: bool) -> Maker:
    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        at = Literal(Fraction(1, 2), decimal(2, 1)) if middle else call.args[1]
        if not isinstance(at, Literal) or isinstance(at.value, str | bool | None) or not 0 <= Fraction(at.value) <= 1:
            raise refused(call, "Which quantile must be a number from 0 to 1, written out.", "Write 0.5.")
        fraction = _from_the_end(Fraction(at.value), call)
        if not between:
            one = _maybe_none(known, call)
            args = (call.args[0], fraction)
            return Made(expr=ask("quantile_disc", args, known.type, one, distinct=call.distinct))
        if not known.type.is_numeric:
            raise refused(call, f"{known.type} is not a number.", "Take a number, or quantile_disc.")
        reals = _real(call.args[0])
        domain = Domain(type=REAL, interval=known.interval, nullable=True)
        found = ask("quantile_cont", (reals, fraction), REAL, domain, distinct=call.distinct)
        if call.type == REAL:
            return Made(expr=found)
        return Made(expr=functions.make("try_cast", (found,), at=None, to=call.type), interval=known.interval)

    return maker


def _from_the_end(fraction: Fraction, call: UnitCall) -> Literal:
    """WITHIN GROUP (ORDER BY x DESC) counts from the largest value, which the engine writes as a negative fraction."""
    if not call.given or not call.given[0].descending:
        return Literal(float(fraction), REAL)
    return Literal(-float(fraction) if fraction else 1.0, REAL)


def _mode(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    """The most frequent value; of several, the one that comes first in the call's order, else the smallest."""
    known = domain_of(call.args[0], domains)
    if call.distinct or known.type.kind is Kind.INTERVAL:
        raise refused(call, "Of distinct values each is as frequent as any.", "Write MODE(x), or MIN(x).")
    if not columns_of(call.args[0]):  # engines take a constant in an ordered aggregate for a fraction
        return _one_of("min")(call, domains, ask)
    order = (*call.given, SortKey(call.args[0]))
    return Made(expr=ask("mode", call.args, known.type, _maybe_none(known, call), order=order))


def _at_an_end(function: str) -> Maker:
    """FIRST, LAST: of the rows in the call's order, made total."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        return Made(expr=ask(function, call.args, known.type, _maybe_none(known, call), order=call.order))

    return maker


def _of_extreme(*, descending: bool) -> Maker:
    """ARG_MIN(x, y), ARG_MAX(x, y): the x of the row whose y is least; rows where one is NULL do not enter."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        value, by = call.args
        known = domain_of(value, domains)
        absent = functions.make("is_null", (value,), at=None)
        keys = (SortKey(absent), SortKey(by, descending=descending), *call.order)
        there = functions.make("case", (functions.make("is_not_null", (by,), at=None), value), at=None)
        nullable = known.nullable or domain_of(by, domains).nullable
        found = _maybe_none(known.but(nullable=nullable), call)
        return Made(expr=ask("first", (there,), known.type, found, order=keys))

    return maker


ARITY: Mapping[str, tuple[int, ...]] = {
    "count": (0, 1),
    "quantile_cont": (2,),
    "quantile_disc": (2,),
    "arg_min": (2,),
    "arg_max": (2,),
}

MAKERS: Mapping[str, Maker] = {
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _avg,
    "min": _one_of("min"),
    "max": _one_of("max"),
    "any_value": _one_of("min"),
    "mode": _mode,
    "first": _at_an_end("first"),
    "last": _at_an_end("last"),
    "arg_min": _of_extreme(descending=False),
    "arg_max": _of_extreme(descending=True),
    "bool_and": _truth("bool_and"),
    "bool_or": _truth("bool_or"),
    "var_samp": _spread(sample=True, root=False),
    "var_pop": _spread(sample=False, root=False),
    "stddev_samp": _spread(sample=True, root=True),
    "stddev_pop": _spread(sample=False, root=True),
    "median": _quantile(middle=True, between=True),
    "quantile_cont": _quantile(middle=False, between=True),
    "quantile_disc": _quantile(middle=False, between=False),
}

__all__ = ["EVERYTHING", "MAKERS", "Ask", "Made", "UnitCall", "domain_of", "make_call", "refused"]
