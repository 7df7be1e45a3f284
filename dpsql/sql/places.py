"""Places in the text for the nodes to which sqlglot gives none, and the names calls were written with.

sqlglot drops the place of calls with a grammar of their own (MIN, EXTRACT, STRING_AGG, CAST …). Each is found again
as the nearest call of its name, not yet taken, to the left of its leftmost part; parts come before the calls around
them. Places serve messages only; nothing is decided by them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from sqlglot import Token, TokenType, exp

from dpsql.sql.tokens import NAME_META, own_place, word

# The names that sqlglot reads with a grammar of their own, by the class it makes of them.
_NAMES: dict[type[exp.Expr], str] = {
    exp.ApproxQuantile: "APPROX_QUANTILE", exp.ArgMax: "ARG_MAX ARGMAX MAX_BY", exp.ArgMin: "ARG_MIN ARGMIN MIN_BY",
    exp.Ceil: "CEIL", exp.Chr: "CHR CHAR", exp.Extract: "EXTRACT", exp.Floor: "FLOOR",
    exp.GroupConcat: "STRING_AGG GROUP_CONCAT LISTAGG STRINGAGG", exp.If: "IF", exp.Max: "MAX", exp.Min: "MIN",
    exp.PercentileCont: "QUANTILE_CONT", exp.PercentileDisc: "QUANTILE_DISC", exp.Quantile: "QUANTILE",
    exp.StrPosition: "POSITION", exp.Substring: "SUBSTRING", exp.Trim: "TRIM", exp.TryCast: "TRY_CAST",
    exp.Cast: "CAST",
}  # fmt: skip
NAMES: Mapping[type[exp.Expr], tuple[str, ...]] = MappingProxyType(
    {node: tuple(names.split()) for node, names in _NAMES.items()}
)
_PREFIX_TYPES = {TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIMESTAMPNTZ}


def written_name(node: exp.Expr) -> str:
    """The name a call was written with, where it is known."""
    return str(node._meta.get(NAME_META) or "") if node._meta else ""


def place_calls(tree: exp.Expr, tokens: list[Token]) -> None:
    """Fill in the places of calls and of the types they cast to."""
    search = _Search(tokens)
    for node in _parts_first(tree):
        if type(node) in NAMES and own_place(node) is None:
            search.place(node)
        if isinstance(node, exp.Is):
            search.place_test(node)
        if isinstance(node, exp.Cast):
            search.place_type(node)
        if isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal) and own_place(node.this) is None:
            search.place_interval(node)


def _parts_first(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Every node after its descendants, without recursion."""
    order = list(tree.walk(bfs=False))
    return reversed(order)


class _Search:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index_at = {token.start: index for index, token in enumerate(tokens)}
        self.taken: set[int] = set()
        self.calls: dict[str, list[int]] = {}  # by name, the places of calls that are not taken, in order
        for index, token in enumerate(tokens[:-1]):
            if tokens[index + 1].token_type is TokenType.L_PAREN:
                self.calls.setdefault(word(token), []).append(index)

    def place(self, node: exp.Expr) -> None:
        free = [places for name in NAMES[type(node)] if (places := self.calls.get(name))]
        if not free or (isinstance(node, exp.Cast) and self._is_no_call(node)):
            return
        first = self._edge(node, min)
        before = [(places, bisect_left(places, first)) for places in free if first is not None]
        before = [(places, count) for places, count in before if count]
        if before:
            places, count = max(before, key=lambda run: run[0][run[1] - 1])
            index = places.pop(count - 1)
            self.taken.add(index)
            node.update_positions(self.tokens[index])
            node.meta[NAME_META] = self.tokens[index].text

    def _is_no_call(self, node: exp.Cast) -> bool:
        """x::type and DATE '2020-01-31' are casts as well."""
        first, last = self._edge(node.this, min), self._edge(node.this, max)
        if first is None or last is None:
            return False
        if isinstance(node.this, exp.Literal) and first and self.tokens[first - 1].token_type in _PREFIX_TYPES:
            return True
        behind = last + 1
        while behind < len(self.tokens) and self.tokens[behind].token_type is TokenType.R_PAREN:
            behind += 1
        return behind < len(self.tokens) and self.tokens[behind].token_type is TokenType.DCOLON

    def _edge(self, node: exp.Expr, end: object) -> int | None:
        """The index of the leftmost (min) or rightmost (max) token that some part of the node is known to stand at."""
        starts = [place.start for part in node.walk() if (place := own_place(part)) is not None]
        if not starts:
            return None
        return self.index_at.get(min(starts) if end is min else max(starts))

    def place_interval(self, node: exp.Interval) -> None:
        """INTERVAL 3 DAY and INTERVAL '3 days': sqlglot makes a new literal of the amount."""
        amount = str(node.name)
        for index in self._near(node):
            token, value = self.tokens[index], self.tokens[index + 1]
            same = value.text == amount or value.text.split()[:1] == [amount]
            if token.token_type is TokenType.INTERVAL and index not in self.taken and same:
                self.taken.add(index)
                node.this.update_positions(value)
                return

    def _near(self, node: exp.Interval) -> Iterable[int]:
        """Where to look: behind what it is added to; before what is added to it; else from the end, as nodes come."""
        parent, last = node.parent, len(self.tokens) - 1
        if isinstance(parent, exp.Binary):
            other = parent.this if node is parent.expression else parent.expression
            edge = self._edge(other, max if node is parent.expression else min)
            if edge is not None:
                return range(edge + 1, last) if node is parent.expression else range(edge - 1, -1, -1)
        return range(last - 1, -1, -1)

    def place_test(self, node: exp.Is) -> None:
        """x IS [NOT] NULL, x ISNULL, x NOTNULL: the first such sign behind x that no part of x has taken."""
        last = self._edge(node.this, max)
        for index in range(last + 1, len(self.tokens)) if last is not None else ():
            sign = word(self.tokens[index])
            if index not in self.taken and sign in ("IS", "ISNULL", "NOTNULL"):
                self.taken.add(index)
                negated = sign == "NOTNULL" or word(self.tokens[min(index + 1, len(self.tokens) - 1)]) == "NOT"
                end = index + (0 if sign != "IS" else 2 if negated else 1)
                node.expression.update_positions(self.tokens[min(end, len(self.tokens) - 1)])
                return

    def place_type(self, node: exp.Cast) -> None:
        target = node.to
        last = self._edge(node.this, max)
        if last is None or not isinstance(target, exp.DataType):
            return
        before = self.tokens[last - 1] if last else None
        if before is not None and isinstance(node.this, exp.Literal) and before.token_type in _PREFIX_TYPES:
            target.update_positions(before)
            return
        for index in range(last + 1, len(self.tokens) - 1):
            sign = self.tokens[index]
            if index not in self.taken and (sign.token_type is TokenType.DCOLON or word(sign) == "AS"):
                self.taken.add(index)
                target.update_positions(self.tokens[index + 1])
                return
