"""FIRST and LAST of a group, without an array of its values: one of 1 GB would stop the query.

Lemma: the relation is the same. Proof: a window over the group's rows, in the same order, gives each of them the value of
the first row (of the first that passes the FILTER, which come before all others; NULL where none does). All rows of a
group have one value then, and its MIN is that value.
"""

from __future__ import annotations

import dataclasses

from dpsql.domain.types import BOOLEAN
from dpsql.ir.expr import AggregateCall, Call, Column, Frame, Literal, SortKey, WindowCall
from dpsql.ir.nodes import Aggregate, Field, Window

ENDS = ("first", "last")
WHOLE = Frame("ROWS", ("UNBOUNDED PRECEDING", None), ("UNBOUNDED FOLLOWING", None))


def without_arrays(node: Aggregate) -> Aggregate:
    """Not of grouping sets, of which each has groups of its own (refusals.py)."""
    ends = [(f, call) for f, call in zip(node.call_fields, node.calls, strict=True) if call.function in ENDS]
    if not ends or node.sets is not None:
        return node
    made = {call: Column(f.id, f.type, f.name) for f, call in ends}
    below = Window(node.input, tuple(map(_field, made.values())), tuple(_window(call, node) for call in made))
    calls = tuple(
        AggregateCall("min", (made[call],), call.type) if call.function in ENDS else call for call in node.calls
    )
    return dataclasses.replace(node, input=below, calls=calls)


def _field(column: Column) -> Field:
    return Field(column.id, column.name, column.type)


def _window(call: AggregateCall, node: Aggregate) -> WindowCall:
    (value,) = call.args
    # the rows' order is total, so the last in it is the first in the opposite one
    order = call.order if call.function == "first" else tuple(map(_opposite, call.order))
    if call.where is not None:
        passes = Call("is_true", (call.where,), BOOLEAN)
        value = Call("case", (passes, value, Literal(None, value.type)), value.type)
        order = (SortKey(passes, descending=True, nulls_first=False), *order)
    return WindowCall("first_value", (value,), call.type, node.keys, order, WHOLE)


def _opposite(key: SortKey) -> SortKey:
    return dataclasses.replace(key, descending=not key.descending, nulls_first=not key.nulls_first)
