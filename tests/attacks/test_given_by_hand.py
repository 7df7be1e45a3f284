"""What a caller brings along decides nothing for others: data, ledgers, links (S3, S5)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas
import pytest

import dpsql
from dpsql.errors import InterfaceError
from dpsql.shell.main import main
from tests.attacks.terminal import terminal
from tests.worlds import people
from tests.worlds.towns import COUNT, save, write


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    """60 people; beside them a sample of 3,000 that somebody made up."""
    path = write(tmp_path)
    (tmp_path / "made").mkdir()
    save(tmp_path / "made", range(3000))
    shutil.copy(tmp_path / "made" / "visits.parquet", tmp_path / "sample.parquet")
    return path


def is_real(rows: list[tuple[Any, ...]]) -> bool:
    return all(-100 < n < 200 for _, n in rows)


def test_a_samples_answer_is_no_answer_about_the_data(yaml: Path, tmp_path: Path) -> None:
    """In every order, by the driver: what was asked of a sample does not answer for the data, nor for another sample."""
    save(tmp_path / "made", range(9000))
    given = {"file": tmp_path / "sample.parquet", "frame": pandas.read_parquet(tmp_path / "sample.parquet")}
    spent = 0
    for source in (*given.values(), tmp_path / "made" / "visits.parquet"):
        with dpsql.connect(yaml, source={"visits": source}) as conn:
            asked = conn.execute(COUNT)
            assert not is_real(asked.fetchall()) and not asked.privacy.repeated
            spent += 1
            assert conn.budget.spent.epsilon == spent
    with dpsql.connect(yaml) as conn:
        real = conn.execute(COUNT)
        assert is_real(real.fetchall()) and not real.privacy.repeated
        assert conn.execute(COUNT).privacy.repeated
    with dpsql.connect(yaml, source=tmp_path / "sample.parquet") as conn:
        assert not conn.execute(COUNT).privacy.repeated


def test_a_query_id_names_a_run_over_the_same_data(yaml: Path, tmp_path: Path) -> None:
    sample = tmp_path / "sample.parquet"
    with dpsql.connect(yaml, source=sample) as conn:
        rows = conn.execute(COUNT, query_id="one").fetchall()
    with dpsql.connect(yaml, source=sample) as conn:  # the same file: a retry
        assert conn.execute(COUNT, query_id="one").fetchall() == rows
        assert conn.budget.spent.epsilon == 1
    for source in (None, {"visits": pandas.read_parquet(sample)}, tmp_path / "made" / "visits.parquet"):
        with dpsql.connect(yaml, source=source) as conn, pytest.raises(InterfaceError) as caught:
            conn.execute(COUNT, query_id="one")
        assert caught.value.code == "DPSQL-412"


def test_a_frames_answer_is_its_own(yaml: Path, tmp_path: Path) -> None:
    """Two frames of one metadata file, and the shell: none answers for another."""
    few, many = pandas.read_parquet(tmp_path / "visits.parquet"), pandas.read_parquet(tmp_path / "sample.parquet")
    assert not is_real(dpsql.PrivateFrame(many, yaml).sql(COUNT.replace("visits", "df")).fetchall())
    assert is_real(dpsql.PrivateFrame(few, yaml).sql(COUNT.replace("visits", "df")).fetchall())
    with dpsql.connect(yaml) as conn:
        asked = conn.execute(COUNT)
        assert is_real(asked.fetchall()) and not asked.privacy.repeated
        assert conn.budget.spent.epsilon == 3


def test_the_shell_is_not_told_a_samples_answer(yaml: Path, tmp_path: Path) -> None:
    with terminal(str(yaml), "--source", "visits=sample.parquet", folder=tmp_path) as shell:
        shell.wait()
        assert "cost ε = 1" in shell.type(f"{COUNT};")
        shell.type(".quit")
    with terminal(str(yaml), folder=tmp_path) as shell:
        shell.wait()
        said = shell.type(f"{COUNT};")
        assert "a repeat" not in said and "cost ε = 1" in said
        shell.type(".quit")


def test_a_link_to_metadata_reads_no_other_data_and_has_no_other_ledger(yaml: Path, tmp_path: Path) -> None:
    """Beside a link somebody may put files of the names that the metadata's relative paths have."""
    yaml.write_text(yaml.read_text() + "ledger: spent.ledger\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "towns.yaml").symlink_to(yaml)
    shutil.copy(tmp_path / "sample.parquet", elsewhere / "visits.parquet")
    with dpsql.connect(elsewhere / "towns.yaml") as conn:
        assert is_real(conn.execute(COUNT).fetchall())
    with dpsql.connect(yaml) as conn:
        assert conn.execute(COUNT).privacy.repeated
        assert conn.budget.spent.epsilon == 1
    assert [path.name for path in elsewhere.iterdir() if "ledger" in path.name] == []


def test_the_metadata_is_said_to_change_only_when_it_does(yaml: Path, tmp_path: Path) -> None:
    with dpsql.connect(yaml, source=tmp_path / "sample.parquet") as conn:
        conn.execute(COUNT)
    with dpsql.connect(yaml) as conn:
        assert conn.notices == ()
    yaml.write_text(yaml.read_text().replace("upper: 10", "upper: 11"))
    with dpsql.connect(yaml) as conn:
        assert any("metadata changed" in notice for notice in conn.notices)


@pytest.mark.parametrize("existing", [False, True])
def test_the_caller_chooses_no_ledger(yaml: Path, tmp_path: Path, existing: bool) -> None:
    """Not before the first charge either, when there is none yet: every choice would be a whole budget."""
    if existing:
        with dpsql.connect(yaml) as conn:
            conn.execute(COUNT)
    for number in range(3):
        with pytest.raises(InterfaceError) as caught:
            dpsql.connect(yaml, ledger=tmp_path / f"x{number}")
        assert caught.value.code == "DPSQL-426"
        assert f"`ledger: {tmp_path / f'x{number}'}`" in str(caught.value) and "towns.yaml" in str(caught.value)
    assert not list(tmp_path.glob("x*"))
    with dpsql.connect(yaml, ledger=f"{yaml}.ledger") as conn:  # saying again what is so is no choice
        conn.execute(COUNT)
        assert conn.budget.spent.epsilon == 1


def test_the_shell_chooses_no_ledger(yaml: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(yaml), "--ledger", str(tmp_path / "x1"), "-c", COUNT]) == 1
    assert "DPSQL-426" in capfd.readouterr().err and not (tmp_path / "x1").exists()
    with terminal(str(yaml), "--ledger", "x1", folder=tmp_path) as shell:
        assert shell.ended() == 1
        assert "DPSQL-426" in shell.seen


def test_what_the_yaml_says_is_where_it_is(yaml: Path, tmp_path: Path) -> None:
    yaml.write_text(yaml.read_text() + "ledger: kept/spent.ledger\n")
    (tmp_path / "kept").mkdir()
    with dpsql.connect(yaml) as conn:
        conn.execute(COUNT)
    assert (tmp_path / "kept" / "spent.ledger").exists() and not (tmp_path / "towns.yaml.ledger").exists()
    for place in ("other.ledger", "towns.yaml.ledger"):
        with pytest.raises(InterfaceError, match="DPSQL-426"):
            dpsql.connect(yaml, ledger=tmp_path / place)


def test_a_catalog_that_is_no_file_has_the_ledger_it_is_given(tmp_path: Path) -> None:
    catalog = people({}, unit="id", rows_per_unit=1, budget={"epsilon": 2}, per_query={"epsilon": 1})
    source = {"t": pandas.DataFrame({"id": [1, 2]})}
    for _ in range(2):
        with dpsql.connect(catalog, source=source, ledger=tmp_path / "own.ledger") as conn:
            conn.execute("SELECT COUNT(*) AS n FROM t")
    with dpsql.connect(catalog, source=source, ledger=tmp_path / "own.ledger") as conn:
        assert conn.budget.left.epsilon == 0
    with pytest.raises(InterfaceError, match="DPSQL-426"):
        dpsql.connect({**catalog, "ledger": str(tmp_path / "said")}, source=source, ledger=tmp_path / "own.ledger")
