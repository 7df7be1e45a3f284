"""PrivateFrame: a dataframe whose rows nobody sees, asked in pandas' words.

Every question becomes one SQL statement over the name df; planning, budget and noise are those of dpsql.connect().
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import answering, boundary
from dpsql.dbapi.connection import Amountlike, Budget, budget_of
from dpsql.dbapi.statements import execute, explain
from dpsql.errors import InterfaceError
from dpsql.execution.planning import Parameters
from dpsql.frames import sql_literals as words
from dpsql.frames.aggregations import Asking, selected
from dpsql.frames.column import PrivateColumn
from dpsql.frames.expressions import check_answers, check_expression, pointed
from dpsql.frames.groups import PrivateGroups
from dpsql.frames.opaque import Unseen
from dpsql.frames.relation import Ends, Relation
from dpsql.frames.result import Result
from dpsql.frames.root import Root, from_keywords, from_metadata, joined
from dpsql.frames.schema_inference import Bounds, Keys
from dpsql.frames.statistics import described
from dpsql.report.explanation import Explanation
from dpsql.session import Session
from dpsql.sql.options import OPTIONS

Expression = str | PrivateColumn
_SHORT = {
    "rows_per_unit": "max_rows_contributed",
    "groups_per_unit": "max_groups_contributed",
    "max_groups": "max_groups_contributed",
    "max_rows": "max_rows_per_group",
}


class PrivateFrame(Asking, Unseen):
    """A private dataframe with its own account.

    From keywords: unit (the column that says whose row it is; or row_is_unit=True), bounds, keys, rows_per_unit, budget;
    there is no default for any of them that would be a guess. types: where the frame's schema does not say what a column is.
    From metadata: a YAML file, a dict or a Catalog, with table= where it has several private ones.
    epsilon, delta: of each question. dataset: the account; frames without a name share one.
    """

    _root: Root
    _relation: Relation
    _options: Mapping[str, object]
    _explaining: bool

    @boundary
    def __init__(
        self,
        data: object,
        metadata: str | Path | Mapping[str, object] | Catalog | None = None,
        *,
        table: str | None = None,
        unit: str | None = None,
        row_is_unit: bool = False,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        types: Mapping[str, str] | None = None,
        not_null: Sequence[str] = (),
        rows_per_unit: int | str | None = None,
        groups_per_unit: int | str | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        budget: object = None,
        epsilon: Amountlike | None = None,
        delta: Amountlike | None = None,
        dataset: str = "frame",
        analyst: str | None = None,
    ) -> None:
        described: dict[str, object] = {
            "unit": unit, "bounds": bounds, "keys": keys, "types": types, "rows_per_unit": rows_per_unit,
            "groups_per_unit": groups_per_unit, "max_groups": max_groups, "max_rows": max_rows,
        }  # fmt: skip
        if metadata is None:
            root = from_keywords(
                data,
                {**described, "row_is_unit": row_is_unit, "not_null": not_null},
                budget=budget,
                epsilon=epsilon,
                delta=delta,
                dataset=dataset,
                analyst=analyst,
            )
        else:
            said = [keyword for keyword, given in described.items() if given is not None]
            if said or row_is_unit or not_null or dataset != "frame":
                raise InterfaceError(
                    f"{(said or ['this'])[0]}= is set by the metadata",
                    code=606,
                    fix="Leave it out, or the metadata.",
                )
            root = from_metadata(
                data, metadata, table=table, budget=budget, epsilon=epsilon, delta=delta, analyst=analyst
            )
        self._set(root, root.relation, {}, False)

    @classmethod
    def over(cls, root: Root) -> PrivateFrame:
        """The frame of a root that is open already; dpsql.testing has exact ones."""
        made = object.__new__(cls)
        made._set(root, root.relation, {}, False)
        return made

    def _set(self, root: Root, relation: Relation, options: Mapping[str, object], explaining: bool) -> None:
        self._root, self._relation, self._options, self._explaining = root, relation, options, explaining

    @property
    def _session(self) -> Session:
        return self._root.session

    def _but(
        self,
        *,
        root: Root | None = None,
        relation: Relation | None = None,
        options: Mapping[str, object] | None = None,
        explaining: bool | None = None,
    ) -> PrivateFrame:
        """The same frame with something else; the account is shared."""
        made = object.__new__(PrivateFrame)
        made._set(
            self._root if root is None else root,
            self._relation if relation is None else relation,
            self._options if options is None else options,
            self._explaining if explaining is None else explaining,
        )
        return made

    # Questions --------------------------------------------------------------------------------------------------

    @answering
    def sql(self, sql: str, parameters: Parameters = None, *, query_id: str | None = None) -> Result:
        """Any query over the name df (the whole frame, as it was handed over or as filtered and assigned since)."""
        with pointed(self._relation.given, sql=sql):
            asked = self._relation.over(sql)
            check_answers(asked, parameters)
            answer = execute(
                self._root.session, asked, parameters, query_id=query_id, options=words.read_options(self._options)
            )
            return Result(answer)

    @answering
    def explain(self, question: str | Callable[[PrivateFrame], Any]) -> Explanation:
        """What a question would do and cost: free, and nothing private is read.

        question: SQL over df, or a function that asks: frame.explain(lambda df: df["duration"].mean()).
        """
        if isinstance(question, str):
            with pointed(self._relation.given, sql=question):
                return explain(
                    self._root.session, self._relation.over(question), options=words.read_options(self._options)
                )
        answer = question(self._but(explaining=True))
        if not isinstance(answer, Explanation):
            raise InterfaceError(
                "the function runs no query", code=608, fix='Write explain(lambda df: df["duration"].mean()).'
            )
        return answer

    def count(self) -> Any:
        """How many rows."""
        return self._scalar(f"SELECT COUNT(*) AS count FROM {self._relation.sql}")

    size = count

    def units(self) -> Any:
        """How many units: people, say."""
        return self._scalar(f"SELECT {self._units()} AS units FROM {self._relation.sql}")

    def describe(self, *columns: str, epsilon: float | None = None, delta: float | None = None) -> Result:
        """Count, mean, standard deviation, least, quartiles and greatest of the columns, all within one query's ε."""
        chosen = columns or self._numbers()
        self._relation.check(chosen)
        if not chosen:
            raise InterfaceError("describe() of no column", code=608, fix="Name the columns.")
        return self._asked_with(epsilon, delta)._describe([(column, words.name(column)) for column in chosen])

    @property
    @boundary
    def budget(self) -> Budget:
        """.total, .spent and .left, each with .epsilon and .delta."""
        ledger = self._root.session.ledger
        if ledger is None:
            raise InterfaceError("an exact frame has no budget", code=608)
        return budget_of(ledger.balance())

    # Other frames over the same rows ------------------------------------------------------------------------------

    def filter(self, condition: Expression) -> PrivateFrame:
        """Only the rows where an SQL condition, or a comparison of columns, is true."""
        return self._but(relation=self._relation.filtered(self._sql_of(condition, condition=True)))

    query = filter  # noqa: A003 - both words are pandas'

    def assign(self, **columns: Expression | Callable[[PrivateFrame], Expression]) -> PrivateFrame:
        """More columns: an SQL expression, or a calculation with columns."""
        computed = {made: self._sql_of(given(self) if callable(given) else given) for made, given in columns.items()}
        return self._but(relation=self._relation.assigned(computed))

    @boundary
    def merge(
        self,
        right: object,
        on: str | Sequence[str] | None = None,
        *,
        how: str = "inner",
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        suffixes: tuple[str, str] = ("_x", "_y"),
    ) -> PrivateFrame:
        """Joined with a public frame (pandas, polars, Arrow), or, on the unit, with a PrivateFrame of the same account."""
        if how not in ("inner", "left", "right", "outer"):
            raise InterfaceError(f"how={how!r}", code=608, fix="Choose inner, left, right or outer.")
        lefts, rights = _names(on if left_on is None else left_on), _names(on if right_on is None else right_on)
        if not lefts or len(lefts) != len(rights):
            raise InterfaceError(
                "which columns are joined?", code=608, fix='Write on="specialty", or left_on=, right_on=.'
            )
        root = self._root
        if isinstance(right, PrivateFrame):
            root, relation = joined(root, right._root, right._relation)
        else:
            relation = root.add_public(right)
        made = self._relation.joined(relation, how=how, left_on=lefts, right_on=rights, suffixes=suffixes)
        return self._but(root=root, relation=made)

    def options(self, **options: object) -> PrivateFrame:
        """The same frame, its questions asked with these options: epsilon, delta, rows_per_unit, mechanism, …"""
        named = {_SHORT.get(name, name): value for name, value in options.items()}
        for name in named:
            if name not in OPTIONS:
                raise InterfaceError(f"there is no option {name}", code=119, fix=f"There are {', '.join(OPTIONS)}.")
        return self._but(options={**self._options, **named})

    def _asked_with(self, epsilon: float | None, delta: float | None) -> PrivateFrame:
        given = {name: value for name, value in (("epsilon", epsilon), ("delta", delta)) if value is not None}
        return self.options(**given) if given else self

    def groupby(self, by: str | Sequence[str] | None = None, **computed: Expression) -> PrivateGroups:
        """By columns, or by expressions with a name: groupby(decade="FLOOR(age / 10)")."""
        keys = [(words.name(column), column) for column in _names(by)]
        self._relation.check(tuple(column for _, column in keys))
        keys += [(self._sql_of(sql), made) for made, sql in computed.items()]
        if not keys:
            raise InterfaceError("grouped by nothing", code=608, fix='Write groupby("specialty").')
        return PrivateGroups(self, keys)

    def copy(self) -> PrivateFrame:
        """The same frame and the same account."""
        return self._but()

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> PrivateFrame:
        return self._but()

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

    @overload
    def __getitem__(self, what: str) -> PrivateColumn: ...
    @overload
    def __getitem__(self, what: PrivateColumn | list[str]) -> PrivateFrame: ...
    def __getitem__(self, what: str | PrivateColumn | list[str]) -> PrivateColumn | PrivateFrame:
        """A column; the rows where a condition holds; the frame with only these columns."""
        if isinstance(what, PrivateColumn):
            return self.filter(what)
        if isinstance(what, str):
            self._check(what)
            return PrivateColumn(self, words.name(what), what)
        return self._but(relation=self._relation.selected(tuple(what)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{column} {type_}" for column, type_ in self.dtypes.items())
        exact = self._root.session.exact
        left = "; EXACT: NO NOISE, FOR TESTS ONLY" if exact else f"; left: {self.budget.left}"
        return f"<PrivateFrame {self._root.dataset!r} ({shown}); unit: {self._root.session.catalog.unit}{left}>"

    # How a question is asked --------------------------------------------------------------------------------------

    @answering
    def _result(self, sql: str, given: Sequence[str] = ()) -> Result:
        """given: the user's own expressions in it, besides those of the relation."""
        asked = words.with_options(sql, self._options)
        with pointed((*self._relation.given, *given)):
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

    def _sql_of(self, given: Expression, *, condition: bool = False) -> str:
        """An expression's SQL, its names and types in order."""
        if isinstance(given, PrivateColumn):
            given.check_of(self)
            given = given._sql
        if not isinstance(given, str) or not given.strip():
            raise InterfaceError("an expression is SQL text, or made of columns", code=608)
        column = words.name(self._relation.columns[0])
        check_expression(self._root.session, given, rows=self._relation.sql, column=column, condition=condition)
        return given


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)
