"""Hypothesis profiles (DPSQL_PROFILE=dev, ci, deep) and the switch for the deep tests."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# No deadlines: a shared machine is slow now and then, and a test must not fail for that.
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=QUIET)
settings.register_profile("ci", max_examples=200, deadline=None, suppress_health_check=QUIET, derandomize=True)
settings.register_profile("deep", max_examples=20_000, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("DPSQL_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    # Started in the background of a script, a process ignores SIGINT, and Python then installs no handler for Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--full-tracebacks"):
        from dpsql import boundary

        boundary.full_tracebacks = True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full-tracebacks", action="store_true", help="errors of dpsql keep their frames: to find a bug")
    parser.addoption("--run-deep", action="store_true", help="also run the tests marked deep (hours)")
    parser.addoption(
        "--update", action="store_true", help="write what is found into the case files of tests/cases/plan"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-deep"):
        return
    skip = pytest.mark.skip(reason="only `make deep` runs it")
    for item in items:
        if "deep" in item.keywords:
            item.add_marker(skip)
