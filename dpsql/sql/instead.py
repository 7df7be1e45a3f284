"""Statements of SQL that dpsql does not have, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_TO_FILE = "Write the result with cursor.df().to_csv(…), .arrow(), or the shell's .output."
_OWNER = "The owner declares tables in the metadata; CREATE TABLE makes one of your own."
INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "ANALYZE": "dpsql gathers nothing about the data outside a query; EXPLAIN shows a query's plan.",
        "ATTACH": _OWNER,
        "CALL": "Write a SELECT.",
        "CHECKPOINT": "Your tables are in memory; there is nothing to write.",
        "COPY": _TO_FILE,
        "DEALLOCATE": "Pass parameters to execute().",
        "DETACH": _OWNER,
        "EXECUTE": "Pass parameters to execute().",
        "EXPORT": _TO_FILE,
        "GRANT": "Analysts and their budgets are declared in the metadata.",
        "IMPORT": _OWNER,
        "INSTALL": "dpsql loads no extensions.",
        "LOAD": "dpsql loads no extensions.",
        "PIVOT": "Write GROUP BY with CASE, or pivot the data frame.",
        "PRAGMA": "Write SET for dpsql's settings, DESCRIBE for a table's columns.",
        "PREPARE": "Pass parameters to execute().",
        "REVOKE": "Analysts and their budgets are declared in the metadata.",
        "SUMMARIZE": "Write SELECT COUNT(*), AVG(x), …, which SUMMARIZE may read; DESCRIBE shows the columns.",
        "TABLE": "Write SELECT * FROM table.",
        "UNPIVOT": "Write UNION ALL, or unpivot the data frame.",
        "UPSERT": "Write INSERT INTO.",
        "REPLACE": "Write CREATE OR REPLACE TABLE, or INSERT INTO.",
        "USE": "There is one dataset; name its tables without a schema.",
        "VACUUM": "dpsql has nothing to clean up.",
        "SAVEPOINT": "Write BEGIN, COMMIT and ROLLBACK.",
        "LOCK": "Your tables are yours alone: nobody else changes them.",
        "KILL": "Interrupt a query with Ctrl-C.",
        "CONNECT": _OWNER,
        "DISCONNECT": "Close the connection.",
        "FORCE": "dpsql loads no extensions.",
        "CACHE": "Create a table: CREATE TABLE t AS SELECT ….",
        "REFRESH": "Run the query again.",
        "DECLARE": "Pass parameters to execute().",
        "FETCH": "Write LIMIT, or fetch from the cursor.",
        "UNLOAD": _TO_FILE,
    }
)

ALONE = frozenset("ALTER BEGIN COMMIT COMMENT DELETE MERGE ROLLBACK START TRUNCATE UPDATE ABORT END".split())
"""Statements on the analyst's tables (sql/changes.py): they have no plan."""
