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

from collections.abc import Mapping
from fractions import Fraction

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.types import REAL, Kind, decimal
from dpsql.ir.expr import Literal, SortKey, columns_of
from dpsql.privacy.refused_aggregates import OF_ONE_PERSON
from dpsql.privacy.rules.unit_calls import Ask, Made, Maker, UnitCall, domain_of, maybe_none, real, refused
from dpsql.privacy.rules.unit_sums import average, count, count_if, spread, total


def make_call(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
    """Lemma: the result is a function of the unit's rows as a multiset, and never fails. Proof: primitives are, and
    scalar functions of primitives are total."""
    maker = MAKERS.get(call.function)
    if maker is None:
        names = ", ".join(name.upper() for name in sorted(MAKERS))
        raise refused(call, *OF_ONE_PERSON.get(call.function, ("", f"These are possible here: {names}.")))
    arity = ARITY.get(call.function, (1,))
    if len(call.args) not in arity:
        how_many = " or ".join(map(str, arity))
        arguments = "argument" if how_many == "1" else "arguments"
        raise refused(call, f"Over one person's rows it takes {how_many} {arguments}.")
    return maker(call, domains, ask)


def _one_of(function: str) -> Maker:
    """MIN, MAX; ANY_VALUE is the smallest, so that it does not depend on the order of the rows."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        if known.type.kind is Kind.INTERVAL:
            raise refused(call)
        return Made(expr=ask(function, call.args, call.args[0].type, maybe_none(known, call)))

    return maker


def _truth(function: str) -> Maker:
    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        if known.type.kind is not Kind.BOOLEAN:
            raise refused(call, f"{known.type} is not a condition.", "Write a comparison.")
        return Made(expr=ask(function, call.args, known.type, maybe_none(known.but(keys=None), call)))

    return maker


def _quantile(*, middle: bool, between: bool) -> Maker:
    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        at = Literal(Fraction(1, 2), decimal(2, 1)) if middle else call.args[1]
        if not isinstance(at, Literal) or isinstance(at.value, str | bool | None) or not 0 <= Fraction(at.value) <= 1:
            raise refused(call, "The fraction must be a number from 0 to 1, written out.", "Write 0.5.")
        fraction = _from_the_end(Fraction(at.value), call)
        if not between:
            one = maybe_none(known, call)
            args = (call.args[0], fraction)
            return Made(expr=ask("quantile_disc", args, known.type, one, distinct=call.distinct))
        if not known.type.is_numeric:
            raise refused(call, f"{known.type} is not a number.", "Take a number, or quantile_disc.")
        reals = real(call.args[0])
        domain = Domain(type=REAL, interval=known.interval, nullable=True)
        quantile = ask("quantile_cont", (reals, fraction), REAL, domain, distinct=call.distinct)
        if call.type == REAL:
            return Made(expr=functions.call("canonical", quantile))  # between -∞ and ∞ lies no number
        return Made(expr=functions.call("try_cast", quantile, to=call.type), interval=known.interval)

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
        raise refused(call, "All distinct values are equally frequent.", "Write MODE(x), or MIN(x).")
    if not columns_of(call.args[0]):  # engines take a constant in an ordered aggregate for a fraction
        return _one_of("min")(call, domains, ask)
    order = (*call.given, SortKey(call.args[0]))
    return Made(expr=ask("mode", call.args, known.type, maybe_none(known, call), order=order))


def _at_an_end(function: str) -> Maker:
    """FIRST, LAST: of the rows in the call's order, made total."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        known = domain_of(call.args[0], domains)
        return Made(expr=ask(function, call.args, known.type, maybe_none(known, call), order=call.order))

    return maker


def _of_extreme(*, descending: bool) -> Maker:
    """ARG_MIN(x, y), ARG_MAX(x, y): the x of the row whose y is least; rows where one is NULL do not enter."""

    def maker(call: UnitCall, domains: Mapping[int, Domain], ask: Ask) -> Made:
        value, by = call.args
        known = domain_of(value, domains)
        absent = functions.call("is_null", value)
        keys = (SortKey(absent), SortKey(by, descending=descending), *call.order)
        there = functions.call("case", functions.call("is_not_null", by), value)
        nullable = known.nullable or domain_of(by, domains).nullable
        domain = maybe_none(known.but(nullable=nullable), call)
        return Made(expr=ask("first", (there,), known.type, domain, order=keys))

    return maker


ARITY: Mapping[str, tuple[int, ...]] = {
    "count": (0, 1),
    "quantile_cont": (2,),
    "quantile_disc": (2,),
    "arg_min": (2,),
    "arg_max": (2,),
}

MAKERS: Mapping[str, Maker] = {
    "count": count,
    "count_if": count_if,
    "sum": total,
    "avg": average,
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
    "var_samp": spread(sample=True, root=False),
    "var_pop": spread(sample=False, root=False),
    "stddev_samp": spread(sample=True, root=True),
    "stddev_pop": spread(sample=False, root=True),
    "median": _quantile(middle=True, between=True),
    "quantile_cont": _quantile(middle=False, between=True),
    "quantile_disc": _quantile(middle=False, between=False),
}
