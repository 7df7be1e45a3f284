"""What the kernel says of a relation that fits none of its rules."""

from __future__ import annotations

from dpsql.errors import Refused
from dpsql.ir.nodes import Node
from dpsql.ir.scoping import where

KEPT_APART = "that people are kept apart"


def unproved(node: Node, why: str, what: str = KEPT_APART) -> Refused:
    return Refused(
        f"{what} is not proved of this {type(node).__name__.lower()}",
        code=137,
        at=where(node),
        why=f"Every relation is checked once more before anything is charged; of this one {why}.",
        fix="Write it another way, and please report it: nothing was charged.",
    )
