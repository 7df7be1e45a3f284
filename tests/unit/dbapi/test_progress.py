"""Who waits sees how far a query is: stages of the plan and the time, and nothing that depends on data."""

from __future__ import annotations

import builtins
import io
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.dbapi import telling
from dpsql.execution import release_stages
from dpsql.frames import PrivateFrame
from dpsql.report.work import Progress
from dpsql.shell.spinner import spinner

DATA = pd.DataFrame({"person": np.arange(200) % 50, "kind": ["a", "b"] * 100, "age": np.arange(200) % 90})
CATALOG: dict[str, Any] = {
    "dataset": "waiting",
    "unit": "person",
    "budget": {"epsilon": 100},
    "tables": {
        "t": {
            "unit": "person",
            "rows_per_unit": 4,
            "columns": {"person": "integer", "kind": {"type": "text", "keys": ["a", "b"]}, "age": "integer"},
        }
    },
}
TWO_STAGES = "SELECT (SELECT COUNT(*) FROM t) AS n, (SELECT COUNT(*) FROM t WHERE age > 30) AS older"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every stage takes a moment, and progress is told often."""
    before = release_stages._released

    def released(*given: Any, **named: Any) -> Any:
        time.sleep(0.06)
        return before(*given, **named)

    monkeypatch.setattr(release_stages, "_released", released)
    monkeypatch.setattr(telling, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(telling, "QUIET_SECONDS", 0.0)
    yield


def test_a_function_is_told(slow: None) -> None:
    told: list[Progress] = []
    with dpsql.connect(CATALOG, source=DATA, epsilon=1, progress=told.append) as connection:
        connection.execute(TWO_STAGES)
        steps = [(each.done, each.planned) for each in told]
        assert steps == sorted(steps, key=lambda step: (step[1], step[0]))
        assert {(0, 2), (1, 2)} <= set(steps) and steps[-1] == (2, 2)
        assert [each.seconds for each in told] == sorted(each.seconds for each in told)
        assert connection.working.done == 2
        del told[:]
        connection.execute("SHOW BUDGET")
        assert not any(each.planned for each in told)  # nothing is released


def test_a_frame_tells_too(slow: None) -> None:
    told: list[Progress] = []
    frame = PrivateFrame(
        DATA, unit="person", rows_per_unit=4, budget=10, epsilon=1, dataset="waiting frame", progress=told.append
    )
    frame.count()
    assert told[-1].done == told[-1].planned == 1


def test_what_is_told_does_not_depend_on_rows(slow: None) -> None:
    """The same plan over a hundredth of the rows says the same, but for the time."""
    steps = []
    for data in (DATA, DATA.head(2)):
        told: list[Progress] = []
        with dpsql.connect(CATALOG, source=data, epsilon=1, progress=told.append) as connection:
            connection.execute(TWO_STAGES)
        steps.append({(each.done, each.planned) for each in told} | {(0, 0)})
    assert steps[0] == steps[1]
    assert set(Progress.__dataclass_fields__) == {"done", "planned", "seconds"}


def test_a_line_on_the_screen_comes_and_goes(slow: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with dpsql.connect(CATALOG, source=DATA, epsilon=1, progress=True) as connection:
        connection.execute(TWO_STAGES)
    assert re.search("dpsql: 1 of 2 stages done, [0-9]+ s", screen.getvalue()) and screen.getvalue().endswith(" \r")


def test_a_function_that_fails_stops_being_called(slow: None, capsys: pytest.CaptureFixture[str]) -> None:
    called: list[int] = []

    def tell(progress: Progress) -> None:
        called.append(1)
        raise ValueError("secret words")

    with dpsql.connect(CATALOG, source=DATA, epsilon=1, progress=tell) as connection:
        assert connection.execute(TWO_STAGES).rowcount == connection.execute(TWO_STAGES).rowcount == 1
    assert len(called) == 1
    assert "progress= raised ValueError" in capsys.readouterr().err


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a notebook nor a prompt, whatever other tests have started in this process."""
    for name in ("get_ipython", "__IPYTHON__"):
        monkeypatch.delattr(builtins, name, raising=False)
    monkeypatch.delattr(sys, "ps1", raising=False)


def test_nobody_is_told_in_a_script_and_no_thread_stays(
    slow: None, script: None, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = threading.active_count()
    for progress in (None, False):
        with dpsql.connect(CATALOG, source=DATA, epsilon=1, progress=progress) as connection:
            connection.execute(TWO_STAGES)
    assert capsys.readouterr().err == "" and threading.active_count() == threads
    with pytest.raises(dpsql.InterfaceError, match="progress= is str"):
        dpsql.connect(CATALOG, source=DATA, progress="yes")  # type: ignore[call-overload]


def test_at_a_prompt_somebody_waits(script: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert telling.tell_of(None) is None  # nothing to write on
    monkeypatch.setattr(sys, "stderr", Screen())
    assert isinstance(telling.tell_of(None), telling.Line)


def test_the_shells_spinner_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("dpsql.shell.spinner.BEFORE_SECONDS", 0.01)
    with spinner(lambda: Progress(done=1, planned=3, seconds=4.2)):
        time.sleep(0.1)
    assert "1 of 3 stages done, 4 s  (Ctrl-C stops it)" in screen.getvalue()
