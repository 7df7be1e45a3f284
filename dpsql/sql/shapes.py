"""Where the parts of a statement may stand. sqlglot's grammar is loose: it puts t.(*) or a clause where a name belongs.

PARENTS: classes that stand in certain arguments of certain classes only. CHILDREN: arguments that hold certain classes
only. Everything else is an expression where an expression can be; the binder reads those one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.sql.aggregate_nodes import AGGREGATE_ARGUMENTS

Kinds = tuple[type[exp.Expr], ...]

_QUERIES: Kinds = (exp.Select, exp.Subquery, exp.Union, exp.Intersect, exp.Except)
_ITEMS: Kinds = (exp.Table, exp.Subquery, exp.Values)
_COMPARED: Kinds = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_CALLS: Kinds = (*AGGREGATE_ARGUMENTS, exp.Anonymous)


def _of(kinds: Kinds, *arguments: str) -> frozenset[tuple[type[exp.Expr], str]]:
    return frozenset((kind, argument) for kind in kinds for argument in arguments)


# An aggregate's arguments may hold DISTINCT and ORDER BY; sqlglot hangs the latter on the last argument.
_IN_CALL = frozenset((kind, argument) for kind, names in AGGREGATE_ARGUMENTS.items() for argument in names) | _of(
    (exp.Anonymous,), "expressions"
)

PARENTS: Mapping[type[exp.Expr], frozenset[tuple[type[exp.Expr], str]]] = MappingProxyType(
    {
        exp.With: _of(_QUERIES, "with_"),
        exp.CTE: _of((exp.With,), "expressions"),
        exp.From: _of((exp.Select,), "from_"),
        exp.Table: _of((exp.From, exp.Join, exp.Subquery), "this"),
        exp.TableAlias: _of((exp.CTE, *_ITEMS), "alias"),
        exp.Join: _of((exp.Select, exp.Table, exp.Subquery), "joins"),
        exp.Values: _of((exp.From, exp.Join, exp.Subquery, exp.CTE), "this"),
        exp.Where: _of((exp.Select,), "where") | _of((exp.Filter,), "expression"),
        exp.Group: _of((exp.Select,), "group"),
        exp.Rollup: _of((exp.Group,), "expressions", "rollup") | _of((exp.GroupingSets,), "expressions"),
        exp.Cube: _of((exp.Group,), "expressions", "cube") | _of((exp.GroupingSets,), "expressions"),
        exp.GroupingSets: _of((exp.Group,), "expressions", "grouping_sets"),
        exp.Having: _of((exp.Select,), "having"),
        exp.Qualify: _of((exp.Select,), "qualify"),
        exp.Distinct: _of((exp.Select,), "distinct") | _IN_CALL | _of((exp.Order, exp.IgnoreNulls), "this"),
        exp.Order: _of((*_QUERIES, exp.Window), "order") | _of((exp.WithinGroup,), "expression") | _IN_CALL,
        exp.Ordered: _of((exp.Order,), "expressions"),
        exp.Limit: _of(_QUERIES, "limit"),
        exp.Fetch: _of(_QUERIES, "limit"),
        exp.LimitOptions: _of((exp.Fetch,), "limit_options"),
        exp.Offset: _of(_QUERIES, "offset"),
        exp.WindowSpec: _of((exp.Window,), "spec"),
        exp.DataType: _of((exp.Cast, exp.TryCast), "to"),
        exp.DataTypeParam: _of((exp.DataType,), "expressions"),
        exp.Star: _of((exp.Select,), "expressions") | _of((exp.Column, exp.Count), "this"),
        exp.Alias: _of((exp.Select,), "expressions"),
        **dict.fromkeys((exp.Any, exp.All), _of(_COMPARED, "expression")),
    }
)

_CLAUSES = _of((*_QUERIES, exp.Window), "order") | _of((exp.WithinGroup,), "expression")

_NAME: Kinds = (exp.Identifier,)
CHILDREN: Mapping[tuple[type[exp.Expr], str], Kinds] = MappingProxyType(
    {
        (exp.Column, "this"): (exp.Identifier, exp.Star),
        (exp.Column, "table"): _NAME,
        (exp.Column, "db"): _NAME,
        (exp.Column, "catalog"): _NAME,
        (exp.Table, "db"): _NAME,
        (exp.Table, "catalog"): _NAME,
        (exp.TableAlias, "columns"): _NAME,
        (exp.Join, "using"): _NAME,
        (exp.Join, "this"): _ITEMS,
        (exp.From, "this"): _ITEMS,
        (exp.CTE, "this"): _QUERIES,
        (exp.CTE, "alias"): (exp.TableAlias,),
        (exp.Exists, "this"): _QUERIES,
        (exp.In, "query"): _QUERIES,
        (exp.Any, "this"): _QUERIES,
        (exp.All, "this"): _QUERIES,
        (exp.Filter, "this"): (*_CALLS, exp.WithinGroup, exp.IgnoreNulls),
        (exp.WithinGroup, "this"): _CALLS,
        (exp.Filter, "expression"): (exp.Where,),
        (exp.WithinGroup, "expression"): (exp.Order,),
        (exp.Order, "expressions"): (exp.Ordered,),
        (exp.Select, "windows"): (exp.Window,),
        (exp.Window, "alias"): _NAME,
        (exp.Cast, "to"): (exp.DataType,),
        (exp.TryCast, "to"): (exp.DataType,),
        (exp.DataType, "expressions"): (exp.DataTypeParam,),
        (exp.DataTypeParam, "this"): (exp.Literal,),
        (exp.Limit, "expression"): (exp.Literal, exp.Placeholder),
        (exp.Offset, "expression"): (exp.Literal, exp.Placeholder),
        (exp.Fetch, "count"): (exp.Literal, exp.Placeholder),
        (exp.Interval, "unit"): (exp.Var,),
        (exp.Case, "ifs"): (exp.If,),
    }
)


def fits(node: exp.Expr) -> bool:
    """Whether the node may stand where it stands."""
    parent, argument = node.parent, node.arg_key
    if parent is None:
        return type(node) in (*_QUERIES, exp.Values)
    key = (type(parent), str(argument))
    if isinstance(node, exp.Order) and (node.this is None) is not (key in _CLAUSES):
        return False  # inside a call sqlglot hangs ORDER BY on the argument before it, and there must be one
    if any(required and node.args.get(name) in (None, []) for name, required in node.arg_types.items()):
        return False
    return key in PARENTS.get(type(node), {key}) and isinstance(node, CHILDREN.get(key, exp.Expr))
