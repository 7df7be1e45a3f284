"""Many processes, one budget: not one charge too many, not one too few."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError

EACH = Cost(epsilon=Fraction(1, 1000), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0))


def in_processes(count: int, work: Callable[[int], int]) -> list[int]:
    """What `work` returns in each of so many processes that start at the same moment."""
    start_reader, start_writer = os.pipe()
    readers, children = [], []
    for number in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(start_writer)
                os.read(start_reader, 1)  # ends when the parent closes its side
                os.write(writer, b"%d" % work(number))
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        readers.append(reader)
        children.append(child)
    os.close(start_writer)
    os.close(start_reader)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    assert statuses == [0] * count
    numbers = [int(os.read(reader, 100)) for reader in readers]
    for reader in readers:
        os.close(reader)
    return numbers


def test_sixteen_processes_race_for_a_thousand_charges(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    account = Account(dataset="race", epsilon=Fraction(1), delta=Fraction(0))

    def spend(number: int) -> int:
        ledger = Ledger.open(path, account, timeout=120)
        accepted = 0
        while True:
            try:
                ledger.reserve(Charge(plan="p", metadata="m", cost=EACH, analyst=f"a{number % 3}"))
            except BudgetError:
                return accepted
            accepted += 1

    assert sum(in_processes(16, spend)) == 1000
    ledger = Ledger.open(path, account)
    assert ledger.balance().left.epsilon == 0
    assert sum(balance.spent.epsilon or 0 for balance in ledger.balance().per_analyst.values()) == 1
    assert ledger.verify() is None
    assert (tmp_path / "a.ledger.head").read_text().strip() == ledger.head()


def test_analyst_caps_hold_under_a_race_too(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    account = Account(
        dataset="race", epsilon=Fraction(1), delta=Fraction(0), analysts={"ana": (Fraction(50, 1000), None)}
    )

    def spend(number: int) -> int:
        ledger = Ledger.open(path, account, timeout=120)
        accepted = 0
        for _ in range(30):
            try:
                ledger.reserve(Charge(plan="p", metadata="m", cost=EACH, analyst="ana"))
            except BudgetError:
                break
            accepted += 1
        return accepted

    assert sum(in_processes(8, spend)) == 50


def test_concurrent_first_opens(tmp_path: Path) -> None:
    account = Account(dataset="race", epsilon=Fraction(1), delta=Fraction(0))
    for attempt in range(6):
        path = tmp_path / f"{attempt}.ledger"

        def first_open(_: int, path: Path = path) -> int:
            ledger = Ledger.open(path, account, timeout=120)
            return ledger.reserve(Charge(plan="p", metadata="m", cost=EACH)).id

        ids = in_processes(16, first_open)
        assert sorted(ids) == list(range(3, 19))  # after one epoch and one account entry
        assert Ledger.verify_file(path) is None


def test_a_shared_sub_budget_is_one(tmp_path: Path) -> None:
    account = Account(dataset="race", epsilon=Fraction(1), delta=Fraction(0))
    part = Ledger.open(tmp_path / "a.ledger", account, timeout=120).sub(Fraction(20, 1000))

    def spend(_: int) -> int:
        accepted = 0
        while True:
            try:
                part.reserve(Charge(plan="p", metadata="m", cost=EACH))
            except BudgetError:
                return accepted
            accepted += 1

    assert sum(in_processes(4, spend)) == 20
