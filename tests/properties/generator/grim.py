"""Statements that try what inference may get wrong; half of all statements are grim, and each says in which modes.

1  reals that escape the interval they seem to have: (x + 1e18) − 1e18, x·1e300·1e300, w ÷ w; cast, rounded, as keys
2  −0.0 and NaN made by expressions, through windows, summaries and groups, and told apart afterwards
3  composite paths, keys that repeat and that two units own, two and three steps to the unit
4  one table twice and three times, path columns from several of them; EXISTS, NOT EXISTS, NOT IN
5  metadata that is not so: keys outside the list, `unique` that is not, bounds exceeded, NULL where there is none
6  what makes NULL over a column that WHERE has narrowed, then COALESCE(…, 1000) and a narrow CAST
7  bounds at 2^31, 2^53, 2^62, 2^63 − 1

To cover a new construct, add a line to its list, or a step.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.properties.generator.grim_tables import BY_GRIM
from tests.properties.generator.relations import Relations
from tests.properties.generator.scopes import Col, Rel
from tests.properties.generator.statements import Statements
from tests.properties.generator.tables import Table

MODES = (1, 2, 3, 4, 5, 6, 7)
# {X} {Y} reals, {I} an integer, {B} a condition, {W} an integer with far bounds
ESCAPING = (
    "(({X} + 1e18) - 1e18)",
    "(({X} + 1e18) - 1e18 - 100e0)",
    "({X} * 1e300 * 1e300)",
    "({X} / {X})",
    "(1e-300 * 1e-300 / {X})",
    "SIN({X} / {Y})",
    "((CASE WHEN {B} THEN 1e2 ELSE 0e0 END + 1e18) - 1e18)",
    "(GREATEST({X}, 0e0) * 1e300 * {I})",
    "EXP({X})",
)
ROUNDED = (
    "FLOOR({})",
    "LEAST(GREATEST({}, 0), 3)",
    "FLOOR(LEAST(GREATEST({}, 0), 3))",
    "CAST({} AS TINYINT)",
    "CAST({} AS INTEGER)",
    "CAST(CAST({} AS DECIMAL(9, 2)) AS SMALLINT)",
    "CASE WHEN {} > 1 THEN 1 ELSE 0 END",
    "SIGN({})",
)
ZEROS = (
    "({X} * {Y})",
    "(0e0 * {X})",
    "SQRT({X})",
    "(-{X})",
    "({X} - {X})",
    "LN({X})",
    "(CASE WHEN {B} THEN {X} * 0e0 ELSE -0.0e0 END)",
    "({X} * 1e308 * 10 - {X} * 1e308 * 10)",
)
TOLD_APART = (
    "1 / {} > 0",
    "COALESCE({}, -1e0) = -1e0",
    "{} IS NULL",
    "ISNAN({})",
    "CAST({} AS VARCHAR) LIKE '-%'",
    "ATAN2({}, -1e0) > 0",
)
TIED = (  # windows over rows that tie; {E} the expression's column, {K} some other
    "FIRST_VALUE({E}) OVER (PARTITION BY {U} ORDER BY {K})",
    "LAST_VALUE({E}) OVER (PARTITION BY {U} ORDER BY {K})",
    "NTH_VALUE({E}, 2) OVER (PARTITION BY {U} ORDER BY {K})",
    "LAG({E}) OVER (PARTITION BY {U} ORDER BY {K})",
    "LEAD({E}, 1, {E}) OVER (PARTITION BY {U} ORDER BY {K})",
    "MIN({E}) OVER (PARTITION BY {U})",
    "MAX({E}) OVER (PARTITION BY {U} ORDER BY {E})",
    "CASE WHEN ROW_NUMBER() OVER (PARTITION BY {U} ORDER BY {K}) = 1 THEN {E} END",
    "RANK() OVER (PARTITION BY {U} ORDER BY {E}) * {E}",
    "COUNT(*) OVER (PARTITION BY {U}, {E}) * {E}",
)
SUMMED = (
    "MIN({E})",
    "MAX({E})",
    "ANY_VALUE({E})",
    "MODE({E})",
    "FIRST({E} ORDER BY {K})",
    "LAST({E} ORDER BY {K})",
    "ARG_MIN({E}, {K})",
    "ARG_MAX({E}, {E})",
    "MEDIAN({E})",
    "QUANTILE_DISC({E}, 0.5)",
    "MIN({E}) FILTER (WHERE {B})",
)
BROKEN = (  # per unit, over o: what is declared of fl, oc, un and big is not so
    ("I", "COUNT(DISTINCT {U}.oc)"),
    ("I", "COUNT(DISTINCT {U}.un)"),
    ("I", "COUNT(*) FILTER (WHERE {U}.fl > 0)"),
    ("I", "COUNT({U}.fl)"),
    ("I", "MAX({U}.fl)"),
    ("I", "SUM({U}.fl)"),
    ("I", "MIN({U}.un)"),
)
AFTER = (  # {} is an integer that seems small
    "CAST({} AS TINYINT) >= 0",
    "CAST({} AS TINYINT) + CAST(100 AS TINYINT) > 0",
    "CAST(COALESCE({}, 1000) AS TINYINT) > 0",
    "COALESCE({}, 1000) * 9223372036854775807 > 0",
    "CAST(COALESCE({}, 1000) AS SMALLINT) <> 5",
    "COALESCE({}, 1000) // ({} - 1) > 0",
    "CAST(COALESCE(-{}, -1000) AS TINYINT) < 0",
    "COALESCE({}, 1000) < 500",
)
FAR = (
    "({W} + {W})",
    "({W} * 3)",
    "(-{W})",
    "ABS({W})",
    "CAST({W} AS INTEGER)",
    "({W} - {I})",
    "({W} // ({I} - 1))",
    "({W} % ({I} - 1))",
    "CAST({W} AS DOUBLE)",
    "(CAST({W} AS DOUBLE) + 1)",
)


class GrimRelations(Relations):
    """grim: whether this statement is one. modes: those it met so far."""

    def __init__(self, draw: random.Random, *, used: Counter[str] | None = None) -> None:
        super().__init__(draw, used=used)
        self.grim = False
        self.modes: set[int] = set()

    def relation(self, depth: int, *, unit: bool = False) -> Rel:
        if not self.grim or self.draw.random() < 0.3:
            return super().relation(depth, unit=unit)
        steps = [self.tied, self.tied, self.nulls, self.nulls, self.broken, self.instances, self.wide]
        if not unit:
            steps += [self.down, self.down, self.instances]
        return self.draw.choice(steps)()

    def table(self, name: str, spec: Table | None = None) -> Rel:
        if name not in BY_GRIM:
            return super().table(name, spec)
        rel = super().table(name, BY_GRIM[name])
        bounded = {c.name for c in BY_GRIM[name].columns if "lower" in c.declared(self.draw)} | {"big"}
        return replace(rel, cols=tuple(replace(c, bounded=c.sql.split(".")[1] in bounded) for c in rel.cols))

    def condition(self, rel: Rel, *, depth: int = 1) -> str:
        if not self.grim or self.draw.random() > 0.3:
            return super().condition(rel, depth=depth)
        if rel.origin("o.big") and self.draw.random() < 0.4:
            return f"{self.far(rel)} {self.draw.choice(('>', '<=', '<>'))} {self.draw.choice(('0', '7', '2147483648'))}"
        if rel.of("X"):
            self.modes.add(1)
            rounded = self.draw.choice(ROUNDED).replace("{}", self.escaping(rel))
            return f"{rounded} {self.draw.choice(('>', '<=', '=', 'IS DISTINCT FROM'))} {self.draw.choice('0123')}"
        return super().condition(rel, depth=depth)

    def bounded(self, rel: Rel) -> str:
        if not self.grim or self.draw.random() > 0.3:
            return super().bounded(rel)
        if rel.of("X") and self.draw.random() < 0.6:
            self.modes.add(1)
            return f"LEAST(GREATEST({self.escaping(rel)}, -3), 7)"
        if rel.origin("o.big"):
            return f"LEAST(GREATEST({self.far(rel)}, -3), 7)"
        return super().bounded(rel)

    def escaping(self, rel: Rel) -> str:
        return self.filled(self.draw.choice(ESCAPING), rel)

    def far(self, rel: Rel) -> str:
        self.modes.add(7)
        return self.filled(self.draw.choice(FAR), rel)

    def filled(self, template: str, rel: Rel, **more: str) -> str:
        """The holes {X}, {Y}, {I}, {B}, {W}, {K} by columns of the relation."""
        grim, self.grim = self.grim, False  # one escape at a time
        holes = {
            "X": self.one(rel, "X", "1e0"),
            "Y": self.one(rel, "X", "0e0"),
            "I": self.one(rel, "I", "2"),
            "B": self.condition(rel, depth=0),
            "K": self.one(rel, "TIBDM", "1"),
            "W": rel.origin("o.big") or "9223372036854775807",
            **more,
        }
        self.grim = grim
        for hole, text in holes.items():
            template = template.replace(f"{{{hole}}}", text)
        return template

    # --- steps ----------------------------------------------------------------------------------------------------------

    def with_unit(self) -> Rel:
        """A table with the unit among its columns."""
        return self.table(self.draw.choice("oopv"))

    def tied(self) -> Rel:
        """Mode 2: made, tied or grouped, and told apart."""
        draw = self.draw
        self.modes.add(2)
        made = self.with_column(self.with_unit(), lambda rel: self.filled(draw.choice(ZEROS), rel))
        made_column, unit = made.cols[-1].sql, made.units[0]
        chance = draw.random()
        if chance < 0.45:
            text = self.filled(draw.choice(TIED), made, E=made_column, U=unit)
            tied_rel = self.derived(made, more=[("X", text, False)])
        elif chance < 0.85:
            tied_rel = self.grouped(made, [self.filled(draw.choice(SUMMED), made, E=made_column)], letter="X")
        else:
            tied_rel = self.grouped(made, [made_column], letter="X", keys=[made_column])
        told = draw.choice(TOLD_APART).replace("{}", tied_rel.cols[-1].sql)
        return self.derived(tied_rel, conditions=[told])

    def with_column(self, rel: Rel, make: Callable[[Rel], str]) -> Rel:
        return self.derived(rel, more=[("X", make(rel), False)])

    def grouped(self, rel: Rel, calls: Sequence[str], *, letter: str, keys: Sequence[str] = ()) -> Rel:
        """One row per unit (and keys), the calls as its columns."""
        name, unit = self.fresh("q"), rel.units[0]
        items = ", ".join(f"{call} AS e{n}" for n, call in enumerate(calls))
        by = ", ".join([unit, *keys])
        text = f"(SELECT {unit} AS u0, {items} FROM {self.whole(rel)} GROUP BY {by}) AS {name}"
        cols = tuple(Col(sql=f"{name}.e{n}", letter=letter) for n in range(len(calls)))
        return Rel(text=text, cols=cols, units=(f"{name}.u0",), single=True)

    def broken(self) -> Rel:
        """Mode 5: what a unit's rows cannot be by the metadata, and are."""
        draw = self.draw
        self.modes.add(5)
        rel = self.table("o")
        if draw.random() < 0.5:
            letter, call = draw.choice(BROKEN)
            broken_rel = self.grouped(rel, [call.replace("{U}", rel.text.split()[-1])], letter=letter)
        else:
            keys = draw.sample(["un", "oc", "fl"], draw.choice((1, 2)))
            group_keys = [rel.origin(f"o.{key}") or "1" for key in keys]
            broken_rel = self.grouped(rel, [f"MAX({rel.origin('o.fl')})"], letter="I", keys=group_keys)
        return self.derived(broken_rel, conditions=[draw.choice(AFTER).replace("{}", broken_rel.cols[-1].sql)])

    def nulls(self) -> Rel:
        """Mode 6: an integer narrowed by WHERE, made NULL, then COALESCE and a narrow CAST."""
        draw = self.draw
        self.modes.add(6)
        rel = self.table(draw.choice("vo"))
        column = rel.origin("v.j") or rel.origin("o.fl") or "1"
        if rel.base == "o" and draw.random() < 0.5:
            column = rel.origin("o.un") or column
        narrow = f"{column} < {draw.choice('234')}"
        chance, unit = draw.random(), rel.units[0]
        if chance < 0.4:
            null_rel, made = self._null_by_join(rel, column, narrow)
        elif chance < 0.7:
            more = self._null_by_window(column, unit, rel)
            null_rel = self.derived(rel, more=[("I", more, False)], conditions=[narrow])
            made = null_rel.cols[-1].sql
        else:
            call = draw.choice(
                (f"MAX({column}) FILTER (WHERE {column} > 1)", f"MIN({column}) FILTER (WHERE {column} > 9)")
            )
            one = f"CASE WHEN {column} > 1 THEN {column} END"
            null_rel = self.derived(
                rel, more=[("I", draw.choice((one, f"NULLIF({column}, 1)")), False)], conditions=[narrow]
            )
            made = null_rel.cols[-1].sql
            if draw.random() < 0.6:
                narrowed = replace(rel, where=(*rel.where, narrow))
                null_rel = self.grouped(narrowed, [call], letter="I")
                made = null_rel.cols[-1].sql
        return self.derived(null_rel, conditions=[draw.choice(AFTER).replace("{}", made)])

    def _null_by_join(self, rel: Rel, column: str, narrow: str) -> tuple[Rel, str]:
        draw = self.draw
        name = self.fresh("q")
        unit = rel.units[0]
        text = f"(SELECT {unit} AS u0, {column} AS e0 FROM {self.whole(rel, [narrow])}) AS {name}"
        right = Rel(text=text, cols=(Col(sql=f"{name}.e0", letter="I"),), units=(f"{name}.u0",), single=True)
        left = self.with_unit()
        kind = draw.choice(("LEFT JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
        if kind == "FULL JOIN":
            both = f"{left.text} FULL JOIN {right.text} ON {left.units[0]} = {right.units[0]}"
            alias = self.fresh("q")
            inner = (
                f"(SELECT COALESCE({left.units[0]}, {right.units[0]}) AS u0, {name}.e0 AS e0 FROM {both}) AS {alias}"
            )
            cols = (Col(sql=f"{alias}.e0", letter="I"),)
            return Rel(text=inner, cols=cols, units=(f"{alias}.u0",), single=True), f"{alias}.e0"
        if kind == "RIGHT JOIN":
            joined = self.put(right, left, kind, f"{left.units[0]} = {right.units[0]}")
            return joined, f"{name}.e0"
        joined = self.put(left, right, kind, f"{left.units[0]} = {right.units[0]} AND {self.condition(left, depth=0)}")
        return joined, f"{name}.e0"

    def _null_by_window(self, column: str, unit: str, rel: Rel) -> str:
        order = self.one(rel, "TIBDM", "1")
        return self.draw.choice(
            (
                f"LAG({column}) OVER (PARTITION BY {unit} ORDER BY {order})",
                f"LAG({column}, 1, 1000) OVER (PARTITION BY {unit} ORDER BY {order})",
                f"LEAD({column}, 2) OVER (PARTITION BY {unit} ORDER BY {order})",
                f"NTH_VALUE({column}, 2) OVER (PARTITION BY {unit} ORDER BY {order})",
                f"MAX({column}) OVER (PARTITION BY {unit} ORDER BY {order} ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING)",
                f"FIRST_VALUE({column}) OVER (PARTITION BY {unit} ORDER BY {order}"
                " ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
                f"SUM({column}) OVER (PARTITION BY {unit} ORDER BY {order} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
            )
        )

    def wide(self) -> Rel:
        """Mode 7: integers with bounds at the ends of 32, 53, 62 and 63 bits."""
        rel = self.table("o")
        made = self.with_column(rel, lambda one: f"CAST({self.far(one)} AS DOUBLE)")
        integers = self.far(made) if made.origin("o.big") else "1"
        return self.derived(made, more=[("I", integers, False)])

    def down(self) -> Rel:
        """Mode 3: tables that have their unit from others, joined along the path or not at all."""
        draw = self.draw
        self.modes.add(3)
        name = draw.choice("ceehh")
        rel = self.table(name)
        chance = draw.random()
        if chance < 0.35:
            return rel
        above = {"c": ("o", ("k1", "k2")), "e": ("c", ("k1", "q")), "h": ("e", ("m",))}
        through, on = above[name]
        other = self.table(through)
        tie = " AND ".join(f"{rel.origin(f'{name}.{c}')} = {other.origin(f'{through}.{c}')}" for c in on)
        if chance < 0.6:
            kind = draw.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            return self.put(*draw.choice(((rel, other), (other, rel))), kind, self._more(tie, rel, other))
        asked, inner = draw.choice(((rel, other), (other, rel)))
        tests = [tie, self.condition(inner, depth=0)]
        exists = f"{draw.choice(('', 'NOT '))}EXISTS (SELECT 1 FROM {self.whole(inner, tests)})"
        return replace(asked, where=(*asked.where, self.placed(exists, asked)))

    def instances(self) -> Rel:
        """Mode 4: one table two or three times; path columns of one of them, or of several."""
        draw = self.draw
        self.modes.add(4)
        name = draw.choice("oov")
        sides = [self.table(name) for _ in range(draw.choice((2, 2, 3)))]
        rel = sides[0]
        for side in sides[1:]:
            kind = draw.choice(("JOIN", "JOIN", "LEFT JOIN"))
            rel = self.put(rel, side, kind, self._more(f"{draw.choice(rel.units)} = {side.units[0]}", rel, side))
        one, other = draw.sample(sides, 2)
        tests = (
            [self._of_unit] if name == "v" else [self._of_unit, self._below, self._below, self._in_below, self._across]
        )
        test = draw.choice(tests)(one, other)
        if name == "o" and draw.random() < 0.3:
            self.modes.add(3)
            item = self.table("c")
            tie = f"{one.origin('o.k1')} = {item.origin('c.k1')} AND {one.origin('o.k2')} = {item.origin('c.k2')}"
            rel = self.put(rel, item, draw.choice(("JOIN", "LEFT JOIN")), tie)
        return replace(rel, where=(*rel.where, self.placed(test, rel)))

    def _of_unit(self, rel: Rel, other: Rel) -> str:
        """Of the unit's own rows in the same table: EXISTS, NOT EXISTS, IN, NOT IN."""
        inner = self.table(rel.base)
        unit, units = inner.units[0], rel.units[0]
        tests = [f"{unit} = {units}", self.compare(other, inner), self.condition(inner, depth=0)]
        if self.draw.random() < 0.5:
            return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(inner, tests)})"
        return f"{units} {self._not()}IN (SELECT {unit} FROM {self.whole(inner, tests[2:])})"

    def _below(self, rel: Rel, other: Rel) -> str:
        """Of rows that the path gives to this very row."""
        inner = self.table("c")
        ties = [f"{inner.origin(f'c.{k}')} = {rel.origin(f'o.{k}')}" for k in ("k1", "k2")]
        tests = [*ties, self.compare(other, inner), self.condition(inner, depth=0)]
        return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(inner, tests)})"

    def _in_below(self, rel: Rel, other: Rel) -> str:
        inner = self.table("c")
        tie = f"{inner.origin('c.k2')} = {rel.origin('o.k2')}"
        return f"{rel.origin('o.k1')} IN (SELECT {inner.origin('c.k1')} FROM {self.whole(inner, [tie])})"

    def _across(self, rel: Rel, other: Rel) -> str:
        """Path columns of two rows: nobody's path. Refused, or no more than the unit's own."""
        inner = self.table("c")
        ties = [f"{inner.origin('c.k1')} = {rel.origin('o.k1')}", f"{inner.origin('c.k2')} = {other.origin('o.k2')}"]
        return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(inner, ties)})"


class GrimStatements(Statements):
    """Half of the statements are grim; `modes` are those of the last one."""

    def __init__(self, draw: random.Random, *, used: Counter[str] | None = None) -> None:
        super().__init__(draw, used=used)
        self.relations: GrimRelations = GrimRelations(draw, used=self.used)

    @property
    def modes(self) -> set[int]:
        return self.relations.modes

    def statement(self) -> str:
        self.relations.modes = set()
        self.relations.grim = self.draw.random() < 0.5
        return super().statement()

    def _fill(self, template: str, rel: Rel) -> str:
        draw, relations = self.draw, self.relations
        if template != "{K}" or not relations.grim or draw.random() < 0.7:
            return super()._fill(template, rel)
        if rel.origin("o.big") and draw.random() < 0.5:
            relations.modes.add(7)
            return draw.choice(("{} % 2", "-{}", "{} // 4611686018427387904", "{}")).replace(
                "{}", rel.origin("o.big") or ""
            )
        if rel.of("X"):
            relations.modes.add(1)
            return f"FLOOR(LEAST(GREATEST({relations.escaping(rel)}, 0), 3))"
        return super()._fill(template, rel)
