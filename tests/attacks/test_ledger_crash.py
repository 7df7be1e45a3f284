"""kill -9 at every named point and at random: nothing uncharged is released, nothing charged is lost.

Each victim is a forked child that answers queries in a loop and writes down, outside the ledger, what it was told: a
receipt came back, private data was touched, rows were handed over. The parent kills it and compares with the ledger.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import ledger as ledger_module
from dpsql.accounting.account import Account, Charge
from dpsql.accounting.ledger import CRASH_POINTS, Ledger
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError

EACH = Cost(epsilon=Fraction(1, 10), delta=Fraction(1, 10**12), rho=Fraction(0), delta_keys=Fraction(0))
ACCOUNT = Account(dataset="crash", epsilon=Fraction(40), delta=Fraction(1, 10**6))


def answer_forever(path: Path, diary: int) -> None:
    """What the session does: charge, run, store, hand over; with a note in the diary after each step."""
    ledger = Ledger.open(path, ACCOUNT)
    while True:
        try:
            receipt = ledger.reserve(Charge(plan="p", metadata="m", cost=EACH, analyst="ana"))
        except BudgetError:
            os.write(diary, b"full 0\n")
            return
        os.write(diary, b"reserved %d\n" % receipt.id)
        ledger.running(receipt)
        os.write(diary, b"touched %d\n" % receipt.id)
        ledger.store(receipt, b"rows of %d" % receipt.id)
        os.write(diary, b"handed %d\n" % receipt.id)


def victim(path: Path, diary: Path, prepare: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1  # of a victim that failed instead of being killed
    try:
        prepare()
        answer_forever(path, os.open(diary, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        status = 0
    finally:
        os._exit(status)


def check(path: Path, diary: Path) -> None:
    told = [line.split() for line in diary.read_text().splitlines()] if diary.exists() else []
    assert Ledger.verify_file(path) is None
    ledger = Ledger.open(path, ACCOUNT)
    entries = list(ledger.rows())
    charged = {entry.n for entry in entries if entry.kind == "charge"}
    running = {entry.subject for entry in entries if entry.kind == "running"}
    released = {entry.subject for entry in entries if entry.kind == "released"}
    by_word = {word: {int(n) for w, n in told if w == word} for word in ("reserved", "touched", "handed")}
    assert by_word["reserved"] <= charged
    assert by_word["touched"] <= running <= charged
    assert by_word["handed"] <= released <= running
    spent = ledger.balance().spent
    assert spent.epsilon == len(charged) * EACH.epsilon <= ACCOUNT.epsilon
    assert spent.delta == len(charged) * EACH.delta
    ledger.close()


@pytest.mark.parametrize("point", CRASH_POINTS)
def test_killed_at_a_named_point(tmp_path: Path, point: str) -> None:
    path, diary = tmp_path / "a.ledger", tmp_path / "diary"
    for passes in range(8):

        def die_at_the_point(left: list[int]) -> None:
            def crash_point(name: str) -> None:
                if name == point:
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            ledger_module.crash_point = crash_point

        # Opening passes its points once only; the others are reached in a later round each time.
        rounds = 0 if point.startswith("open") else passes % 4
        child = victim(path, diary, lambda rounds=rounds: die_at_the_point([rounds]))
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        check(path, diary)


def wait_for(diary: Path, word: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and not (diary.exists() and word in diary.read_text()):
        time.sleep(0.005)


def killed_at_random(folder: Path, times: int) -> None:
    killed = handed = 0
    chance = random.Random(20261118)
    path, diary = folder / "a.ledger", folder / "diary"
    for done in range(times):
        children = [victim(path, diary, lambda: None) for _ in range(1 + done % 3)]
        time.sleep(chance.uniform(0.001, 0.03))
        if done % 60 == 30:  # however slow the machine is, some are killed after they have handed rows over
            wait_for(diary, "handed")
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            status = os.waitpid(child, 0)[1]
            assert os.waitstatus_to_exitcode(status) in (-signal.SIGKILL, 0), "a victim failed by itself"
            killed += os.WIFSIGNALED(status)
        if done % 5 == 4 or done == times - 1:
            check(path, diary)
        if done % 60 == 59 or done == times - 1:
            handed += diary.read_text().count("handed")
        if done % 60 == 59:  # the budget is gone by then: start on a new ledger
            folder = folder / "next"
            folder.mkdir()
            path, diary = folder / "a.ledger", folder / "diary"
    assert killed >= times // 2 and handed > 0  # the kills met work in progress


def test_killed_at_random(tmp_path: Path) -> None:
    killed_at_random(tmp_path, 180)


@pytest.mark.deep
def test_killed_at_random_a_thousand_times(tmp_path: Path) -> None:
    killed_at_random(tmp_path, 1000)
