"""Why every row of a release's input is about one unit, as a value: made by the kernel alone (privacy/kernel), printed by
EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dpsql.domain.ranges import Range
from dpsql.functions.function import unchecked
from dpsql.ir.expr import Call, Column, Expr
from dpsql.ir.nodes import Project


class Rule(StrEnum):
    """One rule per relational operator. What each keeps:

    *Every row of a private relation carries one unit, never NULL; the rows of unit u are, as a multiset of values, a
    function of u's own rows and of public rows.* A row is u's own if its unit column (or its number) is u, or if its
    table's path leads it to a row of u's; other units may own it, too. So removing another unit changes none of u's rows.
    """

    OWN_COLUMN = "own column"
    """A scan of a table with a unit column. Cleaning is a function of one row and drops rows without a unit."""

    ROW_IS_UNIT = "row is unit"
    """A scan with each row's number in its source, the same in every scan of a statement: no two rows share a unit."""

    PATH = "path"
    """Private ⋈ bare table, inner, where the condition equates all columns of the table's path with columns that come from
    one scan of the table it leads to. In a row of unit u the columns of that scan are those of one row r of u's; the row b
    of the bare table equals r in all columns of the path, so it is u's own, and it is there whoever else is."""

    PATH_EXISTS = "path exists"
    """Semi- and anti-joins with the same condition: the rows that may match are u's own. (Of these three rules: a join that
    marks rows keeps all of them, and the mark is a function of the same rows as whether one would stay.)"""

    PUBLIC_JOIN = "public join"
    """Private ⋈ public, inner or keeping the private side: what a row becomes is a function of it and of public rows."""

    PUBLIC_SEMI = "public semi"
    """Semi- and anti-joins with public rows: whether a row stays, or its mark, is a function of it and of public rows."""

    UNIT_JOIN = "unit join"
    """Private ⋈ private with equal units: a row of u meets rows of u alone, and is kept unmatched if none of those
    matches. In a FULL join the unit is the one of the two that is not NULL."""

    UNIT_SEMI = "unit semi"
    """Semi- and anti-joins with equal units: whether a row stays, or its mark, is a function of u's rows."""

    FILTER = "filter"
    """A deterministic function of one row decides whether it stays."""

    PROJECT = "project"
    """A deterministic function of one row, with its unit among the columns."""

    PER_UNIT = "per unit"
    """GROUP BY with the unit among the keys of every grouping set: a group has rows of one unit. Each call is a function
    of the group's rows as a multiset (kernel/order.py)."""

    WINDOW = "window"
    """Each call has the unit in PARTITION BY: a partition has rows of one unit. Each call is a function of the row and of
    the partition's rows as a multiset (kernel/order.py)."""

    UNION_ALL = "union all"
    """u's part of a union is the union of its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """rule: why. about: of what, as one reads it ("visits: own column patient_id"). below: the proofs it rests on."""

    rule: Rule
    about: str = ""
    below: tuple[Proof, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The certified input of a release: only kernel.certify() makes it.

    node: closes the input: the unit, then each key, argument and condition of the release as a column of its own.
    single: at most one row of a unit, by the form of `node` alone (rows that are units, or GROUP BY the unit and nothing
    else, under filters, projections, windows and semi-joins).
    calls: how many calls of functions were proved to answer whatever is stored; checked: those that do so by answering
    NULL where DuckDB would fail.
    ranges: of the columns of `node`, as kernel/totality.py computes them; none where nothing is known.
    """

    node: Project
    unit: Column
    proof: Proof
    single: bool
    calls: int = 0
    checked: tuple[Call, ...] = ()
    ranges: tuple[Range | None, ...] = ()

    def range_of(self, expr: Expr) -> Range | None:
        """Of a column of `node`: what it can hold by its definition."""
        if not isinstance(expr, Column):
            return None
        known = {f.id: range_ for f, range_ in zip(self.node.fields, self.ranges, strict=False)}
        return known.get(expr.id)


def described(proof: Proof) -> list[str]:
    """The proof as a tree, one rule a line; projections of a projection are said once."""
    return list(_tree(proof, 0))


def _tree(proof: Proof, depth: int) -> Iterator[str]:
    while proof.rule is Rule.PROJECT and proof.below[0].rule is Rule.PROJECT:
        (proof,) = proof.below
    about = f": {proof.about}" if proof.about else ""
    yield f"{'  ' * depth}{proof.rule}{about}"
    for below in proof.below:
        yield from _tree(below, depth + 1)


def summary(proof: Proof) -> str:
    """The rules that say whose rows these are, in the order of the tables: filters and projections are left out."""
    sentences = dict.fromkeys(_said(proof))
    return " · ".join(sentences)


def totality(source: Source) -> str:
    """That nothing can stop it, in a line, and which functions may be NULL for it."""
    calls = "1 function call" if source.calls == 1 else f"{source.calls:,} function calls"
    line = f"No stored value can make it fail: {calls} checked"
    if not source.checked:
        return f"{line}."
    named = dict.fromkeys(unchecked(call.function) for call in source.checked)
    return f"{line}; NULL where a result does not fit: {', '.join(named)}."


def _said(proof: Proof) -> Iterator[str]:
    for below in proof.below:
        yield from _said(below)
    if proof.rule not in (Rule.FILTER, Rule.PROJECT):
        yield f"{proof.about}: {proof.rule}" if proof.about else str(proof.rule)
