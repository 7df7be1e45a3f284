"""`dpsql advise`: spends what it says, writes what it found, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.metadata.load import load
from dpsql.shell.main import main

METADATA = """\
dataset: sales
version: "1"
unit: person
budget: {epsilon: 10}
tables:
  sales:
    source: sales.parquet
    unit: person
    columns:
      person: integer
      price: {type: real, bounds: auto, like: 10}   # in euro
      age: {type: integer, lower: 0, upper: 120}
      note: text
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    draw = np.random.default_rng(2)
    person = np.repeat(np.arange(4000), draw.integers(1, 6, 4000))
    frame = pd.DataFrame({"person": person, "price": draw.uniform(0, 70, len(person)), "age": 40, "note": "x"})
    frame.loc[frame.index % 4 == 0, "note"] = None
    frame.to_parquet(tmp_path / "sales.parquet")
    (tmp_path / "sales.yaml").write_text(METADATA)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def test_it_finds_writes_and_charges(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "sales.yaml", "--epsilon", "4", "--yes", "--write"]) == 0
    told = capsys.readouterr()
    limit = re.search(r"sales: rows_per_unit: (8|16|32|64)   # about", told.out)
    assert limit is not None
    lower = re.search(r"sales.price: lower: (\S+), upper: ", told.out)
    assert lower is not None and float(lower[1]) <= 10  # almost always 0; what is chosen is noisy
    assert re.search(r"sales.note: about 2\d% of its cells are NULL", told.out)
    assert "up to 4: " in told.out and "ε = 1.6: sales: how many rows of a unit count" in told.err
    after = load(here / "sales.yaml")
    table = after.table("sales")
    assert table is not None and table.caps is not None and table.caps.rows == int(limit[1])
    price = table.column("price")
    assert price is not None and not price.bounds_auto and price.interval.ends()[1] in (80, 160, 320)
    assert "ε = 4" in (here / "sales.yaml").read_text()
    with dpsql.connect(here / "sales.yaml", epsilon=1) as connection:
        assert connection.budget.spent.epsilon == pytest.approx(4, abs=1e-5)
        privacy = connection.execute("SELECT AVG(price), COUNT(*) FROM sales").privacy
        assert privacy.limits == () and privacy.cost.epsilon == 1


def test_nothing_is_spent_without_a_yes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.confirm", lambda *_, **__: (_ for _ in ()).throw(__import__("click").Abort()))
    assert main(["advise", "sales.yaml", "--epsilon", "4"]) != 0
    with dpsql.connect(here / "sales.yaml") as connection:
        assert connection.budget.spent.epsilon == 0
    assert (here / "sales.yaml").read_text() == METADATA


def test_nothing_is_written_unless_asked(here: Path) -> None:
    assert main(["advise", "sales.yaml", "--epsilon", "1", "--yes"]) == 0
    assert (here / "sales.yaml").read_text() == METADATA


def test_a_budget_that_is_too_small(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even a part of it is spent."""
    assert main(["advise", "sales.yaml", "--epsilon", "11", "--yes", "--write"]) == 4
    assert (here / "sales.yaml").read_text() == METADATA
    with dpsql.connect(here / "sales.yaml") as connection:
        assert connection.budget.spent.epsilon == 0
    assert "DPSQL-4" in capsys.readouterr().err


def test_where_everything_is_declared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = METADATA
    for old, new in (
        ("{type: real, bounds: auto, like: 10}", "{type: real, lower: 0, upper: 9, nullable: false}"),
        ("    unit: person\n", "    row_is_unit: true\n"),
        ("      person: integer\n", ""),
        ("upper: 120", "upper: 120, nullable: false"),
        ("note: text", "note: {type: text, nullable: false}"),
    ):
        declared = declared.replace(old, new)
    (here / "sales.yaml").write_text(declared)
    assert main(["advise", "sales.yaml", "--epsilon", "1", "--yes"]) == 0
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--epsilon", "x"], [], ["--epsilon", "0"]])
def test_bad_words(here: Path, words: list[str]) -> None:
    assert main(["advise", "sales.yaml", "--yes", *words]) != 0


def test_what_tells_whose_a_row_is_gets_no_bounds(here: Path) -> None:
    from dpsql.shell.advice import steps

    items = "  items:\n    unit: {through: sales, on: {sale: sale}}\n    columns: {sale: integer, n: integer}\n"
    (here / "two.yaml").write_text(
        METADATA.replace("      note: text\n", "      note: text\n      sale: integer\n") + items
    )
    advised = steps(load(here / "two.yaml"))
    assert [(step.table, step.column) for step in advised if step.what == "bounds"] == [
        ("sales", "price"),
        ("items", "n"),
    ]
