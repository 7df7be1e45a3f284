"""The SQL of one plan that scratch runs: public relations, noisy tables, and the query over them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpsql.engine.scratch import Scratch
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sources import Column
from dpsql.errors import Refused
from dpsql.execution.passed_text import PassedText, example
from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Expr, columns_of
from dpsql.ir.nodes import Join, Loaded, Node, Noisy, PublicText, Scan, UserTable, walk
from dpsql.plan.dialects.scratch import SCRATCH
from dpsql.plan.render.finish import finish, noisy_columns
from dpsql.plan.render.relation import Relations, name, output
from dpsql.plan.stages import FAN_OUT_LIMIT, NoisyStage, ReleasePlan
from dpsql.release.nonnegative import nonnegative
from dpsql.release.released_rows import ReleasedRows
from dpsql.session import Session


@dataclass(slots=True)
class PlanSql:
    """tables: the public tables' scratch names. user_tables: the SQL of the user's relations.

    number: tells this run's noisy tables from others'."""

    plan: ReleasePlan
    tables: dict[str, str]
    user_tables: dict[str, str]
    number: int
    loaded: set[int] = field(default_factory=set)
    text: PassedText | None = None

    @classmethod
    def of(cls, session: Session, plan: ReleasePlan) -> PlanSql:
        text = PassedText.of(session, plan.final) if isinstance(plan.final, PublicText) else None
        roots = [plan.final, *(load for stage in plan.stages for load in stage.loads)]
        needed = dict.fromkeys(n.table for root in roots for n in walk(root) if isinstance(n, Scan))
        tables = {table: session.load_public(table) for table in needed}
        user = dict.fromkeys(n.table for root in roots for n in walk(root) if isinstance(n, UserTable))
        return cls(
            plan, tables, {table: session.user.relation(table) for table in user}, session.next_number(), text=text
        )

    def relation(self, node: Node, *, empty: bool = False) -> str:
        return Relations(lambda leaf: self._leaf(leaf, empty), SCRATCH).render(node)

    def final(self, *, empty: bool = False) -> str:
        """The statement's last query, its columns under their names."""
        return self._output(self.plan.final, empty=empty)

    def _output(self, node: Node, *, empty: bool = False) -> str:
        return output(self.relation(node, empty=empty), node, SCRATCH.identifier)

    def _parts(self, *, empty: bool = False) -> dict[str, str]:
        """The relations that stand in a text, by their names there."""
        final = self.plan.final
        assert isinstance(final, PublicText)
        return {name: self._output(part, empty=empty) for name, part in zip(final.names, final.parts, strict=True)}

    def rows(self, scratch: Scratch) -> ScratchResult:
        """The statement's rows, when all stages are loaded."""
        return scratch.query(self.final(), shown=True) if self.text is None else self.text.rows(self._parts())

    def describe(self, scratch: Scratch) -> None:
        """Find type and name errors before anything is charged."""
        for stage in self.plan.stages:
            for load in stage.loads:
                scratch.describe(self.relation(load, empty=True))
        if self.text is None:
            scratch.describe(self.final(empty=True))
        elif self.plan.stages:
            self.describe_text(scratch)

    def columns(self, scratch: Scratch) -> tuple[Column, ...]:
        """The result's columns, over parts and released rows without rows: nothing runs."""
        if self.text is None:
            return scratch.describe(self.final(empty=True))
        return self.text.describe(self._parts(empty=True))

    def describe_text(self, scratch: Scratch) -> None:
        """Find what DuckDB would refuse of the text, over parts of one row that is made up: PIVOT
        takes its columns from rows."""
        assert self.text is not None
        parts = self._parts(empty=True)
        self.text.describe({name: example(scratch.describe(sql)) for name, sql in parts.items()})

    def contents(self, scratch: Scratch, tables: tuple[str, ...]) -> dict[str, str]:
        """A digest of the rows of each of the user's tables, in any order."""
        return {table: _digest(scratch, self.user_tables[table]) for table in tables}

    def check_fan_outs(self, scratch: Scratch, stage: NoisyStage, *, released: bool) -> None:
        """Refuse joins in which one private row can meet more than FAN_OUT_LIMIT public rows: they would make running out
        of memory a thing the data decides. What holds no released rows is counted when the plan is made, the rest
        (released=True) when its rows are there."""
        for fan_out in stage.fan_outs:
            rows = stage.loads[fan_out.index]
            if any(isinstance(leaf, Noisy) for leaf in walk(rows)) is not released:
                continue
            met = self._most_met(scratch, rows, fan_out.keys)
            if met > FAN_OUT_LIMIT:
                raise Refused(
                    f"one private row could meet {met:,} rows of the other side in this join",
                    code=136,
                    at=fan_out.at,
                    why=f"At most {FAN_OUT_LIMIT:,} are allowed: one person must not make a join run out of memory.",
                    fix="Join on equality of columns that few rows share, or make the other side smaller first.",
                )

    def check_single(self, scratch: Scratch) -> None:
        """Refuse subqueries that are used as values and have several rows: of public tables, so this tells of nobody."""
        relations: list[tuple[Node, tuple[Node, ...]]] = [(self.plan.final, ())]
        for stage in self.plan.stages:
            relations += [(stage.source.node, stage.loads), *((load, ()) for load in stage.loads)]
        for relation, loads in relations:
            for node in walk(relation):
                if isinstance(node, Join) and node.single:
                    rows = loads[node.right.index] if isinstance(node.right, Loaded) else node.right
                    self._check_single(scratch, node, rows)

    def _check_single(self, scratch: Scratch, node: Join, rows: Node) -> None:
        keys = _keys(node)
        if self._most_met(scratch, rows, keys) > 1:
            what = "this subquery has several rows"
            raise Refused(
                f"{what} for one row of the outer query" if keys else what,
                code=121,
                at=node.at,
                why="A subquery that is used as a value must have at most one row"
                + (", for every value that its table has." if keys else "."),
                fix="Aggregate, such as MAX(x), or say in WHERE which row is meant.",
            )

    def _most_met(self, scratch: Scratch, rows: Node, keys: tuple[Expr, ...]) -> int:
        shown = [SCRATCH.render(key, lambda column: name(column.id)) for key in keys]
        where = f" WHERE {' AND '.join(f'{key} IS NOT NULL' for key in shown)}" if shown else ""
        by = f" GROUP BY {', '.join(shown)}" if shown else ""
        counted = f"SELECT count(*) AS met FROM ({self.relation(rows)}) AS t{where}{by}"
        with closing(scratch.query(f"SELECT coalesce(max(met), 0) AS most FROM ({counted}) AS t")) as result:
            return int(result.fetchall()[0][0])

    def load(self, scratch: Scratch, stages: Sequence[NoisyStage], released: Sequence[ReleasedRows]) -> None:
        """The rows of stages; all levels of a family together."""
        waiting = [stage for stage in stages if stage.number not in self.loaded]
        by_stage = nonnegative(waiting, {rows.stage: rows for rows in released})
        for stage in waiting:
            self._load(scratch, stage, by_stage[stage.number])

    def _load(self, scratch: Scratch, stage: NoisyStage, rows: ReleasedRows) -> None:
        types = noisy_columns(stage, exact=self.plan.exact)
        columns = dict(rows.columns)
        if not types:  # no keys, no measures: one row
            types, columns = {"one": "BIGINT"}, {"one": _ones(rows.rows)}
        scratch.load(self._table(stage.number), columns, types)
        self.loaded.add(stage.number)

    def drop(self, scratch: Scratch) -> None:
        for number in sorted(self.loaded):
            scratch.drop(self._table(number))
        self.loaded.clear()

    def _table(self, stage: int) -> str:
        return f"n_{self.number}_{stage}"

    def _leaf(self, node: Scan | UserTable | Noisy | Loaded, empty: bool) -> str:
        match node:
            case Scan():
                table = SCRATCH.identifier(self.tables[node.table])
                items = [f'"{i}" AS {name(f.id)}' for i, f in enumerate(node.fields)]
                return f"SELECT {', '.join(items)} FROM {table}"
            case UserTable():
                items = [f"{SCRATCH.identifier(f.name)} AS {name(f.id)}" for f in node.fields]
                return f"SELECT {', '.join(items)} FROM {self.user_tables[node.table]}"
            case Noisy():
                stage = self.plan.stages[node.stage]
                return finish(stage, self._source(stage, empty), exact=self.plan.exact)
            case Loaded():
                raise AssertionError("only the vault reads loaded rows")

    def _source(self, stage: NoisyStage, empty: bool) -> str:
        if not empty:
            return SCRATCH.identifier(self._table(stage.number))
        columns = noisy_columns(stage, exact=self.plan.exact) or {"one": "BIGINT"}
        return f"(SELECT {', '.join(f'CAST(NULL AS {t}) AS {c}' for c, t in columns.items())} LIMIT 0) AS empty"


def _keys(node: Join) -> tuple[Expr, ...]:
    """The sides of ON's equalities that are of the right."""
    ids = {f.id for f in node.right.fields}
    sides = (side for part in conjuncts(node.on) if isinstance(part, Call) for side in part.args)
    return tuple(side for side in sides if columns_of(side) and columns_of(side) <= ids)


def _digest(scratch: Scratch, table: str) -> str:
    halves = ", ".join(f"sum(CAST(md5_number_{half}(CAST(t AS VARCHAR)) AS HUGEINT))" for half in ("lower", "upper"))
    with closing(scratch.query(f"SELECT count(*), {halves} FROM {table} AS t")) as result:
        return repr(result.fetchall())


def _ones(count: int) -> npt.NDArray[np.int64]:
    return np.ones(count, dtype=np.int64)
