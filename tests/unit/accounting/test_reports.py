"""The owner's report, the release table, and the tight total."""

from __future__ import annotations

import importlib.util
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import pld
from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost
from dpsql.accounting.releases import as_json, as_markdown, odds, releases
from dpsql.accounting.spending import published, report
from dpsql.errors import InterfaceError

ACCOUNT = Account(dataset="reports", epsilon=Fraction(100), delta=Fraction(1, 100))


def record(**changes: object) -> str:
    measured = {
        "name": "count(*)",
        "mechanism": "laplace",
        "sensitivity": 1.0,
        "scale": 10.0,
        "half_width_95": 29.957,
        "max_groups": 1,
        "max_rows": 1,
        "lower": 0.0,
        "upper": 240.0,
        "bounds": "declared",
        "stage": 0,
    }
    noise = {"mechanism": "laplace", "sensitivity": 2**17, "scale": 10 * 2**17, "max_groups": 1, "choices": 1}
    whole = {"dataset": "reports", "unit": "patient", "stages": [{"tables": ["visits"]}], "measurements": [measured]}
    return json.dumps({**whole, "noise": [noise | {"epsilon": "1/10"}], **changes})


def cost(epsilon: str, delta_keys: str = "0") -> Cost:
    amount, keys = Fraction(epsilon), Fraction(delta_keys)
    return Cost(epsilon=amount, delta=keys, rho=amount * amount / 2, delta_keys=keys)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """ana: plan p twice (one released, one voided) and q once (died running); bob: q once (reserved)."""
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)

    def charge(analyst: str, plan: str, epsilon: str) -> int:
        asked = Charge(plan=plan, metadata="m", cost=cost(epsilon), analyst=analyst, record=record())
        return ledger.reserve(asked).id

    ledger.void(charge("ana", "p", "0.5"), "never ran")
    first = ledger.reserve(Charge(plan="p", metadata="m", cost=cost("0.5"), analyst="ana", record=record()))
    ledger.running(first)
    ledger.store(first, b"rows")
    second = ledger.reserve(Charge(plan="q", metadata="m", cost=cost("2"), analyst="ana", record=record()))
    ledger.running(second)
    charge("bob", "q", "1")
    return ledger


def test_states_and_costs_of_every_charge(ledger: Ledger) -> None:
    listed = releases(ledger.rows())
    assert [(r.analyst, r.plan, r.state, r.cost.epsilon) for r in listed] == [
        ("ana", "p", "void", Fraction(1, 2)),
        ("ana", "p", "released", Fraction(1, 2)),
        ("ana", "q", "running", 2),
        ("bob", "q", "reserved", 1),
    ]
    assert listed[0].measured == "count(*)" and listed[0].tables == "visits"


def test_who_spent_what_on_which_plans(ledger: Ledger) -> None:
    reported = report(ledger)
    assert [(s.analyst, s.plan, s.charges, s.released, s.voided, s.cost.epsilon) for s in reported.plans] == [
        ("ana", "q", 1, 0, 0, 2),
        ("bob", "q", 1, 0, 0, 1),
        ("ana", "p", 2, 1, 1, Fraction(1, 2)),
    ]
    told = json.loads(json.dumps(reported.to_dict()))
    assert [(a["account"], a["spent"]["epsilon"]) for a in told["accounts"]] == [
        ("reports", 3.5),
        ("ana", 2.5),
        ("bob", 1),
    ]
    assert sum(plan["epsilon"] for plan in told["plans"]) == told["accounts"][0]["spent"]["epsilon"]
    assert told["accounts"][0]["left"]["epsilon"] == 96.5


def test_a_new_epoch_begins_a_new_report(tmp_path: Path, ledger: Ledger) -> None:
    ledger.close()
    again = Ledger.open(tmp_path / "a.ledger", ACCOUNT, new_epoch=True)
    assert releases(again.rows()) == ()


def test_the_release_table(ledger: Ledger) -> None:
    listed = releases(ledger.rows())
    text = as_markdown(published(ledger))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(listed)
    assert len({line.count("|") for line in table}) == 1
    assert "Privacy unit: patient" in text and "0 to 240 (declared)" in text and "| void |" in text
    assert "ε = 3.5" in text  # not what was voided
    data = json.loads(json.dumps(as_json(published(ledger))))
    assert data["epsilon"] == 3.5 and data["releases"][2]["epsilon"] == 2


def test_nothing_in_a_name_breaks_the_table(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    hostile = json.loads(record())
    hostile["measurements"][0]["name"] = 'sum("a|b\n<script>`*_\\|")'
    ledger.reserve(Charge(plan="p", metadata="m", cost=cost("1"), record=json.dumps(hostile)))
    (line,) = [line for line in as_markdown(published(ledger)).splitlines() if "script" in line]
    assert line.startswith("| 3 |") and "<script>" not in line
    assert line.replace("\\\\", "").replace("\\|", "").count("|") == 13


def test_epsilon_as_odds() -> None:
    assert "at most 3 (ε = 1.09861): a suspicion of 50 % becomes at most 75 %." in odds(math.log(3))
    assert "1e-06 (δ)" in odds(1, 1e-6, "patient") and "one patient's data" in odds(1, 1e-6, "patient")
    assert "100 %" in odds(10_000)


installed = pytest.mark.skipif(importlib.util.find_spec("dp_accounting") is None, reason="dpsql[pld] is optional")
DELTA = Fraction(1, 10**6)


def test_without_the_package_the_tight_total_says_what_to_install() -> None:
    if importlib.util.find_spec("dp_accounting") is None:
        with pytest.raises(InterfaceError) as refused:
            pld.epsilon_of({pld.Event(mechanism="laplace", sensitivity=1, scale=1): 1}, DELTA)
        assert refused.value.code == "DPSQL-424" and "dpsql[pld]" in refused.value.fix


def test_the_tight_total_takes_the_thresholds_delta_out_first(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    ledger.reserve(Charge(plan="p", metadata="m", cost=cost("1", "1e-6"), record=record()))
    with pytest.raises(InterfaceError) as refused:
        pld.tight_total(releases(ledger.rows()), DELTA)
    assert refused.value.code == "DPSQL-425"


def test_events_count_groups_and_choices_and_leave_out_what_was_voided(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    choice = {"mechanism": "permute-and-flip", "sensitivity": 1, "scale": 1, "max_groups": 4, "choices": 3}
    noise = [choice | {"epsilon": "6/5"}, {**choice, "mechanism": "laplace", "choices": 1, "epsilon": "1"}]
    for number in range(3):
        receipt = ledger.reserve(Charge(plan="p", metadata="m", cost=cost("2"), record=record(noise=noise)))
        if number == 2:
            ledger.void(receipt.id, "never ran")
    assert pld.events(releases(ledger.rows())) == {
        pld.Event(mechanism="choice", epsilon=Fraction(1, 10)): 24,
        pld.Event(mechanism="laplace", sensitivity=1, scale=1): 8,
    }


def discrete(shifts: tuple[int, ...], sigma: float, epsilon: float) -> float:
    """δ(ε) of discrete Gaussian noise on numbers that move by these shifts, by its definition."""
    losses = {0.0: 1.0}
    for shift in shifts:
        weights = {x: math.exp(-x * x / (2 * sigma * sigma)) for x in range(-20, 21)}
        whole, more = sum(weights.values()), dict[float, float]()
        for loss, chance in losses.items():
            for x, weight in weights.items():
                at = loss + (2 * x * shift + shift * shift) / (2 * sigma * sigma)
                more[at] = more.get(at, 0.0) + chance * weight / whole
        losses = more
    return sum(chance * -math.expm1(epsilon - loss) for loss, chance in losses.items() if loss > epsilon)


def test_of_coarse_noise_on_several_numbers_only_rho_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four counts that move by 1 each are not as private as one that moves by 2."""
    assert discrete((2,), 0.5, 17.0) < 1e-3 < discrete((1, 1, 1, 1), 0.5, 17.0)
    monkeypatch.setattr(pld, "_library", object)
    noise = {"mechanism": "gaussian", "sensitivity": 2, "scale": 512, "parts": 1024, "spread": True}
    (event,) = (pld._event(each) for each in [noise])
    assert event.spread and pld.epsilon_of({event: 1}, DELTA) == math.inf
    fine = pld._event({**noise, "sensitivity": 2**21, "scale": 2**20, "parts": 1})
    assert fine.spread and fine.is_fine


def exact_gaussian(delta: float) -> float:
    """The ε of one Gaussian with σ = Δ₂: δ(ε) = Φ(1/2 − ε) − e^ε·Φ(−1/2 − ε), by bisection."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    low, high = 0.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        over = below(0.5 - middle) - math.exp(middle) * below(-0.5 - middle) > delta
        low, high = (middle, high) if over else (low, middle)
    return high


@installed
def test_a_hundred_laplace_queries(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    for _ in range(100):
        ledger.reserve(Charge(plan="p", metadata="m", cost=cost("0.1"), record=record()))
    reported = report(ledger, tight_delta=DELTA)
    assert ledger.balance().spent.epsilon == 10
    assert reported.tight is not None
    assert reported.tight.epsilon == pytest.approx(4.6927, abs=1e-4)
    assert reported.tight.label == "valid if the parameters had been fixed beforehand"


@installed
@pytest.mark.parametrize(
    ("event", "times", "expected", "within"),
    [
        (pld.Event(mechanism="gaussian", sensitivity=2**20, scale=2**20), 1, None, 1e-3),
        (pld.Event(mechanism="gaussian", sensitivity=2**10, scale=2**10), 1, None, 1e-2),
        (pld.Event(mechanism="gaussian", sensitivity=2**20, scale=2**22), 16, None, 1e-3),
        (pld.Event(mechanism="choice", epsilon=Fraction(1, 2)), 1, 0.5, 1e-3),
        (pld.Event(mechanism="laplace", sensitivity=3, scale=6), 1, 0.5, 1e-3),
        (pld.Event(mechanism="laplace", sensitivity=2**12, scale=2**13), 1, 0.5, 1e-3),
    ],
)
def test_each_mechanism_by_itself(event: pld.Event, times: int, expected: float | None, within: float) -> None:
    """None: the exact Gaussian curve at a sensitivity of one sigma."""
    expected = exact_gaussian(float(DELTA)) if expected is None else expected
    assert pld.epsilon_of({event: times}, DELTA) == pytest.approx(expected, abs=within)
