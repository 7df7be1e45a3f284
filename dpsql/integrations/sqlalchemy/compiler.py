"""How SQLAlchemy's expressions and tables are written in DuckDB's dialect."""

from __future__ import annotations

from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import default
from sqlalchemy.sql import compiler, sqltypes

from dpsql.engine.printing import keywords

NOW = "CAST(now() AS TIMESTAMP)"  # of a moment without a zone, as Python's is


def counting_sequence(preparer: Any, column: Any) -> str | None:
    """The sequence of a whole-number key that nothing else gives a value."""
    counting = column.table is not None and column is column.table._autoincrement_column
    named = column.default is not None and not (column.default.is_sequence and column.default.optional)
    given = named or (column.server_default is not None and column.identity is None)
    if not counting or given:
        return None
    schema = preparer.schema_for_object(column.table)
    prefix = f"{preparer.quote_schema(schema)}." if schema else ""
    return str(prefix + preparer.quote(f"{column.table.name}_{column.name}_seq"))


class DpsqlContext(default.DefaultExecutionContext):
    """What is asked before an INSERT that returns nothing: the next number."""

    def fire_sequence(self, seq: Any, type_: Any) -> Any:
        return self._next(self.identifier_preparer.format_sequence(seq), type_)

    def get_insert_default(self, column: Any) -> Any:
        sequence = counting_sequence(self.identifier_preparer, column) if column.primary_key else None
        if sequence is None:
            return super().get_insert_default(column)  # type: ignore[no-untyped-call]  # SQLAlchemy's has no types
        return self._next(sequence, column.type)

    def _next(self, sequence: str, type_: Any) -> Any:
        return self._execute_scalar("SELECT nextval('" + sequence.replace("'", "''") + "')", type_)


class DpsqlIdentifiers(compiler.IdentifierPreparer):
    """Names are compared without case, so a name with capitals needs quotes only where SQLAlchemy must keep them."""

    reserved_words = set(keywords())


class DpsqlCompiler(compiler.SQLCompiler):
    def limit_clause(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += "\n LIMIT " + self.process(select._limit_clause, **kw)
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def fetch_clause(self, select: Any, *args: Any, **kw: Any) -> str:
        """Shares of all rows are LIMIT's in DuckDB."""
        if select._fetch_clause is None or not select._fetch_clause_options["percent"]:
            return str(super().fetch_clause(select, *args, **kw))  # type: ignore[no-untyped-call]  # SQLAlchemy's has none
        text = f"\n LIMIT ({self.process(select._fetch_clause, **kw)})%"
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def get_select_precolumns(self, select: Any, **kw: Any) -> str:
        if select._distinct_on:
            return f"DISTINCT ON ({', '.join(self.process(column, **kw) for column in select._distinct_on)}) "
        return "DISTINCT " if select._distinct else ""

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        return ""

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        process = self.dialect.type_compiler_instance.process
        listed = ", ".join(
            "NULL" if isinstance(t, sqltypes.NullType) else f"CAST(NULL AS {process(t)})"
            for t in element_types or [types.INTEGER()]
        )
        return f"SELECT {listed} WHERE 1!=1"

    def visit_truediv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """DuckDB divides to real numbers; exact ones are made of them where both sides are."""
        left, right = (self.process(side, **kw) for side in (binary.left, binary.right))
        exact = isinstance(binary.type, types.Numeric) and not isinstance(binary.type, types.Float)
        given = any(isinstance(side.type, types.Numeric) for side in (binary.left, binary.right))
        return f"CAST({left} / {right} AS DECIMAL(38, 10))" if exact and given else f"{left} / {right}"

    def visit_floordiv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Python's, and whole where both sides are: DuckDB's // cuts towards zero."""
        left, right = (self.process(side, **kw) for side in (binary.left, binary.right))
        sides = (side.type._type_affinity for side in (binary.left, binary.right))
        floor = f"FLOOR({left} / {right})"
        return f"CAST({floor} AS BIGINT)" if all(affinity is sqltypes.Integer for affinity in sides) else floor

    def visit_sequence(self, sequence: Any, **kw: Any) -> str:
        name = self.preparer.format_sequence(sequence).replace("'", "''")
        return f"nextval('{name}')"

    def visit_now_func(self, fn: Any, **kw: Any) -> str:
        return NOW

    visit_localtimestamp_func = visit_current_timestamp_func = visit_now_func

    def visit_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like(binary, "ILIKE", **kw)

    def visit_not_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like(binary, "NOT ILIKE", **kw)

    def _like(self, binary: Any, word: str, **kw: Any) -> str:
        escape = binary.modifiers.get("escape")
        left, right = (side._compiler_dispatch(self, **kw) for side in (binary.left, binary.right))
        written = "" if escape is None else f" ESCAPE {self.render_literal_value(escape, sqltypes.STRINGTYPE)}"
        return f"{left} {word} {right}{written}"

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"regexp_matches({self._regexp(binary, **kw)})"

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT {self.visit_regexp_match_op_binary(binary, operator, **kw)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"regexp_replace({self._regexp(binary, all_of_them='g', **kw)})"

    def _regexp(self, binary: Any, all_of_them: str = "", **kw: Any) -> str:
        sides = [side._compiler_dispatch(self, **kw) for side in (binary.left, binary.right)]
        flags = (binary.modifiers.get("flags") or "") + all_of_them
        return ", ".join([*sides, *([self.render_literal_value(flags, sqltypes.STRINGTYPE)] if flags else [])])

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        left, right = (side._compiler_dispatch(self, **kw) for side in (binary.left, binary.right))
        return f"xor({left}, {right})"

    def visit_json_getitem_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._json(binary, **kw)

    visit_json_path_getitem_op_binary = visit_json_getitem_op_binary

    def _json(self, binary: Any, **kw: Any) -> str:
        left, right = (side._compiler_dispatch(self, **kw) for side in (binary.left, binary.right))
        sign = "->" if binary.type._type_affinity is sqltypes.JSON else "->>"
        text = f"(({left}) {sign} {right})"
        match binary.type._type_affinity:
            case sqltypes.JSON | sqltypes.String:
                return text
            case _:
                return f"CAST({text} AS {self.dialect.type_compiler_instance.process(binary.type)})"

    def update_from_clause(
        self, update_stmt: Any, from_table: Any, extra_froms: Any, from_hints: Any, **kw: Any
    ) -> str:
        kw["asfrom"] = True
        return "FROM " + ", ".join(t._compiler_dispatch(self, fromhints=from_hints, **kw) for t in extra_froms)

    def delete_extra_from_clause(
        self, delete_stmt: Any, from_table: Any, extra_froms: Any, from_hints: Any, **kw: Any
    ) -> str:
        kw["asfrom"] = True
        return "USING " + ", ".join(t._compiler_dispatch(self, fromhints=from_hints, **kw) for t in extra_froms)


class DpsqlDDL(compiler.DDLCompiler):
    """A column that counts by itself has a sequence of its own, made before its table and dropped after it."""

    def sequence_of(self, column: Any) -> str | None:
        return counting_sequence(self.preparer, column)

    def visit_create_table(self, create: Any, **kw: Any) -> str:
        columns = [column.element for column in create.columns]
        self.before = [self._sequence(column) for column in columns if self.sequence_of(column) is not None]
        return str(super().visit_create_table(create, **kw))  # type: ignore[no-untyped-call]  # SQLAlchemy's has no types

    def _sequence(self, column: Any) -> str:
        options = "" if column.identity is None else self.get_identity_options(column.identity)
        return f"CREATE SEQUENCE IF NOT EXISTS {self.sequence_of(column)} {options}".rstrip()

    def visit_drop_table(self, drop: Any, **kw: Any) -> str:
        sequences = [self.sequence_of(column) for column in drop.element.columns]
        self.after = [f"DROP SEQUENCE IF EXISTS {name}" for name in sequences if name is not None]
        return str(super().visit_drop_table(drop, **kw))  # type: ignore[no-untyped-call]  # the same

    def get_column_specification(self, column: Any, **kw: Any) -> str:
        sequence = self.sequence_of(column)
        text = str(super().get_column_specification(column, **kw))
        if sequence is None:
            return text
        return text.replace(" NOT NULL", "") + " DEFAULT nextval('" + sequence.replace("'", "''") + "')"

    def get_column_default_string(self, column: Any) -> str | None:
        text = super().get_column_default_string(column)
        return "current_timestamp" if text == NOW else text

    def visit_computed_column(self, generated: Any, **kw: Any) -> str:
        expression = self.sql_compiler.process(generated.sqltext, include_table=False, literal_binds=True)
        return f"GENERATED ALWAYS AS ({expression}) VIRTUAL"

    def define_constraint_cascades(self, constraint: Any) -> str:
        """DuckDB's keys refuse what would break them, and do nothing by themselves."""
        return ""

    def visit_set_table_comment(self, create: Any, **kw: Any) -> str:
        return f"COMMENT ON TABLE {self.preparer.format_table(create.element)} IS {self._text(create.element.comment)}"

    def visit_drop_table_comment(self, drop: Any, **kw: Any) -> str:
        return f"COMMENT ON TABLE {self.preparer.format_table(drop.element)} IS NULL"

    def visit_set_column_comment(self, create: Any, **kw: Any) -> str:
        column = self.preparer.format_column(create.element, use_table=True, use_schema=True)
        return f"COMMENT ON COLUMN {column} IS {self._text(create.element.comment)}"

    def visit_drop_column_comment(self, drop: Any, **kw: Any) -> str:
        column = self.preparer.format_column(drop.element, use_table=True, use_schema=True)
        return f"COMMENT ON COLUMN {column} IS NULL"

    def _text(self, text: str | None) -> str:
        return "NULL" if text is None else str(self.sql_compiler.render_literal_value(text, sqltypes.String()))
