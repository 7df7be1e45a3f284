"""Step 5, cut: a tracked statement falls apart into releases below and public relations above.

Every release aggregate becomes a draft of a Stage; what was above it reads Noisy(number) instead. Inside a draft's
private input every largest public part becomes Loaded(index): scratch computes it, the vault is handed its rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsql.domain.facts import Domain
from dpsql.domain.types import BIGINT, Kind
from dpsql.errors import Refused
from dpsql.ir.expr import GROUPING, AggregateCall, Call, Literal
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Aggregate, Field, Loaded, Node, Noisy, Project, SetOp, with_inputs
from dpsql.ir.scoping import where
from dpsql.plan.clamps import clamped_nulls
from dpsql.plan.stages import FanOut, Level
from dpsql.plan.tracked import Origin, Private, Tracked


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedStage:
    """A release before its bounds: the aggregate, its private input and facts, and the public rows it is handed."""

    number: int
    node: Aggregate
    input: Node
    private: Private
    domains: Mapping[int, Domain]
    loads: tuple[Node, ...]
    fan_outs: tuple[FanOut, ...] = ()
    origins: Mapping[int, Origin]  # which columns of the input are a table's own
    level: Level | None = None  # where it stands among grouping sets
    clamps: tuple[Call, ...] = ()  # that make a bound of a NULL


@dataclass(slots=True)
class Loads:
    """The public rows that one release is handed."""

    nodes: list[Node] = field(default_factory=list)
    fan_outs: list[FanOut] = field(default_factory=list)


@dataclass(slots=True)
class Cutter:
    ids: Ids
    drafts: list[UnboundedStage] = field(default_factory=list)
    done: dict[Aggregate, Node] = field(default_factory=dict)  # equal releases are one stage: answered and charged once

    def public(self, tracked: Tracked) -> Node:
        """The relation with its releases replaced by their noisy results."""
        if tracked.is_release:
            return self._release(tracked)
        return with_inputs(tracked.node, tuple(self.public(child) for child in tracked.inputs))

    def _vault(self, tracked: Tracked, loads: Loads) -> Node:
        if tracked.private is None:
            for f in tracked.node.fields:
                if f.type.kind is Kind.ANY:
                    raise Refused(
                        f'the type of column "{f.name}" is not known before the query runs',
                        code=130,
                        at=where(tracked.node),
                        why="It is joined to private rows, which needs its type beforehand.",
                        fix="Leave it out or CAST it: CREATE TABLE narrow AS SELECT a, CAST(b AS VARCHAR) AS b FROM ….",
                    )
            node = self.public(tracked)
            if node not in loads.nodes:
                loads.nodes.append(node)
            index = loads.nodes.index(node)
            if tracked.meets is not None:
                loads.fan_outs.append(FanOut(index, tracked.meets.keys, tracked.meets.at))
            return Loaded(index, tracked.node.fields)
        return with_inputs(tracked.node, tuple(self._vault(child, loads) for child in tracked.inputs))

    def _release(self, tracked: Tracked) -> Node:
        node = tracked.node
        assert isinstance(node, Aggregate)
        if node in self.done:
            return self.done[node]
        below = tracked.inputs[0]
        assert below.private is not None
        loads = Loads()
        source = self._vault(below, loads)
        if node.sets is None and not any(call.function == GROUPING for call in node.calls):
            result = self._draft(node, source, tracked, loads, None)
        else:
            sets = node.sets or (tuple(range(len(node.keys))),)
            result = self._levels(node, sets, source, tracked, loads)
        self.done[node] = result
        return result

    def _draft(self, node: Aggregate, source: Node, release: Tracked, loads: Loads, level: Level | None) -> Node:
        (below,) = release.inputs
        assert below.private is not None
        number = len(self.drafts)
        self.drafts.append(
            UnboundedStage(
                number=number,
                node=dataclasses.replace(node, sets=None),
                input=source,
                private=below.private,
                domains=below.domains,
                origins=below.origins,
                loads=tuple(loads.nodes),
                fan_outs=tuple(loads.fan_outs),
                level=level,
                clamps=clamped_nulls(release),
            )
        )
        return Noisy(number, node.fields)

    def _levels(
        self, node: Aggregate, sets: tuple[tuple[int, ...], ...], source: Node, release: Tracked, loads: Loads
    ) -> Node:
        """One stage per grouping set, put together by UNION ALL; absent keys are NULL."""
        family = len(self.drafts)
        whole: Node | None = None
        for position, kept in enumerate(sets):
            keys = tuple(self.ids.field(node.key_fields[i].name, node.key_fields[i].type) for i in kept)
            answers = [
                _grouping_bits(call, node, kept) if call.function == GROUPING else self.ids.field(f.name, f.type)
                for f, call in zip(node.call_fields, node.calls, strict=True)
            ]
            calls = tuple(f for f in answers if isinstance(f, Field))
            asked = tuple(call for call in node.calls if call.function != GROUPING)
            one = Aggregate(source, keys, tuple(node.keys[i] for i in kept), calls, asked)
            level = Level(family=family, keys=kept) if len(sets) > 1 else None
            noisy = self._draft(one, source, release, loads, level)
            by_key = dict(zip(kept, keys, strict=True))
            cells = [
                by_key[i].column() if i in by_key else Literal(None, f.type) for i, f in enumerate(node.key_fields)
            ]
            shown = (f.column() if isinstance(f, Field) else f for f in answers)
            part = Project(noisy, self._fresh(node.fields), (*cells, *shown))
            fields = node.fields if position == len(sets) - 1 else self._fresh(node.fields)
            if whole is None and len(sets) == 1:
                return Project(noisy, node.fields, part.exprs)
            whole = part if whole is None else SetOp("union", True, whole, part, fields)
        assert whole is not None
        return whole

    def _fresh(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(self.ids.field(f.name, f.type) for f in fields)


def _grouping_bits(call: AggregateCall, node: Aggregate, kept: tuple[int, ...]) -> Literal:
    """GROUPING(a, b) in one grouping set: a bit for each key, the last one lowest, set where the key is left out."""
    bits = 0
    for arg in call.args:
        bits = 2 * bits + (node.keys.index(arg) not in kept)
    return Literal(bits, BIGINT)


def cut(top: Tracked, ids: Ids) -> tuple[tuple[UnboundedStage, ...], Node]:
    """(drafts in the order they must run, the public relation over their noisy results)."""
    cutter = Cutter(ids)
    final = cutter.public(top)
    return tuple(cutter.drafts), final
