"""Which kind of statement a text is, decided on its tokens, and what the kinds that hold no query say."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from sqlglot import Token, TokenType

from dpsql.catalog.model import fold
from dpsql.errors import Refused, Span, SqlError
from dpsql.sql.definitions import DefinitionReader
from dpsql.sql.instead import ALONE, INSTEAD
from dpsql.sql.options import SETTINGS, setting_named
from dpsql.sql.statement import ColumnDefinition, StatementKind
from dpsql.sql.tokens import at, is_name, shown, word

# What elsewhere follows SHOW and is no table.
_SHOWN = ("DATABASES", "SCHEMAS", "TABLES", "COLUMNS", "VARIABLES", "USERS", "GRANTS", "INDEXES")
_FIRST = (
    *("SELECT", "WITH", "FROM", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "SET", "RESET", "CREATE", "INSERT", "DROP"),
    *("UPDATE", "DELETE", "ALTER", "COMMIT", "ROLLBACK", "BEGIN"),
)
_QUERY = ("SELECT", "WITH", "FROM", "VALUES")
_OWN = (
    "SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, SHOW ALL, DESCRIBE, SET, RESET, and on your own tables CREATE, "
    "ALTER, DROP, COMMENT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE, BEGIN, COMMIT and ROLLBACK"
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
    return _HeadReader(tokens, 0).head()


@dataclass(slots=True)
class _HeadReader(DefinitionReader):
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
            case "RESET":
                return self._reset()
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
        if word(first) in ALONE:
            fix = "Run it by itself, on tables of your own: it reads nothing private, and is free."
            return self._refused(f"plan of {word(first)}", fix)
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
                "EXPLAIN ANALYZE", "Write EXPLAIN: it shows the plan and the cost, from metadata alone.", self.tokens[1]
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
        if len(self.tokens) == 2 and word(self.tokens[1]) in ("ALL", "SETTINGS"):
            return StatementHead(kind="show_settings")
        if len(self.tokens) == 2 and fold(self.tokens[1].text) in SETTINGS:
            return StatementHead(kind="show_settings", name=fold(self.tokens[1].text))
        fix = "Write SHOW BUDGET, SHOW TABLES, SHOW ALL, or DESCRIBE table."
        if len(self.tokens) > 1 and is_name(self.tokens[-1]) and word(self.tokens[-1]) not in _SHOWN:
            fix = (
                f"Write DESCRIBE {self.tokens[-1].text} if that is a table; there are SHOW BUDGET and SHOW TABLES, too."
            )
        raise self._refused("such SHOW statement", fix)

    def _describe(self) -> StatementHead:
        if len(self.tokens) > 1 and (word(self.tokens[1]) in _QUERY or self.tokens[1].token_type is TokenType.L_PAREN):
            raise self._refused("DESCRIBE of this query", "EXPLAIN says what it lacks.", self.tokens[1])
        self.index = 1
        name = self.table()
        self.end()
        return StatementHead(kind="describe", name=name.text, name_at=at(name))

    def _set(self) -> StatementHead:
        second = self.tokens[1] if len(self.tokens) > 1 else None
        third = self.tokens[2] if len(self.tokens) > 2 else None
        plain = third is not None and (third.token_type is TokenType.EQ or word(third) == "TO")
        if second is None or not is_name(second) or not plain:
            raise self._refused("such SET statement", "Write SET setting = value, for example SET epsilon = 0.5.")
        return StatementHead(kind="set", rest=1)

    def _reset(self) -> StatementHead:
        if len(self.tokens) == 2 and word(self.tokens[1]) == "ALL":
            return StatementHead(kind="reset")
        if len(self.tokens) != 2 or not is_name(self.tokens[1]):
            raise self._refused("such RESET statement", "Write RESET epsilon, or RESET ALL.")
        return StatementHead(kind="reset", name=setting_named(self.tokens[1].text, at(self.tokens[1])).name)

    def _create(self) -> StatementHead:
        self.index = 1
        self._flag("or replace", "OR", "REPLACE")
        if not self.skip("TEMPORARY"):
            self.skip("TEMP")
        if not self.skip("TABLE"):
            raise self._refused(
                "CREATE of anything but tables", "Write CREATE TABLE; views are declared in the metadata.", self.current
            )
        self._flag("if not exists", "IF", "NOT", "EXISTS")
        name = self.table()
        flags = frozenset(self.flags)
        if self.skip("AS"):
            return StatementHead(kind="create_table_as", rest=self.index, name=name.text, name_at=at(name), flags=flags)
        columns = self.columns(self.definition)
        self.end()
        return StatementHead(kind="create_table", name=name.text, name_at=at(name), columns=columns, flags=flags)

    def _insert(self) -> StatementHead:
        self.index = 1
        if not self.skip("INTO"):
            raise self._refused("such INSERT statement", "Write INSERT INTO table VALUES …, or a SELECT.", self.current)
        name = self.table()
        columns: tuple[ColumnDefinition, ...] = ()
        if self.is_at(TokenType.L_PAREN) and not self._query_at(self.index + 1):
            columns = self.columns(self.column)
        if not self._query_at(self.index):
            raise self._refused("such INSERT statement", "Write INSERT INTO table VALUES …, or a SELECT.", self.current)
        return StatementHead(kind="insert", rest=self.index, name=name.text, name_at=at(name), columns=columns)

    def _drop(self) -> StatementHead:
        self.index = 1
        if not self.skip("TABLE"):
            raise self._refused("DROP of anything but your own tables", "Write DROP TABLE name.", self.current)
        self._flag("if exists", "IF", "EXISTS")
        name = self.table()
        self.end()
        return StatementHead(kind="drop_table", name=name.text, name_at=at(name), flags=frozenset(self.flags))

    def _flag(self, flag: str, *expected: str) -> None:
        if self.skip(*expected):
            self.flags.add(flag)

    def _query_at(self, index: int) -> bool:
        while index < len(self.tokens) and self.tokens[index].token_type is TokenType.L_PAREN:
            index += 1
        return index < len(self.tokens) and word(self.tokens[index]) in _QUERY
