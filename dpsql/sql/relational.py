"""The relational part of the allow-list: queries, tables, joins, grouping, windows, names and literals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {
        # queries
        exp.Select: _names(
            "with_ expressions distinct from_ joins where group having qualify windows order limit offset"
        ),
        exp.With: _names("expressions"),
        exp.CTE: _names("this alias materialized"),
        exp.Subquery: _names("this alias with_ joins order limit offset"),
        exp.Union: _names("with_ this expression distinct order limit offset"),
        exp.Intersect: _names("with_ this expression distinct order limit offset"),
        exp.Except: _names("with_ this expression distinct order limit offset"),
        exp.Values: _names("expressions alias"),
        # tables
        exp.From: _names("this"),
        exp.Table: _names("this alias db catalog joins"),
        exp.TableAlias: _names("this columns"),
        exp.Join: _names("this on using method side kind"),
        # clauses
        exp.Distinct: _names("expressions"),
        exp.Where: _names("this"),
        exp.Group: _names("expressions all rollup cube grouping_sets"),
        exp.Rollup: _names("expressions"),
        exp.Cube: _names("expressions"),
        exp.GroupingSets: _names("expressions"),
        exp.Having: _names("this"),
        exp.Qualify: _names("this"),
        exp.Order: _names("this expressions"),
        exp.Ordered: _names("this desc nulls_first"),
        exp.Limit: _names("expression"),
        exp.Offset: _names("expression"),
        exp.Fetch: _names("direction count limit_options"),
        exp.LimitOptions: _names("rows"),
        # calls
        exp.Window: _names("this partition_by order spec over alias"),
        exp.WindowSpec: _names("kind start start_side end end_side exclude"),
        exp.Filter: _names("this expression"),
        exp.WithinGroup: _names("this expression"),
        exp.IgnoreNulls: _names("this"),
        exp.RespectNulls: _names("this"),
        exp.Anonymous: _names("this expressions"),
        # subqueries in conditions
        exp.Exists: _names("this"),
        exp.In: _names("this expressions query"),
        # names and literals
        exp.Star: _names(""),
        exp.Alias: _names("this alias"),
        exp.Column: _names("this table db catalog"),
        exp.Identifier: _names("this quoted"),
        exp.Literal: _names("this is_string"),
        exp.Boolean: _names("this"),
        exp.Null: _names(""),
        exp.Placeholder: _names("this"),
        exp.Paren: _names("this"),
        exp.Tuple: _names("expressions"),
        exp.Array: _names("expressions"),
        exp.Interval: _names("this unit"),
        exp.Var: _names("this"),
        exp.DataType: _names("this expressions"),
        exp.DataTypeParam: _names("this"),
    }
)

# (method, side, kind) of a join that the binder knows; a comma is the first.
JOINS = frozenset(
    {
        ("", "", ""),
        ("", "", "CROSS"),
        ("", "", "INNER"),
        *(("", side, kind) for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")),
        ("", "", "SEMI"),
        ("", "", "ANTI"),
        ("NATURAL", "", ""),
        ("NATURAL", "", "INNER"),
        *(("NATURAL", side, kind) for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")),
    }
)

FRAME_WORDS = frozenset(
    {"ROWS", "RANGE", "GROUPS", "UNBOUNDED", "CURRENT ROW", "PRECEDING", "FOLLOWING"},
)

# Window functions inside whose parentheses IGNORE NULLS may stand: first_value(x IGNORE NULLS) OVER ().
NULL_AWARE = (exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead)

_T = exp.DataType.Type
TYPES = frozenset(
    {
        _T.BOOLEAN,
        _T.TINYINT,
        _T.SMALLINT,
        _T.INT,
        _T.BIGINT,
        _T.INT128,
        _T.DECIMAL,
        _T.FLOAT,
        _T.DOUBLE,
        _T.DATE,
        _T.TIMESTAMP,
        _T.TIMESTAMPNTZ,
        _T.TEXT,
        _T.VARCHAR,
    }
)
