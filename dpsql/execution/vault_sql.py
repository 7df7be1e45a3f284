"""How a stage's input relations are read in the vault: cleaned scans and loaded public rows."""

from __future__ import annotations

from dpsql.catalog.model import Catalog
from dpsql.engine.vault import Vault
from dpsql.errors import InternalError
from dpsql.execution.auto_bounds import with_bounds
from dpsql.ir.nodes import Loaded, Noisy, Scan, UserTable
from dpsql.plan.dialects import duckdb as dialect
from dpsql.plan.render.clean import ROW, cleaned, loaded_column
from dpsql.plan.render.placed import only_placed
from dpsql.plan.render.relation import Relations, name
from dpsql.plan.stages import NoisyStage
from dpsql.session import Session


def vault_relations(session: Session, vault: Vault, stage: NoisyStage) -> Relations:
    """Scans are cleaned as the stage's rows were certified: to bounds that the data chose, too."""
    catalog = with_bounds(session.catalog, {(table, column): bounds for table, column, bounds in stage.bounds})
    placed = only_placed(stage, catalog)

    def leaf(node: Scan | UserTable | Noisy | Loaded) -> str:
        match node:
            case Scan():
                return _scan(catalog, vault, node, placed)
            case Loaded():
                items = [f"{loaded_column(f, name(f.id))} AS {name(f.id)}" for f in node.fields]
                return f"SELECT {', '.join(items) or '1 AS one'} FROM load_{node.index}"
            case _:
                raise InternalError("the vault reads private tables and loaded rows only")

    return Relations(leaf, dialect.render)


def _scan(catalog: Catalog, vault: Vault, node: Scan, placed: frozenset[int]) -> str:
    spec = catalog.table(node.table)
    if spec is None or spec.public:
        raise InternalError("the vault holds private tables only")
    types = {c.name: c.type for c in vault.columns(node.table)}
    return cleaned(node, spec, vault.relation(node.table, row_number=ROW in node.columns), types, placed=placed)
