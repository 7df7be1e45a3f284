"""What a condition says about the rows that pass it, merged into what was known."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.ir.expr import Expr


def narrowed(predicate: Expr, domains: Mapping[int, Domain]) -> dict[int, Domain]:
    return {**domains, **functions.narrow(predicate, domains)}
