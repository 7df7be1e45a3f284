"""README.md and the help topics say what is so: every block is played again (see playing.py)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import dpsql
from dpsql.metadata.load import loads
from dpsql.shell.script import items_of
from tests.conformance.hospital_server import hospital
from tests.conformance.playing import (
    DOCUMENTS,
    Block,
    blocks,
    close,
    folder,
    is_played,
    masked,
    needs_server,
    play,
    prepare_for,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_blocks(path: Path, request: pytest.FixtureRequest) -> None:
    names: dict[str, object] = {}
    session: dict[str, object] = {}
    text = path.read_text(encoding="utf-8")
    with contextlib.ExitStack() as opened:
        here, server = opened.enter_context(folder()), None
        if needs_server(text):
            server = request.getfixturevalue("postgres")
            opened.enter_context(hospital(server, here))
        for block in blocks(text):
            where = f"{path.name}:{block.line}"
            prepare_for(block, server)
            match block.kind:
                case "console" | "session" | "pycon" if is_played(block.body):
                    _compare(block, where, session)
                case "python":
                    exec(compile(block.body, where, "exec"), names)
                case "sql":
                    _plan(block.body)
                case "yaml" if block.body.startswith("dataset:"):
                    loads(block.body)
    close(names)
    close(session)


def _compare(block: Block, where: str, names: dict[str, object]) -> None:
    played = play(block, names)
    hint = f"{where} is stale; after a look: python -m tests.conformance.playing"
    if block.noisy:
        assert masked(played) == masked(block.body), hint
    else:
        assert played == block.body, hint


def _plan(body: str) -> None:
    with dpsql.connect("metadata/hospital.yaml") as connection:
        for item in items_of(body):
            assert connection.explain(item.text).privacy.cost.epsilon is not None


def test_what_is_not_played_is_little() -> None:
    """Only what needs the network (and what it brought), or would run the tests inside the tests."""
    left_out = [
        line[2:]
        for path in DOCUMENTS
        for block in blocks(path.read_text(encoding="utf-8"))
        if block.kind == "console" and not is_played(block.body)
        for line in block.body.splitlines()
        if line.startswith("$ ")
    ]
    assert {line.split()[0] for line in left_out} <= {"make", "git", "source"}
    assert len(left_out) <= 5


def test_masking_hides_numbers_and_nothing_else() -> None:
    assert masked("│ surgery │ 2683 │\n├────┤") == masked("│ surgery     │   -71.5 │\n├──────┤")
    assert masked("│ surgery │ 2683 │") != masked("│ oncology │ 2683 │")
    assert masked("DPSQL-101  x") == masked("DPSQL-102  x")  # codes are in blocks that are compared exactly
