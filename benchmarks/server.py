"""How much longer does a question take at a server than embedded, when 50 clients ask at once?

HTTP, the driver and the PostgreSQL wire, with a mix of new questions, repeats, questions that others ask too, refusals and
EXPLAINs; then as many connections of the embedded engine in one process. Both runs check that the ledger's sum is, for each
account, what its clients were told, and that nothing was released twice to one account. `added` is the difference to the
embedded engine with as many clients. On a busy machine the ratio says more.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._server_results import NUMBERS
from tests.server.load import KINDS, MIX, Seen, embedded, load


def main(argv: list[str]) -> None:
    """--clients N (50), --seconds S (120), --alone N questions of one client of each door (40), --write"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks server")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--alone", type=int, default=40)
    parser.add_argument("--write", action="store_true", help="write the section of RESULTS.md")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="dpsql-server-") as name:
        there, here = Path(name) / "server", Path(name) / "embedded"
        there.mkdir(), here.mkdir()
        server, quiet = load(there, chosen.clients, chosen.seconds, alone=chosen.alone)
        busy = os.getloadavg()[0]
        whole, calm = embedded(here, chosen.clients, chosen.seconds / 4, alone=chosen.alone)
    said = sum(server.charged.values())
    print(f"{chosen.clients} clients, {chosen.seconds:g} s, load average {busy:.0f}")
    print(f"{rate(server):.1f} statements a second; embedded {rate(whole):.1f}")
    print(f"{server.outcomes.total()} statements; {server.charges} charged, ε = {float(said):g}: as told, each once")
    for kind in MIX:
        for door in KINDS:
            show(f"{kind} {door}", server.seconds[door, kind], whole.seconds["embedded", kind])
    for door in KINDS:
        show(f"alone, new {door}", quiet.seconds[door, "new"], calm.seconds["embedded", "new"])
    if chosen.write:
        latency = {door: of_door(server, quiet, door) for door in KINDS}
        latency["embedded"] = of_door(whole, calm, "embedded")
        told = {"date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "load": busy, "clients": chosen.clients}
        told |= {"seconds": chosen.seconds, "embedded": chosen.seconds / 4, "statements": server.outcomes.total()}
        told |= {"rate": rate(server), "rate_embedded": rate(whole)}
        told |= {"charged": server.charges, "epsilon": float(said), "latency": latency}
        NUMBERS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
        from benchmarks.peers.run import write_results

        write_results()


def rate(seen: Seen) -> float:
    """Statements a second."""
    return seen.outcomes.total() / seen.elapsed


def show(what: str, seconds: list[float], beside: list[float]) -> None:
    """One line: median and 95th percentile, and what is added to the embedded engine's."""
    (middle, late), (of_embedded, late_embedded) = percentiles(seconds), percentiles(beside)
    print(
        f"{what:22} p50 {middle:7.3f} s   p95 {late:7.3f} s   added p50 {middle - of_embedded:+7.3f} s   "
        f"p95 {late - late_embedded:+7.3f} s   times {middle / of_embedded:.2f}   ({len(seconds)})"
    )


def percentiles(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return median(ordered), ordered[int(len(ordered) * 0.95)]


def of_door(together: Seen, alone: Seen, door: str) -> dict[str, Any]:
    return {"alone": percentiles(alone.seconds[door, "new"]), "together": percentiles(together.seconds[door, "new"])}
