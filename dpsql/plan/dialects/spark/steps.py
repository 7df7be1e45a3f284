"""A statement for Spark: what is stored line by line, and last what is asked. Each line is run by itself
(engine/spark/script.py):

    STORED name AS SELECT …    evaluated once, and what it gave is kept as it is

A step that one place reads is named in a WITH before what reads it, so Spark analyzes it once.

Lemma: a statement evaluates each relation of its sources that it names once. Proof: a step that two places read is STORED,
so one evaluation serves both; any other is read in one place, where Spark puts it, which by induction is evaluated once. (A
name is looked for wherever one can stand in the text; to take a text constant for one more place stores too much, never too
little.)"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.plan.vault_query import Step

STORED = "STORED"


def script(steps: Sequence[Step], select: str) -> str:
    lines, parts = [], []
    for i, step in enumerate(steps):
        places = sum(_places(step.name, text) for text in [*(later.select for later in steps[i + 1 :]), select])
        if places == 1:
            parts.append(step)
            continue
        text, parts = _with(parts, step.select)
        lines.append(f"{STORED} {step.name} AS {text}")
    text, parts = _with(parts, select)
    lines.append(text)
    if parts:
        raise ValueError("a statement has steps that nothing reads")
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError("a statement's step is more than one line")
    return "\n".join(lines)


def _with(parts: Sequence[Step], select: str) -> tuple[str, list[Step]]:
    """What is selected, behind the parts that it reads, directly or not; and the parts left."""
    read: list[Step] = []
    left: list[Step] = []
    for part in reversed(parts):
        reads = any(_places(part.name, text) for text in [select, *(one.select for one in read)])
        (read if reads else left).insert(0, part)
    named = ", ".join(f"{part.name} AS ({part.select})" for part in read)
    return f"WITH {named} {select}" if read else select, left


def _places(name: str, text: str) -> int:
    """Where a relation is read: its name, other than as the prefix of a column or as an alias."""
    return len(re.findall(rf"(?<!\bAS )(?<![\w.`])`?{re.escape(name)}`?(?![\w.`(])", text))
