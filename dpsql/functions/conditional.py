"""CASE, COALESCE, NULLIF, LEAST, GREATEST: choices among values of one type. Their key sets are unions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce

from dpsql.domain import interval as iv
from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import DAY, Range, hull, in_type, type_range
from dpsql.domain.types import NULL, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, all_alike, expect, row
from dpsql.functions.numbers import joined
from dpsql.functions.result import ORDERED, result
from dpsql.functions.sets import image, listed, union
from dpsql.ir.expr import Call, Expr, Literal


def branches(count: int) -> tuple[int, ...]:
    """The positions of a CASE's values: each THEN, and the ELSE."""
    return (*range(1, count, 2), *([count - 1] if count % 2 else []))


def _case_type(args: Args) -> Type:
    for position in range(0, len(args) - 1, 2):
        expect(args, position, (Kind.BOOLEAN,), "Compare it with something.")
    values = branches(len(args))
    try:
        return joined(tuple(args[i] for i in values))
    except TypeProblem as problem:
        at = problem.argument
        raise TypeProblem(problem.what, None if at is None else values[at], problem.fix) from None


def _case_domain(call: Call, domains: Domains) -> Domain:
    values = branches(len(domains))
    missing = len(domains) % 2 == 0
    return _choice(call, domains, values, nullable=missing or any(domains[i].nullable for i in values))


def _choice(call: Call, domains: Domains, positions: Iterable[int], *, nullable: bool) -> Domain:
    """One of the values at these positions: the hull of the intervals, the union of the key sets."""
    known = _recast(call, domains, positions)
    interval = reduce(iv.hull, (d.interval for d in known)) if known else Interval()
    return result(
        call,
        tuple(domains[i] for i in positions),
        interval=interval,
        keys=union(map(listed, known)),
        nullable=nullable,
        integral=bool(known) and all(d.is_integral for d in known),
    )


def _recast(call: Call, domains: Domains, positions: Iterable[int]) -> Domains:
    """The values at these positions, but NULLs, in the call's type: dates become timestamps, other numbers keep theirs."""
    recast: list[Domain] = []
    for arg, domain in ((call.args[i], domains[i]) for i in positions if domains[i].type != NULL):
        if domain.type == call.type:
            recast.append(domain)
            continue
        interval = domain.interval
        if domain.type.kind is Kind.DATE and call.type.kind is Kind.TIMESTAMP:
            interval = Interval(*(None if end is None else end * DAY for end in (interval.lower, interval.upper)))
        cast = Call("cast", (arg,), call.type)
        keys = image(cast, (domain,), nullable=domain.nullable)
        recast.append(domain.but(type=call.type, interval=interval, keys=keys, integral=domain.is_integral))
    return tuple(recast)


def _coalesce_domain(call: Call, domains: Domains) -> Domain:
    needed = next((i for i, d in enumerate(domains) if not d.nullable), len(domains) - 1)
    return _choice(call, domains, range(needed + 1), nullable=all(d.nullable for d in domains))


def _nullif_type(args: Args) -> Type:
    joined(args)
    return args[0].type


def _nullif_domain(call: Call, domains: Domains) -> Domain:
    (first, _) = domains
    return result(call, domains, interval=first.interval, keys=first.keys, nullable=True, integral=first.integral)


def _extreme(low: bool) -> Callable[[Call, Domains], Domain]:
    pick = min if low else max

    def bound(ends: list[Fraction | None], closing: bool) -> Fraction | None:
        """LEAST's upper end (GREATEST's lower) is the tightest; the other end is open if one is."""
        known = [end for end in ends if end is not None]
        if closing:
            return pick(known, default=None)
        return pick(known) if known and len(known) == len(ends) else None

    def domain(call: Call, domains: Domains) -> Domain:
        """NULLs are passed over, so an argument that may be NULL bounds nothing. NaN is the greatest of all."""
        values = _recast(call, domains, range(len(domains)))
        if not values or call.type.kind not in ORDERED:
            return _choice(call, domains, range(len(domains)), nullable=all(d.nullable for d in domains))
        sure = [d for d in values if not d.nullable]
        whole = reduce(iv.hull, (d.interval for d in values))
        tight = bound([(d.interval.upper if low else d.interval.lower) for d in sure], True)
        if low and tight is not None:
            interval = Interval(whole.lower, tight if whole.upper is None else min(tight, whole.upper))
        elif tight is not None:
            interval = Interval(tight if whole.lower is None else max(tight, whole.lower), whole.upper)
        else:
            interval = whole
        null = all(d.nullable for d in values) if low else _greatest_null(call, values)
        return result(
            call,
            domains,
            interval=interval,
            nullable=null,
            integral=all(d.is_integral for d in values),
        )

    return domain


def _greatest_null(call: Call, values: Domains) -> bool:
    """A real that may be NULL may be NaN, and NaN wins."""
    if call.type.kind is Kind.REAL:
        return any(d.nullable for d in values)
    return all(d.nullable for d in values)


def never_null(expr: Expr) -> bool:
    """By the form of the expression alone: a constant, or a choice that ends in one. Never a column."""
    match expr:
        case Literal():
            return expr.value is not None
        case Call(function="coalesce" | "least" | "greatest"):
            return any(never_null(arg) for arg in expr.args)
        case Call(function="case"):
            return len(expr.args) % 2 == 1 and all(never_null(expr.args[i]) for i in branches(len(expr.args)))
        case _:
            return False


def _is_null(expr: Expr) -> bool:
    return expr.type == NULL or (isinstance(expr, Literal) and expr.value is None)


def _known(call: Call, spans: Spans, positions: Iterable[int]) -> dict[int, Range]:
    """Where the values at these positions are, in the call's own type, constant NULLs left out."""
    ranges = {i: in_type(spans[i], call.args[i].type, call.type) for i in positions if not _is_null(call.args[i])}
    return {i: range_ for i, range_ in ranges.items() if range_ is not None}


def _one_of(positions: Callable[[int], Iterable[int]]) -> Callable[[Call, Spans], Range | None]:
    """One of the values, whatever the conditions say."""

    def reach(call: Call, spans: Spans) -> Range | None:
        known = _known(call, spans, positions(len(call.args)))
        return hull(known.values()) if known else type_range(call.type)

    return reach


def _extreme_reach(low: bool) -> Callable[[Call, Spans], Range | None]:
    """One of the values; and LEAST is not above (GREATEST not below) a value that is there on every row."""

    def reach(call: Call, spans: Spans) -> Range | None:
        known = _known(call, spans, range(len(call.args)))
        if not known:
            return type_range(call.type)
        whole = hull(known.values())
        sure = [range_ for i, range_ in known.items() if never_null(call.args[i])]
        if low:
            return Range(whole.least, min([whole.most, *(range_.most for range_ in sure)]))
        return Range(max([whole.least, *(range_.least for range_ in sure)]), whole.most)

    return reach


FUNCTIONS = (
    row(
        "case",
        "The value after the first condition that holds; else the ELSE value, or NULL.",
        "CASE WHEN a THEN x … [ELSE y] END, IF(a, x, y)",
        (2, None),
        _case_type,
        _case_domain,
        reach=_one_of(branches),
        alike=lambda count: (branches(count),),
    ),
    row(
        "coalesce",
        "The first value that is not NULL.",
        "COALESCE(x, …), IFNULL(x, y)",
        (1, None),
        joined,
        _coalesce_domain,
        reach=_one_of(range),
        alike=all_alike,
    ),
    row(
        "nullif",
        "NULL where x equals y, else x.",
        "NULLIF(x, y)",
        2,
        _nullif_type,
        _nullif_domain,
        reach=_one_of(lambda count: (0,)),
        alike=all_alike,
        compares=True,
    ),
    row(
        "least",
        "The smallest of the values; NULLs are ignored.",
        "LEAST(x, …)",
        (1, None),
        joined,
        _extreme(True),
        reach=_extreme_reach(True),
        alike=all_alike,
    ),
    row(
        "greatest",
        "The largest of the values; NULLs are ignored.",
        "GREATEST(x, …)",
        (1, None),
        joined,
        _extreme(False),
        reach=_extreme_reach(False),
        alike=all_alike,
    ),
)
