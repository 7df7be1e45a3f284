"""Ctrl-C at a terminal: what it says is so, the prompt comes back, and the head can be kept (S10)."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import dpsql
from dpsql.accounting.ledger import Ledger
from dpsql.shell.main import main
from tests.attacks.terminal import terminal
from tests.attacks.test_temporary_files import LONG
from tests.worlds.towns import COUNT, write


def test_ctrl_c_before_any_charge_says_that_nothing_was_charged(tmp_path: Path) -> None:
    (tmp_path / "long.sql").write_text(LONG)
    with terminal(str(write(tmp_path)), folder=tmp_path) as shell:
        shell.wait()
        shell.press(b".read long.sql\r")
        shell.wait_for("Time: ")
        time.sleep(0.5)
        shell.press(b"\x03")
        shell.wait_for("DPSQL-503")
        shell.wait()
        assert "Nothing was charged." in shell.seen and "kept" not in shell.seen and "Interrupted" not in shell.seen
        assert "cost ε = 1" in shell.type(f"{COUNT};")
        shell.press(b"SELECT 1\x03")  # at the prompt it clears the line
        assert "two" in shell.type("SELECT 2 AS two;")
        shell.type(".quit")
        assert shell.ended() == 0


def test_ctrl_c_ends_a_script_with_its_code(tmp_path: Path) -> None:
    (tmp_path / "long.sql").write_text(LONG)
    with terminal(str(write(tmp_path)), "-f", "long.sql", folder=tmp_path) as shell:
        shell.wait_for("Time: ")
        time.sleep(0.5)
        shell.press(b"\x03")
        assert shell.ended() == 130
        assert "Nothing was charged." in shell.seen and "in the statement of line 16" in shell.seen


def test_the_head_of_each_session_finds_copies_that_are_put_back_together(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As help says: alone, neither verify nor a query notices; the head that was printed does."""
    yaml, ledger = write(tmp_path), tmp_path / "towns.yaml.ledger"
    files = (ledger, tmp_path / "towns.yaml.ledger.head")

    def session(sql: str) -> str:
        assert main([str(yaml), "-q", "--print-head", "-c", sql]) == 0
        (head,) = re.findall(r"^head (\d+:[0-9a-f]{64})$", capfd.readouterr().err, re.M)
        return str(head)

    session(COUNT)
    copies = [file.read_bytes() for file in files]
    printed = session("SELECT COUNT(*) AS n FROM visits WHERE x > 3")
    for file, copy in zip(files, copies, strict=True):
        file.write_bytes(copy)
    with dpsql.connect(yaml) as conn:
        assert conn.budget.spent.epsilon == 1
        assert conn.ledger_head != printed
    assert main(["ledger", "verify", str(yaml)]) == 0
    assert Ledger.verify_file(ledger) is None
    assert main(["ledger", "verify", str(yaml), "--head", printed]) == 5
    assert "older copy" in capfd.readouterr().err
