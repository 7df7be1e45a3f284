"""Random statements over several tables: releases of random relations, some in several stages."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

from tests.properties.generator.relations import Relations
from tests.properties.generator.scopes import Col, Rel

# {L} a number with bounds, {A} any column, {B} a condition, {U} the unit
ADDITIVE = (
    *("COUNT(*)", "COUNT({A})", "SUM({L})", "AVG({L})") * 2,
    *("COUNT(*) FILTER (WHERE {B})", "SUM({L}) FILTER (WHERE {B})", "AVG({L}) FILTER (WHERE {B})"),
    *("COUNT(DISTINCT {U})", "COUNT_IF({B})", "VAR_POP({L})", "STDDEV_SAMP({L})", "COVAR_POP({L}, {L})"),
)
DISTINCT = ("COUNT(DISTINCT {A})", "COUNT(DISTINCT {A}) FILTER (WHERE {B})")
OTHERS = (
    *DISTINCT,
    *("SUM(DISTINCT {L})", "AVG(DISTINCT {L})"),
    *("CORR({L}, {L})", "REGR_SLOPE({L}, {L})", "MEDIAN({L})", "MIN({L})", "MAX({L})", "QUANTILE_DISC({L}, 0.9)"),
    *("QUANTILE_CONT({L}, [0.25, 0.75])", "MODE({L})", "HISTOGRAM({L}, 4)", "APPROX_TOP_K({L}, 2)"),
)
PARTS = (
    *(
        "COUNT(*) FILTER (WHERE {})",
        "SUM(@) FILTER (WHERE {})",
        "AVG(@) FILTER (WHERE {})",
        "SUM(CASE WHEN {} THEN @ END)",
    ),
    *("SUM(CASE WHEN {} THEN @ ELSE 0 END)", "AVG(CASE WHEN {} THEN @ END)", "COUNT(CASE WHEN {} THEN @ END)"),
)
LIFTED = ("list_transform([{}], lambda x: x)[1]", "struct_pack(s := {}).s", "list_sort([{}, NULL])[1]")  # the number
KEYS = ("{K}", "{K}", "{K}", "{K}", "CASE WHEN {B} THEN 'yes' ELSE 'no' END", "COALESCE({T}, 'none')", "FLOOR({L})")
OPTIONS = (
    "mechanism='laplace'",
    "epsilon=3, delta=1e-3, mechanism='gaussian'",
    "max_groups_contributed=1",
    "max_rows_per_group=2, epsilon=0.5",
)
GROUPINGS = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")


class Statements:
    """exact: no options, nothing that ties or noise grids decide."""

    def __init__(self, draw: random.Random, *, exact: bool = False, used: Counter[str] | None = None) -> None:
        self.draw = draw
        self.exact = exact
        self.used: Counter[str] = Counter() if used is None else used
        self.relations = Relations(draw, exact=exact, used=self.used)

    def statement(self) -> str:
        draw = self.draw
        self.before: list[str] = []
        rel = self._relation()
        conditions = [self.relations.test(rel)] if draw.random() < 0.35 else []
        if draw.random() < 0.08:
            conditions.append(
                f"{self.relations.value(rel)} IS {draw.choice(('NULL', 'NOT NULL', 'NOT TRUE', 'NOT FALSE'))}"
            )
        if draw.random() < 0.08:
            conditions.append(self._noisy_scalar(rel))
        parts = draw.random() < 0.08
        query = self._queries_of_parts(rel, conditions) if parts else self._release(rel, conditions)
        chance = draw.random()
        if chance < 0.04 and "OPTIONS" not in query:
            query = f"SELECT * FROM ({query}) AS r UNION ALL {query}"
        elif chance < 0.08 and "OPTIONS" not in query and not self.before:
            return f"SELECT count(*) AS n, list_transform([COUNT(*)], lambda x: x > 0) AS l FROM ({query}) AS r"
        return (f"WITH {', '.join(self.before)} " if self.before else "") + query

    def _relation(self) -> Rel:
        draw, relations = self.draw, self.relations
        depth = draw.choice((0, 1, 1, 1, 2, 2, 3) if self.exact else (0, 1, 1, 2, 2, 2, 3))
        chance = draw.random()
        if chance < 0.08:
            return self._twice(relations.relation(draw.choice((0, 1)), unit=True))
        if chance < 0.18:
            return self._with_noisy(relations.atom(relations.relation(draw.choice((0, 0, 1)))))
        return relations.relation(depth)

    def _twice(self, rel: Rel) -> Rel:
        """A CTE that joins itself."""
        relations, one = self.relations, self.relations.derived(rel)
        body = one.text.rsplit(" AS ", 1)[0]
        name, old = relations.fresh("cte"), one.units[0].split(".")[0]
        self.before.append(f"{name} AS {body}")
        sides = [self._named(one, old, name, relations.fresh("s")) for _ in range(2)]
        on = f"{sides[0].units[0]} = {sides[1].units[0]}"
        return relations.put(sides[0], sides[1], relations.draw.choice(("JOIN", "LEFT JOIN", ",")), on)

    def _named(self, rel: Rel, old: str, table: str, alias: str) -> Rel:
        def sql(text: str) -> str:
            return text.replace(f"{old}.", f"{alias}.", 1)

        cols = tuple(Col(sql=sql(c.sql), letter=c.letter, bounded=c.bounded, origin=c.origin) for c in rel.cols)
        apart = None if rel.apart is None else tuple(map(sql, rel.apart))
        text = f"{table} AS {alias}"
        return Rel(text=text, cols=cols, units=tuple(map(sql, rel.units)), apart=apart, single=True)

    def _with_noisy(self, rel: Rel) -> Rel:
        """A private relation joined to the released rows of another."""
        draw, relations = self.draw, self.relations
        other = relations.relation(draw.choice((0, 1)))
        name, alias = relations.fresh("cte"), relations.fresh("s")
        texts = other.of("TI")
        if not texts:
            return rel
        key = draw.choice(texts)
        self.before.append(
            f"{name} AS (SELECT {key.sql} AS nk, COUNT(*) AS nn FROM {relations.whole(other)} GROUP BY 1)"
        )
        mine = [c.sql for c in rel.cols if c.letter == key.letter] or ["NULL"]
        noisy = Rel(
            text=f"{name} AS {alias}",
            cols=(Col(sql=f"{alias}.nk", letter=key.letter), Col(sql=f"{alias}.nn", letter="I")),
            apart=(f"{alias}.nk",),
            private=False,
        )
        kind = draw.choice(("JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"))
        return relations.put(rel, noisy, kind, f"{draw.choice(mine)} = {alias}.nk AND {alias}.nn {draw.choice('<>')} 2")

    def _noisy_scalar(self, rel: Rel) -> str:
        """Compared with a noisy number of an earlier stage."""
        relations = self.relations
        other = relations.relation(self.draw.choice((0, 0, 1)))
        number = relations.one(rel, "IMX", "1")
        return f"{number} <= (SELECT COUNT(*) / 3 FROM {relations.whole(other)})"

    def _release(self, rel: Rel, conditions: Sequence[str]) -> str:
        draw = self.draw
        keys = [self._fill(draw.choice(KEYS), rel) for _ in range(draw.choice((0, 0, 1, 1, 1, 2, 2)))]
        aggregates = [self._aggregate(rel) for _ in range(draw.choice((1, 1, 2, 3)))]
        if draw.random() < 0.15:
            aggregates += self._parts(rel)
        if draw.random() < 0.05:
            aggregates = [draw.choice(LIFTED).format(each) for each in aggregates]
        items = [f"{key} AS g{n}" for n, key in enumerate(keys)] + [f"{a} AS a{n}" for n, a in enumerate(aggregates)]
        options = ""
        if not self.exact and draw.random() < 0.35:
            options = f" WITH DIFFERENTIAL_PRIVACY OPTIONS({draw.choice(OPTIONS)})"
        text = f"SELECT{options} {', '.join(items)} FROM {self.relations.whole(rel, conditions)}"
        if keys:
            text += f" GROUP BY {self._grouping(rel, keys)}"
        if draw.random() < 0.08:
            text += " HAVING COUNT(*) > 1"
        return text

    def _grouping(self, rel: Rel, keys: list[str]) -> str:
        draw, listed = self.draw, ", ".join(keys)
        if draw.random() < 0.85 or "1" in keys:  # DuckDB reads it as a place, which is another key than what is there
            return listed
        if rel.units and draw.random() < 0.05:  # rows of people in one of the sets: refused
            return f"GROUPING SETS (({listed}), ({rel.units[0]}))"
        return draw.choice(GROUPINGS).format(listed)

    def _aggregate(self, rel: Rel) -> str:
        few = self.draw.sample([a for a in ADDITIVE if not (self.exact and "COUNT_IF" in a)], 4)  # of no rows it is 0
        if self.draw.random() < 0.15:  # each is a query of its own in the vault
            few = self.draw.sample(DISTINCT if self.exact else OTHERS, 2)
        template = min(few, key=lambda form: self.used[form])
        self.used[template] += 1
        return self._fill(template if rel.units or "{U}" not in template else "COUNT(*)", rel)

    def _queries_of_parts(self, rel: Rel, conditions: Sequence[str]) -> str:
        """The same of rows that are disjoint, a query for each; some have rows in common with another."""
        draw = self.draw
        calls = draw.choice(("COUNT(*)", "SUM(@)", "AVG(@)", "COUNT(*), SUM(@)"))
        items, by = calls.replace("@", self.relations.bounded(rel)), ""
        if draw.random() < 0.6:
            keys = [self._fill(draw.choice(KEYS), rel) for _ in range(draw.choice((1, 1, 2)))]
            items = ", ".join([*keys, draw.choice((items, self._aggregate(rel)))])
            by = f" GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}"
        tests = self._tests(rel)
        tests += [self.relations.test(rel)] if draw.random() < 0.3 else []
        return " UNION ALL ".join(
            f"SELECT {items} FROM {self.relations.whole(rel, [*conditions, test])}{by}" for test in tests
        )

    def _parts(self, rel: Rel) -> list[str]:
        """The same of rows that are disjoint, as FILTER or as CASE."""
        number = self.relations.bounded(rel)
        tests = self._tests(rel)
        form = self.draw.choice([form for form in PARTS if not (self.exact and "ELSE 0" in form)])  # of no rows it is 0
        return [form.replace("@", number).replace("{}", test) for test in tests]

    def _tests(self, rel: Rel) -> list[str]:
        """Of which a row satisfies one at most: by ranges or values of one column."""
        draw = self.draw
        column = self.relations.one(rel, "IM", "1")
        ends = sorted(draw.sample(range(-3, 9), draw.choice((1, 2, 3))))
        tests = [f"{column} < {ends[0]}", *(f"{column} >= {a} AND {column} < {b}" for a, b in itertools.pairwise(ends))]
        tests += [f"{column} >= {ends[-1]}", *([f"{column} IS NULL"] if draw.random() < 0.5 else [])]
        if draw.random() < 0.3:
            tests = [f"{column} = {end}" for end in (*ends, 9)]
        return tests

    def _fill(self, template: str, rel: Rel) -> str:
        draw, relations = self.draw, self.relations
        while "{L}" in template:
            template = template.replace("{L}", relations.bounded(rel), 1)
        while "{B}" in template:
            template = template.replace("{B}", relations.condition(rel), 1)
        any_ = draw.choice(rel.cols).sql if rel.cols else "1"
        filled = {"{A}": any_, "{K}": relations.one(rel, "TTIBDM", "1"), "{T}": relations.one(rel, "T", "'t'")}
        filled["{U}"] = rel.units[0] if rel.units else ""
        for hole, sql in filled.items():
            template = template.replace(hole, sql)
        return template
