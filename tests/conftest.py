"""Hypothesis profiles (DPSQL_PROFILE=quick, dev, ci, deep), the switch for the deep tests, and the report of slow ones."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.cases.reading import Case
    from tests.engines.postgres import Server

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# No deadlines: a shared machine is slow now and then, and a test must not fail for that.
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=QUIET, derandomize=True)
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=QUIET)
settings.register_profile("ci", max_examples=60, deadline=None, suppress_health_check=QUIET, derandomize=True)
settings.register_profile("deep", max_examples=20_000, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("DPSQL_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update writes files: run it in one process, without -n")
    # Started in the background of a script, a process ignores SIGINT and SIGQUIT, and so do those that it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if config.getoption("--full-tracebacks"):
        from dpsql.dbapi import boundary

        boundary.full_tracebacks = True


@pytest.fixture(scope="session")
def golden(pytestconfig: pytest.Config) -> Iterator[Callable[[Case, str], None]]:
    """golden(case, found): what was found is the case's outcome; with --update it is written into its file instead."""
    from tests.cases import reading

    outcomes: dict[Case, str] = {}

    def check(case: Case, outcome: str) -> None:
        if pytestconfig.getoption("--update") and case.at is not None:
            outcomes[case] = outcome
        else:
            assert outcome == case.outcome, f"{case}; after a look: pytest --update"

    yield check
    reading.write(outcomes)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL server. Without one the test is skipped, but in CI, where it fails."""
    from tests.engines import postgres as server

    if server.binaries() is None and os.environ.get("CI") != "true":
        pytest.skip(server.MISSING)
    with server.running() as running:
        yield running


@pytest.fixture(scope="module")
def postgres(postgres_server: Server) -> Server:
    """The server, with nothing in its databases."""
    from tests.engines import postgres as server

    server.fresh(postgres_server)
    return postgres_server


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session. Without PySpark and Java the test is skipped, but in CI, where it fails."""
    from tests.engines import spark as engine

    if not engine.available() and os.environ.get("CI") != "true":
        pytest.skip(engine.MISSING)
    with engine.running() as session:
        yield session


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full-tracebacks", action="store_true", help="errors of dpsql keep their frames: to find a bug")
    parser.addoption("--run-deep", action="store_true", help="also run the tests marked deep (hours)")
    parser.addoption("--update", action="store_true", help="write what is found into the case files of tests/cases")
    parser.addoption(
        "--slow-after", type=float, default=2, metavar="SECONDS", help="tests that take longer are to be marked slow"
    )


TESTS = Path(__file__).parent
# Each of their tests is slow, or there are very many.
SLOW_FOLDERS = ("attacks", "properties", "statistics")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # One process starts Spark: under worksteal the first has the first tests, and others take from the end.
    items.sort(key=lambda item: "spark" not in item.nodeid)
    skip = pytest.mark.skip(reason="only `make deep` runs it")
    for item in items:
        if any(item.path.is_relative_to(TESTS / name) for name in SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)
        if "deep" in item.keywords and not config.getoption("--run-deep"):
            item.add_marker(skip)


# Seconds of each test that has neither mark, with its fixtures; under xdist the workers' reports come to the controller.
_SECONDS: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not {"slow", "deep"} & set(report.keywords):
        _SECONDS[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    from tests.engines import postgres as server
    from tests.engines import spark as engine
    from tests.server import browser

    if server.binaries() is None:
        terminalreporter.write_line(f"the tests on PostgreSQL were skipped; {server.MISSING}")
    if not engine.available():
        terminalreporter.write_line(f"the tests on Spark were skipped; {engine.MISSING}")
    if not browser.available():
        terminalreporter.write_line(f"the tests of the web page were skipped; {browser.MISSING}")
    limit = config.getoption("--slow-after")
    slow = [(name, seconds) for name, seconds in _SECONDS.most_common() if seconds > limit]
    if slow:
        terminalreporter.section(f"{len(slow)} tests took over {limit:g} s and are not marked slow")
        for name, seconds in slow:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
