"""Runs in the oracles' environment: prints what dp-accounting says, for comparison with dpsql.accounting.loss."""

from __future__ import annotations

import json

import numpy as np
from dp_accounting import rdp
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss


def main() -> None:
    numbers: list[dict[str, object]] = []
    orders = 1 + np.logspace(-3, 6, 400_000)
    for rho, delta in ((0.5, 1e-6), (0.004, 1e-8), (2.0, 1e-6), (0.5, 1e-9), (0.0305, 1e-5)):
        epsilon = float(rdp.compute_epsilon(orders, rho * orders, delta)[0])
        numbers.append({"what": "epsilon_of_rho", "given": [rho, delta], "value": epsilon})
    for epsilon, delta in ((1, 1e-5), (1, 1e-6), (1, 1e-9), (0.1, 1e-6), (5, 1e-9), (10, 1e-12), (0.01, 1e-5)):
        loss = GaussianPrivacyLoss.from_privacy_guarantee(DifferentialPrivacyParameters(epsilon, delta))
        numbers.append({"what": "sigma", "given": [epsilon, delta], "value": float(loss.standard_deviation)})
    for epsilon, sigma in ((0.1, 1.0), (1.0, 1.0), (5.0, 1.0), (1.0, 5.0), (5.0, 5.0), (1.0, 22.5)):
        delta = float(GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon))
        numbers.append({"what": "curve_delta", "given": [epsilon, sigma], "value": delta})
    queries = privacy_loss_distribution.from_laplace_mechanism(10.0).self_compose(100)
    tight = float(queries.get_epsilon_for_delta(1e-6))
    numbers.append({"what": "hundred_laplace", "given": [0.1, 1e-6], "value": tight})
    print(json.dumps({"numbers": numbers}))


main()
