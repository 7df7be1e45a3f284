"""Runs in the oracles' environment: `draw_opendp.py MECHANISM SCALE COUNT FILE` writes int64, prints seconds."""

from __future__ import annotations

import json
import sys
import time
from array import array
from pathlib import Path

import opendp.prelude as dp


def main(mechanism: str, scale: str, count: str, file: str) -> None:
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if mechanism == "laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    zeros = [0] * int(count)
    measurement(zeros[:1000])
    start = time.perf_counter()
    drawn = measurement(zeros)
    seconds = time.perf_counter() - start
    Path(file).write_bytes(array("q", drawn).tobytes())
    print(json.dumps({"seconds": seconds}))


main(*sys.argv[1:])
