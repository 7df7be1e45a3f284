"""Which kind of statement a text is, decided on its tokens, and what the kinds that hold no query say."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlglot import Token, TokenType

from dpsql.catalog.model import fold
from dpsql.domain import types
from dpsql.domain.types import Type
from dpsql.errors import Refused, Span, SqlError
from dpsql.sql.instead import INSTEAD
from dpsql.sql.statement import ColumnDefinition, StatementKind
from dpsql.sql.tokens import at, is_name, quoted, shown, word, words

# What elsewhere follows SHOW and is no table.
_SHOWN = ("DATABASES", "SCHEMAS", "TABLES", "COLUMNS", "ALL", "VARIABLES", "SETTINGS", "USERS", "GRANTS", "INDEXES")
_FIRST = ("SELECT", "WITH", "FROM", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "SET", "CREATE", "INSERT", "DROP")
_QUERY = ("SELECT", "WITH", "FROM", "VALUES")
_OWN = "SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE, SET, CREATE TABLE, INSERT and DROP TABLE"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementHead:
    """The kind, and from which token on its query (or SET's assignment) stands."""

    kind: StatementKind
    rest: int = 0
    name: str = ""
    name_at: Span | None = None
    columns: tuple[ColumnDefinition, ...] = ()
    flags: frozenset[str] = frozenset()

    @property
    def has_query(self) -> bool:
        return self.kind in ("query", "explain", "create_table_as", "insert")


def statement_head(tokens: list[Token]) -> StatementHead:
    """The statement's kind; one statement only. Drops the semicolons that end it from the list."""
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise SqlError("there is no statement", fix="Write SELECT ….")
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            raise Refused("there are several statements", code=122, at=at(token), fix="Run them one by one.")
    return _HeadReader(tokens).head()


@dataclass(slots=True)
class _HeadReader:
    tokens: list[Token]
    index: int = 0
    flags: set[str] = field(default_factory=set)

    def head(self) -> StatementHead:
        first = self.tokens[0]
        if word(first) in _QUERY or first.token_type is TokenType.L_PAREN:
            return StatementHead(kind="query")
        match word(first):
            case "EXPLAIN":
                return self._explain()
            case "SHOW":
                return self._show()
            case "DESCRIBE" | "DESC":
                return self._describe()
            case "SET":
                return self._set()
            case "CREATE":
                return self._create()
            case "INSERT":
                return self._insert()
            case "DROP":
                return self._drop()
            case _:
                raise self._other(first)

    def _other(self, first: Token) -> Exception:
        if word(first) in INSTEAD:
            return self._refused(word(first), INSTEAD[word(first)])
        near = difflib.get_close_matches(word(first), _FIRST, n=1, cutoff=0.7)
        return SqlError(
            f"a statement does not start with {shown(first)}",
            at=at(first),
            why=f"Did you mean {near[0]}?" if near else "",
            fix=f"dpsql understands {_OWN}.",
        )

    def _refused(self, what: str, fix: str, token: Token | None = None) -> Refused:
        return Refused(
            f"dpsql has no {what}", code=122, at=at(token or self.tokens[0]), why=f"It understands {_OWN}.", fix=fix
        )

    def _explain(self) -> StatementHead:
        following = word(self.tokens[1]) if len(self.tokens) > 1 else ""
        if following == "ANALYZE":
            raise self._refused(
                "EXPLAIN ANALYZE", "Write EXPLAIN: it tells the plan and the cost, from metadata alone.", self.tokens[1]
            )
        if len(self.tokens) > 2 and self.tokens[1].token_type is TokenType.L_PAREN:
            if word(self.tokens[2]) in ("ANALYZE", "FORMAT", "VERBOSE", "COSTS"):
                raise self._refused("options of EXPLAIN", "Write EXPLAIN and the query.", self.tokens[2])
            return StatementHead(kind="explain", rest=1)
        if following not in _QUERY:
            raise self._refused("EXPLAIN of this statement", "Write EXPLAIN and a query.")
        return StatementHead(kind="explain", rest=1)

    def _show(self) -> StatementHead:
        if len(self.tokens) == 2 and word(self.tokens[1]) == "BUDGET":
            return StatementHead(kind="show_budget")
        if len(self.tokens) == 2 and word(self.tokens[1]) == "TABLES":
            return StatementHead(kind="show_tables")
        fix = "Write SHOW BUDGET, SHOW TABLES, or DESCRIBE table."
        if len(self.tokens) > 1 and is_name(self.tokens[-1]) and word(self.tokens[-1]) not in _SHOWN:
            fix = (
                f"Write DESCRIBE {self.tokens[-1].text} if that is a table; there are SHOW BUDGET and SHOW TABLES, too."
            )
        raise self._refused("such SHOW statement", fix)

    def _describe(self) -> StatementHead:
        if len(self.tokens) > 1 and (word(self.tokens[1]) in _QUERY or self.tokens[1].token_type is TokenType.L_PAREN):
            raise self._refused("DESCRIBE of a query", "EXPLAIN shows a query's columns and plan.", self.tokens[1])
        self.index = 1
        name = self._table()
        self._end()
        return StatementHead(kind="describe", name=name.text, name_at=at(name))

    def _set(self) -> StatementHead:
        second = self.tokens[1] if len(self.tokens) > 1 else None
        third = self.tokens[2] if len(self.tokens) > 2 else None
        plain = third is not None and (third.token_type is TokenType.EQ or word(third) == "TO")
        if second is None or not is_name(second) or not plain:
            raise self._refused("such SET statement", "Write SET setting = value, for example SET epsilon = 0.5.")
        return StatementHead(kind="set", rest=1)

    def _create(self) -> StatementHead:
        self.index = 1
        self._flag("or replace", "OR", "REPLACE")
        if not self._skip("TEMPORARY"):
            self._skip("TEMP")
        if not self._skip("TABLE"):
            raise self._refused(
                "CREATE of anything but tables", "Write CREATE TABLE; views are declared in the metadata.", self._here()
            )
        self._flag("if not exists", "IF", "NOT", "EXISTS")
        name = self._table()
        flags = frozenset(self.flags)
        if self._skip("AS"):
            return StatementHead(kind="create_table_as", rest=self.index, name=name.text, name_at=at(name), flags=flags)
        columns = self._list(self._definition)
        self._end()
        return StatementHead(kind="create_table", name=name.text, name_at=at(name), columns=columns, flags=flags)

    def _insert(self) -> StatementHead:
        self.index = 1
        if not self._skip("INTO"):
            raise self._refused("such INSERT statement", "Write INSERT INTO table VALUES …, or a SELECT.", self._here())
        name = self._table()
        columns: tuple[ColumnDefinition, ...] = ()
        token = self._here()
        if token is not None and token.token_type is TokenType.L_PAREN and not self._query_at(self.index + 1):
            columns = self._list(self._column)
        if not self._query_at(self.index):
            raise self._refused("such INSERT statement", "Write INSERT INTO table VALUES …, or a SELECT.", self._here())
        return StatementHead(kind="insert", rest=self.index, name=name.text, name_at=at(name), columns=columns)

    def _drop(self) -> StatementHead:
        self.index = 1
        if not self._skip("TABLE"):
            raise self._refused("DROP of anything but your own tables", "Write DROP TABLE name.", self._here())
        self._flag("if exists", "IF", "EXISTS")
        name = self._table()
        self._end()
        return StatementHead(kind="drop_table", name=name.text, name_at=at(name), flags=frozenset(self.flags))

    def _here(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def _skip(self, *expected: str) -> bool:
        skipped = words(self.tokens, self.index, *expected)
        self.index += len(expected) if skipped else 0
        return skipped

    def _flag(self, flag: str, *expected: str) -> None:
        if self._skip(*expected):
            self.flags.add(flag)

    def _query_at(self, index: int) -> bool:
        while index < len(self.tokens) and self.tokens[index].token_type is TokenType.L_PAREN:
            index += 1
        return index < len(self.tokens) and word(self.tokens[index]) in _QUERY

    def _table(self) -> Token:
        token = self._here()
        if token is None or not is_name(token):
            raise self._unexpected("the name of a table")
        self.index += 1
        following = self._here()
        if following is not None and following.token_type is TokenType.DOT:
            raise SqlError(
                "a table's name has one part here",
                at=at(token).join(at(following)),
                fix="Name the table without a schema.",
            )
        return token

    def _unexpected(self, wanted: str) -> SqlError:
        token = self._here()
        last = token or self.tokens[-1]
        what = f"{shown(token)} is not expected here" if token else f"the statement ends too early, after {shown(last)}"
        return SqlError(what, at=at(last), why=f"Expected is {wanted}.")

    def _end(self) -> None:
        if self._here() is not None:
            raise self._unexpected("the end of the statement")

    def _take(self, kind: TokenType, wanted: str) -> None:
        token = self._here()
        if token is None or token.token_type is not kind:
            raise self._unexpected(wanted)
        self.index += 1

    def _list(self, read: Callable[[], ColumnDefinition]) -> tuple[ColumnDefinition, ...]:
        self._take(TokenType.L_PAREN, "a list of columns in parentheses")
        definitions = [read()]
        while self._here_is(TokenType.COMMA):
            self.index += 1
            definitions.append(read())
        self._take(TokenType.R_PAREN, "a comma or )")
        seen: set[str] = set()
        for column in definitions:
            if fold(column.name) in seen:
                raise SqlError(f"the column {column.name[:40]} is given twice", at=column.at, fix="Write it once.")
            seen.add(fold(column.name))
        return tuple(definitions)

    def _here_is(self, kind: TokenType) -> bool:
        token = self._here()
        return token is not None and token.token_type is kind

    def _column(self) -> ColumnDefinition:
        token = self._here()
        if token is None or not is_name(token):
            raise self._unexpected("the name of a column")
        self.index += 1
        return ColumnDefinition(token.text, None, at(token))

    def _definition(self) -> ColumnDefinition:
        column = self._column()
        return ColumnDefinition(column.name, self._type(), column.at)

    def _type(self) -> Type:
        token = self._here()
        if token is None or quoted(token) or not is_name(token):
            raise self._unexpected("a type")
        self.index += 1
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
        if TYPES[name] == types.TEXT and self._here_is(TokenType.L_PAREN):
            self._length()
        return TYPES[name]

    def _length(self) -> None:
        """VARCHAR(20): read and ignored, as DuckDB does."""
        self.index += 1
        token = self._here()
        if token is None or not (token.text.isascii() and token.text.isdigit()):
            raise self._unexpected("a length")
        self.index += 1
        self._take(TokenType.R_PAREN, ")")

    def _decimal(self, token: Token) -> Type:
        numbers: list[int] = []
        if self._here_is(TokenType.L_PAREN):
            self.index += 1
            numbers.append(self._small())
            if self._here_is(TokenType.COMMA):
                self.index += 1
                numbers.append(self._small())
            self._take(TokenType.R_PAREN, ")")
        precision, scale = (numbers or [18, 3]) if len(numbers) != 1 else (numbers[0], 0)
        if not (1 <= precision <= 38 and scale <= precision):
            raise SqlError(
                "such a decimal does not exist", code=105, at=at(token), fix="Write DECIMAL(p, s), s <= p <= 38."
            )
        return types.decimal(precision, scale)

    def _small(self) -> int:
        token = self._here()
        if token is None or not (token.text.isascii() and token.text.isdigit() and len(token.text) <= 2):
            raise self._unexpected("a number of digits")
        self.index += 1
        return int(token.text)
