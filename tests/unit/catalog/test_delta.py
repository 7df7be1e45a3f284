"""A budget without a delta has none, and `dpsql check` says what a δ means."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.catalog.fingerprint import fingerprint
from dpsql.errors import BudgetError
from dpsql.metadata.delta import check_delta, meaning
from dpsql.metadata.load import loads

CATALOG = """
unit: patient
budget: {epsilon: 5}
tables: {t: {unit: u, rows_per_unit: 12, columns: {u: integer}}}
"""


def test_a_budget_without_delta_has_none() -> None:
    assert loads(CATALOG).budget.total.delta == 0
    assert loads(CATALOG.replace("5}", "5, per: month}")).budget.total.delta == 0
    assert loads(CATALOG.replace("5}", "5, delta: 1e-6}")).budget.total.delta == Fraction(1, 10**6)


def test_the_owner_raises_or_lowers_by_name() -> None:
    plain = loads(CATALOG)
    assert plain.max_delta == Fraction(1, 1000) and plain.units is None
    check_delta(plain, Fraction(1, 1000))
    check_delta(plain, None)
    with pytest.raises(BudgetError) as refused:
        check_delta(plain, Fraction(1, 999))
    assert refused.value.number == 405 and "max_delta: 0.001" in refused.value.fix
    check_delta(loads(CATALOG + "max_delta: 0.5"), Fraction(1, 2))
    with pytest.raises(BudgetError):
        check_delta(loads(CATALOG + "max_delta: 1e-9"), Fraction(1, 10**8))


def test_spending_rules_change_no_fingerprint() -> None:
    assert fingerprint(loads(CATALOG)) == fingerprint(loads(CATALOG + "max_delta: 0.5\nunits: 5000"))


@pytest.mark.parametrize(
    ("delta", "more", "words"),
    [
        ("", "", ["δ = 0 in total", "are refused"]),
        (", delta: 1e-6", "", ["for one patient", "1 in 1,000,000", "`units:`"]),
        (", delta: 1e-6", "units: 5000", ["1 in 1,000,000", "somebody of 5,000", "1 in 200 "]),
        (", delta: 1e-6", "units: 400000", ["somebody of 400,000", "up to 0.4 "]),
        (", delta: 1e-6", "units: 2000000", ["up to 1 "]),
    ],
)
def test_what_a_delta_means(delta: str, more: str, words: list[str]) -> None:
    (line,) = meaning(loads(CATALOG.replace("epsilon: 5", f"epsilon: 5{delta}") + more))
    assert all(word in line for word in words), line


def test_what_is_public_has_no_delta() -> None:
    assert list(meaning(loads("dataset: d\ntables: {t: {public: true, columns: {u: integer}}}"))) == []
