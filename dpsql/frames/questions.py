"""What a whole frame is asked, what of it may be seen, and how a question becomes a statement that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.dbapi.boundary import answering, boundary
from dpsql.dbapi.budget import Budget, budget_of
from dpsql.dbapi.statements import execute, explain
from dpsql.errors import InterfaceError
from dpsql.execution.planning import Parameters
from dpsql.frames import sql_literals as words
from dpsql.frames.aggregations import Asking, selected
from dpsql.frames.expressions import check_answers, pointed
from dpsql.frames.opaque import Unseen
from dpsql.frames.relation import Ends, Relation
from dpsql.frames.result import Result
from dpsql.frames.root import Root
from dpsql.frames.statistics import described
from dpsql.frames.wording import in_frame_words
from dpsql.session import Session


class Questions(Asking, Unseen):
    """_options: of each question. _explaining: questions are explained, and not run."""

    _root: Root
    _relation: Relation
    _options: Mapping[str, object]
    _explaining: bool

    @property
    def _session(self) -> Session:
        return self._root.session

    @answering
    def sql(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Result:
        """Any query over the name df (the whole frame, as it was handed over or as filtered and assigned since)."""
        with pointed(self._relation.given, sql=sql):
            asked = self._relation.over(sql)
            check_answers(self._session, asked, parameters)
            answer = execute(
                self._root.session, asked, parameters, query_id=query_id, options=words.read_options(self._options)
            )
            return Result(answer)

    def count(self) -> Any:
        """How many rows."""
        return self._scalar(f"SELECT COUNT(*) AS count FROM {self._relation.sql}")

    size = count

    def units(self) -> Any:
        """How many units: people, say."""
        return self._scalar(f"SELECT {self._units()} AS units FROM {self._relation.sql}")

    @property
    @boundary
    def budget(self) -> Budget:
        """.total, .spent and .left, each with .epsilon and .delta."""
        ledger = self._root.session.ledger
        if ledger is None:
            raise InterfaceError("an exact frame has no budget", code=608)
        return budget_of(ledger)

    # What may be seen: the schema ----------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        return list(self._relation.columns)

    @property
    def dtypes(self) -> dict[str, str]:
        """The declared type of each column that the metadata declares."""
        declared = {column.name: str(column.type) for column in self._root.table.columns}
        return {column: declared.get(column, "computed") for column in self._relation.columns}

    @property
    def shape(self) -> tuple[int, int]:
        raise InterfaceError("the number of rows is private", code=609, fix="Ask for it: frame.count().")

    def __contains__(self, column: object) -> bool:
        return column in self._relation.columns

    # How a question is asked --------------------------------------------------------------------------------------

    @answering
    def _result(self, sql: str, given: Sequence[str] = ()) -> Result:
        """given: the user's own expressions in it, besides those of the relation."""
        asked = words.with_options(sql, self._options)
        written = (*self._relation.given, *given)
        with in_frame_words(asked, keywords=self._root.from_keywords, given=written), pointed(written):
            if self._explaining:
                # explain() hands such a frame to a function, and takes what comes back
                return explain(self._root.session, asked)  # type: ignore[return-value]  # seen by explain() alone
            return Result(execute(self._root.session, asked))

    def _scalar(self, sql: str) -> Any:
        answer = self._result(sql)
        return answer.scalar() if isinstance(answer, Result) else answer

    def _ask(self, items: Sequence[tuple[str, str]]) -> Result:
        return self._result(f"SELECT {selected(items)} FROM {self._relation.sql}")

    def _describe(self, columns: Sequence[tuple[str, str]]) -> Result:
        return self._result(described(columns, self._relation.sql))

    def _units(self) -> str:
        unit = self._root.table.unit_column
        if unit is None or unit not in self._relation.columns:
            raise InterfaceError("the frame has no unit column to count", code=608, fix="Count rows: count().")
        return f"COUNT(DISTINCT {words.name(unit)})"

    def _numbers(self) -> tuple[str, ...]:
        """The numbers with declared bounds."""
        return tuple(column for column in self._relation.columns if column in self._relation.bounds)

    def _bounds_of(self, column: str) -> Ends | None:
        return self._relation.bounds.get(column)

    def _check(self, column: str) -> None:
        self._relation.check((column,))
