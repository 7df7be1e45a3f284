"""Conditions over other rows: IN and EXISTS over public rows and over the unit's own, scalar subqueries."""

from __future__ import annotations

from tests.properties.generator.scopes import Rel, Scopes


class Subqueries(Scopes):
    def test(self, rel: Rel) -> str:
        """What may stand in WHERE: a condition, or one over other rows."""
        draw = self.draw
        tests = [self._in_public, self._exists_public, self._any_public, self._looked_up]
        if rel.units:
            tests += [self._in_units, self._exists_of_unit, self._scalar_of_unit, self._any_of_unit]
            tests += [self._in_two_levels, self._by_any_condition]
        if rel.origin("v.id") or rel.origin("t.id"):
            tests += [self._along_path]
        return self.placed(draw.choice(tests)(rel), rel) if draw.random() < 0.45 else self.condition(rel)

    def placed(self, test: str, rel: Rel) -> str:
        """A test as a condition of its own, or in another condition: as a mark."""
        chance = self.draw.random()
        if chance < 0.6:
            return test
        other = self.condition(rel, depth=0)
        if chance < 0.8:
            return f"({test} OR {other})"
        return f"CASE WHEN {test} THEN {other} ELSE {self.condition(rel, depth=0)} END"

    def value(self, rel: Rel) -> str:
        """A test as a value: TRUE, FALSE or NULL."""
        tests = [self._in_public, self._exists_public, self._any_public]
        tests += [self._in_units, self._exists_of_unit, self._any_of_unit] if rel.units else []
        return f"({self.draw.choice(tests)(rel)})"

    def _not(self) -> str:
        return self.draw.choice(("", "NOT "))

    def _in_public(self, rel: Rel) -> str:
        one, other = self._pair(rel, b := self.table("b"))
        return f"{one} {self._not()}IN (SELECT {other} FROM {self.whole(b, [self.condition(b, depth=0)])})"

    def _exists_public(self, rel: Rel) -> str:
        one, other = self._pair(rel, b := self.table("b"))
        return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(b, [f'{other} = {one}', self.condition(b, depth=0)])})"

    def _pair(self, rel: Rel, other: Rel) -> tuple[str, str]:
        pairs = [(a.sql, b.sql) for a in rel.cols for b in other.cols if a.letter == b.letter]
        return self.draw.choice(pairs) if pairs else ("1", self.one(other, "I", "1"))

    def _compared(self, rel: Rel, other: Rel, where: list[str]) -> str:
        """x > ANY (SELECT y …)"""
        one, two = self._pair(rel, other)
        sign = self.draw.choice(("=", "<>", "<", "<=", ">", ">="))
        return f"{self._not()}{one} {sign} {self.draw.choice(('ANY', 'ALL'))} (SELECT {two} FROM {self.whole(other, where)})"

    def _any_public(self, rel: Rel) -> str:
        b = self.table("b")
        return self._compared(rel, b, [self.condition(b, depth=0)])

    def _looked_up(self, rel: Rel) -> str:
        """The value of one public row: the row's own, or the same for all."""
        b = self.table("b")
        number = (b.apart or ("",))[0]
        place = self.one(rel, "I", "3") if self.draw.random() < 0.7 else str(self.draw.choice((0, 1, 2, 99)))
        one, other = self._pair(rel, b)
        where = [f"{number} = {place}", *([self.condition(b, depth=0)] if self.draw.random() < 0.3 else [])]
        return f"{one} {self.draw.choice(('=', '<>', '>'))} (SELECT {other} FROM {self.whole(b, where)})"

    def _any_of_unit(self, rel: Rel) -> str:
        other = self.relation(0, unit=True)
        return self._compared(rel, other, [f"{other.units[0]} = {rel.units[0]}", self.condition(other, depth=0)])

    def _in_units(self, rel: Rel) -> str:
        other = self.relation(self.draw.choice((0, 0, 1)), unit=True)
        return f"{rel.units[0]} {self._not()}IN (SELECT {other.units[0]} FROM {self.whole(other, [self.condition(other)])})"

    def _exists_of_unit(self, rel: Rel) -> str:
        other = self.relation(self.draw.choice((0, 0, 1)), unit=True)
        tests = [f"{other.units[0]} = {rel.units[0]}", self.compare(rel, other)]
        return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(other, tests)})"

    def _scalar_of_unit(self, rel: Rel) -> str:
        other = self.relation(0, unit=True)
        call = self.draw.choice(("COUNT(*)", "MAX({})", "MIN({})")).format(self.one(other, "I", "1"))
        where = [f"{other.units[0]} = {rel.units[0]}", self.condition(other, depth=0)]
        return f"(SELECT {call} FROM {self.whole(other, where)}) >= {self.one(rel, 'I', '2')}"

    def _in_two_levels(self, rel: Rel) -> str:
        """Rows of the unit for which there are (or are not) others, by conditions on the outermost rows."""
        other, third = self.relation(0, unit=True), self.relation(0, unit=True)
        tests = [f"{third.units[0]} = {other.units[0]}", self.compare(other, third), self.compare(rel, third)]
        inner = f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(third, tests)})"
        where = [f"{other.units[0]} = {rel.units[0]}", inner]
        return f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(other, where)})"

    def _by_any_condition(self, rel: Rel) -> str:
        other = self.relation(0, unit=True)
        call = self.draw.choice(("COUNT(*)", "MAX({})", "MIN({})")).format(self.one(other, "I", "1"))
        where = [f"{other.units[0]} = {rel.units[0]}", self.compare(rel, other)]
        return f"(SELECT {call} FROM {self.whole(other, where)}) >= {self.one(rel, 'I', '2')}"

    def _along_path(self, rel: Rel) -> str:
        ends = [(a, b) for a, b in (("v.id", "t"), ("t.id", "v"), ("t.id", "t")) if rel.origin(a)]
        a, b = self.draw.choice(ends)
        other = self.table(b)
        tied, theirs = rel.origin(a), other.origin(f"{b}.id")
        if self.draw.random() < 0.4:
            return f"{tied} IN (SELECT {theirs} FROM {self.whole(other, [self.condition(other, depth=0)])})"
        return (
            f"{self._not()}EXISTS (SELECT 1 FROM {self.whole(other, [f'{theirs} = {tied}', self.compare(rel, other)])})"
        )

    def compare(self, rel: Rel, other: Rel) -> str:
        one, two = rel.of("IMX"), other.of("IMX")
        if not one or not two:
            return self.condition(other, depth=0)
        return f"{self.draw.choice(two).sql} {self.draw.choice(('>', '<=', '<>'))} {self.draw.choice(one).sql}"
