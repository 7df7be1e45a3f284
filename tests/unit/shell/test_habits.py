"""What people bring from psql, sqlite3 and duckdb: variables, \\gx, \\watch, \\pset, pipes, SQL as a word, SHOW ALL."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from dpsql.errors import InterfaceError
from dpsql.shell.script import items_of
from dpsql.shell.stderr import Exit
from dpsql.shell.variables import replaced
from tests.unit.shell.conftest import Run
from tests.unit.shell.test_prompt import a_shell, typed

HOSPITAL = "metadata/hospital.yaml"


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("SELECT :n", "SELECT 5"),
        ("SELECT :n::INTEGER", "SELECT 5::INTEGER"),
        ("SELECT x::n", "SELECT x::n"),
        ("SELECT :'who'", "SELECT 'o''hara'"),
        ('SELECT :"who"', 'SELECT "o\'hara"'),
        ("SELECT ':n', \":n\" -- :n\n/* :n */ :n", "SELECT ':n', \":n\" -- :n\n/* :n */ 5"),
        ("SELECT :unknown, a[1:n], a[1: n]", "SELECT :unknown, a[15], a[1: n]"),
    ],
)
def test_variables(sql: str, made: str) -> None:
    """As in psql, a slice of two names needs a blank after its colon."""
    assert replaced(sql, {"n": "5", "who": "o'hara"}) == made


def test_a_statement_ends_with_a_command_of_its_own() -> None:
    items = items_of("SELECT 1 \\gx\nSELECT '\\gx' AS x;\nSELECT 2\n\\watch 1 c=2\n\\gx\n.tables")
    assert [(item.text, item.then, item.command) for item in items] == [
        ("SELECT 1", "\\gx", False),
        ("SELECT '\\gx' AS x", "", False),
        ("SELECT 2", "\\watch 1 c=2", False),
        ("\\gx", "", True),
        (".tables", "", True),
    ]


def test_variables_of_the_command_line(run: Run) -> None:
    sql = "SELECT name, :n AS n FROM specialties WHERE name = :'s'"
    assert run(HOSPITAL, "-v", "n=7", "--set", "s=surgery", sql).out == "name,n\nsurgery,7\n"
    assert run(HOSPITAL, "-v", "n", "SELECT 1").code == Exit.FAILED
    assert run(HOSPITAL, "-v", "a b=1", "SELECT 1").code == Exit.FAILED


def test_a_statement_as_a_word_and_from_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(HOSPITAL, "SELECT 1 AS one").out == "one\n1\n"
    assert run("--metadata", HOSPITAL, "SELECT 1 AS one").out == "one\n1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 2 AS two"))
    assert run(HOSPITAL).out == "two\n2\n"


def test_psqls_commands(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(
            shell, "\\set s surgery", "SELECT name, floor FROM specialties WHERE name = :'s' \\gx", "\\gx", "\\set",
            "\\echo 'it is :s'", "\\unset s", "\\unset s", "\\set", ".mode csv",
            "\\pset null -", "SELECT NULL AS a, '' AS b;",
            "\\t", "SELECT 1 AS one;", "\\t off", ".headers off", "SELECT 2 AS two;", ".headers on", "\\pset format json",
            "SELECT NULL AS x;", "\\a", "\\a", "\\H", "SELECT 3 AS three;", "\\H",
            "\\pset", "\\conninfo", "\\d+ specialties",
        )  # fmt: skip
    out, err = capsys.readouterr()
    assert out.count("- row 1\nname  = surgery\nfloor = ") == 2
    assert "s = 'surgery'\n" in out and "it is surgery\n" in out and out.count("s = '") == 1
    assert 'a,b\n-,""\n' in out
    assert "one" not in out and "two" not in out and "\n1\n" in out and "\n2\n" in out
    assert json.loads(next(line for line in out.splitlines() if line.startswith("[{"))) == [{"x": None}]
    assert "<th>three</th>" in out
    assert "connected to the dataset 'hospital'" in err and "tuples_only  off" in err


def test_what_the_commands_refuse(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(
            shell,
            "\\gx",
            "\\pset border 2",
            "\\set 1a b",
            "SELECT 1 \\watch often",
            ".output x.xlsx",
            "\\x maybe",
            "\\o |",
        )
    err = capsys.readouterr().err
    assert [line.split()[0] for line in err.splitlines() if line.startswith("DPSQL")] == [
        "DPSQL-602", "DPSQL-620", "DPSQL-620", "DPSQL-620", "DPSQL-621", "DPSQL-620", "DPSQL-622",
    ]  # fmt: skip
    assert not (here / "x.xlsx").exists()


def test_a_result_goes_once_into_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(shell, "SELECT 1 AS one \\g one.csv", "SELECT 2 AS two;")
    assert (here / "one.csv").read_text() == "one\n1\n"
    assert "two" in capsys.readouterr().out


def test_results_go_into_a_program(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(shell, ".output |sort -r > sorted.txt", ".mode csv", "SELECT name FROM specialties;", ".output")
        typed(shell, "SELECT 1 AS one \\g |cat > one.txt")
    names = (here / "sorted.txt").read_text().split()
    assert names == sorted(names, reverse=True) and len(names) > 3
    assert (here / "one.txt").read_text() == "one\n1\n"


def test_a_restricted_shell_starts_no_program(run: Run, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    for command in (".output |touch made", "\\o |touch made", "SELECT 1 \\g |touch made"):
        monkeypatch.setattr("sys.stdin", io.StringIO(command))
        outcome = run(HOSPITAL, "--restricted")
        assert outcome.code == Exit.FAILED and "DPSQL-627" in outcome.err
    assert not (here / "made").exists()


def test_watching_is_free_or_ends(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(shell, "SELECT 1 AS one \\watch 0.1 c=3", "SHOW BUDGET \\watch i=0.1 c=2", "SET fresh = true;")
        out, err = capsys.readouterr()
        assert out.count("one") == 3 and out.count("spent") == 2
        typed(shell, "SELECT COUNT(*) AS n FROM visits \\watch 0.1 c=5")
        assert shell.left.epsilon == 9
    out, err = capsys.readouterr()
    assert "each further run would cost ε = 1" in err and "DPSQL-624" in err


def test_a_repeat_can_be_watched(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = here / "metadata" / "hospital.yaml"
    path.write_text(path.read_text() + "\nversion: May\n" if "version:" not in path.read_text() else path.read_text())
    with a_shell() as shell:
        typed(shell, "SELECT COUNT(*) AS n FROM visits \\watch 0.1 c=3")
        assert shell.left.epsilon == 9
    assert capsys.readouterr().err.count("a repeat, nothing charged") == 2


def test_a_row_too_wide_for_the_terminal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.conformance.playing import terminal

    with a_shell() as shell, terminal() as screen:
        typed(shell, "\\x auto", "SELECT 1 AS one;", f"SELECT '{'x' * 200}' AS wide;", "\\x off")
    shown = screen.getvalue()
    assert "│ one │" in shown and "wide = xxx" in shown


def test_settings_in_force(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell(delta="1e-9") as shell:
        cursor = shell.connection.execute("SHOW ALL")
        in_force = {name: (value, by) for name, value, by, _ in cursor.fetchall()}
        assert in_force["epsilon"] == ("1", "metadata") and in_force["delta"] == ("1e-09", "connection")
        assert in_force["mechanism"] == ("auto", "default") and in_force["fresh"] == ("false", "default")
        shell.connection.execute("SET epsilon = 0.25"), shell.connection.execute("SET mechanism = 'gaussian'")
        assert shell.connection.execute("SHOW epsilon").fetchall()[0][:3] == ("epsilon", "0.25", "SET")
        shell.connection.execute("RESET epsilon")
        assert shell.connection.execute("SHOW EPSILON").fetchall()[0][:3] == ("epsilon", "1", "metadata")
        assert shell.connection.execute("SHOW mechanism").fetchall()[0][1:3] == ("gaussian", "SET")
        shell.connection.execute("RESET ALL")
        assert {row[0]: (row[1], row[2]) for row in shell.connection.execute("SHOW SETTINGS").fetchall()} == in_force
        for wrong in ("RESET epsilom", "RESET", "SHOW epsilom"):
            with pytest.raises(Exception, match="epsilom|RESET|SHOW"):
                shell.connection.execute(wrong)
        typed(shell, ".settings")
    assert "max_rows_contributed" in capsys.readouterr().out


def test_every_setting_is_shown() -> None:
    from dpsql.dbapi.settings import FIELDS
    from dpsql.sql.options import SETTINGS

    assert set(FIELDS) == set(SETTINGS)


def test_an_empty_text_is_not_null_in_csv(run: Run, here: Path) -> None:
    sql = "SELECT * FROM (VALUES (NULL, 'x'), ('', 'a,b'), ('q\"', 'y')) AS t(a, b)"
    made = 'a,b\n,x\n"","a,b"\n"q""",y\n'
    assert run(HOSPITAL, sql).out == made
    import dpsql

    with dpsql.connect(HOSPITAL) as connection:
        connection.execute(sql).write(here / "t.csv")
    assert (here / "t.csv").read_text() == made


def test_months_are_shown_as_dates(run: Run) -> None:
    moments = "(VALUES (TIMESTAMP '2020-01-01 00:00:00', TIMESTAMP '2020-01-01 10:00:00')) AS t(month, moment)"
    shown = run(HOSPITAL, "-m", "markdown", f"SELECT * FROM {moments}").out
    assert "| 2020-01-01 | 2020-01-01 10:00:00 |" in shown
    assert "2020-01-01 00:00:00" in run(HOSPITAL, f"SELECT * FROM {moments}").out  # files keep every digit


def test_a_name_that_promises_another_form(run: Run, here: Path) -> None:
    outcome = run(HOSPITAL, "SELECT 1", "-o", "n.xlsx")
    assert outcome.code == Exit.FAILED and "no mode writes .xlsx files" in outcome.err
    assert run(HOSPITAL, "SELECT 1 \\g n.png").code == Exit.FAILED and not (here / "n.png").exists()
    assert run(HOSPITAL, "SELECT 1", "-o", "n.xlsx", "-m", "csv").code == Exit.OK
    assert (here / "n.xlsx").exists()


def test_a_program_that_has_ended(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_shell() as shell:
        typed(shell, ".output |true", ".mode csv", *[f"SELECT '{'x' * 90_000}' AS x;"] * 3, ".output")
    err = capsys.readouterr().err
    assert "the program 'true' has ended" in err and "results go to the terminal" in err


def test_noise_is_dim() -> None:
    from dpsql.report.privacy import Intervals
    from dpsql.shell.output import BY_NAME, Page

    page = Page(names=("n",), rows=[(3,), (300,)], intervals=Intervals({"n": 12.0}), width=80, colour=True)
    out = io.StringIO()
    write = BY_NAME["table"].write
    assert write is not None
    write(page, out)
    faint = [line for line in out.getvalue().splitlines() if "\x1b[2m" in line]
    assert len(faint) == 1 and "3\x1b" in faint[0] and "300" not in faint[0]


def test_a_file_with_an_unknown_home() -> None:
    from dpsql.shell.prompt_commands import expanded

    with pytest.raises(InterfaceError):
        expanded("~nobody-of-this-name/x")
