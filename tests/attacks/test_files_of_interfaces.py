"""No interface writes over, or reads out, what belongs to an open catalog: through whatever name, link or mode (S1, S2)."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.accounting.ledger import Ledger
from dpsql.errors import InterfaceError
from dpsql.metadata.load import load
from dpsql.shell.main import main
from dpsql.sources.belongings import Belongings, of_catalog
from dpsql.sources.file_access import NewFile, permitted
from tests.attacks.terminal import terminal
from tests.worlds.towns import COUNT, write

LEDGER = "towns.yaml.ledger"
SIDECARS = ("", ".head", ".head.tmp", "-wal", "-shm", "-journal", ".lock", ".owner.log", "-mj01", ".bak")
ZERO = "0:" + "0" * 64


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    path = write(tmp_path)
    with dpsql.connect(path) as conn:
        conn.execute(COUNT)
    return path


@pytest.fixture
def kept(yaml: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder, whose files are the same afterwards, and whose budget is as it was."""
    monkeypatch.chdir(yaml.parent)
    before = {path.name: path.read_bytes() for path in yaml.parent.iterdir() if path.is_file()}
    yield yaml.parent
    for name, content in before.items():
        assert (yaml.parent / name).read_bytes() == content, name
    assert Ledger.verify_file(yaml.parent / LEDGER) is None
    with dpsql.connect(yaml) as conn:
        assert conn.budget.spent.epsilon == 1


def names(folder: Path) -> list[str]:
    """Every way to name what belongs to the catalog; what is not there yet among it."""
    os.link(folder / f"{LEDGER}.head", folder / "hard.csv")
    os.link(folder / LEDGER, folder / "ledger.csv")
    os.link(folder / "towns.yaml", folder / "metadata.csv")
    os.link(folder / "visits.parquet", folder / "data.csv")
    (folder / "soft.csv").symlink_to(f"{LEDGER}.head")
    (folder / "twice.csv").symlink_to("soft.csv")
    (folder / "dangling.csv").symlink_to(f"{LEDGER}-wal")
    (folder / "here").symlink_to(folder)
    links = ["hard.csv", "ledger.csv", "metadata.csv", "data.csv", "soft.csv", "twice.csv", "dangling.csv"]
    spellings = [
        f"here/{LEDGER}.head",
        f"here/../{folder.name}/{LEDGER}-wal",
        f"./{LEDGER}.HEAD",
        "TOWNS.yaml",
        "Visits.Parquet",
    ]
    spellings += [f"/proc/self/cwd/{LEDGER}-journal", f"/proc/self/root{folder}/{LEDGER}.head"]
    return [f"{LEDGER}{end}" for end in SIDECARS] + ["towns.yaml", "visits.parquet"] + links + spellings


def test_the_shells_text_alone_refills_nothing(kept: Path) -> None:
    """The reproduction: a head of no entries as a CSV's header, and an empty write-ahead log."""
    with terminal("towns.yaml", folder=kept) as shell:
        shell.wait()
        said = shell.type(
            ".mode csv",
            f".output {LEDGER}.head",
            f'SELECT 1 AS "{ZERO}" LIMIT 0;',
            f".output {LEDGER}-wal",
            f'SELECT 1 AS "{ZERO}" LIMIT 0;',
            ".quit",
        )
        assert shell.ended() == 0
    assert said.count("DPSQL-626") == 2


def test_no_name_of_what_is_kept_can_be_written(kept: Path) -> None:
    """By .output in a terminal, -o, the driver's and the frame's write(), and the owner's reports."""
    ways = names(kept)
    with terminal("towns.yaml", folder=kept) as shell:
        shell.wait()
        for name in ways:
            assert "DPSQL-626" in shell.type(f".output {name}"), name
        shell.type(".quit")
    with dpsql.connect("towns.yaml") as conn:
        cursor = conn.execute("SELECT 1 AS a")
        for name in ways:
            for form in ("csv", "json", "parquet"):
                refused(lambda name=name, form=form: cursor.write(name, form))
    for name in ways:
        for words in (
            ["towns.yaml", "-q", "-o", name, "-c", "SELECT 1 AS a"],
            ["budget", "towns.yaml", "-o", name],
            ["budget", "report", LEDGER, "--format", "json", "-o", name],
            ["releases", "towns.yaml", "--format", "markdown", "-o", name],
            ["ledger", "export", "towns.yaml", "-o", name],
        ):
            # Named by its file, a ledger does not say what else belongs to its metadata.
            if words[2] != LEDGER or name.startswith(
                (LEDGER, "here/", "./", "soft", "twice", "dangling", "hard", "ledger")
            ):
                assert main(words) == 1, words


def refused(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(InterfaceError) as caught:
        ask()
    assert caught.value.code == "DPSQL-626"


def test_a_frames_result_is_not_written_over_its_metadata(tmp_path: Path) -> None:
    import pandas

    yaml = write(tmp_path)
    people = pandas.read_parquet(tmp_path / "visits.parquet")
    frame = dpsql.PrivateFrame(people, yaml)
    result = frame.agg(n="count")
    for name in ("towns.yaml", f"{LEDGER}.head", f"{LEDGER}-wal", LEDGER):
        refused(lambda name=name: result.write(tmp_path / name, "csv"))
    result.write(tmp_path / "n.csv")
    assert (tmp_path / "n.csv").read_text().startswith("n\n")


def test_a_given_source_and_one_of_another_open_catalog_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = write(tmp_path / "a"), write(tmp_path / "b", dataset="others")
    shutil.copy(tmp_path / "a" / "visits.parquet", tmp_path / "given.parquet")
    with dpsql.connect(one, source={"visits": tmp_path / "given.parquet"}) as conn, dpsql.connect(other):
        cursor = conn.execute("SELECT 1 AS a")
        for path in ("given.parquet", "a/visits.parquet", "b/visits.parquet", "b/towns.yaml", f"b/{LEDGER}.head"):
            refused(lambda path=path: cursor.write(tmp_path / path, "csv"))
        cursor.write(tmp_path / "b" / "mine.csv")
    with dpsql.connect(one) as conn:  # closed, the other's data are files as any others; a ledger is one for ever
        refused(lambda: conn.execute("SELECT 1 AS a").write(tmp_path / "b" / f"{LEDGER}.head", "csv"))
        refused(lambda: conn.execute("SELECT 1 AS a").write(tmp_path / "b" / f"{LEDGER}-journal", "csv"))


def test_what_is_kept_stays_so_while_any_session_is_open(tmp_path: Path) -> None:
    """A sub-budget that is closed takes nothing from the connection it came from; spilled rows are kept, too."""
    with dpsql.connect(write(tmp_path)) as conn:
        helper = conn.sub_budget(epsilon=1)
        helper.close()
        cursor = conn.execute(COUNT)
        refused(lambda: cursor.write(tmp_path / "visits.parquet", "csv"))
        refused(lambda: cursor.write(conn._session.engines.temporary.path / "vault" / "x.csv"))


@pytest.mark.parametrize(
    ("source", "inside", "outside"),
    [
        (
            "rows/*.parquet",
            ["rows/new.parquet", "rows/OLD.PARQUET"],
            ["rows/new.csv", "new.parquet", "rows/x/n.parquet"],
        ),
        ("rows/**/*.parquet", ["rows/x/y/new.parquet", "rows/new.parquet"], ["new.parquet", "rows/x/new.csv"]),
        ("rows/", ["rows/new.parquet", "rows/x/anything"], ["rows.csv", "row/new.parquet"]),
        ("rows/part-[0-9].parquet", ["rows/part-7.parquet"], ["rows/part-x7.parquet"]),
        ("{database: rows/d.duckdb, table: main.v}", ["rows/d.duckdb", "rows/d.duckdb.wal"], ["rows/e.duckdb"]),
        ("[rows/a.parquet, rows/old.parquet]", ["rows/a.parquet", "rows/link"], ["rows/b.parquet"]),
    ],
)
def test_sources_of_every_form_are_kept(tmp_path: Path, source: str, inside: list[str], outside: list[str]) -> None:
    yaml = write(tmp_path)
    yaml.write_text(yaml.read_text().replace("source: visits.parquet", f"source: {source}"))
    (tmp_path / "rows" / "x" / "y").mkdir(parents=True)
    (tmp_path / "row").mkdir()
    shutil.copy(tmp_path / "visits.parquet", tmp_path / "rows" / "old.parquet")
    os.link(tmp_path / "rows" / "old.parquet", tmp_path / "rows" / "link")
    (tmp_path / "there").symlink_to(tmp_path / "rows")
    open_now = Belongings(of_catalog(load(yaml)))
    for name in [*inside, *(name.replace("rows/", "there/", 1) for name in inside)]:
        refused(lambda name=name: permitted(tmp_path / name, "write"))
    for name in outside:
        permitted(tmp_path / name, "write")
    open_now.close()


def test_results_are_moved_into_place_and_never_written_through_a_link(kept: Path) -> None:
    """What was there stays whole until the new file is; who else has the old one by a link keeps it."""
    (kept / "r.csv").write_text("old")
    (kept / "r.csv").chmod(0o640)
    os.link(kept / "r.csv", kept / "other.csv")
    with dpsql.connect("towns.yaml") as conn:
        cursor = conn.execute("SELECT 1 AS a")
        with pytest.raises(InterfaceError):
            cursor.write("r.csv", "nix")
        assert (kept / "r.csv").read_text() == "old"
        cursor.write("r.csv")
    assert (kept / "r.csv").read_text() == "a\n1\n" and (kept / "other.csv").read_text() == "old"
    assert (kept / "r.csv").stat().st_mode & 0o777 == 0o640
    assert main(["towns.yaml", "-q", "-o", "other.csv", "-c", "SELECT nix"]) == 1
    assert (kept / "other.csv").read_text() == "old"
    assert main(["towns.yaml", "-q", "-o", "other.csv", "-c", "SELECT 2 AS b; SELECT 3 AS c"]) == 0
    assert (kept / "other.csv").read_text() == "b\n2\nc\n3\n"
    assert not [path for path in kept.iterdir() if path.name.startswith(".dpsql-")]


def test_what_is_moved_there_meanwhile_is_kept_too(kept: Path) -> None:
    """Between the first look and the move into place the name may become another file's."""
    belongings = Belongings(of_catalog(load(kept / "towns.yaml")))
    with pytest.raises(InterfaceError, match="DPSQL-626"), NewFile(kept / "r.csv") as new:
        with new.text() as file:
            file.write(ZERO)
        (kept / "r.csv").symlink_to(f"{LEDGER}.head")
    (kept / "r.csv").unlink()
    belongings.close()


def test_devices_and_places_that_are_none(kept: Path) -> None:
    assert main(["towns.yaml", "-q", "-o", "/dev/null", "-c", "SELECT 1 AS a"]) == 0
    assert not Path("/dev/null").is_file()
    (kept / "round").symlink_to("round")
    for name in ("none/r.csv", str(kept), "x" * 300, "a\0b", "round"):
        with pytest.raises(InterfaceError) as caught, dpsql.connect("towns.yaml") as conn:
            conn.execute("SELECT 1 AS a").write(name, "csv")
        assert caught.value.code == "DPSQL-622", name
    (kept / "round").unlink()


# --- S2: scripts are read, and never quoted

SECRET = "Zebediah"
PRIVATE = (
    f"name,diag\n{SECRET},hiv\n",
    f"{SECRET}\n",
    f"'{SECRET}",
    f'"{SECRET}" "x";',
    f".{SECRET}\n",
    f"\\{SECRET} x\n",
    f".mode {SECRET}\n",
    f".help {SECRET}\n",
    f".read {SECRET}.csv\n",
    f".output none/{SECRET}.csv\n",
    f"SELECT {SECRET};",
    f"SELECT {SECRET}(1);",
    f"SELECT COUNT(*) FROM {SECRET};",
    f"SELECT * FROM visits WHERE town = '{SECRET}';",
    f"SELECT CAST('{SECRET}' AS INTEGER);",
    f"SELECT * FROM visits -- {SECRET}",
    f"SET {SECRET} = 1;",
    f"CREATE TABLE visits ({SECRET} INTEGER);",
    f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({SECRET} = 1) COUNT(*) FROM visits;",
    f"DESCRIBE {SECRET};",
    f"\\e {SECRET}\n",
    f"\\df {SECRET}\n",
    f".schema {SECRET}\n",
    f".explain {SECRET}\n",
    f".timer {SECRET}\n",
)


def test_no_error_about_a_file_quotes_it(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In a terminal with .read, and what is asked after it; with -f; at every stage a statement can fail at."""
    for number, text in enumerate(PRIVATE):
        (kept / f"{number}.txt").write_text(text)
    with terminal("towns.yaml", folder=kept, EDITOR="cat", VISUAL="cat") as shell:
        shell.wait()
        for number in range(len(PRIVATE)):
            said = shell.type(f".read {number}.txt")
            assert "DPSQL-" in said and "line 1" in said, said
        shell.type(".explain", "\\e", "")
        assert SECRET not in shell.seen
        shell.press(b"\x04")
    for number in range(len(PRIVATE)):
        assert main(["towns.yaml", "-f", f"{number}.txt"]) == 1
        (kept / f"{number}.txt").unlink()
    out, err = capfd.readouterr()
    assert SECRET not in out + err and err.count("is not shown here") >= len(PRIVATE) - 2


def test_an_error_about_a_file_says_where_and_what_kind(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (kept / "q.sql").write_text("SELECT 1 AS a;\nSELECT COUNT(*)\n  FROM vists;\n")
    assert main(["towns.yaml", "-q", "-f", "q.sql"]) == 1
    assert capfd.readouterr().err == (
        "in q.sql, in the statement of line 2:\n"
        "DPSQL-101  there is no such table (line 3, column 8)\n"
        "The content of q.sql is not shown here.\n"
        "`dpsql help DPSQL-101` explains such errors.\n"
    )
    (kept / "q.sql").unlink()


def test_the_data_and_the_ledger_are_no_scripts(kept: Path) -> None:
    with terminal("towns.yaml", folder=kept) as shell:
        shell.wait()
        for name in ("visits.parquet", "towns.yaml", LEDGER, f"{LEDGER}.head"):
            assert "DPSQL-626" in shell.type(f".read {name}")
        shell.type(".quit")
    for name in ("visits.parquet", "towns.yaml", f"{LEDGER}.head"):
        assert main(["towns.yaml", "-f", name]) == 1


def test_a_file_that_reads_itself_ends(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (kept / "self.sql").write_text(".read self.sql\n")
    assert main(["towns.yaml", "-f", "self.sql"]) == 1
    assert "DPSQL-622" in capfd.readouterr().err
    (kept / "self.sql").unlink()


# --- the restricted shell

RESTRICTED = (".output r.csv", ".read q.sql", "\\e", "\\o r.csv", "\\i q.sql", ".edit SELECT 1")


@pytest.mark.parametrize("how", ["option", "metadata"])
def test_a_restricted_shell_touches_no_file(tmp_path: Path, how: str) -> None:
    yaml = write(tmp_path, more="restricted: true" if how == "metadata" else "")
    words = ["--restricted", str(yaml)] if how == "option" else [str(yaml)]
    (tmp_path / "q.sql").write_text("SELECT 4711 AS a;")
    before = {path.name for path in tmp_path.iterdir()}
    with terminal(*words, folder=tmp_path, EDITOR="touch started; cat") as shell:
        shell.wait()
        for line in RESTRICTED:
            assert "DPSQL-627" in shell.type(line), line
        shell.press(b".read q.sql\r\x1a")  # and Ctrl-Z, which stops nothing
        shell.wait()
        status = Path(f"/proc/{shell.process.pid}/status").read_text()
        ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
        assert ignored >> (signal.SIGTSTP - 1) & 1
        shell.press(b".read /etc/pass\t\t")
        shell.read(1)
        assert "/etc/passwd" not in shell.seen
        shell.press(b"\x03")
        assert "ε 99 left" in shell.type(f"{COUNT};")
        shell.type(".quit")
    for more in (["-f", "q.sql"], ["-o", "r.csv"], ["--source", "visits=visits.parquet"], ["--ledger", "x.ledger"],
                 ["--temp-folder", str(tmp_path)]):  # fmt: skip
        assert main([*words, *more, "-c", "SELECT 1"]) == 1, more
    made = {path.name for path in tmp_path.iterdir()} - before
    assert {name for name in made if not name.startswith(LEDGER)} <= {"state"}
    assert not list((tmp_path / "state").rglob("history")) if (tmp_path / "state").exists() else True


def test_restricted_metadata_binds_the_driver_and_the_frame(tmp_path: Path) -> None:
    import pandas

    yaml = write(tmp_path, more="restricted: true")
    people = pandas.read_parquet(tmp_path / "visits.parquet")
    for given in ({"source": {"visits": people}}, {"ledger": tmp_path / "x"}, {"temp_folder": tmp_path}):
        with pytest.raises(InterfaceError) as caught:
            dpsql.connect(yaml, **given)
        assert caught.value.code == "DPSQL-627"
    with pytest.raises(InterfaceError, match="DPSQL-627"):
        dpsql.PrivateFrame(people, yaml)
    with dpsql.connect(yaml) as conn:
        assert conn.restricted and conn.execute(COUNT).fetchall()
        with pytest.raises(InterfaceError, match="DPSQL-627"):
            conn.execute("SELECT 1 AS a").write(tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists() and not (tmp_path / "x").exists()
