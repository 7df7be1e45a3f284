"""What an aggregate may ask of candidates: quantiles, ends, most frequent values; for histograms see histograms.py."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.facts import Atom, Domain, known
from dpsql.domain.types import BIGINT, REAL, Kind, Type
from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import Expr, place
from dpsql.ir.nodes import Field
from dpsql.mechanisms.order_statistics import FRACTION_LIMIT
from dpsql.plan.candidates import (
    CANDIDATE_LIMIT,
    PLACES,
    WORD,
    Candidates,
    Extreme,
    MostFrequent,
    Quantiles,
    Question,
    Rule,
)
from dpsql.plan.measurements import Axis, Choice
from dpsql.privacy import sensitivity
from dpsql.privacy.measuring import MeasurementCollector

ORDERED = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
CELLS = 2**24  # candidates of all public groups together
FEWEST, UNKNOWN_GROUPS = 2**10, 2**12  # grid points at least; where keys are private
SPREAD_CELLS, LARGEST_SPREAD = 2**14, 16
MOST_CHOICES = 100


def quantile(collector: MeasurementCollector, arg: Expr, where: Expr | None, fraction: Fraction, rule: Rule) -> Expr:
    """The candidate below which about `fraction` of the rows lie. Fractions of one expression are one measurement: each
    doubling of their number costs one more round (recursive halving), not one more measurement each."""
    if not 0 <= fraction <= 1 or fraction.denominator > FRACTION_LIMIT:
        raise SqlError(
            "a quantile's fraction must be a number from 0 to 1 with at most four decimals",
            code=105,
            at=place(arg),
            fix="Write for example QUANTILE_CONT(x, 0.95).",
        )
    axis, candidates = _ordered(collector, arg)
    for position, old in enumerate(collector.measurements):
        if not isinstance(old, Choice) or (old.axis, old.where) != (axis, where):
            continue
        question = old.question
        if isinstance(question, Quantiles):
            asked = list(zip(question.fractions, question.rules, strict=True))
            if (fraction, rule) in asked:
                return old.answers[asked.index((fraction, rule))].column()
            answer = collector.ids.field("", arg.type)
            longer = (*question.fractions, fraction), (*question.rules, rule)
            collector.measurements[position] = _quantiles(
                collector, axis, where, candidates, *longer, (*old.answers, answer)
            )
            return answer.column()
    answer = collector.ids.field("", arg.type)
    collector.add(_quantiles(collector, axis, where, candidates, (fraction,), (rule,), (answer,)))
    return answer.column()


def _quantiles(
    collector: MeasurementCollector,
    axis: Axis,
    where: Expr | None,
    candidates: Candidates,
    fractions: tuple[Fraction, ...],
    rules: tuple[Rule, ...],
    answers: tuple[Field, ...],
) -> Choice:
    spread = 1
    if len(set(fractions)) > 1:  # equal values are split between the halves, a cell at a time
        while spread < LARGEST_SPREAD and candidates.count * spread * 2 <= SPREAD_CELLS:
            spread *= 2
    different = dict.fromkeys(fractions)
    named = ", ".join(f"{float(f):g}" for f in different)
    name = f"quantile{'s' if len(different) > 1 else ''} {named} of {collector.describe(axis.arg)}{collector.filter(where)}"
    return Choice(
        name=name,
        question=Quantiles(fractions=fractions, rules=rules, spread=spread),
        candidates=candidates,
        axis=axis,
        where=where,
        answers=answers,
        because=collector.domain(axis.arg).because,
    )


def extreme(collector: MeasurementCollector, arg: Expr, where: Expr | None, *, greatest: bool) -> Expr:
    """The least or greatest candidate, a few rows (EXPLAIN says how many) inside the end."""
    axis, candidates = _ordered(collector, arg)
    name = f"{'max' if greatest else 'min'}({collector.describe(arg)})"
    return _chosen(collector, name, Extreme(greatest=greatest), candidates, (arg.type,), where, axis=axis)[0]


def most_frequent(collector: MeasurementCollector, arg: Expr, where: Expr | None, count: int) -> tuple[Expr, ...]:
    """The values with the most rows, heaviest first."""
    values, axis = public_values(collector, arg)
    total = len(values) if values is not None else axis.width + 1 if axis is not None else 0
    if not 1 <= count <= min(total, MOST_CHOICES):
        raise SqlError(
            f"{count} of {total} public values cannot be chosen",
            code=105,
            at=place(arg),
            fix=f"Ask for 1 to {min(total, MOST_CHOICES)}.",
        )
    candidates = Candidates(count=total, values=values)
    name = f"{count} most frequent of {collector.describe(arg)}" if count > 1 else f"mode({collector.describe(arg)})"
    part = None if values is None else arg
    return _chosen(
        collector, name, MostFrequent(count=count), candidates, (arg.type,) * count, where, axis=axis, part=part
    )


def _ordered(collector: MeasurementCollector, arg: Expr) -> tuple[Axis, Candidates]:
    """Every value of a small domain, else a public grid over the bounds: the fewer, the more groups there are."""
    axis = axis_of(collector, arg)
    points = CANDIDATE_LIMIT
    if axis.width >= CANDIDATE_LIMIT:
        points = (
            UNKNOWN_GROUPS
            if collector.groups is None
            else max(FEWEST, min(CANDIDATE_LIMIT, CELLS // max(1, collector.groups)))
        )
    cell = max(1, -(-axis.width // (points - 1)))
    count = -(-axis.width // cell) + 1
    return axis, Candidates(count=count, cell=cell)


def axis_of(collector: MeasurementCollector, arg: Expr) -> Axis:
    domain = collector.domain(arg)
    if domain.type.kind not in ORDERED:
        raise Refused(
            f"{domain.type} has no order statistics",
            code=132,
            at=place(arg),
            why="Their candidates are a public grid over the bounds of a number or date.",
            fix="Use a number or a date; for text COUNT(*) … GROUP BY it, or MODE over declared keys.",
        )
    if not domain.interval.is_finite:
        raise collector.unbounded(arg, "The candidates are a public grid over the bounds.")
    if not sensitivity.representable(domain.type, domain.interval):
        raise collector.too_wide(arg)
    grid = sensitivity.value_grid(_whole(domain), domain.interval)
    far = PLACES if domain.type.kind is Kind.REAL else WORD  # doubles next to the end of 64 bits round past it
    if not -far <= grid.low <= grid.high < far:
        raise collector.too_wide(arg)
    return Axis(arg=arg, step=grid.step, low=grid.low, high=grid.high)


def _whole(domain: Domain) -> Type:
    """FLOOR(x) is a real whose values are whole."""
    return BIGINT if domain.type.kind is Kind.REAL and domain.is_integral else domain.type


def public_values(collector: MeasurementCollector, arg: Expr) -> tuple[tuple[Atom, ...] | None, Axis | None]:
    """The public values of an expression: its key set, or every value of a small domain (then as an axis)."""
    domain = collector.domain(arg)
    keys = known(domain.keys)
    if keys is not None:
        values = tuple(sorted({v for v in keys if v is not None}, key=_order))
        if 0 < len(values) <= CANDIDATE_LIMIT and domain.type.kind is not Kind.REAL:
            return values, None
        if not values:
            raise Refused(
                f"no value of {collector.describe(arg)} is left",
                code=132,
                at=place(arg),
                why="None of its public values passes the query's conditions.",
                fix="Loosen the conditions: EXPLAIN of a query that groups by it shows its values.",
            )
    if domain.type.kind is Kind.BOOLEAN:
        return None, Axis(arg=arg, step=Fraction(1), low=0, high=1)
    if domain.type.kind in ORDERED and domain.is_integral and domain.interval.is_finite:
        axis = axis_of(collector, arg)
        if axis.width < CANDIDATE_LIMIT:
            return None, axis
    raise Refused(
        f"the values of {collector.describe(arg)} are not public",
        code=132,
        at=place(arg),
        why="The answer is one of its values, so these must be known without the data.",
        fix="Declare `keys:` for it, filter with IN (…), or round it: FLOOR(x / 10). "
        "Or count them: COUNT(*) … GROUP BY x ORDER BY 2 DESC.",
    )


def _order(value: Atom) -> tuple[bool, str | Fraction]:
    return (True, value) if isinstance(value, str) else (False, Fraction(value or 0))


def atom_at(on_axis: int, axis: Axis) -> Atom:
    value = on_axis * axis.step
    if axis.arg.type.kind is Kind.BOOLEAN:
        return bool(on_axis)
    return float(value) if axis.arg.type == REAL else value if value.denominator > 1 else int(value)


def _chosen(
    collector: MeasurementCollector,
    name: str,
    question: Question,
    candidates: Candidates,
    types: tuple[Type, ...],
    where: Expr | None,
    *,
    axis: Axis | None,
    part: Expr | None = None,
) -> tuple[Expr, ...]:
    """The answers' columns; those there are, if it was asked for before."""
    new = Choice(
        name=name + collector.filter(where),
        question=question,
        candidates=candidates,
        axis=axis,
        part=part,
        where=where,
        answers=tuple(collector.ids.field("", type_) for type_ in types),
        because=because_of(collector, axis, part),
    )
    return tuple(f.column() for f in collector.asked(new).answers)


def because_of(collector: MeasurementCollector, axis: Axis | None, part: Expr | None) -> str:
    arg = part if axis is None else axis.arg
    assert arg is not None
    return collector.domain(arg).because
