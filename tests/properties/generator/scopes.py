"""What may stand in FROM, and random conditions and numbers over it."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.properties.generator.expressions import CONSTANTS, Expressions
from tests.properties.generator.tables import BY_TABLE, MINE, TABLES, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Col:
    """sql: how it is written in this scope. origin: table.column where it is one unchanged."""

    sql: str
    letter: str
    bounded: bool = False
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rel:
    """text: the FROM. where: conditions it needs in WHERE. units: columns that are the unit. apart: columns that together
    tell the rows apart (None: nothing does). base: the table it is. single: it has a name of its own. comma: a list."""

    text: str
    cols: tuple[Col, ...]
    units: tuple[str, ...] = ()
    apart: tuple[str, ...] | None = None
    where: tuple[str, ...] = ()
    base: str = ""
    single: bool = False
    comma: bool = False
    private: bool = True

    def of(self, letters: str) -> list[Col]:
        return [c for c in self.cols if c.letter in letters]

    def origin(self, name: str) -> str | None:
        return next((c.sql for c in self.cols if c.origin == name), None)


BOUNDED = {
    column.name for table in (*TABLES, MINE) for column in table.columns if "lower" in column.declared(random.Random(0))
}
KEYS = ("v.id", "t.id", "t.line", "w.id", "w.line")


class Scopes:
    """Tables and derived tables with what goes over their columns; the steps from one Rel to the next are subclasses'.

    exact: only what DuckDB determines: total orders where ties matter.
    """

    def __init__(self, draw: random.Random, *, exact: bool = False, used: Counter[str] | None = None) -> None:
        self.draw = draw
        self.exact = exact
        self.used: Counter[str] = Counter() if used is None else used
        self._names = itertools.count()

    def relation(self, depth: int, *, unit: bool = False) -> Rel:
        """A private relation; unit: one with the unit among its columns."""
        raise NotImplementedError

    def table(self, name: str, spec: Table | None = None) -> Rel:
        table = spec or BY_TABLE[name]
        alias = self.fresh(name)
        cols = [
            *(Col(sql=f"{alias}.{k}", letter="I", origin=f"{name}.{k}") for k in table.keys),
            *(
                Col(sql=f"{alias}.{c.name}", letter=c.letter, bounded=c.name in BOUNDED, origin=f"{name}.{c.name}")
                for c in table.columns
            ),
        ]
        units = (f"{alias}.u",) if table.unit else ()
        return Rel(
            text=f"{name} AS {alias}",
            cols=tuple(cols),
            units=units,
            apart=(f"{alias}.{table.number}",),
            base=name,
            private=not table.public,
        )

    def derived(
        self, rel: Rel, *, more: Sequence[tuple[str, str, bool]] = (), conditions: Sequence[str] = (), qualify: str = ""
    ) -> Rel:
        """(SELECT columns, more FROM rel WHERE …) AS q: most of the columns, under names of their own."""
        name = self.fresh("q")
        kept = [c for c in rel.cols if c.origin in KEYS or self.draw.random() < 0.8]
        cols = [(replace(c, sql=f"c{n}"), c.sql) for n, c in enumerate(kept)]
        cols += [
            (Col(sql=f"e{n}", letter=letter, bounded=bounded), sql) for n, (letter, sql, bounded) in enumerate(more)
        ]
        units = rel.units[:1]
        apart = [(f"o{n}", sql) for n, sql in enumerate(rel.apart or ())] if self.exact else []
        items = [*(f"{sql} AS u{n}" for n, sql in enumerate(units)), *(f"{sql} AS {c.sql}" for c, sql in cols)]
        items += [f"{sql} AS {o}" for o, sql in apart]
        text = f"SELECT {', '.join(items) or '1 AS one'} FROM {self.whole(rel, conditions)}{qualify}"
        return Rel(
            text=f"({text}) AS {name}",
            cols=tuple(replace(c, sql=f"{name}.{c.sql}") for c, _ in cols),
            units=tuple(f"{name}.u{n}" for n in range(len(units))),
            apart=tuple(f"{name}.{o}" for o, _ in apart) if rel.apart is not None else None,
            single=True,
            private=rel.private,
        )

    def whole(self, rel: Rel, conditions: Sequence[str] = ()) -> str:
        tests = [*rel.where, *conditions]
        return rel.text + (
            f" WHERE {' AND '.join(f'({test})' if ' OR ' in test else test for test in tests)}" if tests else ""
        )

    def one(self, rel: Rel, letters: str, otherwise: str) -> str:
        columns = rel.of(letters)
        return self.draw.choice(columns).sql if columns else otherwise

    def bounded(self, rel: Rel) -> str:
        """A number with bounds, by the column or by a clamp."""
        texts = [c.sql for c in rel.of("IMX") if c.bounded]
        free = rel.of("IMX")
        if free and (not texts or self.draw.random() < 0.3):
            clamp = self.draw.choice(
                ("LEAST(GREATEST({}, -3), 7)", "GREATEST(LEAST({}, 5), 2)", "LEAST(GREATEST({}, 0), 4)")
            )
            return clamp.format(self.draw.choice(free).sql)
        if texts and self.draw.random() < 0.9:
            return self.draw.choice(texts)
        return f"CASE WHEN {self.condition(rel, depth=0)} THEN 1 ELSE 0 END"

    def some(self, rel: Rel, most: int) -> list[Col]:
        return self.draw.sample(list(rel.cols), min(len(rel.cols), self.draw.randint(1, most)))

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self._names)}"

    def condition(self, rel: Rel, *, depth: int = 1) -> str:
        """Over the relation's own columns."""
        draw = self.draw
        if depth > 0 and draw.random() < (0.15 if self.exact else 0.3):
            columns = {letter: [c.sql for c in rel.of(letter)] for letter in "IMXBDT"}
            return Expressions(draw, columns, self.used).of("B", 1)
        if depth > 0 and draw.random() < 0.3:
            one, other = self.condition(rel, depth=0), self.condition(rel, depth=0)
            return f"({one} {draw.choice(('OR', 'AND NOT'))} {other})"
        usable = [c for c in rel.cols if c.letter in CONSTANTS]
        if not usable:
            return "1 = 1"
        c = draw.choice(usable)
        if c.letter == "B":
            return c.sql if draw.random() < 0.5 else f"{c.sql} IS NOT TRUE"
        constant = draw.choice(CONSTANTS[c.letter])
        kind = draw.random()
        if kind < 0.15:
            return f"{c.sql} IS {draw.choice(('NULL', 'NOT NULL'))}"
        if kind < 0.25:
            return f"{c.sql} NOT IN ({constant}, {draw.choice(CONSTANTS[c.letter])})"
        return f"{c.sql} {draw.choice(('>', '>=', '<', '<=', '<>', '>', '>=', '='))} {constant}"
