"""An argument that a form says more than once is evaluated once: what is neither a column nor a constant is bound to a name
by a lambda, so that nested forms grow with the number of calls alone."""

from __future__ import annotations

import re
from collections.abc import Callable

SIMPLE = re.compile(
    r"[a-z_]\w*(\.[a-z_]\w*)?|\d+L|\(-\d+L\)|[\d.e+-]+D|\(-[\d.e+-]+D\)|(DATE|TIMESTAMP_NTZ)'[^']*'|TRUE|FALSE|"
    r"CAST\(('[^'\\]*'|NULL) AS [A-Z_]+(\(\d+,\d+\))?\)"
)
NAME = re.compile(r"\bq(\d+)\b")


def is_simple(text: str) -> bool:
    return SIMPLE.fullmatch(text) is not None


def bound(arguments: tuple[str, ...], body: Callable[..., str]) -> str:
    """The body over the arguments, each of them a name or a constant.

    A name is higher than all that are in the arguments: it hides none of them, and none hides it (the body is over the
    arguments alone)."""
    first = 1 + max((int(number) for text in arguments for number in NAME.findall(text)), default=0)
    given = [text for text in arguments if not is_simple(text)]
    if not given:
        return body(*arguments)
    fields = {text: f"q{first}.a{i}" for i, text in enumerate(dict.fromkeys(given))}
    packed = ", ".join(f"{text} AS a{i}" for i, text in enumerate(fields))
    shown = body(*(fields.get(text, text) for text in arguments))
    return f"transform(array(struct({packed})), q{first} -> {shown})[0]"
