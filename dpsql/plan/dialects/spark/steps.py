"""A statement for Spark: its steps line by line, and last the SELECT. Each line is one step, run by itself
(engine/spark/script.py):

    VIEW name AS SELECT …      read in one place: it becomes a part of what reads it
    STORED name AS SELECT …    evaluated once, and what it gave is kept as it is

Lemma: a statement evaluates each relation of its sources that it names once. Proof: a step that two places read is STORED,
so one evaluation serves both; a VIEW is read in one place, which by induction is evaluated once. (A name is looked for
wherever one can stand in the text; to take a text constant for one more place stores too much, never too little.)"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsql.plan.vault_query import Step

VIEW, STORED = "VIEW", "STORED"


def script(steps: Sequence[Step], select: str) -> str:
    lines = []
    for i, step in enumerate(steps):
        places = sum(_places(step.name, text) for text in [*(later.select for later in steps[i + 1 :]), select])
        lines.append(f"{STORED if places != 1 else VIEW} {step.name} AS {step.select}")
    lines.append(select)
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError("a statement's step is more than one line")
    return "\n".join(lines)


def _places(name: str, text: str) -> int:
    """Where a relation is read: its name, other than as the prefix of a column or as an alias."""
    return len(re.findall(rf"(?<!\bAS )(?<![\w.`])`?{re.escape(name)}`?(?![\w.`(])", text))
