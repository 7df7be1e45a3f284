"""The samples have the totals that are promised, the same on every machine, and fit their catalogs."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from dpsql.catalog.model import FileSource
from dpsql.domain.types import Kind
from dpsql.errors import InterfaceError
from dpsql.metadata.load import load
from dpsql.samples.__main__ import main
from dpsql.samples.generate import SAMPLES, generate
from dpsql.samples.prepare import prepare


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("samples")
    for name in SAMPLES:
        prepare(name, place)
    return place


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(sql.replace("'data/", f"'{folder}/data/")).fetchall()


def test_student(folder: Path) -> None:
    table = "'data/student/student.parquet'"
    assert rows(folder, f"SELECT famsize, count(*) FROM {table} GROUP BY ALL ORDER BY 2") == [
        ("LE3", 192),
        ("GT3", 457),
    ]
    ranges = f"SELECT min(age), max(age), min(absences), max(absences), min(G3), max(G3), count(*) FROM {table}"
    assert rows(folder, ranges) == [(15, 25, 0, 50, 0, 20, 649)]
    assert rows(folder, f"SELECT DISTINCT school FROM {table} ORDER BY ALL") == [("GP",), ("MS",)]


def test_hospital(folder: Path) -> None:
    per_patient = "(SELECT count(*) n FROM 'data/hospital/visits.parquet' GROUP BY patient_id)"
    sql = f"SELECT min(n), max(n), count(*) FILTER (n <= 5), count(*) FROM {per_patient}"
    assert rows(folder, sql) == [(1, 22, 4250, 5000)]


def test_browser_logs(folder: Path) -> None:
    table = "'data/browser_logs/browser_logs.parquet'"
    assert rows(folder, f"SELECT count(DISTINCT person_id) FROM {table}") == [(9000,)]
    assert rows(folder, f"SELECT max(visited_at) - min(visited_at) < INTERVAL 7 DAY FROM {table}") == [(True,)]
    domains = f"(SELECT domain, count(DISTINCT person_id) n FROM {table} GROUP BY domain)"
    assert rows(folder, f"SELECT count(*) FROM {domains} WHERE n >= 1000") == [(20,)]
    ((rare,),) = rows(folder, f"SELECT count(*) FROM {domains} WHERE n < 10")
    assert isinstance(rare, int)
    assert rare > 2000


def test_exam(folder: Path) -> None:
    scores = [score for (score,) in rows(folder, "SELECT score FROM 'data/exam/exam.parquet' ORDER BY student_id")]
    assert scores == [85, 84, 85, 89, 92, 95, 100, 83, 70, 67]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_every_time(name: str) -> None:
    for first, second in zip(SAMPLES[name]().values(), SAMPLES[name]().values(), strict=True):
        for column in first.columns:
            assert np.ma.getdata(first.columns[column]).tolist() == np.ma.getdata(second.columns[column]).tolist()


SQL_TYPES = {
    "BIGINT": Kind.INTEGER,
    "INTEGER": Kind.INTEGER,
    "DOUBLE": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
    "BOOLEAN": Kind.BOOLEAN,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_catalog_fits_the_data(name: str, folder: Path) -> None:
    catalog = load(folder / "metadata" / f"{name}.yaml")
    for table in catalog.tables:
        assert isinstance(table.source, FileSource)
        (path,) = table.source.paths
        described = rows(folder, f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '{path}')")
        assert {column: SQL_TYPES[str(type_)] for column, type_ in described} == {
            column.name: column.type.kind for column in table.columns
        }
        for column in table.columns:
            if column.keys is not None:
                values = {value for (value,) in rows(folder, f"SELECT DISTINCT \"{column.name}\" FROM '{path}'")}
                assert values == set(column.keys)


def test_the_smartnoise_columns_are_the_table_s(folder: Path) -> None:
    theirs = load(Path(__file__).parents[3] / "metadata" / "student_smartnoise.yaml").tables[0]
    ours = load(folder / "metadata" / "student.yaml").tables[0]
    for column in theirs.columns:
        same = ours.column(column.name)
        assert same is not None
        assert (same.type, same.interval) == (column.type, column.interval)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["exam", "--into", str(tmp_path)])
    assert capsys.readouterr().out == f"{tmp_path / 'exam' / 'exam.parquet'}\n"
    with pytest.raises(SystemExit):
        main(["nothing"])
    with pytest.raises(InterfaceError):
        prepare("nothing", tmp_path)


def test_a_folder_with_a_quote(tmp_path: Path) -> None:
    (path,) = generate("exam", tmp_path / "it's")
    assert path.is_file()
