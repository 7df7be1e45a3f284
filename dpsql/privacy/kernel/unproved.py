"""The refusal of a relation that fits none of the kernel's rules."""

from __future__ import annotations

from dpsql.errors import Refused
from dpsql.ir.nodes import Node
from dpsql.ir.scoping import where

KEPT_APART = "keeps people apart"


def unproved(node: Node, why: str, what: str = KEPT_APART) -> Refused:
    return Refused(
        f"dpsql cannot prove that this {type(node).__name__.lower()} {what}",
        code=137,
        at=where(node),
        why=f"Every relation is checked once more before anything is charged; in this one, {why}.",
        fix="Write it another way, and please report it: nothing was charged.",
    )
