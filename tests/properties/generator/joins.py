"""Random joins: private with public rows, private with private ones on the unit and along paths."""

from __future__ import annotations

from dataclasses import replace

from tests.properties.generator.scopes import Col, Rel
from tests.properties.generator.subqueries import Subqueries
from tests.properties.generator.tables import BY_TABLE, MINE

# tables joined by USING, and the columns
CHAINS = (
    *((("p", "v"), ("u",)), (("v", "p"), ("u",)), (("v", "t"), ("id",)), (("t", "v"), ("id",)), (("v", "b"), ("k",))),
    *(
        (("t", "w"), ("id, line",)),
        (("t", "b"), ("code",)),
        (("p", "v", "t"), ("u", "id")),
        (("v", "t", "b"), ("id", "k")),
    ),
)
OUTER = ("JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


class Joins(Subqueries):
    def joined(self, depth: int) -> Rel:
        """Private ⋈ private: on the unit, or along a path."""
        draw = self.draw
        left = self._side(self.relation(depth))
        ways: list[tuple[str, tuple[tuple[str, str], ...]]] = []
        if left.origin("v.id") is not None:
            ways.append(("t", (("v.id", "t.id"),)))
        if left.origin("t.id") is not None:
            ways += [("v", (("t.id", "v.id"),)), ("t", (("t.id", "t.id"),))]
        if left.origin("t.line") is not None and left.origin("t.id") is not None:
            ways.append(("w", (("t.id", "w.id"), ("t.line", "w.line"))))
        if left.origin("w.line") is not None and left.origin("w.id") is not None:
            ways.append(("t", (("w.id", "t.id"), ("w.line", "t.line"))))
        if ways and (not left.units or draw.random() < 0.5):
            return self._along(left, *draw.choice(ways))
        if not left.units:
            return self.with_public(depth, left)
        return self._on_unit(left, self.atom(self.relation(depth, unit=True)))

    def _on_unit(self, left: Rel, right: Rel) -> Rel:
        draw = self.draw
        if left.base and right.base and left.base != right.base and draw.random() < 0.4:
            return self.put(left, right, draw.choice(OUTER), draw.choice(("USING (u)", "NATURAL")))
        on = f"{draw.choice(left.units)} = {draw.choice(right.units)}"
        return self.put(left, right, self._kind(left), self._more(on, left, right))

    def _along(self, left: Rel, name: str, ties: tuple[tuple[str, str], ...]) -> Rel:
        right = self.table(name)
        if self.draw.random() < 0.3:
            right = self.filtered(0, right)
        if left.base and right.base and left.base != right.base and self.draw.random() < 0.3:
            using = f"USING ({', '.join(a.split('.')[1] for a, _ in ties)})"
            natural = "NATURAL" if {left.base, right.base} != {"v", "w"} and self.draw.random() < 0.3 else using
            return self.put(left, right, self.draw.choice(OUTER), natural)
        on = " AND ".join(f"{left.origin(a)} = {right.origin(b)}" for a, b in ties)
        return self.put(left, right, self._kind(left), self._more(on, left, right))

    def with_public(self, depth: int, left: Rel | None = None) -> Rel:
        """Private ⋈ public: the public rows multiply, or find nobody."""
        draw = self.draw
        if left is None:
            left = self.summary(depth) if draw.random() < 0.3 else self.relation(depth)
        left, right = self._side(left), self.public()
        kind = draw.choice((*("JOIN",) * 3, *("LEFT JOIN",) * 3, "CROSS JOIN", ",", "SEMI JOIN", "ANTI JOIN"))
        kind = self._allowed(kind, left)
        if kind == "CROSS JOIN":
            return self.put(left, right, kind, "")
        if (
            left.base in ("v", "t")
            and right.base == "b"
            and kind.endswith(("JOIN", "LEFT JOIN"))
            and draw.random() < 0.2
        ):
            key = "k" if left.base == "v" else "code"
            return self.put(left, right, kind, "NATURAL" if draw.random() < 0.4 else f"USING ({key})")
        on = self._more(self._equal(left, right), left, right)
        if kind == "LEFT JOIN" and draw.random() < 0.3 and left.base:
            return self.put(right, left, "RIGHT JOIN", on)
        return self.put(left, right, kind, on)

    def starred(self, depth: int) -> Rel:
        """(SELECT * FROM one JOIN two USING (…) …): each column under its own name, the merged ones once."""
        draw = self.draw
        names, keys = draw.choice(CHAINS)
        text, units, gone = names[0], BY_TABLE[names[0]].unit, set[str]()
        for name, key in zip(names[1:], keys, strict=True):
            table = BY_TABLE[name]
            kind = draw.choice(("JOIN", "LEFT JOIN") if table.public else OUTER)
            how = (
                f"NATURAL {kind} {name}" if draw.random() < 0.3 and len(names) == 2 else f"{kind} {name} USING ({key})"
            )
            text = f"{text} {how}"
            units = {"LEFT JOIN": units, "RIGHT JOIN": table.unit, "FULL JOIN": False}.get(kind, units or table.unit)
            gone |= {f"{one}.{c}" for one in names for c in key.split(", ")} if kind in OUTER[2:] else set()
        alias, tables = self.fresh("q"), [self.table(name) for name in names]
        shown = {c.origin.split(".")[1]: c for rel in reversed(tables) for c in rel.cols}
        cols = [replace(c, sql=f"{alias}.{n}", origin="" if c.origin in gone else c.origin) for n, c in shown.items()]
        return Rel(
            text=f"(SELECT * FROM {text}) AS {alias}",
            cols=tuple(cols),
            units=(f"{alias}.u",) if units else (),
            apart=tuple(f"{alias}.{BY_TABLE[name].number}" for name in names),
            single=True,
        )

    def summary(self, depth: int) -> Rel:
        """One row per unit, or per unit and keys."""
        raise NotImplementedError

    def public(self) -> Rel:
        chance = self.draw.random()
        if chance < 0.1:
            name = self.fresh("l")
            cols = (Col(sql=f"{name}.lk", letter="T"), Col(sql=f"{name}.lr", letter="I"))
            text = f"(VALUES ('x', 1), ('y', 2), ('x', 3)) AS {name}(lk, lr)"
            return Rel(text=text, cols=cols, apart=(cols[1].sql,), private=False)
        return self.table("b") if chance < 0.75 else self.table("mine", MINE)

    def _equal(self, left: Rel, right: Rel) -> str:
        """Equality of two columns of one kind; else a comparison."""
        pairs = [(a, b) for a in left.cols for b in right.cols if a.letter == b.letter and a.letter in "IT"]
        if not pairs:
            return self.condition(right, depth=0)
        a, b = self.draw.choice(pairs)
        return f"{a.sql} {'=' if self.draw.random() < 0.7 or a.letter == 'T' else '<='} {b.sql}"

    def _more(self, on: str, left: Rel, right: Rel) -> str:
        """Now and then another conjunct, over both sides."""
        one, other = left.of("IMX"), right.of("IMX")
        if self.draw.random() < 0.7 or not one or not other:
            return on
        return f"{on} AND {self.draw.choice(one).sql} <= {self.draw.choice(other).sql}"

    def _kind(self, left: Rel) -> str:
        return self._allowed(self.draw.choice((*OUTER, "JOIN", ",", "SEMI JOIN", "ANTI JOIN")), left)

    def _allowed(self, kind: str, left: Rel) -> str:
        """Conditions that wait for WHERE come after all joins, so there only inner ones go on."""
        if left.comma:
            return ","
        return "JOIN" if left.where and kind not in ("JOIN", ",", "CROSS JOIN") else kind

    def _side(self, rel: Rel) -> Rel:
        """As the left side of a join: as it is, or as a table of its own."""
        return rel if self.draw.random() < 0.5 else self.atom(rel)

    def atom(self, rel: Rel) -> Rel:
        return rel if rel.base or rel.single else self.derived(rel)

    def put(self, left: Rel, right: Rel, kind: str, how: str) -> Rel:
        """how: USING (…), NATURAL, a condition, or nothing."""
        if kind == ",":
            text, where = f"{left.text}, {right.text}", (*left.where, how)
        elif how == "NATURAL":
            text, where = f"{left.text} NATURAL {kind} {right.text}", left.where
        else:
            on = how if how.startswith("USING") or not how else f"ON {how}"
            text, where = f"{left.text} {kind} {right.text} {on}".strip(), left.where
        if kind in ("SEMI JOIN", "ANTI JOIN"):
            return replace(left, text=text, base="", single=False)
        units = {"LEFT JOIN": left.units, "RIGHT JOIN": right.units, "FULL JOIN": ()}.get(
            kind, left.units + right.units
        )
        apart = None if left.apart is None or right.apart is None else left.apart + right.apart
        return Rel(text=text, cols=left.cols + right.cols, units=units, apart=apart, where=where, comma=kind == ",")

    def filtered(self, depth: int, rel: Rel | None = None) -> Rel:
        rel = self.relation(depth) if rel is None else rel
        return self.derived(rel, conditions=[self.test(rel)])
