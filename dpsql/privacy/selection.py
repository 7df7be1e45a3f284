"""The threshold that a group's noisy votes must reach for its key to be released."""

from __future__ import annotations

from fractions import Fraction

from dpsql.mechanisms import gaussian, laplace
from dpsql.mechanisms.key_probability import key_probability
from dpsql.plan.stages import Draw, Selection
from dpsql.privacy.sensitivity import votes

ALL_EXACT = 64


def selection(draw: Draw, bits: int, limit: int, delta: Fraction, min_units: int = 0) -> Selection:
    """Lemma: releasing the keys whose noisy votes are at least T adds at most δ, where T = max over t ≤ limit of
    W_t + z_t, W_t a vote of a unit with t groups and z_t the least m with P[X ≥ m] ≤ 1 − (1 − δ)^(1/t).

    Proof. Keys that others hold too are covered by the noise: a unit's votes are within 2^bits in the norm. Let t be the
    number of keys that only the unit holds; it has g ≥ t groups, so each of those keys has W_g ≤ W_t votes on one side and
    does not exist on the other. Each shows, independently, with probability at most P[W_t + X ≥ T] ≤ p_t, so none shows
    with probability at least (1 − p_t)^t ≥ 1 − δ. A key without any vote is no candidate (t would have no bound).

    With min_units = k > 1 only keys of at least k voting units are candidates, and T is k − 1 whole votes higher: a key that
    the unit makes a candidate has k − 1 other units, whose votes are at most 2^bits each.

    Rounds: what was released before is public, and the groups that a unit votes for now are a function of its rows and of
    that; so each round is a selection of its own, and their δ's (and μ²'s) add up.

    Past 64 groups evaluated at t = 1, 2, 4, …: in between W_t is at most its left end's and z_t at most its right end's, a
    bound from above with few evaluations.
    """
    weights = votes(bits, draw.norm, limit)
    threshold = laplace.threshold if draw.norm == 1 else gaussian.threshold

    def beyond(t: int) -> int:
        return threshold(t=draw.scale, one_unit=0, p=key_probability(delta, t))

    if limit <= ALL_EXACT:
        at_least = max(weights[t - 1] + beyond(t) for t in range(1, limit + 1))
    else:
        lefts = (2**i for i in range(limit.bit_length()))
        at_least = max(weights[t - 1] + beyond(min(2 * t - 1, limit)) for t in lefts)
    return Selection(
        draw=draw,
        bits=bits,
        votes=weights,
        at_least=at_least + max(0, min_units - 1) * 2**bits,
        delta=delta,
        min_units=min_units,
    )
