"""Key sets of expressions are computed here too, as a session computes them."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from dpsql.engine.scratch import Scratch
from dpsql.execution.key_values import computed
from dpsql.functions.sets import counted


@pytest.fixture(autouse=True, scope="module")
def _answered() -> Iterator[None]:
    with Scratch() as scratch, counted(functools.partial(computed, scratch)):
        yield
