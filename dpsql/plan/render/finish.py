"""The noisy table of a stage, as scratch sees it: grid integers back to the user's units, keys back to their types."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.types import Kind, Type
from dpsql.plan.dialects import scratch as dialect
from dpsql.plan.dialects.literals import fixed, real
from dpsql.plan.render.relation import name
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.plan.transport import is_text

LARGEST = "9223372036854774784e0"  # the largest double that is a BIGINT


def noisy_columns(stage: Stage, *, exact: bool) -> dict[str, str]:
    """The columns of the noisy table and their SQL types."""
    keys = {f"k{i}": "VARCHAR" if is_text(key.field.type) else "BIGINT" for i, key in enumerate(stage.keys)}
    found = dict(keys)
    for j, measure in enumerate(stage.measures):
        is_text_column = exact or (_explicit(measure) and is_text(measure.parts[0].type))
        found |= dict.fromkeys(measure.columns(j), "VARCHAR" if is_text_column else "BIGINT")
    return found


def finish(stage: Stage, table: str, *, exact: bool) -> str:
    """SELECT c<id>… of what Noisy(stage) shows, from the stage's noisy table."""
    keys = [f"{_key(f'k{i}', key.field.type)} AS {name(key.field.id)}" for i, key in enumerate(stage.keys)]
    values: list[str] = []
    for j, (measure, noise) in enumerate(zip(stage.measures, stage.noises, strict=True)):
        if measure.candidates is not None:  # groups have no answers
            answers = zip(measure.columns(j), measure.more, strict=True)
            values += [f"{_answer(m, f.type, measure, noise, exact)} AS {name(f.id)}" for m, f in answers]
            continue
        raw = f"CAST(m{j} AS HUGEINT)" if exact else f"m{j}"
        values.append(f"{_real(raw, measure, noise)} AS {name(measure.real.id)}")
        values.append(f"{_whole(raw, measure, noise)} AS {name(measure.whole.id)}")
    inner = f"SELECT {', '.join([*keys, *values]) or '1 AS one'} FROM {table}"
    for level in stage.steps:
        made = [f"{dialect.render(expr, lambda column: name(column.id))} AS {name(f.id)}" for f, expr in level]
        inner = f"SELECT *, {', '.join(made)} FROM ({inner}) AS step"
    outputs = [f"{dialect.render(expr, lambda column: name(column.id))} AS {name(f.id)}" for f, expr in stage.outputs]
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


def _explicit(measure: Measure) -> bool:
    return measure.candidates is not None and measure.candidates.values is not None


def _answer(m: str, type_: Type, measure: Measure, noise: Noise, exact: bool) -> str:
    """One answer about candidates: a bin's count, a value of an explicit set, or a grid integer in its type."""
    if measure.candidates is not None and not measure.chosen:
        raw = f"CAST({m} AS HUGEINT)" if exact else m
        return f"CAST(round(CAST({raw} AS DOUBLE) * {real(float(measure.step * noise.grid))}) AS BIGINT)"
    if _explicit(measure):
        return _key(f"CAST({m} AS BIGINT)" if exact and not is_text(type_) else m, type_)
    raw, step = (f"CAST({m} AS BIGINT)" if exact else m), measure.step
    match type_.kind:
        case Kind.REAL:
            return f"CAST({raw} AS DOUBLE) * {real(float(step))}"
        case Kind.DECIMAL:
            unit = fixed(Fraction(1, 10**type_.scale), type_.scale)
            return f"CAST(TRY_CAST({raw} AS DECIMAL({37 - type_.scale},0)) * {unit} AS {type_.sql})"
        case _:
            return _key(raw, type_)


def _real(raw: str, measure: Measure, noise: Noise) -> str:
    return f"CAST({raw} AS DOUBLE) * {real(float(measure.step * noise.grid))}"


def _whole(raw: str, measure: Measure, noise: Noise) -> str:
    """Rounded after the noise; exact where no noise was added and the grid is the type's own."""
    value = _real(raw, measure, noise)
    type_ = measure.whole.type
    match type_.kind:
        case Kind.INTEGER:
            if noise.shift == 0 and measure.step == 1:
                low, high = "CAST('-9223372036854775808' AS HUGEINT)", "CAST('9223372036854775807' AS HUGEINT)"
                kept = f"CASE WHEN {raw} IS NOT NULL THEN CAST(greatest(least({raw}, {high}), {low}) AS BIGINT) END"
                return kept if "HUGEINT" in raw else raw
            kept = f"greatest(least(round({value}), {LARGEST}), -{LARGEST})"
            return f"CASE WHEN {value} IS NOT NULL THEN CAST({kept} AS BIGINT) END"
        case Kind.DECIMAL if noise.shift == 0 and measure.step.numerator == 1 and type_.scale <= 18:
            places = type_.scale
            unit = f"CAST(1e-{places} AS DECIMAL({places + 1},{places}))" if places else "CAST(1 AS DECIMAL(1,0))"
            return f"CAST(TRY_CAST({raw} AS DECIMAL({37 - places},0)) * {unit} AS {type_.sql})"
        case Kind.DECIMAL:
            return f"TRY_CAST(round({value}, {type_.scale}) AS {type_.sql})"
        case _:
            return value
