"""The names and columns that CREATE TABLE, INSERT, DROP and DESCRIBE give, read off the tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import Token, TokenType

from dpsql.catalog.model import fold
from dpsql.domain import types
from dpsql.domain.types import Type
from dpsql.errors import SqlError
from dpsql.sql.cursor import Cursor
from dpsql.sql.statement import ColumnDefinition
from dpsql.sql.tokens import at, is_name, quoted, shown, word

# The types a user's table may have, by DuckDB's words for them.
TYPES: Mapping[str, Type] = MappingProxyType(
    {
        **dict.fromkeys(("BOOLEAN", "BOOL"), types.BOOLEAN),
        **dict.fromkeys(("TINYINT", "INT1"), types.TINYINT),
        **dict.fromkeys(("SMALLINT", "INT2", "SHORT"), types.SMALLINT),
        **dict.fromkeys(("INTEGER", "INT", "INT4", "SIGNED"), types.INTEGER),
        **dict.fromkeys(("BIGINT", "INT8", "LONG"), types.BIGINT),
        **dict.fromkeys(("DOUBLE", "DOUBLE PRECISION", "FLOAT8", "REAL", "FLOAT", "FLOAT4"), types.REAL),
        **dict.fromkeys(("DATE",), types.DATE),
        **dict.fromkeys(("TIMESTAMP", "DATETIME"), types.TIMESTAMP),
        **dict.fromkeys(("VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR"), types.TEXT),
    }
)


@dataclass(slots=True)
class DefinitionReader(Cursor):
    def table(self) -> Token:
        token = self._name("the name of a table")
        if self.current is not None and self.is_at(TokenType.DOT):
            raise SqlError(
                "a table's name has one part here",
                at=at(token).join(at(self.current)),
                fix="Name the table without a schema.",
            )
        return token

    def end(self) -> None:
        if self.current is not None:
            raise self._unexpected("the end of the statement")

    def columns(self, read: Callable[[], ColumnDefinition]) -> tuple[ColumnDefinition, ...]:
        self._expect(TokenType.L_PAREN, "a list of columns in parentheses")
        definitions = [read()]
        while self.take(TokenType.COMMA):
            definitions.append(read())
        self._expect(TokenType.R_PAREN, "a comma or )")
        seen: set[str] = set()
        for column in definitions:
            if fold(column.name) in seen:
                raise SqlError(f"the column {column.name[:40]} is given twice", at=column.at, fix="Write it once.")
            seen.add(fold(column.name))
        return tuple(definitions)

    def column(self) -> ColumnDefinition:
        token = self._name("the name of a column")
        return ColumnDefinition(token.text, None, at(token))

    def definition(self) -> ColumnDefinition:
        column = self.column()
        return ColumnDefinition(column.name, self._type(), column.at)

    def _type(self) -> Type:
        token = self._name("a type")
        if quoted(token):
            self.index -= 1
            raise self._unexpected("a type")
        if word(token) in ("DECIMAL", "NUMERIC", "DEC"):
            return self._decimal(token)
        name = " ".join(word(token).split())
        if name not in TYPES:
            raise SqlError(
                f"{shown(token)} is not a type that a table can have",
                code=105,
                at=at(token),
                fix="Use BOOLEAN, INTEGER, BIGINT, DECIMAL(p, s), DOUBLE, DATE, TIMESTAMP or VARCHAR.",
            )
        if TYPES[name] == types.TEXT and self.take(TokenType.L_PAREN):
            self._digits("a length")  # VARCHAR(20): read and ignored, as DuckDB does
            self._expect(TokenType.R_PAREN, ")")
        return TYPES[name]

    def _decimal(self, token: Token) -> Type:
        precision, scale = 18, 3
        if self.take(TokenType.L_PAREN):
            precision, scale = self._digits("a number of digits", 2), 0
            if self.take(TokenType.COMMA):
                scale = self._digits("a number of digits", 2)
            self._expect(TokenType.R_PAREN, ")")
        if not (1 <= precision <= 38 and scale <= precision):
            raise SqlError(
                "such a decimal does not exist", code=105, at=at(token), fix="Write DECIMAL(p, s), s <= p <= 38."
            )
        return types.decimal(precision, scale)

    def _name(self, wanted: str) -> Token:
        token = self.current
        if token is None or not is_name(token):
            raise self._unexpected(wanted)
        self.index += 1
        return token

    def _digits(self, wanted: str, most: int = 4000) -> int:
        """A whole number of at most so many digits."""
        token = self.current
        if token is None or not (token.text.isascii() and token.text.isdigit() and len(token.text) <= most):
            raise self._unexpected(wanted)
        self.index += 1
        return int(token.text)

    def _expect(self, kind: TokenType, wanted: str) -> None:
        if not self.take(kind):
            raise self._unexpected(wanted)

    def _unexpected(self, wanted: str) -> SqlError:
        token = self.current
        last = token or self.tokens[-1]
        what = f"{shown(token)} is not expected here" if token else f"the statement ends too early, after {shown(last)}"
        return SqlError(what, at=at(last), why=f"dpsql expects {wanted}.")
