"""Selecting private keys: each unit's votes for its groups, added up (privacy/selection.py)."""

from __future__ import annotations

from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.ready import Listed
from dpsql.plan.render.kept_pairs import KeptPairs, kept_pairs
from dpsql.plan.render.keys import Joins, key_order, private_keys, public_ordinal
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.votes import votes_of_pairs, votes_table
from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import GROUP, VOTES, Columns, Question, Step, VaultQuery


def selecting(
    stage: NoisyStage,
    relations: Relations,
    *,
    round_: int = 0,
    before: Listed | None = None,
    exact: bool = False,
    kept: bool = True,
) -> VaultQuery:
    """Groups and their votes in key order: g where some keys are public, k<i> for each private one.

    Groups are told apart in the form they travel in, so what looks alike outside is one group inside. INNER joins: a unit
    with more groups than may vote has no votes. A group without any vote does not exist, nor one of fewer than min_units
    units that vote. before: keys that an earlier round has released, for which nobody votes now. exact: all that occur.
    """
    tables: dict[str, Columns] = {}
    joins = Joins(relations.dialect, tables, stage.source.single)
    parts = private_keys(stage, relations, joins)
    ordinal = public_ordinal(stage, relations, joins)
    if ordinal:
        parts.insert(0, (GROUP, relations.dialect.bigint(ordinal)))
    if before is not None and before.count:
        joins.leave_out(stage, before, relations)
    columns = tuple(column for column, _ in parts)
    items = [f"{relations.expr(stage.source.unit)} AS u", *(f"{text} AS {column.name}" for column, text in parts)]
    source = f"SELECT {', '.join(items)} FROM ({relations.render(stage.source.node)}) AS t{joins.text}"
    keys = ", ".join(column.name for column in columns)
    # no row is without its unit, as the kernel has proved
    rows = f"SELECT u, {keys} FROM ({source}) AS v{'' if stage.source.single else ' WHERE u IS NOT NULL'}"
    order = key_order(stage, "z", relations.dialect)
    if exact:
        select = f"SELECT {keys} FROM (SELECT DISTINCT {keys} FROM ({rows}) AS rows) AS z ORDER BY {order}"
        return VaultQuery(questions=(Question(select=select, columns=columns),), tables=tables)
    votes = stage.selections[round_].votes
    names = [column.name for column in columns]
    pairs = kept_pairs(stage, relations)
    if pairs is not None:
        steps, counted = _of_pairs(stage, votes, pairs, tables, relations.dialect)
    else:
        steps, counted = _counted(stage, votes, rows, names, tables, relations.dialect, kept=kept)
    shown = votes_shown(relations.dialect)
    select = f"SELECT {keys}, {shown} FROM ({counted}) AS z WHERE {voted_for(stage)} ORDER BY {order}"
    return VaultQuery(questions=(Question(steps=steps, select=select, columns=(*columns, VOTES)),), tables=tables)


def _of_pairs(
    stage: NoisyStage, votes: tuple[int, ...], pairs: KeptPairs, tables: dict[str, Columns], dialect: Dialect
) -> tuple[tuple[Step, ...], str]:
    """Steps, and SELECT of keys and votes. A pair is there for each group that a unit has a row in."""
    keys, table = ", ".join(column.name for column in pairs.keys), votes_table(stage, votes, tables)
    voted = f"{dialect.sum('votes', most=max(votes))} AS votes, count(*) AS units"
    joined = f"{pairs.step.name} JOIN {table} ON {pairs.step.name}.n = {table}.groups"
    return (pairs.step,), f"SELECT {keys}, {voted} FROM {joined} GROUP BY {keys}"


def votes_shown(dialect: Dialect) -> str:
    return f"{dialect.at_most('votes', 2**62)} AS {VOTES.name}"


def voted_for(stage: NoisyStage) -> str:
    return f"votes > 0 AND units >= {stage.min_units}" if stage.min_units > 1 else "votes > 0"


def _counted(
    stage: NoisyStage,
    votes: tuple[int, ...],
    rows: str,
    names: list[str],
    tables: dict[str, Columns],
    dialect: Dialect,
    *,
    kept: bool,
) -> tuple[tuple[Step, ...], str]:
    """Steps, and SELECT of keys and votes.

    Where one row of a unit counts, most units are expected to have one: it is their group, any value of it the key, and
    only the others' rows need DISTINCT. (Which form is taken decides the time it takes, and nothing else.)
    """
    keys, full = ", ".join(names), dialect.integer(votes[0])
    if stage.source.single:
        return (), f"SELECT {keys}, count(*) * {full} AS votes, count(*) AS units FROM ({rows}) AS rows GROUP BY {keys}"
    sized = Step("weights", votes_of_pairs(stage, votes, tables))
    votes_ = f"{dialect.sum('votes', most=max(votes))} AS votes"
    if stage.limit.rows.most > 1 or stage.limit.auto or dialect.adds_first:
        different = dialect.different(f"u, {keys}", dialect.by_unit(f"({rows}) AS rows", stage.limit.rows.most))
        if dialect.sorts:
            sized_pairs = f"(SELECT {keys}, count(*) OVER (PARTITION BY u) AS n FROM ({different}) AS pairs) AS sized"
            table = votes_table(stage, votes, tables)
            joined = f"{sized_pairs} JOIN {table} ON sized.n = {table}.groups"
            return (), f"SELECT {keys}, {votes_}, count(*) AS units FROM {joined} GROUP BY {keys}"
        pairs = Step("pairs", different, stored=True)
        joined = "pairs JOIN weights ON pairs.u = weights.u"
        return (pairs, sized), f"SELECT {keys}, {votes_}, count(*) AS units FROM {joined} GROUP BY {keys}"
    values = ", ".join(f"{dialect.any_of_one(name)} AS {name}" for name in names)
    several = dialect.semi_join("rows", "(SELECT u FROM units WHERE n > 1) AS several", "rows.u = several.u")
    steps = (
        Step("rows", rows, stored=kept),
        Step("units", f"SELECT u, count(*) AS n, {values} FROM rows GROUP BY u", stored=True),
        Step("pairs", f"SELECT DISTINCT u, {keys} FROM {several}", stored=True),
        sized,
    )
    each = f"SELECT {keys}, {full} AS votes FROM units WHERE n = 1 UNION ALL "
    each += f"SELECT {keys}, votes FROM pairs JOIN weights ON pairs.u = weights.u"
    return steps, f"SELECT {keys}, {votes_}, count(*) AS units FROM ({each}) AS each GROUP BY {keys}"
