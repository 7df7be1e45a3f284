"""Step 2: every node class, and every argument of a node, that a statement may hold. What is not listed is refused.

sqlglot parses far more than dpsql answers, and much of it hides in arguments of ordinary nodes (FOR UPDATE, WITH TIES,
ONLY, ASOF): an argument that is set and not listed is refused like a node that is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql import functions
from dpsql.catalog.model import fold
from dpsql.errors import Error, Refused, Span, SqlError
from dpsql.sql import relational
from dpsql.sql.aggregate_nodes import AGGREGATE_ARGUMENTS, WINDOW_ARGUMENTS
from dpsql.sql.call_nodes import ALLOWED as CALL_NODES
from dpsql.sql.places import written_name
from dpsql.sql.refusals import ARGUMENTS, NODES
from dpsql.sql.shapes import fits
from dpsql.sql.statement import Statement
from dpsql.sql.tokens import span

ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {**CALL_NODES, **AGGREGATE_ARGUMENTS, **WINDOW_ARGUMENTS, **relational.ALLOWED}
)


def allow(statement: Statement) -> None:
    """Nothing where the whole tree is on the list; otherwise Refused 120 (SqlError 100 for a SELECT of nothing)."""
    if statement.tree is None:
        return
    try:
        for node in statement.tree.walk():
            _allow(node, statement.text)
    except Error as error:
        error.in_text(statement.text)
        raise


def _allow(node: exp.Expr, text: str) -> None:
    arguments = ALLOWED.get(type(node))
    if arguments is None:
        raise _refused_node(node, text)
    for name, value in node.args.items():
        if _is_set(value) and name not in arguments:
            raise _refused_argument(node, name, text)
    for check in CHECKS.get(type(node), ()):
        check(node, text)
    if not fits(node):
        if isinstance(node, exp.Star) and isinstance(node.parent, exp.Func):
            raise _starred(node.parent, text)
        raise SqlError(
            "this is not possible here",
            at=span(node, text),
            fix="Check commas, parentheses and the order of the clauses.",
        )


def _is_set(value: object) -> bool:
    return not (value is None or value is False or value == [] or value == "")


def _refused_node(node: exp.Expr, text: str) -> Refused:
    if isinstance(node, exp.Func) and type(node).__name__ not in NODES:
        return _unknown_function(node, text)
    what, fix = NODES.get(type(node).__name__, (type(node).__name__.upper(), "See `dpsql help sql` for what there is."))
    return Refused(f"dpsql does not answer {what}", code=120, at=span(node, text), fix=fix)


def _unknown_function(node: exp.Func, text: str) -> Refused:
    """A function that sqlglot knows and dpsql does not."""
    return functions.unknown(fold(written_name(node) or node.sql_names()[0]), span(node, text))


def _starred(call: exp.Func, text: str) -> Error:
    """f(*): a misspelt COUNT, or a function of a column."""
    name = call.name if isinstance(call, exp.Anonymous) else written_name(call) or call.sql_names()[0]
    if isinstance(call, exp.Anonymous) and functions.suggest(name) != name.lower():
        return functions.unknown(name, span(call, text))
    return SqlError(f"{name.upper()} takes a column, not *", at=span(call, text), fix="Only COUNT takes *.")


def _refused_argument(node: exp.Expr, name: str, text: str) -> Refused:
    key = f"{type(node).__name__}.{name}"
    fallback = (f"{name.strip('_').replace('_', ' ')} of {type(node).__name__.upper()}", "Leave it out.")
    what, fix = ARGUMENTS.get(key) or ARGUMENTS.get(f"*.{name}") or fallback
    return Refused(f"dpsql does not answer {what}", code=120, at=_argument_span(node, name, text), fix=fix)


def _argument_span(node: exp.Expr, name: str, text: str) -> Span | None:
    value = node.args.get(name)
    parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, exp.Expr)]
    return span(parts[0] if parts else node, text)


Check = Callable[[exp.Expr, str], None]


def _refuse(node: exp.Expr, text: str, what: str, fix: str) -> Refused:
    return Refused(f"dpsql does not answer {what}", code=120, at=span(node, text), fix=fix)


def _selects_something(node: exp.Expr, text: str) -> None:
    if not node.expressions:
        raise SqlError("SELECT has no columns", at=span(node, text), fix="Name what to select.")


def _known_join(node: exp.Expr, text: str) -> None:
    words = tuple(str(node.args.get(part) or "").upper() for part in ("method", "side", "kind"))
    if words not in relational.JOINS:
        what = " ".join(word for word in words if word)
        raise _refuse(node, text, f"{what} JOIN", "Use JOIN, LEFT, RIGHT, FULL or CROSS JOIN, with ON or USING.")


def _named_table(node: exp.Expr, text: str) -> None:
    if not isinstance(node.this, exp.Identifier):
        raise _refuse(node, text, "functions in FROM", "Name a table of the metadata or one of your own.")
    for part in (node.this, node.args.get("db"), node.args.get("catalog")):
        if isinstance(part, exp.Identifier):
            _name_not_text(part, text, "files by their name", "The owner declares tables in the metadata.")
        elif part is not None:  # catalog..table
            raise _refuse(node, text, "a name with an empty part", "Name the table alone, or its schema.")


def _identifier(node: exp.Expr, text: str) -> None:
    if "\x00" in node.name:
        raise SqlError("a name holds a NUL character", code=100, at=span(node, text), fix="Leave it out.")
    _name_not_text(node, text, "a text as a name", 'Write a name in double quotes: "name".')


def _name_not_text(node: exp.Expr, text: str, what: str, fix: str) -> None:
    where = span(node, text)
    if where is not None and text[where.start : where.start + 1] == "'":
        raise _refuse(node, text, what, fix)


def _alias(node: exp.Expr, text: str) -> None:
    alias = node.args.get("alias") if isinstance(node, exp.Alias) else node.this
    if alias is not None and not isinstance(alias, exp.Identifier):
        raise SqlError("this cannot be an alias", at=span(alias, text), fix="Write AS and a name.")


def _group(node: exp.Expr, text: str) -> None:
    if node.args.get("all") is False or (node.args.get("all") and node.expressions):
        raise _refuse(
            node, text, "GROUP BY ALL or DISTINCT with a list", "Write GROUP BY ALL alone, or the list alone."
        )
    if not any(_is_set(value) for value in node.args.values()):
        raise SqlError(
            "GROUP BY names no key", at=span(node.parent or node, text), fix="Name its keys, or leave it out."
        )


def _set_operation(node: exp.Expr, text: str) -> None:
    for side in (node.this, node.expression):
        if not isinstance(side, (exp.Select, exp.Subquery, exp.SetOperation)):
            raise _refuse(side, text, f"{type(node).__name__.upper()} of this", "Write a SELECT on both sides.")
        if _stands_in_from(side):
            raise _refuse(side, text, f"{type(node).__name__.upper()} of a table", "Write SELECT * FROM it.")


def _stands_in_from(node: exp.Expr) -> bool:
    """Whether parentheses have a name or joins: they are a table then, and no query can go on behind them."""
    return isinstance(node, exp.Subquery) and any(_is_set(node.args.get(name)) for name in ("alias", "joins"))


def _subquery(node: exp.Expr, text: str) -> None:
    """Parentheses around joins are only parentheses; around a query they make a table."""
    if _stands_in_from(node) and any(_is_set(node.args.get(name)) for name in ("with_", "order", "limit", "offset")):
        raise _refuse(
            node, text, "ORDER BY or LIMIT after a table in parentheses", "Write them at the end of a SELECT."
        )
    if isinstance(node.this, exp.Table):
        if any(_is_set(node.args.get(name)) for name in ("alias", "joins", "with_", "order", "limit", "offset")):
            raise _refuse(node, text, "parentheses around joins with more after them", "Write the joins without them.")
    elif not isinstance(node.this, (exp.Select, exp.Subquery, exp.SetOperation, exp.Values)):
        raise _refuse(node, text, "parentheses around this", "Write a SELECT.")


def _data_type(node: exp.Expr, text: str) -> None:
    if node.this not in relational.TYPES:
        shown = getattr(node.this, "value", node.this)
        raise Refused(
            f"dpsql has no type {shown}",
            code=120,
            at=span(node, text),
            fix="Use BOOLEAN, INTEGER, BIGINT, DECIMAL(p, s), DOUBLE, DATE, TIMESTAMP or VARCHAR.",
        )


def _nulls(node: exp.Expr, text: str) -> None:
    """IGNORE NULLS belongs to window functions; sqlglot reads every any_value(x) as if it had been written."""
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.AnyValue):
        return
    if not isinstance(node.parent, exp.Window) and not isinstance(node.parent, relational.NULL_AWARE):
        raise _refuse(
            node, text, "IGNORE NULLS or RESPECT NULLS of an aggregate", "Leave it out: aggregates ignore NULLs anyway."
        )


def _values(node: exp.Expr, text: str) -> None:
    if not all(isinstance(row, exp.Tuple) for row in node.expressions):
        raise _refuse(node, text, "VALUES without parentheses", "Write VALUES (1, 2), (3, 4).")


def _window_edge(node: exp.Expr, text: str) -> None:
    for name in ("kind", "start", "start_side", "end", "end_side"):
        value = node.args.get(name)
        if isinstance(value, str) and value.upper() not in relational.FRAME_WORDS:
            raise _refuse(node, text, f"{value} in a window's frame", "Write ROWS BETWEEN … AND ….")


def _window(node: exp.Expr, text: str) -> None:
    if node.args.get("over") not in (None, "OVER"):
        raise _refuse(node, text, f"{node.args['over']} after a function", "Write OVER (…).")


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def _unchained(node: exp.Expr, text: str) -> None:
    if isinstance(node.this, _COMPARISONS) or isinstance(node.expression, _COMPARISONS):
        raise SqlError(
            "comparisons cannot be chained", at=span(node, text), fix="Join them with AND, or put one in parentheses."
        )


CHECKS: Mapping[type[exp.Expr], tuple[Check, ...]] = MappingProxyType(
    {
        exp.Select: (_selects_something,),
        exp.Join: (_known_join,),
        exp.Table: (_named_table,),
        exp.Identifier: (_identifier,),
        exp.Alias: (_alias,),
        exp.TableAlias: (_alias,),
        exp.Group: (_group,),
        exp.Union: (_set_operation,),
        exp.Intersect: (_set_operation,),
        exp.Except: (_set_operation,),
        exp.Subquery: (_subquery,),
        exp.DataType: (_data_type,),
        exp.IgnoreNulls: (_nulls,),
        exp.RespectNulls: (_nulls,),
        exp.Values: (_values,),
        exp.Window: (_window,),
        exp.WindowSpec: (_window_edge,),
        **dict.fromkeys(_COMPARISONS, (_unchained,)),
    }
)
