"""Step 3, bind: a Statement and a Catalog become the relational IR; every name is resolved and every expression typed.

    context   ids, catalog, CTEs: what every part of one binding shares
    scope     which names mean which columns
    tables    FROM: tables, joins, derived tables, VALUES
    exprs     scalar expressions
    aggregates, windows   calls of many rows
    subquery  EXISTS, IN and scalar subqueries
    select    one SELECT block, in SQL's order of evaluation
    query     WITH, set operations, ORDER BY and LIMIT around blocks

The binder knows nothing about privacy: the same code binds what runs in the vault and what runs in scratch.
"""

from dpsql.sql.bind.context import AggregateSignature, UserTables
from dpsql.sql.bind.query import bind

__all__ = ["AggregateSignature", "UserTables", "bind"]
