"""The commands as scripts call them: what is on stdout, what on stderr, and the exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import duckdb
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dpsql
from dpsql import errors
from dpsql.accounting.account import Charge
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost
from dpsql.shell import stderr as voice
from dpsql.shell.opening import ledger_path
from dpsql.shell.stderr import Exit, exit_code
from dpsql.sources.belongings import Belongings, of_catalog
from dpsql.sources.file_access import permitted
from tests.unit.shell.conftest import Run

HOSPITAL = "metadata/hospital.yaml"
BY_SPECIALTY = "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty"


def test_a_query_is_csv_in_a_pipe_and_its_cost_is_on_stderr(run: Run) -> None:
    done = run(HOSPITAL, "-c", BY_SPECIALTY)
    assert done.code == Exit.OK
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["specialty"] for row in rows] == sorted(row["specialty"] for row in rows)
    assert all(abs(int(row["n"])) >= 0 for row in rows) and len(rows) == 6
    assert "cost ε = 1; left ε = 9" in done.err
    assert "95 % confidence intervals: n ±" in done.err


def test_quiet_says_nothing(run: Run) -> None:
    assert run(HOSPITAL, "-q", "-c", BY_SPECIALTY).err == ""


def test_metadata_as_an_option_and_query_as_a_word(run: Run) -> None:
    assert run("query", "--metadata", HOSPITAL, "-c", "SHOW TABLES").out.startswith(
        "name,kind,description\nvisits,private"
    )
    assert run(HOSPITAL, "--metadata", HOSPITAL, "-c", "SHOW TABLES").code == Exit.USAGE


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((HOSPITAL, "-c", "SELECT COUNT(*) FROM vists"), Exit.FAILED, 'Did you mean "visits"?'),
        ((HOSPITAL, "-c", "SELECT patient_id FROM visits"), Exit.FAILED, "DPSQL-112"),
        ((HOSPITAL, "-c", "SELEC 1"), Exit.FAILED, "DPSQL-100"),
        ((HOSPITAL, "--nonsense"), Exit.USAGE, "No such option"),
        ((HOSPITAL, "-m", "tabel", "-c", "SELECT 1"), Exit.USAGE, "table"),
        ((), Exit.USAGE, "dpsql demo"),
        ((HOSPITAL, "-c", "SELCT 1"), Exit.FAILED, "Did you mean SELECT?"),
        ((HOSPITAL, "-c", 'SELECT 1 FROM visits WHERE referrer = "a"'), Exit.FAILED, "a text is written 'a'"),
        ((HOSPITAL, "-c", "SELECT COUNT(*) FROM hospital.visits"), Exit.FAILED, 'Did you mean "visits"?'),
        ((HOSPITAL, "-c", "SELECT 1 FROM visits WHERE duration > 3 & duration < 9"), Exit.FAILED, "Write AND"),
        ((HOSPITAL, "-c", "SHOW visits"), Exit.FAILED, "Write DESCRIBE visits if"),
        ((HOSPITAL, "-c", "SHOW COLUMNS FROM visits"), Exit.FAILED, "Write DESCRIBE visits if"),
        ((HOSPITAL, "-c", "SHOW ALL TABLES"), Exit.FAILED, "or DESCRIBE table."),
        (("hospital",), Exit.USAGE, 'Did you mean "metadata/hospital.yaml"?'),
        (("data/exam/exam.parquet",), Exit.METADATA, "dpsql init data/exam/exam.parquet -o exam.yaml"),
        (("check", "data/exam/exam.parquet"), Exit.METADATA, "this is data"),
        (("budget", "data/exam/exam.parquet"), Exit.METADATA, "this is data"),
        (("helpp", "bounds"), Exit.USAGE, 'Did you mean "help"?'),
        (("chekc",), Exit.USAGE, 'Did you mean "check"?'),
        (("metadata/hopsital.yaml",), Exit.METADATA, 'Did you mean "metadata/hospital.yaml"?'),
        (("metadata", "-c", "SELECT 1"), Exit.METADATA, "a folder"),
        ((HOSPITAL, "--epsilon", "11", "-c", "SELECT COUNT(*) FROM visits"), Exit.BUDGET, "The largest epsilon"),
        ((HOSPITAL, "--epsilon", "no", "-c", "SELECT COUNT(*) FROM visits"), Exit.FAILED, "DPSQL-119"),
        (
            (HOSPITAL, "--source", "visits=nix.parquet", "-c", "SELECT COUNT(*) FROM visits"),
            Exit.CANNOT_OPEN,
            "DPSQL-301",
        ),
        ((HOSPITAL, "-f", "nix.sql"), Exit.FAILED, "nix.sql cannot be read"),
        ((HOSPITAL, "--confirm-above", "0.5", "-c", "SELECT COUNT(*) FROM visits"), Exit.FAILED, "DPSQL-623"),
        ((HOSPITAL, "-m", "parquet", "-o", "r.parquet", "-c", "SELECT 1; SELECT 2"), Exit.FAILED, "holds one result"),
        (("help", "bouns"), Exit.FAILED, 'Did you mean "bounds"?'),
        (("demo", "hospitol"), Exit.USAGE, "hospital"),
        (("ledger", "verify", HOSPITAL), Exit.CANNOT_OPEN, "DPSQL-420"),
    ],
)
def test_what_goes_wrong_has_a_code_and_words(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    done = run(*words)
    assert (done.code, done.out.replace("1\n1\n", "")) == (code, ""), done
    assert said in done.err


def test_an_empty_metadata_file_is_the_metadatas_fault(run: Run, here: Path) -> None:
    (here / "empty.yaml").write_text("")
    done = run("empty.yaml", "-c", "SELECT 1")
    assert done.code == Exit.METADATA
    assert "empty.yaml" in done.err


def test_data_in_the_metadatas_place_is_not_quoted(run: Run, here: Path) -> None:
    (here / "rows.txt").write_text("name,illness\nZaphod,two heads\n")
    done = run("rows.txt", "-c", "SELECT 1")
    assert done.code == Exit.METADATA and "dpsql init" in done.err
    assert "Zaphod" not in done.err and "illness" not in done.err


def test_statements_stop_at_the_first_error(run: Run) -> None:
    done = run(HOSPITAL, "-c", "SELECT 1 AS a; SELECT nix; SELECT 2 AS b")
    assert (done.code, done.out) == (Exit.FAILED, "a\n1\n")


def test_files_standard_input_and_own_lines(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.sql").write_text(".mode jsonl\nSELECT 1 AS a;\n.read b.sql\n")
    (here / "b.sql").write_text("SELECT 'ü' AS b")
    assert run(HOSPITAL, "-f", "a.sql").out == '{"a": 1}\n{"b": "ü"}\n'
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 3 AS c;"))
    assert run(HOSPITAL).out == "c\n3\n"
    (here / "c.sql").write_text("SELECT 1;\n\nSELECT\n nix;")
    done = run(HOSPITAL, "-f", "c.sql")
    assert "in c.sql, in the statement of line 3:" in done.err
    (here / "d.sql").write_text("")
    assert "d.sql contains no statement" in run(HOSPITAL, "-f", "d.sql").err


def test_output_goes_into_a_file_in_the_files_own_mode(run: Run, here: Path) -> None:
    assert run(HOSPITAL, "-o", "r.json", "-c", "SELECT 1 AS a, NULL AS b").out == ""
    assert json.loads((here / "r.json").read_text()) == [{"a": 1, "b": None}]
    assert run(HOSPITAL, "-o", "none/r.csv", "-c", "SELECT 1").code == Exit.FAILED


@pytest.mark.parametrize(
    "path",
    [HOSPITAL, f"{HOSPITAL}.ledger", "data/hospital/visits.parquet", "metadata/../metadata/hospital.yaml"],
)
def test_results_never_go_over_the_data_its_metadata_or_its_ledger(run: Run, here: Path, path: str) -> None:
    run(HOSPITAL, "-q", "-c", BY_SPECIALTY)
    before = (here / path).read_bytes()
    done = run(HOSPITAL, "-o", path, "-c", "SELECT 1")
    assert done.code == Exit.FAILED and "DPSQL-626" in done.err
    assert "DPSQL-626" in run(HOSPITAL, "-c", f".output {path}").err
    assert (here / path).read_bytes() == before
    assert run(HOSPITAL, "-o", "data.csv", "-q", "-c", "SELECT 1").code == Exit.OK


def test_databases_folders_and_globs_are_data_too(here: Path) -> None:
    text = (here / HOSPITAL).read_text().replace("../data/hospital/visits.parquet", "{}")
    for source, inside in (
        ("{database: ../d.duckdb, table: main.visits}", "d.duckdb"),
        ("../rows/*.parquet", "rows/new.parquet"),
        ("[../a.parquet, ../b.parquet]", "b.parquet"),
    ):
        (here / "metadata" / "other.yaml").write_text(text.replace("{}", source, 1))
        kept = Belongings(of_catalog(dpsql.load_catalog(here / "metadata" / "other.yaml")))
        for path in (inside, "metadata/other.yaml"):
            with pytest.raises(dpsql.InterfaceError, match="DPSQL-626"):
                permitted(Path(path), "write")
        assert permitted(Path("result.parquet"), "write") == here / "result.parquet"
        kept.close()
        assert permitted(Path(inside), "write"), source


def test_it_is_said_where_rows_go(run: Run, here: Path) -> None:
    assert "written to n.csv" in run(HOSPITAL, "-o", "n.csv", "-c", "SELECT 1").err
    assert "written" not in run(HOSPITAL, "-c", "SELECT 1").err


def test_dry_run_charges_nothing(run: Run) -> None:
    done = run(HOSPITAL, "--dry-run", "-c", f"SET epsilon = 2; {BY_SPECIALTY}; CREATE TABLE t (a INTEGER)")
    assert done.code == Exit.OK
    assert "in total this would cost at most ε = 2; left: ε = 10, δ = 1e-06" in done.err
    assert "not run: create table" in done.err
    assert "hospital,spent,0.0,0.0" in run("budget", HOSPITAL).out


def test_confirm_above_is_for_charges_only_and_yes_spends(run: Run) -> None:
    small = run(HOSPITAL, "-c", "SET confirm_above = 0.5; SET epsilon = 0.5; SELECT COUNT(*) AS n FROM visits")
    assert small.code == Exit.OK
    assert run(HOSPITAL, "--confirm-above", "0.5", "--yes", "-c", "SELECT COUNT(*) FROM visits").code == Exit.OK


def test_explain_reads_nothing_private(run: Run, here: Path) -> None:
    (here / "data").unlink()
    done = run("explain", HOSPITAL, "SELECT AVG(duration) FROM visits;")
    assert done.code == Exit.OK
    assert "Costs ε = 1" in done.out
    assert json.loads(run("explain", "--json", HOSPITAL, "SELECT COUNT(*) FROM visits").out)["cost"]["epsilon"] == 1.0


def test_explain_as_a_statement_is_plain_text_unless_a_mode_is_named(run: Run) -> None:
    sql = "EXPLAIN SELECT COUNT(*) AS n FROM visits"
    assert "\nCosts ε = 1, δ = 0" in run(HOSPITAL, "-c", sql).out
    assert run(HOSPITAL, "-m", "csv", "-c", sql).out.startswith("explain\n")


def test_a_choice_has_no_interval(run: Run) -> None:
    assert "95 %" not in run("metadata/exam.yaml", "-c", "SELECT MIN(score) AS lo FROM exam").err


def test_check_compares_with_the_source(run: Run, here: Path) -> None:
    assert (
        run("check", HOSPITAL, "--source").out.splitlines()[-1] == "the sources have every column, with types that fit"
    )
    text = (here / HOSPITAL).read_text().replace("duration: {type: real", "lasted: {type: real")
    (here / HOSPITAL).write_text(text.replace("referrer: {type: text", "referrer: {type: integer"))
    done = run("check", HOSPITAL, "--source")
    assert done.code == Exit.METADATA
    assert 'visits: the source has no column "lasted"' in done.err
    assert 'visits: "referrer" is integer here and VARCHAR in the source' in done.err
    assert "which nobody can ask for: duration" in done.err
    assert run("check", HOSPITAL).code == Exit.OK


def test_check_does_not_vouch_for_the_cells_of_a_csv(run: Run, here: Path) -> None:
    (here / "t.csv").write_text("id,price,name\n1,x,y\n")
    (here / "t.yaml").write_text(
        "dataset: t\nunit: person\nversion: 1\nbudget: {epsilon: 1, delta: 0}\n"
        "tables:\n  t:\n    source: t.csv\n    unit: id\n    rows_per_unit: 1\n"
        "    columns: {id: text, price: {type: real, lower: 0, upper: 9}, name: text}\n"
    )
    done = run("check", "t.yaml", "--source")
    assert done.code == Exit.OK and "fit" not in done.out
    assert "whether price convert is not known" in done.out and done.out.endswith(
        'SELECT COUNT(*), COUNT("price") FROM "t"\n'
    )
    (here / "t.yaml").write_text(
        (here / "t.yaml").read_text().replace("price: {type: real, lower: 0, upper: 9}", "price: text")
    )
    assert (
        run("check", "t.yaml", "--source").out.splitlines()[-1] == "the sources have every column, with types that fit"
    )


def test_check_lists_all_problems(run: Run, here: Path) -> None:
    (here / "bad.yaml").write_text("dataset: x\nunitt: y\nbudget: {epsilon: -1}\ntables: {}\n")
    done = run("check", "bad.yaml")
    assert done.code == Exit.METADATA
    assert "bad.yaml:2" in done.err and "bad.yaml:3" in done.err


def test_init_writes_what_check_reads_once_the_todos_are_done(run: Run, here: Path) -> None:
    assert run("init", "data/exam/exam.parquet", "-o", "exam.yaml").code == Exit.OK
    assert run("check", "exam.yaml").code == Exit.METADATA
    text = (here / "exam.yaml").read_text()
    text = text.replace("budget: {epsilon: TODO, delta: TODO}", "budget: {epsilon: 10, delta: 0}")
    text = text.replace("    unit: TODO", "    unit: student_id").replace("TODO", "x")
    (here / "exam.yaml").write_text(text)
    assert run("check", "exam.yaml", "--source").code == Exit.OK
    assert run("exam.yaml", "-q", "-c", "SELECT COUNT(*) AS n FROM exam").code == Exit.OK
    assert run("init", "data/exam/exam.parquet", "-o", "exam.yaml").code == Exit.FAILED


def test_init_reads_csv_and_databases(run: Run, here: Path) -> None:
    (here / "t.csv").write_text("a,b\n1,2\n")
    assert "a: text" in run("init", "t.csv").out
    with duckdb.connect(str(here / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (a INTEGER, d DECIMAL(9, 2), secret BLOB)")
    done = run("init", "d.duckdb", "--table", "main.visits")
    assert "source: {database: d.duckdb, table: main.visits}" in done.out
    assert "d: decimal(9, 2)" in done.out
    assert run("init", "d.duckdb").out == done.out  # there is only one
    with duckdb.connect(str(here / "d.duckdb")) as connection:
        connection.execute("CREATE SCHEMA s; CREATE VIEW s.v AS SELECT 1 AS x")
    assert list(yaml.safe_load(run("init", "d.duckdb").out)["tables"]) == ["visits", "v"]
    with duckdb.connect(str(here / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE s.visits (b INTEGER)")
    several = run("init", "d.duckdb")
    assert several.code == Exit.FAILED and "There are main.visits, s.v, s.visits." in several.err
    assert "--table" in several.err
    assert run("init", "nix.duckdb").code == Exit.CANNOT_OPEN
    (here / "no.duckdb").write_bytes(b"nothing of the kind")
    assert "DPSQL-307" in run("init", "no.duckdb").err
    assert run("init", "nix.parquet").code == Exit.CANNOT_OPEN


@pytest.mark.slow
def test_init_of_several_tables_with_their_declared_keys(run: Run, here: Path) -> None:
    """What it suggests is right: with the unit of the first table and the paths it names, a query runs."""
    with duckdb.connect(str(here / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY);"
            "CREATE TABLE stays (stay INTEGER PRIMARY KEY, p INTEGER REFERENCES patients(patient_id));"
            "CREATE TABLE items (stay INTEGER REFERENCES stays(stay), price INTEGER);"
            "CREATE TABLE wards (ward VARCHAR);"
            "INSERT INTO patients SELECT range FROM range(300); INSERT INTO stays SELECT range, range % 300 FROM range(600);"
            "INSERT INTO items SELECT range % 600, 5 FROM range(1200)"
        )
    text = run("init", "d.duckdb").out
    assert text.count("# perhaps?") >= 3 and "# foreign key: stay of main.stays" in text
    tables = {name: text[text.index(f"  {name}:\n") :] for name in ("items", "patients", "stays", "wards")}
    assert (
        "# primary key: patient_id" in tables["patients"]
        and "{through: patients, on: {p: patient_id}}" in tables["stays"]
    )
    lines = [line.replace("# public", "public") if "public: true" in line else line for line in text.splitlines()]
    kept, table = [], ""
    for line in lines:
        table = line.strip(" :") if line.startswith("  ") and line[2] != " " else table
        word = line.strip()
        if word.startswith("unit: TODO") and table:
            line = "    unit: patient_id" if table == "patients" else ""
        elif word.startswith("# unit: {through"):
            line = line.replace("# unit", "unit")
        elif (
            word.startswith("public: true")
            and table != "wards"
            or word.startswith("rows_per_unit")
            and table == "wards"
        ):
            line = ""
        kept.append(line)
    written = "\n".join(kept).replace("epsilon: TODO, delta: TODO", "epsilon: 10, delta: 0").replace("TODO", "x")
    (here / "d.yaml").write_text(written)
    done = run("d.yaml", "-q", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 5) COUNT(*) AS n FROM items")
    assert done.code == Exit.OK and abs(int(done.out.split()[1]) - 1200) < 400


def test_init_of_odd_places_and_delimiters(run: Run, here: Path) -> None:
    """What is written is read again: a path that YAML must quote, a table in a file, a tab."""
    (here / "my data").mkdir()
    with duckdb.connect(here / "my data" / "d.duckdb") as con:
        con.execute("CREATE TABLE visits (u BIGINT)")
    source = yaml.safe_load(run("init", "my data/d.duckdb").out)["tables"]["visits"]["source"]
    assert source == {"database": "my data/d.duckdb", "table": "main.visits"}
    (here / "tabs.csv").write_text("a\tb\n1\t2\n", encoding="utf-8")
    begun = run("init", "tabs.csv")
    assert "--delimiter tab" in begun.err.replace("'", "")
    told = run("init", "tabs.csv", "--delimiter", "tab").out
    assert yaml.safe_load(told)["tables"]["tabs"]["format"] == {"delimiter": "\t"}
    assert list(yaml.safe_load(told)["tables"]["tabs"]["columns"]) == ["a", "b"]
    for words in (("tabs.csv", "--delimiter", ";;"), ("data/exam", "--delimiter", ";"), ("tabs.csv", "--table", "t")):
        assert "DPSQL-622" in run("init", *words).err


@pytest.mark.parametrize(
    ("words", "table", "source"),
    [
        (("init", "rows"), "rows", "rows/*.csv"),
        (("init", "rows/*.csv"), "rows", "rows/*.csv"),
        (("init", "data/exam"), "exam", "data/exam"),
    ],
)
def test_init_reads_folders_and_globs(run: Run, here: Path, words: tuple[str, ...], table: str, source: str) -> None:
    (here / "rows").mkdir()
    for name in ("a", "b"):
        (here / "rows" / f"{name}.csv").write_text("x,y\n1,2\n")
    done = run(*words)
    assert done.code == Exit.OK, done
    assert f"  {table}:\n" in done.out and f"source: {source}\n" in done.out.replace('"', "")


def test_the_owners_commands(run: Run, here: Path) -> None:
    run(HOSPITAL, "-q", "-c", BY_SPECIALTY)
    assert "hospital,left,9.0,1e-06" in run("budget", HOSPITAL).out
    assert "left now: ε = 11" in run("budget", "grant", HOSPITAL, "--epsilon", "2", "--why", "more").err
    assert "left now: ε = 0.5" in run("budget", "limit", HOSPITAL, "--epsilon", "1.5", "--why", "less").err
    assert run(HOSPITAL, "-c", "SELECT COUNT(*) FROM visits").code == Exit.BUDGET
    released = list(csv.DictReader(io.StringIO(run("releases", HOSPITAL).out)))
    assert [(row["epsilon"], row["state"], row["measured"]) for row in released] == [("1.0", "released", "count(*)")]
    assert run("releases", HOSPITAL, "--analyst", "ana").out.count("\n") == 1
    assert run("ledger", "verify", HOSPITAL + ".ledger").out.startswith("OK; head ")
    exported = json.loads(run("ledger", "export", HOSPITAL).out)
    assert exported["dataset"] == "hospital"
    run("ledger", "export", HOSPITAL, "-o", "export.json")
    assert json.loads((here / "export.json").read_text()) == exported
    assert run("void", HOSPITAL, released[0]["id"], "--why", "x").code == Exit.FAILED
    assert run("budget", "grant", HOSPITAL, "--why", "nothing").code == Exit.USAGE
    assert run("budget", "grant", HOSPITAL, "--epsilon", "x", "--why", "nothing").code == Exit.USAGE


def test_a_charge_that_never_ran_can_be_voided(run: Run) -> None:
    run("budget", HOSPITAL)
    cost = Cost(epsilon=Fraction(2), rho=Fraction(2))
    ledger = Ledger.inspect(ledger_path(HOSPITAL))
    receipt = ledger.reserve(Charge(plan="p", metadata="m", cost=cost))
    ledger.close()
    assert ",reserved," in run("releases", HOSPITAL).out
    assert "left now: ε = 10" in run("void", HOSPITAL, str(receipt.id), "--why", "it crashed").err
    assert ",void," in run("releases", HOSPITAL).out


def test_a_changed_ledger_is_found(run: Run, here: Path) -> None:
    run(HOSPITAL, "-q", "-c", BY_SPECIALTY)
    with sqlite3.connect(here / (HOSPITAL + ".ledger")) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(name for name in tables if "entr" in name)
        database.execute(f"UPDATE {table} SET epsilon = '0' WHERE kind = 'charge'")
    database.close()
    done = run("ledger", "verify", HOSPITAL)
    assert done.code == Exit.CANNOT_OPEN
    assert "DPSQL-440" in done.err and "entry" in done.err


def test_demo_keeps_its_files_where_it_is_told(run: Run, here: Path) -> None:
    done = run("demo", "exam", "--into", "kept", "-q", "-c", "SELECT COUNT(*) AS n FROM exam")
    assert done.code == Exit.OK
    assert (here / "kept" / "metadata" / "exam.yaml").is_file()


def test_completion_scripts(run: Run) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_DPSQL_COMPLETE" in run("completion", shell).out


def test_help_is_everywhere(run: Run) -> None:
    from dpsql.shell.commands import COMMANDS

    for words in ((), *((name,) for name in COMMANDS), ("budget", "grant"), ("ledger", "verify")):
        done = run(*words, "--help")
        assert done.code == Exit.OK
        assert done.out.startswith("Usage: dpsql")


def every_error() -> list[type[errors.Error]]:
    classes, left = [], [errors.Error]
    while left:
        kind = left.pop()
        classes.append(kind)
        left += kind.__subclasses__()
    return classes


@pytest.mark.parametrize("kind", every_error())
def test_every_error_has_an_exit_code(kind: type[errors.Error]) -> None:
    expected = {
        "CatalogError": Exit.METADATA,
        "BudgetError": Exit.BUDGET,
        "OverBudget": Exit.BUDGET,
        "SourceError": Exit.CANNOT_OPEN,
        "LedgerError": Exit.CANNOT_OPEN,
        "TamperedLedger": Exit.CANNOT_OPEN,
        "InternalError": Exit.BUG,
        "Interrupted": Exit.INTERRUPTED,
    }
    error = kind.__new__(kind)
    error.number = kind.default_code
    assert exit_code(error) == expected.get(kind.__name__, Exit.FAILED)


def test_a_bug_does_not_quote_what_it_was_about(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: object) -> None:
        raise ValueError("Jane Doe, 44")

    monkeypatch.setattr("dpsql.metadata.load.load", broken)
    done = run("check", HOSPITAL)
    assert done.code == Exit.BUG
    assert "DPSQL-001  a bug in dpsql: ValueError at test_commands.py:" in done.err
    assert "Jane" not in done.err


def test_interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(path: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpsql.metadata.load.load", stopped)
    assert run("check", HOSPITAL).code == Exit.INTERRUPTED
    assert exit_code(errors.ExecutionError("x", code=503)) == Exit.INTERRUPTED


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert voice.coloured(Screen())
    assert not voice.coloured(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not voice.coloured(Screen())


LIGHT = """
import sys
from dpsql.shell.main import main
assert main(["--version"]) == 0
print(sorted({"click", "duckdb", "numpy", "pandas", "sqlglot", "prompt_toolkit", "rich"} & set(sys.modules)))
"""

BARE = """
import sys
OTHERS = {others!r}
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocker())
from dpsql.shell.main import main
sys.exit(main(["demo", "exam", "-q", "-o", "r.parquet", "-c", "SELECT COUNT(*) AS n FROM exam"]))
"""


def python(code: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_version_loads_nothing_heavy(tmp_path: Path) -> None:
    assert python(LIGHT, tmp_path).splitlines()[1] == "[]"


def not_needed() -> set[str]:
    """The installed packages that `pip install dpsql` without extras does not bring."""
    needed: set[str] = set()
    asked = [canonicalize_name("dpsql")]
    while asked:
        name = asked.pop()
        if name not in needed:
            needed.add(name)
            requirements = map(Requirement, metadata.requires(name) or ())
            asked += [
                canonicalize_name(r.name) for r in requirements if not r.marker or r.marker.evaluate({"extra": ""})
            ]
    return {
        package
        for package, distributions in metadata.packages_distributions().items()
        if needed.isdisjoint(map(canonicalize_name, distributions))
    }


@pytest.mark.slow
def test_a_bare_install_answers_and_writes_parquet(tmp_path: Path) -> None:
    others = not_needed()
    assert others >= {"pyarrow", "polars", "sqlalchemy", "pytest", "packaging"}
    python(BARE.replace("{others!r}", repr(others)), tmp_path)
    assert (tmp_path / "r.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(here: Path) -> None:
    command = f"{sys.executable} -m dpsql.shell.main {HOSPITAL} -q -c 'SELECT 1; SELECT 2' | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_in_a_script_ends_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: object, sql: str, *rest: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dpsql.Connection, "execute", stopped)
    done = run(HOSPITAL, "-c", "SELECT 1; SELECT 2")
    assert (done.code, done.out, done.err) == (Exit.INTERRUPTED, "", "interrupted\n")
