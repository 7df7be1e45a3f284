"""A tight total by privacy loss distributions, through the optional package dp-accounting: a report, never the gate.

It is valid if the parameters had been fixed beforehand: an analyst who chose an ε after seeing earlier answers is covered
by the ledger's sums, not by this number.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.accounting.loss import ZERO, epsilon_of_rho
from dpsql.accounting.releases import VOID, Release
from dpsql.errors import InterfaceError

LABEL = "valid if the parameters had been fixed beforehand"
GRID = 1e-4  # of the discretised privacy loss; dp-accounting rounds it pessimistically
COARSE = 256  # up to this sensitivity the discrete Laplace distribution is taken as it is
FINE = 2**20  # from this scale on a discrete Gaussian is a rounded continuous one, within e^(±2^-38) out to nine σ


@dataclass(frozen=True, slots=True, kw_only=True)
class Tight:
    """epsilon at delta, of everything charged; label says what it is worth."""

    epsilon: float
    delta: float
    label: str = LABEL

    def to_dict(self) -> dict[str, float | str]:
        return {"epsilon": self.epsilon, "delta": self.delta, "label": self.label}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One draw that a unit can show in: noise of scale/parts on a total it changes by `sensitivity`, or a choice that is
    epsilon-private. spread: the change is that of a vector, in Euclidean norm."""

    mechanism: str
    sensitivity: int = 0
    scale: int = 0
    parts: int = 1
    epsilon: Fraction = Fraction(0)
    spread: bool = False

    @property
    def is_fine(self) -> bool:
        return self.scale >= FINE * self.parts


def events(releases: Iterable[Release]) -> Counter[Event]:
    """Every draw of every charge that was not voided, whether or not its run got as far.

    Each record says what its draws are: noise on one number, Gaussian noise on a vector, or something that is
    epsilon-private. Records from before balls say in how many groups
    (L0) a unit shows: such a measurement is no worse than L0 independent draws, each at its full sensitivity. Proof: one
    draw's hockey-stick divergence grows with its shift, and products of dominated pairs are dominated.
    """
    drawn: Counter[Event] = Counter()
    for one in releases:
        if one.state == VOID:
            continue
        for noise in one.record.get("noise", []):
            drawn[_event(noise)] += int(noise.get("max_groups", 1)) * int(noise.get("choices", 1))
    return drawn


def _event(noise: Mapping[str, Any]) -> Event:
    if noise["mechanism"] in ("permute-and-flip", "exponential", "pure"):
        share = Fraction(noise["epsilon"]) / int(noise.get("choices", 1)) / int(noise.get("max_groups", 1))
        return Event(mechanism="choice", epsilon=share)
    sensitivity, scale = int(noise["sensitivity"]), int(noise["scale"])
    return Event(
        mechanism=noise["mechanism"],
        sensitivity=sensitivity,
        scale=scale,
        parts=int(noise.get("parts", 1)),
        spread=bool(noise.get("spread", False)),
    )


def tight_total(releases: Iterable[Release], delta: Fraction) -> Tight:
    """The ε of all charges at this δ, the thresholds' own δ's taken out of it first: by composition or by ρ, which knows the
    bounded range of choices, whichever is less."""
    charges = tuple(releases)
    spent = sum((one.cost for one in charges if one.state != VOID), ZERO)
    keys = spent.delta_keys
    inner = delta - keys
    if not 0 < inner < 1:
        raise InterfaceError(f"a delta above {float(keys):.6g} is needed: the thresholds have used that much", code=425)
    composed, by_rho = epsilon_of(events(charges), inner), epsilon_of_rho(spent.rho, inner)
    return Tight(epsilon=min(composed, by_rho), delta=float(delta))


def epsilon_of(drawn: Mapping[Event, int], delta: Fraction) -> float:
    """The ε at δ of independent draws, each so many times; infinite where nothing but ρ is known of one of them.

    Gaussian noise on a vector that moves by Δ in Euclidean norm is as good as on one number that moves by Δ where it is as
    good as continuous noise. On a coarse grid it is not: with σ = 1/2 four counts that move by 1 each have ε = 19.7 at
    δ = 1e-3, one that moves by 2 has 16.0 (its loss has fewer steps).
    """
    library = _library()
    if any(event.mechanism == "gaussian" and event.spread and not event.is_fine for event in drawn):
        return math.inf
    total: Any = None
    fine = Fraction(0)
    for event, times in drawn.items():
        if event.mechanism == "gaussian" and event.is_fine:
            fine += times * Fraction(event.sensitivity * event.parts, event.scale) ** 2
        else:
            total = _with(total, _distribution(library, event).self_compose(times))
    if fine:
        total = _with(total, library.from_gaussian_mechanism(float(fine) ** -0.5, value_discretization_interval=GRID))
    return 0.0 if total is None else float(total.get_epsilon_for_delta(float(delta)))


def _with(total: Any, one: Any) -> Any:
    return one if total is None else total.compose(one)


def _distribution(library: Any, event: Event) -> Any:
    """Lemma: discrete Laplace noise of scale t on a total that changes by Δ is dominated by continuous noise of scale t
    on one that changes by Δ + 1. Proof: with a = e^(-1/t) and z = e^(ε/2)·a^(Δ/2) the continuous δ(ε) is 1 - z·√a; the
    discrete one is 1 - a^k at z = a^k, and in between on the chord in z²: 1 - (z² + a)/(1 + a) for k = 0, others scale.
    z² + a >= 2z√a >= (1 + a)·z√a.
    """
    grid, scale = {"value_discretization_interval": GRID}, event.scale / event.parts
    match event.mechanism:
        case "laplace" if event.sensitivity <= COARSE:
            return library.from_discrete_laplace_mechanism(1 / scale, sensitivity=event.sensitivity, **grid)
        case "laplace":
            return library.from_laplace_mechanism(scale, sensitivity=event.sensitivity + 1, **grid)
        case "gaussian":
            return library.from_discrete_gaussian_mechanism(scale, sensitivity=event.sensitivity, **grid)
        case _:
            pure = importlib.import_module("dp_accounting.pld.common").DifferentialPrivacyParameters
            return library.from_privacy_parameters(pure(epsilon=float(event.epsilon), delta=0.0), **grid)


def _library() -> Any:
    try:
        return importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise InterfaceError(
            "the tight total needs the package dp-accounting", code=424, fix="pip install 'dpsql[pld]'"
        ) from None
