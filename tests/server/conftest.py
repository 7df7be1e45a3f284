from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.started import Started, started, write_data


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """One server for all tests that do it no harm."""
    with started(write_data(tmp_path_factory.mktemp("server"))) as running:
        yield running


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    return write_data(tmp_path)
