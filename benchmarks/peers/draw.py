"""Pictures of the numbers of `peers`; runs in the environment that has matplotlib: `draw.py NUMBERS.json FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # after it was told to draw no windows

SHOWN = ("count", "sum", "average", "variance", "median", "public keys")
COLOURS = ("#1b4f9c", "#6fa8dc", "#c0392b", "#e08e0b", "#7d5ba6", "#4a8f4a")


def main(numbers: str, folder: str) -> None:
    results = json.loads(Path(numbers).read_text(encoding="utf-8"))
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dpsql", "font.family": "sans-serif", "font.size": 9})
    _errors(results["accuracy"], Path(folder) / "accuracy.svg")
    _seconds(results["speed"], Path(folder) / "speed.svg")


def _programs(lines: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(line["program"] for line in lines))


def _errors(lines: list[dict[str, Any]], file: Path) -> None:
    """RMSE of each question as a multiple of dpsql's with nothing declared; and how many keys were found."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(3, 1.4))
    programs = _programs(lines)
    rmse = {(line["program"], line["question"]): line["rmse"] for line in lines if "rmse" in line}
    errors = {(line["program"], line["question"]): line["found"] for line in lines if "found" in line}
    for at, (program, colour) in enumerate(zip(programs, COLOURS, strict=True)):
        shift = (at - 2.5) * 0.14
        with_it = [q for q in SHOWN if (program, q) in rmse]
        heights = [rmse[program, q] / rmse[programs[0], q] for q in with_it]
        left.bar([SHOWN.index(q) + shift for q in with_it], heights, 0.13, color=colour, label=program)
        keys = [q for q in ("private keys", "keys alone") if (program, q) in errors]
        places = [("private keys", "keys alone").index(q) + shift for q in keys]
        right.bar(places, [errors[program, q] for q in keys], 0.13, color=colour)
    left.set_yscale("log")
    left.set_ylim(top=100)  # room for the legend
    left.axhline(1, color="black", linewidth=0.6)
    left.set_xticks(range(len(SHOWN)), SHOWN)
    left.set_ylabel("RMSE (dpsql, nothing declared = 1)")
    left.legend(fontsize=7, frameon=False, ncols=2)
    right.set_xticks(range(2), ["with counts", "alone"])
    right.set_ylabel("private keys found, of 200")
    _save(figure, file)


def _seconds(lines: list[dict[str, Any]], file: Path) -> None:
    """Processor seconds over rows, units and groups; both axes are logarithmic."""
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
    ways = (
        ("rows", lambda line: line["rows"] == 10 * line["units"] and line["groups"] == 1_000),
        ("units", lambda line: line["rows"] == 1_000_000 and line["groups"] == 1_000),
        ("groups", lambda line: line["rows"] == 1_000_000 and line["units"] == 100_000),
    )
    for panel, (what, belongs) in zip(panels, ways, strict=True):
        for program, colour in zip(_programs(lines), COLOURS, strict=True):
            of_program = [one for one in lines if one["program"] == program and belongs(one) and "cpu" in one]
            of_program.sort(key=lambda one: one[what])
            at, seconds = [one[what] for one in of_program], [one["cpu"] for one in of_program]
            panel.plot(at, seconds, "o-", color=colour, label=program, markersize=3)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(what)
    panels[0].set_ylabel("processor seconds")
    panels[0].legend(fontsize=7, frameon=False)
    _save(figure, file)


def _save(figure: Any, file: Path) -> None:
    for panel in figure.axes:
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


main(*sys.argv[1:])
