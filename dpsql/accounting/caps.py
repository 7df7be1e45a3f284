"""Would a charge pass? Pure: caps and totals in, None or the refusal out.

Lemma (approx). If every accepted charge keeps Σε ≤ ε and Σδ ≤ δ, all answers together are (ε, δ)-differentially
private, also when each query is chosen after seeing the answers before. Proof: basic composition holds for costs that
are chosen adaptively, as long as their sums stay within a bound fixed beforehand; refusing the rest keeps them there.

Lemma (zcdp). If every accepted charge keeps Σρ ≤ ρ_max and Σδ_keys ≤ δ_keys, with ρ_max the largest ρ whose tight ε at
δ − δ_keys is within ε, all answers together are (ε, δ)-differentially private. Proof: ρ adds up adaptively, so what is
not a threshold is ρ_max-zCDP, hence (ε, δ − δ_keys); the thresholds fail with probability at most δ_keys in all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from dpsql.accounting import loss
from dpsql.accounting.account import Account, Amount, Balance, Cap, OverBudget
from dpsql.accounting.loss import Cost

ZERO = Fraction(0)
DELTA_IF_UNCAPPED = Fraction(1, 10**6)
"""Only reports of an uncapped zcdp account use it, to say an ε at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """One cap and what was spent under it. who: in words. code: of the refusal.

    single: of one query alone. It is compared with ε and δ as they were asked, under zcdp too: nothing adds up, and both
    are what the query promises.
    """

    who: str
    code: int
    cap: Cap
    spent: Cost = loss.ZERO
    single: bool = False


@lru_cache(maxsize=256)
def _rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    return loss.rho_for(epsilon, delta)


def limit_of(account: Account, cap: Cap) -> Amount:
    """What is enforced for a cap, in the account's notion. A cap without δ limits ε only."""
    epsilon, delta = cap
    if account.accounting == "approx":
        return Amount(epsilon=epsilon, delta=delta)
    gaussian = _delta_for_rho(account, cap)
    rho = None
    if epsilon is not None:
        rho = _rho_for(epsilon, gaussian) if gaussian > 0 else ZERO
    keys = None if delta is None else delta * account.keys_share
    return Amount(epsilon=epsilon, delta=delta, rho=rho, delta_keys=keys)


def _delta_for_rho(account: Account, cap: Cap) -> Fraction:
    """The part of a cap's δ (of the dataset's, if it has none) that ρ is converted with; always below 1."""
    delta = cap[1] if cap[1] is not None else account.delta or ZERO
    return min(delta * (1 - account.keys_share), Fraction(1, 2))


def _adds_up(account: Account, ceiling: Ceiling) -> bool:
    """Whether ε and δ themselves are compared with the cap, not ρ and the δ of thresholds."""
    return ceiling.single or account.accounting == "approx"


def _pairs(account: Account, ceiling: Ceiling, cost: Cost) -> tuple[tuple[Fraction | None, Fraction], ...]:
    """What is enforced, each with its amount in a cost."""
    if _adds_up(account, ceiling):
        return (ceiling.cap[0], cost.epsilon), (ceiling.cap[1], cost.delta)
    limit = limit_of(account, ceiling.cap)
    return (limit.rho, cost.rho), (limit.delta_keys, cost.delta_keys)


def passes(account: Account, ceiling: Ceiling, cost: Cost) -> bool:
    return all(cap is None or used <= cap for cap, used in _pairs(account, ceiling, ceiling.spent + cost))


def refusal(account: Account, ceilings: tuple[Ceiling, ...], cost: Cost) -> OverBudget | None:
    """None if the charge passes every ceiling, else the refusal by the first one it does not pass."""
    for ceiling in ceilings:
        if not passes(account, ceiling, cost):
            largest = min(_largest(account, each, cost) for each in ceilings)
            refused = _refused_single if ceiling.single else _refused
            return refused(account, ceiling, cost, largest)
    return None


def amount_spent(account: Account, cap: Cap, spent: Cost) -> Amount:
    """What was spent, for the reader: under zcdp ε is converted from ρ, at the δ that is not for thresholds."""
    if account.accounting == "approx":
        return Amount(epsilon=spent.epsilon, delta=spent.delta)
    gaussian = _delta_for_rho(account, cap) or DELTA_IF_UNCAPPED
    epsilon = Fraction(repr(loss.epsilon_of_rho(spent.rho, gaussian))) if spent.rho else ZERO
    return Amount(
        epsilon=epsilon,
        delta=spent.delta_keys + (gaussian if spent.rho else ZERO),
        rho=spent.rho,
        delta_keys=spent.delta_keys,
    )


def amount_left(total: Amount, spent: Amount) -> Amount:
    """What is left of each part that has a cap, never below 0 (a cap may have been lowered after the spending)."""

    def left(cap: Fraction | None, used: Fraction | None) -> Fraction | None:
        return None if cap is None else max(ZERO, cap - (used or ZERO))

    return Amount(
        epsilon=left(total.epsilon, spent.epsilon),
        delta=left(total.delta, spent.delta),
        rho=left(total.rho, spent.rho),
        delta_keys=left(total.delta_keys, spent.delta_keys),
    )


def least_amount(one: Amount, other: Amount) -> Amount:
    """What is within both, part by part."""
    return Amount(
        epsilon=_smaller(one.epsilon, other.epsilon),
        delta=_smaller(one.delta, other.delta),
        rho=_smaller(one.rho, other.rho),
        delta_keys=_smaller(one.delta_keys, other.delta_keys),
    )


def left_of(balance: Balance, analyst: str | None) -> Amount:
    """What a charge must be within: of the dataset's budget (or sub-budget) and of the analyst's own."""
    of_analyst = balance.per_analyst.get(analyst or "")
    return balance.left if of_analyst is None else least_amount(balance.left, of_analyst.left)


def _largest(account: Account, ceiling: Ceiling, cost: Cost) -> Fraction:
    """The largest ε for which the same query with the same δ passes this ceiling; 0 if no ε does. Rounded down.

    approx: what is left, because ε is charged as asked. zcdp, no Gaussian noise (δ is the thresholds' alone): ρ grows
    as ε², so ε·√(left/asked). zcdp, Gaussian noise: the ρ of a share of ε is the largest whose tight ε is within it. From ε
    down to ε′ that falls by less than (ε′/ε)², the more so the larger the share; so a query of Gaussian noise alone falls
    least, and one with choices among candidates beside it passes where it does: the tight ε of ρ(ε)·left/asked.
    """
    (main, spent), (other, other_spent) = _pairs(account, ceiling, ceiling.spent)
    asked, asked_delta = (used for _, used in _pairs(account, ceiling, cost))
    if other is not None and other_spent + asked_delta > other:
        return ZERO
    if main is None:
        return cost.epsilon
    left = max(ZERO, main - spent)
    if left >= asked:
        return cost.epsilon
    if _adds_up(account, ceiling):
        return left
    return _largest_zcdp(cost, left)


def _largest_zcdp(cost: Cost, left: Fraction) -> Fraction:
    pure = cost.epsilon * Fraction(_down(math.sqrt(left / cost.rho)))
    gaussian_delta = cost.delta - cost.delta_keys
    if gaussian_delta <= 0 or left == 0:
        return pure
    alone = loss.rho_for(cost.epsilon, gaussian_delta) * min(Fraction(1), left / cost.rho)
    return min(cost.epsilon, Fraction(_down(loss.epsilon_of_rho(alone, gaussian_delta))))


def _down(value: float | Fraction) -> str:
    """Six digits, cut off: a suggestion that passes rather than one that is exact."""
    if value <= 0:
        return "0"
    with localcontext(prec=6, rounding=ROUND_FLOOR) as context:
        exact = Fraction(value)
        return f"{context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context):f}"


def _refused(account: Account, ceiling: Ceiling, cost: Cost, largest: Fraction) -> OverBudget:
    limit = limit_of(account, ceiling.cap)
    spent = amount_spent(account, ceiling.cap, ceiling.spent)
    left = amount_left(limit, spent)
    fix = "Ask the owner for more budget. If the metadata has a `version:`, queries that were answered before are free."
    if largest > 0:
        fix = f"The largest epsilon that would pass is {_down(largest)}. " + fix
    return OverBudget(
        f"{ceiling.who} does not allow this query",
        code=ceiling.code,
        why=f"Spent {said(account, spent)}; requested {said(account, _asked(cost))}; left {said(account, left)}.",
        fix=fix,
        spent=spent,
        asked=cost,
        left=left,
        largest=largest,
    )


def _refused_single(account: Account, ceiling: Ceiling, cost: Cost, largest: Fraction) -> OverBudget:
    """What passes is the cap itself: said as ε, as δ, or both, whichever is above it."""
    epsilon, delta = ceiling.cap
    asked = {"epsilon": (cost.epsilon, epsilon), "delta": (cost.delta, delta)}
    above = [name for name, (used, cap) in asked.items() if cap is not None and used > cap]
    most = Amount(epsilon=epsilon, delta=delta)
    fixes = {"epsilon": f"The largest epsilon that would pass is {_down(largest)}." if largest > 0 else ""}
    fixes["delta"] = f"Ask with a delta of at most {shown(delta or ZERO)}."
    return OverBudget(
        f"{ceiling.who} does not allow this query",
        code=ceiling.code,
        why=f"Requested {', '.join(f'{name} {shown(used)}' for name, (used, _) in asked.items())};"
        f" the owner allows one query at most {', '.join(_named(most))} (max_per_query).",
        fix=" ".join(fix for name, fix in fixes.items() if name in above and fix) or "Ask the owner for more budget.",
        spent=amount_spent(account, ceiling.cap, ceiling.spent),
        asked=cost,
        left=most,
        largest=largest,
    )


def _asked(cost: Cost) -> Amount:
    return Amount(epsilon=cost.epsilon, delta=cost.delta, rho=cost.rho, delta_keys=cost.delta_keys)


def said(account: Account, amount: Amount) -> str:
    """ "epsilon 0.5, delta 1e-06"; under zcdp what is enforced first."""
    enforced = {"rho": amount.rho, "delta for keys": amount.delta_keys} if account.accounting == "zcdp" else {}
    words = [f"{name} {shown(value)}" for name, value in enforced.items() if value is not None]
    return ", ".join([*words, *_named(amount)]) or "without a cap"


def _named(amount: Amount) -> list[str]:
    parts = {"epsilon": amount.epsilon, "delta": amount.delta}
    return [f"{name} {shown(value)}" for name, value in parts.items() if value is not None]


def shown(value: Fraction) -> str:
    """Short and never above the value's own six digits by more than rounding: for messages only."""
    return f"{float(value):.6g}"


def raised(cap: Cap, granted: Cost) -> Cap:
    """A cap with what the owner granted on top; no cap stays none."""
    epsilon, delta = cap
    return (
        None if epsilon is None else epsilon + granted.epsilon,
        None if delta is None else delta + granted.delta,
    )


def lowered(cap: Cap, limit: Cap) -> Cap:
    """The smaller of both, part by part."""
    return _smaller(cap[0], limit[0]), _smaller(cap[1], limit[1])


def _smaller(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return min((part for part in (one, other) if part is not None), default=None)
