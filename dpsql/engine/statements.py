"""A second look at what the planner rendered: queries are one SELECT each."""

from __future__ import annotations

import duckdb


def one_select(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement | None:
    """The one statement, a SELECT, that DuckDB's own parser sees, to be executed as it is; None for anything else, and for
    what does not parse.

    This guards against a slip in rendering, not against hostile text, which never gets this far: DuckDB calls a
    SELECT whose WITH list writes a SELECT too.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error:
        return None
    return statements[0] if len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT else None
