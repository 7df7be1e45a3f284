"""Whatever the text, parse and allow give a Statement or a dpsql error; names survive the way there and back."""

from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from dpsql.catalog.model import fold
from dpsql.engine.printing import printed
from dpsql.errors import Error
from dpsql.sql.allow import ALLOWED, allow
from dpsql.sql.naming import column_names
from dpsql.sql.parse import parse
from tests.cases.reading import read

MUTATIONS = 20_000


def corpus() -> list[str]:
    texts: list[str] = []
    for name in ("allowed_queries", "refused_queries", "refused_statements", "names"):
        rows = [case.text for case in read(f"parse/{name}.sql")]
        texts += [f"SELECT {row} FROM t" if name == "names" else row for row in rows]
    return [
        *texts,
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, split=(a => 2)) x",
        "SELECT sum(x, contribution_bounds_per_group => (0, 9)) FROM t",
        "SET epsilon = 0.5",
        "CREATE OR REPLACE TABLE t (a INTEGER, b DECIMAL(5, 2))",
        "INSERT INTO t (a, b) VALUES (1, ?), ($a, $1)",
        "EXPLAIN SELECT 1",
    ]


PIECES = [
    *"()[]{},.;:+-*/%=<>!|&^~@#$?\\'\"`",
    *["''", '""', "::", "->", "=>", ":=", "--", "/*", "*/", "\n", "\r", "\t", "\x00"],
    *["\u00a0", "\u200b", "ſ", "ı", "\u212a", "ü", "\U0001f600"],
    *["NULL", "NOT", "AND", "OR", "IN", "IS", "CASE", "WHEN", "END", "OVER", "SELECT", "FROM", "WITH", "GROUP BY"],
    *["ALL", "DISTINCT", "1", "0", "1e5", "1e999", ".5", "?", "$1", "$a", "x", "t", "sum(", "cast(", "interval "],
    *["date ", "e'", "x'", "$$"],
]  # fmt: skip


WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\w+|\s+|.", re.DOTALL)


def mutate(source: random.Random, text: str, other: str) -> str:
    """One to three small wounds: half of words, which often parse, half of characters."""
    for _ in range(source.choice([1, 1, 2, 3])):
        text = wound_words(source, text, other) if source.random() < 0.6 else wound_characters(source, text, other)
    return text


def wound_words(source: random.Random, text: str, other: str) -> str:
    words, others = WORDS.findall(text) or [""], WORDS.findall(other) or [""]
    at = source.randrange(len(words))
    start = source.randrange(len(others))
    match source.randint(0, 4):
        case 0:
            words[at] = source.choice(others)
        case 1:
            del words[at]
        case 2:
            words[at] = f"({words[at]})"
        case 3:
            words[at:at] = others[start : start + source.randint(1, 6)]
        case _:
            to = source.randrange(len(words))
            words[at], words[to] = words[to], words[at]
    return "".join(words)


def wound_characters(source: random.Random, text: str, other: str) -> str:
    at = source.randint(0, len(text))
    to = min(len(text), at + source.randint(0, 8))
    start = source.randint(0, len(other))
    match source.randint(0, 4):
        case 0:
            return text[:at] + source.choice(PIECES) + text[at:]
        case 1:
            return text[:at] + text[to:]
        case 2:
            return text[:at] + text[at:to] * source.randint(2, 30) + text[to:]
        case 3:
            return text[:at] + other[start : start + source.randint(1, 40)] + text[to:]
        case _:
            return text[:at] + chr(source.choice([source.randint(0, 127), source.randint(0, 0x10FFFF)])) + text[to:]


def try_it(text: str) -> bool:
    """Whether the text passes; only dpsql's errors may come of it, each with a message that can be shown."""
    try:
        statement = parse(text, [1] * text.count("?") if "?" in text else None)
        allow(statement)
    except Error as error:
        assert error.what
        assert error.__cause__ is None
        str(error)
        return False
    if statement.tree is not None:
        for node in statement.tree.walk():
            assert {name for name, value in node.args.items() if value not in (None, False, [], "")} <= ALLOWED[
                type(node)
            ]
        for item in statement.tree.selects if isinstance(statement.tree, exp.Query) else []:
            if not item.is_star:
                assert column_names([item], printed)[0]
    return True


@pytest.mark.parametrize("part", range(4))
def test_mutated_queries(part: int) -> None:
    source = random.Random(part)
    texts = corpus()
    passed = sum(try_it(mutate(source, source.choice(texts), source.choice(texts))) for _ in range(MUTATIONS // 4))
    assert passed > MUTATIONS // 4 // 10  # the mutations are not all nonsense


REPEATED = ["(", "[", "{", "-", "a.", "'", '"', "1,", "/*", "CASE ", "f(", "NOT ", "SELECT ", "x IN (", "[1]", "::INT"]
REPEATED += ["t JOIN ", "t JOIN u ON true "]


@pytest.mark.parametrize("text", [piece * count for count in (1, 63, 65, 2000, 40_000) for piece in REPEATED])
def test_repeated_pieces(text: str) -> None:
    try_it(text)
    try_it("SELECT " + text)


@settings(max_examples=1000, deadline=None)
@given(text=st.text(max_size=60))
def test_any_text(text: str) -> None:
    try_it(text)
    try_it("SELECT " + text)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.text(
    st.sampled_from("aKk\u212a\"' \n\t\x00.;-/*$?\\ıſß"), min_size=1, max_size=8
)


CALLS = {token.name for token in DuckDB.parser_class.NO_PAREN_FUNCTIONS}


@settings(max_examples=500, deadline=None)
@given(name=NAMES)
@example(name="CURRENT_DATE")
@example(name='a"b')
@example(name="a\x00b")
@example(name="a\nb")
@example(name="/*")
@example(name="--")
def test_quoted_names_survive(name: str) -> None:
    """A name in quotes is the name itself, as alias, column and table, and printing it gives it back."""
    shown = '"' + name.replace('"', '""') + '"'
    tree = parse(f"SELECT {shown} AS {shown} FROM {shown} WHERE '{shown.replace(chr(39), chr(39) * 2)}' <> ''").tree
    assert isinstance(tree, exp.Select)
    assert tree.expressions[0].alias == name
    assert tree.expressions[0].this.name == name
    assert tree.args["from_"].this.name == name
    literal = tree.find(exp.Literal)
    assert literal is not None
    assert literal.this == shown
    if (
        name.upper() in CALLS or "\x00" in name
    ):  # DuckDB prints the one bare, and bare it is a call; allow refuses the other
        return
    item = parse(f"SELECT {shown} + 1 FROM t").tree
    assert item is not None
    again = parse(f"SELECT {column_names(item.expressions, printed)[0]} FROM t").tree
    assert again is not None
    column = again.find(exp.Column)
    assert column is not None
    assert column.name == name


@given(st.text(max_size=20))
def test_folding_is_ascii_only(text: str) -> None:
    folded = fold(text)
    assert all(a == b or (a in string.ascii_uppercase and b == a.lower()) for a, b in zip(text, folded, strict=True))


def test_lookalikes_stay_apart() -> None:
    assert fold("\u212a") != fold("k")
    assert fold("K") == fold("k")
    assert try_it("SELECT \u212a FROM t")  # KELVIN SIGN is a letter, of nobody's keyword
    for text in ("ſelect 1", "SELECT ſum(x) FROM t", "SELECT ı FROM t", "SELECT 1 FROM t WHERE a ıs NULL"):
        assert not try_it(text)
