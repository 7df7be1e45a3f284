"""Random queries from the accepted grammar. To cover a new construct, add a line to its list."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from tests.properties.generator.expressions import Expressions
from tests.properties.generator.forms import SCALAR_FORMS
from tests.properties.generator.worlds import COLUMNS, LETTERS

# {N} any number, {L} a number with bounds, {A} anything
AGGREGATES = (
    *("COUNT(*)", "COUNT({A})", "COUNT(DISTINCT u)", "SUM({L})", "AVG({L})", "SUM({N})", "AVG({N})") * 4,
    *("COUNT(DISTINCT n)", "COUNT(DISTINCT {A})", "VAR_SAMP({L})", "STDDEV_POP({L})", "CORR(x, {L})"),
    *("COVAR_POP({L}, j)", "REGR_SLOPE(x, j)", "MEDIAN(j)", "MIN({L})", "MAX(j)", "QUANTILE_DISC(j, 0.9)"),
)
# order statistics choose among candidates: in exact mode they are within one step, not equal; of too few rows DuckDB's
# CORR and REGR_SLOPE are NaN, ours NULL
UNDETERMINED = ("MEDIAN", "MIN", "MAX", "QUANTILE", "CORR", "REGR")
DETERMINED = tuple(a for a in AGGREGATES if not a.startswith(UNDETERMINED))
FINISHED = (
    "{agg}",
    "{agg}",
    "{agg}",
    "{agg} * 2",
    "{agg} / NULLIF(COUNT(*), 0)",
    "COALESCE({agg}, 0)",
    "ROUND({agg}, 1)",
)
BOUNDED = (
    "LEAST(GREATEST({N}, -3), 7)",
    "GREATEST(LEAST({N}, 5), 2)",
    "CASE WHEN {B} THEN 1 ELSE 0 END",
    "x",
    "j",
    "x * j",
)
KEY_EXPRESSIONS = (
    "CASE WHEN {B} THEN 'yes' ELSE 'no' END",
    "CASE WHEN {B} THEN 1 WHEN {B} THEN 2 END",
    "DATE_TRUNC('month', d)",
    "EXTRACT(month FROM {W})",
    "FLOOR(x / 2)",
    "LEFT(n, 1)",
    "UPPER(k)",
    "i % 3",
    "j + 1",
    "f AND j > 2",
    "{A}",
)
OPTIONS = (
    "",
    "",
    "",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace')",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=3, delta=1e-3, mechanism='gaussian')",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1)",
    " WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_per_group=2, epsilon=0.5)",
)
SOURCES = (
    "t",
    "t",
    "t",
    "(SELECT * FROM t WHERE {B}) AS q",
    "(SELECT *, {N} AS z FROM t) AS q",
    "(SELECT * FROM (SELECT * FROM t) AS o) AS q",
)
ORDERS = (
    " ORDER BY 1",
    " ORDER BY 1 DESC NULLS LAST",
    " ORDER BY COUNT(*) DESC",
    " ORDER BY a0, 1 NULLS FIRST",
    " ORDER BY 1 LIMIT 3",
)
HAVINGS = (" HAVING COUNT(*) > 1", " HAVING a0 IS NOT NULL", " HAVING COUNT(DISTINCT u) BETWEEN 0 AND 50")
GROUPABLE = tuple(column.name for column in COLUMNS if column.groupable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    sql: str
    parameters: tuple[object, ...] = ()


class Queries:
    """exact: no constructs whose rows are not determined (LIMIT after ties), no options."""

    def __init__(self, draw: random.Random, *, used: Counter[str] | None = None, exact: bool = False) -> None:
        self.draw = draw
        self.used: Counter[str] = Counter() if used is None else used
        self._expressions = Expressions(draw, LETTERS, self.used)
        self._exact = exact

    def query(self, *, unit: str | None = "u") -> Query:
        draw = self.draw
        self._unit = unit
        keys = [self._key() for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3)))]
        items = [f"{key} AS g{at}" if draw.random() < 0.5 else key for at, key in enumerate(keys)]
        items += [f"{self._finished()} AS a{at}" for at in range(draw.choice((1, 1, 2, 3)))]
        if keys and draw.random() < 0.03:
            return Query(sql=f"SELECT DISTINCT {', '.join(keys)} FROM t")
        parameters: list[object] = []
        sql = (
            "SELECT"
            + ("" if self._exact else draw.choice(OPTIONS))
            + f" {', '.join(items)} FROM {self._fill(draw.choice(SOURCES))}"
        )
        if draw.random() < 0.85:
            sql += f" WHERE {self._condition(parameters)}"
        if keys:
            sql += " GROUP BY " + self._group_by(keys, items)
        if draw.random() < 0.15:
            sql += draw.choice(HAVINGS)
        if draw.random() < 0.3:
            order = draw.choice(ORDERS)
            sql += order if not (self._exact and "LIMIT" in order) else " ORDER BY 1"
        return Query(sql=sql, parameters=tuple(parameters))

    def condition(self, depth: int = 2) -> str:
        """A condition; mostly one that also mentions a function that occurred seldom."""
        made = self._expressions.of("B", depth)
        if self.draw.random() < 0.15:
            return made
        kind, rare = self._rare()
        mentioned = rare if kind == "B" else f"({rare} {self.draw.choice(('IS NOT NULL', 'IS DISTINCT FROM NULL'))})"
        return self.draw.choice((f"({made} OR {mentioned})", f"({mentioned} AND NOT {made})", mentioned))

    def _rare(self) -> tuple[str, str]:
        few = self.draw.sample(list(SCALAR_FORMS), 40)
        return self._expressions.form_of(min(few, key=lambda one: self.used[one]), 2)

    def _condition(self, parameters: list[object]) -> str:
        if self.draw.random() < 0.25:
            parameters.append(self.draw.choice([1, 0, -1, 2]))
            return f"i > ? OR {self.condition(1)}"
        return self.condition()

    def _group_by(self, keys: list[str], items: list[str]) -> str:
        names = []
        for at, key in enumerate(keys):
            alias = f"g{at}" if items[at].endswith(f" AS g{at}") else key
            names.append(self.draw.choice((key, alias, str(at + 1))))
        return ", ".join(names)

    def _key(self) -> str:
        if self.draw.random() < 0.6:
            return self.draw.choice(GROUPABLE)
        return self._fill(self.draw.choice(KEY_EXPRESSIONS))

    def _finished(self) -> str:
        form = self.draw.choice(FINISHED)
        if self._exact and "ROUND" in form:  # a sum in another order may round the other way
            form = "{agg}"
        return form.replace("{agg}", self._aggregate())

    def _aggregate(self) -> str:
        template = self.draw.choice(DETERMINED if self._exact else AGGREGATES)
        if "DISTINCT u" in template and self._unit is None:
            template = "COUNT(*)"
        text = self._fill(template)
        return f"{text} FILTER (WHERE {self.condition()})" if self.draw.random() < 0.4 else text

    def _fill(self, template: str) -> str:
        draw, expressions = self.draw, self._expressions
        while "{L}" in template:
            template = template.replace("{L}", draw.choice(BOUNDED), 1)
        while "{A}" in template:
            template = template.replace("{A}", self._rare()[1], 1)
        for letter in "NBW":
            while f"{{{letter}}}" in template:
                template = template.replace(f"{{{letter}}}", expressions.of(letter, draw.choice((0, 1, 2, 3))), 1)
        return template
