"""An argument that a form says more than once is evaluated once: what is neither a column nor a constant is bound to a name,
so that nested forms grow with the number of calls alone. Where a SELECT is printed (Levels), names are columns of subselects
below it; elsewhere, in conditions, they are bound by a lambda, which is not compiled and ten times as dear.

Every argument is total, so it does not matter that it is evaluated on rows where a CASE around the form would not have asked
for it. Spark puts an argument in the place of its name again where that is said once, or is no work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

SIMPLE = re.compile(
    r"[a-z_]\w*(\.[a-z_]\w*)?|\d+L|\(-\d+L\)|[\d.e+-]+D|\(-[\d.e+-]+D\)|(DATE|TIMESTAMP_NTZ)'[^']*'|TRUE|FALSE|"
    r"CAST\(('[^'\\]*'|NULL) AS [A-Z_]+(\(\d+,\d+\))?\)"
)
NAME = re.compile(r"\bq(\d+)\b")


@dataclass(slots=True)
class Levels:
    """What is bound below one SELECT: each text's name and level, which is above those of all names in it."""

    names: dict[str, tuple[str, int]] = field(default_factory=dict)

    def name(self, text: str) -> str:
        if text not in self.names:
            levels = dict(self.names.values())
            below = max((levels.get(f"q{number}", 0) for number in NAME.findall(text)), default=0)
            self.names[text] = f"q{len(self.names) + 1}", below + 1
        return self.names[text][0]

    def over(self, source: str) -> str:
        """`source`, a relation and its alias t, with the bound columns beside its own."""
        for level in range(1, 1 + max((level for _, level in self.names.values()), default=0)):
            made = ", ".join(f"{text} AS {name}" for text, (name, at) in self.names.items() if at == level)
            source = f"(SELECT *, {made} FROM {source}) AS t"
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


def is_simple(text: str) -> bool:
    return SIMPLE.fullmatch(text) is not None


def bound(arguments: tuple[str, ...], body: Callable[..., str]) -> str:
    """The body over the arguments, each of them a name or a constant.

    A lambda's name is higher than all that are in the arguments: it hides none of them, and none hides it (the body is over
    the arguments alone)."""
    printed = _printed.get()
    if printed is not None:
        return body(*(text if is_simple(text) else printed.name(text) for text in arguments))
    first = 1 + max((int(number) for text in arguments for number in NAME.findall(text)), default=0)
    given = [text for text in arguments if not is_simple(text)]
    if not given:
        return body(*arguments)
    fields = {text: f"q{first}.a{i}" for i, text in enumerate(dict.fromkeys(given))}
    packed = ", ".join(f"{text} AS a{i}" for i, text in enumerate(fields))
    shown = body(*(fields.get(text, text) for text in arguments))
    return f"transform(array(struct({packed})), q{first} -> {shown})[0]"
