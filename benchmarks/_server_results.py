"""The section of RESULTS.md about the server, from the numbers of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NUMBERS = Path(__file__).parent / "results" / "server.json"
HEAD = """
## The server beside the embedded engine

`python -m benchmarks server --write` wrote this section on {date}, on a machine with {cores} cores that did other work
(load average {load:.0f}). {clients} clients asked all doors for {seconds:g} s: new questions, repeats, the same questions
as others, EXPLAINs and refusals, {statements:,} statements in all. {charged:,} releases were charged, for ε = {epsilon:g}
in all: for each account exactly what its clients were told, each release once. Afterwards as many connections of the
embedded engine in one process did the same for {embedded:g} s; four statements ran at a time, there as here. Seconds are
the median, and in brackets the 95th percentile, of new questions (planned, charged, run, released); *times* is the ratio
of the medians to the embedded engine's with as many clients. The server answered {rate:.1f} statements a second, the
embedded engine {rate_embedded:.1f}. Where the machine did other work, its load differed between the two parts, and
*times* says little.
"""


def section() -> str:
    """Empty if nobody has measured."""
    return written(json.loads(NUMBERS.read_text("utf-8"))) if NUMBERS.exists() else ""


def written(measured: Mapping[str, Any]) -> str:
    """As Markdown."""
    rows = [f"| | one client | {measured['clients']} clients | times |", "| --- | ---: | ---: | ---: |"]
    whole = measured["latency"]["embedded"]["together"][0]
    for door, of_door in measured["latency"].items():
        (alone, late), (median, slow) = of_door["alone"], of_door["together"]
        rows.append(f"| {door} | {alone:.3f} ({late:.3f}) | {median:.2f} ({slow:.2f}) | {median / whole:.2f} |")
    return HEAD.format(**measured) + "\n" + "\n".join(rows) + "\n"
