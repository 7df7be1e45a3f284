"""The noisy table of a stage, as scratch sees it: grid integers back to the user's units, keys back to their types."""

from __future__ import annotations

from dpsql.domain.types import Kind, Type
from dpsql.plan.dialects import scratch as dialect
from dpsql.plan.dialects.literals import real
from dpsql.plan.render.relation import name
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.plan.transport import is_text

LARGEST = "9223372036854774784e0"  # the largest double that is a BIGINT


def noisy_columns(stage: Stage, *, exact: bool) -> dict[str, str]:
    """The columns of the noisy table and their SQL types."""
    keys = {f"k{i}": "VARCHAR" if is_text(key.field.type) else "BIGINT" for i, key in enumerate(stage.keys)}
    return {**keys, **{f"m{j}": "VARCHAR" if exact else "BIGINT" for j in range(len(stage.measures))}}


def finish(stage: Stage, table: str, *, exact: bool) -> str:
    """SELECT c<id>… of what Noisy(stage) shows, from the stage's noisy table."""
    keys = [f"{_key(f'k{i}', key.field.type)} AS {name(key.field.id)}" for i, key in enumerate(stage.keys)]
    values: list[str] = []
    for j, (measure, noise) in enumerate(zip(stage.measures, stage.noises, strict=True)):
        raw = f"CAST(m{j} AS HUGEINT)" if exact else f"m{j}"
        values.append(f"{_real(raw, measure, noise)} AS {name(measure.real.id)}")
        values.append(f"{_whole(raw, measure, noise)} AS {name(measure.whole.id)}")
    inner = f"SELECT {', '.join([*keys, *values]) or '1 AS one'} FROM {table}"
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
                return f"CAST(greatest(least({raw}, {high}), {low}) AS BIGINT)" if "HUGEINT" in raw else raw
            return f"CAST(greatest(least(round({value}), {LARGEST}), -{LARGEST}) AS BIGINT)"
        case Kind.DECIMAL if noise.shift == 0 and measure.step.numerator == 1 and type_.scale <= 18:
            places = type_.scale
            unit = f"CAST(1e-{places} AS DECIMAL({places + 1},{places}))" if places else "CAST(1 AS DECIMAL(1,0))"
            return f"CAST(TRY_CAST({raw} AS DECIMAL({37 - places},0)) * {unit} AS {type_.sql})"
        case Kind.DECIMAL:
            return f"TRY_CAST(round({value}, {type_.scale}) AS {type_.sql})"
        case _:
            return value
