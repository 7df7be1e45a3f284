"""What a whole frame is asked of several columns at once: correlations, counts of values, tables of two directions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.counts import grouped_counts, shown_counts
from dpsql.frames.groups import PrivateGroups
from dpsql.frames.matrices import matrix
from dpsql.frames.periods import Key
from dpsql.frames.pivots import Names, Pivot, check_directions, named, share_of
from dpsql.frames.questions import Questions
from dpsql.frames.result import Result
from dpsql.frames.spellings import Noting, statistic_sql

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame


class Tables(Questions):
    """Each method is one query, charged once; a table of two directions is laid out from the released rows."""

    def corr(self, *columns: str) -> Result:
        """The correlations of these columns, or of all numbers with bounds: a line and a column for each."""
        return self._matrix("CORR", columns)

    def cov(self, *columns: str) -> Result:
        """The covariances (of a sample), as corr()."""
        return self._matrix("COVAR_SAMP", columns)

    def _matrix(self, function: str, columns: tuple[str, ...]) -> Result:
        chosen = self._chosen("corr", columns)
        self._relation.check(chosen)
        return self._result(matrix(function, chosen, self._relation.sql))

    def value_counts(
        self,
        subset: str | Sequence[str] | None = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Result:
        """The number of rows of each combination of values of the columns, most frequent first."""
        columns = named(subset)
        if not columns:
            raise InterfaceError("value_counts() names no column", code=608, fix='Write value_counts("specialty").')
        self._relation.check(columns)
        counted = grouped_counts([(words.name(c), c) for c in columns], self._relation.sql, dropna=dropna)
        return self._result(shown_counts(counted, columns, normalize, sort, ascending))

    def pivot_table(
        self, values: Names = None, index: Names = None, columns: Names = None, aggfunc: object = "mean"
    ) -> Pivot:
        """One statistic by groups in two directions: pivot_table("duration", index="specialty", columns="referrer")."""
        across, down = named(columns), named(index)
        check_directions(down, across)
        keys = [Key(sql=words.name(column), name=column) for column in (*down, *across)]
        self._relation.check([key.name for key in keys])
        chosen = [c for c in named(values) or self._numbers() if c not in (*down, *across)]
        if aggfunc in ("size", len) or (aggfunc == "count" and values is None):
            items = [("COUNT(*)", "count")]
        else:
            items = [(statistic_sql(self._noting(c), aggfunc), c) for c in self._chosen("pivot_table", tuple(chosen))]
        asked = PrivateGroups(self._as_frame(), keys)._ask(items)
        return Pivot(asked, down, across, [name for _, name in items]) if isinstance(asked, Result) else asked

    def crosstab(self, index: Names, columns: Names, normalize: object = False) -> Pivot:
        """The number of rows of each pair of values; normalize: their share of all, or of each "index" or "columns"."""
        across, down = named(columns), named(index)
        check_directions(down, across)
        names = [*down, *across]
        self._relation.check(names)
        counted = grouped_counts([(words.name(c), c) for c in names], self._relation.sql, dropna=True)
        if normalize is False:
            asked = self._result(counted)
            return Pivot(asked, down, across, ["count"]) if isinstance(asked, Result) else asked
        share = share_of(normalize, *(", ".join(map(words.name, side)) for side in (down, across)))
        listed = ", ".join(map(words.name, names))
        asked = self._result(f'SELECT {listed}, {share} AS "proportion" FROM ({counted}) AS counted')
        return Pivot(asked, down, across, ["proportion"]) if isinstance(asked, Result) else asked

    def _noting(self, column: str) -> Noting:
        return Noting(self._as_frame(), self._column(column), column)

    @abstractmethod
    def _as_frame(self) -> PrivateFrame:
        """Itself, as what columns and groups belong to."""
