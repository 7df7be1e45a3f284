"""A table as the system's catalogs describe it: no row is read, and nothing that is inferred from rows is believed.

What a query may read: tables, partitioned tables, materialised views, and views whose rows are the same each time they are
read. Types are the base types under domains, in a closed set of words (WORDS); any other column is unreadable, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsql.engine.postgres.views import computed
from dpsql.engine.quoting import fold, quote_identifier
from dpsql.engine.sources import UNREADABLE, Column, Server
from dpsql.errors import SourceError

if TYPE_CHECKING:
    import psycopg

ROW_NUMBER = "__row"
# Words of PostgreSQL's types by oid; besides these there are numeric(p,s), and enum.
WORDS = {
    16: "boolean",
    21: "smallint",
    23: "integer",
    20: "bigint",
    700: "real",
    701: "double precision",
    1700: "numeric",
    1082: "date",
    1114: "timestamp",
    1184: "timestamptz",
    25: "text",
    1043: "varchar",
    1042: "char",
    2950: "uuid",
}
NUMERIC, MOST_DIGITS = 1700, 38
FOLDED = "folded "  # before a text type whose collation is not deterministic
REASONS = {
    "json": "its equality is not the values'",
    "jsonb": "it is not a plain value",
    "money": "its form depends on the server's locale",
    "time without time zone": "a time of day is not among dpsql's types",
    "time with time zone": "a time of day is not among dpsql's types",
    "interval": "an interval is not among dpsql's types",
    "bytea": "bytes are not among dpsql's types",
}
KINDS = {"r": "a table", "p": "a partitioned table", "m": "a materialised view", "v": "a view"}

_RELATION = """
    SELECT c.oid::bigint, c.relkind::text, a.amname, c.relispopulated, row_security_active(c.oid),
        has_table_privilege(c.oid, 'SELECT'), EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am a ON a.oid = c.relam
    WHERE n.nspname = $1::text AND c.relname = $2::text
"""
_COLUMNS = """
    WITH RECURSIVE base (attnum, attname, readable, type, modifier, sorting) AS (
        SELECT attnum, attname, has_column_privilege(attrelid, attnum, 'SELECT') AND attgenerated <> 'v',
            atttypid, atttypmod, attcollation
        FROM pg_attribute WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT b.attnum, b.attname, b.readable, t.typbasetype,
            CASE WHEN b.modifier = -1 THEN t.typtypmod ELSE b.modifier END, b.sorting
        FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
    )
    SELECT b.attname::text, b.readable, b.type::bigint, b.modifier, t.typtype::text, t.typcategory::text,
        format_type(b.type, NULL), EXISTS (SELECT FROM pg_cast c WHERE c.castsource = b.type),
        EXISTS (SELECT FROM pg_collation c WHERE c.oid = b.sorting AND NOT c.collisdeterministic)
    FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
# What a relation is made of: the relations of a view's query, partitions and children.
_UNDER = """
    WITH RECURSIVE under (oid) AS (
        SELECT $1::bigint::oid
        UNION
        SELECT o.oid FROM under u, LATERAL (
            SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = u.oid
            UNION ALL
            SELECT d.refobjid FROM pg_class v
            JOIN pg_rewrite r ON r.ev_class = v.oid
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE v.oid = u.oid AND v.relkind = 'v' AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
        ) AS o (oid)
    )
    SELECT array_agg(DISTINCT c.relkind::text), bool_or(c.relkind = 'v' AND (
        r.ev_action::text ~ ':tablesample \\{|:limit(Offset|Count) \\{' OR EXISTS (
            SELECT FROM regexp_matches(r.ev_action::text, ':(?:funcid|opfuncid) (\\d+)', 'g') AS m (part)
            JOIN pg_proc p ON p.oid = (m.part)[1]::oid WHERE p.provolatile = 'v'
        )
    )), array_agg(DISTINCT u.oid::bigint)
    FROM under u JOIN pg_class c ON c.oid = u.oid LEFT JOIN pg_rewrite r ON r.ev_class = c.oid AND c.relkind = 'v'
"""
# Casts by function between types of the server's own: what is below 16384 came with it.
_CASTS = """
    SELECT min(format_type(castsource, NULL) || ' to ' || format_type(casttarget, NULL)) FROM pg_cast
    WHERE oid >= 16384::oid AND castmethod = 'f' AND castsource < 16384::oid AND casttarget < 16384::oid
"""
_IDENTITY = """
    SELECT (SELECT system_identifier::text FROM pg_control_system()), d.oid::bigint::text
    FROM pg_database d WHERE d.datname = current_database()
"""
_TABLES = """
    SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'm', 'v') AND NOT c.relispartition AND n.nspname !~ '^pg_|^information_schema$'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
    ORDER BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Equal for two descriptions of one table that nobody altered between. lockable: LOCK TABLE may be asked of it."""

    oid: int
    relation: str
    columns: tuple[Column, ...]
    unnumbered: str | None
    computed: str | None
    lockable: bool

    @property
    def numbered(self) -> str:
        """With "__row": where the row's version is stored, which is the same for all statements of one snapshot, and no
        other row's: of this table alone (ONLY), whatever children it may get."""
        readable = [quote_identifier(c.name) for c in self.columns if not c.type.startswith(UNREADABLE)]
        row = f"CAST(CAST('x' || encode(tidsend(ctid), 'hex') AS bit(48)) AS bigint) AS {quote_identifier(ROW_NUMBER)}"
        return f"(SELECT {', '.join([*readable, row])} FROM ONLY {self.relation}) AS source"


def described(connection: psycopg.Connection[Any], table: str, source: Server) -> Table:
    """SourceError 303 where there is no such table that may be read, 316 for one whose rows are not the same each time."""
    rows = connection.execute(_RELATION, [source.schema, source.table]).fetchall()
    if not rows or rows[0][1] not in (*KINDS, "f"):
        raise _missing(table, source, [name for name in tables(connection) if name.endswith(f".{source.table}")])
    oid, kind, method, populated, policies, whole, parent = rows[0]
    kinds, changing, under = connection.execute(_UNDER, [oid]).fetchall()[0]
    reason = _refused(kind, populated=populated, policies=policies, foreign="f" in kinds, changing=bool(changing))
    if reason:
        what, fix = reason
        raise SourceError(f"table {table}: {source.schema}.{source.table} {what}", code=316, fix=fix)
    relation = f"{quote_identifier(source.schema)}.{quote_identifier(source.table)}"
    columns = _columns(connection.execute(_COLUMNS, [oid]).fetchall())
    _check_readable(connection, table, source, relation, columns)
    return Table(
        oid=oid,
        relation=relation,
        columns=columns,
        unnumbered=_unnumbered(kind, method, whole=whole, parent=parent),
        computed=computed(connection, under),
        lockable=kind in "rp" and whole,
    )


def _refused(kind: str, *, populated: bool, policies: bool, foreign: bool, changing: bool) -> tuple[str, str] | None:
    if foreign:
        return (
            "is or reads a foreign table, which is not in the database's snapshot",
            "Copy it: CREATE TABLE … AS SELECT …, or a materialised view.",
        )
    if policies:
        return (
            "has row-level security that hides rows from this role",
            "What a policy shows of one person may depend on others' rows. Use a role with BYPASSRLS, or a copy.",
        )
    if changing:
        return (
            "is a view with LIMIT, TABLESAMPLE or a volatile function: each time it is read its rows may be others",
            "Make a materialised view or a table of it.",
        )
    if kind == "m" and not populated:
        return "has not been populated", "REFRESH MATERIALIZED VIEW it."
    return None


def _unnumbered(kind: str, method: str | None, *, whole: bool, parent: bool) -> str | None:
    if kind in "vp":
        return KINDS[kind]
    if parent:
        return "a table that others inherit from"
    if method != "heap":
        return f"stored by the access method {method}"
    return None if whole else "a table of which the role may read some columns only"


def _missing(table: str, source: Server, others: Sequence[str] = ()) -> SourceError:
    """others: tables of the same name."""
    meant = f"There is {', '.join(others)}. " if others else ""
    return SourceError(
        f"table {table}: the database has no table {source.schema}.{source.table} that the role may read",
        code=303,
        fix=f"{meant}Check `source: {{database: …, table: schema.name}}`, and GRANT SELECT and USAGE on its schema.",
    )


def _check_readable(
    connection: psycopg.Connection[Any], table: str, source: Server, relation: str, columns: Sequence[Column]
) -> None:
    """That a SELECT of it would begin: EXPLAIN checks privileges, a view's own ones too, and policies, and reads no row."""
    readable = [quote_identifier(column.name) for column in columns if not column.type.startswith(UNREADABLE)]
    failed = not readable
    if readable:
        import psycopg

        connection.execute("SAVEPOINT readable")
        try:
            connection.execute(f"EXPLAIN (COSTS OFF) SELECT {', '.join(readable)} FROM {relation}")
        except psycopg.errors.InsufficientPrivilege:
            failed = True
            connection.execute("ROLLBACK TO SAVEPOINT readable")
    if failed:
        raise _missing(table, source)


def _columns(rows: Sequence[tuple[Any, ...]]) -> tuple[Column, ...]:
    """dpsql's names have no case: of two that differ in nothing else neither is meant."""
    names = Counter(fold(row[0]) for row in rows)
    twice = f"{UNREADABLE}another column has the same name but for case"
    return tuple(
        Column(name=row[0], type=_word(*row[1:]) if names[fold(row[0])] == 1 else twice)
        for row in rows
        if fold(row[0]) != ROW_NUMBER
    )


def _word(
    readable: bool, oid: int, modifier: int, type_type: str, category: str, name: str, casts: bool, folds: bool
) -> str:
    """A type's word. numeric without a modifier, or with one that DECIMAL has no counterpart of, is numeric. casts: there
    are some from the type, which anybody may add to a type of theirs, with any function. folds: the column's collation takes
    texts of other bytes for equal."""
    if not readable:
        return f"{UNREADABLE}the role may not select it, or it is computed as it is read"
    if type_type == "e":
        return f"{UNREADABLE}{name}: it is cast by a function of the database's" if casts else "enum"
    if oid == NUMERIC and modifier >= 4:
        precision, scale = ((modifier - 4) >> 16) & 0xFFFF, ((modifier - 4) & 0x7FF ^ 1024) - 1024
        return f"numeric({precision},{scale})" if 0 <= scale <= precision <= MOST_DIGITS else "numeric"
    if oid in WORDS:
        return FOLDED + WORDS[oid] if folds else WORDS[oid]
    reason = (
        "arrays are not among dpsql's types" if category == "A" else REASONS.get(name, "its values are not plain ones")
    )
    return f"{UNREADABLE}{name}: {reason}"


def check_casts(connection: psycopg.Connection[Any]) -> None:
    """SourceError 319 where somebody has changed what CAST means: a function of theirs could fail on one value."""
    row = connection.execute(_CASTS).fetchone()
    if row is not None and row[0] is not None:
        raise SourceError(
            f"the database has a cast of its own from {row[0]}",
            code=319,
            why="Every query converts stored values; by such a function one person's value could make it fail.",
            fix="DROP CAST, or make an assignment of it in the program that needs it.",
        )


def identity(connection: psycopg.Connection[Any]) -> tuple[str, str]:
    """Which cluster and which database it is, whatever it was called: (system identifier, the database's oid).
    SourceError 317 where the server does not say."""
    import psycopg

    row: tuple[Any, ...] | None = None
    with suppress(psycopg.errors.InsufficientPrivilege):
        row = connection.execute(_IDENTITY).fetchone()
    if row is None or row[0] is None:
        raise SourceError(
            "the server does not say which one it is",
            code=317,
            fix="GRANT EXECUTE ON FUNCTION pg_control_system() TO the role.",
        )
    return str(row[0]), str(row[1])


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    """schema.name of all that the role may read."""
    return [name for (name,) in connection.execute(_TABLES).fetchall()]
