"""A Stage as one query of the vault:

    rows   the input's rows with their keys (public ones as one ordinal) and, per measured value, its grid integer
    a      per unit and group: how many rows enter each measurement, and the sums of their integers
    b      per unit with more than max_groups groups: the hash below which its groups are kept
    c      per group: the number of units and the totals of the units' shares, then brought to the noise grid

Only BIGINT and VARCHAR come out: `g` (ordinal of the public keys), `k<i>` (private keys), `m<j>` (totals).
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.domain.facts import Atom
from dpsql.domain.types import Kind, Type
from dpsql.plan.dialects.literals import fixed, real
from dpsql.plan.render.relation import Relations
from dpsql.plan.stages import GRID_LIMIT, Key, Measure, Noise, Stage

NARROW = 2**62
MIN_N_LIMIT = 32  # min(h, n) keeps n cells per unit; past this a sorted list of the heavy units is cheaper


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultQuery:
    """sql, and the key tables it joins: name → (values in ordinal order, their type)."""

    sql: str
    key_tables: dict[str, tuple[tuple[Atom, ...], Type]]


def bounding(stage: Stage, relations: Relations, *, salt: int, exact: bool) -> VaultQuery:
    key_tables: dict[str, tuple[tuple[Atom, ...], Type]] = {}
    rows = _rows(stage, relations, key_tables)
    groups = _group_columns(stage)
    steps = [f"rows AS ({rows})"]
    counts = _counts(stage)
    per_unit = _per_row(stage, groups, counts) if stage.bounding.skip_a else _per_unit(stage, groups, counts)
    if stage.bounding.skip_b:
        steps.append(f"a AS ({per_unit})")
        kept = "a"
    else:
        hashed = ", ".join(["u", *groups, str(salt)])
        steps.append(f"a AS MATERIALIZED (SELECT *, hash({hashed}) AS h FROM ({per_unit}) AS x)")
        steps.append(f"b AS ({_cuts(stage.bounding.keep_groups)})")
        kept = "(SELECT a.* FROM a LEFT JOIN b ON a.u = b.u WHERE b.cut IS NULL OR a.h < b.cut) AS kept"
    sql = f"WITH {', '.join(steps)} {_totals(stage, groups, counts, kept, exact)}"
    return VaultQuery(sql=sql, key_tables=key_tables)


def _group_columns(stage: Stage) -> list[str]:
    public = ["g"] if any(key.values is not None for key in stage.keys) else []
    return public + [f"k{i}" for i, key in enumerate(stage.keys) if key.values is None]


# --- rows -----------------------------------------------------------------------------------------------------------


def _rows(stage: Stage, relations: Relations, key_tables: dict[str, tuple[tuple[Atom, ...], Type]]) -> str:
    """u, the group columns, and p<j> for each measure: its grid integer, or NULL where the row does not enter."""
    values = [f"{relations.expr(stage.unit)} AS u"]
    values += [f"{relations.expr(key.expr)} AS r{i}" for i, key in enumerate(stage.keys)]
    for j, measure in enumerate(stage.measures):
        if measure.arg is not None:
            values.append(f"{relations.expr(measure.arg)} AS x{j}")
        if measure.where is not None:
            values.append(f"{relations.expr(measure.where)} AS w{j}")
    items = ["u"]
    joins: list[str] = []
    tests: list[str] = []
    ordinal = ""
    for i, key in enumerate(stage.keys):
        if key.values is None:
            items.append(f"r{i} AS k{i}")
            continue
        position = _position(i, key, stage.number, key_tables, joins, tests)
        ordinal = position if not ordinal else f"({ordinal}) * {len(key.values)} + {position}"
    if ordinal:
        items.append(f"CAST({ordinal} AS BIGINT) AS g")
    items += [f"{_piece(j, measure)} AS p{j}" for j, measure in enumerate(stage.measures) if _needs_piece(measure)]
    text = (
        f"SELECT {', '.join(items)} FROM (SELECT {', '.join(values)} FROM ({relations.render(stage.input)}) AS t) AS v"
    )
    text += "".join(f" {join}" for join in joins)
    return f"{text} WHERE {' AND '.join(tests)}" if tests else text


def _position(
    i: int,
    key: Key,
    stage: int,
    key_tables: dict[str, tuple[tuple[Atom, ...], Type]],
    joins: list[str],
    tests: list[str],
) -> str:
    """The ordinal of a public key, and the test or join that drops rows outside the set.

    A run of whole numbers is counted off; any other set is joined as a table.
    """
    assert key.values is not None
    values = [v for v in key.values if v is not None]
    has_null = len(values) < len(key.values)
    first = values[0] if values else 0
    whole = key.field.type.kind in (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN) or key.integral
    if whole and values and all(not isinstance(v, str) and v == int(first) + n for n, v in enumerate(values)):
        number = _as_integer(f"r{i}", key.field.type)
        inside = f"{number} BETWEEN {int(first)} AND {int(first) + len(values) - 1}"
        exact = f" AND r{i} = floor(r{i})" if key.field.type.kind is Kind.REAL else ""
        tests.append(f"({inside}{exact}{f' OR r{i} IS NULL' if has_null else ''})")
        counted = f"({number} - {int(first)})"
        return f"CASE WHEN r{i} IS NULL THEN {len(values)} ELSE {counted} END" if has_null else counted
    table = f"keys_{stage}_{i}"
    key_tables[table] = (key.values, key.field.type)
    same = "IS NOT DISTINCT FROM" if has_null else "="
    joins.append(f"JOIN {table} ON {as_key(f'r{i}', key.field.type)} {same} {table}.value")
    return f"{table}.ordinal"


def as_key(value: str, type_: Type) -> str:
    """A key in the form it travels in."""
    match type_.kind:
        case Kind.TEXT:
            return value
        case Kind.DECIMAL:
            return f"CAST({value} AS VARCHAR)"
        case Kind.DATE:
            return f"CAST({value} - DATE '1970-01-01' AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"epoch_us({value})"
        case _:
            return f"TRY_CAST({value} AS BIGINT)"


def _as_integer(value: str, type_: Type) -> str:
    match type_.kind:
        case Kind.DATE:
            return f"({value} - DATE '1970-01-01')"
        case Kind.BOOLEAN | Kind.REAL:
            return f"TRY_CAST({value} AS BIGINT)"
        case _:
            return value


def _needs_piece(measure: Measure) -> bool:
    return measure.arg is not None or measure.where is not None


def _piece(j: int, measure: Measure) -> str:
    """The row's integer, clamped to low..high; NULL where the row does not enter. For counts any non-NULL will do."""
    if measure.kind in ("units", "rows"):
        inside = [f"w{j}"] if measure.where is not None else []
        if measure.arg is not None:
            inside.append(f"x{j} IS NOT NULL")
            if measure.arg.type.kind is Kind.REAL:
                inside.append(f"NOT isnan(x{j})")
        return f"CASE WHEN {' AND '.join(inside)} THEN 1 END"
    assert measure.arg is not None
    value = _on_value_grid(f"x{j}", measure)
    if measure.kind == "centred":
        value = f"({value}) * 2 - {measure.low + measure.high}"
    return value if measure.where is None else f"CASE WHEN w{j} THEN {value} END"


def _on_value_grid(x: str, measure: Measure) -> str:
    assert measure.arg is not None
    low, high, step = measure.low, measure.high, measure.grid
    match measure.arg.type.kind:
        case Kind.REAL:
            bottom, top = real(float(low * step)), real(float(high * step))
            scaled = f"CAST({x} * {real(float(1 / step))} AS BIGINT)"
            none = f"{x} IS NULL OR isnan({x})"
        case Kind.DECIMAL:
            type_ = measure.arg.type
            bottom = f"CAST({fixed(low * step, type_.scale)} AS {type_.sql})"
            top = f"CAST({fixed(high * step, type_.scale)} AS {type_.sql})"
            narrow = f"TRY_CAST({x} AS DECIMAL({max(19, type_.scale + 1)},{type_.scale}))"
            factor = 10**type_.scale
            scaled = f"TRY_CAST({narrow} * CAST({factor} AS DECIMAL({len(str(factor))},0)) AS BIGINT)"
            none = f"{x} IS NULL"
        case _:
            bottom, top, scaled, none = str(low), str(high), f"TRY_CAST({x} AS BIGINT)", f"{x} IS NULL"
            if measure.arg.type.kind is Kind.BOOLEAN:
                x = f"CAST({x} AS BIGINT)"
    low_text, high_text = f"CAST({low} AS BIGINT)", f"CAST({high} AS BIGINT)"
    return (
        f"CASE WHEN {none} THEN NULL WHEN {x} <= {bottom} THEN {low_text} "
        f"WHEN {x} < {top} THEN {scaled} ELSE {high_text} END"
    )


# --- a: per unit and group --------------------------------------------------------------------------------------------


def _counts(stage: Stage) -> dict[int, str]:
    """The name of the count of entering rows for each measure; measures over the same rows share one."""
    names: dict[tuple[object, object], str] = {}
    found: dict[int, str] = {}
    for j, measure in enumerate(stage.measures):
        enters = (None if measure.kind == "units" and measure.arg is None else measure.arg, measure.where)
        found[j] = names.setdefault(enters, f"n{j}")
    return found


def _per_unit(stage: Stage, groups: list[str], counts: dict[int, str]) -> str:
    aggregates: dict[str, str] = {}
    for j, measure in enumerate(stage.measures):
        if counts[j] == f"n{j}":
            aggregates[f"n{j}"] = f"count(p{j})" if _needs_piece(measure) else "count(*)"
        if measure.kind in ("sum", "centred"):
            aggregates[f"s{j}"] = f"sum(p{j})"
    columns = ["u", *groups]
    inner = f"SELECT {', '.join([*columns, *(f'{v} AS {k}' for k, v in aggregates.items())])} FROM rows"
    inner += f" GROUP BY {', '.join(columns)}"
    shares = [f"{_share(j, m, counts[j], stage.bounding.max_rows)} AS t{j}" for j, m in enumerate(stage.measures)]
    extra = list(dict.fromkeys(counts.values()))
    return f"SELECT {', '.join([*columns, *extra, *shares])} FROM ({inner}) AS y"


def _share(j: int, measure: Measure, n: str, max_rows: int) -> str:
    """What the unit adds to the group: counts are capped; sums of more than max_rows rows are scaled down, truncated
    towards zero. 64-bit arithmetic where the plan's bound on one piece proves it fits."""
    if measure.kind == "units":
        return f"CAST({n} > 0 AS BIGINT)"
    if measure.kind == "rows":
        return f"CAST(least({n}, {max_rows}) AS BIGINT)"
    s, piece = f"coalesce(s{j}, 0)", max(1, measure.row_bound)
    if max_rows * piece > NARROW:
        return f"CASE WHEN {n} <= {max_rows} THEN {s} ELSE ({s} * {max_rows}) // {n} END"
    few = NARROW // (max_rows * piece)
    return (
        f"CASE WHEN {n} <= {max_rows} THEN CAST({s} AS BIGINT) "
        f"WHEN {n} <= {few} THEN CAST({s} AS BIGINT) * {max_rows} // {n} "
        f"ELSE CAST(({s} * {max_rows}) // {n} AS BIGINT) END"
    )


def _per_row(stage: Stage, groups: list[str], counts: dict[int, str]) -> str:
    """Stage A where the input's form shows one row per unit and group: each row is its own."""
    ns: dict[str, str] = {}
    shares: list[str] = []
    for j, measure in enumerate(stage.measures):
        enters = f"CAST(p{j} IS NOT NULL AS BIGINT)" if _needs_piece(measure) else "1::BIGINT"
        if counts[j] == f"n{j}":
            ns[f"n{j}"] = enters
        shares.append(f"{enters if measure.kind in ('units', 'rows') else f'coalesce(p{j}, 0)'} AS t{j}")
    return f"SELECT {', '.join(['u', *groups, *(f'{v} AS {k}' for k, v in ns.items()), *shares])} FROM rows"


# --- b: at most max_groups groups of a unit ------------------------------------------------------------------------------


def _cuts(keep: int) -> str:
    """Per unit with more than `keep` groups the (keep+1)-th smallest hash. Groups below it are kept: at most `keep`,
    even where hashes collide."""
    n = keep + 1
    nth = f"min(h, {n})[{n}]" if n <= MIN_N_LIMIT else f"list_sort(list(h))[{n}]"
    return f"SELECT u, {nth} AS cut FROM a GROUP BY u HAVING count(*) > {keep}"


# --- c: per group -------------------------------------------------------------------------------------------------------


def _totals(stage: Stage, groups: list[str], counts: dict[int, str], kept: str, exact: bool) -> str:
    keys = ["g"] if "g" in groups else []
    outs = [*keys, *(f"{_private_key(f'z.k{i}', k)} AS k{i}" for i, k in enumerate(stage.keys) if k.values is None)]
    sums = [f"sum(t{j}) AS t{j}" for j in range(len(stage.measures))]
    entered = [f"sum({n}) AS {n}" for n in dict.fromkeys(counts.values())] if exact else []
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    # a group that exists, even one that measures nothing (SELECT DISTINCT), must come out
    inner = f"SELECT {', '.join([*groups, *sums, *entered, 'count(*) AS here'])} FROM {kept}{by}"
    for j, (measure, noise) in enumerate(zip(stage.measures, stage.noises, strict=True)):
        total = _exact_total(j, measure, counts[j]) if exact else _on_noise_grid(f"t{j}", noise)
        outs.append(f"{total} AS m{j}")
    outs.append("CAST(here AS BIGINT) AS here")
    return f"SELECT {', '.join(outs)} FROM ({inner}) AS z{_key_order(stage)}"


def _key_order(stage: Stage) -> str:
    """Key order, NULL last. All-public keys need none: release lays them out itself."""
    if stage.public_keys:
        return ""
    parts: list[str] = []
    stride = stage.combinations
    for i, key in enumerate(stage.keys):
        if key.values is None:
            parts.append(f"z.k{i} NULLS LAST")
        else:
            stride //= len(key.values)
            parts.append(f"(z.g // {stride}) % {len(key.values)}")
    return f" ORDER BY {', '.join(parts)}"


def _exact_total(j: int, measure: Measure, n: str) -> str:
    """Without noise: the total as text, NULL where a sum has nothing to add."""
    if measure.kind in ("units", "rows"):
        return f"CAST(coalesce(t{j}, 0) AS VARCHAR)"
    return f"CASE WHEN {n} > 0 THEN CAST(t{j} AS VARCHAR) END"


def _on_noise_grid(total: str, noise: Noise) -> str:
    """The total in noise-grid integers, within 62 bits: multiplied for a finer grid, rounded half up for a coarser."""
    total = f"coalesce({total}, 0)"
    if noise.shift <= 0:
        limit = 2 ** max(0, GRID_LIMIT + noise.shift)
        factor = 2**-noise.shift
        return f"CAST(CAST(greatest(least({total}, {limit}), -{limit}) AS BIGINT) * {factor} AS BIGINT)"
    limit = 2 ** min(GRID_LIMIT + noise.shift, 125)
    half = 2 ** (noise.shift - 1)
    kept = f"greatest(least(CAST({total} AS HUGEINT), CAST('{limit}' AS HUGEINT)), CAST('-{limit}' AS HUGEINT))"
    return f"CAST(({kept} + CAST('{half}' AS HUGEINT)) >> {noise.shift} AS BIGINT)"


def _private_key(value: str, key: Key) -> str:
    """A private key as a BIGINT or as text."""
    return f"CAST({value} AS VARCHAR)" if key.field.type.kind is Kind.TEXT else as_key(value, key.field.type)
