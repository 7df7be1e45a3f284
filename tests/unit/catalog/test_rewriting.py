"""Limits and bounds are written into metadata as it stands, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.catalog.model import Catalog
from dpsql.metadata.load import load
from dpsql.metadata.rewriting import Change, rewritten, says

TEXT = """\
dataset: d   # the account
budget: {epsilon: 1}
tables:
  # the orders
  "or ders":
    unit: u
    rows_per_unit: auto   # nobody knows
    columns:
      u: integer
      x: real   # a price
      'y z': {type: "decimal(10, 2)", bounds: auto, like: 3, nullable: false}

      k:
        type: integer
        keys: [1, 2]
  other: {public: true, columns: {k: integer}}
  rows:
    unit: u
    columns:
      u: integer
      x: {type: integer}
"""
NOTE = "chosen"
LIMIT = Change("or ders", None, "rows_per_unit: 8", NOTE)
CHANGES = (
    LIMIT,
    Change("or ders", "x", "lower: 0, upper: 4", NOTE),
    Change("or ders", "y z", "lower: -1, upper: 0.5", NOTE),
    Change("rows", None, "rows_per_unit: 2", NOTE),
    Change("rows", "x", "lower: 0, upper: 1", NOTE),
)


def loaded(folder: Path, text: str) -> Catalog:
    path = folder / "d.yaml"
    path.write_text(text)
    return load(path)


def test_every_plain_form(tmp_path: Path) -> None:
    text, left = rewritten(TEXT, CHANGES)
    assert left == ()
    assert text.count("# chosen") == 5 and "# the account" in text and "# the orders" in text and "keys: [1, 2]" in text
    before, after = loaded(tmp_path, TEXT), loaded(tmp_path, text)
    assert says(before, after, CHANGES)
    orders = after.table("or ders")
    assert orders.caps.rows == 8
    assert [float(end) for end in orders.column("x").interval.ends()] == [0, 4]
    assert [float(end) for end in orders.column("y z").interval.ends()] == [-1, 0.5]
    assert not orders.column("y z").nullable
    assert after.table("rows").caps.rows == 2


@pytest.mark.parametrize(
    "change",
    [
        Change("or ders", "k", "lower: 1, upper: 2", NOTE),  # on several lines
        Change("or ders", "nope", "lower: 1, upper: 2", NOTE),
        Change("other", "k", "lower: 1, upper: 2", NOTE),  # a table on one line
        Change("nope", None, "rows_per_unit: 2", NOTE),
    ],
)
def test_what_is_written_otherwise_is_left(change: Change) -> None:
    assert rewritten(TEXT, (change,)) == (TEXT, (change,))


def test_a_limit_that_is_declared_is_left() -> None:
    declared = TEXT.replace("rows_per_unit: auto   # nobody knows", "rows_per_unit: 3")
    assert rewritten(declared, (LIMIT,)) == (declared, (LIMIT,))


def test_anything_else_that_changed_is_seen(tmp_path: Path) -> None:
    before = loaded(tmp_path, TEXT)
    for old, new in (
        ("like: 3", "like: 4"),
        ("nullable: false", "nullable: true"),
        ("keys: [1, 2]", "keys: [1]"),
        ("epsilon: 1", "epsilon: 2"),
    ):
        after = loaded(tmp_path, TEXT.replace(old, new))
        assert not says(before, after, (LIMIT,))
