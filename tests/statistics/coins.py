"""Coins of any shape and size, by the lattice's own: what the tests of its coins toss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import lattice

LIMIT = 1 << 62


def bernoulli_exp(
    numerators: npt.NDArray[np.integer] | Sequence[int], denominators: npt.NDArray[np.integer] | Sequence[int] | int
) -> npt.NDArray[np.bool_]:
    """Independent coins with P[True] = exp(-n/d), n >= 0, d >= 1; 64-bit arithmetic up to 2^62, Python's beyond."""
    top, bottom = np.broadcast_arrays(np.asarray(numerators), np.asarray(denominators))
    if not top.size:
        return np.zeros(top.shape, dtype=np.bool_)
    if top.dtype.kind not in "iuO" or bottom.dtype.kind not in "iuO":
        raise ValueError("a coin needs integers")
    if int(top.min()) < 0 or int(bottom.min()) < 1:
        raise ValueError("a coin needs a numerator of at least 0 and a denominator of at least 1")
    if int(top.max()) > LIMIT or int(bottom.max()) > LIMIT:
        coins = [lattice.coin_exp(int(n), int(d)) for n, d in zip(top.flat, bottom.flat, strict=True)]
        return np.array(coins, dtype=np.bool_).reshape(top.shape)
    n, d = top.astype(np.uint64).ravel(), bottom.astype(np.uint64).ravel()
    whole = n // d
    return lattice.coins_exp(whole, n - whole * d, d).reshape(top.shape)
