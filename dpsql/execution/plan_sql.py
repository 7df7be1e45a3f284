"""The SQL of one plan that scratch runs: public relations, noisy tables, and the query over them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpsql.engine.scratch import Scratch
from dpsql.errors import Refused
from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Loaded, Node, Noisy, Scan, UserTable, walk
from dpsql.plan.dialects import scratch as dialect
from dpsql.plan.render.finish import finish, noisy_columns
from dpsql.plan.render.relation import Relations, name, output
from dpsql.plan.stages import FAN_OUT_LIMIT, NoisyStage, ReleasePlan
from dpsql.release.noise import ReleasedRows
from dpsql.release.nonnegative import nonnegative
from dpsql.session import USER, Session


@dataclass(slots=True)
class PlanSql:
    """tables: the public tables' scratch names. number: tells this run's noisy tables from others'."""

    plan: ReleasePlan
    tables: dict[str, str]
    number: int
    loaded: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, session: Session, plan: ReleasePlan) -> PlanSql:
        roots = [plan.final, *(load for stage in plan.stages for load in stage.loads)]
        needed = dict.fromkeys(n.table for root in roots for n in walk(root) if isinstance(n, Scan))
        return cls(plan, {table: session.load_public(table) for table in needed}, session.next_number())

    def relation(self, node: Node, *, empty: bool = False) -> str:
        return Relations(lambda leaf: self._leaf(leaf, empty), dialect.render).render(node)

    def final(self, *, empty: bool = False) -> str:
        """The statement's last query, its columns under their names."""
        return output(self.relation(self.plan.final, empty=empty), self.plan.final, dialect.identifier)

    def describe(self, scratch: Scratch) -> None:
        """Find type and name errors before anything is charged."""
        for stage in self.plan.stages:
            for load in stage.loads:
                scratch.describe(self.relation(load, empty=True))
        scratch.describe(self.final(empty=True))

    def contents(self, scratch: Scratch, tables: tuple[str, ...]) -> dict[str, str]:
        """A digest of the rows of each of the user's tables, in whatever order they stand."""
        return {table: _digest(scratch, dialect.identifier(USER + table)) for table in tables}

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
                    why=f"At most {FAN_OUT_LIMIT:,} are allowed: a join must not run out of memory because of one person.",
                    fix="Join on equality of columns that few rows share, or make the other side smaller first.",
                )

    def _most_met(self, scratch: Scratch, rows: Node, keys: tuple[Expr, ...]) -> int:
        shown = [dialect.render(key, lambda column: name(column.id)) for key in keys]
        where = f" WHERE {' AND '.join(f'{key} IS NOT NULL' for key in shown)}" if shown else ""
        by = f" GROUP BY {', '.join(shown)}" if shown else ""
        counted = f"SELECT count(*) AS met FROM ({self.relation(rows)}) AS t{where}{by}"
        with closing(scratch.query(f"SELECT coalesce(max(met), 0) AS most FROM ({counted}) AS t")) as result:
            return int(result.fetchall()[0][0])

    def load(self, scratch: Scratch, stages: Sequence[NoisyStage], released: Sequence[ReleasedRows]) -> None:
        """The rows of stages; all levels of a family together."""
        waiting = [(s, rows) for s, rows in zip(stages, released, strict=True) if s.number not in self.loaded]
        stages = [stage for stage, _ in waiting]
        for stage, rows in zip(stages, nonnegative(stages, [rows for _, rows in waiting]), strict=True):
            self._load(scratch, stage, rows)

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
                table = dialect.identifier(self.tables[node.table])
                items = [f'"{i}" AS {name(f.id)}' for i, f in enumerate(node.fields)]
                return f"SELECT {', '.join(items)} FROM {table}"
            case UserTable():
                table = dialect.identifier(USER + node.table)
                items = [f"{dialect.identifier(f.name)} AS {name(f.id)}" for f in node.fields]
                return f"SELECT {', '.join(items)} FROM {table}"
            case Noisy():
                stage = self.plan.stages[node.stage]
                return finish(stage, self._source(stage, empty), exact=self.plan.exact)
            case Loaded():
                raise AssertionError("only the vault reads loaded rows")

    def _source(self, stage: NoisyStage, empty: bool) -> str:
        if not empty:
            return dialect.identifier(self._table(stage.number))
        columns = noisy_columns(stage, exact=self.plan.exact) or {"one": "BIGINT"}
        return f"(SELECT {', '.join(f'CAST(NULL AS {t}) AS {c}' for c, t in columns.items())} LIMIT 0) AS empty"


def _digest(scratch: Scratch, table: str) -> str:
    halves = ", ".join(f"sum(CAST(md5_number_{half}(CAST(t AS VARCHAR)) AS HUGEINT))" for half in ("lower", "upper"))
    with closing(scratch.query(f"SELECT count(*), {halves} FROM {table} AS t")) as result:
        return repr(result.fetchall())


def _ones(count: int) -> npt.NDArray[np.int64]:
    return np.ones(count, dtype=np.int64)
