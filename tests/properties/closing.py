"""The inputs of a statement's releases, closed as the kernel wants them: the unit, then every key, argument and condition
as a column of its own. Made here, so that relations can be certified before anything above them is planned."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.aggregates import BY_NAME
from dpsql.engine.printing import printed
from dpsql.execution.key_values import answers
from dpsql.execution.planning import read
from dpsql.functions.sets import counted
from dpsql.ir.expr import Expr, columns_of
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Node, Project
from dpsql.plan.cut import UnboundedStage, cut
from dpsql.privacy.rules.context import KeysNeeded, TrackContext
from dpsql.privacy.track import track_statement
from dpsql.session import Session
from dpsql.sql.bind import bind


def closed(session: Session, sql: str) -> list[Project]:
    """Refused as planning refuses."""
    return [node for node, _ in with_loads(session, sql)]


def with_loads(session: Session, sql: str) -> list[tuple[Project, tuple[Node, ...]]]:
    """And the public relations that each is handed."""
    ids = Ids()
    tree = bind(
        read(sql), session.catalog, aggregates=BY_NAME, user_tables=session.user_tables, ids=ids, printed=printed
    )
    try:
        with counted(answers(session)):
            tracked = track_statement(tree, TrackContext(catalog=session.catalog, ids=ids, keys_of=session.keys))
    except KeysNeeded as needed:
        session.read_keys(*needed.column)
        return with_loads(session, sql)
    return [(_closed(draft, ids), draft.loads) for draft in cut(tracked, ids)[0]]


def _closed(draft: UnboundedStage, ids: Ids) -> Project:
    unit = draft.private.unit
    exprs = [unit, *dict.fromkeys(expr for expr in _read(draft) if columns_of(expr))]
    return Project(draft.input, tuple(ids.field("", expr.type) for expr in exprs), tuple(exprs))


def _read(draft: UnboundedStage) -> Iterator[Expr]:
    yield from draft.node.keys
    for call in draft.node.calls:
        yield from call.args
        yield from (key.expr for key in call.order)
        if call.where is not None:
            yield call.where
