"""A second look at what the planner rendered: queries are one SELECT each."""

from __future__ import annotations

import duckdb


def is_one_select(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Whether DuckDB's own parser sees exactly one statement, a SELECT. False for what does not parse.

    This guards against a slip in rendering, not against hostile text, which never gets this far: DuckDB calls a
    SELECT whose WITH list writes a SELECT too.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error:
        return False
    return len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT
