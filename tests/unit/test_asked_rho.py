"""OPTIONS(rho = …): the plan costs that much and hardly less."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql
from dpsql.testing import Replayer
from tests.worlds import again, asking, clinic

ZCDP = again(clinic.CATALOG, accounting="zcdp")


@pytest.fixture(scope="module")
def replayer() -> Iterator[Replayer]:
    with Replayer(ZCDP, clinic.source(clinic.clean())) as one:
        yield one


@pytest.mark.parametrize("rho", [0.002, 0.5])
@pytest.mark.parametrize(
    "select",
    [
        "COUNT(*) FROM visits",
        "specialty, SUM(cost), AVG(duration) FROM visits GROUP BY specialty",
        "MEDIAN(duration) FROM visits",
        "referrer, COUNT(*) FROM visits GROUP BY referrer",
        "COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    ],
)
def test_a_plan_costs_what_is_asked(replayer: Replayer, select: str, rho: float) -> None:
    cost = replayer.plan(asking(select, rho=rho)).cost
    assert 0.999 * rho <= float(cost.rho) <= rho


def test_gaussian_noise_is_the_smaller_one_for_a_rho(replayer: Replayer) -> None:
    auto, laplace = (
        replayer.plan(asking("COUNT(*) FROM visits", rho=0.1, mechanism=mechanism)).stages[0].noised[0].draw
        for mechanism in ("auto", "laplace")
    )
    assert auto.mechanism == "gaussian" and laplace.mechanism == "laplace"


def test_what_costs_nothing(replayer: Replayer) -> None:
    assert replayer.plan(asking("1", rho=0.1)).cost.rho == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rho": 0.1, "epsilon": 1}, "rho and epsilon"),
        ({"rho": 0.1, "accuracy": 5}, "rho and accuracy"),
        ({"rho": 0}, "rho takes"),
        ({"rho": -1}, "rho takes"),
    ],
)
def test_refused(replayer: Replayer, options: dict[str, object], said: str) -> None:
    with pytest.raises(dpsql.Error, match=said) as caught:
        replayer.plan(asking("COUNT(*) FROM visits", **options))
    assert caught.value.code == "DPSQL-119"


def test_a_budget_in_epsilon_has_no_rho() -> None:
    with clinic.replayer() as replayer, pytest.raises(dpsql.Error, match="kept in ρ"):
        replayer.plan(asking("COUNT(*) FROM visits", rho=0.1))
