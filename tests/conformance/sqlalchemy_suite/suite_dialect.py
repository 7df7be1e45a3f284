"""The dialect as the suite sees it: without the catalog's one table, of which the suite's lists of tables know nothing."""

from __future__ import annotations

from typing import Any

from dpsql.integrations.sqlalchemy import DpsqlDialect

HIDDEN = "nothing"  # a catalog needs a table


class SuiteDialect(DpsqlDialect):
    supports_statement_cache = True

    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name in super().get_table_names(connection, schema, **kw) if name != HIDDEN]
