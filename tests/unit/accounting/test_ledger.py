"""The ledger's own promises: what it charges, refuses, repeats, reports and puts on record."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting.account import Account, Charge, OverBudget, Receipt
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import ZERO, Cost
from dpsql.errors import BudgetError, Error, InterfaceError, InternalError, LedgerError

ACCOUNT = Account(dataset="hospital", epsilon=Fraction(10), delta=Fraction(1, 10**6))


def cost(epsilon: str, delta: str = "0") -> Cost:
    return Cost(epsilon=Fraction(epsilon), delta=Fraction(delta), rho=Fraction(0), delta_keys=Fraction(0))


def charge(
    epsilon: str = "1", delta: str = "0", *, analyst: str | None = "ana", plan: str = "p", query_id: str | None = None
) -> Charge:
    return Charge(plan=plan, metadata="m", cost=cost(epsilon, delta), analyst=analyst, query_id=query_id)


def answer(ledger: Ledger, asked: Charge, rows: bytes = b"rows") -> Receipt:
    receipt = ledger.reserve(asked)
    if receipt.repeats is None:
        ledger.running(receipt)
        ledger.store(receipt, rows)
    return receipt


def code_of(action: object) -> str:
    with pytest.raises(Error) as caught:
        action()  # type: ignore[operator]  # a lambda, whatever it returns
    return caught.value.code


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hospital.ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(path, ACCOUNT)
    yield opened
    assert opened.verify() is None
    opened.close()


class TestCharging:
    def test_what_was_charged_is_there_after_reopening(self, ledger: Ledger, path: Path) -> None:
        ledger.reserve(charge("1"))
        ledger.reserve(charge("1", "1e-9"))
        again = Ledger.open(path, ACCOUNT)
        assert again.balance().spent.epsilon == 2
        assert again.balance().spent.delta == Fraction(1, 10**9)
        assert again.balance().left.epsilon == 8
        again.close()

    def test_exactly_ten_tenths_fit_in_one(self, path: Path) -> None:
        ledger = Ledger.open(path, Account(dataset="d", epsilon=Fraction(1), delta=Fraction(0)))
        for _ in range(10):
            ledger.reserve(charge("0.1"))
        assert code_of(lambda: ledger.reserve(charge("1e-30"))) == "DPSQL-400"
        assert ledger.balance().left.epsilon == 0

    def test_four_releases_add_up(self, path: Path) -> None:  # row 19 of the acceptance numbers
        ledger = Ledger.open(path, ACCOUNT)
        for _ in range(4):
            ledger.reserve(charge("1.2", "1e-10"))
        assert (ledger.balance().spent.epsilon, ledger.balance().spent.delta) == (Fraction("4.8"), Fraction("4e-10"))

    def test_filter_of_one_point_one(self, path: Path) -> None:  # row 18
        ledger = Ledger.open(path, Account(dataset="d", epsilon=Fraction("1.1"), delta=Fraction(0)))
        ledger.reserve(charge("1.0986"))
        assert code_of(lambda: ledger.reserve(charge("1.0986"))) == "DPSQL-400"

    def test_refusal_says_spent_asked_left_and_the_largest_that_passes(self, ledger: Ledger) -> None:
        ledger.reserve(charge("9.5"))
        with pytest.raises(OverBudget) as caught:
            ledger.reserve(charge("1"))
        refused = caught.value
        assert (refused.spent.epsilon, refused.asked.epsilon, refused.left.epsilon) == (
            Fraction("9.5"),
            1,
            Fraction("0.5"),
        )
        assert refused.largest_epsilon == Fraction("0.5")
        for words in ("epsilon 9.5", "epsilon 1", "epsilon 0.5", "largest epsilon that would pass is 0.5"):
            assert words in str(refused)
        ledger.reserve(charge("0.5"))

    def test_largest_epsilon_in_the_message_is_cut_and_passes(self, path: Path) -> None:
        ledger = Ledger.open(path, Account(dataset="d", epsilon=Fraction(2, 3), delta=Fraction(0)))
        with pytest.raises(OverBudget, match="would pass is 0.666666. "):
            ledger.reserve(charge("1"))
        ledger.reserve(charge("0.666666"))

    def test_delta_alone_can_refuse_and_then_no_epsilon_passes(self, ledger: Ledger) -> None:
        with pytest.raises(OverBudget) as caught:
            ledger.reserve(charge("1", "2e-6"))
        assert caught.value.largest_epsilon == 0
        assert ledger.balance().spent.epsilon == 0

    def test_quote_agrees_with_reserve_and_writes_nothing(self, ledger: Ledger) -> None:
        before = ledger.head()
        assert ledger.quote(cost("10"), "ana") is None
        assert isinstance(ledger.quote(cost("10.1"), "ana"), BudgetError)
        assert ledger.head() == before

    @pytest.mark.parametrize(
        "wrong",
        [
            ZERO,
            cost("-1"),
            Cost(epsilon=Fraction(1), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(1)),
            Cost(epsilon=float("nan"), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0)),  # type: ignore[arg-type]
            Cost(epsilon=1.0, delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0)),  # type: ignore[arg-type]
        ],
    )
    def test_a_cost_that_went_wrong_buys_nothing(self, wrong: Cost) -> None:
        with pytest.raises(InternalError):
            Charge(plan="p", metadata="m", cost=wrong)

    @pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 300, "a\nb"])
    def test_names_that_cannot_be_stored_are_refused(self, name: str) -> None:
        with pytest.raises(InterfaceError):
            charge(query_id=name)

    def test_an_uncapped_account_counts_and_never_refuses(self, path: Path) -> None:
        ledger = Ledger.open(path, Account(dataset="smartnoise", capped=False))
        ledger.reserve(charge("1000"))
        assert ledger.balance().total.epsilon is None
        assert ledger.balance().left.epsilon is None
        assert ledger.balance().spent.epsilon == 1000


class TestLife:
    def test_a_reservation_runs_once(self, ledger: Ledger) -> None:
        receipt = ledger.reserve(charge())
        ledger.running(receipt)
        assert code_of(lambda: ledger.running(receipt)) == "DPSQL-423"
        ledger.store(receipt, b"rows")
        assert code_of(lambda: ledger.store(receipt, b"other")) == "DPSQL-423"
        assert code_of(lambda: ledger.running(receipt)) == "DPSQL-423"

    def test_rows_are_not_stored_for_what_did_not_run(self, ledger: Ledger) -> None:
        receipt = ledger.reserve(charge())
        assert code_of(lambda: ledger.store(receipt, b"rows")) == "DPSQL-423"
        assert code_of(lambda: ledger.running(Receipt(id=99, cost=ZERO))) == "DPSQL-423"
        assert code_of(lambda: ledger.running(Receipt(id=1, cost=ZERO))) == "DPSQL-423"

    def test_the_owner_voids_only_what_never_ran(self, ledger: Ledger) -> None:
        first, second = ledger.reserve(charge()), ledger.reserve(charge())
        ledger.running(first)
        assert code_of(lambda: ledger.void(first.id, "please")) == "DPSQL-423"
        assert code_of(lambda: ledger.void(second.id, "  ")) == "DPSQL-600"
        ledger.void(second.id, "the process died before it ran")
        assert code_of(lambda: ledger.void(second.id, "twice")) == "DPSQL-423"
        assert code_of(lambda: ledger.running(second)) == "DPSQL-423"
        assert ledger.balance("ana").spent.epsilon == 1
        assert ledger.balance("ana").per_analyst["ana"].spent.epsilon == 1
        assert [entry.detail for entry in ledger.rows() if entry.kind == "void"] == ["the process died before it ran"]


class TestRepeats:
    def test_a_retry_gives_the_stored_rows_and_is_charged_once(self, ledger: Ledger) -> None:
        first = answer(ledger, charge(query_id="q1"), b"noisy")
        again = ledger.reserve(charge(query_id="q1"))
        assert again == Receipt(id=first.id, cost=first.cost, repeats=b"noisy")
        assert ledger.balance().spent.epsilon == 1

    def test_a_retry_passes_even_when_the_budget_is_gone(self, ledger: Ledger) -> None:
        answer(ledger, charge("10", query_id="q1"), b"noisy")
        assert ledger.reserve(charge("10", query_id="q1")).repeats == b"noisy"

    def test_without_stored_rows_a_retry_is_a_new_charge(self, ledger: Ledger) -> None:
        ledger.running(ledger.reserve(charge(query_id="q1")))
        assert ledger.reserve(charge(query_id="q1")).repeats is None
        assert ledger.balance().spent.epsilon == 2

    def test_a_query_id_belongs_to_analyst_and_plan(self, ledger: Ledger) -> None:
        answer(ledger, charge(query_id="q1"), b"noisy")
        assert ledger.reserve(charge(query_id="q1", analyst="bob")).repeats is None
        assert code_of(lambda: ledger.reserve(charge(query_id="q1", plan="other"))) == "DPSQL-412"
        assert ledger.balance().spent.epsilon == 2

    def test_stored_rows_are_for_the_same_analyst_plan_and_metadata(self, ledger: Ledger) -> None:
        answer(ledger, charge(), b"first")
        answer(ledger, charge(), b"second")
        answer(ledger, charge(analyst=None), b"nobody's")
        assert ledger.stored(analyst="ana", plan="p", metadata="m") == b"second"
        assert ledger.stored(analyst=None, plan="p", metadata="m") == b"nobody's"
        assert ledger.stored(analyst="bob", plan="p", metadata="m") is None
        assert ledger.stored(analyst="ana", plan="q", metadata="m") is None
        assert ledger.stored(analyst="ana", plan="p", metadata="n") is None
        assert ledger.stored(analyst="ana", plan="p", metadata="m", query_id="q") is None

    def test_rows_by_the_number_of_their_charge(self, ledger: Ledger) -> None:
        first, second = answer(ledger, charge(), b"first"), answer(ledger, charge(), b"second")
        unfinished = ledger.reserve(charge())
        assert [ledger.rows_of(one.id) for one in (first, second, unfinished)] == [b"first", b"second", None]
        assert ledger.rows_of(first.id + 1) is None and ledger.rows_of(99) is None

    def test_rows_that_were_changed_are_not_given(self, path: Path) -> None:
        ledger = Ledger.open(path, ACCOUNT)
        receipt = answer(ledger, charge())
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE released SET rows = ?", (b"other",))
        assert code_of(lambda: ledger.rows_of(receipt.id)) == "DPSQL-440"
        ledger.close()


class TestAnalysts:
    def test_only_the_listed_may_ask_and_each_within_the_cap(self, path: Path) -> None:
        account = Account(
            dataset="d",
            epsilon=Fraction(5),
            delta=Fraction(1, 10**6),
            analysts={"ana": (Fraction(4), None), "bob": (None, None)},
        )
        ledger = Ledger.open(path, account)
        for stranger in ("eve", None):
            assert code_of(lambda who=stranger: ledger.reserve(charge(analyst=who))) == "DPSQL-403"
            refused = ledger.quote(cost("1"), stranger)
            assert refused is not None and refused.code == "DPSQL-403"
        ledger.reserve(charge("3", "9e-7"))
        with pytest.raises(OverBudget, match="analyst 'ana'"):
            ledger.reserve(charge("1.5"))
        ledger.reserve(charge("1.5", analyst="bob"))
        with pytest.raises(OverBudget, match="dataset 'd'"):
            ledger.reserve(charge("1"))
        balance = ledger.balance()
        assert {name: of_analyst.spent.epsilon for name, of_analyst in balance.per_analyst.items()} == {
            "ana": 3,
            "bob": Fraction("1.5"),
        }
        assert balance.per_analyst["ana"].left.epsilon == 1
        assert balance.left.epsilon == Fraction("0.5")

    def test_without_a_list_anyone_may_ask_and_is_counted(self, ledger: Ledger) -> None:
        ledger.reserve(charge("1", analyst="carl:with@odd|name"))
        ledger.reserve(charge("2", analyst=None))
        assert {name: of_analyst.spent.epsilon for name, of_analyst in ledger.balance().per_analyst.items()} == {
            "carl:with@odd|name": 1
        }

    def test_one_query_may_have_a_cap(self, path: Path) -> None:
        account = Account(dataset="d", epsilon=Fraction(5), delta=Fraction(0), per_query=(Fraction(1), None))
        ledger = Ledger.open(path, account)
        assert code_of(lambda: ledger.reserve(charge("1.01"))) == "DPSQL-401"
        ledger.reserve(charge("1"))


class TestSubBudgets:
    def test_a_sub_budget_counts_in_both(self, ledger: Ledger) -> None:
        part = ledger.sub(Fraction(1, 2))
        part.reserve(charge("0.3"))
        assert code_of(lambda: part.reserve(charge("0.3"))) == "DPSQL-402"
        assert (part.balance().total.epsilon, part.balance().left.epsilon) == (Fraction(1, 2), Fraction(1, 5))
        assert ledger.balance().spent.epsilon == Fraction("0.3")
        ledger.reserve(charge("9.6"))
        assert code_of(lambda: part.reserve(charge("0.2"))) == "DPSQL-400"

    def test_what_is_left_is_never_more_than_what_is_left_around_it(self, ledger: Ledger) -> None:
        outer = ledger.sub(Fraction(1))
        inner = outer.sub(Fraction(9), Fraction(1, 10**7))
        assert (inner.balance().total.epsilon, inner.balance().left.epsilon) == (9, 1)
        assert inner.balance().left.delta == Fraction(1, 10**7)
        ledger.reserve(charge("9.75"))
        assert inner.balance().left.epsilon == outer.balance().left.epsilon == Fraction(1, 4)
        inner.reserve(charge("0.25"))
        assert code_of(lambda: inner.reserve(charge("0.001"))) == "DPSQL-400"

    def test_a_sub_budget_of_a_sub_budget_counts_in_all_three(self, ledger: Ledger) -> None:
        outer = ledger.sub(Fraction(1))
        inner = outer.sub(Fraction(3, 4), Fraction(0))
        inner.reserve(charge("0.75"))
        assert code_of(lambda: outer.reserve(charge("0.5"))) == "DPSQL-402"
        assert code_of(lambda: inner.reserve(charge("0.01"))) == "DPSQL-402"
        ledger.void(next(entry.n for entry in ledger.rows() if entry.kind == "charge"), "never ran")
        assert inner.balance().left.epsilon == Fraction(3, 4)
        assert outer.balance().left.epsilon == 1


class TestOwner:
    def test_grants_and_limits_are_on_record(self, ledger: Ledger) -> None:
        ledger.grant(epsilon=Fraction(2), why="ethics board, 12 May")
        assert ledger.balance().total.epsilon == 12
        ledger.limit(epsilon=Fraction(3), why="summer")
        assert ledger.balance().total.epsilon == 3
        assert code_of(lambda: ledger.reserve(charge("3.5"))) == "DPSQL-400"
        ledger.limit(why="autumn")
        ledger.reserve(charge("12"))
        ledger.limit(analyst="bob", epsilon=Fraction(0), why="left the company")
        ledger.grant(epsilon=Fraction(1), why="more")
        assert code_of(lambda: ledger.reserve(charge("0.5", analyst="bob"))) == "DPSQL-400"
        assert [entry.kind for entry in ledger.rows()][2:] == ["grant", "limit", "limit", "charge", "limit", "grant"]

    @pytest.mark.parametrize("amount", [Fraction(-1), 1.5, float("nan"), "1", True])
    def test_only_exact_amounts_are_granted(self, ledger: Ledger, amount: Fraction) -> None:
        with pytest.raises(InterfaceError):
            ledger.grant(epsilon=amount, why="x")
        with pytest.raises(InterfaceError):
            ledger.sub(amount)

    def test_export_is_json_and_checkable(self, ledger: Ledger) -> None:
        answer(ledger, charge(), b"secret noise")
        text = json.dumps(ledger.export())
        assert ledger.head().split(":")[1] in text
        assert "secret noise" not in text


class TestMonths:
    NOVEMBER = 1_794_000_000_000_000  # 2026-11-06
    DECEMBER = 1_797_000_000_000_000  # 2026-12-11

    def test_a_monthly_budget_is_whole_again_next_month_and_only_then(self, path: Path) -> None:
        now = [self.NOVEMBER]
        account = Account(dataset="d", epsilon=Fraction(2), delta=Fraction(0), per="month")
        ledger = Ledger.open(path, account, clock=lambda: now[0])
        ledger.grant(epsilon=Fraction(1), why="once")
        ledger.reserve(charge("3"))
        assert code_of(lambda: ledger.reserve(charge("1"))) == "DPSQL-400"
        now[0] = self.DECEMBER
        assert ledger.balance().total.epsilon == 2
        first = ledger.reserve(charge("2"))
        now[0] = self.NOVEMBER  # the clock is set back: it stays December
        assert code_of(lambda: ledger.reserve(charge("1"))) == "DPSQL-400"
        assert ledger.balance().left.epsilon == 0
        ledger.void(first.id, "never ran")
        ledger.reserve(charge("2"))
        assert [entry.when.month for entry in ledger.rows()][-1] == 12
        assert ledger.verify() is None

    def test_a_void_gives_back_to_the_month_of_the_charge(self, path: Path) -> None:
        now = [self.NOVEMBER]
        account = Account(dataset="d", epsilon=Fraction(2), delta=Fraction(0), per="month")
        ledger = Ledger.open(path, account, clock=lambda: now[0])
        old = ledger.reserve(charge("2"))
        now[0] = self.DECEMBER
        ledger.reserve(charge("2"))
        ledger.void(old.id, "never ran")
        assert code_of(lambda: ledger.reserve(charge("1"))) == "DPSQL-400"

    def test_switching_to_a_monthly_budget_does_not_refill_this_month(self, path: Path) -> None:
        ledger = Ledger.open(path, ACCOUNT, clock=lambda: self.NOVEMBER)
        ledger.reserve(charge("9"))
        monthly = Account(dataset="hospital", epsilon=Fraction(10), delta=Fraction(1, 10**6), per="month")
        again = Ledger.open(path, monthly, clock=lambda: self.NOVEMBER)
        assert code_of(lambda: again.reserve(charge("2"))) == "DPSQL-400"


class TestFileAndThreads:
    def test_only_the_owner_can_read_the_files(self, ledger: Ledger, path: Path) -> None:
        ledger.reserve(charge())
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file

    def test_rights_of_others_are_taken_away(self, path: Path) -> None:
        Ledger.open(path, ACCOUNT).close()
        path.chmod(0o644)
        Ledger.open(path, ACCOUNT).close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_threads_share_one_budget(self, ledger: Ledger) -> None:
        accepted: list[int] = []

        def spend() -> None:
            for _ in range(10):
                try:
                    accepted.append(ledger.reserve(charge("0.25")).id)
                except BudgetError:
                    return

        threads = [threading.Thread(target=spend) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(accepted) == len(set(accepted)) == 40
        assert ledger.balance().left.epsilon == 0

    def test_a_closed_ledger_says_so(self, path: Path) -> None:
        ledger = Ledger.open(path, ACCOUNT)
        ledger.close()
        ledger.close()
        assert code_of(lambda: ledger.reserve(charge())) == "DPSQL-600"

    def test_a_forked_child_spends_from_the_same_file(self, ledger: Ledger, path: Path) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                ledger.reserve(charge("4"))
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert ledger.balance().spent.epsilon == 4
        assert code_of(lambda: ledger.reserve(charge("7"))) == "DPSQL-400"

    def test_a_budget_in_memory_is_not_doubled_by_a_fork(self) -> None:
        ledger = Ledger.open(None, Account(dataset="forked", epsilon=Fraction(1), delta=Fraction(0)))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                ledger.reserve(charge("1"))
            except LedgerError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        ledger.reserve(charge("1"))
