"""What `benchmarks peers` says of numbers, and that it runs where no other library is installed."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import benchmarks.__main__ as command
from benchmarks._server_results import section
from benchmarks.peers import run
from benchmarks.peers.measures import Size, Speed, Truth, measured, spent
from benchmarks.peers.reasons import ACCURACY, OURS, SPEED
from benchmarks.peers.table import Unexplained, written

FREE, CAPPED = OURS
TRUTH = Truth(rows=10, scalars={"count": 10.0}, counts={1: 8.0, 2: 2.0})


def accurate(program: str, rmse: float, **more: Any) -> dict[str, Any]:
    line = {"program": program, "question": "count", "runs": 9, "rmse": rmse, "rmse_error": 1.0}
    return {**line, "relative": 0.01, "holds": None, **more}


def timed(program: str, wall: float, cpu: float) -> dict[str, Any]:
    size = {"rows": 1_000_000, "units": 100_000, "groups": 1_000}
    turns = [
        Speed(stages={"open": (0, 0), "plan": (0, 0), "run": (wall + i, cpu + i)}, peak=5.0, groups=7) for i in (0, 1)
    ]
    return {"program": program, **size, **spent(turns)}


def numbers_of(accuracy: list[dict[str, Any]], speed: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    settings = {
        "epsilon": 1,
        "delta": 1e-6,
        "cap": 10,
        "seed": 1,
        "time_limit": 9,
        "memory_limit": 8,
        "runs": 9,
        "seconds": 7,
    }
    about = {"minutes": 1, "date": "2026-11-19", "machine": "a machine", "versions": {"dpsql": "0"}}
    return {**about, "settings": settings, "accuracy": accuracy, "speed": speed or []}


def row(text: str, program: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {program} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_committed_file_is_what_its_numbers_say() -> None:
    text = run.RESULTS.read_text(encoding="utf-8")
    assert text == written(json.loads(run.NUMBERS.read_text(encoding="utf-8"))) + section()
    pictures = [run.RESULTS.parent / name for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)]
    assert len(pictures) == 2
    assert all(0 < picture.stat().st_size < 100_000 for picture in pictures)


def test_a_better_row_without_a_reason_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [accurate(FREE, 20.0), accurate(CAPPED, 9.0), accurate("another", 10.0)]
    with pytest.raises(Unexplained, match=f"count: another against {FREE}$"):
        written(numbers_of(lines))
    assert row(written(numbers_of(lines), strict=False), "another")[-1] == f"better than {FREE}; not explained"
    monkeypatch.setitem(ACCURACY, ("count", "", FREE), "it was told the cap")
    assert row(written(numbers_of(lines)), "another")[-1] == "it was told the cap"


def test_what_chance_explains_is_not_better() -> None:
    assert (
        row(written(numbers_of([accurate(FREE, 10.0), accurate("another", 6.0)])), "another")[-1]
        == f"chance, against {FREE}"
    )  # 3 · √2 > 4


def test_who_finds_more_keys_is_better() -> None:
    more = {"question": "keys alone", "found_error": 0.5, "of": 200}
    lines = [{"program": name, "runs": 9, "found": keys, **more} for name, keys in ((FREE, 70.0), ("another", 80.0))]
    with pytest.raises(Unexplained, match="keys alone: another"):
        written(numbers_of(lines))


@pytest.mark.parametrize("faster", ["wall", "cpu"])
def test_who_is_faster_in_every_turn_needs_a_reason(faster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, times = timed(FREE, 10.0, 10.0), {"wall": 10.0, "cpu": 10.0}
    written(
        numbers_of([], [ours, timed("another", **{**times, faster: 9.5})])
    )  # its slower turn took longer than our faster one
    lines = numbers_of([], [ours, timed("another", **{**times, faster: 8.0})])
    with pytest.raises(Unexplained, match=f"another against {FREE}"):
        written(lines)
    monkeypatch.setitem(SPEED, ("", "another", FREE), "it does less")
    assert row(written(lines), "another")[-1] == "it does less"


def test_who_cannot_has_dashes_and_a_reason() -> None:
    text = written(
        numbers_of([accurate(FREE, 10.0), {"program": "another", "question": "count", "cannot": "no such thing"}])
    )
    assert row(text, "another") == ["another", "–", "–", "–", "–", "no such thing"]


# --- measures ---------------------------------------------------------------------------------------------------------


def test_errors_of_numbers() -> None:
    said = measured({"question": "count", "answers": [13.0, 6.0], "within": [3.0, 3.0]}, TRUTH)
    assert said["rmse"] == pytest.approx(12.5**0.5)
    assert said["rmse_error"] == pytest.approx(3.5 / (2 * 12.5**0.5))  # of 9 and 16 the mean is 12.5 ± 3.5
    assert (said["relative"], said["holds"], said["runs"]) == (pytest.approx(0.35), 0.5, 2)


def test_errors_of_keys_and_how_many_were_found() -> None:
    line = {"question": "private keys", "answers": [[[1, 9.0]], [[1, 8.0], [2, 4.0], [3, 1.0]]], "within": [None, None]}
    said = measured(line, TRUTH)
    assert (said["found"], said["of"], said["holds"]) == (1.5, 2, None)  # nobody has the key 3
    assert said["rmse"] == pytest.approx(((1 + 5 / 3) / 2) ** 0.5)  # each run counts the same
    alone = {"question": "keys alone", "answers": [[[1, 0.0]], [[1, 0.0], [2, 0.0]]], "within": [None, None]}
    assert measured(alone, TRUTH)["found"] == 1.5


# --- running ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dpsql_alone_answers_every_question() -> None:
    size = Size(rows=2_000, units=500, groups=2)
    programs = [one for one in run.PROGRAMS if one.name == CAPPED]
    numbers = run.numbers(programs, runs=1, seconds=0, turns=1, sizes=(size,))
    assert not [line for line in numbers["accuracy"] + numbers["speed"] if "cannot" in line]
    assert {line["question"] for line in numbers["accuracy"]} >= {"count", "median", "private keys", "keys alone"}
    assert numbers["speed"][0]["found"] == 2
    assert row(written(numbers, strict=False).split("## Speed")[1], CAPPED)[-1] == ""


def test_a_library_that_stops_or_cannot_be_installed_is_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(requirements: Path, name: str) -> Path:
        raise subprocess.CalledProcessError(1, "pip", stderr=f"…\nno wheel for {name}\n")

    monkeypatch.setattr(run, "python_with", refuse)
    away = run.Program(name="away", script="dpsql", package="away", requirements="away")
    broken = run.Program(name="broken", script="nothing", package="broken", requirements=None)
    warm, size = tmp_path / "none", Size(rows=1, units=1, groups=1)
    first, second = run.timed([away, broken], size, warm, warm, turns=2)
    assert first["cannot"] == "cannot be installed: no wheel for peers-away"
    assert "benchmarks.peers.ask_nothing" in second["cannot"]


def test_peers_runs_by_name_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[str] = []

    def note(name: str) -> Any:
        return type("Module", (), {"main": staticmethod(lambda argv: ran.append(name.removeprefix("benchmarks.")))})

    assert "peers" in command.names()
    assert not any(name.startswith("_") for name in command.names())
    monkeypatch.setattr(command.importlib, "import_module", note)
    command.main([])
    assert "peers" not in ran and "accuracy" in ran
    command.main(["peers", "--quick"])
    assert ran[-1] == "peers"
