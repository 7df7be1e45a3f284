"""Reading single values out of a tree. Nothing here raises: a problem is noted, None comes back, reading goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.catalog.model import Amount, fold
from dpsql.errors import Problem
from dpsql.metadata.tree import Fields, Items, Scalar, Tree, Unreadable, printable

SMALLEST_EPSILON = Fraction(1, 10**9)
# The largest ε, and how it is written: of one query, and of many (a test that is not about budgets may forget them).
ONE_QUERY = (Fraction(10**6), "1e6")
MANY_QUERIES = (Fraction(10**12), "1e12")
SMALLEST_DELTA = Fraction(1, 10**100)
NAME_LIMIT = 255


@dataclass(slots=True)
class Reader:
    """Collects every problem of one catalog, and where the things stand that are checked against each other later."""

    problems: list[Problem] = field(default_factory=list)
    places: dict[tuple[str, str], str] = field(default_factory=dict)  # (table, column, or "" for its unit)

    def was_listed(self, table: str, column: str) -> bool:
        """Whether the column was written down; one that could not be read was reported there, and once is enough."""
        return any(read_from == table and fold(name) == fold(column) for read_from, name in self.places)

    def problem(self, where: str, what: str, fix: str) -> None:
        self.problems.append(Problem(where, what, fix))

    def fields(self, tree: Tree, what: str, allowed: Iterable[str] | None, fix: str = "") -> Fields | None:
        """The tree if it is a mapping; with `allowed`, every other key of it is a problem."""
        if not isinstance(tree, Fields):
            self.problem(
                tree.where, f"{what} must be a mapping, not {described(tree)}", fix or "write name: value pairs"
            )
            return None
        if allowed is not None:
            known = tuple(allowed)
            for name in tree.entries:
                if name not in known:
                    self.problem(tree.at(name), f"{what} has no field {quoted(name)}", did_you_mean(name, known))
        return tree

    def text(self, tree: Tree, what: str) -> str | None:
        """Text that is not empty."""
        if not isinstance(tree, Scalar) or not isinstance(tree.value, str):
            fix = f'if it is text, write it in quotes: "{printable(tree.text)}"' if isinstance(tree, Scalar) else ""
            self.problem(tree.where, f"{what} must be text, not {described(tree)}", fix)
            return None
        if not tree.value.strip() or has_surrogate(tree.value):
            self.problem(tree.where, f"{what} is empty or not Unicode text", "write something, or leave the line out")
            return None
        return tree.value

    def prose(self, tree: Tree, what: str) -> str | None:
        """Words for people: numbers and dates are taken as they are written (version: 2026-11-01)."""
        plain = isinstance(tree, Scalar) and not isinstance(tree.value, bool | None | Unreadable)
        if plain and isinstance(tree, Scalar) and tree.text.strip() and not has_surrogate(tree.text):
            return tree.text
        return self.text(tree, what)

    def name(self, tree: Tree, what: str) -> str | None:
        text = self.text(tree, what)
        return text if text is not None and self.is_name(text, tree.where, what) else None

    def is_name(self, text: str, where: str, what: str) -> bool:
        """Whether text can name a table, a column or a dataset: printable, not blank, not endless."""
        if text.strip() and text.isprintable() and len(text) <= NAME_LIMIT:
            return True
        fix = f"use 1 to {NAME_LIMIT} printable characters"
        self.problem(where, f"{what} {quoted(text)} cannot be used as a name", fix)
        return False

    def boolean(self, tree: Tree, what: str) -> bool | None:
        if isinstance(tree, Scalar) and isinstance(tree.value, bool):
            return tree.value
        self.problem(tree.where, f"{what} must be true or false, not {described(tree)}", "write true or false")
        return None

    def integer(self, tree: Tree, what: str, *, at_least: int, at_most: int) -> int | None:
        value = number(tree)
        if value is None or value.denominator != 1 or not at_least <= value <= at_most:
            shown = f"{at_least} to {at_most:_}".replace("_", ",")
            fix = f"write a whole number from {shown}"
            self.problem(tree.where, f"{what} must be a whole number, not {described(tree)}", fix)
            return None
        return value.numerator

    def epsilon(self, tree: Tree, what: str, most: tuple[Fraction, str] = MANY_QUERIES) -> Fraction | None:
        value = number(tree)
        if value is None or not SMALLEST_EPSILON <= value <= most[0]:
            size = "a positive number" if value is None or value <= 0 else f"from 1e-9 to {most[1]}"
            fix = f"write a number from 1e-9 to {most[1]}, such as 1"
            self.problem(tree.where, f"{what} must be {size}, not {described(tree)}", fix)
            return None
        return value

    def delta(self, tree: Tree, what: str) -> Fraction | None:
        value = number(tree)
        if value is None or value >= 1 or (value != 0 and value < SMALLEST_DELTA):
            fix = "write 0, or a number far below 1 divided by the number of people, such as 1e-9"
            self.problem(tree.where, f"{what} must be a number from 0 to below 1, not {described(tree)}", fix)
            return None
        return value

    def amount(self, tree: Tree, what: str, *more: str, most: tuple[Fraction, str] = MANY_QUERIES) -> Amount | None:
        """{epsilon, delta}, each optional; `more` are fields the caller reads itself."""
        fields = self.fields(tree, what, ("epsilon", "delta", *more), "write {epsilon: 1, delta: 1e-9}")
        if fields is None:
            return None
        epsilon, delta = fields.entries.get("epsilon"), fields.entries.get("delta")
        return Amount(
            epsilon=None if epsilon is None else self.epsilon(epsilon[1], "epsilon", most),
            delta=None if delta is None else self.delta(delta[1], "delta"),
        )


def number(tree: Tree) -> Fraction | None:
    """The exact number a scalar holds; booleans, dates and text are none."""
    if isinstance(tree, Scalar) and isinstance(tree.value, int | Fraction) and not isinstance(tree.value, bool):
        return Fraction(tree.value)
    return None


def described(tree: Tree) -> str:
    """The value as it is written, for "…, not …"."""
    match tree:
        case Fields():
            return "a mapping"
        case Items():
            return "a list"
        case Scalar(value=Unreadable(what=what)):
            return what
        case Scalar(value=None):
            return "nothing" if not tree.text else "null"
        case Scalar(value=str()):
            return f"the text {quoted(tree.text)}"
        case _:
            return printable(tree.text)


def quoted(text: str) -> str:
    return f'"{printable(text)}"'


def has_surrogate(text: str) -> bool:
    """Half a character, which no engine stores (Python and JSON can hold one)."""
    return any("\ud800" <= c <= "\udfff" for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion where one is near, else all that would be right."""
    import difflib  # only when something is wrong

    known = tuple(known)
    near = difflib.get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    shown = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    return f"the known fields are {shown}" if known else "remove it"
