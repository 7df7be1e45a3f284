"""Do independent libraries agree? Samplers against OpenDP, conversions against dp-accounting. [values per test]"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._oracles.environment import accounting_numbers, opendp_draws
from dpsql.accounting.loss import epsilon_of_rho, exact, rho_of_pure
from dpsql.mechanisms import lattice
from dpsql.mechanisms.gaussian import curve_delta, mu_for
from tests.statistics.chi_square import upper_tail

ALPHA = 1e-6
SCALES = (1, 2, 37, 2**20, 2**21 - 1)
Integers = npt.NDArray[np.int64]


def main(argv: list[str]) -> None:
    count = int(argv[0]) if argv else 200_000
    agree = [_same_samples(mechanism, t, count) for mechanism in ("laplace", "gaussian") for t in SCALES]
    agree += [_same_number(number) for number in accounting_numbers()]
    print("all agree" if all(agree) else "SOME DISAGREE")
    if not all(agree):
        sys.exit(1)


def _same_samples(mechanism: str, t: int, count: int) -> bool:
    theirs, _ = opendp_draws(mechanism, t, count)
    ours = (lattice.discrete_laplace if mechanism == "laplace" else lattice.discrete_gaussian)(t, count)
    chi, ks = chi_square(ours, theirs), kolmogorov_smirnov(ours, theirs)
    good = min(chi, ks) > ALPHA
    print(f"{mechanism:9} t={t:<8} chi-square p={chi:.3g}  KS p={ks:.3g}  {'ok' if good else 'DIFFERENT'}")
    return good


def chi_square(one: Integers, other: Integers) -> float:
    """Two samples of equal size over the same bins: single values where they are frequent, else 200 quantiles."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 201)[1:-1]).astype(np.int64))
    first = np.bincount(np.searchsorted(edges, one), minlength=edges.size + 1)
    second = np.bincount(np.searchsorted(edges, other), minlength=edges.size + 1)
    both = first + second
    used = both > 0
    statistic = float(((first - second)[used] ** 2 / both[used]).sum())
    return upper_tail(statistic, int(used.sum()) - 1)


def kolmogorov_smirnov(one: Integers, other: Integers) -> float:
    """The asymptotic p-value; with ties it is too large, never too small."""
    points = np.unique(np.concatenate([one, other]))
    below = [np.searchsorted(np.sort(sample), points, side="right") / sample.size for sample in (one, other)]
    distance = float(np.abs(below[0] - below[1]).max())
    scaled = distance * math.sqrt(one.size * other.size / (one.size + other.size))
    if scaled < 0.2:
        return 1.0
    tail = sum((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))
    return float(min(1.0, 2 * tail))


def _same_number(number: dict[str, Any]) -> bool:
    first, second = number["given"]
    match number["what"]:
        case "epsilon_of_rho":
            ours = epsilon_of_rho(first, second)
        case "sigma":
            ours = float(1 / mu_for(exact(first), exact(second)))
        case "curve_delta":
            ours = curve_delta(first, 1 / second)
        case _:  # a privacy loss distribution is tighter than zCDP, and zCDP is what dpsql charges
            ours = epsilon_of_rho(100 * rho_of_pure(Fraction(1, 10)), second)
            print(f"{number['what']} {first} {second}: ours (zCDP) {ours:.6f}, tight {number['value']:.6f}")
            return bool(number["value"] <= ours)
    good = math.isclose(ours, number["value"], rel_tol=1e-6)
    verdict = "ok" if good else "DIFFERENT"
    print(f"{number['what']} {first} {second}: ours {ours:.10g}, theirs {number['value']:.10g}  {verdict}")
    return good
