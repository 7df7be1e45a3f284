"""Totals of rows: counts, sums, products and moments, each row with its unit's weight."""

from __future__ import annotations

from dpsql.plan.balls import Ball, Norm
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Measurement, OnAxis, Product, RowMoments, RowTotal, most
from dpsql.plan.render.ball import unit_weight, weighed_pairs, weights_of_rows
from dpsql.plan.render.one_row import each_unit
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts, Printer
from dpsql.plan.render.sums import Sums, Total, Weighing, shown_totals, summed, weighed
from dpsql.plan.vault_query import Question, Step


def of_rows(printer: Printer, parts: Parts, norm: Norm) -> Question:
    """Without keys a unit's rows are added up first and weighed once: Σ w·p = w·Σ p. With keys each row is weighed: most
    pairs of a unit and a group have few rows, and need no hash table of their own then. On a cluster these are added up
    first, too: the rows of one unit would all travel to one machine."""
    added_first = printer.one_group or printer.dialect.adds_first
    weighing = Weighing.of(parts, apart=not added_first)
    ball = printer.ball(True, 1 if printer.one_group else norm)
    sums = Sums(printer.dialect, weighing, "full" if ball is None else "of units" if added_first else "of rows")
    if ball is not None:  # a weight times the rows of its unit, in a group or all of them, is at most √R·2^20
        sums.reach = ball.reach(1)
    totals = {j: totals_of_rows(printer, j, one, sums) for j, one in parts}
    outs = shown_totals(printer, parts, totals, sums)
    rows_ = printer.rows(parts, present=weighing.present if sums.kind == "of rows" else ())
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
        pairs = Step("pairs", f"SELECT u, g, {added} FROM rows GROUP BY u, g")
        steps = [Step("rows", rows_), pairs, *weighed_pairs(ball, counts, printer.dialect)]
        return summed(printer, steps, "weighed", sums, outs, parts)
    if printer.stage.limit.rows.most == 1:
        return summed(printer, each_unit(printer, ball, rows_, ("g",), weighing, parts), "rows", sums, outs, parts)
    steps = [printer.step("rows", rows_), *weights_of_rows(ball, weighing.counts, printer.dialect)]
    return summed(printer, steps, weighed("rows"), sums, outs, parts)


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
