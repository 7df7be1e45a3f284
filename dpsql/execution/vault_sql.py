"""What the vault is asked: how a stage's input relations are read (cleaned scans, loaded public rows), and its answers."""

from __future__ import annotations

from dpsql.catalog.model import Catalog
from dpsql.engine.sources import Array, ArrowStream, Columns
from dpsql.engine.vault import Asked
from dpsql.errors import InternalError
from dpsql.execution.auto_bounds import with_bounds
from dpsql.execution.plan_sql import PlanSql
from dpsql.ir.nodes import Loaded, Noisy, Scan, UserTable
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.engines import dialect_of
from dpsql.plan.render.clean import ROW, cleaned, loaded_column
from dpsql.plan.render.placed import only_placed
from dpsql.plan.render.relation import Relations, name
from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import Question, VaultQuery
from dpsql.release.exact import Exact
from dpsql.session import Session


def vault_relations(session: Session, vault: Asked, stage: NoisyStage) -> Relations:
    """Scans are cleaned as the stage's rows were certified: to bounds that the data chose, too."""
    dialect = dialect_of(session.engine)
    catalog = with_bounds(session.catalog, {(table, column): bounds for table, column, bounds in stage.bounds})
    placed = only_placed(stage, catalog)

    def leaf(node: Scan | UserTable | Noisy | Loaded) -> str:
        match node:
            case Scan():
                return _scan(catalog, vault, node, placed, dialect)
            case Loaded():
                items = [f"{loaded_column(f, name(f.id), dialect)} AS {name(f.id)}" for f in node.fields]
                return f"SELECT {', '.join(items) or '1 AS one'} FROM load_{node.index}"
            case _:
                raise InternalError("the vault reads private tables and loaded rows only")

    return Relations(leaf, dialect)


def _scan(catalog: Catalog, vault: Asked, node: Scan, placed: frozenset[int], dialect: Dialect) -> str:
    spec = catalog.table(node.table)
    if spec is None or spec.public:
        raise InternalError("the vault holds private tables only")
    types = {c.name: c.type for c in vault.columns(node.table)}
    return cleaned(
        node, spec, vault.relation(node.table, row_number=ROW in node.columns), types, dialect, placed=placed
    )


def vault_run(session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Asked, query: VaultQuery) -> Exact:
    """Step 10: the one place where private data is read."""
    return Exact([(each, _run_one(session, stage, plan_sql, vault, query, each)) for each in query.questions])


def _run_one(
    session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Asked, query: VaultQuery, question: Question
) -> dict[str, Array]:
    dialect = dialect_of(session.engine)
    loads: dict[str, Columns | ArrowStream] = dict(query.tables)
    results = [session.scratch.query(plan_sql.relation(node)) for node in stage.loads]
    try:
        for index, result in enumerate(results):
            loads[f"load_{index}"] = result
        expected = [(column.name, column.type, column.nullable) for column in question.columns]
        return vault.run(dialect.statement(question.steps, question.select), loads=loads, columns=expected)
    finally:
        for result in results:
            result.close()
