"""The notebooks of dpsql/samples/notebooks run from top to bottom, show their plots, and are kept without outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpsql

FOLDER = Path(dpsql.__file__).parent / "samples" / "notebooks"
PLOTS = {"answers": 2, "epsilon": 2}


def cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_these() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PLOTS)


@pytest.mark.parametrize("name", PLOTS)
def test_outputs_are_not_kept(name: str) -> None:
    all_cells = cells(FOLDER / f"{name}.ipynb")
    assert len(all_cells) >= 5
    assert [cell for cell in all_cells if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # of Jupyter's packages
@pytest.mark.parametrize("name", PLOTS)
def test_it_runs_and_draws(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()  # raises where a cell does
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == PLOTS[name]
    assert [output for output in outputs if output.get("name") == "stderr"] == []
