"""Totals of rows: counts, sums, products and moments, each row with its unit's weight."""

from __future__ import annotations

from typing import Literal as OneOf

from dpsql.plan.balls import Ball, Norm
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Measurement, OnAxis, Product, RowMoments, RowTotal, most
from dpsql.plan.render.ball import shares, unit_weight, weighed_pairs, weights
from dpsql.plan.render.one_row import each_unit
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts, Printer
from dpsql.plan.render.sums import Sums, Total, Weighing, shown_totals, summed, weighed
from dpsql.plan.vault_query import Question, Step


def of_rows(printer: Printer, parts: Parts, norm: Norm) -> Question:
    """Without keys a unit's rows are added up first and weighed once: Σ w·p = w·Σ p. With keys each row is weighed: most
    pairs of a unit and a group have few rows, and need no hash table of their own then. In norm 2, where weights need the
    pairs of some units, these are weighed once each, and all others as one. On a cluster all pairs are added up first: the
    rows of one unit would travel to one machine."""
    added_first = printer.one_group or printer.dialect.adds_first
    weighing = Weighing.of(parts, apart=not added_first, shown=printer.stage.limit.rows.most > 1)
    ball = printer.ball(True, 1 if printer.one_group else norm)
    sums = Sums(printer.dialect, weighing, _kind(printer, ball, added_first=added_first))
    if ball is not None:  # a weight times the rows of its unit, in a group or all of them, is at most √R·2^20
        sums.reach = ball.reach(1)
    totals = {j: totals_of_rows(printer, j, one, sums) for j, one in parts}
    outs = shown_totals(printer, parts, totals, sums)
    rows_ = printer.rows(parts, present=weighing.present if sums.kind in ("of rows", "of shares") else ())
    if ball is None:
        return summed(printer, [Step("rows", rows_)], "rows", sums, outs, parts)
    if printer.one_group:  # in one group both norms are one
        unit_weights = [
            f"{unit_weight(ball, count, printer.dialect)} AS {name}" for name, count in weighing.counts.items()
        ]
        return summed(printer, _added_first(rows_, unit_weights, sums), "units", sums, outs, parts)
    if added_first:
        counts = {name: sums.inner.setdefault(text, f"n_{name}") for name, text in weighing.counts.items()}
        added = ", ".join(f"{text} AS {name}" for text, name in sums.inner.items())
        pairs = Step(
            "pairs",
            f"SELECT u, g, {added} FROM {printer.dialect.by_unit('rows', printer.stage.limit.rows.most)} GROUP BY u, g",
        )
        steps = [Step("rows", rows_), pairs, *weighed_pairs(ball, counts, printer.dialect)]
        return summed(printer, steps, "weighed", sums, outs, parts)
    if sums.kind == "of shares":
        steps = [printer.step("rows", rows_), *shares(ball, weighing.counts, sums.inner, printer.dialect)]
        return summed(printer, steps, "shares", sums, outs, parts)
    if printer.stage.limit.rows.most == 1:
        return summed(printer, each_unit(printer, ball, rows_, ("g",), weighing, parts), "rows", sums, outs, parts)
    weights_ = weights(ball, weighing.counts, "rows", printer.dialect, by_group=True)
    steps = [printer.step("rows", rows_), Step("weights", weights_)]
    return summed(printer, steps, weighed("rows"), sums, outs, parts)


def _kind(
    printer: Printer, ball: Ball | None, *, added_first: bool
) -> OneOf["of rows", "of units", "of shares", "full"]:
    if ball is None:
        return "full"
    if added_first:
        return "of units"
    return "of shares" if ball.norm == 2 and printer.stage.limit.rows.most > 1 else "of rows"


def of_values(printer: Printer, parts: Parts) -> Question:
    """Each sum with a weight of its own, made of what the unit's values add up to, whatever their sign; also where a unit
    has one row."""
    weighing = Weighing({j: f"e{j}" for j, _ in parts}, {}, frozenset())
    sums = Sums(printer.dialect, weighing, "of units" if printer.one_group else "of rows")
    totals = {j: totals_of_rows(printer, j, one, sums) for j, one in parts}
    outs = shown_totals(printer, parts, totals, sums)
    dialect = printer.dialect
    unit_weights = [f"{unit_weight(values_ball(one), size_of_values(j, dialect), dialect)} AS e{j}" for j, one in parts]
    rows_ = printer.rows(parts)
    if printer.one_group:
        return summed(printer, _added_first(rows_, unit_weights, sums), "units", sums, outs, parts)
    weights_ = f"SELECT u, {', '.join(unit_weights)} FROM rows GROUP BY u"
    steps = [printer.step("rows", rows_), Step("weights", weights_)]
    return summed(printer, steps, weighed("rows"), sums, outs, parts)


def _added_first(rows_: str, unit_weights: list[str], sums: Sums) -> list[Step]:
    """Steps that end in `units`: the weights of each, and its sums."""
    added = (f"{text} AS {name}" for text, name in sums.inner.items())
    return [Step("rows", rows_), Step("units", f"SELECT {', '.join([*unit_weights, *added])} FROM rows GROUP BY u")]


def values_ball(one: Measurement) -> Ball:
    assert isinstance(one, RowTotal) and one.within is not None
    return Ball(per="values", norm=1, squared=one.within**2)


def size_of_values(j: int, dialect: Dialect) -> str:
    """Σ|p| of a unit; pieces are within ±2^62."""
    return f"coalesce({dialect.sum(f'abs(p{j})')}, 0)"


def totals_of_rows(printer: Printer, j: int, one: Measurement, sums: Sums) -> list[Total]:
    """The totals of one measurement, in the order of its draws."""
    match one:
        case RowTotal(piece=OnAxis() | Product()):
            return [Total(sums.sum(j, f"p{j}", most(one.piece)))]
        case RowMoments():
            return _moments(printer, j, one, sums)
        case _:
            return [Total(sums.count(j, all_rows=enters_all(one)), counts=True)]


def _moments(printer: Printer, j: int, one: RowMoments, sums: Sums) -> list[Total]:
    """Σ w, Σ w·z and Σ w·z², and from these integers, per group, the ends: exact identities.

    Σ w(H±z) = H·Σw ± Σwz; Σ w(H±z)² = H²·Σw ± 2H·Σwz + Σwz²; Σ 2w(H²−z²) = 2(H²·Σw − Σwz²).
    """
    half, dialect = one.axis.most_centred, printer.dialect
    h, two = dialect.integer(half), dialect.integer(2)
    ends = printer.stage.noised[j].form == "ends"
    n = f"coalesce({sums.count(j, all_rows=False)}, 0)"
    s = f"coalesce({sums.sum(j, f'p{j}', half)}, 0)"
    if one.degree == 1:
        if ends:
            return [Total(f"{h} * {n} - {s}"), Total(f"{h} * {n} + {s}")]
        return [Total(n, counts=True), Total(s)]
    square = f"p{j} * p{j}" if half < 2**31 else f"{dialect.wide(f'p{j}')} * p{j}"
    q = f"coalesce({sums.sum(j, f'({square})', half * half)}, 0)"
    far, cross = dialect.integer(half * half), f"{dialect.integer(2 * half)} * {s}"
    if ends:
        return [
            Total(f"{far} * {n} - {cross} + {q}"),
            Total(f"{two} * ({far} * {n} - {q})"),
            Total(f"{far} * {n} + {cross} + {q}"),
        ]
    return [Total(n, counts=True), Total(s), Total(f"{two} * {q} - {far} * {n}")]
