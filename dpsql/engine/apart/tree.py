"""What a statement names, by DuckDB's own parser: it decides what a text is. A tree of a shape unknown here names too much.

Nothing rests on it but the way a statement takes: where one runs apart there is nothing private to be named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import duckdb

from dpsql.engine.printing import parser

_SERIALIZE = "SELECT json_serialize_sql(?::VARCHAR, skip_null := true, skip_empty := true)"
_EXPRESSIONS = frozenset(
    """
    CONSTANT COLUMN_REF FUNCTION CAST TYPE COMPARISON CONJUNCTION CASE OPERATOR SUBQUERY STAR WINDOW LAMBDA PARAMETER
    BETWEEN COLLATE POSITIONAL_REFERENCE DEFAULT LAMBDA_REF
    """.split()
)
_QUERIES = frozenset("SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE".split())
_RELATIONS = frozenset("BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST PIVOT SHOW_REF EMPTY".split())
_PARTS = frozenset(
    """
    ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING
    """.split()
)
_SHOWN = ("DESCRIBE", "SUMMARY")


class UnknownShape(Exception):
    """The parser gave something that this module does not know."""


@dataclass(slots=True)
class Named:
    """tables: as dotted names. functions, table_functions: in lower case. ctes: names of WITH. As they are written."""

    tables: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    table_functions: set[str] = field(default_factory=set)
    ctes: set[str] = field(default_factory=set)

    def add(self, value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                self.add(one)
        elif isinstance(value, dict):
            self._node(value)

    def _node(self, node: Mapping[str, Any]) -> None:
        kind = node.get("class", node.get("type"))
        if "class" in node:
            self._expression(node)
        elif isinstance(kind, str) and kind in _RELATIONS:
            self._relation(kind, node)
        elif isinstance(kind, str) and kind not in _QUERIES | _PARTS:
            raise UnknownShape(kind)
        elif "table_name" in node or "function_name" in node:
            raise UnknownShape("a name")
        self._below(node)

    def _below(self, node: Mapping[str, Any]) -> None:
        for name, value in node.items():
            if name == "cte_map":
                self._ctes(value)
            elif node.get("class") != "CONSTANT":
                self.add(value)

    def _ctes(self, ctes: Mapping[str, Any]) -> None:
        for entry in ctes.get("map", ()):
            self.ctes.add(entry["key"])
            self.add({name: part for name, part in entry["value"].items() if name != "materialized"})

    def _expression(self, node: Mapping[str, Any]) -> None:
        if node["class"] not in _EXPRESSIONS:
            raise UnknownShape(str(node["class"]))
        if node["class"] in ("FUNCTION", "WINDOW"):
            self.functions.add(_path(node, "function_name").lower().rpartition(".")[2])

    def _relation(self, kind: str, node: Mapping[str, Any]) -> None:
        if "at_clause" in node:
            raise UnknownShape("AT")
        match kind:
            case "BASE_TABLE":
                self.tables.add(_path(node, "table_name"))
            case "SHOW_REF" if node.get("show_type") not in _SHOWN or "table_name" in node:
                raise UnknownShape("SHOW")
            case "TABLE_FUNCTION":
                self.table_functions.add(_path(node["function"], "function_name").lower())

    def join(self, other: Named) -> Named:
        return Named(
            self.tables | other.tables,
            self.functions | other.functions,
            self.table_functions | other.table_functions,
            self.ctes | other.ctes,
        )


def _path(node: Mapping[str, Any], name: str) -> str:
    path = node.get("qualified_name", {}).get("path") or [node[name]]
    return ".".join(path)


def named(text: str) -> Named | None:
    """Of one query; None where it is none that DuckDB can read, or of a shape unknown here."""
    names = Named()
    try:
        tree = _tree(text)
        names.add(tree)
    except (UnknownShape, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return None if tree is None else names


def _tree(text: str) -> Any:
    if "\x00" in text:
        return None
    try:
        with parser().cursor() as cursor:
            ((printed,),) = cursor.execute(_SERIALIZE, [text]).fetchall()
        tree = json.loads(printed)
    except (duckdb.Error, ValueError):  # half a letter: in the text, or where DuckDB's message ends
        return None
    statements = tree.get("statements", ())
    return statements[0].get("node") if not tree.get("error") and len(statements) == 1 else None


def is_several(text: str) -> bool:
    """Whether DuckDB makes several statements of one: PIVOT without IN."""
    try:
        with parser().cursor() as cursor:
            kinds = [statement.type for statement in cursor.extract_statements(text)]
    except (duckdb.Error, ValueError):
        return False
    return kinds == [duckdb.StatementType.MULTI]


@lru_cache(maxsize=1)
def function_names() -> frozenset[str]:
    """Of all functions that are no table's."""
    return frozenset(
        _listed(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type NOT IN ('table',"
            " 'pragma', 'table_macro')"
        )
    )


@lru_cache(maxsize=1)
def table_function_names() -> frozenset[str]:
    """Of the functions that only FROM and CALL take."""
    return frozenset(_listed("SELECT DISTINCT function_name FROM duckdb_functions()")) - function_names()


@lru_cache(maxsize=1)
def aggregate_names() -> frozenset[str]:
    return frozenset(_listed("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"))


@lru_cache(maxsize=1)
def system_tables() -> frozenset[str]:
    """Views of the system, which anybody may name without a schema."""
    return frozenset(_listed("SELECT DISTINCT view_name FROM duckdb_views() WHERE internal"))


@lru_cache(maxsize=1)
def system_names() -> frozenset[str]:
    """Of those views that need no schema, and the schemas of all: no statement where the analyst's tables are says them."""
    listed = _listed("SELECT view_name FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'")
    return frozenset({"information_schema", "pg_catalog", *listed})


def _listed(sql: str) -> Iterator[str]:
    with parser().cursor() as cursor:
        for (name,) in cursor.execute(sql).fetchall():
            yield name.lower()
