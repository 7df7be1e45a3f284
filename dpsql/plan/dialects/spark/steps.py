"""A statement for Spark: what is stored line by line, and last what is asked. Each line is run by itself
(engine/spark/script.py):

    STORED name AS SELECT …    evaluated once, and what it gave is kept as it is
    KEPT name AS SELECT …      the same; a later statement of the run that has the same line reads it again

A step that one place reads stands there in parentheses. (Of a WITH that reads another one Spark forgets where the rows of a
kept step lie, and moves them again.)

Lemma: a statement evaluates each relation of its sources that it names once. Proof: a step that two places read is STORED,
so one evaluation serves both; any other is read in one place, where Spark puts it, which by induction is evaluated once. (A
name is looked for wherever one can stand in the text; to take a text constant for one more place stores too much, never too
little.)"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.plan.vault_query import Step

STORED, KEPT = "STORED", "KEPT"


def script(steps: Sequence[Step], select: str) -> str:
    lines, parts = [], []
    for i, step in enumerate(steps):
        places = sum(_places(step.name, text) for text in [*(later.select for later in steps[i + 1 :]), select])
        if places == 1 and not step.kept:
            parts.append(step)
            continue
        text, parts = _inlined(parts, step.select)
        lines.append(f"{KEPT if step.kept else STORED} {step.name} AS {text}")
    text, parts = _inlined(parts, select)
    lines.append(text)
    if parts:
        raise ValueError("a statement has steps that nothing reads")
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError("a statement's step is more than one line")
    return "\n".join(lines)


def _inlined(parts: Sequence[Step], select: str) -> tuple[str, list[Step]]:
    """What is selected, with the parts that it reads, directly or not; and the parts left."""
    left: list[Step] = []
    for part in reversed(parts):
        place = re.search(_place(part.name), select)
        if place is None:
            left.insert(0, part)
            continue
        alias = "" if re.match(" AS ", select[place.end() :]) else f" AS {part.name}"
        select = f"{select[: place.start()]}({part.select}){alias}{select[place.end() :]}"
    return select, left


def _places(name: str, text: str) -> int:
    """Where a relation is read."""
    return len(re.findall(_place(name), text))


def _place(name: str) -> str:
    """Its name, other than as the prefix of a column or as an alias."""
    return rf"(?<!\bAS )(?<![\w.`])`?{re.escape(name)}`?(?![\w.`(])"
