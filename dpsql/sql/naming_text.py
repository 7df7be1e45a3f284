"""Pieces of a column name that DuckDB takes from the text as it was written: names, types, date parts."""

from __future__ import annotations

import re
from types import MappingProxyType

from sqlglot import exp

from dpsql.catalog.model import fold
from dpsql.sql.keywords import KEYWORDS
from dpsql.sql.places import TEXT_META, written_name
from dpsql.sql.tokens import own_place


def identifier(name: str) -> str:
    """A name as DuckDB prints it inside an expression: quoted if it is a keyword or not a plain ASCII word."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and fold(name) not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def call(name: str, arguments: str) -> str:
    return f"{identifier(fold(name))}({arguments})"


def called(node: exp.Expr) -> str:
    """The name a call was written with, else sqlglot's first name for its class."""
    if isinstance(node, exp.Anonymous):
        return str(node.name)
    return written_name(node) or (node.sql_names()[0] if isinstance(node, exp.Func) else type(node).__name__)


def text_of(node: exp.Expr) -> str:
    return str(node.root().meta.get(TEXT_META, ""))


def written(node: exp.Expr) -> str:
    """The node's own piece of the text, or nothing."""
    where = own_place(node)
    return "" if where is None else text_of(node)[where.start : where.end]


# Types that are words of DuckDB's grammar are printed in one spelling; the others as they were written.
_GRAMMAR_TYPES = MappingProxyType(
    {
        **{name: name for name in ("BOOLEAN", "SMALLINT", "BIGINT", "DECIMAL", "VARCHAR", "TIMESTAMP", "FLOAT")},
        **dict.fromkeys(("INT", "INTEGER"), "INTEGER"),
        **dict.fromkeys(("NUMERIC", "DEC"), "DECIMAL"),
        **dict.fromkeys(("CHAR", "CHARACTER", "NVARCHAR", "CHAR VARYING", "CHARACTER VARYING"), "VARCHAR"),
        "REAL": "FLOAT",
        "DOUBLE PRECISION": "DOUBLE",
    }
)


_SIZES = re.compile(r"\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def type_name(node: exp.Expr) -> str:
    """As it was written: sqlglot puts in sizes that were left out, and leaves out those of texts."""
    spelled = written(node)
    if spelled.startswith('"'):
        return spelled[1:-1]
    name = _GRAMMAR_TYPES.get(" ".join(spelled.upper().split()), spelled) or node.sql("duckdb").partition("(")[0]
    where = own_place(node)
    if where is None:
        sizes = [part.name for part in node.expressions]
    else:
        found = _SIZES.match(text_of(node), where.end)
        sizes = [] if found is None else [size for size in found.groups() if size is not None]
    return f"{name}({', '.join(sizes)})" if sizes else name


_PARTS = re.compile(r"\w+\s*\(\s*(?:'((?:[^']|'')*)'|(\w+))")


def part_of(node: exp.Expr, fallback: str) -> str:
    """The first argument of date_trunc('Month', d) or EXTRACT(month FROM d) as written; sqlglot capitalises it.

    DuckDB capitalises in its turn the words of its grammar (YEAR, MONTH …) after EXTRACT.
    """
    where = own_place(node)
    found = _PARTS.match(text_of(node), where.start) if where else None
    if found is None:
        return f"'{fallback.lower()}'"
    if found[1] is not None:
        return f"'{found[1]}'"
    return f"'{found[2].upper() if fold(found[2]) in KEYWORDS else found[2]}'"
