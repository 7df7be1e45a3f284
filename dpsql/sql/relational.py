"""The relational part of the allow-list: queries, tables, joins, grouping, windows, names and literals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.sql.arguments import names

_OF_ONE = (
    exp.From, exp.Where, exp.Having, exp.Qualify, exp.IgnoreNulls, exp.RespectNulls, exp.Exists, exp.Boolean,
    exp.Placeholder, exp.Paren, exp.Var, exp.DataTypeParam, exp.Any, exp.All,
)  # fmt: skip
_OF_SEVERAL = (exp.With, exp.Distinct, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Array)
ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {
        **dict.fromkeys((exp.Star, exp.Null, exp.CurrentDate), names("")),
        **dict.fromkeys(_OF_ONE, names("this")),
        **dict.fromkeys(_OF_SEVERAL, names("expressions")),
        **dict.fromkeys((exp.Limit, exp.Offset), names("expression")),
        **dict.fromkeys((exp.Filter, exp.WithinGroup), names("this expression")),
        # queries
        **dict.fromkeys(
            (exp.Union, exp.Intersect, exp.Except), names("with_ this expression distinct order limit offset")
        ),
        exp.Select: names(
            "with_ expressions distinct from_ joins where group having qualify windows order limit offset"
        ),
        exp.CTE: names("this alias materialized"),
        exp.Subquery: names("this alias with_ joins order limit offset"),
        exp.Values: names("expressions alias"),
        # tables
        exp.Table: names("this alias db catalog joins"),
        exp.TableAlias: names("this columns"),
        exp.Join: names("this on using method side kind"),
        # clauses
        exp.Group: names("expressions all rollup cube grouping_sets"),
        exp.Order: names("this expressions"),
        exp.Ordered: names("this desc nulls_first"),
        exp.Fetch: names("direction count limit_options"),
        exp.LimitOptions: names("rows"),
        # calls
        exp.Window: names("this partition_by order spec over alias"),
        exp.WindowSpec: names("kind start start_side end end_side exclude"),
        exp.Anonymous: names("this expressions"),
        # subqueries in conditions
        exp.In: names("this expressions query"),
        # names and literals
        exp.Alias: names("this alias"),
        exp.Column: names("this table db catalog"),
        exp.Identifier: names("this quoted"),
        exp.Literal: names("this is_string"),
        exp.Interval: names("this unit"),
        exp.DataType: names("this expressions"),
    }
)

# (method, side, kind) of a join that the binder knows; a comma is the first.
JOINS = frozenset(
    {
        *(("", "", kind) for kind in ("", "CROSS", "INNER", "SEMI", "ANTI")),
        *(("NATURAL", "", kind) for kind in ("", "INNER")),
        *((way, side, kind) for way in ("", "NATURAL") for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")),
    }
)

FRAME_WORDS = frozenset(
    {"ROWS", "RANGE", "GROUPS", "UNBOUNDED", "CURRENT ROW", "PRECEDING", "FOLLOWING"},
)

# Window functions inside whose parentheses IGNORE NULLS may stand: first_value(x IGNORE NULLS) OVER ().
NULL_AWARE = (exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead)

TYPES = frozenset(
    exp.DataType.Type[name]
    for name in """
    BOOLEAN TINYINT SMALLINT INT BIGINT INT128 UTINYINT USMALLINT UINT UBIGINT
    DECIMAL FLOAT DOUBLE DATE TIMESTAMP TIMESTAMPNTZ TEXT VARCHAR
    """.split()
)
