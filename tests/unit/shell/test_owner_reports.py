"""The owner's reports from the command line: who spent what, the release table, a new epoch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpsql
from dpsql.shell.stderr import Exit
from tests.unit.shell.conftest import Run

EXAM = "metadata/exam.yaml"
ASKED = "SELECT AVG(score) AS mean FROM exam"


@pytest.fixture
def asked(run: Run) -> None:
    assert run(EXAM, "-q", "--analyst", "ana", "-c", ASKED).code == Exit.OK
    assert run(EXAM, "-q", "--analyst", "ben", "-c", "SELECT COUNT(*) FROM exam").code == Exit.OK


@pytest.mark.usefixtures("asked")
def test_who_spent_what(run: Run) -> None:
    lines = run("budget", "report", EXAM).out.splitlines()
    assert lines[0] == "analyst,plan,tables,measured,charges,released,epsilon,delta"
    assert [line.split(",")[0] for line in lines[1:]] == ["ana", "ben"]
    told = json.loads(run("budget", "report", EXAM, "--format", "json").out)
    assert [(account["account"], account["spent"]["epsilon"]) for account in told["accounts"]] == [
        ("exam", 2),
        ("ana", 1),
        ("ben", 1),
    ]
    assert told["accounts"][0]["left"]["epsilon"] == 8


@pytest.mark.usefixtures("asked")
def test_a_repeat_is_in_no_report(run: Run) -> None:
    assert run(EXAM, "-q", "--analyst", "ana", "-c", f"{ASKED} ORDER BY 1").code == Exit.OK
    assert len(json.loads(run("releases", EXAM, "--format", "json").out)["releases"]) == 2


@pytest.mark.usefixtures("asked")
def test_the_release_table(run: Run) -> None:
    text = run("releases", EXAM, "--format", "markdown").out
    assert "multiply the odds by at most 7.39 (ε = 2)" in text
    assert "0 to 100 (declared for exam.score)" in text
    only = json.loads(run("releases", EXAM, "--format", "json", "--analyst", "ana").out)
    assert only["epsilon"] == 1
    (release,) = only["releases"]
    for said in ("unit", "neighbours", "implementation", "version", "measurements", "stages", "state", "meaning"):
        assert release[said], said


@pytest.mark.usefixtures("asked")
def test_releases_show_the_statements_to_the_owner_and_not_to_readers(run: Run) -> None:
    """A literal is an analyst's: 'WHERE name = …' may name a person, so what is published leaves statements out."""
    word = "Zaphod"
    sql = f"SELECT COUNT(*) AS n\nFROM exam WHERE score > 50 OR '{word}' = 'x'"
    assert run(EXAM, "--analyst", "ana", "--epsilon", "0.5", sql).code == Exit.OK
    assert word in run("releases", EXAM).out and "COUNT(*) AS n FROM exam" in run("releases", EXAM).out
    for form in ("json", "markdown"):
        assert word not in run("releases", EXAM, "--format", form).out
    kept = json.loads(run("releases", EXAM, "--format", "json", "--sql").out)["releases"]
    assert kept[-1]["sql"] == sql


@pytest.mark.usefixtures("asked")
def test_a_parameters_value_is_on_no_record(run: Run, here: Path) -> None:
    with dpsql.connect(EXAM, analyst="ana", epsilon=0.5) as connection:
        connection.execute("SELECT COUNT(*) AS n FROM exam WHERE score > ? OR 'x' = ?", [50, "Zaphod"])
    assert "score > ?" in run("releases", EXAM).out
    assert "Zaphod" not in run("ledger", "export", EXAM).out


@pytest.mark.usefixtures("asked")
def test_a_new_epoch_is_explicit_and_recorded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("budget", "new-epoch", EXAM).code != Exit.OK  # nobody answers the question
    assert "exam,spent,2.0,0.0" in run("budget", EXAM).out
    done = run("budget", "new-epoch", EXAM, "--yes")
    assert done.code == Exit.OK and "epoch 2" in done.err
    assert "exam,spent,0.0,0.0" in run("budget", EXAM).out
    exported = json.loads(run("ledger", "export", EXAM).out)
    assert [entry["epoch"] for entry in exported["entries"] if entry["kind"] == "epoch"] == [1, 2]
    assert run("ledger", "verify", EXAM).code == Exit.OK
    assert json.loads(run("releases", EXAM, "--format", "json").out)["releases"] == []


def test_under_zcdp_what_is_enforced_is_shown(run: Run, here: Path) -> None:
    yaml = here / EXAM
    text = yaml.read_text(encoding="utf-8")
    zcdp = "accounting: zcdp\nmax_per_query: {epsilon: 2}\nbudget: {epsilon: 8, delta: 1.0e-6}\n"
    yaml.write_text("".join(line for line in text.splitlines(True) if not line.startswith("budget:")) + zcdp)
    done = run(EXAM, "-c", ASKED)
    assert done.code == Exit.OK
    assert "cost ε = 1, ρ = 0.5; left ε = " in done.err and ", ρ = 0." in done.err.split("left")[1]
    lines = run("budget", EXAM).out.splitlines()
    assert lines[0] == "account,what,rho,delta_keys,epsilon,delta"
    rows = {tuple(line.split(",")[:2]): line.split(",")[2:] for line in lines[1:]}
    assert rows["exam", "spent"][:2] == ["0.5", "0.0"] and rows["exam", "max per query"] == ["", "", "2.0", ""]
    total, left = (float(rows["exam", what][0]) for what in ("total", "left"))
    assert left == pytest.approx(total - 0.5)
    told = json.loads(run("budget", "report", EXAM, "--format", "json").out)
    assert told["max_per_query"]["epsilon"] == 2 and told["accounts"][0]["spent"]["rho"] == 0.5
    assert [line.split(",")[-1] for line in run("budget", "report", EXAM).out.splitlines()] == ["rho", "0.5"]
    refused = run(EXAM, "--epsilon", "2.5", "-c", "SELECT COUNT(*) FROM exam")
    assert refused.code == Exit.BUDGET and "DPSQL-401" in refused.err


def test_nothing_is_granted_to_a_name_that_nobody_has(run: Run, here: Path) -> None:
    yaml = here / EXAM
    yaml.write_text(yaml.read_text(encoding="utf-8") + "analysts: {ana: {epsilon: 1}, ben: {epsilon: 1}}\n")
    assert run(EXAM, "--analyst", "ben", "-c", "SELECT COUNT(*) FROM exam").code == Exit.OK  # there is a ledger
    more = ("--epsilon", "1", "--why", "a second question")
    refused = run("budget", "grant", EXAM, "--analyst", "anna", *more)
    assert refused.code != Exit.OK and 'no analyst "anna". There are ana, ben.' in refused.err
    assert run("budget", "grant", EXAM, "--analyst", "ana", *more).code == Exit.OK
    assert run(EXAM, "--analyst", "ana", "--epsilon", "2", "-c", ASKED).code == Exit.OK
