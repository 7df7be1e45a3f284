"""Counts, sums, averages and spreads of one unit's rows: exact integers under a few operations on reals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpsql import functions
from dpsql.domain.facts import Domain, known
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import Range
from dpsql.domain.types import BIGINT, HUGEINT, NULL, REAL, Kind, Type, decimal, integer_range
from dpsql.errors import Refused
from dpsql.functions.numbers import LARGEST_REAL
from dpsql.ir.expr import Column, Expr, Literal, place
from dpsql.plan.clamps import clamp_that_keeps
from dpsql.privacy.rules.unit_calls import Ask, Made, Maker, UnitCall, constant, domain_of, real, refused
from dpsql.privacy.sensitivity import ValueGrid, representable, value_grid

SQUARE_BITS = 43  # squares of 43 bits, 2^40 of them, fit a HUGEINT
SUMMED_DIGITS = 28  # 2^32 decimals of 28 digits fit 38

# --- counting -------------------------------------------------------------------------------------------------------


def count(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    surely = call.some and not call.filtered and all(not domain_of(arg, domains).nullable for arg in call.args)
    most: Fraction | None = None
    if call.distinct and call.args:  # declared keys are expected, not enforced: nothing rests on there being no others
        keys = known(domain_of(call.args[0], domains).keys)
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


def count_if(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    """NULL where the condition is known of no row, as in DuckDB, whose COUNT_IF is a sum."""
    hit = functions.call("case", call.args[0], Literal(1, BIGINT))
    most = Fraction(1) if call.distinct else None
    none = Domain(type=BIGINT, interval=Interval(Fraction(0), most), nullable=False)
    hits = ask("count", (hit,), BIGINT, none, distinct=call.distinct)
    if call.some and not call.filtered and not domain_of(call.args[0], domains).nullable:
        return Made(expr=hits)
    known = functions.call(
        "greater", ask("count", call.args, BIGINT, none.but(interval=Interval(Fraction(0), None))), Literal(0, BIGINT)
    )
    return Made(expr=functions.call("case", known, hits, Literal(None, NULL)))


# --- sums -----------------------------------------------------------------------------------------------------------


def total(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    total, step = _exactly(call, domains, ask)
    if call.args[0].type.kind is Kind.REAL:
        return Made(expr=functions.call("multiply", real(total), constant(step)))
    return Made(expr=total if total.type == call.type else functions.call("try_cast", total, to=call.type))


def _exactly(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> tuple[Column, Fraction]:
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
                short = functions.call("try_cast", arg, to=decimal(SUMMED_DIGITS, scale))
            return _ask_sum(short, decimal(38, scale), known.interval, known, call, ask), Fraction(1)
        case Kind.REAL:
            grid = _grid(call, known)
            ends = Interval(Fraction(grid.low), Fraction(grid.high))
            return _ask_sum(_on_grid(call, grid), HUGEINT, ends, known, call, ask), grid.step
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
    return functions.call("cast" if fits or arg.type.bits <= 64 else "try_cast", arg, to=BIGINT)


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
            fix=f"Clip: {clamp_that_keeps('x')}; or, if it is a table's own column, add `lower:` and `upper:` to it in "
            "the metadata.",
        )
    if not representable(known.type, known.interval):
        raise refused(call, "Its bounds are beyond what doubles can add up.", f"Clip it: {clamp_that_keeps('x')}.")
    return value_grid(known.type, known.interval)


def _on_grid(call: UnitCall, grid: ValueGrid) -> Expr:
    """The number's integer on the grid, from its low end to its high one; NULL and NaN are NULL."""
    (arg,) = call.args
    number = arg if arg.type == REAL else real(arg)
    scaled = functions.call("multiply", number, constant(1 / grid.step))
    match arg.type.kind:
        case Kind.INTEGER:
            _, range_ = functions.totalise(arg, call.ranges)
            units = functions.call("cast", arg, to=BIGINT)
            if range_ is not None and range_.within(Range(grid.low, grid.high)):
                return units
            return _if_there(arg, _clamped(units, grid))
        case Kind.DECIMAL:
            return _if_there(arg, _clamped(functions.call("try_cast", scaled, to=BIGINT), grid))
    return functions.call(
        "case",
        functions.call("less_equal", arg, constant(grid.low * grid.step)),
        Literal(grid.low, BIGINT),
        functions.call("less", arg, constant(grid.high * grid.step)),
        _clamped(functions.call("try_cast", scaled, to=BIGINT), grid),
        functions.call("less_equal", arg, constant(LARGEST_REAL)),
        Literal(grid.high, BIGINT),
    )


def _clamped(units: Expr, grid: ValueGrid) -> Expr:
    """By integers, so that its range is known by its form; of NULL it makes an end."""
    above = functions.call("greatest", units, Literal(grid.low, BIGINT))
    return functions.call("least", above, Literal(grid.high, BIGINT))


def _if_there(arg: Expr, value: Expr) -> Expr:
    return functions.call("case", functions.call("is_not_null", arg), value)


def average(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    total, step = _exactly(call, domains, ask)
    count = _entering(call, domains, ask)
    mean = functions.call("divide", real(total), real(_not_zero(count)))
    if step != 1:
        mean = functions.call("multiply", mean, constant(step))
    return Made(expr=mean, interval=domain_of(call.args[0], domains).interval)


def _entering(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Column:
    """How many values the call is about."""
    (arg,) = call.args
    counted = _on_grid(call, _grid(call, domain_of(arg, domains))) if arg.type.kind is Kind.REAL else arg
    domain = Domain(type=BIGINT, interval=Interval(Fraction(0), None), nullable=False)
    return ask("count", (counted,), BIGINT, domain, distinct=call.distinct)


def spread(*, sample: bool, root: bool) -> Maker:
    """VAR and STDDEV from Σc and Σc², c twice the distance from the middle of the bounds, in grid integers: exact until
    the last few operations on reals."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        (arg,) = call.args
        known = domain_of(arg, domains)
        grid = _grid(call, known)
        if (grid.high - grid.low).bit_length() > SQUARE_BITS:
            raise refused(call, "Its bounds are too wide to square exactly.", f"Narrow them: {clamp_that_keeps('x')}.")
        width = grid.high - grid.low
        nullable = Domain(type=HUGEINT, nullable=True)
        centred = _centred(call, grid)
        first = ask("sum", (centred,), HUGEINT, nullable, distinct=call.distinct)
        wide = functions.call("cast", centred, to=HUGEINT)
        squares = functions.call("multiply", wide, wide)
        second = ask("sum", (squares,), HUGEINT, nullable, distinct=call.distinct)
        count = real(_entering_grid(centred, call, ask))
        sum_, square = real(first), real(second)
        mean_square = functions.call("divide", functions.call("multiply", sum_, sum_), count)
        spread = functions.call("greatest", functions.call("subtract", square, mean_square), constant(Fraction(0)))
        divisor = functions.call("subtract", count, constant(Fraction(1))) if sample else count
        variance = functions.call("multiply", functions.call("divide", spread, divisor), constant((grid.step / 2) ** 2))
        value = functions.call("sqrt", variance) if root else variance
        enough = functions.call("greater", count, constant(Fraction(1 if sample else 0)))
        far = width * grid.step
        limit = far * (Fraction(708, 1000) if sample else Fraction(1, 2))
        return Made(
            expr=functions.call("case", enough, value, Literal(None, NULL)),
            interval=Interval(Fraction(0), limit if root else limit * limit),
        )

    return maker


def _centred(call: UnitCall, grid: ValueGrid) -> Expr:
    doubled = functions.call("multiply", _on_grid(call, grid), Literal(2, BIGINT))
    return functions.call("subtract", doubled, Literal(grid.low + grid.high, BIGINT))


def _entering_grid(centred: Expr, call: UnitCall, ask: Ask) -> Column:
    domain = Domain(type=BIGINT, interval=Interval(Fraction(0), None), nullable=False)
    return ask("count", (centred,), BIGINT, domain, distinct=call.distinct)


def _not_zero(count: Column) -> Expr:
    return functions.call("nullif", count, Literal(0, BIGINT))
