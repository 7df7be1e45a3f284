"""Random expressions over typed columns, from the forms; the forms used least so far are the likeliest."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.properties.generator.forms import SCALAR_FORMS, Form

HOLE = re.compile(r"\{(\w)\}")
KINDS = {"N": "IMX", "W": "DS"}
SMALL = ("0", "1", "2", "3", "-1", "5", "10", "7")
TEXTS = ("'a'", "'b'", "''", "'abc'", "'%'", "'é'")
DATES = ("DATE '2020-01-01'", "DATE '2020-03-01'", "DATE '2019-12-31'")
CONSTANTS = {
    "I": SMALL,
    "M": ("1.5", "-0.25", "2.75"),
    "X": ("1e0", "-2.5e0", "1e-3"),
    "B": ("TRUE", "FALSE"),
    "D": DATES,
    "S": ("TIMESTAMP '2020-01-01 10:00:00'",),
    "T": TEXTS,
}
BY_RESULT: dict[str, list[tuple[str, Form]]] = {}
for _name, _forms in SCALAR_FORMS.items():
    for _form in _forms:
        for _kind in KINDS.get(_form[0], _form[0]):
            BY_RESULT.setdefault(_kind, []).append((_name, _form))


class Expressions:
    """columns: kind letter → names. used: how often each function occurred so far, by who counts."""

    def __init__(self, draw: random.Random, columns: Mapping[str, Sequence[str]], used: Counter[str]) -> None:
        self._draw = draw
        self._columns = columns
        self._used = used
        self.parameters: list[object] | None = None  # a list: constants may become `?`

    def any(self, depth: int, kinds: str = "IMXBDST") -> str:
        return self.of(self._draw.choice(kinds), depth)

    def of(self, kind: str, depth: int) -> str:
        """An expression of a kind; depth 0: a column, now and then a constant."""
        kind = self._draw.choice(KINDS.get(kind, kind))
        if depth <= 0:
            names = self._columns.get(kind, ())
            if names and self._draw.random() < 0.85:
                return self._draw.choice(list(names))
            return self._draw.choice(CONSTANTS[kind])
        name, (_, template) = self._form(kind)
        return HOLE.sub(lambda hole: self._fill(hole.group(1), depth - 1), template)

    def form_of(self, name: str, depth: int) -> tuple[str, str]:
        """(kind, expression) whose outermost function is `name`."""
        result, template = self._draw.choice(SCALAR_FORMS[name])
        return result, HOLE.sub(lambda hole: self._fill(hole.group(1), depth - 1), template)

    def _form(self, kind: str) -> tuple[str, Form]:
        forms = BY_RESULT[kind]
        few = self._draw.sample(forms, min(8, len(forms)))
        return min(few, key=lambda form: self._used[form[0]])

    def _fill(self, hole: str, depth: int) -> str:
        if hole == "i":
            return self._draw.choice(SMALL)
        if hole == "t":
            return self._draw.choice(TEXTS)
        return self.of(hole, depth if self._draw.random() < 0.6 else 0)
