"""The vault queries of measures that are not sums over units: distinct values, and weights of candidates.

Each repeats the stage's bounding: the same rows, the same hash with the same salt, hence the same kept groups.
"""

from __future__ import annotations

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.candidates import WEIGHT, WORD, Candidates
from dpsql.plan.render.keys import KeyTables, as_key, group_columns, key_order
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.rows import cuts, hash_of, input_rows, nth_smallest
from dpsql.plan.render.totals import on_noise_grid
from dpsql.plan.stages import Measure, Stage

LARGEST = 2**62


def apart_query(stage: Stage, j: int, relations: Relations, key_tables: KeyTables, *, salt: int) -> str:
    """i (the group's place) and m; for candidates v (the candidate's ordinal) too."""
    measure, groups = stage.measures[j], group_columns(stage)
    extra = [(f"d{n}", canonical(relations.expr(part), part)) for n, part in enumerate(measure.parts)]
    steps = [f"rows AS ({input_rows(stage, relations, key_tables, [j], extra=extra)})"]
    kept = "rows"
    if not stage.bounding.skip_b:
        hashed = hash_of(groups, salt)
        steps.append(
            f"a AS MATERIALIZED (SELECT *, {hashed} AS h FROM "
            f"(SELECT {', '.join(['u', *groups])} FROM rows GROUP BY {', '.join(['u', *groups])}) AS x)"
        )
        steps.append(f"b AS ({cuts(stage.bounding.keep_groups)})")
        again = hash_of([f"rows.{g}" for g in groups], salt).replace("(u,", "(rows.u,")
        steps.append(
            f"kept AS (SELECT rows.* FROM rows LEFT JOIN b ON rows.u = b.u WHERE b.cut IS NULL OR {again} < b.cut)"
        )
        kept = "kept"
    entering = [] if enters_all(measure) else [f"p{j} IS NOT NULL"]
    if measure.kind == "distinct":
        steps += _distinct(stage, measure, groups, kept, entering, salt)
        value = on_noise_grid("count(*)", stage.noises[j])
        chosen, by = [f"{value} AS m"], []
    else:
        steps += _weights(stage, j, groups, kept, entering, key_tables)
        chosen, by = ["v", f"CAST(least(sum(w), {LARGEST}) AS BIGINT) AS m"], ["v"]
    place = _place(stage, groups, kept, steps)
    source = "counted" if place is None or place != "i" else _joined(groups)
    items = [f"CAST({place or 0} AS BIGINT) AS i", *chosen]
    grouped = [*([place] if place else []), *by]
    tail = f" GROUP BY {', '.join(grouped)}" if grouped else ""
    return f"WITH {', '.join(steps)} SELECT {', '.join(items)} FROM {source}{tail}"


def _place(stage: Stage, groups: list[str], kept: str, steps: list[str]) -> str | None:
    """The group's ordinal where all keys are public; else its place in key order, the order of the stage's own query."""
    if not groups:
        return None
    if stage.public_keys:
        return "g"
    steps.append(
        f"places AS (SELECT *, row_number() OVER (ORDER BY {key_order(stage, 'y')}) - 1 AS i "
        f"FROM (SELECT {', '.join(groups)} FROM {kept} GROUP BY {', '.join(groups)}) AS y)"
    )
    return "i"


def _joined(groups: list[str]) -> str:
    same = " AND ".join(f"counted.{g} IS NOT DISTINCT FROM places.{g}" for g in groups)
    return f"counted JOIN places ON {same}"


def canonical(text: str, expr: Expr) -> str:
    """One spelling of each value: -0.0 is 0.0, NaN is NULL."""
    return f"CASE WHEN NOT isnan({text}) THEN {text} + 0e0 END" if expr.type.kind is Kind.REAL else text


def _distinct(
    stage: Stage, measure: Measure, groups: list[str], kept: str, entering: list[str], salt: int
) -> list[str]:
    """Of a unit's different values in a group those below its (max_rows+1)-th smallest hash; then each value once."""
    values = [f"d{n}" for n in range(len(measure.parts))]
    if len(values) == 1:
        entering = [*entering, "d0 IS NOT NULL"]
    where = f" WHERE {' AND '.join(entering)}" if entering else ""
    own = ["u", *groups]
    rows = stage.bounding.max_rows
    same = " AND ".join(f"own.{c} IS NOT DISTINCT FROM few.{c}" for c in own)
    return [
        f"own AS MATERIALIZED (SELECT *, hash({', '.join([*own, *values, str(salt)])}) AS h "
        f"FROM (SELECT DISTINCT {', '.join([*own, *values])} FROM {kept}{where}) AS x)",
        f"few AS (SELECT {', '.join(own)}, {nth_smallest('h', rows + 1)} AS cut FROM own "
        f"GROUP BY {', '.join(own)} HAVING count(*) > {rows})",
        f"counted AS (SELECT DISTINCT {', '.join(f'own.{c}' for c in [*groups, *values])} "
        f"FROM own LEFT JOIN few ON {same} WHERE few.cut IS NULL OR own.h < few.cut)",
    ]


def _weights(
    stage: Stage, j: int, groups: list[str], kept: str, entering: list[str], key_tables: KeyTables
) -> list[str]:
    """Each unit's weight for each candidate: 2^20 a row, scaled down when more than max_rows of its rows enter."""
    measure, rows = stage.measures[j], stage.bounding.max_rows
    assert measure.candidates is not None
    own, source, v = ["u", *groups], kept, _ordinal(f"p{j}", measure, measure.candidates)
    if measure.candidates.values is not None:
        table = f"choices_{stage.number}_{j}"
        key_tables[table] = (measure.candidates.values, measure.parts[0].type)
        source = f"{kept} JOIN {table} ON {as_key('d0', measure.parts[0].type)} = {table}.value"
        v = f"{table}.ordinal"
    where = f" WHERE {' AND '.join(entering)}" if entering else ""
    one = WEIGHT >> stage.noises[j].shift
    scaled = f"CASE WHEN c <= {rows} THEN n * {one} ELSE CAST((CAST(n AS HUGEINT) * {rows * one}) // c AS BIGINT) END"
    return [
        f"own AS (SELECT {', '.join(own)}, {v} AS v, count(*) AS n FROM {source}{where} GROUP BY {', '.join([*own, 'v'])})",
        f"counted AS (SELECT {', '.join([*groups, 'v'])}, {scaled} AS w FROM "
        f"(SELECT *, sum(n) OVER (PARTITION BY {', '.join(own)}) AS c FROM own) AS x)",
    ]


def _ordinal(p: str, measure: Measure, candidates: Candidates) -> str:
    """The nearest candidate of a grid integer; for bins the first whose upper end is not below it."""
    if candidates.edges is not None:
        steps = " ".join(f"WHEN {p} <= {edge} THEN {n}" for n, edge in enumerate(candidates.edges))
        return f"CAST(CASE {steps} ELSE {len(candidates.edges)} END AS BIGINT)"
    low = 0 if measure.axis is None else measure.axis.low
    width = 0 if measure.axis is None else measure.axis.width
    if width + candidates.cell >= WORD:
        p = f"CAST({p} AS HUGEINT)"
    if candidates.cell == 1:
        return f"({p} - {low})"
    return f"CAST(({p} - {low} + {candidates.cell // 2}) // {candidates.cell} AS BIGINT)"
