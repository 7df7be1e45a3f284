"""A ready stage as statements of the vault. Each evaluates the stage's rows, weighs units by the rows it sees, and answers
groups and integers: totals already on their noise grids, or weights of candidates.

    rows      u, g, p<j>: the certified source's rows in the stage's groups (rows.py)
    pairs     u, g, p<j>: what a unit adds to a group, where units are counted or their sums are bounded
    weights   u, e<n>: one weight for each set of rows that enter something (ball.py)
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from dpsql.plan.balls import FULL, Ball, Norm
from dpsql.plan.candidates import WORD, Candidates, Ends
from dpsql.plan.measurements import (
    Axis,
    Choice,
    Counted,
    DistinctCount,
    Histogram,
    Measurement,
    OnAxis,
    Product,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    axes,
    entering,
    limited_by,
    most,
)
from dpsql.plan.ready import AllRows, Occurring, Ready
from dpsql.plan.render.ball import huge, unit_weight, weighted, weights
from dpsql.plan.render.keys import Joins, key_order, private_keys, travelled
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.rows import Extra, rows
from dpsql.plan.render.selection import SHOWN, voted_for, votes_of_pairs
from dpsql.plan.stages import GRID_LIMIT, Draw, NoisyStage
from dpsql.plan.vault_query import (
    CANDIDATE,
    GROUP,
    VOTES,
    WEIGHT,
    Columns,
    Question,
    VaultColumn,
    VaultQuery,
    key_table,
    total,
)

LARGEST = 2**62
Parts = Sequence[tuple[int, Measurement]]


NOT_ASKED = ("none", "summed")  # mechanisms of what the vault is not asked for


@dataclass(slots=True, kw_only=True)
class Printer:
    """kept: the rows are stored once and read twice, rather than evaluated twice (sources that are no one snapshot)."""

    ready: Ready
    relations: Relations
    exact: bool
    kept: bool
    salt: int
    tables: dict[str, Columns] = field(default_factory=dict)

    @property
    def stage(self) -> NoisyStage:
        return self.ready.stage

    def rows(self, parts: Parts, *, present: Container[int] = (), extra: Extra = ()) -> str:
        joins = Joins(self.tables, self.stage.source.single)
        return rows(self.ready, self.relations, joins, parts, present=present, extra=extra)

    def step(self, name: str, text: str) -> str:
        """A step that is read twice."""
        return f"{name} AS {'' if self.kept else 'NOT '}MATERIALIZED ({text})"

    @property
    def one_group(self) -> bool:
        return isinstance(self.ready.groups, AllRows)

    def ball(self, per_rows: bool, norm: Norm) -> Ball | None:
        """None where a unit has one row, by the form of the relation: it counts in full."""
        if self.stage.source.single or (not per_rows and self.one_group):
            return None
        limit = self.stage.limit.rows if per_rows else self.stage.limit.groups
        return limit.ball(norm)


def statements(ready: Ready, relations: Relations, *, salt: int, exact: bool = False, kept: bool = True) -> VaultQuery:
    """All that the vault is asked for a stage whose groups are public."""
    printer = Printer(ready=ready, relations=relations, exact=exact, kept=kept, salt=salt)
    left_out = TopGroups if exact else ()
    noised = [
        (j, n)
        for j, n in enumerate(ready.stage.noised)
        if n.draw.mechanism not in NOT_ASKED and not isinstance(n.measurement, left_out)
    ]
    questions: list[Question] = [_groups(printer)] if exact else []
    for norm in (1, 2):
        in_norm = [(j, n.measurement) for j, n in noised if n.ball == norm]
        by_rows = [(j, m) for j, m in in_norm if _per_rows(m)]
        by_units = [(j, m) for j, m in in_norm if _per_groups(m)]
        questions += [_of_rows(printer, by_rows, norm)] if by_rows else []
        questions += [_of_units(printer, by_units, norm)] if by_units else []
    by_values = [(j, n.measurement) for j, n in noised if limited_by(n.measurement) == "values"]
    questions += [_of_values(printer, by_values)] if by_values else []
    for j, n in noised:
        match n.measurement:
            case DistinctCount():
                questions.append(_distinct(printer, j, n.measurement))
            case Choice() | Histogram():
                questions.append(_candidates(printer, j, n.measurement, n.draw))
            case _:
                pass
    return VaultQuery(questions=tuple(questions), tables=printer.tables)


def _per_rows(one: Measurement) -> bool:
    return isinstance(one, RowTotal | RowMoments | TopGroups) and limited_by(one) == "rows"


def _per_groups(one: Measurement) -> bool:
    return isinstance(one, UnitTotal | TopGroups) and limited_by(one) == "groups"


def _groups(printer: Printer) -> Question:
    """Without noise: the groups that occur."""
    return Question(sql=f"SELECT DISTINCT g FROM ({printer.rows(())}) AS rows", columns=(GROUP,))


# --- totals of rows ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Weighing:
    """The weight of each measurement's rows, by name, and what it is shared by: the unit's rows that enter. Measurements
    over the same rows share one. present: whose rows are counted by a column h<j> of their own, without making p<j>."""

    names: dict[int, str]
    counts: dict[str, str]
    present: frozenset[int]

    @classmethod
    def of(cls, parts: Parts, *, apart: bool) -> Weighing:
        by_entering: dict[object, str] = {}
        names: dict[int, str] = {}
        counts: dict[str, str] = {}
        present: set[int] = set()
        for j, one in parts:
            name = by_entering.setdefault(entering(one), f"e{len(by_entering)}")
            names[j] = name
            if name in counts:
                continue
            counts[name] = "count(*)" if enters_all(one) else f"count({'h' if apart else 'p'}{j})"
            present |= set() if enters_all(one) or not apart else {j}
        return cls(names, counts, frozenset(present))


def _of_rows(printer: Printer, parts: Parts, norm: Norm) -> Question:
    """Without keys a unit's rows are added up first and weighed once: Σ w·p = w·Σ p. With keys each row is weighed: most
    pairs of a unit and a group have few rows, and need no hash table of their own then."""
    weighing = Weighing.of(parts, apart=not printer.one_group)
    ball = printer.ball(True, 1 if printer.one_group else norm)
    sums = Sums(weighing, "full" if ball is None else "of units" if printer.one_group else "of rows")
    totals = {j: _row_totals(printer, j, one, sums) for j, one in parts}
    outs = _outs(printer, parts, totals, sums)
    rows_ = printer.rows(parts, present=weighing.present if sums.kind == "of rows" else ())
    if ball is None:
        return _summed(printer, [f"rows AS ({rows_})"], "rows", sums, outs, parts)
    if printer.one_group:  # in one group both norms are one
        unit_weights = (f"{unit_weight(ball, count)} AS {name}" for name, count in weighing.counts.items())
        added = (f"{text} AS {name}" for text, name in sums.inner.items())
        units = f"SELECT {', '.join([*unit_weights, *added])} FROM rows GROUP BY u"
        return _summed(printer, [f"rows AS ({rows_})", f"units AS ({units})"], "units", sums, outs, parts)
    if printer.stage.limit.rows.most == 1:
        return _summed(printer, _each_unit(printer, ball, rows_, ("g",), weighing, parts), "rows", sums, outs, parts)
    steps = [printer.step("rows", rows_), f"weights AS ({weights(ball, weighing.counts, 'rows', by_group=True)})"]
    return _summed(printer, steps, _weighed("rows"), sums, outs, parts)


def _weighed(rows_: str) -> str:
    return f"{rows_} JOIN weights ON {rows_}.u = weights.u"


def _of_values(printer: Printer, parts: Parts) -> Question:
    """Each sum with a weight of its own, made of what the unit's values add up to, whatever their sign; also where a unit
    has one row."""
    weighing = Weighing({j: f"e{j}" for j, _ in parts}, {}, frozenset())
    sums = Sums(weighing, "of units" if printer.one_group else "of rows")
    totals = {j: _row_totals(printer, j, one, sums) for j, one in parts}
    outs = _outs(printer, parts, totals, sums)
    unit_weights = [f"{unit_weight(values_ball(one), size_of_values(j))} AS e{j}" for j, one in parts]
    if printer.one_group:
        added = [f"{text} AS {name}" for text, name in sums.inner.items()]
        units = f"SELECT {', '.join([*unit_weights, *added])} FROM rows GROUP BY u"
        return _summed(printer, [f"rows AS ({printer.rows(parts)})", f"units AS ({units})"], "units", sums, outs, parts)
    weights_ = f"SELECT u, {', '.join(unit_weights)} FROM rows GROUP BY u"
    steps = [printer.step("rows", printer.rows(parts)), f"weights AS ({weights_})"]
    return _summed(printer, steps, _weighed("rows"), sums, outs, parts)


def values_ball(one: Measurement) -> Ball:
    assert isinstance(one, RowTotal) and one.within is not None
    return Ball(per="values", norm=1, squared=one.within**2)


def size_of_values(j: int) -> str:
    """Σ|p| of a unit; pieces are within ±2^62."""
    return f"coalesce(sum(abs(p{j})), 0)"


@dataclass(slots=True)
class Sums:
    """Sums per group that totals are made of, each once. kind: of rows (or pairs) joined to weights; of units with their
    weights; or of rows with the full weight, which is multiplied in afterwards. inner: what is added up for each unit."""

    weighing: Weighing
    kind: OneOf["of rows", "of units", "full"]
    names: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        return self.names.setdefault(text, f"s{len(self.names)}")

    def count(self, j: int, *, all_rows: bool) -> str:
        """Σ w over the rows that enter: with weights, over all rows less those that do not, usually none."""
        weight, entered = self.weighing.names[j], "count(*)" if all_rows else f"count(p{j})"
        match self.kind:
            case "full":
                return self._full(self.of(entered))
            case "of units":
                return self.of(f"sum({self._inner(entered)} * {weight})")
            case "of rows":
                every = self.of(f"sum({weight})")
                if all_rows:
                    return every
                return f"({every} - coalesce({self.of(f'sum({weight}) FILTER (WHERE p{j} IS NULL)')}, 0))"

    def sum(self, j: int, piece: str, largest: int) -> str:
        """Σ w·p."""
        weight = self.weighing.names[j]
        match self.kind:
            case "full":
                return self._full(self.of(f"sum({piece})"))
            case "of units":
                return self.of(f"sum(CAST({self._inner(f'sum({piece})')} AS HUGEINT) * {weight})")
            case "of rows":
                return self.of(f"sum({weighted(piece, weight, largest)})")

    def entered(self, j: int, *, all_rows: bool) -> str:
        entered = "count(*)" if all_rows else f"count(p{j})"
        return self.of(f"sum({self._inner(entered)})" if self.kind == "of units" else entered)

    def _inner(self, text: str) -> str:
        return self.inner.setdefault(text, f"a{len(self.inner)}")

    def _full(self, name: str) -> str:
        return f"(CAST({name} AS HUGEINT) * {FULL})"


@dataclass(frozen=True, slots=True)
class Total:
    """text: over the sums of a group. counts: of no rows it is 0, where other totals are NULL without noise."""

    text: str
    counts: bool = False


def _row_totals(printer: Printer, j: int, one: Measurement, sums: Sums) -> list[Total]:
    """The totals of one measurement, in the order of its draws."""
    match one:
        case RowTotal(piece=OnAxis() | Product()):
            return [Total(sums.sum(j, f"p{j}", most(one.piece)))]
        case RowMoments():
            return _moments(printer, j, one, sums)
        case _:
            return [Total(sums.count(j, all_rows=enters_all(one)), counts=True)]


def _moments(printer: Printer, j: int, one: RowMoments, sums: Sums) -> list[Total]:
    """Σ w, Σ w·z and Σ w·z², and from these integers, per group, the ends: exact identities.

    Σ w(H±z) = H·Σw ± Σwz; Σ w(H±z)² = H²·Σw ± 2H·Σwz + Σwz²; Σ 2w(H²−z²) = 2(H²·Σw − Σwz²).
    """
    half = one.axis.half
    ends = printer.stage.noised[j].form == "ends"
    n = f"coalesce({sums.count(j, all_rows=False)}, 0)"
    s = f"coalesce({sums.sum(j, f'p{j}', half)}, 0)"
    if one.degree == 1:
        if ends:
            return [Total(f"{huge(half)} * {n} - {s}"), Total(f"{huge(half)} * {n} + {s}")]
        return [Total(n, counts=True), Total(s)]
    square = f"p{j} * p{j}" if half < 2**31 else f"CAST(p{j} AS HUGEINT) * p{j}"
    q = f"coalesce({sums.sum(j, f'({square})', half * half)}, 0)"
    far, cross = huge(half * half), f"{huge(2 * half)} * {s}"
    if ends:
        return [
            Total(f"{far} * {n} - {cross} + {q}"),
            Total(f"2 * ({far} * {n} - {q})"),
            Total(f"{far} * {n} + {cross} + {q}"),
        ]
    return [Total(n, counts=True), Total(s), Total(f"2 * {q} - {far} * {n}")]


def _outs(printer: Printer, parts: Parts, totals: dict[int, list[Total]], sums: Sums) -> list[tuple[VaultColumn, str]]:
    """The totals on their noise grids; without noise as text."""
    outs: list[tuple[VaultColumn, str]] = []
    for j, one in parts:
        for i, (each, draw) in enumerate(zip(totals[j], printer.stage.noised[j].asked, strict=True)):
            shown = _exactly(j, one, each, sums) if printer.exact else on_noise_grid(each.text, draw)
            outs.append((total(j, i, exact=printer.exact), shown))
    return outs


def _summed(
    printer: Printer, steps: list[str], source: str, sums: Sums, outs: list[tuple[VaultColumn, str]], parts: Parts
) -> Question:
    """Sums per group, and what is shown of them."""
    g, by = ("CAST(0 AS BIGINT) AS g", "") if printer.one_group else ("g", " GROUP BY g")
    inner = ", ".join([g, *(f"{text} AS {name}" for text, name in sums.names.items())])
    shown = ", ".join(["g", *(f"{text} AS {column.name}" for column, text in outs)])
    sql = f"WITH {', '.join(steps)} SELECT {shown} FROM (SELECT {inner} FROM {source}{by}) AS z"
    return Question(sql=sql, columns=(GROUP, *(column for column, _ in outs)), answers=tuple(j for j, _ in parts))


def _exactly(j: int, one: Measurement, each: Total, sums: Sums) -> str:
    if each.counts:
        return f"CAST(coalesce({each.text}, 0) AS VARCHAR)"
    return f"CASE WHEN {sums.entered(j, all_rows=enters_all(one))} > 0 THEN CAST({each.text} AS VARCHAR) END"


def on_noise_grid(text: str, draw: Draw) -> str:
    """The total in noise-grid integers, within 62 bits, rounded half up."""
    text = f"CAST(coalesce({text}, 0) AS HUGEINT)"
    limit = huge(2 ** min(GRID_LIMIT + draw.shift, 125))
    kept = f"greatest(least({text}, {limit}), -{limit})"
    if not draw.shift:
        return f"CAST({kept} AS BIGINT)"
    return f"CAST(({kept} + {huge(2 ** (draw.shift - 1))}) >> {draw.shift} AS BIGINT)"


# --- private keys and their totals in one statement --------------------------------------------------------------------


def together(stage: NoisyStage, relations: Relations, *, kept: bool = True) -> VaultQuery | None:
    """Keys and votes as `selecting` asks them, and beside them the totals of every key that is voted for; None where that is
    not done: where more than one row of a unit counts, where something else than rows is measured, or more is asked of the
    stage than keys and totals.

    Lemma: over all keys together one unit moves the totals within their ball, and so over those that are released; which
    those are, votes with their own noise decide, and the totals of others are never looked at. Proof: a unit's weights are a
    function of its rows alone, counted over all its keys. Of one row, it votes for one group (`_each_unit`); others vote by
    the pairs of them and their groups, as in `selecting`.

    That rows of keys which are not released count, too, makes a unit's weight smaller only where it has more rows than the
    one that counts.
    """
    parts = _row_parts(stage)
    if stage.public_keys or len(stage.selections) != 1 or stage.unsettled or stage.over or not parts:
        return None
    if not stage.source.single and stage.limit.rows.most != 1:
        return None
    printer = Printer(ready=Ready(stage=stage, groups=Occurring()), relations=relations, exact=False, kept=kept, salt=0)
    (norm,) = {stage.noised[j].draw.norm for j, _ in parts}
    ball, weighing = printer.ball(True, norm), Weighing.of(parts, apart=True)
    sums = Sums(weighing, "full" if ball is None else "of rows")
    totals = {j: _row_totals(printer, j, one, sums) for j, one in parts}
    outs = _outs(printer, parts, totals, sums)
    joins = Joins(printer.tables, stage.source.single)
    private = private_keys(stage, relations, joins)
    extra = [(column.name, text) for column, text in private]
    rows_ = rows(printer.ready, relations, joins, parts, present=() if ball is None else weighing.present, extra=extra)
    public = (GROUP,) if any(key.values is not None for key in stage.keys) else ()
    columns = (*public, *(column for column, _ in private))
    names = tuple(column.name for column in columns)
    keys = ", ".join(names)
    if ball is None:
        steps, counted = (
            [f"rows AS ({rows_})"],
            f"count(*) * {stage.selections[0].votes[0]} AS votes, count(*) AS units",
        )
    else:
        steps = _each_unit(printer, ball, rows_, names, weighing, parts, votes=True)
        counted = "sum(votes) AS votes, sum(units) AS units"
    inner = ", ".join([keys, counted, *(f"{text} AS {name}" for text, name in sums.names.items())])
    shown = ", ".join([keys, SHOWN, *(f"{text} AS {column.name}" for column, text in outs)])
    sql = f"WITH {', '.join(steps)} SELECT {shown} FROM (SELECT {inner} FROM rows GROUP BY {keys}) AS z "
    sql += f"WHERE {voted_for(stage)} ORDER BY {key_order(stage, 'z')}"
    every = (*columns, VOTES, *(column for column, _ in outs))
    return VaultQuery(
        questions=(Question(sql=sql, columns=every, answers=tuple(j for j, _ in parts)),), tables=printer.tables
    )


def _row_parts(stage: NoisyStage) -> Parts:
    """What is measured, where all of it is totals of rows in one norm."""
    drawn = [(j, n) for j, n in enumerate(stage.noised) if n.draw.mechanism not in NOT_ASKED]
    alike = len({n.draw.norm for _, n in drawn}) == 1
    same = all(
        isinstance(n.measurement, RowTotal | RowMoments) and limited_by(n.measurement) == "rows" for _, n in drawn
    )
    return [(j, n.measurement) for j, n in drawn] if alike and same else []


def _each_unit(
    printer: Printer,
    ball: Ball,
    rows_: str,
    group: tuple[str, ...],
    weighing: Weighing,
    parts: Parts,
    *,
    votes: bool = False,
) -> list[str]:
    """Steps that end in `rows`: a group's columns, weights e<n> and pieces p<j>, where one row of a unit counts. votes: and
    votes, and whether they are a unit's (units), in rows of their own for those of several rows.

    Most units are expected to have one row: theirs are taken as they are grouped, and only the others' are read again.

    Lemma: these are the rows with the weights that `weights` gives them. Proof: n is the number of the unit's rows. Where it
    is 1, any_value of a column is that of the one row (NULL if that is), and its weight is 2^20: 1·2^20 ≤ T·2^20, and
    q = 1 ≤ R. Units of n > 1 are in the other branches alone, all their rows with them.
    """
    assert ball.squared >= 1
    keys, names = ", ".join(group), list(weighing.counts)
    pieces = [f"p{j}" for j, one in parts if not enters_all(one)]
    values = [f"any_value({name}) AS {name}" for name in (*group, *pieces)]
    more = "SELECT every.* FROM every SEMI JOIN (SELECT u FROM units WHERE n > 1) AS more ON every.u = more.u"
    steps = [
        printer.step("every", rows_),
        f"units AS MATERIALIZED (SELECT u, count(*) AS n, {', '.join(values)} FROM every GROUP BY u)",
        f"several AS MATERIALIZED ({more})",
        f"weights AS ({weights(ball, weighing.counts, 'several', by_group=True, group=keys)})",
    ]
    light, heavy = [f"{FULL} AS {name}" for name in names] + pieces, names + pieces
    of_one, none = [], []
    if votes:
        (selection,) = printer.stage.selections
        of_one, none = [f"{selection.votes[0]} AS votes", "1 AS units"], ["0 AS votes", "0 AS units"]
        steps.append(f"pairs AS MATERIALIZED (SELECT DISTINCT u, {keys} FROM several)")
        steps.append(f"voting AS ({votes_of_pairs(printer.stage, selection.votes, printer.tables)})")
    each = [
        f"SELECT {', '.join([keys, *of_one, *light])} FROM units WHERE n = 1",
        f"SELECT {', '.join([keys, *none, *heavy])} FROM {_weighed('several')}",
    ]
    if votes:
        nothing = [f"0 AS {name}" for name in names] + [f"NULL AS {piece_}" for piece_ in pieces]
        each.append(f"SELECT {', '.join([keys, 'votes', '1', *nothing])} FROM pairs JOIN voting ON pairs.u = voting.u")
    return [*steps, f"rows AS ({' UNION ALL '.join(each)})"]


# --- totals of units --------------------------------------------------------------------------------------------------


def _of_units(printer: Printer, parts: Parts, norm: Norm) -> Question:
    """Each unit's share of a group first, within its clamp; then these are weighed like rows."""
    weighing, ball = Weighing.of(parts, apart=False), printer.ball(False, norm)
    shares = [f"{_share(j, one)} AS p{j}" for j, one in parts if not enters_all(one) or _is_sum(one)]
    pairs = f"SELECT {', '.join(['u', 'g', *shares])} FROM rows GROUP BY u, g"
    steps = [f"rows AS ({printer.rows(parts)})", f"pairs AS ({pairs})"]
    if ball is not None:
        steps[1] = f"pairs AS MATERIALIZED ({pairs})"
        steps.append(f"weights AS ({weights(ball, weighing.counts, 'pairs', by_group=False)})")
    sums = Sums(weighing, "full" if ball is None else "of rows")
    totals = {j: [_unit_total(j, one, sums)] for j, one in parts}
    pairs_ = "pairs" if ball is None else _weighed("pairs")
    return _summed(printer, steps, pairs_, sums, _outs(printer, parts, totals, sums), parts)


def _is_sum(one: Measurement) -> bool:
    return isinstance(one, UnitTotal) and not one.counts_units


def _share(j: int, one: Measurement) -> str:
    entered = "count(*)" if enters_all(one) else f"count(p{j})"
    if not isinstance(one, UnitTotal) or one.counts_units:
        return f"CASE WHEN {entered} > 0 THEN 1 END"
    low, high = one.clamp
    value = f"sum(p{j})" if axes(one) else entered
    return f"CASE WHEN {entered} > 0 THEN CAST(greatest(least({value}, {high}), {low}) AS BIGINT) END"


def _unit_total(j: int, one: Measurement, sums: Sums) -> Total:
    if isinstance(one, UnitTotal) and not one.counts_units:
        return Total(sums.sum(j, f"p{j}", max(abs(end) for end in one.clamp)), counts=not axes(one))
    return Total(sums.count(j, all_rows=enters_all(one)), counts=True)


# --- distinct values --------------------------------------------------------------------------------------------------


def _distinct(printer: Printer, j: int, one: DistinctCount) -> Question:
    """Of a unit's different values at most in_group of one group and `most` in all are kept; then each value of a group
    counts once."""
    names = [f"d{n}" for n in range(len(one.parts))]
    extra = [(name, printer.relations.expr(part)) for name, part in zip(names, one.parts, strict=True)]
    values = ", ".join(names)
    steps = [
        f"rows AS ({printer.rows(((j, one),), extra=extra)})",
        f"d AS MATERIALIZED (SELECT DISTINCT u, g, {values} FROM rows WHERE p{j} IS NOT NULL)",
    ]
    kept = "d"
    if not printer.one_group and one.in_group < one.most:
        kept = _capped(steps, kept, ("u", "g"), one.in_group, values, printer.salt)
    kept = _capped(steps, kept, ("u",), one.most, values, printer.salt)
    g, by = ("CAST(0 AS BIGINT) AS g", "") if printer.one_group else ("g", " GROUP BY g")
    counted = f"SELECT {g}, count(*) * {FULL} AS n FROM (SELECT DISTINCT g, {values} FROM {kept}) AS each{by}"
    column = total(j, 0, exact=printer.exact)
    shown = "CAST(n AS VARCHAR)" if printer.exact else on_noise_grid("n", printer.stage.noised[j].draw)
    sql = f"WITH {', '.join(steps)} SELECT g, {shown} AS {column.name} FROM ({counted}) AS z"
    return Question(sql=sql, columns=(GROUP, column), answers=(j,))


def _capped(steps: list[str], source: str, by: tuple[str, ...], at_most: int, values: str, salt: int) -> str:
    """Of the rows that share `by` at most so many: those with the smallest hashes. INNER: what was not counted is not kept.

    Equal hashes are told apart by the values themselves, so no order of the engine's decides."""
    name, sizes, shared = f"{source}{len(by)}", f"n_{source}{len(by)}", ", ".join(by)
    steps.append(f"{sizes} AS (SELECT {shared}, count(*) AS n FROM {source} GROUP BY {shared})")
    counted = f"SELECT {source}.* FROM {source} JOIN {sizes} USING ({shared})"
    order = f"hash(g, {values}, {salt}), g, {values}"
    steps.append(
        f"{name} AS ({counted} WHERE n <= {at_most} UNION ALL {counted} WHERE n > {at_most} "
        f"QUALIFY row_number() OVER (PARTITION BY {shared} ORDER BY {order}) <= {at_most})"
    )
    return name


# --- candidates -------------------------------------------------------------------------------------------------------


def _ends(printer: Printer, j: int, one: Choice, question: Ends) -> Question:
    """How many units vote for each place: one vote each, by its value that is farthest from 0."""
    places = len(question.limits) + 1

    def place(size: str) -> str:
        cases = " ".join(f"WHEN {size} <= {huge(limit)} THEN {i}" for i, limit in enumerate(question.limits))
        return f"CASE {cases} ELSE {places - 1} END"

    sizes = f"SELECT greatest(max(p{j}), 0) AS up, greatest(-min(p{j}), 0) AS down FROM rows"
    sizes += f" WHERE p{j} IS NOT NULL GROUP BY u"
    voted = f"CASE WHEN up >= down THEN {place('up')} ELSE {places} + {place('down')} END"
    sql = (
        f"WITH rows AS ({printer.rows(((j, one),))}), sizes AS ({sizes}) "
        f"SELECT CAST(0 AS BIGINT) AS g, CAST({voted} AS BIGINT) AS v, "
        f"CAST(least(CAST(count(*) AS HUGEINT) * {FULL}, {LARGEST}) AS BIGINT) AS w FROM sizes GROUP BY v"
    )
    return Question(sql=sql, columns=(GROUP, CANDIDATE, WEIGHT), answers=(j,))


def _candidates(printer: Printer, j: int, one: Counted, draw: Draw) -> Question:
    """Σ w of the rows nearest to each candidate."""
    if isinstance(one, Choice) and isinstance(one.question, Ends):
        return _ends(printer, j, one, one.question)
    candidates, source, extra = one.candidates, "every", []
    if candidates.values is None:
        assert one.axis is not None
        v = _ordinal(f"p{j}", one.axis, candidates)
    else:
        assert one.part is not None
        table = f"choices_{printer.stage.number}_{j}"
        columns = key_table(candidates.values, one.part.type)
        printer.tables[table] = columns
        choices = Joins(printer.tables, printer.stage.source.single).of(table, columns)
        extra = [("d", travelled(printer.relations.expr(one.part), one.part.type))]
        v, source = f"{table}.ordinal", f"every JOIN {choices} ON every.d = {table}.value"
    entered = "" if enters_all(one) else f" WHERE p{j} IS NOT NULL"
    placed = f"SELECT u, g, v FROM (SELECT u, g, {v} AS v FROM {source}{entered}) AS placed"
    placed += f" WHERE v BETWEEN 0 AND {candidates.count - 1}"
    steps = [f"every AS ({printer.rows(((j, one),), extra=extra)})", printer.step("rows", placed)]
    ball = printer.ball(True, draw.norm)
    value, rows_ = f"CAST(count(*) AS HUGEINT) * {FULL}", "rows"
    if ball is not None:
        steps.append(f"weights AS ({weights(ball, {'e0': 'count(*)'}, 'rows', by_group=True)})")
        value, rows_ = "sum(e0)", "rows JOIN weights ON rows.u = weights.u"
    if isinstance(one, Choice) or printer.exact:
        shown = f"CAST(least({value}, {LARGEST}) AS BIGINT)"
    else:
        shown = on_noise_grid(value, draw)
    sql = f"WITH {', '.join(steps)} SELECT g, v, {shown} AS w FROM {rows_} GROUP BY g, v"
    return Question(sql=sql, columns=(GROUP, CANDIDATE, WEIGHT), answers=(j,))


def _ordinal(p: str, axis: Axis, candidates: Candidates) -> str:
    """The nearest candidate of a grid integer; for bins the first whose upper end is not below it."""
    if candidates.edges is not None:
        steps = " ".join(f"WHEN {p} <= {edge} THEN {n}" for n, edge in enumerate(candidates.edges))
        return f"CAST(CASE {steps} ELSE {len(candidates.edges)} END AS BIGINT)"
    if axis.width + candidates.cell >= WORD:
        p = f"CAST({p} AS HUGEINT)"
    if candidates.cell == 1:
        return f"CAST({p} - {axis.low} AS BIGINT)"
    return f"CAST(({p} - {axis.low} + {candidates.cell // 2}) // {candidates.cell} AS BIGINT)"


__all__ = ["on_noise_grid", "statements", "together"]
