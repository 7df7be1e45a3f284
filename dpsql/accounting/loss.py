"""What a release costs, in each notion of privacy loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of a plan: (ε, δ) and ρ. delta_keys is the part of δ that thresholds use."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    delta_keys: Fraction

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            delta_keys=self.delta_keys + other.delta_keys,
        )


ZERO = Cost(epsilon=Fraction(0), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0))
