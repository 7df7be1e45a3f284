"""What a user holds after a query: rows from scratch, and the privacy report of the plan that made them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

from dpsql.accounting.account import Amount
from dpsql.accounting.loss import Cost
from dpsql.plan.stages import NoisyStage
from dpsql.privacy.noise_grid import half_width
from dpsql.report.from_plan import limit_of, limited
from dpsql.report.half_widths import intervals
from dpsql.report.plan_report import LimitReport, MeasurementReport, PlanReport


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CostReport:
    """ε, δ and ρ of one run (or of what a budget holds); numbers as a user writes them. None: not limited.

    A budget under zcdp enforces rho and delta_keys (the δ of thresholds); its epsilon and delta are converted from them.
    """

    epsilon: float | None
    delta: float | None
    rho: float | None = None
    delta_keys: float | None = None

    def to_dict(self) -> dict[str, float | None]:
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho, "delta_keys": self.delta_keys}

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

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold of it."""
        return {
            "dataset": self.dataset,
            "unit": self.unit,
            "cost": self.cost.to_dict(),
            "intervals": {} if self.exact else dict(self.intervals),
            "threshold": self.threshold,
            "repeated": self.repeated,
            "exact": self.exact,
            "notes": list(self.notes),
        }

    def swamped(self, names: Sequence[str], rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
        """What to say of columns in which the noise is larger than the number, in some of these rows."""
        if self.exact or not self.intervals:
            return ()
        by_row = [self.intervals.of_row(row) for row in rows]
        return swamped(names, rows, [[halves.get(name) for name in names] for halves in by_row])

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


def swamped(
    names: Sequence[str], rows: Sequence[Sequence[object]], halves: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    """A line for each column in which the noise is larger than the number, in some of these rows. Only released values and
    public widths decide it. halves: of each value's 95 % interval."""
    often: Counter[str] = Counter()
    for row, widths in zip(rows, halves, strict=True):
        for name, value, half in zip(names, row, widths, strict=True):
            number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
            if number and half is not None and abs(float(value)) < half:  # type: ignore[arg-type]  # it is one
                often[name] += 1
    return tuple(
        f"the noise is larger than {name} in {count:,} of {len(rows):,} row{'s' if len(rows) > 1 else ''}: "
        "group more coarsely, or raise ε"
        for name, count in often.items()
    )


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
    report: PlanReport,
    cost: Cost,
    *,
    repeated: bool = False,
    notes: tuple[str, ...] = (),
    half_widths: Intervals | None = None,
    over: tuple[OverLimitReport, ...] = (),
) -> Privacy:
    """half_widths: of the released rows; without them those that the plan alone says. over: what was released of limits."""
    plan = report.plan
    said = (*(one.text(plan.unit) for one in over), *(note for stage in plan.stages for note in stage.notes))
    return Privacy(
        cost=cost_report(cost, plan.accounting),
        unit=plan.unit,
        dataset=plan.dataset,
        limits=tuple(limit for stage in report.stages for limit in stage.choices),
        over_limits=over,
        measurements=report.measurements,
        threshold=report.threshold,
        intervals=Intervals(intervals(plan)) if half_widths is None else half_widths,
        repeated=repeated,
        exact=plan.exact,
        notes=(*notes, *dict.fromkeys(said)),
    )


def over_reports(stage: NoisyStage, released: Sequence[tuple[int, int]]) -> Iterator[OverLimitReport]:
    """released: how many units are not over each limit, and how many are."""
    for over, (below, above) in zip(stage.over, released, strict=True):
        yield OverLimitReport(
            of=limited(over.of, stage),
            limit=float(limit_of(over, stage)),
            units=max(0, above),
            among=max(0, above) + max(0, below),
            half_width=float(half_width(over.draw)),
            spread=over.norm == 2 and bool(stage.keys),
            stage=stage.number,
        )
