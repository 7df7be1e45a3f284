"""What one charge costs in time: reserve alone, the three durable steps of a query, and a free repeat."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost

ACCOUNT = Account(dataset="benchmark", epsilon=Fraction(10**6), delta=Fraction(1, 10**6))
EACH = Cost(epsilon=Fraction(1, 10), delta=Fraction(0), rho=Fraction(1, 200), delta_keys=Fraction(0))


def main(argv: list[str]) -> None:
    """argv: how many charges (1000)."""
    count = int(argv[0]) if argv else 1000
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "a.ledger", ACCOUNT)
        steps: dict[str, list[float]] = {"reserve": [], "running": [], "store": [], "repeat": []}
        for number in range(count):
            started = time.perf_counter()
            charge = Charge(plan=f"{number:x}", metadata="m", cost=EACH, analyst="ana")
            receipt = ledger.reserve(charge)
            reserved = time.perf_counter()
            ledger.running(receipt)
            running = time.perf_counter()
            ledger.store(receipt, b"x" * 4096)
            stored = time.perf_counter()
            assert ledger.earlier(charge, any_run=True) is not None
            times = (started, reserved, running, stored, time.perf_counter())
            for step, (begun, ended) in zip(steps, itertools.pairwise(times), strict=True):
                steps[step].append((ended - begun) * 1000)
        started = time.perf_counter()
        assert ledger.verify() is None
        verified = time.perf_counter() - started
        ledger.close()
    for step, milliseconds in steps.items():
        ranked = sorted(milliseconds)
        print(f"{step:8} p50 {statistics.median(ranked):6.2f} ms   p99 {ranked[int(len(ranked) * 0.99)]:6.2f} ms")
    print(f"verify   {verified / count * 1e6:6.0f} µs per query on record")
