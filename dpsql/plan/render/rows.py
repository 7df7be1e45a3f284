"""The rows of a stage: their unit, their group, and what each adds to the measurements; and which groups are kept."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.plan.render.keys import KeyTables, position
from dpsql.plan.render.pieces import enters_all, piece, sources
from dpsql.plan.render.relation import Relations
from dpsql.plan.stages import Stage

MIN_N_LIMIT = 32  # min(h, n) keeps n cells per unit; past this a sorted list of the heavy units is cheaper


def input_rows(
    stage: Stage,
    relations: Relations,
    key_tables: KeyTables,
    measures: Sequence[int],
    *,
    extra: Sequence[tuple[str, str]] = (),
) -> str:
    """u, the group columns, p<j> for each measure that not every row enters: its integer, NULL where the row does not
    enter; and `extra` expressions over the input, already printed, by name."""
    values = [f"{relations.expr(stage.unit)} AS u"]
    values += [f"{relations.expr(key.expr)} AS r{i}" for i, key in enumerate(stage.keys)]
    values += [f"{text} AS {name}" for name, text in extra]
    for j in measures:
        measure = stage.measures[j]
        values += [f"{relations.expr(expr)} AS x{j}_{i}" for i, expr in enumerate(sources(measure))]
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
        at = position(i, key, stage.number, key_tables, joins, tests)
        ordinal = at if not ordinal else f"({ordinal}) * {len(key.values)} + {at}"
    if ordinal:
        items.append(f"CAST({ordinal} AS BIGINT) AS g")
    items += [name for name, _ in extra]
    items += [f"{piece(j, stage.measures[j])} AS p{j}" for j in measures if not enters_all(stage.measures[j])]
    text = (
        f"SELECT {', '.join(items)} FROM (SELECT {', '.join(values)} FROM ({relations.render(stage.input)}) AS t) AS v"
    )
    text += "".join(f" {join}" for join in joins)
    return f"{text} WHERE {' AND '.join(tests)}" if tests else text


def hash_of(groups: Sequence[str], salt: int) -> str:
    """What decides which of a unit's groups are kept."""
    return f"hash({', '.join(['u', *groups, str(salt)])})"


def nth_smallest(h: str, n: int) -> str:
    return f"min({h}, {n})[{n}]" if n <= MIN_N_LIMIT else f"list_sort(list({h}))[{n}]"


def cuts(keep: int) -> str:
    """Per unit with more than `keep` groups the (keep+1)-th smallest hash. Groups below it are kept: at most `keep`,
    even where hashes collide. Counting first spares the others the search: most units where the cap is well chosen."""
    over = f"SELECT u FROM a GROUP BY u HAVING count(*) > {keep}"
    return f"SELECT u, {nth_smallest('h', keep + 1)} AS cut FROM a SEMI JOIN ({over}) AS o ON a.u = o.u GROUP BY u"


EIGHTH, QUARTER, ALL = 2**61, 2**62, 2**64 - 1  # of all hashes
MANY = 8  # times as many groups as are kept: from here on most of a unit's hashes need no sorting


def kept_groups(stage: Stage, columns: Sequence[str]) -> tuple[list[str], str]:
    """The steps from `a` (u, h and `columns`) to the groups that `cuts` keeps, and what to read them from.

    One group of a unit is kept by its smallest hash, and none where two groups share it. Where a unit may have many
    groups, the cut is looked for among the lowest eighth or quarter of all hashes if more than `keep` lie there: then so
    does the cut, and all that is below it. The groups kept are the same in all three forms.
    """
    keep = stage.bounding.keep_groups
    if keep == 1:
        firsts = ", ".join(f"any_value(a.{column}) AS {column}" for column in columns)
        return (
            ["b AS (SELECT u, min(h) AS low FROM a GROUP BY u)"],
            f"(SELECT {firsts} FROM a JOIN b ON a.u = b.u AND a.h = b.low GROUP BY a.u HAVING count(*) = 1) AS kept",
        )
    if stage.public_keys and stage.combinations <= MANY * keep:
        return [f"b AS ({cuts(keep)})"], _below("a")
    enough = (f"WHEN count(*) FILTER (WHERE h < {part}) > {keep} THEN {part}" for part in (EIGHTH, QUARTER))
    top = f"CASE {' '.join(enough)} ELSE {ALL} END"
    return (
        [
            f"r AS (SELECT u, CAST({top} AS UBIGINT) AS top FROM a GROUP BY u HAVING count(*) > {keep})",
            "near AS MATERIALIZED (SELECT a.*, r.u IS NOT NULL AS over FROM a LEFT JOIN r ON a.u = r.u "
            "WHERE r.u IS NULL OR a.h <= r.top)",
            f"b AS (SELECT u, {nth_smallest('h', keep + 1)} AS cut FROM near WHERE over GROUP BY u)",
        ],
        _below("near"),
    )


def _below(groups: str) -> str:
    return f"(SELECT {groups}.* FROM {groups} LEFT JOIN b ON {groups}.u = b.u WHERE b.cut IS NULL OR h < b.cut) AS kept"
