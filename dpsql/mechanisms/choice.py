"""The two mechanisms that choose a candidate, by name: which one drew it decides what it costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal as OneOf
from typing import assert_never

import numpy as np
import numpy.typing as npt

from dpsql.accounting.loss import rho_of_bounded_range, rho_of_pure
from dpsql.mechanisms import exponential, permute_and_flip

Chooser = OneOf["permute-and-flip", "exponential"]


def choose(scores: npt.NDArray[np.int64], *, by: Chooser, epsilon: Fraction, sensitivity: int) -> npt.NDArray[np.int64]:
    """For each row of `scores` the index of one candidate: epsilon-DP in each row, by either mechanism."""
    match by:
        case "permute-and-flip":
            return permute_and_flip.choose(scores, epsilon=epsilon, sensitivity=sensitivity)
        case "exponential":
            return exponential.choose(scores, epsilon=epsilon, sensitivity=sensitivity)
        case _:
            assert_never(by)


def rho_of(by: Chooser, epsilon: Fraction) -> Fraction:
    """What a choice at this epsilon costs in zCDP, over all groups together.

    Permute-and-flip is epsilon-DP and no better: among two equal candidates, of which a unit raises the one and lowers the
    other, the chance of one of them falls from 1/2 to e^(-epsilon)/2, where the exponential mechanism's falls half as far,
    so for small epsilon its divergence is four times as large.
    """
    return rho_of_bounded_range(epsilon) if by == "exponential" else rho_of_pure(epsilon)
