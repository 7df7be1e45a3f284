"""How near an expression over several noisy totals is, to first order in the noise: for estimates, never for privacy.

Where totals a, b have noise e, f, the error of a·b is a·f + b·e + e·f and that of a/b is (e − (a/b)·f)/(b + f). So an
expression is a value and a linear combination of the independent noises below it. Its width at a confidence is the
quantile of that combination, which is narrower than interval arithmetic: of a mean by two ends with Laplace noise
5.991·H·T/(ε·n) where all values lie at an end, 4.113 where they lie in the middle (by interval arithmetic 9.7). The
rest is bounded and added: e·f by the product of their widths; a divisor is taken as small as its noise makes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from dpsql.domain.types import NULL, Kind, Type
from dpsql.ir.expr import Call, Column, Expr, Literal
from dpsql.mechanisms import laplace
from dpsql.plan.answers import answers
from dpsql.plan.stages import Noised
from dpsql.privacy.measured import rounding

FAR = math.inf
Part = tuple[str, int, int]  # a noise: its mechanism, the measurement's position, the total's


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """value + Σ parts[k]·z_k + something within ±slack, the z_k independent noises of scale 1. low, high: what it is held
    within, with and without noise."""

    value: float
    parts: Mapping[Part, float]
    slack: float = 0.0
    low: float = -FAR
    high: float = FAR

    def width(self, confidence: float) -> float:
        """Half its interval: the quantile of the noise, and never more than it is held within."""
        half_width = self.slack
        for mechanism in {part[0] for part in self.parts}:
            scales = [abs(c) for part, c in self.parts.items() if part[0] == mechanism and c]
            scales = [c for c in scales if c > 1e-9 * max(scales)]  # what is less is how floats cancel
            if mechanism == "laplace" and scales:
                half_width += _of_laplace(
                    tuple(float(f"{c / max(scales):.9g}") for c in sorted(scales)), confidence
                ) * max(scales)
            elif scales:
                half_width += NormalDist().inv_cdf((1 + confidence) / 2) * math.hypot(*scales)
        return min(half_width, max(self.high - self.value, self.value - self.low))

    def times(self, factor: float) -> Near:
        ends = sorted((_product(self.low, factor), _product(self.high, factor)))
        return Near(
            value=self.value * factor,
            parts={part: c * factor for part, c in self.parts.items()},
            slack=self.slack * abs(factor),
            low=ends[0],
            high=ends[1],
        )


@lru_cache(maxsize=4096)
def _of_laplace(scales: tuple[float, ...], confidence: float) -> float:
    return laplace.half_width_of_sum(scales, confidence)


def _product(end: float, factor: float) -> float:
    return 0.0 if factor == 0 else end * factor


def exactly(value: float) -> Near:
    return Near(value=value, parts={}, low=value, high=value)


@dataclass(frozen=True, slots=True)
class Estimating:
    """known: the columns of a release's answers. confidence: of the widths that are taken on the way."""

    known: Mapping[int, Near]
    confidence: float

    def of(self, expr: Expr) -> Near | None:
        """None where a function has no rule, and where a divisor may be 0."""
        match expr:
            case Column():
                return self.known.get(expr.id)
            case Literal(value=int() | float() | Fraction() as value) if expr.type.is_numeric:
                return exactly(float(value))
            case Call(function="case"):
                return self._branches((*expr.args[1::2], expr.args[-1]))
            case Call(function="coalesce"):
                return self._branches(expr.args)
            case Call(function="round" | "trunc" | "floor" | "ceil"):
                return _rounded(self.of(expr.args[0]), *_places(expr))
            case Call(function="cast" | "try_cast"):
                return _rounded(self.of(expr.args[0]), *_kept(expr.type))
            case Call(function="nullif"):
                return self.of(expr.args[0])
            case Call(function=function) if function in RULES:
                parts = [self.of(arg) for arg in expr.args]
                known = [part for part in parts if part is not None]
                return RULES[function](known, self.confidence) if len(known) == len(parts) else None
            case _:
                return None

    def _branches(self, values: Iterable[Expr]) -> Near | None:
        """The widest: a condition that was true of the noisy values may not be of the others."""
        parts = [self.of(value) for value in dict.fromkeys(values) if value.type != NULL]
        known = [part for part in parts if part is not None]
        return _widest(known, self.confidence) if known and len(known) == len(parts) else None


def _widest(parts: Sequence[Near], confidence: float) -> Near:
    uncertain = [part for part in parts if part.parts]
    widest = max(uncertain or parts, key=lambda part: part.width(confidence)) if len(uncertain) != 1 else uncertain[0]
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    return Near(value=widest.value, parts=widest.parts, slack=widest.slack, low=low, high=high)


def _places(call: Call) -> tuple[float, bool]:
    """How far rounding moves a number."""
    if call.function != "round":
        return 1.0, True
    digits = call.args[1] if len(call.args) > 1 else Literal(0, call.type)
    known = isinstance(digits, Literal) and isinstance(digits.value, int)
    return (10.0 ** -int(digits.value), True) if known else (FAR, False)  # type: ignore[union-attr,arg-type]  # a literal


def _kept(type_: Type) -> tuple[float, bool]:
    match type_.kind:
        case Kind.INTEGER:
            return 1.0, True
        case Kind.DECIMAL:
            return 1 / 10**type_.scale, True
        case Kind.REAL:
            return 0.0, True
        case _:
            return 0.0, False


def _rounded(part: Near | None, by: float, known: bool) -> Near | None:
    if part is None or not known:
        return None
    low, high = part.low - by, part.high + by
    return Near(value=part.value, parts=part.parts, slack=part.slack + (by if part.parts else 0), low=low, high=high)


def _sum(parts: Sequence[Near], confidence: float) -> Near:
    return Near(
        value=math.fsum(part.value for part in parts),
        parts=_together(parts),
        slack=math.fsum(part.slack for part in parts),
        low=sum(part.low for part in parts),
        high=sum(part.high for part in parts),
    )


def _together(parts: Iterable[Near]) -> Mapping[Part, float]:
    by_part: dict[Part, float] = {}
    for one in parts:
        for part, c in one.parts.items():
            by_part[part] = by_part.get(part, 0.0) + c
    return by_part


def _multiplied(parts: Sequence[Near], confidence: float) -> Near:
    one, other = parts
    if one.low == one.high:
        return other.times(one.value)
    if other.low == other.high:
        return one.times(other.value)
    both = one.width(confidence) * other.width(confidence)
    slack = abs(one.value) * other.slack + abs(other.value) * one.slack + both
    joint = _together((one.times(other.value), other.times(one.value)))
    return Near(value=one.value * other.value, parts=joint, slack=slack)


def _divided(parts: Sequence[Near], confidence: float) -> Near | None:
    one, other = parts
    if other.low == other.high:
        return one.times(1 / other.value) if other.value else None
    least = abs(other.value) - other.width(confidence)
    if least <= 0:
        return None
    ratio, sign = one.value / other.value, math.copysign(1.0, other.value)
    error = _together((one.times(sign / least), other.times(-ratio * sign / least)))
    return Near(value=ratio, parts=error, slack=(one.slack + abs(ratio) * other.slack) / least)


def _of_all(choose: Callable[..., float]) -> Callable[[Sequence[Near], float], Near]:
    """LEAST and GREATEST move by no more than the argument that moves most."""

    def rule(parts: Sequence[Near], confidence: float) -> Near:
        widest = _widest(parts, confidence)
        low, high = choose(part.low for part in parts), choose(part.high for part in parts)
        value = choose(part.value for part in parts)
        return Near(value=value, parts=widest.parts, slack=widest.slack, low=low, high=high)

    return rule


def _rising(function: Callable[[float], float]) -> Callable[[Sequence[Near], float], Near]:
    """By how much it moves where its argument does by its width: of a root near 0 more than its slope there says."""

    def rule(parts: Sequence[Near], confidence: float) -> Near:
        (one,) = parts
        width, value = one.width(confidence), function(one.value)
        moved = max(function(one.value + width) - value, value - function(one.value - width))
        scaled = one.times(moved / width) if width else exactly(value)
        low, high = function(one.low), function(one.high)
        return Near(value=value, parts=scaled.parts, slack=scaled.slack, low=low, high=high)

    return rule


def _absolute(parts: Sequence[Near], confidence: float) -> Near:
    (one,) = parts
    return Near(value=abs(one.value), parts=one.parts, slack=one.slack)


def _exponential(x: float) -> float:
    return math.exp(min(x, 700.0))


RULES: Mapping[str, Callable[[Sequence[Near], float], Near | None]] = {
    "add": _sum,
    "subtract": lambda parts, confidence: _sum((parts[0], parts[1].times(-1)), confidence),
    "negate": lambda parts, confidence: parts[0].times(-1),
    "multiply": _multiplied,
    "divide": _divided,
    "least": _of_all(min),
    "greatest": _of_all(max),
    "sqrt": _rising(lambda x: math.sqrt(max(x, 0.0))),
    "exp": _rising(_exponential),
    "abs": _absolute,
}


def answered(noised: Mapping[int, Noised], values: Mapping[int, Sequence[float] | None]) -> Mapping[int, Near]:
    """The answers of measurements by their columns. values: of each of a measurement's answers, in the order of
    plan.answers; None: they are not numbers."""
    nears: dict[int, Near] = {}
    for j, each in noised.items():
        for answer, at in zip(answers(each), values[j] or (), strict=False):
            parts: dict[Part, float] = {
                (term.draw.mechanism, j, term.total): float(term.factor * term.draw.steps)
                for term in answer.terms
                if term.factor and term.draw.scale
            }
            nears[answer.real.id] = Near(value=at, parts=parts)
            if answer.whole is not None:
                nears[answer.whole.id] = Near(value=at, parts=parts, slack=float(rounding(answer)))
    return nears
