"""PrivateFrame: a dataframe whose rows nobody sees, asked in pandas' words.

Every question becomes one SQL statement over the name df; planning, budget and noise are those of dpsql.connect().
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import answering, boundary
from dpsql.dbapi.given_options import Amountlike
from dpsql.dbapi.statements import explain
from dpsql.dbapi.telling import Asked, tell_of
from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.column import PrivateColumn
from dpsql.frames.expressions import check_expression, pointed
from dpsql.frames.groups import PrivateGroups, check_habits, named_apart
from dpsql.frames.opaque import attributes
from dpsql.frames.periods import Key, grouper_key, period
from dpsql.frames.relation import Relation
from dpsql.frames.reshaping import Reshaping
from dpsql.frames.result import Result
from dpsql.frames.root import Root, from_keywords, from_metadata, joined, leave_to_metadata
from dpsql.frames.schema_inference import Bounds, Keys
from dpsql.frames.wording import in_frame_words
from dpsql.report.explanation import Explanation
from dpsql.sql.options import OPTIONS

Expression = str | PrivateColumn
if TYPE_CHECKING:
    import pandas

By: TypeAlias = "str | PrivateColumn | pandas.Grouper"
_SHORT = {
    "rows_per_unit": "max_rows_contributed",
    "groups_per_unit": "max_groups_contributed",
    "max_groups": "max_groups_contributed",
    "max_rows": "max_rows_per_group",
}


class PrivateFrame(Reshaping):
    """A private dataframe with its own account.

    From keywords: unit (the column that says whose row it is; or row_is_unit=True), bounds, keys, rows_per_unit, budget;
    there is no default for any of them that would be a guess. types: where the frame's schema does not say what a column is.
    From metadata: a YAML file, a dict or a Catalog, with table= where it has several private ones.
    epsilon, delta: of each question. dataset: the account; frames without a name share one. The same question of the same
    frame is free; version: of the data, so that it is free of every frame of that version. progress: as connect()'s.
    """

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
        version: str | int | None = None,
        analyst: str | None = None,
        progress: Asked = None,
    ) -> None:
        keywords: dict[str, object] = {
            "unit": unit, "row_is_unit": row_is_unit, "bounds": bounds, "keys": keys, "types": types,
            "not_null": not_null, "rows_per_unit": rows_per_unit, "groups_per_unit": groups_per_unit,
            "max_groups": max_groups, "max_rows": max_rows,
        }  # fmt: skip
        account: dict[str, Any] = {"budget": budget, "epsilon": epsilon, "delta": delta, "analyst": analyst}
        if metadata is None:
            root = from_keywords(data, keywords, dataset=dataset, version=version, **account)
        else:
            of_frame = {"row_is_unit": row_is_unit or None, "not_null": not_null or None}
            of_account = {"dataset": None if dataset == "frame" else dataset, "version": version}
            leave_to_metadata({**keywords, **of_frame, **of_account})
            root = from_metadata(data, metadata, table=table, **account)
        root.session.tell = tell_of(progress)
        self._set(root, root.relation, {}, False)

    @classmethod
    def over(cls, root: Root) -> PrivateFrame:
        """The frame of a root that is open already; dpsql.testing has exact ones."""
        made = object.__new__(cls)
        made._set(root, root.relation, {}, False)
        return made

    def _set(self, root: Root, relation: Relation, options: Mapping[str, object], explaining: bool) -> None:
        self._root, self._relation, self._options, self._explaining = root, relation, options, explaining

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

    def _as_frame(self) -> PrivateFrame:
        return self

    # Questions --------------------------------------------------------------------------------------------------

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
                "the function asks for no statistic", code=608, fix='Write explain(lambda df: df["duration"].mean()).'
            )
        return answer

    def describe(self, *columns: str, epsilon: float | None = None, delta: float | None = None) -> Result:
        """Count, mean, standard deviation, least, quartiles and greatest of the columns, all within one query's ε."""
        chosen = columns or self._numbers()
        self._relation.check(chosen)
        if not chosen:
            raise InterfaceError("describe() names no column", code=608, fix="Name the columns.")
        return self._asked_with(epsilon, delta)._describe([(column, words.name(column)) for column in chosen])

    # Other frames over the same rows ------------------------------------------------------------------------------

    def filter(self, condition: Expression) -> PrivateFrame:
        """Only the rows where an SQL condition, or a comparison of columns, is true."""
        sql = self._sql_of(condition, condition=True)
        return self._but(relation=self._relation.filtered(sql, [condition] if isinstance(condition, str) else []))

    query = filter  # noqa: A003 - both words are pandas'

    def assign(self, **columns: Expression | Callable[[PrivateFrame], Expression]) -> PrivateFrame:
        """More columns: an SQL expression, or a calculation with columns."""
        values = {made: given(self) if callable(given) else given for made, given in columns.items()}
        computed = {made: self._sql_of(value) for made, value in values.items()}
        return self._but(relation=self._relation.assigned(computed, [v for v in values.values() if isinstance(v, str)]))

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
                "merge() does not say which columns to join on",
                code=608,
                fix='Write on="specialty", or left_on=, right_on=.',
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

    def groupby(
        self,
        by: By | Sequence[By] | None = None,
        *,
        dropna: bool = True,
        sort: bool = True,
        as_index: bool = False,
        observed: bool = False,
        **computed: Expression,
    ) -> PrivateGroups:
        """By columns, parts of columns (frame["day"].dt.month), a pandas.Grouper, or expressions with a name:
        groupby(decade="FLOOR(age / 10)"). dropna: without rows that have no key. Groups are in key order, as with sort."""
        check_habits(sort=sort, as_index=as_index, observed=observed)
        keys = [self._key(each) for each in (by if isinstance(by, list | tuple) else [] if by is None else [by])]
        keys += [Key(sql=self._sql_of(sql), name=made, given=isinstance(sql, str)) for made, sql in computed.items()]
        if not keys:
            raise InterfaceError("groupby() names no key", code=608, fix='Write groupby("specialty").')
        return PrivateGroups(self, named_apart(keys), dropna=dropna)

    def resample(self, rule: object, *, on: str) -> PrivateGroups:
        """By the periods of a date column: resample("ME", on="visited_on").size(). An empty period has a row, too."""
        self._relation.check((on,))
        return PrivateGroups(self, [period(on, rule)])

    def _key(self, by: object) -> Key:
        if isinstance(by, PrivateColumn):
            return Key(sql=self._sql_of(by), name=by.name)
        grouper = None if isinstance(by, str) else grouper_key(by, self._relation)
        if grouper is not None:
            return grouper
        if not isinstance(by, str):
            raise InterfaceError(
                "groups are by columns of the frame", code=608, fix='Write groupby("specialty"), or frame["age"] // 10.'
            )
        self._check(by)
        return Key(sql=words.name(by), name=by)

    def copy(self) -> PrivateFrame:
        """The same frame and the same account."""
        return self._but()

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> PrivateFrame:
        return self._but()

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

    def _attributes(self) -> tuple[str, ...]:
        relation = vars(self).get("_relation")
        return () if relation is None else attributes(relation.columns)

    def __repr__(self) -> str:
        shown = ", ".join(f"{column} {type_}" for column, type_ in self.dtypes.items())
        exact = self._root.session.exact
        left = "; EXACT: NO NOISE, FOR TESTS ONLY" if exact else f"; left: {self.budget.left}"
        return f"<PrivateFrame {self._root.dataset!r} ({shown}); unit: {self._root.session.catalog.unit}{left}>"

    def _sql_of(self, given: Expression, *, condition: bool = False) -> str:
        """An expression's SQL, its names and types in order."""
        made = isinstance(given, PrivateColumn)
        if isinstance(given, PrivateColumn):
            given.check_of(self)
            given = given._sql
        if not isinstance(given, str) or not given.strip():
            raise InterfaceError("an expression is SQL text, or made of columns", code=608)
        column = words.name(self._relation.columns[0])
        session, rows = self._root.session, self._relation.sql
        if made:
            with in_frame_words(given, keywords=self._root.from_keywords):
                check_expression(session, given, rows=rows, column=column, condition=condition)
        else:
            check_expression(session, given, rows=rows, column=column, condition=condition)
        return given


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)
