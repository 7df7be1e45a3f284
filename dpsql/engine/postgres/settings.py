"""One read-only transaction for a query: one snapshot, and settings under which a statement means the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.engine.hardening import Limits, size_of
from dpsql.errors import InterfaceError, InternalError

if TYPE_CHECKING:
    import psycopg

PINS = (
    ("search_path", "pg_catalog, pg_temp"),  # nobody's function or type stands in for the server's own
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),  # the shortest digits that read back as the same number
    ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"),
    ("array_nulls", "on"),
    # a policy hides nothing silently: where one would, the statement fails (describing.py refuses it before)
    ("row_security", "off"),
    ("synchronize_seqscans", "off"),
    ("jit", "off"),
    ("client_min_messages", "error"),
)
WORK_MEMORY = 256 * 1024  # kB of each sort and hash (a hash may take twice that) before it spills to the server's disk
LEAST_WORK_MEMORY, MOST_WORK_MEMORY = 64, 2**31 - 1  # PostgreSQL's own ends
AT_ONCE = 4  # sorts and hashes that are full at one time, in statements of stages
# How many rows pass the tests of a cleaned table, the server guesses: of a CASE, one in 200. Sorts, and joins that compare
# each row with each, looked cheap to it; every join and group of a stage can be hashed, whatever the numbers are.
PLANNING = (
    ("enable_sort", "off"),
    ("enable_mergejoin", "off"),
    ("enable_nestloop", "off"),
    ("hash_mem_multiplier", "2"),
)


def begin(connection: psycopg.Connection[Any], locked: Sequence[str], timeout: int, limits: Limits) -> None:
    """Begin, with no snapshot taken before the tables are locked against being altered, rewritten or emptied: those are
    seen by older snapshots too.

    Parallel workers: as many as `threads` says besides the leader. Without it none: on two cores the statements of stages
    took two thirds of the time without workers (each of which aggregates a common table expression again).
    """
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    # before any function is called: where the role's own path says so, set_config is somebody else's
    connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    for name, value in (("statement_timeout", timeout * 1000), ("lock_timeout", 0)):
        connection.execute(f"SET LOCAL {name} = {int(value)}")
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    if locked:
        connection.execute(f"LOCK TABLE {', '.join(locked)} IN ACCESS SHARE MODE")
    workers = str(max(0, (limits.threads or 1) - 1))
    pins = (*PINS, ("max_parallel_workers_per_gather", workers))
    _set(connection, pins)
    connection.execute("SELECT pg_catalog.set_config('work_mem', $1, true)", [f"{work_memory(limits)}kB"])


def for_stages(connection: psycopg.Connection[Any]) -> None:
    """Once the tables are described: the server's own catalogs are small, and indexed."""
    items = ", ".join(f"pg_catalog.set_config('{name}', '{value}', true)" for name, value in PLANNING)
    connection.execute(f"SELECT {items}")


def work_memory(limits: Limits) -> int:
    """kB for each sort and hash, so that a statement stays near `memory_limit`: PostgreSQL has no limit of a whole one.
    InterfaceError for a share of a memory: of which machine's?"""
    if limits.memory is None:
        return WORK_MEMORY
    if limits.memory.endswith("%"):
        raise InterfaceError(
            f"memory_limit={limits.memory} is a share of this machine, and the tables are on a server",
            fix="Write a size, such as 4GB.",
        )
    each = size_of(limits.memory) // 1024 // (2 * AT_ONCE * (limits.threads or 1))
    return min(max(each, LEAST_WORK_MEMORY), MOST_WORK_MEMORY)


def _set(connection: psycopg.Connection[Any], pins: Sequence[tuple[str, str]]) -> None:
    items = ", ".join(f"pg_catalog.set_config(${2 * i + 1}, ${2 * i + 2}, true)" for i in range(len(pins)))
    state = ", ".join(f"pg_catalog.current_setting('transaction_{name}')" for name in ("isolation", "read_only"))
    row = connection.execute(f"SELECT {items}, {state}", [word for pin in pins for word in pin]).fetchone()
    expected = (*(value for _, value in pins), "repeatable read", "on")
    for (name, _), value, actual in zip(
        (*pins, ("isolation", ""), ("read_only", "")), expected, row or (), strict=True
    ):
        if actual != value:
            raise InternalError(f"PostgreSQL has {name} = {actual!r} where {value!r} was set")
