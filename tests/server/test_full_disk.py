"""A full disk under the ledger, files that are gone: a coded error, nothing without a charge, and it goes on afterwards."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dpsql.errors import LedgerError, SourceError, SqlError
from dpsql.server.worker import without_folders
from tests.server.kills import charges
from tests.server.started import started, write_data
from tests.server.test_postgres import dsn, give_passwords

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE cost > {}"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")  # only root can make a disk that fills up
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """To the last byte."""
    size = 1 << 16
    with contextlib.closing(os.fdopen(os.open(folder / "filler", os.O_WRONLY | os.O_CREAT), "wb", 0)) as file:
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    return folder / "filler"


@pytest.mark.slow
def test_a_full_disk_under_the_ledger_refuses_and_the_server_goes_on(small: Path, tmp_path: Path) -> None:
    metadata = write_data(small)
    with started(metadata, "--audit", str(tmp_path / "audit"), "--postgres-port", "0") as server:
        give_passwords(server)
        with psycopg.connect(**dsn(server), autocommit=True) as wire:
            first = server.query(COUNT.format(1)).tree["rows"]
            wire.execute("SELECT 1 AS a")
            filler, before = fill(small), len(charges(metadata))
            answered = 0
            for i in range(10, 14):
                reply = server.query(COUNT.format(i))
                answered += reply.status == 200
                assert reply.status == 200 or reply.code == "DPSQL-420" and "free space" in reply.tree["error"]["fix"]
                assert str(small) not in reply.body.decode()  # where it is, is the owner's
            with pytest.raises(psycopg.Error, match="DPSQL-420"):
                for i in range(20, 24):
                    wire.execute(COUNT.format(i))
                    answered += 1
            assert answered < 4 and len(charges(metadata)) == before + answered
            assert server.query(COUNT.format(1)).tree["rows"] == first  # a repeat needs no room
            assert server.request("GET", "/v1/budget").status == server.request("GET", "/health").status == 200
            filler.unlink()
            assert server.query(COUNT.format(10)).status == server.query(COUNT.format(13)).status == 200
            assert wire.execute(COUNT.format(23)).fetchone() is not None
            assert len(charges(metadata)) >= before + 3 and server.stop() == 0
            assert "Traceback" not in server.log()


@pytest.mark.slow
def test_files_that_are_gone_are_named_without_their_folder(visits: Path) -> None:
    with started(visits) as server:
        for name, code in (("visits.parquet", "DPSQL-301"), ("visits.yaml", "DPSQL-300")):
            (visits.parent / name).rename(visits.parent / "gone")
            reply = server.query(COUNT.format(2))
            assert reply.code == code and str(visits.parent) not in reply.body.decode()
            (visits.parent / "gone").rename(visits.parent / name)
        assert server.query(COUNT.format(2)).status == 200
        assert "Traceback" not in server.log() and str(visits.parent / "visits.parquet") in server.log()
    assert len(charges(visits)) == 1


def test_folders_are_left_out_where_files_are_named() -> None:
    told = without_folders(LedgerError("cannot be read: /srv/a/b/x.ledger", why="/srv/d/e: No space.", fix="Do."))
    assert (told.what, told.why) == ("cannot be read: x.ledger", "e: No space.")
    assert without_folders(SourceError("no file /srv/d/visits.parquet")).what == "no file visits.parquet"
    assert without_folders(SqlError("'/srv/d/x' is no number")).what == "'/srv/d/x' is no number"
