"""Statements on the analyst's tables: which text is one, what it is about, and what it may not say.

They are DuckDB's, as text: here only their words are read, by DuckDB's rules for names, texts and comments. Nothing private
is where they run, and their files, settings and network are locked; what is refused here would confuse, or find a way
around another check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.catalog.model import fold
from dpsql.errors import Refused, Span, SqlError
from dpsql.sql.limits import LENGTH_LIMIT
from dpsql.sql.pieces import matches
from dpsql.sql.statement import StatementKind

_CHANGES = ("CREATE", "ALTER", "DROP", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "MERGE", "COMMENT", "WITH")
ROWS = ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "MERGE")  # they change rows, and count them
_AFTER_WITH = ("INSERT", "UPDATE", "DELETE", "MERGE")
_VERBS = (*_AFTER_WITH, "SELECT", "FROM", "VALUES", "TABLE", "PIVOT", "UNPIVOT")
_OBJECTS = {
    "CREATE": ("TABLE", "VIEW", "INDEX", "SEQUENCE", "SCHEMA"),
    "ALTER": ("TABLE", "VIEW", "SEQUENCE"),
    "DROP": ("TABLE", "VIEW", "INDEX", "SEQUENCE", "SCHEMA"),
    "COMMENT": ("TABLE", "VIEW", "INDEX", "SEQUENCE", "COLUMN"),
}
_BETWEEN = frozenset("OR REPLACE TEMP TEMPORARY UNIQUE IF NOT EXISTS ON ONLY INTO FROM TABLE IGNORE".split())
_BEFORE_A_TABLE = frozenset("FROM JOIN INTO UPDATE TABLE USING , ( REFERENCES".split())
_PLACES = frozenset({"memory", "system"})  # the databases of scratch that are not the analyst's


@dataclass(frozen=True, slots=True)
class Word:
    """A name, a text, a number, a parameter or a sign. text: of a name without its quotes, of a word as it is written."""

    kind: str
    text: str
    at: Span

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind in ("word", "sign") and self.text.isascii() else ""

    @property
    def names(self) -> bool:
        return self.kind in ("word", "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """verb: the statement's. target: what is made, changed or dropped, folded, its parts joined by dots. tables: names
    that may be a table's, in the same form. functions: the names before a parenthesis. reads: whether it has a FROM.
    returning: whether rows come back. planned: whether it says itself that something is released. if_there, if_not_there,
    replacing: IF EXISTS, IF NOT EXISTS, OR REPLACE."""

    text: str
    verb: str
    kind: StatementKind
    target: str
    target_at: Span | None
    tables: frozenset[str]
    reads: bool
    returning: bool
    planned: bool
    functions: tuple[tuple[str, Span], ...]
    if_there: bool
    if_not_there: bool
    replacing: bool

    @property
    def repeatable(self) -> bool:
        """Whether it changes rows, and so may be run with each of many parameters."""
        return self.verb in ROWS


def words(text: str) -> list[Word]:
    """The words of a text, without what ends it; a SqlError where DuckDB might read it in another way."""
    if len(text) > LENGTH_LIMIT:
        raise SqlError(
            f"the statement is longer than {LENGTH_LIMIT:,} characters",
            why="dpsql limits the size of a statement before it reads it.",
            fix="Insert many rows in several statements, or load a frame: connection.load(name, frame).",
        )
    read, closed = [], "\x00" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)
    for match in matches(text):
        kind, said = match.lastgroup or "", match.group()
        kind = "text" if kind == "tag" else kind
        if not closed or said in ("'", '"', '""'):
            raise SqlError("something here is not closed, or no word of SQL", at=Span(match.start(), match.start() + 1))
        named = said[1:-1].replace('""', '"') if kind == "name" else said
        read.append(Word(kind, named, Span(match.start(), match.end())))
    while read and read[-1].upper == ";":
        read.pop()
    return read


def change_of(text: object) -> Change | None:
    """What a statement on the analyst's tables is about; None if the text is another statement."""
    if not isinstance(text, str) or not _begins(text):
        return None
    read = words(str.__str__(text))
    first = read[0].upper if read else ""
    if first == "WITH":
        verb = next((word for word in _outside(read) if word.upper in _VERBS), None)
        if verb is None or verb.upper not in _AFTER_WITH:
            return None
        start = read.index(verb)
    else:
        start = 0
    check_words(read)
    return _change(text, read, start)


_FIRST = re.compile(r"(?:\s|--[^\r\n]*(?:[\r\n]|$)|/\*(?:(?!/\*|\*/).)*\*/)*([A-Za-z]+)", re.DOTALL)


def _begins(text: str) -> bool:
    match = _FIRST.match(text)
    return match is not None and match[1].upper() in _CHANGES


def _outside(read: list[Word]) -> Iterator[Word]:
    """The words in no parentheses."""
    depth = 0
    for word in read:
        depth += (word.upper == "(") - (word.upper == ")")
        if depth == 0:
            yield word


def _change(text: str, read: list[Word], start: int) -> Change:
    verb, place = read[start].upper, start + 1
    thing = ""
    if verb in _OBJECTS:
        place, thing = _object(read, start)
    while place < len(read) and read[place].upper in _BETWEEN:
        place += 1
    if verb == "CREATE" and thing == "INDEX":  # what matters is the table
        on = [i for i in range(place, len(read)) if read[i].upper == "ON"]
        place = on[0] + 1 if on else place
    target, target_at = _name(read, place)
    upper = [word.upper for word in read]
    as_query = verb == "CREATE" and thing == "TABLE" and "AS" in [w.upper for w in _outside(read)]
    kinds: dict[tuple[str, str], StatementKind] = {
        ("CREATE", "TABLE"): "create_table_as" if as_query else "create_table",
        ("DROP", "TABLE"): "drop_table",
        ("INSERT", ""): "insert",
    }
    if verb == "COMMENT" and thing == "COLUMN":
        target = target.rpartition(".")[0]
    return Change(
        text=text,
        verb=verb,
        kind=kinds.get((verb, thing), "change"),
        target=target,
        target_at=target_at,
        tables=frozenset(_tables(read)),
        reads="FROM" in upper,
        returning="RETURNING" in upper,
        planned="DIFFERENTIAL_PRIVACY" in upper,
        functions=called(read),
        if_there=_follow(upper, "IF", "EXISTS"),
        if_not_there=_follow(upper, "IF", "NOT", "EXISTS"),
        replacing=_follow(upper, "OR", "REPLACE"),
    )


def last_word(text: str, said: str) -> Span:
    """Where it is said for the last time."""
    return [word.at for word in words(text) if word.upper == said][-1]


def _follow(upper: list[str], *said: str) -> bool:
    """Near the statement's begin."""
    return any(upper[place : place + len(said)] == list(said) for place in range(5))


def _object(read: list[Word], start: int) -> tuple[int, str]:
    """Where the name of what is made or dropped may begin, and what it is."""
    verb, place = read[start].upper, start + 1
    while place < len(read) and read[place].upper in ("OR", "REPLACE", "TEMP", "TEMPORARY", "UNIQUE", "ON"):
        place += 1
    thing = read[place].upper if place < len(read) else ""
    if thing not in _OBJECTS[verb]:
        several = ", ".join(_OBJECTS[verb])
        raise Refused(
            f"dpsql has no {verb} of this",
            code=122,
            at=read[place].at if place < len(read) else read[start].at,
            fix=f"There is {verb} {'ON ' if verb == 'COMMENT' else ''}of your own {several}.",
        )
    return place + 1, thing


def _name(read: list[Word], place: int) -> tuple[str, Span | None]:
    """A name with its parts, folded, and where it is; nothing where there is none."""
    parts: list[Word] = []
    while place < len(read) and read[place].names:
        parts.append(read[place])
        if place + 1 >= len(read) or read[place + 1].upper != ".":
            break
        place += 2
    at = parts[0].at.join(parts[-1].at) if parts else None
    return ".".join(fold(part.text) for part in parts), at


def _tables(read: list[Word]) -> Iterator[str]:
    for place, word in enumerate(read):
        if word.names and place and read[place - 1].upper in _BEFORE_A_TABLE | {"ONLY"}:
            yield _name(read, place)[0]


def check_words(read: list[Word]) -> None:
    for place, word in enumerate(read):
        following = read[place + 1] if place + 1 < len(read) else None
        if word.upper == ";":
            raise Refused("there are several statements", code=122, at=word.at, fix="Run them one by one.")
        if word.upper == "U" and following is not None and following.upper == "&":
            raise Refused("names and texts in Unicode escapes", code=120, at=word.at, fix="Write the characters.")
        if word.names and following is not None and following.upper == "." and fold(word.text) in _PLACES:
            before = read[place - 1].upper if place else ""
            if before != ".":
                raise Refused(
                    f'"{word.text}" is not a schema of yours',
                    code=120,
                    at=word.at,
                    fix="Name the table alone, or its schema.",
                )


def called(read: list[Word]) -> tuple[tuple[str, Span], ...]:
    """The names before a parenthesis, folded: functions, but for some that are no functions."""
    return tuple(
        (fold(word.text), word.at)
        for before, word, following in zip([None, *read], read, read[1:], strict=False)
        if word.names and following.upper == "(" and (before is None or before.upper not in _NAMING)
    )


def transaction_of(text: object) -> str | None:
    """BEGIN, COMMIT or ROLLBACK, where the text is one of them, in any spelling."""
    if not isinstance(text, str) or len(text) > 1000:
        return None
    first = _FIRST.match(text)
    if first is None or first[1].upper() not in _TRANSACTIONS:
        return None
    match = _TRANSACTION.fullmatch(" ".join(word.text for word in words(text)))
    return None if match is None else next(name for name, said in match.groupdict().items() if said)


_NAMING = ("INTO", "TABLE", "EXISTS", "REFERENCES")  # after which a parenthesis opens a list of columns
_TRANSACTIONS = ("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT")
_TRANSACTION = re.compile(
    r"(?i:(?P<BEGIN>(BEGIN|START)( TRANSACTION| WORK)?)|(?P<COMMIT>(COMMIT|END)( TRANSACTION| WORK)?)"
    r"|(?P<ROLLBACK>(ROLLBACK|ABORT)( TRANSACTION| WORK)?))"
)


__all__ = ["ROWS", "Change", "Word", "change_of", "check_words", "transaction_of", "words"]
