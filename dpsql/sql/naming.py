"""The name DuckDB gives a SELECT item without an alias: its own printing of the expression, parentheses and all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.catalog.model import fold
from dpsql.sql.naming_queries import show_query, show_window
from dpsql.sql.naming_text import call, called, identifier, part_of, type_name, written
from dpsql.sql.places import NEGATED_META, written_name
from dpsql.sql.statement import frozen


def column_name(node: exp.Expr) -> str:
    """The name of an unnamed SELECT item. A column's is as written; DuckDB takes the table's own spelling of it."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Alias():
            return str(node.alias)
        case exp.Column() if not isinstance(node.this, exp.Star):
            return str(node.name)
        case _:
            return _show(node)


def _show(node: exp.Expr) -> str:
    printer = _PRINTERS.get(type(node))
    if printer is not None:
        return printer(node)
    operator = _OPERATORS.get(type(node))
    if operator is not None and not written_name(node):  # POWER(x, 2) is x ^ 2 to sqlglot
        return f"({_show(node.this)} {operator} {_show(node.expression)})"
    return call(called(node), _arguments(node))


def _list(nodes: object) -> str:
    return ", ".join(_show(node) for node in nodes) if isinstance(nodes, list) else ""


def _arguments(node: exp.Expr) -> str:
    """The arguments of a call whose class keeps them in the order they were written."""
    if isinstance(node, exp.Anonymous):
        return _list(node.expressions)
    found: list[str] = []
    for name in node.arg_types:
        value = node.args.get(name)
        if isinstance(value, exp.Expr):
            found.append(_show(value))
        elif isinstance(value, list) and value:
            found.append(_list(value))
    return ", ".join(found)


def _literal(node: exp.Expr) -> str:
    if node.args.get("is_string"):
        return "'" + str(node.this).replace("'", "''") + "'"
    return written(node) or str(node.this)


def _column(node: exp.Expr) -> str:
    if isinstance(node, exp.Column):
        return ".".join("*" if isinstance(part, exp.Star) else identifier(part.name) for part in node.parts)
    return identifier(node.name)


def _negative(node: exp.Expr) -> str:
    operand = node.this.unnest()
    if isinstance(operand, exp.Literal) and not operand.is_string:
        return f"-{_show(operand)}"
    return f"(-({_show(operand)}))"


def _flat(kind: type[exp.Expr], word: str) -> Callable[[exp.Expr], str]:
    """AND and OR of any nesting are one list to DuckDB."""

    def parts(node: exp.Expr) -> list[str]:
        inner = node.unnest()
        return [*parts(inner.this), *parts(inner.expression)] if isinstance(inner, kind) else [_show(inner)]

    return lambda node: f"({f' {word} '.join(parts(node))})"


def _not(node: exp.Expr) -> str:
    """x IS NOT NULL and NOT x IS NULL are one tree to sqlglot; the text tells them apart."""
    inner = node.this
    if isinstance(inner, exp.Is) and inner.meta.get(NEGATED_META):
        return _is(inner, negated=True)
    return f"(NOT {_show(inner)})"


def _is(node: exp.Expr, *, negated: bool = False) -> str:
    tested = _show(node.this)
    if isinstance(node.expression, exp.Boolean):
        distinct = "IS DISTINCT FROM" if negated else "IS NOT DISTINCT FROM"
        return f"(CAST({tested} AS BOOLEAN) {distinct} {_show(node.expression)})"
    return f"({tested} IS {'NOT ' if negated else ''}NULL)"


def _like(sign: str) -> Callable[[exp.Expr], str]:
    def printed(node: exp.Expr) -> str:
        return f"({_show(node.this)} {'!' if node.args.get('negate') else ''}{sign} {_show(node.expression)})"

    return printed


def _escape(node: exp.Expr) -> str:
    like = node.this
    name = "ilike_escape" if isinstance(like, exp.ILike) else "like_escape"
    printed = f"{name}({_show(like.this)}, {_show(like.expression)}, {_show(node.expression)})"
    return f"(NOT {printed})" if like.args.get("negate") else printed


def _in(node: exp.Expr) -> str:
    query = node.args.get("query")
    if query is not None:
        return f"({_show(node.this)} = ANY({_query(query.unnest())}))"
    return f"({_show(node.this)} IN ({_list(node.expressions)}))"


def _case(node: exp.Expr) -> str:
    subject = node.args.get("this")
    arms = "".join(
        f" WHEN ({_show(arm.this) if subject is None else f'({_show(subject)} = {_show(arm.this)})'})"
        f" THEN ({_show(arm.args['true'])})"
        for arm in node.args["ifs"]
    )
    default = node.args.get("default")
    return f"CASE {arms} ELSE {'NULL' if default is None else _show(default)} END"


def _cast(name: str) -> Callable[[exp.Expr], str]:
    return lambda node: f"{name}({_show(node.this)} AS {type_name(node.args['to'])})"


def _epoch(node: exp.Expr) -> str:
    """EPOCH_MS(x): sqlglot adds the scale that the name says."""
    return call(called(node), _show(node.this))


def _extract(node: exp.Expr) -> str:
    return f"date_part({part_of(node, node.this.name)}, {_show(node.expression)})"


def _truncated(node: exp.Expr) -> str:
    return call(called(node), f"{part_of(node, node.args['unit'].name)}, {_show(node.this)}")


def _difference(node: exp.Expr) -> str:
    parts = (part_of(node, node.args["unit"].name), _show(node.expression), _show(node.this))
    return call(called(node), ", ".join(parts))


def _interval(node: exp.Expr) -> str:
    amount, unit = node.this, fold(node.args["unit"].name) if node.args.get("unit") is not None else ""
    spelled = written(amount)
    if isinstance(amount, exp.Literal) and (not spelled or spelled.strip("'") != amount.name):
        return f"CAST({spelled or repr(f'{amount.name} {unit}')} AS INTERVAL)"
    shown = spelled if isinstance(amount, exp.Literal) else _show(amount.unnest())
    plural = {"century": "centuries", "millennium": "millennia"}.get(unit, unit if unit.endswith("s") else unit + "s")
    return f"to_{plural}(CAST(trunc(CAST({shown} AS DOUBLE)) AS {_INTERVAL_TYPES.get(plural, 'INTEGER')}))"


_INTERVAL_TYPES = frozen({"hours": "BIGINT", "minutes": "BIGINT", "microseconds": "BIGINT"})


def _logarithm(node: exp.Expr) -> str:
    """LOG10(x) is LOG(10, x) to sqlglot."""
    name, last = called(node), node.args.get("expression") or node.this
    return call(name, _show(last) if fold(name) in ("log10", "log2", "log") and not _two(node) else _arguments(node))


def _two(node: exp.Expr) -> bool:
    return fold(called(node)) == "log" and node.args.get("expression") is not None


def _trim(node: exp.Expr) -> str:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    characters = node.args.get("expression")
    return call(name, _show(node.this) + ("" if characters is None else f", {_show(characters)}"))


def _count(node: exp.Expr) -> str:
    if node.this is None or isinstance(node.this, exp.Star):
        return "count()" if isinstance(node.parent, exp.Window) else "count_star()"
    return call(called(node), ", ".join(filter(None, (_show(node.this), _list(node.expressions)))))


def _within_group(node: exp.Expr) -> str:
    call, order = node.this, _list(node.expression.expressions)
    if isinstance(call, (exp.PercentileCont, exp.PercentileDisc)):
        name = "quantile_cont" if isinstance(call, exp.PercentileCont) else "quantile_disc"
        return f"{name}({_arguments(call)} ORDER BY {order})"
    return f"{_show(call)} WITHIN GROUP ( ORDER BY {order})"


def _ordered(node: exp.Expr) -> str:
    direction = {True: " DESC", False: " ASC", None: ""}[node.args.get("desc")]
    return f"{_show(node.this)}{direction}{' NULLS FIRST' if node.args.get('nulls_first') else ''}"


def _argument_order(node: exp.Expr) -> str:
    """ORDER BY inside a call's parentheses; sqlglot hangs it on the last argument."""
    return f"{_show(node.this)} ORDER BY {_list(node.expressions)}"


def _any_value(node: exp.Expr) -> str:
    """sqlglot wraps every any_value(x) in IGNORE NULLS."""
    return _show(node.this) if isinstance(node.this, exp.AnyValue) else f"{_show(node.this)} IGNORE NULLS"


def _query(node: exp.Expr) -> str:
    return show_query(node, _show)


_OPERATORS: Mapping[type[exp.Expr], str] = MappingProxyType(
    {
        exp.Add: "+",
        exp.Sub: "-",
        exp.Mul: "*",
        exp.Div: "/",
        exp.IntDiv: "//",
        exp.Mod: "%",
        exp.Pow: "^",
        exp.DPipe: "||",
        exp.EQ: "=",
        exp.NEQ: "!=",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
        exp.NullSafeEQ: "IS NOT DISTINCT FROM",
        exp.NullSafeNEQ: "IS DISTINCT FROM",
    }
)

_PRINTERS: Mapping[type[exp.Expr], Callable[[exp.Expr], str]] = MappingProxyType(
    {
        exp.Alias: lambda node: _show(node.this),
        exp.And: _flat(exp.And, "AND"),
        exp.AnyValue: lambda node: call(called(node), _show(node.this)),
        exp.Array: lambda node: f"list_value({_list(node.expressions)})",
        exp.Between: lambda node: (
            f"({_show(node.this)} BETWEEN {_show(node.args['low'])} AND {_show(node.args['high'])})"
        ),
        exp.Boolean: lambda node: "true" if node.this else "false",
        exp.Case: _case,
        exp.Cast: _cast("CAST"),
        exp.Coalesce: lambda node: f"COALESCE({_arguments(node)})",
        exp.Column: _column,
        exp.Count: _count,
        exp.CurrentDate: lambda node: f"{written_name(node)}()" if written_name(node) else "current_date",
        exp.DateDiff: _difference,
        exp.DateTrunc: _truncated,
        exp.Distinct: lambda node: f"DISTINCT {_list(node.expressions)}",
        exp.Escape: _escape,
        exp.Exists: lambda node: f"EXISTS({_query(node.this)})",
        exp.Extract: _extract,
        exp.UnixToTime: _epoch,
        exp.Filter: lambda node: f"{_show(node.this)} FILTER (WHERE {_show(node.expression.this)})",
        exp.Grouping: lambda node: f"GROUPING({_list(node.expressions)})",
        exp.Identifier: _column,
        exp.IgnoreNulls: _any_value,
        exp.ILike: _like("~~*"),
        exp.In: _in,
        exp.Interval: _interval,
        exp.Is: _is,
        exp.Like: _like("~~"),
        exp.Literal: _literal,
        exp.Log: _logarithm,
        exp.Neg: _negative,
        exp.Not: _not,
        exp.Null: lambda node: "NULL",
        exp.Or: _flat(exp.Or, "OR"),
        exp.Order: _argument_order,
        exp.Ordered: _ordered,
        exp.Paren: lambda node: _show(node.this),
        exp.Placeholder: lambda node: f"${node.name}",
        exp.RespectNulls: lambda node: _show(node.this),
        exp.Select: lambda node: f"({_query(node)})",
        exp.Star: lambda node: "*",
        exp.Subquery: lambda node: f"({_query(node.unnest())})",
        exp.TimestampTrunc: _truncated,
        exp.Trim: _trim,
        exp.TryCast: _cast("TRY_CAST"),
        exp.Tuple: lambda node: f'"row"({_list(node.expressions)})',
        exp.Var: lambda node: str(node.name),
        exp.Window: lambda node: show_window(node, _show),
        exp.WithinGroup: _within_group,
    }
)
