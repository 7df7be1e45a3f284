"""What a user holds after a query: rows from scratch, and the privacy report of the plan that made them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from dpsql.accounting.account import Amount
from dpsql.accounting.loss import Cost
from dpsql.plan.balls import FULL, Norm
from dpsql.plan.measurements import (
    Choice,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    step_of,
)
from dpsql.plan.stages import Draw, LimitChoice, Noised, NoisyStage, OverLimit, ReleasePlan, Stage
from dpsql.privacy.calibrate import KEYS, half_width
from dpsql.privacy.measured import measured_columns, noise_width
from dpsql.privacy.rank_error import rank_error, weighed_against
from dpsql.privacy.running import width_of_total
from dpsql.report.half_widths import LEVEL, intervals


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CostReport:
    """ε, δ and ρ of one run (or of what a budget holds); numbers as a user writes them. None: not limited.

    A budget under zcdp enforces rho and delta_keys (the δ of thresholds); its epsilon and delta are converted from them.
    """

    epsilon: float | None
    delta: float | None
    rho: float | None = None
    delta_keys: float | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts = [f"ε = {_amount(self.epsilon)}", f"δ = {_amount(self.delta)}"]
        if self.rho or self.delta_keys is not None:
            parts.append(f"ρ = {_amount(self.rho)}")
        if self.delta_keys is not None:
            parts.append(f"δ of keys = {_amount(self.delta_keys)}")
        return ", ".join(parts)


def _amount(value: float | None) -> str:
    return "unlimited" if value is None else f"{value:.6g}"


def cost_report(cost: Cost, accounting: str) -> CostReport:
    """What a run costs; under zcdp with the δ of thresholds apart, as what is spent and left has it."""
    keys = float(cost.delta_keys) if accounting == "zcdp" else None
    return CostReport(epsilon=float(cost.epsilon), delta=float(cost.delta), rho=float(cost.rho), delta_keys=keys)


def amount_report(amount: Amount) -> CostReport:
    """What a budget holds, in every notion it counts."""
    parts = (amount.epsilon, amount.delta, amount.rho, amount.delta_keys)
    epsilon, delta, rho, delta_keys = (None if part is None else float(part) for part in parts)
    return CostReport(epsilon=epsilon, delta=delta, rho=rho, delta_keys=delta_keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementReport:
    """One vector of noisy numbers, or a choice among candidates, whose figures are in rows; or (name "keys", position None)
    the selection of private keys, in units.

    sensitivity: the most one unit moves it by, over all groups together, in `norm`; scale: b of Laplace or σ of Gaussian
    noise; half_width: of a number's 95 % interval (a choice: of its rank). All in the user's units. A mean is measured by
    two numbers, its ends: sensitivity and scale are theirs, half_width that of the sum less the middle of the bounds.
    rows: what a unit counts at most over all groups, in rows; groups: in how many it counts as one.
    agreeing: a level of grouping sets, whose half_width is what is left once the levels are made consistent.
    """

    name: str
    sensitivity: float
    mechanism: str
    scale: float
    half_width: float
    epsilon: float
    rows: int
    groups: int
    norm: Norm = 1
    because: str = ""
    stage: int = 0
    position: int | None = None
    agreeing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReport:
    """A limit that the data chose, or (chosen None) are to choose. of: "rows" or "groups" of a unit, or the name of a sum
    whose values are limited; chosen: in rows, groups, or the sum's units."""

    of: str
    exactly: Fraction | None
    epsilon: float
    stage: int = 0

    @property
    def chosen(self) -> float | None:
        return None if self.exactly is None else float(self.exactly)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLimitReport:
    """How many units are over a limit, so that what they have counts less: `units` of `among`, both released with noise;
    half_width: of the first at 95 %. of: "rows" or "groups" of a unit, or the name of a sum whose values are limited; limit:
    in rows, groups, or the sum's units; spread: rows count in full by how they lie in groups (norm 2)."""

    of: str
    limit: float
    units: int
    among: int
    half_width: float
    spread: bool = False
    stage: int = 0

    def text(self, unit: str) -> str:
        share = f" ({100 * self.units / self.among:.3g} %)" if 0 < self.units <= self.among else ""
        have = {
            "rows": f"have more than {self.limit:,.6g} row{'s' if self.limit != 1 else ''}"
            + (" in one group, or more over several" if self.spread else ""),
            "groups": f"are in more than {self.limit:,.6g} group{'s' if self.limit != 1 else ''}",
        }.get(self.of, f"add more than {self.limit:,.6g} to {self.of}")
        return (
            f"{self.units:,} ± {self.half_width:,.3g} of about {self.among:,} {unit}s{share} {have}, which count less"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoned:
    """Half-widths of columns made of several measurements: the widest over the rows, and of each row by its row_key (None:
    too many rows to tell apart)."""

    widest: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    rows: Mapping[str, Mapping[str, float]] | None = field(default_factory=lambda: MappingProxyType({}))


def row_key(row: Iterable[object]) -> str:
    """Equal for rows that look the same; lists and maps, which have no hash, among them."""
    return repr(tuple(row))


class Intervals(Mapping[str, float]):
    """95 % half-widths by column: no row's interval is wider. A column is missing where it has no interval (keys, what is
    chosen among candidates) or where a row's interval is open.

    A plain measurement's width is known beforehand; that of AVG, VAR, ratios… depends on the released values and differs
    from row to row: it is worked out when the mapping is first looked at.
    """

    def __init__(self, plain: Mapping[str, float], reckon: Callable[[], Reckoned] | None = None) -> None:
        self._plain = dict(plain)
        self._reckon = reckon
        self._reckoned = Reckoned()
        self._lock = threading.Lock()

    def of_row(self, row: Iterable[object]) -> dict[str, float]:
        """The half-widths of one row of the result, its values as fetched."""
        intervals = self._all()
        return self._plain | dict(intervals.widest if intervals.rows is None else intervals.rows.get(row_key(row), {}))

    def _all(self) -> Reckoned:
        with self._lock:
            if self._reckon is not None:
                self._reckoned, self._reckon = self._reckon(), None
            return self._reckoned

    def __getitem__(self, column: str) -> float:
        return self._plain[column] if column in self._plain else self._all().widest[column]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._plain, **self._all().widest})

    def __len__(self) -> int:
        return len({**self._plain, **self._all().widest})

    def __repr__(self) -> str:
        return repr(dict(self))


NO_INTERVALS = Intervals({})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Privacy:
    """The privacy report of one answer.

    threshold: in units, None where all keys are public. intervals: 95 % half-width of each column that has one, the widest
    over its rows; OPTIONS(intervals = 0.95) shows each row's own ends. repeated: the rows are those of an earlier run, at no
    new cost. notes: what a reader must know besides.
    """

    cost: CostReport
    unit: str
    dataset: str
    limits: tuple[LimitReport, ...] = ()
    over_limits: tuple[OverLimitReport, ...] = ()
    measurements: tuple[MeasurementReport, ...] = ()
    threshold: float | None = None
    intervals: Intervals = field(default_factory=lambda: NO_INTERVALS)
    repeated: bool = False
    exact: bool = False
    notes: tuple[str, ...] = ()

    def swamped(self, names: Sequence[str], rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
        """What to say of columns in which the noise is larger than the number, in some of these rows."""
        if self.exact or not self.intervals:
            return ()
        often: Counter[str] = Counter()
        for row in rows:
            halves = self.intervals.of_row(row)
            for name, value in zip(names, row, strict=True):
                number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
                if number and name in halves and abs(float(value)) < halves[name]:  # type: ignore[arg-type]  # it is one
                    often[name] += 1
        return tuple(
            f"the noise is larger than {name} in {count:,} of {len(rows):,} row{'s' if len(rows) > 1 else ''}: "
            "group more coarsely, or raise ε"
            for name, count in often.items()
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.exact:
            return "EXACT: no noise was added. For tests on made-up data only."
        lines = [
            f"privacy: {self.cost}{' (a repeat, nothing charged)' if self.repeated else ''}; privacy unit: {self.unit}"
        ]
        for limit in self.limits:
            chosen = "to be chosen" if limit.chosen is None else f"{limit.chosen:,.6g}, chosen by the data"
            lines.append(f"  contribution limit on {limit.of} of one {self.unit}: {chosen}, ε = {limit.epsilon:.6g}")
        for m in self.measurements:
            lines.append(
                f"  {m.name}: {m.mechanism}, scale {m.scale:.6g}, 95 % confidence interval ±{m.half_width:.6g}{_rows(m)} "
                f"({_moved(m, self.unit)})"
            )
        if self.threshold is not None:
            lines.append(
                f"  threshold: keys of fewer than about {self.threshold:.0f} units are withheld "
                "(more if they have several keys)"
            )
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


CHOOSING = ("permute-and-flip", "exponential")


def _rows(m: MeasurementReport) -> str:
    """A choice is off by ranks, not by units of its column."""
    return " rows" if m.mechanism in CHOOSING else ""


def _moved(m: MeasurementReport, unit: str) -> str:
    """How far one unit moves it, as a reader says it."""
    if m.mechanism in CHOOSING:
        return f"one {unit} moves ranks by at most {m.sensitivity:.6g} in all groups together"
    norm = "" if m.norm == 1 else " in Euclidean norm"
    return f"one {unit} changes all groups together by at most {m.sensitivity:.6g}{norm}"


def privacy_report(
    plan: ReleasePlan,
    *,
    repeated: bool = False,
    notes: tuple[str, ...] = (),
    half_widths: Intervals | None = None,
    over: tuple[OverLimitReport, ...] = (),
) -> Privacy:
    """half_widths: of the released rows; without them those that the plan alone says. over: what was released of limits."""
    said = (*(one.text(plan.unit) for one in over), *(note for stage in plan.stages for note in stage.notes))
    thresholds = [float(s.selection.units) for s in plan.stages if s.selection is not None]
    return Privacy(
        cost=cost_report(Cost() if repeated else plan.cost, plan.accounting),
        unit=plan.unit,
        dataset=plan.dataset,
        limits=tuple(report for stage in plan.stages for report in limit_reports(stage)),
        over_limits=over,
        measurements=tuple(report for stage in plan.stages for report in _reports(stage)),
        threshold=max(thresholds) if thresholds else None,
        intervals=Intervals(intervals(plan)) if half_widths is None else half_widths,
        repeated=repeated,
        exact=plan.exact,
        notes=(*notes, *dict.fromkeys(said)),
    )


def limit_reports(stage: NoisyStage) -> Iterator[LimitReport]:
    for choice in stage.choices:
        yield LimitReport(
            of=choice.of if isinstance(choice.of, str) else stage.measurements[choice.of].name,
            exactly=None if choice.chosen is None else limit_value(choice, choice.chosen, stage),
            epsilon=float(choice.draw.epsilon),
            stage=stage.number,
        )


def over_reports(stage: NoisyStage, released: Sequence[tuple[int, int]]) -> Iterator[OverLimitReport]:
    """released: how many units are not over each limit, and how many are."""
    for over, (below, above) in zip(stage.over, released, strict=True):
        yield OverLimitReport(
            of=over.of if isinstance(over.of, str) else stage.measurements[over.of].name,
            limit=float(_limit_of(over, stage)),
            units=max(0, above),
            among=max(0, above) + max(0, below),
            half_width=float(half_width(over.draw)),
            spread=over.norm == 2 and bool(stage.keys),
            stage=stage.number,
        )


def over_name(over: OverLimit, stage: Stage) -> str:
    """As a measurement: two numbers, how many units are over the limit and how many are not."""
    whose = over.of if isinstance(over.of, str) else stage.measurements[over.of].name
    return f"units over the limit on {whose}"


def _limit_of(over: OverLimit, stage: NoisyStage) -> Fraction:
    match over.of:
        case "rows":
            return Fraction(stage.limit.rows.most)
        case "groups":
            return Fraction(stage.limit.groups.most)
        case j:
            one = stage.measurements[j]
            assert isinstance(one, RowTotal) and one.within is not None
            return one.within * step_of(one.piece)


def limit_value(choice: LimitChoice, most: int, stage: Stage) -> Fraction:
    """A limit in rows, in groups, or in the units of the sum that it limits."""
    if isinstance(choice.of, str):
        return Fraction(most)
    one = stage.measurements[choice.of]
    assert isinstance(one, RowTotal)
    return most * step_of(one.piece)


def _reports(stage: NoisyStage) -> Iterator[MeasurementReport]:
    for n, selection in enumerate(stage.selections, 1):
        draw, unit = selection.draw, Fraction(1, 2**selection.bits)
        name = KEYS if n == len(stage.selections) else f"{KEYS} (first round)"
        yield _report(stage, name, draw, draw.reach * unit, draw.steps * unit, half_width(draw) * unit)
    for over in stage.over:
        draw, width = over.draw, Fraction(half_width(over.draw))
        yield _report(stage, over_name(over, stage), draw, Fraction(1), draw.steps, width)
    measured = measured_columns(stage)
    for j, noised in enumerate(stage.noised):
        one, draw = noised.measurement, noised.draw
        unit = _unit(noised) * noised.pieces(draw)
        reach, scale, width = draw.reach * unit, draw.steps * unit, half_width(draw) * unit
        if noised.running is not None:
            width = width_of_total(noised, LEVEL) * _unit(noised)
        if isinstance(one, Choice | TopGroups):
            scale, width = weighed_against(one, draw) * unit, rank_error(one, draw) * unit
        elif isinstance(one, RowMoments) and draw.mechanism in ("laplace", "gaussian", "summed"):
            shown = measured[one.first.id]
            width = noise_width(shown.answer, shown.draws, LEVEL, shown.ratio)
            if noised.form == "centred":
                unit = _unit(noised) * noised.draws[1].grid / FULL
                reach, scale = noised.draws[1].reach * unit, noised.draws[1].steps * unit
        elif noised.after is not None and isinstance(one, RowTotal):
            shown = measured[one.answer.real.id]
            width = noise_width(shown.answer, shown.draws, LEVEL, shown.ratio)
        yield _report(
            stage,
            one.name,
            draw,
            reach,
            scale,
            width,
            because=one.because,
            position=j,
            agreeing=noised.after is not None,
        )


def _report(
    stage: NoisyStage,
    name: str,
    draw: Draw,
    reach: Fraction,
    scale: Fraction,
    width: Fraction,
    *,
    because: str = "",
    position: int | None = None,
    agreeing: bool = False,
) -> MeasurementReport:
    return MeasurementReport(
        name=name,
        sensitivity=float(reach),
        mechanism=draw.mechanism,
        scale=float(scale),
        half_width=float(width),
        epsilon=float(draw.epsilon),
        rows=stage.limit.rows.most,
        groups=stage.limit.groups.most,
        norm=draw.norm,
        because=because,
        stage=stage.number,
        position=position,
        agreeing=agreeing,
    )


def _unit(noised: Noised) -> Fraction:
    """One full-weight piece in the user's units; of what is chosen one row. Three ends are about 2H times two."""
    match noised.measurement:
        case RowTotal() | UnitTotal() as one:
            return step_of(one.piece)
        case RowMoments() as one:
            return one.axis.step / 2 / (2 * one.axis.half if len(noised.draws) == 3 and noised.form == "ends" else 1)
        case _:
            return Fraction(1)
