"""Functions of DuckDB around private aggregates in one SELECT: the aggregates and keys are a query of their own, below what
else the SELECT says.

    SELECT list_value(COUNT(*), 1) AS l FROM visits GROUP BY ward HAVING COUNT(*) > 5
    ->  SELECT COUNT(*) FROM visits GROUP BY ward,  and over its rows  SELECT list_value(c0, 1) AS l … WHERE c0 > 5

An aggregate that is an item of the SELECT list by itself has the item's name below, too; others have that which DuckDB would
give them. So accuracy can be asked for by name. With intervals, the ends of such an item stand beside it. What is below
keeps its places in the text. Where that does not go, nothing is lifted and the planner's refusal stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dpsql.catalog.model import fold
from dpsql.sql.lifted import Item, Lifted, NotLiftable, quoted, unquoted
from dpsql.sql.pieces import Piece

_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET")
_BELOW = ("FROM", "WHERE", "GROUP")
_NEVER = frozenset("UNION INTERSECT EXCEPT USING TABLESAMPLE ROLLUP CUBE GROUPING INTO".split())
_NO_ALIAS = frozenset("END NULL TRUE FALSE".split())
LONGEST = 1_000  # pieces
Names = Callable[[tuple[str, ...]], tuple[str | None, ...]]


@dataclass(slots=True)
class Lifting:
    """text, read: a query and its pieces. aggregates: names of those that dpsql releases; others: of all that DuckDB has.
    printed: how DuckDB prints expressions, which is how it names them. intervals: whether ends of intervals are columns
    beside the numbers of what is below."""

    text: str
    read: list[Piece]
    aggregates: frozenset[str]
    others: frozenset[str]
    printed: Names
    name: str
    intervals: bool = False
    units: list[tuple[int, int]] = field(default_factory=list)  # what is lifted, in its order
    columns: list[str] = field(default_factory=list)
    clauses: dict[str, tuple[int, int]] = field(default_factory=dict)

    def lifted(self) -> Lifted | None:
        try:
            return self._lifted()
        except (NotLiftable, IndexError):  # the text ends too early
            return None

    def _lifted(self) -> Lifted:
        if len(self.read) > LONGEST:
            raise NotLiftable
        select = self._select()
        items = self._items(select)
        for item in items:
            self.units += self._calls(item.begin, item.end)
        keys = self._keys(items)
        self.units = sorted({*self.units, *(unit for unit in keys.values())})
        if not self.units or any(a[1] > b[0] for a, b in zip(self.units, self.units[1:], strict=False)):
            raise NotLiftable
        if any(item.alias and self._means_another(item) for item in items):
            raise NotLiftable
        self._name_columns(items)
        return Lifted(self._below(select, keys), self._above(select, items), tuple(self.columns))

    def _name_columns(self, items: Sequence[Item]) -> None:
        """c0, c1, … for keys; the item's name for an aggregate that is one, else DuckDB's, if nothing else is called so."""
        self.columns = [f"c{number}" for number in range(len(self.units))]
        named = [unquoted(self._named(item)) for item in items]
        by_unit = {(item.begin, item.end): name for item, name in zip(items, named, strict=True)}
        often = Counter(map(fold, named))
        for number, unit in enumerate(self.units):
            (printed,) = self.printed((self.text[self.read[unit[0]].start : self.read[unit[1] - 1].end],))
            name = by_unit.get(unit, printed)
            if name is None or not self._is_call(unit) or often[fold(name)] != (unit in by_unit):
                continue
            if fold(name) not in {fold(column) for column in self.columns}:
                self.columns[number] = name

    def _is_call(self, unit: tuple[int, int]) -> bool:
        return unit in self._calls(*unit)

    def _means_another(self, item: Item) -> bool:
        """Whether its alias is the name of another key: ORDER BY could mean either."""
        named = [fold(unquoted(item.alias))]
        return any(self._said(*unit) == named and unit != (item.begin, item.end) for unit in self.units)

    def _select(self) -> int:
        """The outermost SELECT; the clauses after it are found here."""
        top = [at for at, piece in enumerate(self.read) if piece.depth == 0]
        if any(self.read[at].word in _NEVER for at in top) or "SELECT" not in [self.read[at].word for at in top]:
            raise NotLiftable
        select = next(at for at in top if self.read[at].word == "SELECT")
        marks = [at for at in top if at > select and self.read[at].word in _CLAUSES and not self._is_distinct_from(at)]
        if not marks:
            raise NotLiftable
        for at, end in zip(marks, [*marks[1:], len(self.read)], strict=True):
            if self.read[at].word in self.clauses:
                raise NotLiftable
            self.clauses[self.read[at].word] = (at, end)
        if "FROM" not in self.clauses or select > marks[0]:
            raise NotLiftable
        return select

    def _is_distinct_from(self, at: int) -> bool:
        return self.read[at].word == "FROM" and self.read[at - 1].word == "DISTINCT"

    def _split(self, begin: int, end: int) -> list[tuple[int, int]]:
        """At the commas."""
        ends = [at for at in range(begin, end) if self.read[at].text == "," and self.read[at].depth == 0]
        parts = list(zip([begin, *(at + 1 for at in ends)], [*ends, end], strict=True))
        if any(one >= other for one, other in parts):
            raise NotLiftable
        return parts

    def _items(self, select: int) -> list[Item]:
        begin = select + 1 + (self.read[select + 1].word in ("DISTINCT", "ALL"))
        return [self._item(*part) for part in self._split(begin, self.clauses["FROM"][0])]

    def _item(self, begin: int, end: int) -> Item:
        last, before = self.read[end - 1], self.read[end - 2] if end - begin > 1 else None
        if before is not None and last.identifier and before.word == "AS":
            return Item(begin, end - 2, last.text)
        ended = before is not None and (before.kind in ("name", "word", "number", "text") or before.text in (")", "]"))
        if ended and last.identifier and last.word not in _NO_ALIAS and before is not None and before.word != "NOT":
            return Item(begin, end - 1, last.text)
        return Item(begin, end, "")

    def _calls(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The aggregates between two pieces, with their FILTER; a window's function is none."""
        calls, at = list[tuple[int, int]](), begin
        while at < end:
            stop = self._call(at, end)
            if stop is not None:
                calls.append((at, stop))
            at = at + 1 if stop is None else stop
        return calls

    def _call(self, at: int, end: int) -> int | None:
        is_call = at + 1 < end and self.read[at + 1].text == "(" and self.read[at - 1].text != "."
        if not is_call or fold(self.read[at].identifier) not in self.aggregates:
            return None
        stop = self._closing(at + 1) + 1
        while stop < end and self.read[stop].word in ("FILTER", "WITHIN"):
            stop = self._closing(stop + 1 + (self.read[stop].word == "WITHIN")) + 1
        return None if stop < end and self.read[stop].word == "OVER" else stop

    def _closing(self, opening: int) -> int:
        if opening >= len(self.read) or self.read[opening].text != "(":
            raise NotLiftable
        depth = self.read[opening].depth
        stop = next((at for at in range(opening + 1, len(self.read)) if self.read[at].depth == depth), None)
        if stop is None:
            raise NotLiftable
        return stop

    def _keys(self, items: list[Item]) -> dict[int, tuple[int, int]]:
        """The keys that the SELECT list has, by the piece of GROUP BY that says each; of GROUP BY ALL by their own."""
        if "GROUP" not in self.clauses:
            return {}
        begin, end = self.clauses["GROUP"][0] + 2, self.clauses["GROUP"][1]
        plain = [item for item in items if not self._calls(item.begin, item.end)]
        if end - begin == 1 and self.read[begin].word == "ALL":
            return {item.begin: (item.begin, item.end) for item in plain}
        keys: dict[int, tuple[int, int]] = {}
        for one, other in self._split(begin, end):
            place = self._key(one, other, items)
            if place is not None:
                keys[one] = place
        return keys

    def _key(self, begin: int, end: int, items: list[Item]) -> tuple[int, int] | None:
        """Where the SELECT list has this key; None where it has not."""
        only = self.read[begin] if end - begin == 1 else None
        if only is not None and only.kind == "number":
            number = int(only.text) if only.text.isdigit() else 0
            if not 1 <= number <= len(items) or len(only.text) > 1:
                raise NotLiftable
            return items[number - 1].begin, items[number - 1].end
        if only is not None and any(
            fold(unquoted(item.alias)) == fold(only.identifier) for item in items if item.alias
        ):
            raise NotLiftable  # the alias is said above
        wanted = self._said(begin, end)
        for item in items:
            for at in range(item.begin, item.end - len(wanted) + 1):
                if self._said(at, at + len(wanted)) == wanted and not self._inside(at):
                    return at, at + len(wanted)
        return None

    def _inside(self, at: int) -> bool:
        """Whether an aggregate holds the piece, or it is a part of a longer name."""
        return any(one <= at < other for one, other in self.units) or self.read[at - 1].text == "."

    def _said(self, begin: int, end: int) -> list[str]:
        """The pieces, equal where they mean the same."""
        return [piece.text if piece.kind == "text" else fold(unquoted(piece.text)) for piece in self.read[begin:end]]

    def _below(self, select: int, keys: dict[int, tuple[int, int]]) -> str:
        """The text with blanks for what stays above; a comma after each but the last."""
        keep = [(0, select), (select, select + 1), *self.units]
        keep += [self.clauses[word] for word in _BELOW if word in self.clauses]
        signs = ["\n" if sign == "\n" else " " for sign in self.text]
        for begin, end in keep:
            if begin < end:
                first, last = self.read[begin].start, self.read[end - 1].end
                signs[first:last] = self.text[first:last]
        for _, end in self.units[:-1]:
            signs[self.read[end - 1].end] = ","
        for at, unit in keys.items():
            if self.read[at].kind == "number" and at >= self.clauses["GROUP"][0]:
                number = str(self.units.index(unit) + 1)
                if len(number) > 1:
                    raise NotLiftable
                signs[self.read[at].start] = number
        return "".join(signs).rstrip()

    def _above(self, select: int, items: Sequence[Item]) -> str:
        distinct = self.read[select + 1].text if self.read[select + 1].word == "DISTINCT" else ""
        shown = [self._shown(item) for item in items]
        text = f'SELECT {distinct} {", ".join(shown)} FROM "{self.name}"'
        for word in ("HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET"):
            if word in self.clauses:
                begin, end = self.clauses[word]
                said = "WHERE" if word == "HAVING" else self.read[begin].text
                text += f" {said} {self._rewritten(begin + 1, end)}"
        return text

    def _shown(self, item: Item) -> str:
        """An item; with intervals, an aggregate that has its name below is shown with what columns there are of it."""
        text, name = self._rewritten(item.begin, item.end), self._named(item)
        plain = unquoted(name)
        unit = (item.begin, item.end)
        lifted = unit in self.units and self._is_call(unit) and self.columns[self.units.index(unit)] == plain
        if not self.intervals or not lifted:
            return f"{text} AS {name}"
        columns = "|".join(re.escape(column) for column in (plain, f"{plain}_low", f"{plain}_high"))
        return "COLUMNS('^(" + columns.replace("'", "''") + ")$')"

    def _named(self, item: Item) -> str:
        if item.alias:
            return item.alias
        pieces = self.read[item.begin : item.end]
        if all(piece.identifier or piece.text == "." for piece in pieces):
            return pieces[-1].text
        (shown,) = self.printed((self.text[pieces[0].start : pieces[-1].end],))
        if shown is None:
            raise NotLiftable
        return quoted(shown)

    def _rewritten(self, begin: int, end: int) -> str:
        """The text between two pieces, with the columns of what is below for what was lifted."""
        said = [(self._said(*unit), quoted(self.columns[number])) for number, unit in enumerate(self.units)]
        said.sort(key=lambda pair: len(pair[0]), reverse=True)
        text, at = "", begin
        while at < end:
            column = next((pair for pair in said if self._said(at, at + len(pair[0])) == pair[0]), None)
            stop = at + 1 if column is None else at + len(column[0])
            if column is None:
                self._check(at, end)
            shown = self.read[at].text if column is None else column[1]
            gap = " " if stop < end and self.read[stop].start > self.read[stop - 1].end else ""
            text, at = text + shown + gap, stop
        return text

    def _check(self, at: int, end: int) -> None:
        """What stays above aggregates nothing: it would aggregate released rows instead. A window's function may."""
        piece = self.read[at]
        if at + 1 < end and self.read[at + 1].text == "(" and fold(piece.identifier) in self.others:
            stop = self._closing(at + 1) + 1
            while stop < end and self.read[stop].word == "FILTER":
                stop = self._closing(stop + 1) + 1
            if stop >= end or self.read[stop].word != "OVER":
                raise NotLiftable
        if piece.word == "SELECT" or (piece.text == "*" and self.read[at - 1].text in ("(", ",", ".")):
            raise NotLiftable
