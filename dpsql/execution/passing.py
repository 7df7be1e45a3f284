"""Which way a statement takes: what names nothing private is DuckDB's, as the text it is; the rest is planned.

Nothing private can be reached on the first way: only public rows are handed to the process that runs the text. What is
refused here are the ways out of it, by name, before its locks refuse them again.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cache, reduce

from dpsql.aggregates import BY_NAME
from dpsql.catalog.model import fold
from dpsql.engine.apart.tree import (
    Named,
    aggregate_names,
    function_names,
    is_several,
    named,
    system_tables,
    table_function_names,
)
from dpsql.engine.printing import printed
from dpsql.errors import Error, Refused, Span, SqlError
from dpsql.execution.planning import Parameters, read, releases_alone
from dpsql.functions.table import FUNCTIONS
from dpsql.session import Session
from dpsql.sql.allow import allow
from dpsql.sql.lifting import Lifting
from dpsql.sql.mixing import PREFIX, Mixed
from dpsql.sql.options import did_you_mean
from dpsql.sql.passing import (
    PassedQuery,
    Values,
    parameters_of,
    passed_query,
    statement_of,
    values_of,
    without_options,
)
from dpsql.sql.pieces import DESCRIBING, pieces, without_pivots
from dpsql.sql.statement import Part, Passed, Statement

# Functions in FROM that make rows of their arguments alone. All others read files, settings, or run what a text says.
TABLE_FUNCTIONS = frozenset(
    "range generate_series unnest repeat repeat_row json_each json_tree generate_subscripts regexp_split_to_table".split()
)
# Called by these names, comparisons skip the casts that the signs have, and some of them end the whole process.
COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"})
# Of the other functions those that tell of the process, wait in it, write in it, or plan what a text says.
DENIED = frozenset(
    """
    getenv current_setting getvariable set_config setval nextval currval current_query current_query_id
    current_connection_id current_transaction_id txid_current in_search_path write_log stats sleep_ms pg_sleep
    json_execute_serialized_sql json_serialize_plan add_parquet_key get_block_size which_secret inet_client_addr
    inet_client_port inet_server_addr inet_server_port pg_conf_load_time pg_postmaster_start_time pg_my_temp_schema
    """.split()
).union(COMPARISONS)
OF_SEQUENCES = frozenset({"nextval", "currval", "setval"})  # where the analyst's sequences are, they may
DEEPEST = 16  # views of views


@dataclass(slots=True)
class Reads:
    """What a text reads, by the names in it."""

    parts: frozenset[str] = frozenset()
    tables: dict[str, None] = field(default_factory=dict)
    users: dict[str, None] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)


def read_for(session: Session, text: str, parameters: Parameters = None) -> Statement:
    """Steps 1 and 2, on the way that the statement takes: passed on, planned, or both in turn."""
    asked = passed_query(text)
    if asked is None:
        return read(text, parameters)
    reads = public_reads(session, asked.query)
    if reads is not None:
        return asked.statement(passed_of(asked, reads, values_of(asked.pieces, parameters)))
    try:
        statement = read(text, parameters)
    except (Refused, SqlError) as error:
        mixed = mixed_statement(session, asked, parameters)
        if mixed is None:
            if error.code in ("DPSQL-100", "DPSQL-120"):
                _check_functions(asked)
            raise
        return mixed
    return dataclasses.replace(statement, otherwise=cache(lambda: mixed_statement(session, asked, parameters)))


def _check_functions(asked: PassedQuery) -> None:
    """SqlError 107 for a name that is nobody's function, where DuckDB can read the text: a mistyped one sent it to the
    planner, which stumbles at what only DuckDB knows."""
    names = names_in(asked.query)
    known = function_names() | table_function_names()
    wrong = set() if names is None else names.functions - known - {*map(fold, BY_NAME), *map(fold, FUNCTIONS)}
    for piece in asked.pieces:
        if fold(piece.identifier) in wrong:
            near = did_you_mean(fold(piece.identifier), tuple(sorted(function_names())))
            raise SqlError(
                f"{piece.identifier[:60]} is not a function of dpsql's or DuckDB's",
                code=107,
                at=Span(piece.start, piece.end),
                why=f"Did you mean {near}?" if near else "",
            )


def passed_of(asked: PassedQuery, reads: Reads, values: Values, at: Span | None = None) -> Passed:
    return Passed(
        text=asked.query,
        tables=tuple(reads.tables),
        users=tuple(reads.users),
        views=tuple(reads.views.items()),
        parameters=parameters_of(asked.pieces, values),
        at=at or asked.at,
    )


def mixed_statement(session: Session, asked: PassedQuery, parameters: Parameters) -> Statement | None:
    """What is private in it is planned, what reads the released rows is passed on. None where that does not go."""
    try:
        values = values_of(asked.pieces, parameters)
        options, left = without_options(asked, values)
        intervals = "intervals" in options or session.defaults.intervals is not None
        passed = _cut(session, left, values) or _lifted(session, left, values, intervals=intervals)
    except Error:
        return None
    return None if passed is None else asked.statement(passed, options=options)


def _cut(session: Session, asked: PassedQuery, values: Values) -> Passed | None:
    """Private queries in parentheses."""
    mixed = Mixed(
        asked.query,
        asked.pieces,
        lambda name: _is_private(session, name),
        lambda text: _can_release(session, text, values),
    )
    cut = mixed.split()
    reads = None if cut is None else public_reads(session, cut.text, frozenset(cut.parts))
    if cut is None or reads is None:
        return None
    parts = tuple(_part(name, text, values) for name, text in cut.parts.items())
    passed = passed_of(dataclasses.replace(asked, query=cut.text, pieces=mixed.kept()), reads, values)
    describes = asked.pieces[0].word in DESCRIBING and not is_several(cut.text)  # PIVOT's columns are of its rows
    return dataclasses.replace(passed, parts=parts, describes=describes)


def _lifted(session: Session, asked: PassedQuery, values: Values, *, intervals: bool) -> Passed | None:
    """Private aggregates under other functions, in one SELECT."""
    name = f"{PREFIX}1"
    lifting = Lifting(
        asked.query, asked.pieces, frozenset(map(fold, BY_NAME)), aggregate_names(), printed, name, intervals
    )
    lifted = lifting.lifted()
    if lifted is None or not _can_release(session, lifted.below, values):
        return None
    reads = public_reads(session, lifted.above, frozenset({name}))
    if reads is None or any(piece.kind == "parameter" for piece in pieces(lifted.above)):
        return None
    part = dataclasses.replace(_part(name, lifted.below, values), columns=lifted.columns)
    left = dataclasses.replace(asked, query=lifted.above, pieces=[])
    return dataclasses.replace(passed_of(left, reads, values, asked.at), parts=(part,))


def _can_release(session: Session, text: str, values: Values) -> bool:
    try:
        return releases_alone(session, _allowed(text, values))
    except Error:
        return False


def _allowed(text: str, values: Values) -> Statement:
    statement = statement_of(text, values)
    allow(statement)
    return statement


def _part(name: str, text: str, values: Values) -> Part:
    statement = _allowed(text, values)
    assert statement.tree is not None
    (shown,) = printed((f"({text.strip()})",))
    return Part(
        name=name,
        tree=statement.tree,
        call_options=statement.call_options,
        parameters=statement.parameters,
        printed=shown or f"({text.strip()})",
    )


def _is_private(session: Session, name: str) -> bool:
    """Whether a word could name something private: the last part of a table's name, a view that is not public."""
    folded = fold(name)
    if any(not spec.public and fold(spec.name).rpartition(".")[2] == folded for spec in session.catalog.tables):
        return True
    return any(
        fold(view) == folded and public_reads(session, text) is None for view, text in session.catalog.views.items()
    )


def public_reads(session: Session, query: str, parts: frozenset[str] = frozenset()) -> Reads | None:
    """None where the query names something private or unknown, or may not be passed on. parts: names that are known."""
    reads = Reads(parts)
    return reads if _is_public(session, query, reads, ()) else None


def _is_public(session: Session, query: str, reads: Reads, views: tuple[str, ...]) -> bool:
    names = names_in(query)
    if names is None or not may_pass(names):
        return False
    ctes = {fold(name) for name in names.ctes}
    if ctes & system_tables():
        return False
    return all(_resolved(session, name, ctes, reads, views) for name in sorted(names.tables | names.ctes))


def names_in(query: str) -> Named | None:
    """Of all its parts. A column that PIVOT finds the values of itself is looked at alone."""
    if not is_several(query):
        return named(query)
    text, items = without_pivots(query)
    each = [named(text), *(named(f"SELECT {item}") for item in items)]
    known = [one for one in each if one is not None]
    return reduce(Named.join, known) if len(known) == len(each) else None


def may_pass(names: Named) -> bool:
    """Whether nothing in it could reach out of the process that runs it."""
    return only_pass(names)


def only_pass(names: Named, but: frozenset[str] = frozenset()) -> bool:
    """The same, with functions that are allowed where the text runs."""
    if not names.table_functions <= TABLE_FUNCTIONS:
        return False
    others = names.functions - names.table_functions - TABLE_FUNCTIONS
    return others <= function_names() and not names.functions & (DENIED - but)


def _resolved(session: Session, name: str, ctes: set[str], reads: Reads, views: tuple[str, ...]) -> bool:
    """Whether the name is known to mean something public; then `reads` has it. A name of something private is never
    another's: not a CTE's, either."""
    folded = fold(name)
    spec = session.catalog.table(name)
    if spec is not None:
        if spec.public:
            reads.tables[folded] = None
        return spec.public
    view = session.catalog.view(name)
    if view is not None:
        reads.views[folded] = session.catalog.views[view]
        deep = view in views or len(views) > DEEPEST
        return not deep and _is_public(session, session.catalog.views[view], reads, (*views, view))
    if folded in session.user_tables:
        reads.users[folded] = None
        return True
    return folded in ctes or folded in reads.parts
