"""Pearson's chi-square test, for samplers whose probabilities are known exactly."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

ALPHA = 1e-6  # chance that a right sampler fails one test


def upper_tail(statistic: float, freedom: int) -> float:
    """P[chi-square >= statistic]: the regularised upper incomplete gamma function Q(freedom/2, statistic/2)."""
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    return 1.0 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)


def _series(a: float, x: float) -> float:
    term = total = 1.0 / a
    k = a
    while term > total * 1e-16:
        k += 1
        term *= x / k
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """Lentz's continued fraction."""
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, 100_000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return h


def p_value(counts: npt.NDArray[np.int64], probabilities: npt.NDArray[np.float64], least: float = 20.0) -> float:
    """Of `counts` under `probabilities` (one for each count, adding up to 1): neighbours are grouped until the expected
    count is at least `least`."""
    assert counts.shape == probabilities.shape
    assert abs(float(probabilities.sum()) - 1) < 1e-9
    expected = probabilities * counts.sum()
    groups = np.minimum(np.floor(np.cumsum(expected) / least), np.floor(counts.sum() / least) - 1).astype(np.int64)
    seen = np.bincount(groups, weights=counts)
    wanted = np.bincount(groups, weights=expected)
    full = wanted >= least / 2  # grouping by the running total leaves some below; these join in one
    seen = np.append(seen[full], seen[~full].sum())
    wanted = np.append(wanted[full], wanted[~full].sum())
    if wanted[-1] < least:
        seen[-2:], wanted[-2:] = seen[-2:].sum(), wanted[-2:].sum()
        seen, wanted = seen[:-1], wanted[:-1]
    return upper_tail(float(((seen - wanted) ** 2 / wanted).sum()), len(seen) - 1)
