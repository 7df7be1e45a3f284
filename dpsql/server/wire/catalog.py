"""Catalog queries of PostgreSQL clients, answered from a scratch that has PostgreSQL's catalog tables and nothing else."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from dpsql.catalog.model import fold
from dpsql.dbapi.statements import columns_of
from dpsql.domain.types import Kind, Type
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Column
from dpsql.errors import Error
from dpsql.plan.dialects.literals import text
from dpsql.server.wire import catalog_tables, types
from dpsql.server.wire.catalog_text import rewritten, select_list
from dpsql.server.wire.texts import Token, tokens
from dpsql.server.wire.transactions import SHOWN
from dpsql.session import Session

FUNCTIONS = frozenset(
    "version current_schema current_schemas current_database current_catalog current_user session_user current_setting "
    "set_config to_regtype to_regclass obj_description col_description has_table_privilege has_schema_privilege format_type "
    "quote_ident".split()
)
# What may come before a parenthesis in a catalog query: our macros, keywords, and functions that only compute.
PLAIN = frozenset(
    "operator select from join where and or not in any all exists array case when then else on as over using union "
    "values cast with row filter is like between distinct limit is_tables is_columns coalesce nullif count min max "
    "sum avg array_agg bool_and bool_or every string_agg array_to_string array_length array_remove array_position "
    "unnest generate_subscripts generate_series row_number lower upper substring substr split_part regexp_replace "
    "length len concat trim ltrim rtrim btrim json_object json_build_object abs greatest least replace position "
    "strpos left right format to_char now char_length pg_typeof round".split()
)
CALLED = PLAIN | {macro.partition("(")[0].strip() for macro in catalog_tables.MACROS} | {"session_user"}
OURS_ALONE = ("duckdb_", "pragma_", "sqlite_")  # DuckDB's words about itself
OID_COLUMNS = frozenset(
    "oid attrelid atttypid typelem typarray typrelid typbasetype typnamespace relnamespace reltype objid classid "
    "typcollation conrelid confrelid indrelid indexrelid objoid classoid nspowner relowner".split()
)
_CALL = re.compile(r'"?(\w+)"?\(.*\)', re.S)  # PostgreSQL names a column by its function alone,
_CAST = re.compile(r'CAST\("?(\w+)"? AS .*\)')  # or by what is cast
RENAMED = {"count_star": "count", "COALESCE": "coalesce", "NULL": "?column?"}
FIRST_OID, STEP = 16_384, 100


class PgCatalog:
    """Of one session: its tables, its views, its user's tables."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._scratch: Scratch | None = None
        self._built_for: tuple[str, ...] = ()
        self._oids: dict[str, int] = {}
        self._logged: set[str] = set()

    def columns(self, sql: str, values: Sequence[Any]) -> list[list[str]] | None:
        """Names and types of a catalog query's result; None for any other statement."""
        parts = tokens(sql)
        if not _asks_catalog(parts):
            return None
        if unknown_words(parts):
            return self._empty(parts)
        scratch = self._ready()
        try:
            described = scratch.describe(rewritten(parts, values, self._oids))
        except Error:
            return self._empty(parts)
        said = {part.word for part in parts}
        return [[_named(column.name, said), _announced(column)] for column in described]

    def rows(self, sql: str, values: Sequence[Any]) -> tuple[list[list[str]], list[tuple[Any, ...]]] | None:
        """The result of a catalog query; None for any other statement. What fails is without rows, and is logged."""
        columns = self.columns(sql, values)
        if columns is None:
            return None
        parts = tokens(sql)
        if unknown_words(parts):
            return columns, []
        try:
            result = self._ready().query(rewritten(parts, values, self._oids))
            try:
                return columns, result.fetchall()
            finally:
                result.close()
        except Error:
            self._log(parts)
            return columns, []

    def _empty(self, parts: list[Token]) -> list[list[str]] | None:
        """What reads catalog tables alone, and is not known: the names of its select list, without rows."""
        named = {fold(part.word) for part in parts if part.word}
        ours = {fold(t.name) for t in self._session.catalog.tables} | {fold(v) for v in self._session.catalog.views}
        words = [part.word for part in parts]
        if named & (ours | set(self._session.user_tables)) or not _reads_catalog(words):
            return None
        self._log(parts)
        return [[name, "VARCHAR"] for name in select_list(parts)]

    def _log(self, parts: list[Token]) -> None:
        """Its shape, once: no literal of it."""
        shape = " ".join("?" if part.kind in ("string", "number", "escaped") else part.text for part in parts)[:500]
        if shape not in self._logged and len(self._logged) < 100:
            self._logged.add(shape)
            unknown = f" ({', '.join(unknown_words(parts))[:100]})" if unknown_words(parts) else ""
            said = f"{unknown}: {shape}".encode("unicode_escape").decode("ascii")  # a line is a line
            print(f"dpsql: a query on system tables that is not known{said}", file=sys.stderr)

    # --- what there is

    def _ready(self) -> Scratch:
        if self._scratch is None:
            self._scratch = Scratch()
            for statement in catalog_tables.statements():
                self._scratch.execute(statement)
            who = text(self._session.analyst or "dpsql")
            for name in ("session_user", '"current_user"', '"user"'):
                self._scratch.execute(f"CREATE MACRO {name}() AS {who}")
            shown = ", ".join(f"({text(name)}, {text(value)})" for name, value in SHOWN.items())
            self._scratch.execute(f"INSERT INTO pg_settings BY NAME SELECT * FROM (VALUES {shown}) AS t(name, setting)")
            role = f"{who}, false, true, false, false, true, false, -1, NULL, NULL, false, NULL"
            self._scratch.execute(f"INSERT INTO pg_roles VALUES (10, {role})")
        session = self._session
        now = (
            *(t.name for t in session.catalog.tables),
            *session.catalog.views,
            *map(repr, session.user_tables.items()),
        )
        if now != self._built_for:
            self._build(self._scratch)
            self._built_for = now
        return self._scratch

    def _build(self, scratch: Scratch) -> None:
        for table in ("pg_class", "pg_attribute", "pg_description"):
            scratch.execute(f"DELETE FROM {table}")
        catalog, number = self._session.catalog, FIRST_OID
        kinds = dict.fromkeys((t.name for t in catalog.tables), "r") | dict.fromkeys(catalog.views, "v")
        kinds |= dict.fromkeys(self._session.user_tables, "r")
        for name, kind in kinds.items():
            self._oids[fold(name)] = number
            self._table(scratch, number, name, kind)
            spec = catalog.table(name)
            if spec is not None and spec.description:
                scratch.execute(f"INSERT INTO pg_description VALUES ({number}, 1259, 0, {text(spec.description)})")
            number += STEP

    def _table(self, scratch: Scratch, oid: int, name: str, kind: str) -> None:
        columns = columns_of(self._session, name)
        scratch.execute(
            f"INSERT INTO pg_class BY NAME SELECT {oid} AS oid, {text(name)} AS relname, 2200 AS relnamespace, "
            f"0 AS reltype, 0 AS reloftype, 10 AS relowner, 2 AS relam, 0 AS reltablespace, -1 AS reltuples, "
            f"0 AS reltoastrelid, false AS relhasindex, 'p' AS relpersistence, '{kind}' AS relkind, "
            f"{len(columns)} AS relnatts, 0 AS relchecks, false AS relhasrules, false AS relhastriggers, "
            f"false AS relhassubclass, false AS relrowsecurity, false AS relforcerowsecurity, true AS relispopulated, "
            f"'d' AS relreplident, false AS relispartition, false AS relisshared, false AS relhasoids, 0 AS relpages"
        )
        for position, (column, type_) in enumerate(columns, start=1):
            type_oid, modifier = type_of(type_)
            scratch.execute(
                f"INSERT INTO pg_attribute BY NAME SELECT {oid} AS attrelid, {text(column)} AS attname, "
                f"{type_oid} AS atttypid, -1 AS attstattarget, {types.size_of(type_oid)} AS attlen, {position} AS attnum, "
                f"0 AS attndims, {modifier} AS atttypmod, false AS attnotnull, false AS atthasdef, '' AS attidentity, "
                f"'' AS attgenerated, false AS attisdropped, true AS attislocal, 0 AS attinhcount, "
                f"{100 if type_oid == types.TEXT else 0} AS attcollation, '' AS attcompression, 'p' AS attstorage"
            )


def _named(name: str, said: set[str]) -> str:
    """As PostgreSQL names a column. said: the query's own words, which stay."""
    if name in said:
        return name
    if name.startswith("CASE "):
        return "case"
    inner = _CAST.sub(r"\1", name)
    plain = _CALL.sub(r"\1", inner) if _CALL.fullmatch(inner) else inner
    return RENAMED.get(plain, plain if re.fullmatch(r"[^\W\d]\w*", plain) else "?column?")


def _announced(column: Column) -> str:
    """Numbers of objects as such; asyncpg reads lists of these without asking what they are."""
    if column.type == "INTEGER" and column.name in OID_COLUMNS:
        return "OID"
    return "OID[]" if column.type == "INTEGER[]" else column.type


def _asks_catalog(parts: list[Token]) -> bool:
    """Whether it is worth asking if it binds there."""
    words = {part.word for part in parts}
    return any(w.startswith("pg_") or w == "information_schema" for w in words) or bool(words & FUNCTIONS)


NAMING = frozenset(("as", "with", "recursive", "operator"))  # what follows these, or a parenthesis, is no call


def unknown_words(parts: list[Token]) -> list[str]:
    """What it calls that is not listed, and what it asks about the engine itself."""
    about = [part.word for part in parts if part.word.startswith(OURS_ALONE)]
    before = [Token("", "", 0), *parts]
    called = [
        part.word
        for last, part, after in zip(before, parts, parts[1:], strict=False)
        if after.text == "(" and part.word and last.word not in NAMING and last.text != ")"
    ]
    return [*about, *(word for word in called if word.lower() not in CALLED)]


def _reads_catalog(words: list[str]) -> bool:
    pairs = zip(words, words[1:], strict=False)
    return any(a in ("from", "join") and (b.startswith("pg_") or b == "information_schema") for a, b in pairs)


WIDTHS = {8: types.INT2, 16: types.INT2, 32: types.INT4, 64: types.INT8, 128: types.NUMERIC}
KINDS = {
    Kind.BOOLEAN: types.BOOL,
    Kind.REAL: types.FLOAT8,
    Kind.DATE: types.DATE,
    Kind.TIMESTAMP: types.TIMESTAMP,
    Kind.INTERVAL: types.INTERVAL,
}


def type_of(type_: Type) -> tuple[int, int]:
    """PostgreSQL's type of a column, and its modifier."""
    if type_.kind is Kind.INTEGER:
        return WIDTHS[type_.bits], -1
    if type_.kind is Kind.DECIMAL:
        return types.NUMERIC, (type_.precision << 16 | type_.scale) + 4
    return KINDS.get(type_.kind, types.TEXT), -1
