"""Randomness is fresh: across calls and across a fork."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from dpsql.mechanisms import entropy

FORKS = """
import os
from dpsql.mechanisms import entropy, lattice
def draw():
    return (entropy.random_words(4).tolist(), entropy.salt(), lattice.discrete_laplace(2**30, 4).tolist(),
            lattice.discrete_gaussian(2**20, 4).tolist())
print(draw(), flush=True)   # whatever could be buffered is buffered now
for _ in range(3):
    if os.fork() == 0:
        print(draw(), flush=True)
        os._exit(0)
    os.wait()
print(draw(), flush=True)
"""


def test_a_fork_does_not_repeat_noise() -> None:
    """In a process of its own: a test runner has threads, and forking those is another matter."""
    ran = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    numbers = ran.stdout.replace("(", "").replace(")", "").replace("[", "").replace("]", "").split("\n")[:-1]
    drawn = [number.strip() for line in numbers for number in line.split(",")]
    assert len(drawn) == 5 * 13
    assert len(set(drawn)) == len(drawn)


def test_words() -> None:
    words = entropy.random_words(1000)
    assert words.dtype == np.uint64
    assert words.shape == (1000,)
    assert len(set(words.tolist())) == 1000
    assert entropy.random_words(0).size == 0
    assert (np.bitwise_or.reduce(words), np.bitwise_and.reduce(words)) == (2**64 - 1, 0)


def test_salt_is_a_bigint() -> None:
    salts = [entropy.salt() for _ in range(1000)]
    assert 0 <= min(salts) < 2**58 < 2**62 < max(salts) < 2**63
    assert len(set(salts)) == 1000
