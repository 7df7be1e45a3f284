"""What statements a text has, by DuckDB; a second look at what the planner rendered: queries are one SELECT each."""

from __future__ import annotations

import duckdb

from dpsql.errors import SqlError


def kinds_of(connection: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    """The kind of each statement. A message of DuckDB's may end within a letter: then it is not shown."""
    try:
        return [statement.type.name for statement in connection.extract_statements(sql)]
    except UnicodeDecodeError:
        raise SqlError(
            "DuckDB cannot read this statement", fix="Look for letters in x'…' and for signs beyond ASCII."
        ) from None


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
