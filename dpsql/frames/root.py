"""What frames over the same rows share: the session with its account, and the tables they began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.dbapi.given_options import Amountlike, exact_option
from dpsql.dbapi.user_tables import load_frame
from dpsql.engine.sealed import Sealed
from dpsql.errors import InterfaceError
from dpsql.frames.relation import Base, Relation
from dpsql.frames.schema_inference import TABLE, budget_of, described
from dpsql.metadata.limits import LIMIT_MEANING
from dpsql.metadata.load import load
from dpsql.session import Session, open_session
from dpsql.sources.given import of_metadata
from dpsql.sql.limits import FRAME_SIZE_LIMIT

Metadata = str | Path | Mapping[str, object] | Catalog


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Root(Sealed):
    """table: the one the frame is. data: the private frames by table. public: the public ones merged so far.

    metadata: as given (for keywords: the catalog they describe); another frame of it can be joined.
    """

    session: Session
    table: TableSpec
    metadata: Metadata
    from_keywords: bool
    data: Mapping[str, object]
    opening: Mapping[str, Any]
    public: dict[str, object] = field(default_factory=dict)

    @property
    def relation(self) -> Relation:
        return Relation.of(self.table)

    @property
    def dataset(self) -> str:
        return self.session.catalog.dataset

    def add_public(self, frame: object) -> Relation:
        """A public frame as a table of the user's own."""
        name = f"public_{self.session.next_number()}"
        load_frame(self.session, name, frame)
        self.public[name] = frame
        return Relation(pieces=(Base(name),), columns=tuple(n for n, _ in self.session.user_tables[fold(name)]))


def from_keywords(
    data: object,
    keywords: Mapping[str, Any],
    *,
    budget: object,
    epsilon: Amountlike | None,
    delta: Amountlike | None,
    dataset: str,
    analyst: str | None,
    version: str | int | None = None,
    exact: bool = False,
) -> Root:
    table = described(data, **{k: v if v is not None or k in _OPTIONAL else {} for k, v in keywords.items()})
    words = keywords["unit"] or "row"
    catalog = {"dataset": dataset, "unit": words, "budget": budget_of(budget), "tables": {TABLE: table}}
    catalog |= {} if version is None else {"version": str(version)}
    return _opened(catalog, TABLE, True, {TABLE: data}, _opening(epsilon, delta, None, analyst, exact))


_OPTIONAL = ("unit", *LIMIT_MEANING)


def from_metadata(
    data: object,
    metadata: Metadata,
    *,
    table: str | None,
    budget: object,
    epsilon: Amountlike | None,
    delta: Amountlike | None,
    analyst: str | None,
) -> Root:
    catalog = metadata if isinstance(metadata, Catalog) else load(metadata)
    private = [t.name for t in catalog.tables if not t.public]
    if table is None and len(private) != 1:
        raise InterfaceError(
            f"the metadata has {len(private)} private tables",
            code=606,
            fix=f"Choose one with table=: {', '.join(private)}.",
        )
    spec = catalog.table(private[0] if table is None else table)
    if spec is None or spec.public:
        raise InterfaceError(
            f"{table!r} is not a private table of the metadata", code=606, fix=f"There are {', '.join(private)}."
        )
    return _opened(metadata, spec.name, False, {spec.name: data}, _opening(epsilon, delta, budget, analyst))


def leave_to_metadata(keywords: Mapping[str, object]) -> None:
    said = [keyword for keyword, given in keywords.items() if given is not None]
    if said:
        raise InterfaceError(f"{said[0]}= is set by the metadata", code=606, fix="Leave it out, or the metadata.")


def _opening(
    epsilon: Amountlike | None, delta: Amountlike | None, budget: object, analyst: str | None, exact: bool = False
) -> dict[str, Any]:
    return {
        "epsilon": exact_option("epsilon", epsilon),
        "delta": exact_option("delta", delta),
        "budget": budget,
        "analyst": analyst,
        "exact": exact,
    }


def _opened(
    metadata: Metadata, table: str, from_keywords: bool, data: Mapping[str, object], opening: Mapping[str, Any]
) -> Root:
    """The rows are copied now: what happens to the frame afterwards is not seen."""
    catalog = _with_sources(metadata if isinstance(metadata, Catalog) else load(metadata), data)
    session = open_session(catalog, source=data, strict_caps=from_keywords, **opening)
    session.size_limit = FRAME_SIZE_LIMIT
    try:
        session.vault()
    except BaseException:
        session.close()
        raise
    private = [fold(t.name) for t in session.catalog.tables if not t.public]
    session.copied = {fold(name) for name in data}.issuperset(private)
    if from_keywords and session.catalog.version is not None:
        session.metadata = of_metadata(session.metadata)  # whoever made the frame says which data it is
    spec = session.catalog.table(table)
    assert spec is not None
    return Root(session=session, table=spec, metadata=metadata, from_keywords=from_keywords, data=data, opening=opening)


def _with_sources(catalog: Catalog, data: Mapping[str, object]) -> Catalog:
    """The catalog without the private tables that nobody gave any data for, unless another's unit path needs them."""
    given = {fold(name) for name in data}
    paths = {fold(t.unit_path.through) for t in catalog.tables if t.unit_path is not None}
    kept = tuple(
        t for t in catalog.tables if t.public or t.source is not None or fold(t.name) in given or fold(t.name) in paths
    )
    return replace(catalog, tables=kept)


def joined(left: Root, right: Root, relation: Relation) -> tuple[Root, Relation]:
    """One root for both, with the left's account, and the right's relation in it."""
    if left is right:
        return left, relation
    _check_accounts(left, right)
    names: dict[str, str] = {}
    metadata: Metadata = left.metadata
    if left.from_keywords and right.from_keywords:
        assert isinstance(left.metadata, dict) and isinstance(right.metadata, dict)
        taken = dict(left.metadata["tables"])
        for name, table in right.metadata["tables"].items():
            names[name] = _free(name, taken)
            taken[names[name]] = table
        metadata = {**left.metadata, "tables": taken}
    elif left.from_keywords or right.from_keywords or left.metadata != right.metadata:
        raise InterfaceError(
            "the two frames have different metadata",
            code=608,
            fix="Describe both tables in one metadata file, and make both frames from it.",
        )
    elif any(left.data.get(name, frame) is not frame for name, frame in right.data.items()):
        raise InterfaceError("the two frames have different data for one table", code=608)
    data = {**left.data, **{names.get(name, name): frame for name, frame in right.data.items()}}
    root = _opened(metadata, left.table.name, left.from_keywords, data, left.opening)
    for name, frame in (*left.public.items(), *right.public.items()):
        names[name] = name if name in left.public and frame is left.public[name] else _free(name, root.public)
        load_frame(root.session, names[name], frame)
        root.public[names[name]] = frame
    return root, relation.renamed(names)


def _check_accounts(left: Root, right: Root) -> None:
    one, other = left.session.catalog, right.session.catalog
    if one.dataset != other.dataset or left.opening["analyst"] != right.opening["analyst"]:
        raise InterfaceError(
            f"the frames have two different accounts, {one.dataset!r} and {other.dataset!r}",
            code=608,
            why="A query over both is charged once, to one account.",
            fix="Give both frames the same dataset= and analyst=.",
        )


def _free(name: str, taken: Mapping[str, object]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}" if name in taken else name
