"""The prompt: what is typed, what Enter and Tab do, and that nothing ends the session by accident."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import dpsql
from dpsql.shell.completion import CatalogCompleter
from dpsql.shell.prompt import history_path, loop, prompt_of, terminal_reader
from dpsql.shell.results import Results
from dpsql.shell.script import aside
from dpsql.shell.shell import Shell


@contextmanager
def a_shell(**settings: Any) -> Iterator[Shell]:
    with dpsql.connect("metadata/hospital.yaml", **settings) as connection:
        yield Shell(connection=connection, results=Results())


def typed(shell: Shell, *lines: str | type[BaseException]) -> list[str]:
    """Run the loop with these entries; answers the prompts it showed and what stood there already."""
    shown: list[str] = []
    left = list(lines)

    def read_line(prompt: str, begun: str) -> str:
        shown.append(prompt + begun)
        if not left:
            raise EOFError
        entry = left.pop(0)
        if not isinstance(entry, str):
            raise entry
        return entry

    loop(shell, read_line)
    return shown


def test_errors_and_interrupts_bring_the_prompt_back(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        shown = typed(
            shell, "SELECT nix;", KeyboardInterrupt, ".nix", "SELECT 1 AS one; SELECT 2 AS two;", "", "\\q", "no"
        )
    assert shown == ["hospital (ε 10 left)> "] * 6
    captured = capsys.readouterr()
    assert captured.out == "one\n1\ntwo\n2\n"
    assert captured.err.count("DPSQL-") == 2


def test_a_bug_does_not_end_the_session(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_shell() as shell, monkeypatch.context() as patch:
        patch.setattr("dpsql.dbapi.connection.kind_of", lambda session, sql: 1 / 0)
        shown = typed(shell, "SELECT 1;", "\\timing")
    assert len(shown) == 3
    assert "DPSQL-001  a bug in dpsql: ZeroDivisionError" in capsys.readouterr().err


def test_the_prompt_shows_the_smaller_rest(here: Path) -> None:
    text = (here / "metadata" / "hospital.yaml").read_text()
    (here / "metadata" / "hospital.yaml").write_text(text + "analysts: {ana: {epsilon: 4}}\n")
    with a_shell(analyst="ana") as shell:
        assert prompt_of(shell) == "hospital (ε 4 left)> "
        shell.run("SELECT COUNT(*) FROM visits")
        assert prompt_of(shell) == "hospital (ε 3 left)> "


def test_a_large_charge_needs_a_yes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []
    with a_shell() as shell:
        shell.ask = lambda question: bool(asked.append(question)) or len(asked) > 1
        shown = typed(shell, "SET confirm_above = 0.5;", *["SELECT COUNT(*) AS n FROM visits;"] * 2)
    assert asked[0] == "this query costs ε = 1, more than 0.5; ε = 10 is left. Run it? [y/N] "
    assert shown[-2:] == ["hospital (ε 10 left)> ", "hospital (ε 9 left)> "]
    assert "DPSQL-624" in capsys.readouterr().err


def test_what_is_free_needs_no_yes(here: Path) -> None:
    asked: list[str] = []
    with a_shell() as shell:
        shell.ask = lambda question: not asked.append(question)
        count = "SELECT COUNT(*) AS n FROM visits;"
        typed(shell, count, "SET confirm_above = 0.5;", count, f"CREATE TABLE t AS {count}", "SELECT * FROM t;")
        assert not asked
        typed(shell, "SET fresh = true;", count)
    assert len(asked) == 1


def test_the_shells_own_commands(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(
            shell, ".mode json", "SELECT COUNT(*) AS n FROM visits;", ".output r.txt", ".schema specialties", "\\o",
            "\\d specialties", ".functions levensh", ".df", "\\df median of nothing", "\\x", "\\x off", "\\timing on",
            ".explain SELECT COUNT(*) FROM visits", ".explain", "\\p", ".budget", ".mode nix", ".mode", "help settings",
            ".help", "\\x maybe", ".read", ".tables",
        )  # fmt: skip
    out, err = capsys.readouterr()
    assert (here / "r.txt").read_text().startswith("CREATE TABLE specialties (  -- where each specialty is; public\n")
    assert '{"column_name": "name"' in out
    assert 'DPSQL-625  nothing has "median of nothing" in it' in err
    assert "privacy: ε = 1, δ = 0" in out
    assert out.count("Costs ε = 1") == 1  # the last statement of all is no query
    assert "# Options of a query" in out and "A statement ends with a semicolon" in out
    assert err.count("DPSQL-620") == 3 and "DPSQL-621" in err
    assert "Time: " in err


def test_an_edited_statement_comes_back_to_the_prompt(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/one/two/")
    monkeypatch.delenv("VISUAL", raising=False)
    with a_shell() as shell:
        shown = typed(shell, "SELECT 1 AS one;", "\\e", "\\q")
    assert shown[-1] == "hospital (ε 10 left)> SELECT 1 AS two"


def test_keys(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Through prompt_toolkit itself: Enter continues an unfinished statement, Alt-Enter runs it."""
    keys = "SELECT 1\rAS one;\r" + "SELECT 2 AS two\x1b\r" + "\\q\r"
    with a_shell() as shell, create_pipe_input() as pipe:
        pipe.send_text(keys)
        loop(shell, terminal_reader(shell, input=pipe, output=DummyOutput()))
    assert capsys.readouterr().out == "one\n1\ntwo\n2\n"
    history = history_path()
    assert history is not None and "+SELECT 1" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


def test_psqls_commands_in_the_middle_of_a_statement(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They run at once, as in psql, and what was typed before stands there again; not inside of a text."""
    with a_shell() as shell:
        shown = typed(shell, "SELECT 1 AS one\n\\d specialties", "SELECT 1 AS one\n, 2 AS two;", "SELECT 'a\n\\d b';")
    assert [line.rpartition("> ")[2] for line in shown] == ["", "SELECT 1 AS one\n", "", ""]
    out = capsys.readouterr().out
    assert "floor" in out and "one,two\n1,2\n" in out and "\\d b" in out


@pytest.mark.parametrize(
    ("text", "between"),
    [
        ("SELECT 1\n\\d visits", ("\\d visits", "SELECT 1\n")),
        ("SELECT 1\n  \\x", ("\\x", "SELECT 1\n")),
        ("SELECT 1\n\\gx", None),
        ("SELECT 1;\n\\d", None),
        ("\\d", None),
        ("SELECT 'a\n\\d", None),
        ("SELECT /*\n\\d", None),
        ("SELECT 1\n.mode csv", None),
    ],
)
def test_what_stands_in_the_middle(text: str, between: tuple[str, str] | None) -> None:
    assert aside(text) == between


def test_leaving_needs_no_finished_statement(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell, create_pipe_input() as pipe:
        pipe.send_text("SELECT 1\rexit\r")
        loop(shell, terminal_reader(shell, input=pipe, output=DummyOutput()))
    assert capsys.readouterr().out == ""


def test_without_a_place_for_the_history_the_shell_works(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "file"))
    assert history_path() is None


@pytest.mark.parametrize(
    ("text", "offered", "not_offered"),
    [
        ("SELECT * FROM vi", ["visits"], ["visit_id"]),
        ("SELECT COUNT(*) FROM visits v WHERE v.du", ["duration"], ["visits"]),
        ("SELECT specialty FROM visits WHERE specialty = 'on", ["oncology'"], ["surgery'"]),
        ("SELECT specialty FROM visits WHERE specialty IN ('surgery', 'c", ["cardiology'"], []),
        ("SELECT referrer FROM visits WHERE referrer = '", [], ["emergency'", "self'"]),
        ("SELECT AV", ["AVG("], []),
        ("SELECT date_tr", ["DATE_TRUNC("], []),
        ("SET eps", ["epsilon"], []),
        ("SET sp", [], ["split"]),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_g", ["max_groups_contributed"], []),
        (".mo", [".mode"], []),
        (".mode js", ["json", "jsonl"], ["csv"]),
        ("\\d spe", ["specialties"], []),
        ("\\h bou", ["bounds"], []),
        (".read meta", ["data"], []),
        ("SELECT 'in a text SEL", [], ["SELECT"]),
        ("DESCRIBE ", ["visits", "specialties"], ["SELECT"]),
    ],
)
def test_completion(here: Path, text: str, offered: list[str], not_offered: list[str]) -> None:
    with a_shell() as shell:
        completions = list(CatalogCompleter(shell).get_completions(Document(text), CompleteEvent()))
    texts = [completion.text for completion in completions]
    assert [word for word in offered if word not in texts] == []
    assert [word for word in not_offered if word in texts] == []


def test_completion_shows_descriptions_and_never_opens_the_data(here: Path) -> None:
    (here / "data").unlink()
    with a_shell() as shell:
        completions = CatalogCompleter(shell).get_completions(Document("SELECT dur"), CompleteEvent())
        notes = {completion.text: completion.display_meta_text for completion in completions}
    assert notes["duration"] == "real; 0 to 240; minutes"


def test_a_commands_beginning_is_enough_where_it_is_the_only_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with a_shell() as shell:
        assert len(typed(shell, ".mo json", ".e", "\\ex", ".", ".q", "never read")) == 5
    err = capsys.readouterr().err
    assert err.count("DPSQL-620") == 2  # .e may be .explain, .edit, .expanded, .exit; a backslash takes whole names


def test_the_privacy_report_is_the_last_releases(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also after statements that released nothing."""
    with a_shell() as shell:
        typed(shell, "SELECT COUNT(*) AS n FROM visits;", "SELECT 1;", "SHOW TABLES;", ".privacy")
    assert "privacy: ε = 1, δ = 0" in capsys.readouterr().out
