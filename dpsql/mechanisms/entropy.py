"""The operating system's randomness: the only module that asks for it.

Nothing is kept between calls, so a forked child can repeat nothing of its parent's.
"""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt


def random_words(count: int) -> npt.NDArray[np.uint64]:
    """`count` independent uniform 64-bit words."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def salt() -> int:
    """A uniform 63-bit integer: a non-negative BIGINT, fresh at every call."""
    return int.from_bytes(os.urandom(8), "little") >> 1


def secret(count: int) -> bytes:
    """`count` uniform bytes: what nobody may guess (tokens, salts, names of sessions)."""
    return os.urandom(count)
