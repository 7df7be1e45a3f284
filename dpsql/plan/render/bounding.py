"""A Stage as one query of the vault, and one more for each measure that is not a sum over units:

    rows   the input's rows with their keys (public ones as one ordinal) and, per measured value, its grid integer
    a      per unit and group: how many rows enter each measurement, and the sums of their integers
    b      per unit with more than max_groups groups: the hash below which its groups are kept
    c      per group: the number of units and the totals of the units' shares, then brought to the noise grid

Only BIGINT and VARCHAR come out: `g` (ordinal of the public keys), `k<i>` (private keys), `m<j>` (totals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsql.plan.render.apart import apart_query
from dpsql.plan.render.keys import KeyTables, group_columns, key_order, private_key
from dpsql.plan.render.pieces import enters_all, sources
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.rows import hash_of, input_rows, kept_groups
from dpsql.plan.render.totals import on_noise_grid
from dpsql.plan.stages import SUMS, Measure, Stage

NARROW = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultQuery:
    """sql, and the key tables it joins: name → (values in ordinal order, their type).

    apart: for measures with a query of their own (distinct values, candidates), by position. They answer `i`, the group's
    place among the rows of `sql` (public keys: their ordinal), and `m`; for candidates `v`, the candidate's ordinal, too.
    Their bounding is the same: same salt, same rows, hence the same kept groups of every unit.
    """

    sql: str
    key_tables: KeyTables
    apart: Mapping[int, str]


def bounding(stage: Stage, relations: Relations, *, salt: int, exact: bool) -> VaultQuery:
    key_tables: KeyTables = {}
    groups = group_columns(stage)
    base = [j for j, measure in enumerate(stage.measures) if measure.summed]
    counts = _counts(stage, base)
    per_unit = _per_row if stage.bounding.skip_a else _per_unit
    steps = [f"rows AS ({input_rows(stage, relations, key_tables, base)})"]
    if stage.bounding.skip_b:
        steps.append(f"a AS ({per_unit(stage, groups, base, counts, exact)})")
        kept = "a"
    else:
        hashed = hash_of(groups, salt)
        steps.append(
            f"a AS MATERIALIZED (SELECT *, {hashed} AS h FROM ({per_unit(stage, groups, base, counts, exact)}) AS x)"
        )
        shares = [f"t{j}" for j in _carried(stage, base)]
        columns = [*groups, *shares, *(dict.fromkeys(counts.values()) if exact else ())]
        more, kept = kept_groups(stage, columns)
        steps += more
    sql = f"WITH {', '.join(steps)} {_totals(stage, groups, base, counts, kept, exact)}"
    apart = {
        j: apart_query(stage, j, relations, key_tables, salt=salt)
        for j, measure in enumerate(stage.measures)
        if measure.apart
    }
    return VaultQuery(sql=sql, key_tables=key_tables, apart=apart)


# --- a: per unit and group --------------------------------------------------------------------------------------------


def _counts(stage: Stage, base: Sequence[int]) -> dict[int, str]:
    """The name of the count of entering rows for each measure; measures over the same rows share one."""
    names: dict[tuple[object, object], str] = {}
    found: dict[int, str] = {}
    for j in base:
        measure = stage.measures[j]
        found[j] = names.setdefault((frozenset(sources(measure)), measure.where), f"n{j}")
    return found


def _per_unit(stage: Stage, groups: list[str], base: Sequence[int], counts: dict[int, str], exact: bool) -> str:
    aggregates: dict[str, str] = {}
    for j in base:
        measure = stage.measures[j]
        if counts[j] == f"n{j}":
            aggregates[f"n{j}"] = "count(*)" if enters_all(measure) else f"count(p{j})"
        if measure.kind in SUMS:
            aggregates[f"s{j}"] = f"sum(p{j})"
    columns = ["u", *groups]
    inner = f"SELECT {', '.join([*columns, *(f'{v} AS {k}' for k, v in aggregates.items())])} FROM rows"
    inner += f" GROUP BY {', '.join(columns)}"
    rows = stage.bounding.max_rows
    shares = [f"{_share(j, stage.measures[j], counts[j], rows)} AS t{j}" for j in _carried(stage, base)]
    extra = list(dict.fromkeys(counts.values())) if exact else []
    return f"SELECT {', '.join([*columns, *extra, *shares])} FROM ({inner}) AS y"


def _is_here(stage: Stage, j: int) -> bool:
    """Whether it counts the units that have any row in the group: the rows of `kept`, one for each."""
    return stage.measures[j].kind == "units" and enters_all(stage.measures[j])


def _carried(stage: Stage, base: Sequence[int]) -> list[int]:
    """The measures whose shares are columns."""
    return [j for j in base if not _is_here(stage, j)]


def _share(j: int, measure: Measure, n: str, max_rows: int) -> str:
    """What the unit adds to the group: counts are capped; sums of more than max_rows rows are scaled down, truncated
    towards zero, or clamped as a whole. 64-bit arithmetic where the plan's bound on one piece proves it fits."""
    if measure.kind == "units":
        return f"CAST({n} > 0 AS BIGINT)"
    if measure.kind == "rows":
        return f"CAST(least({n}, {measure.row_cap}) AS BIGINT)"
    s, piece = f"coalesce(s{j}, 0)", max(1, measure.row_bound)
    if measure.clamp is not None:
        return _clamped(s, n, measure.clamp)
    if max_rows * piece > NARROW:
        return f"CASE WHEN {n} <= {max_rows} THEN {s} ELSE ({s} * {max_rows}) // {n} END"
    few = NARROW // (max_rows * piece)
    return (
        f"CASE WHEN {n} <= {max_rows} THEN CAST({s} AS BIGINT) "
        f"WHEN {n} <= {few} THEN CAST({s} AS BIGINT) * {max_rows} // {n} "
        f"ELSE CAST(({s} * {max_rows}) // {n} AS BIGINT) END"
    )


def _clamped(s: str, n: str, clamp: tuple[int, int]) -> str:
    """The sum of all the unit's rows within its bounds; 0 where it has none."""
    return f"CASE WHEN {n} > 0 THEN CAST(greatest(least({s}, {clamp[1]}), {clamp[0]}) AS BIGINT) ELSE 0 END"


def _per_row(stage: Stage, groups: list[str], base: Sequence[int], counts: dict[int, str], exact: bool) -> str:
    """Stage A where the input's form shows one row per unit and group: each row is its own."""
    ns: dict[str, str] = {}
    shares: list[str] = []
    for j in base:
        measure = stage.measures[j]
        enters = "1::BIGINT" if enters_all(measure) else f"CAST(p{j} IS NOT NULL AS BIGINT)"
        if counts[j] == f"n{j}":
            ns[f"n{j}"] = enters
        share = f"coalesce(p{j}, 0)" if measure.kind in SUMS else enters
        if measure.clamp is not None:
            share = _clamped(share, f"({enters})", measure.clamp)
        if not _is_here(stage, j):
            shares.append(f"{share} AS t{j}")
    counted = [f"{v} AS {k}" for k, v in ns.items()] if exact else []
    return f"SELECT {', '.join(['u', *groups, *counted, *shares])} FROM rows"


# --- c: per group -------------------------------------------------------------------------------------------------------


def _totals(
    stage: Stage, groups: list[str], base: Sequence[int], counts: dict[int, str], kept: str, exact: bool
) -> str:
    keys = ["g"] if "g" in groups else []
    outs = [*keys, *(f"{private_key(f'z.k{i}', k)} AS k{i}" for i, k in enumerate(stage.keys) if k.values is None)]
    sums = [f"sum(t{j}) AS t{j}" for j in _carried(stage, base)]
    entered = [f"sum({n}) AS {n}" for n in dict.fromkeys(counts.values())] if exact else []
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    # a group that exists, even one that measures nothing (SELECT DISTINCT), must come out
    inner = f"SELECT {', '.join([*groups, *sums, *entered, 'count(*) AS here'])} FROM {kept}{by}"
    for j in base:
        measure, noise = stage.measures[j], stage.noises[j]
        total = "here" if _is_here(stage, j) else f"t{j}"
        total = _exact_total(total, measure, counts[j]) if exact else on_noise_grid(total, noise)
        outs.append(f"{total} AS m{j}")
    outs.append("CAST(here AS BIGINT) AS here")
    # groups with public keys alone are laid out by release
    order = "" if stage.public_keys else f" ORDER BY {key_order(stage, 'z')}"
    return f"SELECT {', '.join(outs)} FROM ({inner}) AS z{order}"


def _exact_total(total: str, measure: Measure, n: str) -> str:
    """Without noise: the total as text, NULL where a sum has nothing to add."""
    if measure.kind in ("units", "rows"):
        return f"CAST(coalesce({total}, 0) AS VARCHAR)"
    return f"CASE WHEN {n} > 0 THEN CAST({total} AS VARCHAR) END"
