"""How a stage's input relations are read in the vault: cleaned scans and loaded public rows."""

from __future__ import annotations

from dpsql.catalog.model import TableSpec, fold
from dpsql.engine.vault import Vault
from dpsql.errors import InternalError
from dpsql.ir.nodes import Loaded, Node, Noisy, Scan, UserTable, walk
from dpsql.plan.dialects import duckdb as dialect
from dpsql.plan.dialects.literals import text
from dpsql.plan.render.clean import ROW, cleaned, loaded_column
from dpsql.plan.render.measured import Measured, only_measured
from dpsql.plan.render.relation import Relations, name
from dpsql.plan.stages import Stage
from dpsql.session import Session


def vault_relations(session: Session, vault: Vault, stage: Stage, *, without: object = None) -> Relations:
    """The relations of one stage. without: a unit whose rows are left out of every table, for replay."""
    measured = only_measured(stage)

    def leaf(node: Scan | UserTable | Noisy | Loaded) -> str:
        match node:
            case Scan():
                return _scan(session, vault, node, measured, without)
            case Loaded():
                items = [f"{loaded_column(f, name(f.id))} AS {name(f.id)}" for f in node.fields]
                return f"SELECT {', '.join(items) or '1 AS one'} FROM load_{node.index}"
            case _:
                raise InternalError("the vault reads private tables and loaded rows only")

    return Relations(leaf, dialect.render)


def _scan(session: Session, vault: Vault, node: Scan, measured: Measured, without: object) -> str:
    spec = session.catalog.table(node.table)
    if spec is None or spec.public:
        raise InternalError("the vault holds private tables only")
    types = {c.name: c.type for c in vault.columns(node.table)}
    rows = cleaned(node, spec, vault.relation(node.table, row_number=ROW in node.columns), types, measured)
    unit = _unit_column(node, spec)
    if without is None or unit is None:
        return rows
    value = text(without) if isinstance(without, str) else str(without)
    return f"SELECT * FROM ({rows}) AS everyone WHERE {unit} <> {value}"


def _unit_column(node: Scan, spec: TableSpec) -> str | None:
    for f, column in zip(node.fields, node.columns, strict=True):
        if column == ROW or (spec.unit_column is not None and fold(column) == fold(spec.unit_column)):
            return name(f.id)
    return None


def unit_lists(session: Session, vault: Vault, node: Node) -> list[str]:
    """Queries that list the units of every private table in a relation; for replay."""
    found: list[str] = []
    for leaf in walk(node):
        spec = session.catalog.table(leaf.table) if isinstance(leaf, Scan) else None
        unit = None if spec is None or not isinstance(leaf, Scan) else _unit_column(leaf, spec)
        if unit is not None and isinstance(leaf, Scan):
            found.append(f"SELECT DISTINCT {unit} AS u FROM ({_scan(session, vault, leaf, {}, None)}) AS t")
    return found
