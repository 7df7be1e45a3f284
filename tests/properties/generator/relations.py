"""Random relations over several tables, as SQL: joins, unions, per-unit summaries, windows, subqueries in conditions.

To cover a new construct, add a method to the steps of `relation`; a new aggregate or window call is a line of its list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.properties.generator.joins import Joins
from tests.properties.generator.scopes import Col, Rel

# of a unit's rows: (result letter, template, bounded)
SUMMARIES = (
    ("I", "COUNT(*)", False),
    ("I", "COUNT({A})", False),
    ("I", "COUNT(DISTINCT {A})", False),
    ("I", "COUNT(*) FILTER (WHERE {B})", False),
    ("I", "COUNT_IF({B})", False),
    ("M", "SUM({I})", False),
    ("X", "SUM({L})", False),
    ("X", "AVG({L})", True),
    ("X", "AVG({L}) FILTER (WHERE {B})", True),
    ("*", "MIN({A})", True),
    ("*", "MAX({A})", True),
    ("*", "ANY_VALUE({A})", True),
    ("B", "BOOL_OR({B})", False),
    ("B", "BOOL_AND({B})", False),
    ("X", "STDDEV_POP({L})", True),
    ("X", "VAR_SAMP({L})", True),
    ("X", "MEDIAN({L})", True),
    ("*", "FIRST({A} ORDER BY {O})", True),
    ("*", "ARG_MAX({A}, {O})", True),
    ("*", "QUANTILE_DISC({A}, 0.25)", True),
)
# which value, the last digits, or a HUGEINT that is no longer one
INEXACT = ("ANY_VALUE", "STDDEV", "VAR_", "AVG", "SUM({I})")
NAVIGATED = (
    ("I", "ROW_NUMBER() OVER ({W})", False),
    ("*", "LAG({A}) OVER ({W})", True),
    ("*", "LEAD({A}, 2) OVER ({W})", True),
    ("*", "FIRST_VALUE({A}) OVER ({W})", True),
    ("*", "LAST_VALUE({A}) OVER ({W} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", True),
    ("*", "NTH_VALUE({A}, 2) OVER ({W})", True),
    ("I", "NTILE(2) OVER ({W})", False),
    ("I", "COUNT({A}) OVER ({W} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", False),
    ("X", "SUM({L}) OVER ({W} ROWS UNBOUNDED PRECEDING)", False),
)
RANKED = (
    ("I", "RANK() OVER ({W})", False),
    ("I", "DENSE_RANK() OVER ({W})", False),
    ("X", "PERCENT_RANK() OVER ({W})", True),
    ("X", "CUME_DIST() OVER ({W})", True),
    ("X", "SUM({L}) OVER ({W})", False),
    ("I", "COUNT(*) OVER ({W})", False),
    ("*", "MAX({A}) OVER ({W})", True),
    ("*", "MIN({A}) OVER ({W} GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)", True),
    ("X", "AVG({L}) OVER ({P})", True),
)


class Relations(Joins):
    def relation(self, depth: int, *, unit: bool = False) -> Rel:
        """A private relation; unit: one with the unit among its columns."""
        if depth <= 0:
            return self.table(self.draw.choice("pv" if unit else "pvvtw"))
        steps: Sequence[Callable[[int], Rel]] = (
            self.joined,
            self.joined,
            self.joined,
            self.with_public,
            self.with_public,
            self.summary,
            self.summary,
            self.window,
            self.window,
            self.union,
            self.filtered,
            self.starred,
            self.relation,
        )
        rel = self.draw.choice(steps)(depth - 1)
        return self.relation(depth, unit=True) if unit and not rel.units else rel

    def union(self, depth: int) -> Rel:
        """UNION ALL of two private relations, by columns of the same kinds."""
        left, right = self.relation(depth), self.relation(depth)
        pairs: list[tuple[Col, Col]] = []
        for a in left.cols:
            same = [b for b in right.cols if b.letter == a.letter and b not in [x for _, x in pairs]]
            if same and self.draw.random() < 0.8:
                pairs.append((a, self.draw.choice(same)))
        units = bool(left.units and right.units)
        name = self.fresh("q")
        sides = []
        for side, at in ((left, 0), (right, 1)):
            items = [f"{side.units[0]} AS u0"] if units else []
            items += [f"{pair[at].sql} AS c{n}" for n, pair in enumerate(pairs)] or ["1 AS one"]
            sides.append(f"SELECT {', '.join(items)} FROM {self.whole(side)}")
        cols = [
            Col(sql=f"{name}.c{n}", letter=a.letter, bounded=a.bounded and b.bounded) for n, (a, b) in enumerate(pairs)
        ]
        text = f"({' UNION ALL '.join(sides)}) AS {name}"
        return Rel(text=text, cols=tuple(cols), units=(f"{name}.u0",) if units else (), single=True)

    def summary(self, depth: int) -> Rel:
        """GROUP BY the unit and keys, also by several grouping sets that all have the unit."""
        draw, rel = self.draw, self.relation(depth, unit=True)
        groupable = rel.of("IMTBD")
        keys = draw.sample(groupable, min(len(groupable), draw.choice((0, 0, 1, 1, 2))))
        name, unit = self.fresh("q"), rel.units[0]
        forms = [self._forms(SUMMARIES, total=rel.apart is not None) for _ in range(draw.choice((0, 1, 2, 2)))]
        calls = [self._call(rel, draw.choice(few)) for few in forms]
        cols = [replace(key, sql=f"c{n}", origin="") for n, key in enumerate(keys)]
        cols += [Col(sql=f"e{n}", letter=letter, bounded=bounded) for n, (letter, _, bounded) in enumerate(calls)]
        items = [f"{unit} AS u0", *(f"{k.sql} AS c{n}" for n, k in enumerate(keys))]
        items += [f"{sql} AS e{n}" for n, (_, sql, _) in enumerate(calls)]
        grouped, plain = self._grouping(unit, [k.sql for k in keys])
        having = (
            f" HAVING {draw.choice(('COUNT(*) > 1', 'COUNT(*) < 4', f'COUNT(DISTINCT {unit}) = 1'))}"
            if draw.random() < 0.15
            else ""
        )
        text = f"SELECT {', '.join(items)} FROM {self.whole(rel)} GROUP BY {grouped}{having}"
        apart = (f"{name}.u0", *(f"{name}.c{n}" for n in range(len(keys)))) if plain else None
        return Rel(
            text=f"({text}) AS {name}",
            cols=tuple(replace(c, sql=f"{name}.{c.sql}") for c in cols),
            units=(f"{name}.u0",),
            apart=apart,
            single=True,
        )

    def _grouping(self, unit: str, keys: list[str]) -> tuple[str, bool]:
        chance = self.draw.random()
        if not keys or chance < 0.75:
            return ", ".join((unit, *keys)), True
        if chance < 0.85:
            return f"{unit}, {self.draw.choice(('ROLLUP', 'CUBE'))} ({', '.join(keys)})", False
        return f"GROUPING SETS (({', '.join((unit, *keys))}), ({unit}))", False

    def window(self, depth: int) -> Rel:
        """Windows over the unit's rows; where rows tie, the total order is the engine's own affair."""
        draw, rel = self.draw, self.relation(depth, unit=True)
        total = rel.apart is not None or not self.exact
        more = [
            self._call(rel, draw.choice(self._forms((*NAVIGATED, *RANKED) if total else RANKED)))
            for _ in range(draw.choice((1, 1, 2)))
        ]
        qualify = ""
        if total and draw.random() < 0.2:
            qualify = f" QUALIFY ROW_NUMBER() OVER ({self._over(rel, total=True)}) <= {draw.choice((1, 2))}"
        return self.derived(rel, more=more, qualify=qualify)

    def _forms(self, forms: Sequence[tuple[str, str, bool]], *, total: bool = True) -> Sequence[tuple[str, str, bool]]:
        few = [form for form in forms if not (self.exact and form[1].startswith(INEXACT))]
        if self.exact and not total:
            few = [form for form in few if "{O}" not in form[1]]
        return sorted(self.draw.sample(few, min(6, len(few))), key=lambda form: self.used[f"inner {form[1]}"])[:2]

    def _call(self, rel: Rel, form: tuple[str, str, bool]) -> tuple[str, str, bool]:
        """(letter, SQL, bounded) of an aggregate or window call over columns of the relation."""
        letter, template, bounded = form
        self.used[f"inner {template}"] += 1
        any_ = self.draw.choice(rel.cols) if rel.cols else Col(sql="1", letter="I", bounded=True)
        if letter == "*":
            letter, bounded = any_.letter, any_.bounded
        ranked = template in {t for _, t, _ in RANKED}
        sql = template.replace("{A}", any_.sql).replace("{B}", self.condition(rel, depth=0))
        sql = (
            sql.replace("{L}", self.bounded(rel))
            .replace("{I}", self.one(rel, "I", "1"))
            .replace("{P}", f"PARTITION BY {rel.units[0]}")
        )
        sql = sql.replace("{O}", self._total_order(rel)).replace("{W}", self._over(rel, total=not ranked))
        return letter, sql, bounded

    def _over(self, rel: Rel, *, total: bool) -> str:
        keys = [rel.units[0], *(c.sql for c in rel.of("TBI") if self.draw.random() < 0.08)]
        order = [c.sql + self.draw.choice(("", " DESC", " DESC NULLS LAST", " NULLS FIRST")) for c in self.some(rel, 2)]
        if self.exact and total:
            order += list(rel.apart or ())
        return f"PARTITION BY {', '.join(keys)} ORDER BY {', '.join(order or [rel.units[0]])}"

    def _total_order(self, rel: Rel) -> str:
        return (
            ", ".join([*(c.sql for c in self.some(rel, 1)), *((rel.apart or ()) if self.exact else ())]) or rel.units[0]
        )
