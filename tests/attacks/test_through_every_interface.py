"""What the findings' second section found by statements and parameters (S7, S10), through the shell in a terminal, the
driver and the frame. The others: files and restricted shells (S1, S2) in test_files_of_interfaces.py, what was given by hand
and chosen ledgers (S3, S5) in test_given_by_hand.py, what is printed and pickled (S6) and Ctrl-C (S10) in
test_error_paths.py, folders and forks (S8, S9) in test_temporary_files.py, copies put back (S10) in test_interrupted.py."""

from __future__ import annotations

import datetime
import enum
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest

import dpsql
import dpsql.testing
from benchmarks._large_queries import LARGE
from dpsql.frames import sql_literals as words
from dpsql.samples.prepare import prepare
from tests.attacks.terminal import terminal

TWICE = "WITH a0 AS (SELECT duration AS x FROM df)" + "".join(
    f", a{n + 1} AS (SELECT a.x FROM a{n} a, a{n} b)" for n in range(14)
)
REFUSED = {
    'SELECT "foo"(1)': "DPSQL-107",
    'SELECT COUNT(*) AS "a\x00b" FROM df': "DPSQL-1",
    "SELECT COUNT(*) OVER w FROM df WINDOW w AS (w)": "DPSQL-1",
    f"{TWICE} SELECT COUNT(*) FROM a14": "DPSQL-138",
    LARGE["WHENs"](900).replace("visits", "df"): "DPSQL-138",
    LARGE["CUBE"](30).replace("visits", "df"): "DPSQL-111",
    LARGE["ORs"](5000).replace("visits", "df"): "DPSQL-100",
}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(prepare("hospital", tmp_path_factory.mktemp("hospital")))


@pytest.fixture(scope="module")
def frame() -> Iterator[dpsql.PrivateFrame]:
    rows = {"pid": list(range(100)), "duration": [float(n) for n in range(100)]}
    yield dpsql.PrivateFrame(pandas.DataFrame(rows), unit="pid", bounds={"duration": (0, 100)}, rows_per_unit=1,
                             budget=1000.0, epsilon=1.0, dataset="every interface")  # fmt: skip


def quickly(ask: Callable[[], object], code: str, seconds: float = 5.0) -> None:
    started = time.thread_time()  # processor time: a busy machine fails no test
    with pytest.raises(dpsql.Error) as caught:
        ask()
    assert caught.value.code.startswith(code) and not isinstance(caught.value, dpsql.InternalError), caught.value
    assert time.thread_time() - started < seconds


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:40].replace("\x00", "NUL"))
def test_the_driver_and_the_frame(hospital: Path, frame: dpsql.PrivateFrame, sql: str) -> None:
    with dpsql.connect(hospital) as connection:
        for ask in (connection.execute, connection.explain, connection.cost):
            quickly(lambda ask=ask: ask(sql.replace("df", "visits")), REFUSED[sql])
        assert connection.budget.spent.epsilon == 0
    if "CASE" not in sql:  # whoever asks a frame holds its data, and may ask larger questions
        quickly(lambda: frame.sql(sql), REFUSED[sql])
    assert frame.budget.spent.epsilon == 0


def test_the_shell(hospital: Path) -> None:
    with terminal(str(hospital), folder=hospital.parent) as shell:
        shell.wait()
        for sql, code in REFUSED.items():
            if "\x00" in sql or len(sql) > 4000:  # a terminal takes no NUL and no longer line
                continue
            assert code in shell.type(f"{sql.replace('df', 'visits')};"), sql[:60]
        (hospital.parent / "long.sql").write_text(LARGE["WHENs"](900) + ";")
        assert "DPSQL-138" in shell.type(".read long.sql")
        assert "ε 10 left" in shell.type("SELECT 1;")
        shell.type(".quit")
        assert shell.ended() == 0


# --- parameters bring no code of their own (S10)


class Text(str):
    """Reaches SQL unescaped, if it is asked to quote itself."""

    def replace(self, *given: Any) -> str:
        return self

    def __str__(self) -> str:
        return "' OR 1 = 1 --"

    def isprintable(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError


class Number(int):
    def __str__(self) -> str:
        return "0 OR 1 = 1"

    __repr__ = __str__
    __format__ = lambda self, form: "0 OR 1 = 1"  # noqa: E731 - short, beside the others


class Real(float):
    def __repr__(self) -> str:
        return "0 OR 1 = 1"

    def hex(self) -> str:
        return "0"


class Exact(Decimal):
    def __str__(self) -> str:
        return "0 OR 1 = 1"

    def __format__(self, *given: Any) -> str:
        return "0 OR 1 = 1"


class Part(Fraction):
    numerator = property(lambda self: Number(3))


class Day(datetime.date):
    def isoformat(self) -> str:
        return "2020-01-01' OR 1 = 1 --"

    def toordinal(self) -> int:
        raise RuntimeError


class Moment(datetime.datetime):
    def isoformat(self, *given: Any) -> str:
        return "2020-01-01' OR 1 = 1 --"

    def date(self) -> datetime.date:
        raise RuntimeError


class Word(enum.StrEnum):
    NOBODY = "nobody's name"


HOSTILE = [
    ("referrer = ?", Text("nobody's name")),
    ("referrer = ?", Word.NOBODY),
    ("visit_id = ?", Number(-5)),
    ("duration = ?", Real(-5.5)),
    ("duration = ?", Exact("-5.5")),
    ("visited_on = ?", Day(1999, 1, 1)),
    ("CAST(visited_on AS TIMESTAMP) = ?", Moment(1999, 1, 1)),
    ("CAST(visited_on AS TIMESTAMP) = ?", pandas.Timestamp("1999-01-01")),
]


@pytest.mark.parametrize(("where", "value"), HOSTILE, ids=lambda value: type(value).__name__)
def test_a_parameter_is_its_value_whatever_it_says_of_itself(hospital: Path, where: str, value: Any) -> None:
    with dpsql.testing.exact(hospital) as connection:
        assert connection.execute(f"SELECT COUNT(*) FROM visits WHERE {where}", [value]).fetchall() == [(0,)]


def test_what_cannot_be_made_plain_is_refused(hospital: Path) -> None:
    with dpsql.connect(hospital) as connection:
        for value in (Part(1, 2), pandas.NaT, object(), b"x", [1]):
            quickly(
                lambda value=value: connection.explain("SELECT COUNT(*) FROM visits WHERE duration = ?", [value]),
                "DPSQL-109",
            )


def test_the_statement_itself_is_its_text(hospital: Path) -> None:
    class Sql(str):
        def __getitem__(self, place: Any) -> str:
            return Text(super().__getitem__(place))

    with dpsql.testing.exact(hospital) as connection:
        sql = Sql("SELECT COUNT(*) FROM visits WHERE referrer = 'nobody''s name'")
        assert connection.execute(sql).fetchall() == [(0,)]
    assert words.value(Text("it's")) == "'it''s'" and words.name(Text('a"b')) == '"a""b"'
