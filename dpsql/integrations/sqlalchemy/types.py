"""Types: SQLAlchemy's words for those of columns, and how CREATE TABLE and CAST write them."""

from __future__ import annotations

import datetime
import re
from typing import Any

from sqlalchemy import types
from sqlalchemy.sql import compiler, sqltypes, type_api
from sqlalchemy.types import TypeEngine

from dpsql.domain.types import Kind, Type

_OF_KINDS: dict[Kind, type[TypeEngine[Any]]] = {
    Kind.BOOLEAN: types.BOOLEAN,
    Kind.REAL: types.DOUBLE,
    Kind.DATE: types.DATE,
    Kind.TIMESTAMP: types.TIMESTAMP,
    Kind.TEXT: types.VARCHAR,
}
_OF_NAMES: dict[str, TypeEngine[Any]] = {
    "BOOLEAN": types.BOOLEAN(),
    "TINYINT": types.SMALLINT(),
    "SMALLINT": types.SMALLINT(),
    "INTEGER": types.INTEGER(),
    "BIGINT": types.BIGINT(),
    "HUGEINT": types.NUMERIC(38, 0),
    "UTINYINT": types.SMALLINT(),
    "USMALLINT": types.INTEGER(),
    "UINTEGER": types.BIGINT(),
    "UBIGINT": types.NUMERIC(20, 0),
    "FLOAT": types.REAL(),
    "DOUBLE": types.DOUBLE(),
    "DATE": types.DATE(),
    "TIME": types.TIME(),
    "TIME WITH TIME ZONE": types.TIME(timezone=True),
    "TIMESTAMP": types.TIMESTAMP(),
    "TIMESTAMP WITH TIME ZONE": types.TIMESTAMP(timezone=True),
    "INTERVAL": types.Interval(native=True),
    "BLOB": types.BLOB(),
    "UUID": types.UUID(),
    "JSON": types.JSON(),
    "VARCHAR": types.VARCHAR(),
}


def column_type(type_: Type) -> TypeEngine[Any]:
    """SQLAlchemy's word for a type of the catalog."""
    if type_.kind is Kind.DECIMAL:
        return types.NUMERIC(type_.precision, type_.scale)
    if type_.kind is Kind.INTEGER:
        return {8: types.SMALLINT, 16: types.SMALLINT, 32: types.INTEGER}.get(type_.bits, types.BIGINT)()
    return _OF_KINDS.get(type_.kind, types.NullType)()


def type_named(name: str) -> TypeEngine[Any]:
    """SQLAlchemy's word for a type by DuckDB's name."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", name)
    if decimal is not None:
        return types.NUMERIC(int(decimal[1]), int(decimal[2]))
    listed = re.fullmatch(r"(.*?)((?:\[\])+)", name)
    if listed is not None:
        return types.ARRAY(type_named(listed[1]), dimensions=len(listed[2]) // 2)
    return _OF_NAMES.get(name, types.NullType())


class DpsqlInterval(type_api.NativeForEmulated, sqltypes._AbstractInterval):
    """DuckDB has intervals: they are Python's timedelta as they are."""

    __visit_name__ = "INTERVAL"
    native = True

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **kw: Any) -> Any:
        return cls()

    @property
    def _type_affinity(self) -> Any:
        return types.Interval

    def as_generic(self, allow_nulltype: bool = False) -> Any:
        return types.Interval(native=True)

    @property
    def python_type(self) -> Any:
        return datetime.timedelta

    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: f"to_microseconds({value // datetime.timedelta(microseconds=1)})"


class DpsqlIndex(types.JSON.JSONIndexType):
    """A key or a place in JSON, as a path of it."""

    def bind_processor(self, dialect: Any) -> Any:
        return lambda value: _path([value])

    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: _quoted(_path([value]))


class DpsqlPath(types.JSON.JSONPathType):
    """Keys and places in JSON, one in the other."""

    def bind_processor(self, dialect: Any) -> Any:
        return _path

    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: _quoted(_path(value))


def _path(steps: Any) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f'."{step}"' for step in steps)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class DpsqlBinary(types.LargeBinary):
    """Bytes as DuckDB writes them."""

    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"


COLSPECS: dict[Any, Any] = {
    types.Interval: DpsqlInterval,
    types.LargeBinary: DpsqlBinary,
    types.JSON.JSONIndexType: DpsqlIndex,
    types.JSON.JSONPathType: DpsqlPath,
}


class DpsqlTypes(compiler.GenericTypeCompiler):
    """The names of types that DuckDB has."""

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    visit_DOUBLE = visit_DOUBLE_PRECISION = visit_FLOAT

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return "VARCHAR"

    visit_CLOB = visit_NCLOB = visit_unicode_text = visit_TEXT

    def visit_NVARCHAR(self, type_: Any, **kw: Any) -> str:
        return str(self.visit_VARCHAR(type_, **kw))

    visit_NCHAR = visit_NVARCHAR

    def visit_NUMERIC(self, type_: Any, **kw: Any) -> str:
        """A number of digits that was not said is as many as leave room on both sides."""
        if type_.precision is None:
            return "DECIMAL(38, 10)"
        return f"DECIMAL({type_.precision}, {type_.scale or 0})"

    visit_DECIMAL = visit_NUMERIC

    def visit_datetime(self, type_: Any, **kw: Any) -> str:
        return str(self.visit_TIMESTAMP(type_, **kw))

    visit_DATETIME = visit_datetime

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP WITH TIME ZONE" if getattr(type_, "timezone", False) else "TIMESTAMP"

    def visit_TIME(self, type_: Any, **kw: Any) -> str:
        return "TIME WITH TIME ZONE" if getattr(type_, "timezone", False) else "TIME"

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return "BLOB"

    visit_VARBINARY = visit_large_binary = visit_BINARY

    def visit_interval(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL"

    visit_INTERVAL = visit_interval

    def visit_JSON(self, type_: Any, **kw: Any) -> str:
        return "JSON"

    def visit_UUID(self, type_: Any, **kw: Any) -> str:
        return "UUID"

    def visit_ARRAY(self, type_: Any, **kw: Any) -> str:
        return f"{self.process(type_.item_type, **kw)}{'[]' * (type_.dimensions or 1)}"
