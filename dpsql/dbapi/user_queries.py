"""Queries that the analyst's connection answers: those that only it can, and all that is public where it has no autocommit.

Elsewhere what is public runs apart (execution/passing.py). Here it runs where the analyst's tables are changed, with the
locks and limits of these changes: it sees what a transaction has not committed, other schemas, and sequences.
"""

from __future__ import annotations

from dpsql.catalog.model import fold
from dpsql.engine.apart.tree import Named, is_several, system_names
from dpsql.execution.passing import OF_SEQUENCES, names_in, only_pass
from dpsql.execution.planning import Parameters
from dpsql.query import Answer
from dpsql.session import Session
from dpsql.sql.changes import check_words, words
from dpsql.sql.parameters import plain_values
from dpsql.sql.passing import passed_query


def run_user_query(session: Session, sql: str, parameters: Parameters = None) -> Answer | None:
    """The rows; None where the query is another way's."""
    asked = passed_query(sql)
    if asked is None or asked.head.kind != "query":
        return None
    names = names_in(asked.query)
    if names is None or not only_pass(names, but=OF_SEQUENCES) or is_several(asked.query):
        return None
    schemas = {name.rpartition(".")[0] for name in names.tables if "." in name}
    here = session.user.in_transaction or not session.user.autocommit or bool(names.functions & OF_SEQUENCES)
    if not here and not any(_is_users_schema(session, schema) for schema in schemas):
        return None
    if not _are_public(session, names):
        return None
    check_words(words(sql))
    return Answer(kind="query", rows=session.user.query(sql, plain_values(parameters)))


def _are_public(session: Session, names: Named) -> bool:
    """Whether all names are of public tables and the analyst's; then the public ones are shown there.

    A name that could be read in two ways is nobody's: of a CTE with a dot, which names a file outside of the CTE, of three
    parts, and of the system's views."""
    if any("." in name for name in names.ctes) or any(name.count(".") > 1 for name in names.tables):
        return False
    if not system_names().isdisjoint(fold(part) for name in names.tables | names.ctes for part in name.split(".")):
        return False
    known = {*(fold(name) for name in names.ctes), *session.user_tables}
    public = []
    for name in sorted(names.tables | names.ctes):
        spec = session.catalog.table(name)
        if spec is not None:
            if not spec.public:
                return False
            public.append(spec)
        elif session.catalog.view(name) is not None or not (
            fold(name) in known or _is_users_schema(session, name.rpartition(".")[0])
        ):
            return False
    for spec in public:
        session.user.show(spec, session.load_public(spec.name))
    return True


def _is_users_schema(session: Session, schema: str) -> bool:
    return schema != "" and session.user.has_schema(fold(schema))


__all__ = ["run_user_query"]
