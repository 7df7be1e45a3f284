"""A query of which a part is private: its private queries in parentheses, operands of UNION and what SUMMARIZE reads are cut
out, what is left reads their rows.

Cut out is what is planned and released like any query; what is left must name nothing private (execution/passing.py asks
DuckDB's parser). So a mistake in reading here refuses a query, and cannot show rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dpsql.catalog.model import fold
from dpsql.sql.operands import operands
from dpsql.sql.pieces import Piece, begins_query

IsPrivate = Callable[[str], bool]
PREFIX = "dpsql_part_"
MOST_QUERIES = 50  # each may be planned to see whether it is a release
_GOES_ON = ("UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT")


@dataclass(slots=True)
class Inner:
    """A query within: the numbers of its first piece and of the one after its last. bare: it stands there without
    parentheses. name: of the CTE that it is the body of; columns: how many names follow that. start: of the CTE's name, or
    of the query. private: it names what is private, and is not cut out."""

    begin: int
    end: int
    start: int
    bare: bool = False
    name: str | None = None
    columns: int = 0
    private: bool = False
    inside: list[Inner] = field(default_factory=list)

    def holds(self, at: int) -> bool:
        """With its parentheses."""
        return self.begin - (not self.bare) <= at < self.end + (not self.bare)


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a text, and the texts of the parts by their names; all keep their places."""

    text: str
    parts: dict[str, str]


@dataclass(slots=True)
class Mixed:
    """text: the statement's. read: the pieces of its query. can_release: whether a query alone is a release."""

    text: str
    read: list[Piece]
    is_private: IsPrivate
    can_release: Callable[[str], bool]
    cut: list[tuple[Inner, str]] = field(default_factory=list)
    unused: list[Inner] = field(default_factory=list)

    def split(self) -> Cut | None:
        """None where no part can be cut out, or what is left still names what is private."""
        top = list(self._within(0, len(self.read)))
        if sum(1 for _ in _all(top)) > MOST_QUERIES:
            return None
        self._visit(top, [], frozenset())
        if not self.cut or not self._settle(top):
            return None
        parts = {f"{PREFIX}{n}": text for n, (_, text) in enumerate(self.cut, 1)}
        return Cut(self._left(), parts)

    def _within(self, begin: int, end: int) -> Iterator[Inner]:
        """The queries within the query between two pieces, with those inside of them."""
        bare, at = dict(operands(self.read, begin, end)), begin
        while at < end:
            if at in bare:
                inner, after = Inner(at, bare[at], at, bare=True), bare[at]
            elif self._is_query(at):
                closing = self._closing(at)
                if closing is None:
                    return
                inner, after = self._cte(at, closing) or Inner(at + 1, closing, at), closing + 1
            else:
                at += 1
                continue
            inner.inside = list(self._within(inner.begin, inner.end))
            yield inner
            at = after

    def _is_query(self, at: int) -> bool:
        """Whether parentheses hold a query and nothing else. Of two around one query the inner ones count, since the outer
        ones may be a function's; but those of a CTE."""
        if self.read[at].text != "(" or not begins_query(self.read, at + 1):
            return False
        if self.read[at + 1].text != "(":
            return True
        closing = self._closing(at + 1)
        after = None if closing is None or closing + 1 >= len(self.read) else self.read[closing + 1]
        if closing is None or after is None or not self._is_query(at + 1):
            return False
        return after.word in _GOES_ON or (after.text == ")" and self._cte(at, closing + 1) is not None)

    def _closing(self, opening: int) -> int | None:
        depth = self.read[opening].depth
        return next((at for at in range(opening + 1, len(self.read)) if self.read[at].depth == depth), None)

    def _cte(self, opening: int, closing: int) -> Inner | None:
        """name [(columns)] AS [NOT] [MATERIALIZED] ( … )"""
        at = opening - 1
        while at > 0 and self.read[at].word in ("MATERIALIZED", "NOT"):
            at -= 1
        if at < 1 or self.read[at].word != "AS":
            return None
        at, columns = at - 1, 0
        if self.read[at].text == ")":
            depth = self.read[at].depth
            while at > 0 and not (self.read[at].text == "(" and self.read[at].depth == depth):
                columns += self.read[at].text == ","
                at -= 1
            at, columns = at - 1, columns + 1
        if at < 0 or not self.read[at].identifier:
            return None
        return Inner(opening + 1, closing, at, name=fold(self.read[at].identifier), columns=columns)

    def _visit(self, queries: list[Inner], visible: list[Inner], around: frozenset[str]) -> None:
        """Cut out the largest queries that are releases by themselves. visible: CTEs that they may name. around: names of
        recursive CTEs that they are in; such a name means rows that are not there yet."""
        known = list(visible)
        for query in queries:
            query.private = self._names_private(query, known)
            if query.private:
                near = around | ({query.name} if query.name is not None and self._recursive() else set())
                alone = self._alone(query, known)
                if self._names(query).isdisjoint(near) and self.can_release(alone):
                    self.cut.append((query, alone))
                    query.private = False
                else:
                    self._visit(query.inside, known, near)
            if query.name is not None:
                known.append(query)

    def _recursive(self) -> bool:
        return any(piece.word == "RECURSIVE" for piece in self.read)

    def _names(self, query: Inner) -> set[str]:
        return {fold(piece.identifier) for piece in self.read[query.begin : query.end] if piece.identifier}

    def _names_private(self, query: Inner, visible: list[Inner]) -> bool:
        names = {fold(cte.name): cte.private for cte in visible if cte.name is not None}  # the later one counts
        return any(names.get(word, False) or self.is_private(word) for word in self._names(query))

    def _alone(self, query: Inner, visible: list[Inner]) -> str:
        """The query's text with the CTEs that it names before it, blanks for the rest; nothing where one is recursive."""
        kept: dict[int, Inner] = {}
        waiting = [(query, visible)]
        while waiting:
            one, seen = waiting.pop()
            for name in self._names(one):
                cte = next((v for v in reversed(seen) if v.name == name), None)
                if cte is not None and cte.start not in kept:
                    kept[cte.start] = cte
                    waiting.append((cte, [v for v in visible if v.start < cte.start]))
        ctes = [kept[start] for start in sorted(kept)]
        if self._recursive() and any(cte.name in self._names(cte) for cte in ctes):
            return ""
        keep = [(self.read[cte.start].start, self.read[cte.end].end) for cte in ctes]
        around = 1 if ctes and not query.bare else 0
        keep.append((self.read[query.begin - around].start, self.read[query.end - 1 + around].end))
        text = _blanked(self.text, keep)
        for number, cte in enumerate(ctes):  # the word before the first name, a comma before the others
            at, word = self.read[cte.start].start, "WITH" if number == 0 else ","
            room = 1 + len(word)
            if at < room or text[at - room : at].strip():
                return ""
            text = f"{text[: at - room]}{word} {text[at:]}"
        return text

    def _settle(self, top: list[Inner]) -> bool:
        """CTEs of private rows that only parts name are left without rows; whether nothing else names one."""
        ctes = [one for one in _all(top) if one.name is not None]
        for cte in ctes:
            gone = [*(inner for inner, _ in self.cut), *self.unused]
            if any(one.holds(cte.begin) for one in gone):
                continue
            names = (p for at, p in enumerate(self.read) if cte.holds(at) and not any(g.holds(at) for g in gone))
            before = [one for one in ctes if one.start < cte.start]
            if any(self.is_private(p.identifier) or self._is_unused(p, before) for p in names if p.identifier):
                self.unused.append(cte)
        gone = [*(inner for inner, _ in self.cut), *self.unused]
        left = [p for at, p in enumerate(self.read) if not any(g.holds(at) or at == g.start for g in gone)]
        return not any(fold(p.identifier) == cte.name for p in left if p.identifier for cte in self.unused)

    def _is_unused(self, piece: Piece, before: list[Inner]) -> bool:
        return any(cte.name == fold(piece.identifier) and any(cte is one for one in self.unused) for cte in before)

    def kept(self) -> list[Piece]:
        """The pieces of what is left."""
        gone = [*(inner for inner, _ in self.cut), *self.unused]
        return [p for at, p in enumerate(self.read) if not any(one.begin <= at < one.end for one in gone)]

    def _left(self) -> str:
        instead = [(inner, f'FROM "{PREFIX}{n}"') for n, (inner, _) in enumerate(self.cut, 1)]
        instead += [(cte, "SELECT " + ", ".join(["NULL"] * max(1, cte.columns))) for cte in self.unused]
        text = self.text
        for inner, new in sorted(instead, key=lambda pair: pair[0].begin, reverse=True):
            text = text[: self.read[inner.begin].start] + new + text[self.read[inner.end - 1].end :]
        begin = self.read[0].start
        return " " * begin + text[begin:].rstrip().rstrip(";")


def _all(queries: list[Inner]) -> Iterator[Inner]:
    for query in queries:
        yield query
        yield from _all(query.inside)


def _blanked(text: str, keep: list[tuple[int, int]]) -> str:
    """Blanks for all that is not kept, so that what is kept has its place."""
    kept = set[int]()
    for begin, end in keep:
        kept.update(range(begin, end))
    return "".join(sign if at in kept or sign == "\n" else " " for at, sign in enumerate(text)).rstrip()


OPTIONS = ("WITH", "DIFFERENTIAL_PRIVACY", "OPTIONS")


def options_at(read: list[Piece]) -> tuple[int, int] | None:
    """The pieces of the one WITH DIFFERENTIAL_PRIVACY OPTIONS (…), the last excluded."""
    places = [at for at in range(len(read)) if tuple(p.word for p in read[at : at + 3]) == OPTIONS]
    if len(places) != 1 or places[0] + 3 >= len(read) or read[places[0] + 3].text != "(":
        return None
    opening = places[0] + 3
    depth = read[opening].depth
    closing = next((at for at in range(opening + 1, len(read)) if read[at].depth == depth), None)
    return None if closing is None else (places[0], closing + 1)
