"""The noisy table of a stage, as scratch sees it: grid integers back to the user's units, keys back to their types."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.types import Kind, Type
from dpsql.plan.answers import Answer, answers
from dpsql.plan.dialects.literals import fixed, real
from dpsql.plan.dialects.scratch import SCRATCH
from dpsql.plan.measurements import Choice, Histogram, TopGroups
from dpsql.plan.render.relation import name
from dpsql.plan.stages import Noised, NoisyStage
from dpsql.plan.transport import is_text
from dpsql.plan.vault_query import key_name, key_part

LARGEST = "9223372036854774784e0"  # the largest double that is a BIGINT


def noisy_columns(stage: NoisyStage, *, exact: bool) -> dict[str, str]:
    """The columns of the noisy table and their SQL types."""
    keys = [key_part(i, key.field.type) for i, key in enumerate(stage.keys)]
    types: dict[str, str] = {key.name: key.type for key in keys}
    for j, noised in enumerate(stage.noised):
        one = noised.measurement
        as_text = exact or (isinstance(one, Choice) and one.part is not None and is_text(one.part.type))
        types |= dict.fromkeys(column_names(j, noised), "VARCHAR" if as_text else "BIGINT")
    types |= {one.column: "BIGINT" for one in stage.nonnegative}
    return types


def column_names(j: int, noised: Noised) -> tuple[str, ...]:
    """Of a measurement's columns in the noisy table: its totals, or its answers."""
    match noised.measurement:
        case TopGroups():
            return ()
        case Choice() | Histogram():
            return noised.columns(j, len(noised.measurement.answers))
        case _:
            return noised.columns(j)


def finish(stage: NoisyStage, table: str, *, exact: bool) -> str:
    """SELECT c<id>… of what Noisy(stage) shows, from the stage's noisy table."""
    keys = [f"{_key(key_name(i), key.field.type)} AS {name(key.field.id)}" for i, key in enumerate(stage.keys)]
    values: list[str] = []
    for j, noised in enumerate(stage.noised):
        columns = column_names(j, noised)
        if isinstance(noised.measurement, Choice):
            pairs = zip(columns, noised.measurement.answers, strict=True)
            values += [f"{_chosen(m, f.type, noised.measurement, exact)} AS {name(f.id)}" for m, f in pairs]
            continue
        for answer in answers(noised):
            if answer.whole != answer.real:
                values.append(f"{_real(columns, answer)} AS {name(answer.real.id)}")
            if answer.whole is not None:
                values.append(f"{_whole(columns, answer, answer.whole.type, exact)} AS {name(answer.whole.id)}")
    values += [f"{one.column} AS {name(one.shown.id)}" for one in stage.nonnegative]
    inner = f"SELECT {', '.join([*keys, *values]) or '1 AS one'} FROM {table}"
    for level in stage.steps:
        made = [f"{SCRATCH.render(expr, lambda column: name(column.id))} AS {name(f.id)}" for f, expr in level]
        inner = f"SELECT *, {', '.join(made)} FROM ({inner}) AS step"
    outputs = [f"{SCRATCH.render(expr, lambda column: name(column.id))} AS {name(f.id)}" for f, expr in stage.outputs]
    return f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({inner}) AS released"


def _key(value: str, type_: Type) -> str:
    match type_.kind:
        case Kind.TEXT:
            return value
        case Kind.DATE:
            return f"(DATE '1970-01-01' + CAST({value} AS INTEGER))"
        case Kind.TIMESTAMP:
            return f"make_timestamp({value})"
        case Kind.NULL:
            return "NULL"
        case _:
            return f"CAST({value} AS {type_.sql})"


def _chosen(m: str, type_: Type, one: Choice, exact: bool) -> str:
    """A value of an explicit set, or a grid integer in its type."""
    if one.part is not None:
        return _key(f"CAST({m} AS BIGINT)" if exact and not is_text(type_) else m, type_)
    assert one.axis is not None
    raw, step = (f"CAST({m} AS BIGINT)" if exact else m), one.axis.step
    match type_.kind:
        case Kind.REAL:
            return f"CAST({raw} AS DOUBLE) * {real(float(step))}"
        case Kind.DECIMAL:
            unit = fixed(Fraction(1, 10**type_.scale), type_.scale)
            return f"CAST(TRY_CAST({raw} AS DECIMAL({37 - type_.scale},0)) * {unit} AS {type_.sql})"
        case _:
            return _key(raw, type_)


def _used(columns: tuple[str, ...], answer: Answer) -> list[tuple[str, Fraction]]:
    return [(columns[term.total], term.factor) for term in answer.terms if term.factor]


def _real(columns: tuple[str, ...], answer: Answer) -> str:
    terms = [f"CAST({m} AS DOUBLE) * {real(float(factor))}" for m, factor in _used(columns, answer)]
    return f"({' + '.join(terms)})" if terms else "0e0"


def _whole(columns: tuple[str, ...], answer: Answer, type_: Type, exact: bool) -> str:
    """Rounded after the noise; exact in integers where there is none."""
    value = _real(columns, answer)
    match type_.kind:
        case Kind.INTEGER:
            if exact:
                units = _in_units(columns, answer, Fraction(1))
                low, high = "CAST('-9223372036854775808' AS HUGEINT)", "CAST('9223372036854775807' AS HUGEINT)"
                return f"CASE WHEN {value} IS NOT NULL THEN CAST(greatest(least({units}, {high}), {low}) AS BIGINT) END"
            kept = f"greatest(least(round({value}), {LARGEST}), -{LARGEST})"
            return f"CASE WHEN {value} IS NOT NULL THEN CAST({kept} AS BIGINT) END"
        case Kind.DECIMAL if exact and type_.scale <= 18:
            places = type_.scale
            unit = f"CAST(1e-{places} AS DECIMAL({places + 1},{places}))" if places else "CAST(1 AS DECIMAL(1,0))"
            units = _in_units(columns, answer, Fraction(1, 10**places))
            return f"CAST(TRY_CAST({units} AS DECIMAL({37 - places},0)) * {unit} AS {type_.sql})"
        case Kind.DECIMAL:
            return f"TRY_CAST(round({value}, {type_.scale}) AS {type_.sql})"
        case _:
            return value


def _in_units(columns: tuple[str, ...], answer: Answer, unit: Fraction) -> str:
    """The number in whole units, rounded half away from zero, in 128-bit integers."""
    used = [(m, factor / unit) for m, factor in _used(columns, answer)]
    divisor = math.lcm(*(factor.denominator for _, factor in used)) if used else 1
    terms = (f"CAST({m} AS HUGEINT) * {SCRATCH.integer(int(factor * divisor))}" for m, factor in used)
    text = f"({' + '.join(terms) or '0'})"
    if divisor == 1:
        return text
    by = SCRATCH.integer(divisor)
    rest = f"CASE WHEN abs({text} % {by}) * 2 >= {by} THEN sign({text}) ELSE 0 END"
    return f"({text} // {by} + {rest})"
