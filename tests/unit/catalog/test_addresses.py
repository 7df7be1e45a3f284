"""Addresses of databases in metadata and by hand: what is taken, what is refused, and that no password is ever repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsql.catalog.fingerprint import fingerprint
from dpsql.catalog.model import Catalog, ServerSource
from dpsql.engine.sources import Server
from dpsql.errors import CatalogError, Error, SourceError
from dpsql.metadata.addresses import AddressError, read_address
from dpsql.metadata.load import loads
from dpsql.sources.given import by_hand
from dpsql.sources.table_sources import declared_source, engine_of_private, overrides

PASSWORD = "sentinel-password-7f3a"
YAML = """
dataset: d
version: "1"
unit: person
budget: {{epsilon: 10, delta: 1.0e-6}}
tables:
  visits:
    source: {source}
    unit: u
    rows_per_unit: 1
    columns: {{u: integer, x: {{type: integer, lower: 0, upper: 9}}}}
{more}
"""


def catalog(source: str, more: str = "") -> Catalog:
    return loads(YAML.format(source=source, more=more))


def the_source(source: str) -> ServerSource:
    (table,) = catalog(source).tables
    assert isinstance(table.source, ServerSource)
    return table.source


@pytest.mark.parametrize(
    ("text", "database", "parameters"),
    [
        ("postgresql://h/d", "d", {"host": "h"}),
        ("postgres://u@h:5433/d", "d", {"host": "h", "port": "5433", "user": "u"}),
        ("postgresql:///d", "d", {}),
        ("postgresql:///?service=s", None, {"service": "s"}),
        ("postgresql:///d?service=s&user=u", "d", {"service": "s", "user": "u"}),
        ("postgresql://u@[::1]:5432/d", "d", {"host": "::1", "port": "5432", "user": "u"}),
        (
            "postgresql://u%40x@%2Ftmp%2Fsock/d%20b?sslmode=verify-full",
            "d b",
            {"host": "/tmp/sock", "user": "u@x", "sslmode": "verify-full"},
        ),
        ("postgresql://h/d?application_name=%C3%A9", "d", {"host": "h", "application_name": "é"}),
    ],
)
def test_addresses(text: str, database: str | None, parameters: dict[str, str]) -> None:
    address = read_address(text)
    assert (address.database, dict(address.parameters)) == (database, parameters)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://h",
        "postgresql://h/",
        "postgresql://h,i/d",
        "postgresql:///d?host=h,i",
        "postgresql://h/d?options=-c%20row_security%3Don",
        "postgresql://h/d?client_encoding=LATIN1",
        "postgresql://h/d?host=i",
        "postgresql://h/d?sslmode",
        "postgresql://h/d#x",
        "postgresql://h/d/e",
        "postgresql://h:99999999/d",
        "postgresql://h:x/d",
        "postgresql://h/%ff",
        "postgresql://h/%00",
        "postgresql://h/d\n",
        "postgresql://",
    ],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(AddressError) as caught:
        read_address(text)
    assert not caught.value.secret


WITH_PASSWORD = [
    f"postgresql://u:{PASSWORD}@h/d",
    f"postgresql://:{PASSWORD}@h/d",
    f"postgresql://u%3A{PASSWORD}@h/d",
    f"postgresql://u:a@b/{PASSWORD}@h/d",
    f"postgresql://u:{PASSWORD}#@h/d",
    f"postgresql://h/d?password={PASSWORD}",
    f"postgresql://h/d?user=u&sslpassword={PASSWORD}",
    f"POSTGRESQL://u:{PASSWORD}@h/d",
]


@pytest.mark.parametrize("text", [*WITH_PASSWORD, f"mysql://u:{PASSWORD}@h/d", f"postgresql:/u:{PASSWORD}@h/d"])
def test_a_password_is_refused_wherever_it_is_and_never_repeated(text: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog(f'"{text}"')
    assert PASSWORD not in str(caught.value) + repr(caught.value) + repr(caught.value.__dict__)
    assert "yaml:8" in str(caught.value)
    with pytest.raises(CatalogError) as caught:
        catalog(f'{{database: "{text}", table: public.visits}}')
    assert PASSWORD not in str(caught.value) + repr(caught.value)
    given: list[Any] = [text, {"visits": text}, {"visits": {"database": text, "table": "a.b"}}]
    for source in given if "://" in text else []:
        with pytest.raises(SourceError) as by_hand_:
            overrides(catalog("visits.parquet"), source)
        error: Error = by_hand_.value
        assert error.number == (311 if text.startswith("mysql") else 318)
        assert PASSWORD not in str(error) + repr(error) + repr(error.__context__)


def test_the_short_form_means_the_table_of_that_name_in_public() -> None:
    assert the_source("postgresql://u@h/d").table == ("public", "visits")
    source = the_source(
        "{database: postgresql://h/d, table: s.t, password_file: pw, timeout: 60, system: 7709844927270930210}"
    )
    assert (source.table, source.system, source.address.timeout) == (("s", "t"), "7709844927270930210", 60)
    assert source.address.password_file == Path.cwd() / "pw"
    assert the_source("{database: postgresql://h/d, table: T}").table == ("public", "T")
    assert the_source("postgresql://h/d").address.timeout == 3600


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{database: postgresql://h/d}", "needs database and table"),
        ("{database: postgresql://h/d, table: a.b.c}", "not of the form schema.table"),
        ("{database: postgresql://h/d, table: t, password: x}", "password"),
        ("{database: postgresql://h/d, table: t, timeout: 0}", "timeout cannot be 0"),
        ("{database: postgresql://h/d, table: t, timeout: true}", "timeout cannot be"),
        ("{database: postgresql://h/d, table: t, system: localhost}", "system cannot be"),
        ("{database: f.duckdb, table: t, timeout: 5}", "timeout"),
        ("[postgresql://h/d]", "is not on this machine"),
        ("postgresql://h/d\n    format: {delimiter: ';'}", "format describes a CSV"),
        ("https://h/d", "is not on this machine"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(source: str, says: str) -> None:
    with pytest.raises(CatalogError, match=says) as caught:
        catalog(source)
    assert "yaml:" in str(caught.value)


MORE = """
  stays:
    source: {source}
    {unit}
    columns: {{u: integer}}
"""


def test_private_tables_are_in_one_place() -> None:
    private = "unit: u\n    rows_per_unit: 1"
    for other in ("stays.parquet", "postgresql://h/e", "postgresql://other/d", "{database: f.duckdb, table: main.t}"):
        with pytest.raises(CatalogError, match='"visits" and "stays" are not in one place'):
            catalog("postgresql://h/d", MORE.format(source=other, unit=private))
        public = catalog("postgresql://h/d", MORE.format(source=other, unit="public: true"))
        assert engine_of_private(public, {}) == "postgresql"
    both = catalog("postgresql://h/d", MORE.format(source="{database: postgresql://h/d, table: s.t}", unit=private))
    assert engine_of_private(both, {}) == "postgresql"
    with pytest.raises(SourceError) as caught:
        engine_of_private(both, overrides(both, {"stays": "stays.parquet"}))
    assert caught.value.number == 320
    files = catalog("a.parquet", MORE.format(source="{database: f.duckdb, table: main.t}", unit=private))
    assert engine_of_private(files, {}) == "duckdb"


def test_two_ways_to_one_database_are_one_fingerprint() -> None:
    ways = [
        "postgresql://localhost/d",
        "postgresql://me@127.0.0.1:5432/d",
        "postgresql:///d?service=s",
        "{database: postgresql://other.example/d, table: public.visits, password_file: /run/secret, timeout: 9}",
    ]
    assert len({fingerprint(catalog(way)) for way in ways}) == 1
    others = [
        ways[0],
        "postgresql://localhost/e",
        "{database: postgresql://localhost/d, table: s.visits}",
        "{database: postgresql://localhost/d, table: visits, system: 7}",
        "visits.parquet",
    ]
    assert len({fingerprint(catalog(other)) for other in others}) == len(others)
    by_file = catalog("visits.parquet")
    assert len({by_hand("", overrides(by_file, way)) for way in ways[:3]}) == 1
    assert by_hand("", overrides(by_file, ways[0])) != by_hand("", overrides(by_file, others[1]))


def test_a_source_by_hand() -> None:
    declared = catalog("{database: postgresql://h/d, table: s.t}")
    given = overrides(declared, "postgresql://u@other/d")["visits"]
    assert isinstance(given, Server) and (given.schema, given.table) == ("s", "t")
    assert dict(given.address.parameters) == {"dbname": "d", "host": "other", "user": "u"}
    given = overrides(catalog("v.parquet"), {"visits": {"database": "postgresql://h/d", "table": "a.b"}})["visits"]
    assert isinstance(given, Server) and (given.schema, given.table) == ("a", "b")
    (table,) = declared.tables
    from_metadata = declared_source(table)
    assert isinstance(from_metadata, Server) and from_metadata.schema == "s"
    with pytest.raises(SourceError) as caught:
        overrides(declared, "postgresql://h")
    assert caught.value.number == 321
