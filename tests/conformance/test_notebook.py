"""%load_ext dpsql, %dpsql and %%dpsql in an IPython shell, as a notebook's kernel runs them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.samples.prepare import prepare

testing = pytest.importorskip("IPython.testing.globalipapp")
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "dpsql")
    yield made
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return prepare("hospital", tmp_path)


def test_a_cell_is_a_query(shell: Any, catalog: Path) -> None:
    before = shell.run_line_magic("dpsql", f"{catalog} epsilon=0.5 delta=1e-9")
    assert before.left.epsilon == 10
    answer = shell.run_cell_magic("dpsql", "", "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty")
    assert isinstance(answer, dpsql.Cursor) and answer.cost is not None and answer.cost.epsilon == 0.5
    assert "±" in str(shell.display_formatter.format(answer)[0]["text/html"])
    assert shell.run_line_magic("dpsql", "").left.epsilon == 9.5
    assert shell.run_cell_magic("dpsql", "kept", "SELECT COUNT(*) AS n FROM visits") is None
    assert shell.user_ns["kept"].fetchone()[0] > 0
    assert shell.run_cell_magic("dpsql", "", "CREATE TABLE mine (a INTEGER)") is None


def test_connections_and_frames_of_the_notebook(shell: Any, catalog: Path) -> None:
    data = pd.DataFrame({"id": np.arange(50)})
    frame = dpsql.PrivateFrame(
        data, unit="id", max_groups=1, max_rows=1, budget=3, epsilon=1, dataset=f"n{next(numbers)}"
    )
    shell.push({"conn": dpsql.connect(catalog, epsilon=1), "frame": frame})
    assert shell.run_line_magic("dpsql", "conn").total.epsilon == 10
    shell.run_line_magic("dpsql", "frame")
    answer = shell.run_cell_magic("dpsql", "", "SELECT COUNT(*) AS n FROM df")
    assert answer.columns == ["n"] and frame.budget.spent.epsilon == 1


def test_a_refusal_is_shown_without_a_traceback(shell: Any, catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_line_magic("dpsql", f"{catalog} epsilon=1")
    shell.run_cell("%%dpsql\nSELECT duration FROM visits")
    out, err = capsys.readouterr()
    assert "DPSQL-112" in err and "Traceback" not in out + err


def test_wrong_words(shell: Any, catalog: Path) -> None:
    for line in (f"{catalog} colour=red", "nothing.yaml"):
        with pytest.raises(dpsql.Error):
            shell.run_line_magic("dpsql", line)
    with pytest.raises(dpsql.InterfaceError):
        shell.run_cell_magic("dpsql", "not a name", "SELECT 1")


def test_variables_of_the_notebook(shell: Any, catalog: Path) -> None:
    shell.run_line_magic("dpsql", f"{catalog} epsilon=1")
    shell.push({"least": np.int64(60), "place": "sur'gery"})
    sql = "SELECT $least AS a, $place AS b, '$least' AS c -- $nothing"
    assert shell.run_cell_magic("dpsql", "", sql).fetchall() == [(60, "sur'gery", "$least")]
    with pytest.raises(dpsql.InterfaceError, match="no variable 'unset'"):
        shell.run_cell_magic("dpsql", "", "SELECT $unset AS a")


def test_a_line_is_sql_too(shell: Any, catalog: Path) -> None:
    shell.run_line_magic("dpsql", f"{catalog} epsilon=1")
    assert shell.run_line_magic("dpsql", "SELECT 'it''s' AS a").fetchall() == [("it's",)]
    assert ("epsilon", "1") in [row[:2] for row in shell.run_line_magic("dpsql", "SHOW ALL").fetchall()]


def test_rows_are_shown_in_a_terminal(shell: Any, catalog: Path) -> None:
    shell.run_line_magic("dpsql", f"{catalog} epsilon=1")
    answer = shell.run_cell_magic("dpsql", "", "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty")
    text = shell.display_formatter.format(answer)[0]["text/plain"]
    assert "surgery" in text and "±" in text and "ε = 1" in text
    plan = shell.run_cell_magic("dpsql", "", "EXPLAIN SELECT COUNT(*) FROM visits")
    assert shell.display_formatter.format(plan)[0]["text/plain"].startswith("Privacy unit: patient")
    answer.close()
    assert "closed" in shell.display_formatter.format(answer)[0]["text/plain"]


def test_help_of_the_magics_says_how(shell: Any) -> None:
    line, cell = (shell.find_magic("dpsql", kind) for kind in ("line", "cell"))
    assert "show the budget" in line.__doc__ and "$name" in cell.__doc__


def test_re_running_a_cell_of_a_frame_is_free(shell: Any) -> None:
    data = pd.DataFrame({"id": np.arange(50)})
    frame = dpsql.PrivateFrame(data, unit="id", rows_per_unit=1, budget=3, epsilon=1, dataset=f"n{next(numbers)}")
    shell.push({"frame": frame})
    shell.run_line_magic("dpsql", "frame")
    for _ in range(3):
        shell.run_cell_magic("dpsql", "", "SELECT COUNT(*) AS n FROM df")
    assert frame.budget.spent.epsilon == 1
