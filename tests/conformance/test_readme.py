"""What README.md says about make is so; its dpsql blocks are played by test_help_blocks.py."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib

import pytest

from dpsql.samples import demo
from tests.conformance.playing import ROOT, blocks, masked

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_make_demo_prints_what_is_shown() -> None:
    shown = next(block.body for block in blocks(README) if block.body.startswith("$ make demo\n"))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        demo.main()
    printed = masked(out.getvalue())
    assert [line for line in masked(shown)[1:] if line not in printed] == []


CLOSING = re.compile(r"^(?P<passed>\d+) passed(?:, (?P<skipped>\d+) skipped)? in \d+\.\d\ds \(\d:\d\d:\d\d\)$")


def test_make_test_ends_as_is_shown(request: pytest.FixtureRequest) -> None:
    """A closing line that is shown is pytest's own: nothing failed, and about as many tests as there are."""
    block = next(block.body for block in blocks(README) if block.body.startswith("$ make test"))
    for line in block.splitlines():
        if line and not line.startswith("$ "):
            whole = not request.config.getoption("markexpr")
            _check_closing(line, request.session.testscollected if whole else 0)


def _check_closing(line: str, collected: int) -> None:
    """collected: how many tests there are, where all of them were collected."""
    closing = CLOSING.fullmatch(line)
    assert closing is not None, line
    shown = int(closing["passed"]) + int(closing["skipped"] or 0)
    assert collected < 4000 or abs(shown - collected) < collected / 4, collected


def test_a_closing_line_is_a_real_one() -> None:
    _check_closing("5692 passed, 160 skipped in 558.67s (0:09:18)", 5900)
    for wrong in ("1 failed, 5692 passed in 558.67s (0:09:18)", "all passed", "4000 passed in 300.00s (0:05:00)"):
        with pytest.raises(AssertionError):
            _check_closing(wrong, 6700)


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"make ([a-z]+)", README)) <= targets


def test_the_first_screen_has_both_commands() -> None:
    first = "\n".join(README.splitlines()[:40])
    assert "$ make demo" in first and "$ make test" in first


def test_what_is_not_promised_is_said() -> None:
    section = README.partition("## What it does not promise")[2].partition("\n## ")[0].lower()
    for word in ("running time", "resource exhaustion", "owner", "two metadata files over one source are two accounts"):
        assert word in section, word


BOUNDARY = {
    "README.md": ("within a process there is no boundary", "against accidents", "protects against analysts",
                  "if analysts share their answers, their costs add up", "new versions of the data",
                  "how long a query takes may", "put back together", "`dpsql ledger verify file --head count:hash`"),
    "dpsql/help/owners.md": ("within a process there is no boundary", "accidents:",
                             "analysts: the data, the metadata, the ledger",
                             "if analysts share their answers, their costs add up", "what grows with time",
                             "with each new `version:`", "running times are not protected", "put back together",
                             "`dpsql ledger verify file --head count:hash`"),
    "dpsql/help/privacy.md": ("running time", "whoever runs python beside the data", "if they share answers",
                              "growth with time"),
    "dpsql/help/budget.md": ("if analysts share their answers, their costs add up", "put back together",
                             "--head count:hash"),
    "dpsql/help/python.md": ("within a process there is no boundary",),
    "dpsql/help/shell.md": ("--restricted", "accidents"),
    "SECURITY.md": ("running time", "in dpsql's process", "share answers", "put back together", "against accidents"),
}  # fmt: skip


@pytest.mark.parametrize("path", BOUNDARY)
def test_where_the_boundary_of_an_analyst_is_is_said(path: str) -> None:
    text = " ".join((ROOT / path).read_text(encoding="utf-8").replace("**", "").lower().split())
    for words in BOUNDARY[path]:
        assert words in text, words


def test_the_required_python_is_the_one_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11" and "Python 3.11 or later" in README
