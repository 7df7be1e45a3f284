"""Where a password comes from, and where it never goes; `dpsql init` and `dpsql check` of a database."""

from __future__ import annotations

import logging
import os
import select
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import dpsql
from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.catalog.model import Catalog
from dpsql.engine.hardening import Limits
from dpsql.engine.public import PublicReader
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Address
from dpsql.engine.sources import Server as Source
from dpsql.engine.vault import Vault
from dpsql.errors import Error, SourceError
from dpsql.metadata.load import load
from dpsql.shell.main import main
from dpsql.sources.belongings import Belongings, Target, of_catalog
from dpsql.sources.identity import check_identity
from tests.engines.postgres import COLLATED, GUARDED, PASSWORD, PLAIN, READER, Server


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    postgres.execute(
        """
        CREATE TABLE stays (person bigint, ward text, days integer, cost numeric(10,2), since date, notes json);
        INSERT INTO stays VALUES (1, 'a', 2, 1.50, '2026-01-01', '{}'), (2, NULL, NULL, 'NaN', 'infinity', NULL);
        CREATE TABLE wards (name text, beds integer, rate real, size double precision, open timestamptz, tags text[]);
        INSERT INTO wards VALUES
            ('a', 7, 0.1, 1e308, '2026-07-01 12:00:00+02', '{x}'), ('é', NULL, 'NaN', '-inf', NULL, NULL);
        """
    )
    return postgres


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))  # no ~/.pgpass


def opens(source: Source) -> int:
    with Vault.open({"t": source}) as vault:
        return int(vault.run("SELECT count(*) AS n FROM public.stays")["n"][0])


def guarded(server: Server, **more: object) -> Source:
    return server.table("stays", user=GUARDED, **more)


def test_a_password_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert opens(guarded(server)) == 2


def test_a_password_from_libpqs_file(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "pass"
    path.write_text(f"*:*:*:{GUARDED}:{PASSWORD}\n")
    path.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(path))
    assert opens(guarded(server)) == 2


def test_a_password_from_a_service_file(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "services"
    path.write_text(f"[mine]\nhost={server.folder}\ndbname={PLAIN}\nuser={GUARDED}\npassword={PASSWORD}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(path))
    assert opens(Source(address=Address(parameters=(("service", "mine"),)), schema="public", table="stays")) == 2


def test_a_password_from_a_file_of_its_own(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(f"{PASSWORD}\nanything\n")
    assert opens(guarded(server, password_file=path)) == 2
    for text in ("", "\nx"):
        path.write_text(text)
        with pytest.raises(SourceError, match="first line is empty") as caught:
            opens(guarded(server, password_file=path))
        assert caught.value.number == 315


def test_no_interface_reads_the_file_of_a_password(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(PASSWORD)
    belongings = Belongings(of_catalog(catalog(tmp_path, server.url()), [guarded(server, password_file=path)]))
    assert belongings.holds(Target.of(path)) and not belongings.holds(Target.of(tmp_path / "other"))
    belongings.close()


def test_no_password_and_a_wrong_one_are_told_apart(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match="asks for a password, and none was found") as caught:
        opens(guarded(server))
    assert caught.value.number == 315
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(SourceError, match="the password that it was given is not the role's"):
        opens(guarded(server))


def test_why_a_database_cannot_be_connected_to_is_said_without_names(server: Server, run: Run) -> None:
    missing = server.url("no-database-of-that-name"), server.url(user="nobody-there")
    reasons = dict.fromkeys(missing, "it has no such role or database")
    reasons["postgresql://reader@127.0.0.1:1/plain"] = "no server answers there"
    reasons["postgresql://reader@/plain?host=%2Fno-such-folder"] = "no server answers there"
    reasons["postgresql://reader@no-such-host.invalid/plain"] = "there is no host of that name"
    reasons["postgresql:///?service=no-such-service"] = "the service file has no such service"
    reasons[server.url() + "&port=no-port"] = "libpq does not take a value in the address"
    reasons["postgresql://reader@127.0.0.1:99999/plain"] = "libpq does not take a value in the address"
    reasons[server.url() + "&target_session_attrs=standby"] = "not as target_session_attrs asks"
    for url, reason in reasons.items():
        code, said = run("init", url)
        assert code != 0 and "DPSQL-315" in said and reason in said, said
        assert "no-" not in said and "nobody" not in said and "log" not in said


def everything(error: BaseException) -> str:
    """What may be printed of an error, the values of dpsql's and the driver's frames among it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != __file__]
    assert frames
    return str(error) + repr(error) + str(error.__dict__) + repr([frame.f_locals for frame in frames])


@pytest.mark.parametrize("user", [GUARDED, "nobody-there"])
@pytest.mark.parametrize("way", ["environment", "file"])
def test_the_password_is_in_nothing_that_is_said(
    server: Server,
    user: str,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Of a vault that opens and of one that does not, of a statement that fails, to the owner too."""
    secret, file, told = PASSWORD, tmp_path / "secret", list[str]()
    if user != GUARDED:
        secret += "x"
    file.write_text(secret)
    if way == "environment":
        monkeypatch.setenv("PGPASSWORD", secret)
    more = {"password_file": file} if way == "file" else {}
    source = server.table("stays", user=user, **more)
    nowhere = Address(parameters=(("host", "/nowhere"), ("dbname", "d"), ("user", user)))
    broken = Source(address=nowhere, schema="s", table="t")
    said = [repr(source)]
    with caplog.at_level(logging.DEBUG):
        for one in (source, broken):
            try:
                with Vault.open({"t": one}, owner_log=told.append) as vault, vault.snapshot() as snapshot:
                    snapshot.start()
                    said.append(repr(vault) + repr(snapshot._run._connection) + str(vault.identity("t")))  # type: ignore[attr-defined]
                    snapshot.run("SELECT ward::bigint AS w FROM public.stays")
            except Error as error:
                said.append(everything(error))
    assert len(said) == (4 if user == GUARDED else 3) and len(told) == 2
    assert PASSWORD not in "".join([*said, *told, *capfd.readouterr()]) + caplog.text


def test_where_the_driver_is_missing_it_says_how_to_get_it() -> None:
    script = """
import sys
sys.modules["psycopg"] = None
import dpsql
from dpsql.engine.sources import Address, Server
from dpsql.engine.vault import Vault
try:
    Vault.open({"t": Server(address=Address(parameters=()), schema="s", table="t")})
except dpsql.SourceError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("DPSQL-314") and "pip install 'dpsql[postgres]'" in done.stdout and done.stderr == ""


def test_the_driver_is_not_loaded_without_a_server() -> None:
    script = "import sys, dpsql, dpsql.shell.main, dpsql.engine.vault, dpsql.session; print('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


def test_a_database_in_another_encoding_is_refused(server: Server) -> None:
    server.execute("CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0", database="postgres")
    with pytest.raises(SourceError, match="LATIN1") as caught:
        opens(server.table("stays", database="latin"))
    assert caught.value.number == 319


def test_public_tables_come_to_scratch(server: Server) -> None:
    with PublicReader({"wards": server.table("wards")}, Limits()) as reader, Scratch() as scratch:
        scratch.load_stream("w", reader.stream(f"SELECT * FROM {reader.relation('wards')}"))
        rows = scratch.query(
            "SELECT name, TRY_CAST(beds AS INTEGER), TRY_CAST(rate AS DOUBLE) = 0.1::FLOAT, TRY_CAST(size AS DOUBLE),"
            " TRY_CAST(open AS TIMESTAMP)::VARCHAR FROM w ORDER BY name"
        ).fetchall()
    assert rows == [("a", 7, True, 1e308, "2026-07-01 10:00:00"), ("é", None, False, float("-inf"), None)]


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """dpsql with these words: the exit code, and all that it prints."""

    def invoke(*words: str) -> tuple[int, str]:
        capfd.readouterr()
        return int(main(words)), "".join(capfd.readouterr())

    return invoke


def test_init_begins_metadata_that_fits(server: Server, run: Run, tmp_path: Path) -> None:
    url, path = server.url(), tmp_path / "stays.yaml"
    code, said = run("init", url, "--table", "stays", "-o", str(path))
    assert code == 0, said
    text = path.read_text()
    assert f'source: {{database: "{url}", table: public.stays}}' in text
    assert "# notes: json: its equality is not the values'; left out" in text
    filled = {
        "unit: TODO             #": "unit: person #",
        "unit: TODO ": "unit: p ",
        "version: TODO": "version: a",
        "description: TODO": "# ",
        "epsilon: TODO, delta: TODO": "epsilon: 1, delta: 1.0e-6",
    }
    for was, now in filled.items():
        text = text.replace(was, now)
    path.write_text(text)
    code, said = run("check", str(path), "--source")
    assert code == 0 and "the source has more columns, which nobody can ask for: notes" in said, said
    assert "does not convert" not in said
    path.write_text(path.read_text().replace("days: integer", "days: date").replace("ward: text", "wards: text"))
    code, said = run("check", str(path), "--source", url)
    assert code != 0
    assert '"days" is date here and integer in the source' in said and 'no column "wards"' in said


def test_init_begins_metadata_of_all_tables_of_a_schema(server: Server, run: Run) -> None:
    server.execute(
        "CREATE SCHEMA shop; CREATE SCHEMA other; CREATE TABLE other.wares (x integer);"
        "CREATE TABLE shop.people (id bigint PRIMARY KEY, name text);"
        "CREATE TABLE shop.orders (a bigint, b bigint, who bigint REFERENCES shop.people, PRIMARY KEY (b, a));"
        "CREATE TABLE shop.items (n integer, y bigint, x bigint, FOREIGN KEY (x, y) REFERENCES shop.orders (b, a));"
        "CREATE VIEW shop.shaken AS SELECT random() AS x; CREATE TABLE shop.secret (x integer);"
        f"GRANT USAGE ON SCHEMA shop, other TO {READER}; GRANT SELECT ON ALL TABLES IN SCHEMA shop, other TO {READER};"
        f"REVOKE SELECT ON shop.secret FROM {READER}"
    )
    code, said = run("init", server.url(), "--table", "shop.*")
    assert code == 0, said
    assert [line for line in said.splitlines() if line.startswith("  ") and line[2] != " "] == [
        "  items:", "  orders:", "  people:"
    ]  # fmt: skip
    assert "shop.shaken is left out: DPSQL-316" in said and "secret" not in said and "wares" not in said
    assert "# unit: {through: people, on: {who: id}}" in said and "# primary key: b, a" in said
    assert "# unit: {through: orders, on: {x: b, y: a}}" in said
    code, said = run("init", server.url())
    assert code == 0 and "  wares:" in said and "table: shop.items}" in said and "dataset: plain " in said
    code, said = run("init", server.url(), "--table", "shopp.*")
    assert code != 0 and "the schema shopp has no tables" in said
    code, said = run("init", server.url(), "--table", "wares")
    assert code != 0 and "no table public.wares that the role may read" in said and "There is other.wares. " in said
    server.execute("CREATE TABLE other.items (x integer)")
    server.execute(f"GRANT SELECT ON other.items TO {READER}")
    code, said = run("init", server.url())
    assert code != 0 and "There are other.items, " in said and "--table other.items" in said
    server.execute("DROP SCHEMA shop, other CASCADE")


@pytest.mark.parametrize("command", [["init"], ["check", "{yaml}", "--source"]])
def test_a_password_in_a_command_is_refused_and_not_repeated(
    command: list[str], tmp_path: Path, server: Server, run: Run
) -> None:
    yaml = tmp_path / "d.yaml"
    yaml.write_text(METADATA.format(source=server.url(), more=""))
    words = [word.format(yaml=yaml) for word in command]
    code, said = run(*words, f"postgresql://u:{PASSWORD}@h/d")
    assert code != 0 and "318" in said and PASSWORD not in said


@pytest.mark.parametrize(
    "scheme", ["postgres//", "postgresql:/", "postgresql//", "postgressql://", "jdbc:postgresql://"]
)
def test_a_password_behind_a_misspelt_scheme_is_not_repeated(scheme: str, tmp_path: Path, run: Run) -> None:
    address = f"{scheme}u:{PASSWORD}@h/d"
    code, said = run("init", address)
    assert code != 0 and "DPSQL-3" in said and PASSWORD not in said
    yaml = tmp_path / "d.yaml"
    yaml.write_text(METADATA.format(source=f'"{address}"', more=""))
    assert PASSWORD not in run("check", str(yaml), "--source")[1]
    yaml.write_text(yaml.read_text().replace(f'    source: "{address}"\n', ""))
    for source in (address, {"stays": address}, {"stays": {"database": address, "table": "stays"}}):
        with pytest.raises(dpsql.Error) as caught, dpsql.connect(yaml, source=source) as connection:
            connection.execute("SELECT COUNT(*) FROM stays")
        assert PASSWORD not in everything(caught.value)


def test_locked_tables_are_waited_for_until_the_timeout(server: Server) -> None:
    server.execute("CREATE TABLE busy (u bigint)")
    with server.connect() as other:
        other.execute("BEGIN; LOCK TABLE busy IN ACCESS EXCLUSIVE MODE")
        source = server.table("busy", timeout=1)
        with pytest.raises(SourceError, match="within its `timeout:`; perhaps somebody has locked them"):
            Vault.open({"t": source})
        other.execute("ROLLBACK")


METADATA = """
dataset: d
unit: person
budget: {{epsilon: 10, delta: 1.0e-6}}
tables:
  stays:
    source: {source}
    unit: person
    rows_per_unit: 1
    columns: {{person: integer, days: {{type: integer, lower: 0, upper: 9}}}}
{more}
"""


def catalog(tmp_path: Path, source: str) -> Catalog:
    path = tmp_path / "d.yaml"
    path.write_text(METADATA.format(source=source, more=""))
    return load(path)


@contextmanager
def over_tcp(server: Server) -> Iterator[int]:
    """A port of this machine that leads to the server's socket."""
    number = server.execute("SHOW port")[0][0]

    def carry(caller: socket.socket) -> None:
        with caller, socket.socket(socket.AF_UNIX) as inner, suppress(OSError):
            inner.connect(str(server.folder / f".s.PGSQL.{number}"))
            other = {caller: inner, inner: caller}
            while True:
                for end in select.select([*other], [], [])[0]:
                    if not (part := end.recv(1 << 16)):
                        return
                    other[end].sendall(part)

    def serve() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                carry(listening.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_the_ledger_knows_the_database_by_what_it_says_of_itself(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.sources.table_sources import declared_source

    ledger = Ledger.open(tmp_path / "ledger", Account(dataset="d", epsilon=None, capped=False))

    def opened(source: str) -> None:
        declared = list(catalog(tmp_path, source).tables)
        with Vault.open({table.name: declared_source(table) for table in declared}) as vault:
            check_identity(vault, declared, ledger)

    link, services = tmp_path / "link", tmp_path / "services"
    link.symlink_to(server.folder)
    services.write_text(f"[hospital]\nhost={server.folder}\ndbname={PLAIN}\nuser=reader\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    opened(server.url())
    opened(f"postgresql://owner@/{PLAIN}?host={link}&application_name=other")  # another spelling, another user
    opened("postgresql:///?service=hospital")
    for host in ("127.0.0.1", "localhost"):
        with over_tcp(server) as port:
            opened(f"postgresql://reader@{host}:{port}/{PLAIN}")
    port = server.execute("SHOW port")[0][0]
    opened(f"postgres://reader@:{port}/{PLAIN}?host={link}&connect_timeout=3")
    server.execute("CREATE TABLE public.stays (person bigint, days integer)", database=COLLATED)
    with pytest.raises(SourceError, match="in another database, than the one on which the budget was spent") as caught:
        opened(server.url(COLLATED))
    assert caught.value.number == 317
    (system,) = server.execute("SELECT system_identifier::text FROM pg_control_system()")[0]
    opened(
        f'{{database: "{server.url(COLLATED)}", table: stays, system: "{system}"}}'
    )  # the owner says that it is meant
    with pytest.raises(SourceError):
        opened(server.url())
    recorded = "".join(entry.detail or "" for entry in ledger.rows())
    assert system in recorded and str(server.folder) not in recorded and "reader" not in recorded
    ledger.close()
