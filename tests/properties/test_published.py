"""Published figures are the budget's own: random programs of mixed mechanisms, analysts, grants and voids, under both
notions of accounting, and every place that says a total compared with every other."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql.accounting import loss
from dpsql.accounting.account import Amount, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.releases import as_json, as_markdown
from dpsql.accounting.spending import published, report
from dpsql.report.privacy import CostReport
from dpsql.shell.main import main
from tests.worlds import bounded, keys, people, private

ROWS = pa.table(
    {
        "id": list(range(40)),
        "kind": [["a", "b", "c"][i % 3] for i in range(40)],
        "town": [f"town {i % 2}" for i in range(40)],
        "x": [i % 11 for i in range(40)],
    }
)
COLUMNS = {"id": "integer", "kind": keys("a", "b", "c"), "town": "text", "x": bounded("integer", 0, 10)}
QUESTIONS = (
    "COUNT(*) FROM t",
    "kind, AVG(x), COUNT(*) FROM t GROUP BY kind",
    "MEDIAN(x), MAX(x) FROM t",
    "kind, QUANTILE_CONT(x, [0.25, 0.5, 0.75]) FROM t GROUP BY kind",
    "MODE(kind), COUNT(DISTINCT x) FROM t",
    "town, COUNT(*), SUM(x) FROM t GROUP BY town",
    "APPROX_TOP_K(x, 2), VAR_POP(x) FROM t",
)
ANALYSTS = ("ana", "bob", "eve")


def catalog(draw: random.Random, accounting: str) -> dict[str, Any]:
    said: dict[str, Any] = {"budget": {"epsilon": 200, "delta": draw.choice([1e-4, 1e-6])}, "accounting": accounting}
    if draw.random() < 0.5:
        said["analysts"] = {"ana": {"epsilon": 100}, "bob": {"epsilon": 90, "delta": 1e-7}, "eve": {}}
    if accounting == "zcdp" and draw.random() < 0.5:
        said["delta_keys"] = 1e-7
    return people(COLUMNS, unit="id", rows_per_unit=2, **said)


def options(draw: random.Random) -> str:
    epsilon = draw.choice(["0.05", "0.1", "0.37", "1", "2.5"])
    mechanism = draw.choice(["auto", "laplace", "gaussian"])
    return f"OPTIONS(epsilon={epsilon}, delta=1e-9, mechanism='{mechanism}', fresh=true)"


def run(draw: random.Random, described: dict[str, Any], ledger: Path) -> None:
    """A program: questions of several analysts, through sub-budgets too; then grants, limits and a void."""
    for _ in range(draw.randint(1, 6)):
        with dpsql.connect(described, source={"t": ROWS}, ledger=ledger, analyst=draw.choice(ANALYSTS)) as conn:
            asking = conn.sub_budget(epsilon=150) if draw.random() < 0.3 else conn
            for _ in range(draw.randint(1, 3)):
                sql = f"SELECT WITH DIFFERENTIAL_PRIVACY {options(draw)} {draw.choice(QUESTIONS)}"
                asking.execute(sql)
    opened = Ledger.inspect(ledger)
    if draw.random() < 0.5:
        opened.grant(analyst=draw.choice([None, "bob"]), epsilon=Fraction(3), delta=Fraction(1, 10**7), why="more")
    if draw.random() < 0.3:
        opened.limit(epsilon=Fraction(150), delta=Fraction(1, 10**7), why="less")
    never = loss.Cost(epsilon=Fraction(1), delta=Fraction(0), rho=Fraction(1, 2))
    receipts = [opened.reserve(Charge(plan="p", metadata="m", cost=never, analyst="eve")) for _ in range(2)]
    opened.void(receipts[0].id, "never ran")
    opened.close()


PRIVATE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-8, mechanism='gaussian')"
    " town, COUNT(*) FROM t GROUP BY town"
)


@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
def test_what_one_query_costs_is_said_alike(
    accounting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """cost, would_charge, EXPLAIN, the answer's report, what the budget spends, the shell's lines and its dry run."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(ROWS, "t.parquet")
    table = private(COLUMNS, unit="id", rows_per_unit=1, source="t.parquet")
    described = {
        "version": "1",
        "budget": {"epsilon": 9, "delta": 1e-6},
        "accounting": accounting,
        "tables": {"t": table},
    }
    Path("c.yaml").write_text(json.dumps(described))
    with dpsql.connect("c.yaml") as conn:
        plan = conn.explain(PRIVATE)
        said = [conn.cost(PRIVATE), conn.would_charge(PRIVATE), plan.privacy.cost]
    assert main(["c.yaml", "--dry-run", "-c", f"{PRIVATE}; {PRIVATE}"]) == 0
    dry = capsys.readouterr().err
    assert main(["c.yaml", "-c", PRIVATE]) == 0
    told = capsys.readouterr().err
    with dpsql.connect("c.yaml") as conn:
        again = conn.execute(PRIVATE)
        spent = conn.budget.spent
        assert again.privacy is not None and again.privacy.repeated and not any(parts_of(again.privacy.cost).values())
    (cost,) = {str(one) for one in said}
    assert f"Costs {cost};" in str(plan) and plan.to_dict()["cost"] == parts_of(said[0])
    if accounting == "zcdp":
        assert (said[0].rho, said[0].delta_keys) == (spent.rho, spent.delta_keys) and said[0].delta_keys == 5e-9
        assert f"cost ε = 1, δ = 1e-08, ρ = {spent.rho:.6g}, δ of keys = 5e-09; left" in told
        assert f"at most ε = 2, δ = 2e-08, ρ = {2 * (spent.rho or 0):.6g}, δ of keys = 1e-08; left" in dry
    else:
        assert (said[0].epsilon, said[0].delta) == (spent.epsilon, spent.delta) == (1, 1e-8)
        assert "cost ε = 1, δ = 1e-08; left ε = 8, δ = 9.9e-07" in told
        assert "at most ε = 2, δ = 2e-08; left: ε = 9, δ = 1e-06" in dry


def parts_of(cost: CostReport) -> dict[str, float | None]:
    return {name: getattr(cost, name) for name in ("epsilon", "delta", "rho", "delta_keys")}


def shown(amount: Amount) -> list[float]:
    parts = (amount.epsilon, amount.delta, amount.rho, amount.delta_keys)
    return [float(part) for part in parts if part is not None]


@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
@pytest.mark.parametrize("seed", range(6))
def test_every_total_is_the_budgets_own(
    accounting: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(f"{accounting} {seed}")
    described, path = catalog(draw, accounting), tmp_path / "a.ledger"
    run(draw, described, path)
    ledger = Ledger.inspect(path)
    spent = ledger.balance().spent
    table = published(ledger)
    assert table.whole == spent
    for name in ANALYSTS:
        assert published(ledger, name).whole == ledger.balance(name).per_analyst[name].spent

    told = json.loads(json.dumps(as_json(table)))
    parts = ("epsilon", "delta", "rho", "delta_keys") if accounting == "zcdp" else ("epsilon", "delta")
    assert [told[part] for part in parts] == shown(spent)
    assert told["accounting"] == accounting
    text = as_markdown(table)
    assert spent.epsilon is not None and spent.delta is not None
    assert f"- In total ε = {float(spent.epsilon):.6g}, δ = {float(spent.delta):.6g} by {accounting}" in text
    suspicion = 100 / (1 + math.exp(-float(spent.epsilon)))
    assert f"becomes at most {suspicion:.4g} %" in text and told["meaning"] in text

    # what the lines add up to is the total, in what adds up
    counted = [one for one in told["releases"] if one["state"] != "void"]
    added = ("rho", "delta_keys") if accounting == "zcdp" else ("epsilon", "delta")
    for part in added:
        assert math.fsum(one[part] for one in counted) == pytest.approx(told[part], rel=1e-12, abs=1e-30)
    assert sum(one["state"] == "void" for one in told["releases"]) == 1

    reported = report(ledger).to_dict()
    assert reported["accounts"][0]["spent"]["epsilon"] == told["epsilon"]
    assert math.fsum(plan[added[0]] for plan in reported["plans"]) == pytest.approx(told[added[0]], rel=1e-12)
    ledger.close()

    with dpsql.connect(described, source={"t": ROWS}, ledger=path) as conn:
        held = conn.budget.spent
        rows = conn.execute("SHOW BUDGET").fetchall()
        names = [column[0] for column in conn.execute("SHOW BUDGET").description or ()]
    assert [getattr(held, part) for part in parts] == shown(spent)
    (line,) = [dict(zip(names, row, strict=True)) for row in rows if row[:2] == (described["dataset"], "spent")]
    assert [line[part] for part in parts] == shown(spent)

    capsys.readouterr()
    assert main(["budget", str(path), "-m", "csv"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    by_place = {tuple(line.split(",")[:2]): line.split(",")[2:] for line in lines}
    line = dict(zip(head.split(",")[2:], by_place[described["dataset"], "spent"], strict=True))
    assert [float(line[part]) for part in parts] == shown(spent)
    assert main(["releases", str(path), "-m", "csv"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(told["releases"]) and ("rho" in head.split(",")) == (accounting == "zcdp")


def test_many_gaussian_queries_are_published_as_what_they_spent(tmp_path: Path) -> None:
    """38 of them spent ε 2.98 and were published as 19, a suspicion of 100 %."""
    described = people(COLUMNS, unit="id", rows_per_unit=1, budget={"epsilon": 5, "delta": 1e-6}, accounting="zcdp")
    with dpsql.connect(described, source={"t": ROWS}, epsilon=0.5, delta=1e-8, ledger=tmp_path / "a.ledger") as conn:
        for _ in range(38):
            conn.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian', fresh=true) COUNT(*) FROM t")
        spent = conn.budget.spent
    ledger = Ledger.inspect(tmp_path / "a.ledger")
    told, text = as_json(published(ledger)), as_markdown(published(ledger))
    assert spent.epsilon is not None and 2.5 < spent.epsilon < 3.5
    assert told["epsilon"] == spent.epsilon and told["delta"] == spent.delta and told["rho"] == spent.rho
    assert "ε = 19" not in text and "100 %" not in text


def test_a_monthly_budgets_table_says_that_it_is_of_all_months(tmp_path: Path) -> None:
    described = people(COLUMNS, unit="id", rows_per_unit=1, budget={"epsilon": 5, "per": "month"})
    with dpsql.connect(described, source={"t": ROWS}, epsilon=0.5, ledger=tmp_path / "a.ledger") as conn:
        conn.execute("SELECT COUNT(*) FROM t")
    text = as_markdown(published(Ledger.inspect(tmp_path / "a.ledger")))
    assert "ε = 0.5, δ = 0 by approx accounting, of all months together" in text
