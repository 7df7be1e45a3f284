"""Steps 3 to 7, in order: from an allowed Statement to an inert ReleasePlan. Pure: no engine, no data, no clock."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.accounting.loss import ZERO
from dpsql.aggregates import BY_NAME
from dpsql.catalog.model import Catalog
from dpsql.domain.facts import Atom
from dpsql.errors import Error, Refused, SqlError
from dpsql.functions.function import unchecked
from dpsql.functions.sets import Answer, counted, no_answer
from dpsql.ir.expr import Call, Column, Expr, Literal, rewrite
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Limit, Node, OneRow, Project, PublicText, constant_rows, inputs, with_inputs
from dpsql.ir.scoping import where
from dpsql.plan.cut import cut
from dpsql.plan.dialects.engines import dialect_of
from dpsql.plan.dialects.scratch import SCRATCH
from dpsql.plan.portable import refuse_unsupported
from dpsql.plan.stages import NoisyStage, ReleasePlan, Stage
from dpsql.privacy.bound import bound
from dpsql.privacy.disjoint_groups import by_part
from dpsql.privacy.disjoint_queries import with_disjoint_totals
from dpsql.privacy.intervals import with_intervals
from dpsql.privacy.levels import with_errors
from dpsql.privacy.measure import measure
from dpsql.privacy.nonnegative import with_nonnegative
from dpsql.privacy.parts import Accounting
from dpsql.privacy.rules.context import Size, TrackContext
from dpsql.privacy.running import wanted
from dpsql.privacy.settings import QuerySettings
from dpsql.privacy.settling import settled
from dpsql.privacy.text_intervals import with_intervals_of_parts
from dpsql.privacy.top_k import with_top_k
from dpsql.privacy.track import track_statement
from dpsql.sql.bind import UserTables, bind
from dpsql.sql.limits import INTERVALS_PARTS, LENGTH_LIMIT, SIZE_LIMIT
from dpsql.sql.naming import Printed
from dpsql.sql.statement import Statement

FAR = 10**8  # ids of a plan that is made again begin here
FEW = 100  # units·ε: with fewer the data cannot choose well (privacy/auto.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerInput:
    """What the planner may know besides the statement: the catalog, how expressions are printed, the user's tables, values
    of public columns and of expressions over them, and the name of the engine that private tables are on."""

    catalog: Catalog
    printed: Printed
    user_tables: UserTables = field(default_factory=dict)
    keys_of: Mapping[tuple[str, str], tuple[Atom, ...]] = field(default_factory=dict)
    key_values: Answer = no_answer
    engine: str = "duckdb"
    size_limit: int = SIZE_LIMIT


def plan(statement: Statement, given: PlannerInput, settings: QuerySettings) -> ReleasePlan:
    """The plan, or an error with a place in the text: its own, or where the query's expressions begin."""
    ids = Ids()
    tree = bind(
        statement, given.catalog, aggregates=BY_NAME, user_tables=given.user_tables, ids=ids, printed=given.printed
    )
    try:
        with counted(given.key_values):
            made = _planned(tree, given, settings, ids, _limit(statement, tree, given, settings))
            return _types_alone(made) if statement.passed is not None and statement.passed.describes else made
    except Error as error:
        if error.at is None:
            error.at = where(tree)
        raise


def can_release(statement: Statement, given: PlannerInput) -> bool:
    """Whether the query is made of releases, and shows nobody's rows; an error says why not."""
    ids = Ids()
    tree = bind(
        statement, given.catalog, aggregates=BY_NAME, user_tables=given.user_tables, ids=ids, printed=given.printed
    )
    with counted(given.key_values):
        context = TrackContext(catalog=given.catalog, ids=ids, keys_of=given.keys_of, size=Size(given.size_limit))
        drafts, _ = cut(track_statement(tree, context), ids)
    return bool(drafts)


def _planned(tree: Node, given: PlannerInput, settings: QuerySettings, ids: Ids, limit: int) -> ReleasePlan:
    bounded, final = _bounded(with_disjoint_totals(tree, given.catalog, ids), given, settings, ids, limit)
    if settings.top_k:
        bounded = with_top_k(bounded, final)
    way: Accounting = "zcdp" if given.catalog.accounting == "zcdp" else "approx"
    stages, cost, split = measure(bounded, final, settings, way)
    refuse_unsupported(stages, dialect_of(given.engine))
    stages = tuple(_with_notes(stage, given.catalog, settings) for stage in stages)
    if settings.nonnegative and not settings.exact:
        stages = with_nonnegative(stages, ids)
    made = ReleasePlan(
        stages=stages,
        final=final,
        cost=cost,
        dataset=given.catalog.dataset,
        unit=given.catalog.unit,
        accounting=given.catalog.accounting,
        settings=_recorded(settings),
        exact=settings.exact,
        proof=settings.proof,
        split=split,
    )
    return made if settings.intervals is None or not stages else _wider(made, settings.intervals, ids)


def _bounded(
    tree: Node, given: PlannerInput, settings: QuerySettings, ids: Ids, limit: int
) -> tuple[tuple[Stage, ...], Node]:
    """Disjoint parts with groups are one release if that can be planned: each other way a statement is planned as it is.
    What is measured along an order stays so."""

    def context() -> TrackContext:
        return TrackContext(catalog=given.catalog, ids=ids, keys_of=given.keys_of, size=Size(limit))

    as_written = context()
    bounded, final = _of_tracked(tree, as_written, given, settings)
    joined = None if wanted(bounded, final) else by_part(tree, as_written)
    if joined is None:
        return bounded, final
    try:
        together, above = _of_tracked(joined.tree, context(), given, settings)
    except (Refused, SqlError):
        return bounded, final
    return tuple(_with_parts(stage, joined.parts) for stage in together), above


def _of_tracked(
    tree: Node, context: TrackContext, given: PlannerInput, settings: QuerySettings
) -> tuple[tuple[Stage, ...], Node]:
    drafts, final = cut(track_statement(tree, context), context.ids)
    return tuple(
        bound(draft, settings, context.ids, catalog=given.catalog, aggregates=BY_NAME, describe=describe)
        for draft in drafts
    ), final


def _with_parts(stage: Stage, parts: Mapping[int, tuple[Expr, ...]]) -> Stage:
    """With what EXPLAIN says of them."""
    conditions = [parts[f.id] for f, _ in stage.outputs if f.id in parts]
    said = (
        f"disjoint parts are groups of one measurement, with one share of ε: {'; '.join(map(describe, each))}"
        for each in conditions
    )
    return dataclasses.replace(stage, notes=(*stage.notes, *said))


def _types_alone(plan: ReleasePlan) -> ReleasePlan:
    """Of DESCRIBE: no part has rows, so nothing is released and nothing is charged."""
    final = plan.final if plan.narrow is None else plan.narrow.final
    without = tuple(Limit(_nulls(part), 0, 0) for part in inputs(final))
    return dataclasses.replace(
        plan, stages=(), final=with_inputs(final, without), cost=ZERO, split=(), ends=frozenset(), narrow=None
    )


def _nulls(part: Node) -> Node:
    return Project(OneRow(), part.fields, tuple(Literal(None, f.type) for f in part.fields))


def _with_notes(stage: NoisyStage, catalog: Catalog, settings: QuerySettings) -> NoisyStage:
    if not stage.choices or catalog.units is None or settings.epsilon is None:
        return stage
    if catalog.units * settings.epsilon >= FEW:
        return stage
    few = f"for about {catalog.units:,} {catalog.unit}s at ε = {float(settings.epsilon):.6g}"
    return dataclasses.replace(
        stage, notes=(*stage.notes, f"{few} a declared contribution limit is better than one that the data choose")
    )


def _wider(narrow: ReleasePlan, confidence: Fraction, ids: Ids) -> ReleasePlan:
    if isinstance(narrow.final, PublicText):
        widened = with_intervals_of_parts(narrow.stages, narrow.final, confidence, ids)
    else:
        widened = with_intervals(narrow.stages, narrow.final, confidence, ids)
    return dataclasses.replace(
        narrow, stages=widened.stages, final=widened.final, ends=widened.ends, confidence=confidence, narrow=narrow
    )


def settled_plan(plan: ReleasePlan, chosen: Sequence[tuple[int, ...]]) -> ReleasePlan:
    """The plan after its limits have been chosen, for each stage: with the noise and the intervals that they make."""
    if not any(stage.unsettled for stage in plan.stages):
        return plan
    narrow = plan if plan.narrow is None else plan.narrow
    stages = tuple(
        settled(stage, limits) if stage.unsettled else stage
        for stage, limits in zip(narrow.stages, chosen, strict=True)
    )
    made = dataclasses.replace(narrow, stages=with_errors(stages))
    return made if plan.confidence is None else _wider(made, plan.confidence, Ids(FAR))


def _limit(statement: Statement, tree: Node, given: PlannerInput, settings: QuerySettings) -> int:
    """How many parts the query may have. Rows that are inserted as they stand are no plan: LENGTH_LIMIT bounds them."""
    if statement.kind == "insert" and constant_rows(tree) is not None:
        return LENGTH_LIMIT
    return given.size_limit if settings.intervals is None else given.size_limit // INTERVALS_PARTS


def describe(expr: Expr) -> str:
    """An expression as the analyst would write it, with column names."""

    def column(one: Column) -> str:
        return one.name or "…"

    def plainly(part: Expr) -> Expr | None:
        """A function under its own name, not that of its form that cannot fail."""
        if isinstance(part, Call) and part.function == "canonical":
            return rewrite(part.args[0], plainly)
        if not isinstance(part, Call) or unchecked(part.function) == part.function:
            return None
        return rewrite(dataclasses.replace(part, function=unchecked(part.function)), plainly)

    return SCRATCH.render(rewrite(expr, plainly), column)


def _recorded(settings: QuerySettings) -> dict[str, Atom]:
    return {
        "epsilon": settings.epsilon,
        "delta": settings.delta,
        "mechanism": settings.mechanism,
        "rows": settings.rows,
        "groups": settings.groups,
        "rows_in_group": settings.rows_in_group,
    }


__all__ = ["PlannerInput", "describe", "plan"]
