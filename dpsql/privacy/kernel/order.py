"""Order: the rows of a unit are a function of its rows as a multiset of values, whatever an engine takes first.

An engine that groups, sorts or joins by equality hands on one of several equal values, and numbers equal rows as it meets
them. Lemma: none of that can be seen. Proof: values that are equal are the same value: of all types but REAL and INTERVAL
always; reals are canonical (neither -0.0 nor NaN, see below) wherever they are grouped, sorted, aggregated or joined by,
and intervals are nowhere. And a call that sees the order among peers is sorted by all columns of its input, so rows that
still tie are the same row, and exchanging them changes nothing: not even where several such calls stand beside each other,
because they then run over one partition in one order, so that an exchange moves the results of all of them together. Every
other call is a function of the set of values and of how often each occurs: sums add integers or decimals, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpsql.domain.types import Kind
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Frame, Literal, SortKey, WindowCall, walk
from dpsql.ir.nodes import Aggregate, Field, Filter, Join, Loaded, Node, Project, Scan, SemiJoin, SetOp, Window, inputs
from dpsql.privacy.kernel.unproved import unproved

Ids = frozenset[int]
# Aggregates and windows of which the order of rows decides nothing, but for ROWS frames; which of them hand on one of
# their argument's values as it is.
COUNTED = frozenset(("count", "sum", "min", "max", "bool_and", "bool_or"))
ONE_OF = frozenset(("min", "max", "first", "last", "mode", "quantile_disc"))
ONE_OF_WINDOW = frozenset(("min", "max", "lag", "lead", "first_value", "last_value", "nth_value"))
QUANTILES = frozenset(("quantile_cont", "quantile_disc"))
ENDS = frozenset(("first", "last"))
RANKS = frozenset(("rank", "dense_rank", "percent_rank", "cume_dist"))
SHARES = frozenset(("percent_rank", "cume_dist"))  # m / n with n > 0 and m >= 0: canonical
BY_NUMBER = frozenset(("row_number", "ntile", "lag", "lead"))  # whatever their frame says
WHOLE = Frame("ROWS", ("UNBOUNDED PRECEDING", None), ("UNBOUNDED FOLLOWING", None))
NUMBERED = frozenset(("row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"))
EQUALITIES = ("equal", "is_not_distinct")


def canonical(node: Node) -> Ids:
    """The REAL columns of a relation that are neither -0.0 nor NaN on any row."""
    below = frozenset[int]().union(*(canonical(child) for child in inputs(node)))
    match node:
        case Scan() | Loaded():
            return _reals(node.fields)  # cleaned so
        case Filter():
            _check_read(node, (node.predicate,), below)
            return below
        case Join() | SemiJoin():
            _check_condition(node, node.on, below)
            return below
        case Project():
            pairs = zip(node.fields, node.exprs, strict=True)
            return frozenset(f.id for f, e in pairs if e.type.kind is Kind.REAL and _is_canonical(e, below))
        case Aggregate():
            return _aggregate(node, below)
        case Window():
            return _window(node, below)
        case SetOp():
            sides = zip(node.fields, node.left.fields, node.right.fields, strict=True)
            return frozenset(
                f.id for f, a, b in sides if f.type == a.type == b.type and a.id in below and b.id in below
            )
    raise unproved(node, "the order of its rows may be seen")


def _reals(fields: Iterable[Field]) -> Ids:
    return frozenset(f.id for f in fields if f.type.kind is Kind.REAL)


def _is_canonical(expr: Expr, below: Ids) -> bool:
    match expr:
        case Column():
            return expr.id in below
        case Literal():
            value = expr.value
            odd = isinstance(value, float) and (math.isnan(value) or (value == 0 and math.copysign(1, value) < 0))
            return not odd
        case Call(function="canonical"):
            return True
    return False


def _check_read(node: Node, exprs: Iterable[Expr], below: Ids) -> None:
    """Whatever real column is read is canonical."""
    for expr in exprs:
        for part in walk(expr):
            if isinstance(part, Column) and part.type.kind is Kind.REAL and part.id not in below:
                raise unproved(node, "it reads a real number that is not canonical")


def _check_sorted(node: Node, exprs: Iterable[Expr], below: Ids) -> None:
    """What is grouped, sorted, aggregated or joined by is canonical, and no interval."""
    for expr in exprs:
        if expr.type.kind is Kind.INTERVAL:
            raise unproved(node, "it groups, sorts or joins by an interval")
        if expr.type.kind is Kind.REAL and not _is_canonical(expr, below):
            raise unproved(node, "it groups, sorts or joins by a real number that is not canonical")


def _check_condition(node: Node, on: Expr | None, below: Ids) -> None:
    if on is None:
        return
    _check_read(node, (on,), below)
    for part in walk(on):
        if isinstance(part, Call) and part.function in EQUALITIES:
            _check_sorted(node, part.args, below)


def _aggregate(node: Aggregate, below: Ids) -> Ids:
    _check_read(node, (*node.keys, *node.calls), below)
    _check_sorted(node, node.keys, below)
    every = frozenset(f.id for f in node.input.fields)
    for call in node.calls:
        _check_sorted(node, (*call.args, *(key.expr for key in call.order)), below)
        if not _is_of_a_multiset(call, every):
            raise unproved(node, f"{call.function} may depend on the order of rows")
    one_of = (f for f, call in zip(node.call_fields, node.calls, strict=True) if call.function in ONE_OF)
    return _reals((*node.key_fields, *one_of))


def _is_of_a_multiset(call: AggregateCall, every: Ids) -> bool:
    if call.options:
        return False
    if call.function in COUNTED | QUANTILES:
        return not call.order and (call.function != "sum" or _is_exact(call.args))
    if call.function in ENDS:
        return not call.distinct and _is_total(call.order, every)
    # the first of the rows with a most frequent value: rows that tie in the order have one value, which ends it
    return call.function == "mode" and not call.distinct and call.args[0] in [key.expr for key in call.order]


def _is_exact(args: tuple[Expr, ...]) -> bool:
    return all(arg.type.kind in (Kind.INTEGER, Kind.DECIMAL) for arg in args)


def _is_total(order: tuple[SortKey, ...], every: Ids) -> bool:
    return every <= {key.expr.id for key in order if isinstance(key.expr, Column)}


def _window(node: Window, below: Ids) -> Ids:
    _check_read(node, node.calls, below)
    every = frozenset(f.id for f in node.input.fields)
    for call in node.calls:
        _check_sorted(node, (*call.args, *call.partition, *(key.expr for key in call.order)), below)
        if not _is_of_a_partition(call, every):
            raise unproved(node, f"{call.function} may depend on the order of rows")
    if len({(call.partition, call.order) for call in node.calls if _is_by_place(call)}) > 1:
        raise unproved(node, "two windows number equal rows in different orders")
    one_of = (
        f for f, call in zip(node.call_fields, node.calls, strict=True) if call.function in ONE_OF_WINDOW | SHARES
    )
    return below | _reals(one_of)


def _is_of_a_partition(call: WindowCall, every: Ids) -> bool:
    by_rows = call.frame is not None and call.frame.unit == "ROWS"
    if by_rows and call.frame is not None and call.frame.exclude not in (None, "CURRENT ROW"):
        return False
    if call.function in NUMBERED or by_rows:
        return call.function in NUMBERED | COUNTED and _is_total(call.order, every) and _sums_exactly(call)
    return call.function in COUNTED | RANKS and _sums_exactly(call)


def _is_by_place(call: WindowCall) -> bool:
    """Equal rows may get different results."""
    return call.function in BY_NUMBER or (call.frame is not None and call.frame.unit == "ROWS" and call.frame != WHOLE)


def _sums_exactly(call: WindowCall) -> bool:
    return call.function != "sum" or _is_exact(call.args)
