"""Statements of SQL that dpsql does not have, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_TO_FILE = "Write the result with cursor.df().to_csv(…), .arrow(), or the shell's .output."
_OWNER = "The owner declares tables in the metadata; CREATE TABLE makes one of your own."
INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "ALTER": "Drop your table and create it again.",
        "ANALYZE": "Nothing about the data is gathered outside a query; EXPLAIN shows a query's plan.",
        "ATTACH": _OWNER,
        "BEGIN": "There are no transactions; a charge cannot be rolled back.",
        "CALL": "Write a SELECT.",
        "CHECKPOINT": "Your tables are in memory; there is nothing to write.",
        "COMMENT": "Descriptions are written in the metadata.",
        "COMMIT": "There are no transactions; a charge cannot be rolled back.",
        "COPY": _TO_FILE,
        "DEALLOCATE": "Pass parameters to execute().",
        "DELETE": "Create a table with the rows you want: CREATE TABLE t AS SELECT ….",
        "DETACH": _OWNER,
        "EXECUTE": "Pass parameters to execute().",
        "EXPORT": _TO_FILE,
        "GRANT": "Analysts and their budgets are declared in the metadata.",
        "IMPORT": _OWNER,
        "INSTALL": "dpsql loads no extensions.",
        "LOAD": "dpsql loads no extensions.",
        "MERGE": "Create a table with the rows you want: CREATE TABLE t AS SELECT ….",
        "PIVOT": "Write GROUP BY with CASE, or pivot the data frame.",
        "PRAGMA": "Write SET for dpsql's settings, DESCRIBE for a table's columns.",
        "PREPARE": "Pass parameters to execute().",
        "RESET": "Write SET with the value you want.",
        "REVOKE": "Analysts and their budgets are declared in the metadata.",
        "ROLLBACK": "There are no transactions; a charge cannot be rolled back.",
        "START": "There are no transactions; a charge cannot be rolled back.",
        "SUMMARIZE": "Write SELECT COUNT(*), AVG(x), … FROM table; DESCRIBE shows the columns.",
        "TABLE": "Write SELECT * FROM table.",
        "TRUNCATE": "Write DROP TABLE.",
        "UNPIVOT": "Write UNION ALL, or unpivot the data frame.",
        "UPDATE": "Create a table with the rows you want: CREATE TABLE t AS SELECT ….",
        "UPSERT": "Write INSERT INTO.",
        "REPLACE": "Write CREATE OR REPLACE TABLE, or INSERT INTO.",
        "USE": "There is one dataset; name its tables without a schema.",
        "VACUUM": "There is nothing to tidy.",
        "ABORT": "There are no transactions; a charge cannot be rolled back.",
        "END": "There are no transactions; a charge cannot be rolled back.",
        "SAVEPOINT": "There are no transactions; a charge cannot be rolled back.",
        "LOCK": "There are no transactions.",
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
