"""A text that is passed on to DuckDB: the tables that it reads, and running it apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsql.engine.apart.run import Apart, Parameters, Question
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sources import Column
from dpsql.errors import Error, PostProcessingError, SqlError
from dpsql.ir.nodes import PublicText
from dpsql.plan.dialects.literals import identifier
from dpsql.session import Session


@dataclass(frozen=True, slots=True)
class PassedText:
    """tables: by the names in the text, queries over scratch; public: those of public tables, which are read once in a
    session. seconds: how long it may take."""

    final: PublicText
    public: Mapping[str, str]
    tables: Mapping[str, str]
    apart: Apart
    seconds: float

    @classmethod
    def of(cls, session: Session, final: PublicText) -> PassedText:
        public = {name: _public(session, name) for name in final.tables}
        tables = {name: f"SELECT * FROM {session.user.relation(name)}" for name in final.users}
        return cls(final, public, tables, session.apart, float(session.defaults.time_limit))

    def describe(self, parts: Mapping[str, str]) -> tuple[Column, ...]:
        """Its columns, over parts without rows."""
        try:
            return self.apart.describe(self._question(parts), self.seconds)
        except Error as error:
            error.at = error.at or self.final.at
            raise

    def rows(self, parts: Mapping[str, str]) -> ScratchResult:
        try:
            rows = self.apart.rows(self._question(parts), self.seconds)
        except SqlError as error:
            if not parts:
                raise
            raise PostProcessingError(error.what, code=502) from None  # it was released, and described before
        rows.columns = tuple(self._named(column) for column in rows.columns)
        return rows

    def _named(self, column: Column) -> Column:
        """Under the name that DuckDB gives it where the part itself stands there."""
        for name, printed in zip(self.final.names, self.final.printed, strict=True):
            column = dataclasses.replace(column, name=column.name.replace(f"(SELECT * FROM {name})", printed))
        return column

    def _question(self, parts: Mapping[str, str]) -> Question:
        tables = {**self.tables, **parts}
        return Question(
            text=self.final.text,
            parameters=_parameters(self.final),
            tables=tables,
            lasting=self.public,
            views=dict(self.final.views),
        )


def example(columns: Sequence[Column]) -> str:
    """A row of these names and types, without NULLs where a value can be made up."""
    tried = ("1", "2000-01-01", "true")
    items = (
        f"coalesce({', '.join(_tried(column, value) for value in tried)}) AS {identifier(column.name)}"
        for column in columns
    )
    return f"SELECT {', '.join(items)}"


def _tried(column: Column, value: str) -> str:
    return f"TRY_CAST('{value}' AS {column.type})"


def _public(session: Session, name: str) -> str:
    spec = session.catalog.table(name)
    assert spec is not None
    items = ", ".join(f'"{i}" AS {identifier(column.name)}' for i, column in enumerate(spec.columns))
    return f"SELECT {items} FROM {identifier(session.load_public(name))}"


def _parameters(final: PublicText) -> Parameters:
    if any(name is None for name, _ in final.parameters):
        return tuple(value for _, value in final.parameters)
    return {name: value for name, value in final.parameters if name is not None}
