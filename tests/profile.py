"""How much a run of the tests draws: what CI has time for, or all that is worth hours (make deep)."""

from __future__ import annotations

import os

DEEP = os.environ.get("DPSQL_PROFILE") == "deep"


def drawn(in_ci: int, deep: int) -> int:
    return deep if DEEP else in_ci
