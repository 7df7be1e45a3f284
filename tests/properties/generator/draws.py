"""Noise from a seed, for tests that must run the same way again: what a later stage reads is then a fixed table."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from dpsql.mechanisms import entropy


def fixed_noise(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=draw.randbytes))
