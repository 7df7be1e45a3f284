"""A pytest plugin for the process that runs SQLAlchemy's suite: its own plugin, and the deviations as strict xfails."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import registry

registry.register("dpsql", "tests.conformance.sqlalchemy_suite.suite_dialect", "SuiteDialect")
registry.register("dpsql.dpsql", "tests.conformance.sqlalchemy_suite.suite_dialect", "SuiteDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403  # as its own conftest does
from sqlalchemy.testing.plugin.pytestplugin import pytest_addoption as suites_options  # noqa: E402

from tests.conformance.sqlalchemy_suite import provision  # noqa: E402, F401

FILE = os.environ.get("DEVIATIONS", str(Path(__file__).with_name("deviations.toml")))
REFLECTION = "ComponentReflectionTest"  # a third of the suite: a part of its own


def pytest_addoption(parser: pytest.Parser) -> None:
    suites_options(parser)
    parser.addoption("--part", choices=("rest", "reflection"), help="the half of the suite to run; both without it")


def deviations() -> dict[str, str]:
    """Why, by a test's class and name, and its parameters in brackets."""
    return {
        f"{name}[{given}]" if given else name: str(reason["why"])
        for reason in tomllib.loads(Path(FILE).read_text(encoding="utf-8")).values()
        for name, parameters in reason["tests"].items()
        for given in parameters or [""]
    }


def name_of(item: Any) -> str:
    """`ClassTest.test_name[parameters]`: SQLAlchemy puts the database's name into that of the class."""
    path = item.nodeid.split("::", 2)
    return f"{path[1].partition('_dpsql')[0]}.{path[2]}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    named = deviations()
    unknown = set(named) - {name_of(item) for item in items}
    if unknown and not config.option.keyword:
        raise pytest.UsageError(f"deviations of no test: {sorted(unknown)}")
    for item in items:
        if name_of(item) in named:
            item.add_marker(pytest.mark.xfail(reason=named[name_of(item)], strict=True))
    part = config.getoption("--part")
    if part is not None:
        items[:] = [i for i in items if name_of(i).startswith(f"{REFLECTION}.") is (part == "reflection")]
