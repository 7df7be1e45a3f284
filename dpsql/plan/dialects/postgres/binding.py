"""An argument that a form says more than once is evaluated once: what is neither a column nor a constant is bound to a name,
so that nested forms grow with the number of calls alone. Where a SELECT is printed (Levels), names are columns of subselects
below it, and what is said twice is evaluated once; elsewhere each argument is bound by a scalar subselect.

OFFSET 0 keeps PostgreSQL from putting an argument in the place of its name again. Every argument is total, so it does not
matter that it is evaluated on rows where a CASE around the form would not have asked for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

SIMPLE = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)?|(bigint|float8|numeric|date|timestamp) '[^']*'|NULL|TRUE|FALSE")
NAME = re.compile(r"\b[qb](\d+)\b")  # b: bound only where a branch is taken
MOST_COLUMNS = 400  # that are bound below one SELECT: a relation of PostgreSQL's has at most 1,664


@dataclass(slots=True)
class Levels:
    """What is bound below one SELECT: each text's name and level, which is above those of all names in it."""

    names: dict[str, tuple[str, int]] = field(default_factory=dict)

    def name(self, text: str) -> str | None:
        """None where there are too many."""
        if text not in self.names and len(self.names) == MOST_COLUMNS:
            return None
        if text not in self.names:
            levels = dict(self.names.values())
            below = max((levels.get(f"q{number}", 0) for number in NAME.findall(text)), default=0)
            self.names[text] = f"q{len(self.names) + 1}", below + 1
        return self.names[text][0]

    def over(self, source: str) -> str:
        """`source`, a relation and its alias t, with the bound columns beside its own."""
        for level in range(1, 1 + max((level for _, level in self.names.values()), default=0)):
            made = ", ".join(f"{text} AS {name}" for text, (name, at) in self.names.items() if at == level)
            source = f"(SELECT *, {made} FROM {source} OFFSET 0) AS t"
        return source


_printed: ContextVar[Levels | None] = ContextVar("printed", default=None)


@contextmanager
def levels() -> Iterator[Levels]:
    """While the items of one SELECT are printed: of columns of one relation, which is printed before or afterwards."""
    made = Levels()
    token = _printed.set(made)
    try:
        yield made
    finally:
        _printed.reset(token)


_in_branch: ContextVar[bool] = ContextVar("in_branch", default=False)


@contextmanager
def in_branch() -> Iterator[None]:
    """While a branch is printed that few rows take: what is bound there is bound by scalar subselects, which other rows do
    not evaluate."""
    outside, inside = _printed.set(None), _in_branch.set(True)
    try:
        yield
    finally:
        _printed.reset(outside)
        _in_branch.reset(inside)


def is_in_branch() -> bool:
    return _in_branch.get()


def is_simple(text: str) -> bool:
    return SIMPLE.fullmatch(text) is not None


def evaluated_once(text: str) -> str:
    """Of a column that is named many times: a name for it where there are levels. The server copies what a column is made
    of, such as the CASE that cleans it, to each place that names it."""
    printed = _printed.get()
    return text if printed is None else printed.name(text) or text


def is_bound(text: str) -> bool:
    """Whether anything in a statement is bound to a name, on every row."""
    return re.search(r"\bq\d+\b", text) is not None


def bound(arguments: tuple[str, ...], body: Callable[..., str]) -> str:
    """The body over the arguments, each of them a name or a constant."""
    printed = _printed.get()
    if printed is not None:
        columns = [text if is_simple(text) else printed.name(text) for text in arguments]
        if None not in columns:
            return body(*columns)
    # A name is higher than all that are in the arguments: it hides none of them, and none hides it (the body is over the
    # arguments alone).
    first = 1 + max((int(number) for text in arguments for number in NAME.findall(text)), default=0)
    letter = "b" if is_in_branch() else "q"
    names = [text if is_simple(text) else f"{letter}{first + i}" for i, text in enumerate(arguments)]
    given = [f"{text} AS {name}" for text, name in zip(arguments, names, strict=True) if text != name]
    if not given:
        return body(*names)
    return f"(SELECT {body(*names)} FROM (SELECT {', '.join(given)} OFFSET 0) AS bound)"
