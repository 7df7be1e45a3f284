"""RESULTS.md from the numbers of a run. If another program is better, there must be a reason, or nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import hypot
from typing import Any

from benchmarks.peers.reasons import ACCURACY, OURS, REMARKS, SPEED

TITLES = {
    "count": "COUNT(*)",
    "sum": "SUM(amount)",
    "average": "AVG(amount)",
    "variance": "VAR(amount)",
    "median": "MEDIAN(amount)",
    "public keys": "COUNT(*) by 200 public keys",
    "private keys": "COUNT(*) by private keys",
    "keys alone": "private keys alone",
}
DASH = "–"
SURE = 3  # standard errors: with two, one in forty equal rows would be called better
HEAD = """# dpsql and others, in one run

`python -m benchmarks peers` writes this page from `results/peers.json`, measured on {date} in {minutes} minutes.
The machine: {machine}. It also did other work, so ratios and processor time are more reliable than the clock.
Versions: {versions}.
`peers/requirements/` pins all of them. DuckDB runs the SQL that pyqrlew writes, as it runs dpsql's own statements.

Each question is asked alone, with ε = {epsilon:g} and δ = {delta:g}, and bounds of amounts are declared. At most
{cap} rows of a person count, for the others and for “{capped}”: without a cap they refuse or use a default of their
own. “{free}” is dpsql with its defaults: the data choose how many rows count, for a part of ε. The data have a seed
({seed}); noise has none. If another program is more accurate or faster than either form of dpsql, the row explains
why; this file is not written unless every such row has a reason. “Chance” means that the difference is below three
standard errors, or that not every turn was faster. – means that a program cannot do this (the row explains why), or
does not report it.
"""
ABOUT_ACCURACY = """## Accuracy

25,000 orders of 5,000 people (1 to 14 each), 200 Zipf categories, amounts of mean 50 in [0, 500]: the data of
`python -m benchmarks accuracy`. Each question has {runs} runs, or fewer if they take more than {seconds:g} s; ± is
one standard error. *holds* is how often a 95 % confidence interval contains the truth, if a program gives one. Intervals are
about noise alone. The cap leaves out 61 rows, which biases a COUNT; the limit that dpsql chooses leaves out a few
rows, too. Errors of private keys are those of the released keys: a program that finds only frequent keys has small
relative errors.

![RMSE of each question](results/accuracy.svg)
"""
ABOUT_SPEED = """## Speed

The query is `SELECT category, COUNT(*), SUM(amount) … GROUP BY category` over private keys, from a Parquet file to rows in
Python; each turn has its own process. Seconds are the median (least–most of the turns) of everything that a program does,
except starting, importing and what is done only once (a small table is queried first). The processor seconds include
*opening*, which is making the connection or loading the file, and *planning*, which is everything until the query can
run; dpsql and smartnoise-sql plan once more when they run it, which also counts. Runs end after {time_limit} s or above
{memory_limit:,} MB.

![processor seconds](results/speed.svg)
"""
Line = Mapping[str, Any]
Reasons = Mapping[tuple[str, str, str], str]


class Unexplained(Exception):
    """Rows in which another program is better, and nothing says why."""


def written(numbers: Mapping[str, Any], *, strict: bool = True) -> str:
    """The whole file. strict: raise Unexplained where a better row has no reason; else it says that it has none."""
    missing: list[str] = []
    settings = numbers["settings"]
    parts = [
        _head(numbers),
        _accuracy(numbers["accuracy"], settings, missing),
        _speed(numbers["speed"], settings, missing),
    ]
    if missing and strict:
        raise Unexplained("better than dpsql, and reasons.py does not say why: " + "; ".join(missing))
    return "\n".join(parts)


def _head(numbers: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in numbers["versions"].items())
    about = {name: numbers[name] for name in ("minutes", "date", "machine")}
    return HEAD.format(**about, **numbers["settings"], versions=versions, free=OURS[0], capped=OURS[1])


# --- accuracy ---------------------------------------------------------------------------------------------------------


def _accuracy(lines: Sequence[Line], settings: Mapping[str, Any], missing: list[str]) -> str:
    text = [ABOUT_ACCURACY.format(**settings)]
    for question, title in TITLES.items():
        asked = [line for line in lines if line["question"] in (question, "all")]
        text += [f"### {title}\n", *_table(_header(question), [_row(line, asked, question, missing) for line in asked])]
    return "\n".join(text)


def _header(question: str) -> list[str]:
    if question == "keys alone":
        return ["", "keys found", "runs", ""]
    more = ["keys found"] if question == "private keys" else []
    return ["", *more, "RMSE", "median relative error", "holds", "runs", ""]


def _row(line: Line, others: Sequence[Line], question: str, missing: list[str]) -> list[str]:
    cells = len(_header(question)) - 2
    if "cannot" in line:
        return [line["program"], *[DASH] * cells, line["cannot"]]
    keys_found = [f"{line['found']:.1f} ± {line['found_error']:.1f} of {line['of']}"] if "found" in line else []
    remark = REMARKS.get((question, line["program"]), "")
    why = _joined(remark, _why(line, others, _nearer, ACCURACY, question, missing))
    if question == "keys alone":
        return [line["program"], *keys_found, str(line["runs"]), why]
    rmse = f"{_number(line['rmse'])} ± {_number(line['rmse_error'])}"
    holds = DASH if line["holds"] is None else f"{line['holds']:.1%}"
    return [line["program"], *keys_found, rmse, f"{line['relative']:.2%}", holds, str(line["runs"]), why]


def _nearer(line: Line, ours: Line) -> bool | None:
    """Is it more accurate: RMSE, or keys found? None: by no more than `SURE` standard errors."""
    gains = [(what, sign * (ours[what] - line[what])) for what, sign in (("rmse", 1), ("found", -1)) if what in line]
    if any(gain > SURE * hypot(ours[f"{what}_error"], line[f"{what}_error"]) for what, gain in gains):
        return True
    return None if any(gain > 0 for _, gain in gains) else False


def _faster(line: Line, ours: Line) -> bool | None:
    """Is it faster, on the clock or of the processors, with every turn? None: with some."""
    if any(line[f"{what}_spread"][1] < ours[f"{what}_spread"][0] for what in ("wall", "cpu")):
        return True
    return None if any(line[what] < ours[what] for what in ("wall", "cpu")) else False


def _less_work(line: Line, ours: Line) -> bool | None:
    """The same of the processors alone."""
    if line["cpu_spread"][1] < ours["cpu_spread"][0]:
        return True
    return None if line["cpu"] < ours["cpu"] else False


def _why(
    line: Line,
    others: Iterable[Line],
    better: Callable[[Line, Line], bool | None],
    reasons: Reasons,
    what: str,
    missing: list[str],
) -> str:
    """The reasons for which a program is better than each of our forms; for what chance may explain none is needed."""
    told = []
    for ours in others:
        form = ours["program"]
        if form not in OURS or "cannot" in ours or line["program"] in OURS or (sure := better(line, ours)) is False:
            continue
        reason = reasons.get((what, line["program"], form)) or reasons.get((what, "", form))
        if reason is None and sure:
            missing.append(f"{what or 'speed'}: {line['program']} against {form}")
        told.append(reason or (f"better than {form}; not explained" if sure else f"chance, against {form}"))
    return _joined(*told)


def _joined(*texts: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))


# --- speed ------------------------------------------------------------------------------------------------------------


def _speed(lines: Sequence[Line], settings: Mapping[str, Any], missing: list[str]) -> str:
    text = [ABOUT_SPEED.format(**settings)]
    for size in [one for one in _sizes(lines) if one[1] * 10 == one[0] and one[2] == 1_000] or _sizes(lines):
        asked = _of(lines, size)
        text += [f"### {_named(size)}\n", *_table(_SPEED_HEADER, [_speed_row(line, asked, missing) for line in asked])]
    for title, varied in (("rows", 0), ("units", 1), ("groups", 2)):
        text += _growth(lines, title, varied, missing)
    return "\n".join(text)


_SPEED_HEADER = ["", "seconds", "processor seconds", "opening", "planning", "memory, MB", "keys found", "turns", ""]


def _speed_row(line: Line, others: Sequence[Line], missing: list[str]) -> list[str]:
    if "cannot" in line:
        return [line["program"], *[DASH] * (len(_SPEED_HEADER) - 2), line["cannot"]]
    wall = f"{_number(line['wall'])} ({'–'.join(map(_number, line['wall_spread']))})"
    cpu = f"{_number(line['cpu'])} ({'–'.join(map(_number, line['cpu_spread']))})"
    stages = [_number(line["stages"][stage]) for stage in ("open", "plan")]
    why = _why(line, others, _faster, SPEED, "", missing)
    return [
        line["program"],
        wall,
        cpu,
        *stages,
        f"{line['peak']:,.0f}",
        f"{line['found']:,.0f}",
        str(line["turns"]),
        why,
    ]


def _sizes(lines: Iterable[Line]) -> list[tuple[int, int, int]]:
    return sorted({(line["rows"], line["units"], line["groups"]) for line in lines})


def _of(lines: Iterable[Line], size: tuple[int, int, int]) -> list[Line]:
    return [line for line in lines if (line["rows"], line["units"], line["groups"]) == size]


def _named(size: tuple[int, int, int]) -> str:
    return f"{size[0]:,} rows of {size[1]:,} units, {size[2]:,} groups"


def _growth(lines: Sequence[Line], title: str, varied: int, missing: list[str]) -> list[str]:
    """Processor seconds over the sizes that differ from the middle one in nothing else (for rows: units grow along)."""
    middle = (1_000_000, 100_000, 1_000)
    fixed = [0, 2] if varied == 1 else [0, 1] if varied == 2 else [2]
    sizes = [
        size
        for size in _sizes(lines)
        if all(size[at] == middle[at] for at in fixed) and (varied or size[0] == 10 * size[1])
    ]
    if len(sizes) < 2:
        return []
    rows = []
    for program in dict.fromkeys(line["program"] for line in lines):
        by_size = {size: next(line for line in _of(lines, size) if line["program"] == program) for size in sizes}
        cells = [DASH if "cannot" in by_size[size] else _number(by_size[size]["cpu"]) for size in sizes]
        said = [
            line["cannot"] if "cannot" in line else _why(line, _of(lines, size), _less_work, SPEED, "", missing)
            for size, line in by_size.items()
        ]
        rows.append([program, *cells, _joined(*said)])
    also = " (units: a tenth)" if varied == 0 else f" ({_named(middle)}, but for the {title})"
    header = ["", *(f"{size[varied]:,} {title}" for size in sizes), ""]
    return [f"### Processor seconds as {title} grow{also}\n", *_table(header, rows)]


# --- text -------------------------------------------------------------------------------------------------------------


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] + ["---:"] * (len(header) - 2) + ["---"], *rows]
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def _number(value: float) -> str:
    """Three digits, and thousands with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
