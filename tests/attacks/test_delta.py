"""No δ lets rows out: not one that the budget does not have, and not one that is large (S4)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsql
from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from tests.attacks.terminal import terminal
from tests.worlds import dataset, private

NAMES = pd.DataFrame({"id": range(30), "name": [f"person {i}" for i in range(30)]})
TABLE = private({"name": "text"}, unit="id", rows_per_unit=1)
SHOW = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta={}) name, COUNT(*) AS n FROM t GROUP BY name"


def world(**changes: object) -> dict[str, Any]:
    return dataset({"t": TABLE}, **{"budget": {"epsilon": 5}, **changes})


@pytest.mark.parametrize("delta", ["0.9999999", "0.5", "1.0000001e-3"])
def test_a_large_delta_is_refused_by_every_way_to_ask(delta: str) -> None:
    catalog = world(budget={"epsilon": 5, "delta": 0.999999999})
    with dpsql.connect(catalog, source={"t": NAMES}, epsilon=1) as conn:
        described = {"unit": "id", "rows_per_unit": 1, "epsilon": 1, "dataset": f"own {delta}"}
        ways = [lambda: conn.execute(SHOW.format(delta)), lambda: conn.execute(f"SET delta = {delta}"),
                lambda: conn.explain(SHOW.format(delta)), lambda: conn.cost(SHOW.format(delta)),
                lambda: dpsql.connect(catalog, source={"t": NAMES}, epsilon=1, delta=delta),
                lambda: conn.sub_budget(delta=0.9).execute(SHOW.format("?"), (float(delta),)),
                lambda: dpsql.PrivateFrame(NAMES, budget={"epsilon": 5, "delta": 0.9}, delta=delta, **described),
                lambda: dpsql.PrivateFrame(NAMES, budget=5, **described).options(delta=float(delta)).count()]  # fmt: skip
        for number, way in enumerate(ways):
            with pytest.raises(dpsql.BudgetError) as refused:
                way()
            assert refused.value.number == 405, number
        assert conn.budget.spent.epsilon == 0
        conn.execute(SHOW.format("1e-3"))
        assert conn.budget.spent.delta == 1e-3


def test_no_delta_is_none() -> None:
    with dpsql.connect(world(), source={"t": NAMES}) as conn:
        assert conn.budget.total.delta == 0
        with pytest.raises(dpsql.BudgetError) as refused:
            conn.execute(SHOW.format("1e-9"))
        assert refused.value.number == 400 and conn.budget.spent.epsilon == 0
    frame = dpsql.PrivateFrame(NAMES, unit="id", rows_per_unit=1, budget={"epsilon": 5}, epsilon=1, dataset="frame")
    assert frame.budget.total.delta == 0
    assert dpsql.PrivateFrame(NAMES, unit="id", rows_per_unit=1, budget=5, dataset="number").budget.total.delta == 1e-6


def test_the_owner_may_allow_more_by_name() -> None:
    allowed = world(budget={"epsilon": 5, "delta": 0.5}, max_delta=0.1)
    with dpsql.connect(allowed, source={"t": NAMES}) as conn:
        conn.execute(SHOW.format("0.1"))
        with pytest.raises(dpsql.BudgetError):
            conn.execute(SHOW.format("0.11"))


def test_a_ledger_from_before_is_continued(tmp_path: Path) -> None:
    """Its account says no δ, which was no cap; what the metadata says now holds from the next connection on."""
    path = tmp_path / "old.ledger"
    before = Ledger.open(path, Account(dataset="old", epsilon=Fraction(5), delta=None))
    assert before.balance().total.delta is None
    before.close()
    described = world(dataset="old", ledger=str(path))
    with dpsql.connect(described, source={"t": NAMES}) as conn:
        assert conn.budget.total.delta == 0 and any("account changed" in notice for notice in conn.notices)


def test_the_shell_refuses_it_too(tmp_path: Path) -> None:
    NAMES.to_parquet(tmp_path / "t.parquet")
    yaml = tmp_path / "names.yaml"
    yaml.write_text(
        "unit: person\nbudget: {epsilon: 5, delta: 0.9}\n"
        "tables: {t: {source: t.parquet, unit: id, rows_per_unit: 1, columns: {id: integer, name: text}}}\n"
    )
    with terminal("names.yaml", folder=tmp_path) as shell:
        assert "DPSQL-405" in shell.type(SHOW.format("0.9999999") + ";")
        assert "DPSQL-405" in shell.type("SET delta = 0.01;")
